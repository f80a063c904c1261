#include "src/device/cpu/cpu_blas.h"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <mutex>
#include <string>
#include <type_traits>

#include "src/base/error.h"
#include "src/device/dynamic_library.h"

namespace gpulua::cpu {
namespace {

// From the CBLAS standard; OpenBLAS's sizes are int in Debian's build.
enum CblasOrder { cblas_row_major = 101 };
enum CblasTranspose { cblas_no_trans = 111, cblas_trans = 112, cblas_conj_trans = 113 };

template <class T>
constexpr bool is_complex = !std::is_floating_point_v<T>;
/// CBLAS passes a complex factor by its address.
template <class T>
using Factor = std::conditional_t<is_complex<T>, const void*, T>;
template <class T>
using Elements = std::conditional_t<is_complex<T>, void, T>;

template <class T>
struct Routines {
  void (*gemm)(CblasOrder, CblasTranspose, CblasTranspose, int m, int n, int k, Factor<T> alpha, const Elements<T>* a,
               int lda, const Elements<T>* b, int ldb, Factor<T> beta, Elements<T>* c, int ldc);
  void (*gemv)(CblasOrder, CblasTranspose, int rows, int columns, Factor<T> alpha, const Elements<T>* a, int lda,
               const Elements<T>* x, int step_x, Factor<T> beta, Elements<T>* y, int step_y);
};

int to_int(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw Error("[gemm] expected sizes below 2^31 on the cpu device, got " + std::to_string(size));
  return static_cast<int>(size);
}

CblasTranspose to_cblas(MatrixOp op) {
  if (op == MatrixOp::plain) return cblas_no_trans;
  return op == MatrixOp::transposed ? cblas_trans : cblas_conj_trans;
}

/// The matrices of one product of a batch.
template <class T>
struct Triple {
  const T *a, *b;
  T* c;
};

template <class T>
Triple<T> triple(const GemmProblem& p, std::int64_t i) {
  if (p.c_addresses != nullptr)
    return {static_cast<const T*>(p.a_addresses[i]), static_cast<const T*>(p.b_addresses[i]),
            static_cast<T*>(p.c_addresses[i])};
  return {static_cast<const T*>(p.a) + i * p.stride_a, static_cast<const T*>(p.b) + i * p.stride_b,
          static_cast<T*>(p.c) + i * p.stride_c};
}

/// One product, with sizes that fit CBLAS. A product with a vector is gemv's, which OpenBLAS's gemm does not find by
/// itself.
template <class T>
class Product {
 public:
  Product(const Routines<T>& call, const GemmProblem& p)
      : call_(call),
        op_a_(to_cblas(p.op_a)),
        op_b_(to_cblas(p.op_b)),
        m_(to_int(p.m)),
        n_(to_int(p.n)),
        k_(to_int(p.k)),
        lda_(to_int(p.lda)),
        ldb_(to_int(p.ldb)),
        ldc_(to_int(p.ldc)) {
    if constexpr (is_complex<T>)
      alpha_ = T(p.alpha), beta_ = T(p.beta);
    else
      alpha_ = static_cast<T>(p.alpha.real()), beta_ = static_cast<T>(p.beta.real());
  }

  void run(const Triple<T>& of) const {
    if (n_ == 1 && (op_b_ != cblas_conj_trans || !is_complex<T>))
      return multiply_vector(op_a_, op_a_ == cblas_no_trans ? m_ : k_, op_a_ == cblas_no_trans ? k_ : m_, of.a, lda_,
                             of.b, op_b_ == cblas_no_trans ? ldb_ : 1, of.c, ldc_);
    // The row c is B' a: B is read as its transpose.
    if (m_ == 1 && (!is_complex<T> || (op_a_ != cblas_conj_trans && op_b_ != cblas_conj_trans)))
      return multiply_vector(op_b_ == cblas_no_trans ? cblas_trans : cblas_no_trans, op_b_ == cblas_no_trans ? k_ : n_,
                             op_b_ == cblas_no_trans ? n_ : k_, of.b, ldb_, of.a, op_a_ == cblas_no_trans ? 1 : lda_,
                             of.c, 1);
    call_.gemm(cblas_row_major, op_a_, op_b_, m_, n_, k_, factor(alpha_), of.a, lda_, of.b, ldb_, factor(beta_), of.c,
               ldc_);
  }

 private:
  static Factor<T> factor(const T& value) {
    if constexpr (is_complex<T>)
      return &value;
    else
      return value;
  }
  void multiply_vector(CblasTranspose op, int rows, int columns, const T* a, int lda, const T* x, int step_x, T* y,
                       int step_y) const {
    call_.gemv(cblas_row_major, op, rows, columns, factor(alpha_), a, lda, x, step_x, factor(beta_), y, step_y);
  }

  const Routines<T>& call_;
  CblasTranspose op_a_, op_b_;
  int m_, n_, k_, lda_, ldb_, ldc_;
  T alpha_, beta_;
};

class OpenBlas final : public Blas {
 public:
  explicit OpenBlas(const DynamicLibrary& library) {
    const auto find = [&](auto& function, const char* symbol) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(library.symbol(symbol));
      if (function == nullptr)
        throw Error(ErrorKind::unavailable, "[blas] libopenblas.so.0 has no " + std::string(symbol) +
                                                "; install one that does with: apt-get install libopenblas0");
    };
    find(float_.gemm, "cblas_sgemm"), find(float_.gemv, "cblas_sgemv");
    find(double_.gemm, "cblas_dgemm"), find(double_.gemv, "cblas_dgemv");
    find(complex_.gemm, "cblas_cgemm"), find(complex_.gemv, "cblas_cgemv");
    find(double_complex_.gemm, "cblas_zgemm"), find(double_complex_.gemv, "cblas_zgemv");
    find(get_threads_, "openblas_get_num_threads"), find(set_threads_, "openblas_set_num_threads");
  }

  bool takes(DType dtype) const override { return size_of(dtype) >= 4 && !is_integer(dtype); }

  void gemm(const GemmProblem& problem, Stream&) override {
    switch (problem.dtype) {
      case DType::float32:
        return run(float_, problem);
      case DType::float64:
        return run(double_, problem);
      case DType::complex64:
        return run(complex_, problem);
      case DType::complex128:
        return run(double_complex_, problem);
      default:
        throw Error("[gemm] expected float32, float64, complex64 or complex128 on the cpu device, got " +
                    std::string(name(problem.dtype)));
    }
  }

 private:
  /// Few products run one after the other, on all of OpenBLAS's threads each; many run side by side, on one thread
  /// each.
  template <class T>
  void run(const Routines<T>& call, const GemmProblem& p) const {
    const Product<T> product(call, p);
    const int threads = get_threads_();
    if (p.batch < threads || p.batch == 1) {
      for (std::int64_t i = 0; i < p.batch; ++i) product.run(triple<T>(p, i));
      return;
    }
    // OpenBLAS has one number of threads in the process.
    static std::mutex changing;
    const std::lock_guard lock(changing);
    set_threads_(1);
    const double work = static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    const double grain = std::max(65536 / work, 1.0);
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, p.batch, static_cast<std::size_t>(grain)),
                      [&](const tbb::blocked_range<std::int64_t>& range) {
                        for (std::int64_t i = range.begin(); i < range.end(); ++i) product.run(triple<T>(p, i));
                      });
    set_threads_(threads);
  }

  Routines<float> float_{};
  Routines<double> double_{};
  Routines<std::complex<float>> complex_{};
  Routines<std::complex<double>> double_complex_{};
  int (*get_threads_)() = nullptr;
  void (*set_threads_)(int) = nullptr;
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
