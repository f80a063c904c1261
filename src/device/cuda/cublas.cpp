#include "src/device/cuda/cublas.h"

#include <cublas_v2.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_compiler.h"
#include "src/device/cuda/cuda_stream.h"
#include "src/device/dynamic_library.h"

namespace gpulua::cuda {
namespace {

// X(member, exported name)
#define GPULUA_CUBLAS_FUNCTIONS(X)            \
  X(create, cublasCreate_v2)                  \
  X(destroy, cublasDestroy_v2)                \
  X(set_stream, cublasSetStream_v2)           \
  X(get_status_string, cublasGetStatusString) \
  X(sgemm, cublasSgemm_v2_64)                 \
  X(dgemm, cublasDgemm_v2_64)

struct Cublas {
#define GPULUA_CUBLAS_MEMBER(member, function) decltype(&::function) member = nullptr;
  GPULUA_CUBLAS_FUNCTIONS(GPULUA_CUBLAS_MEMBER)
#undef GPULUA_CUBLAS_MEMBER
};

Cublas load(const Config& config, int driver_version) {
  const std::vector<std::string> names = toolkit_library_names("libcublas", driver_version);
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto file = find_cuda_library(config, views);
  if (!file)
    throw Error(ErrorKind::unavailable,
                "[blas] libcublas was not found (looked in the loader's path, CUDA_HOME, /usr/local/cuda and pip's "
                "nvidia packages); install it: e.g. apt-get install libcublas-13-0, or pip install nvidia-cublas, or "
                "set CUDA_HOME");
  std::string why;
  const DynamicLibrary library = DynamicLibrary::open(*file, why);
  if (!library) throw Error(ErrorKind::unavailable, "[blas] libcublas could not be loaded: " + why);
  Cublas call;
#define GPULUA_CUBLAS_LOAD(member, function)                                        \
  call.member = reinterpret_cast<decltype(call.member)>(library.symbol(#function)); \
  if (call.member == nullptr)                                                       \
    throw Error(ErrorKind::unavailable,                                             \
                "[blas] expected cuBLAS of CUDA 12 or later, got " + file->string() + ", which has no " #function);
  GPULUA_CUBLAS_FUNCTIONS(GPULUA_CUBLAS_LOAD)
#undef GPULUA_CUBLAS_LOAD
  return call;
}

class CudaBlas final : public Blas {
 public:
  CudaBlas(const Config& config, std::shared_ptr<Context> context)
      : context_(std::move(context)), call_(load(config, context_->driver().version)) {
    const ContextGuard guard(*context_);
    check(call_.create(&handle_));
  }

  ~CudaBlas() override {
    context_->retire([destroy = call_.destroy, handle = handle_](const Driver&) { destroy(handle); });
  }

  void gemm(const GemmProblem& problem, Stream& stream) override {
    const ContextGuard guard(*context_);
    check(call_.set_stream(handle_, handle_of(stream)));
    switch (problem.dtype) {
      case DType::float32:
        return multiply(call_.sgemm, problem);
      case DType::float64:
        return multiply(call_.dgemm, problem);
      default:
        throw Error("[gemm] expected float32 or float64, got " + std::string(name(problem.dtype)));
    }
  }

 private:
  /// cuBLAS is column-major, and a row-major matrix is its transpose there: C' = op(B)' op(A)'.
  template <class T>
  void multiply(cublasStatus_t (*function)(cublasHandle_t, cublasOperation_t, cublasOperation_t, std::int64_t,
                                           std::int64_t, std::int64_t, const T*, const T*, std::int64_t, const T*,
                                           std::int64_t, const T*, T*, std::int64_t),
                const GemmProblem& p) {
    const T alpha = static_cast<T>(p.alpha);
    const T beta = static_cast<T>(p.beta);
    const auto operation = [](bool transpose) { return transpose ? CUBLAS_OP_T : CUBLAS_OP_N; };
    check(function(handle_, operation(p.transpose_b), operation(p.transpose_a), p.n, p.m, p.k, &alpha,
                   static_cast<const T*>(p.b), p.ldb, static_cast<const T*>(p.a), p.lda, &beta, static_cast<T*>(p.c),
                   p.ldc));
  }

  void check(cublasStatus_t status) const {
    if (status == CUBLAS_STATUS_SUCCESS) return;
    const ErrorKind kind = status == CUBLAS_STATUS_ALLOC_FAILED    ? ErrorKind::memory
                           : status == CUBLAS_STATUS_INVALID_VALUE ? ErrorKind::argument
                           : status == CUBLAS_STATUS_ARCH_MISMATCH ? ErrorKind::unavailable
                                                                   : ErrorKind::device;
    throw Error(kind, "[blas] cuBLAS failed: " + std::string(call_.get_status_string(status)));
  }

  std::shared_ptr<Context> context_;
  Cublas call_;
  cublasHandle_t handle_ = nullptr;
};

}  // namespace

std::unique_ptr<Blas> open_blas(const Config& config, std::shared_ptr<Context> context) {
  return std::make_unique<CudaBlas>(config, std::move(context));
}

}  // namespace gpulua::cuda
