#include "src/device/cpu/cpu_blas.h"

#include <limits>
#include <string>

#include "src/base/error.h"
#include "src/device/dynamic_library.h"

namespace gpulua::cpu {
namespace {

// From the CBLAS standard; OpenBLAS's sizes are int in Debian's build.
enum CblasOrder { cblas_row_major = 101 };
enum CblasTranspose { cblas_no_trans = 111, cblas_trans = 112 };
template <class T>
using Gemm = void (*)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, T alpha, const T* a, int lda,
                      const T* b, int ldb, T beta, T* c, int ldc);

int to_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw Error("[gemm] expected sizes below 2^31 on the cpu device, got " + std::to_string(size));
  return static_cast<int>(size);
}

template <class T>
void run_gemm(Gemm<T> gemm, const GemmProblem& p) {
  auto transpose = [](bool yes) { return yes ? cblas_trans : cblas_no_trans; };
  gemm(cblas_row_major, transpose(p.transpose_a), transpose(p.transpose_b), to_int(p.m), to_int(p.n), to_int(p.k),
       static_cast<T>(p.alpha), static_cast<const T*>(p.a), to_int(p.lda), static_cast<const T*>(p.b), to_int(p.ldb),
       static_cast<T>(p.beta), static_cast<T*>(p.c), to_int(p.ldc));
}

class OpenBlas : public Blas {
 public:
  explicit OpenBlas(const DynamicLibrary& library)
      : sgemm_(reinterpret_cast<Gemm<float>>(library.symbol("cblas_sgemm"))),
        dgemm_(reinterpret_cast<Gemm<double>>(library.symbol("cblas_dgemm"))) {
    if (sgemm_ == nullptr || dgemm_ == nullptr)
      throw Error(ErrorKind::unavailable,
                  "[blas] libopenblas.so.0 has no CBLAS; install one with: apt-get install libopenblas0");
  }

  void gemm(const GemmProblem& problem, Stream&) override {
    if (problem.dtype == DType::float32) return run_gemm(sgemm_, problem);
    if (problem.dtype == DType::float64) return run_gemm(dgemm_, problem);
    throw Error("[gemm] expected float32 or float64, got " + std::string(name(problem.dtype)));
  }

 private:
  Gemm<float> sgemm_;
  Gemm<double> dgemm_;
};

}  // namespace

std::unique_ptr<Blas> open_blas() {
  std::string why;
  DynamicLibrary library = DynamicLibrary::open("libopenblas.so.0", why);
  if (!library)
    throw Error(ErrorKind::unavailable, "[blas] matrix products on the cpu device need OpenBLAS (" + why +
                                            "); install it with: apt-get install libopenblas0");
  return std::make_unique<OpenBlas>(library);
}

}  // namespace gpulua::cpu
