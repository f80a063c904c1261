#include "src/device/cuda/cublas.h"

#include <cublas_v2.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/dynamic_library.h"
#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/compiler/cuda_compiler.h"
#include "src/device/cuda/cuda_stream.h"
#include "src/device/cuda/data_type.h"

namespace gpulua::cuda {
namespace {

// X(member, exported name)
#define GPULUA_CUBLAS_FUNCTIONS(X)            \
  X(create, cublasCreate_v2)                  \
  X(destroy, cublasDestroy_v2)                \
  X(set_stream, cublasSetStream_v2)           \
  X(set_workspace, cublasSetWorkspace_v2)     \
  X(set_math_mode, cublasSetMathMode)         \
  X(get_status_string, cublasGetStatusString) \
  X(gemm, cublasGemmEx_64)                    \
  X(gemm_batched, cublasGemmBatchedEx_64)     \
  X(gemm_strided, cublasGemmStridedBatchedEx_64)

struct Cublas {
#define GPULUA_CUBLAS_MEMBER(member, function) decltype(&::function) member = nullptr;
  GPULUA_CUBLAS_FUNCTIONS(GPULUA_CUBLAS_MEMBER)
#undef GPULUA_CUBLAS_MEMBER
};

/// Routines of cuBLAS for one type of elements. Their pointers to elements and factors are declared without the type.
struct TypedRoutines {
  cublasStatus_t (*trsm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                         std::int64_t m, std::int64_t n, const void* alpha, const void* a, std::int64_t lda, void* b,
                         std::int64_t ldb);
  cublasStatus_t (*trsm_batched)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t,
                                 cublasDiagType_t, std::int64_t m, std::int64_t n, const void* alpha,
                                 const void* const* a, std::int64_t lda, void* const* b, std::int64_t ldb,
                                 std::int64_t batch);
  cublasStatus_t (*trmm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, cublasOperation_t, cublasDiagType_t,
                         std::int64_t m, std::int64_t n, const void* alpha, const void* a, std::int64_t lda,
                         const void* b, std::int64_t ldb, void* c, std::int64_t ldc);
  cublasStatus_t (*syrk)(cublasHandle_t, cublasFillMode_t, cublasOperation_t, std::int64_t n, std::int64_t k,
                         const void* alpha, const void* a, std::int64_t lda, const void* beta, void* c,
                         std::int64_t ldc);
  cublasStatus_t (*syr2k)(cublasHandle_t, cublasFillMode_t, cublasOperation_t, std::int64_t n, std::int64_t k,
                          const void* alpha, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                          const void* beta, void* c, std::int64_t ldc);
  cublasStatus_t (*symm)(cublasHandle_t, cublasSideMode_t, cublasFillMode_t, std::int64_t m, std::int64_t n,
                         const void* alpha, const void* a, std::int64_t lda, const void* b, std::int64_t ldb,
                         const void* beta, void* c, std::int64_t ldc);
  cublasStatus_t (*lu_batched)(cublasHandle_t, int n, void* const* a, int lda, int* pivots, int* info, int batch);
  cublasStatus_t (*lu_solve_batched)(cublasHandle_t, cublasOperation_t, int n, int columns, const void* const* a,
                                     int lda, const int* pivots, void* const* b, int ldb, int* info_on_host, int batch);
};

/// All that is used of libcublas.
struct Library {
  Cublas call;
  TypedRoutines of_float, of_double, of_complex, of_double_complex;
};

Library load(const Config& config, int driver_version) {
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
  if (!library) throw Error(ErrorKind::unavailable, "[blas] libcublas could not be loaded: {}", why);
  Library result;
  const auto find = [&]<class Function>(Function& function, const std::string& symbol) {
    function = reinterpret_cast<Function>(library.symbol(symbol.c_str()));
    if (function == nullptr)
      throw Error(ErrorKind::unavailable, "[blas] expected cuBLAS of CUDA 12 or later, got {}, which has no {}",
                  file->string(), symbol);
  };
#define GPULUA_CUBLAS_LOAD(member, function) find(result.call.member, #function);
  GPULUA_CUBLAS_FUNCTIONS(GPULUA_CUBLAS_LOAD)
#undef GPULUA_CUBLAS_LOAD
  const auto find_typed = [&](TypedRoutines& routines, char type) {
    const std::string prefix = std::string("cublas") + type;
    find(routines.trsm, prefix + "trsm_v2_64"), find(routines.trsm_batched, prefix + "trsmBatched_64");
    find(routines.trmm, prefix + "trmm_v2_64"), find(routines.symm, prefix + "symm_v2_64");
    find(routines.lu_batched, prefix + "getrfBatched"), find(routines.lu_solve_batched, prefix + "getrsBatched");
    find(routines.syrk, prefix + "syrk_v2_64"), find(routines.syr2k, prefix + "syr2k_v2_64");
  };
  find_typed(result.of_float, 'S'), find_typed(result.of_double, 'D');
  find_typed(result.of_complex, 'C'), find_typed(result.of_double_complex, 'Z');
  return result;
}

void check(const Cublas& call, cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const ErrorKind kind = status == CUBLAS_STATUS_ALLOC_FAILED    ? ErrorKind::memory
                         : status == CUBLAS_STATUS_INVALID_VALUE ? ErrorKind::argument
                         : status == CUBLAS_STATUS_ARCH_MISMATCH ? ErrorKind::unavailable
                         : status == CUBLAS_STATUS_NOT_SUPPORTED ? ErrorKind::unavailable
                                                                 : ErrorKind::device;
  throw Error(kind, "[blas] cuBLAS failed: {}", call.get_status_string(status));
}

/// cuBLAS's handle of one stream, with a work area of its own. So products on a stream are bitwise the same each time,
/// whatever other streams do, and a call allocates nothing.
class StreamHandle {
 public:
  StreamHandle(std::shared_ptr<Context> context, const Cublas& call, CUstream stream)
      : context_(std::move(context)), call_(call) {
    // What NVIDIA recommends for the generations of GPUs.
    const bool large = context_->attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) >= 9;
    const std::size_t bytes = std::size_t{large ? 32U : 4U} << 20;
    try {
      check(call, call.create(&handle_));
      check(call, call.set_stream(handle_, stream));
      // Sums of 16-bit products stay in float32 until they are complete.
      check(call,
            call.set_math_mode(handle_, static_cast<cublasMath_t>(CUBLAS_DEFAULT_MATH |
                                                                  CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION)));
      if (context_->driver().memory_allocate(&workspace_, bytes) != CUDA_SUCCESS)
        throw Error(ErrorKind::memory,
                    "[blas] out of device memory for cuBLAS's workspace of {} MiB; gpu.trim() gives back pooled memory",
                    bytes >> 20);
      check(call, call.set_workspace(handle_, reinterpret_cast<void*>(workspace_), bytes));
    } catch (...) {
      retire();
      throw;
    }
  }
  ~StreamHandle() { retire(); }
  StreamHandle(const StreamHandle&) = delete;
  StreamHandle& operator=(const StreamHandle&) = delete;

  cublasHandle_t get() const { return handle_; }

 private:
  /// The handle, and the work area that queued products use, go when no work is in flight; the stream may be gone then.
  void retire() noexcept {
    if (handle_ != nullptr) {
      const ContextGuard guard(*context_);
      call_.set_stream(handle_, nullptr);
    }
    context_->retire([destroy = call_.destroy, handle = handle_, workspace = workspace_](const Driver& driver) {
      if (handle != nullptr) destroy(handle);
      if (workspace != 0) driver.memory_free(workspace);
    });
  }

  std::shared_ptr<Context> context_;
  const Cublas call_;
  cublasHandle_t handle_ = nullptr;
  CUdeviceptr workspace_ = 0;
};

/// How a dtype's products are computed, and the type of alpha and beta.
struct GemmTypes {
  cudaDataType elements;
  cublasComputeType_t compute;
};

/// What cuBLAS calls CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT, which headers before CUDA 13 lack.
constexpr auto emulated_float64 = static_cast<cublasComputeType_t>(79);

GemmTypes types_of(DType dtype) {
  const bool is_double = dtype == DType::float64 || dtype == DType::complex128;
  return {data_type(dtype, "gemm"), is_double ? CUBLAS_COMPUTE_64F : CUBLAS_COMPUTE_32F};
}

/// alpha or beta as cuBLAS reads it: real or complex, in the precision of the computation.
class Factor {
 public:
  Factor(std::complex<double> value, DType dtype) {
    double_[0] = value.real(), double_[1] = value.imag();
    float_[0] = static_cast<float>(value.real()), float_[1] = static_cast<float>(value.imag());
    is_double_ = dtype == DType::float64 || dtype == DType::complex128;
  }
  const void* get() const { return is_double_ ? static_cast<const void*>(double_) : float_; }

 private:
  double double_[2];
  float float_[2];
  bool is_double_;
};

cublasOperation_t operation(MatrixOp op) {
  if (op == MatrixOp::plain) return CUBLAS_OP_N;
  return op == MatrixOp::transposed ? CUBLAS_OP_T : CUBLAS_OP_C;
}

// A row-major matrix is the transpose of a column-major one: its lower triangle is the upper one there, and its left
// factor is the right one.
cublasFillMode_t triangle_of(Triangle triangle) {
  return triangle == Triangle::lower ? CUBLAS_FILL_MODE_UPPER : CUBLAS_FILL_MODE_LOWER;
}
cublasSideMode_t side_of(bool right) {
  return right ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT;
}
cublasDiagType_t diagonal_of(bool unit) {
  return unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

class CudaBlas final : public CublasBlas {
 public:
  CudaBlas(const Config& config, std::shared_ptr<Context> context)
      : context_(std::move(context)), library_(load(config, context_->driver().version)), call_(library_.call) {}

  bool takes(DType dtype) const override { return is_inexact(dtype); }

  /// cuBLAS is column-major, and a row-major matrix is its transpose there: C' = op(B)' op(A)'.
  void gemm(const GemmProblem& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const cublasHandle_t handle = handle_for(stream);
    GemmTypes types = types_of(p.dtype);
    if (p.tf32 && size_of(p.dtype) >= 4 && types.compute == CUBLAS_COMPUTE_32F)
      types.compute = CUBLAS_COMPUTE_32F_FAST_TF32;
    if (p.emulated && p.dtype == DType::float64) types.compute = emulated_float64;
    const Factor alpha(p.alpha, p.dtype), beta(p.beta, p.dtype);
    const cublasOperation_t first = operation(p.op_b), second = operation(p.op_a);
    const cublasGemmAlgo_t algorithm = CUBLAS_GEMM_DEFAULT;
    if (p.c_addresses != nullptr) {
      check(call_, call_.gemm_batched(handle, first, second, p.n, p.m, p.k, alpha.get(), p.b_addresses, types.elements,
                                      p.ldb, p.a_addresses, types.elements, p.lda, beta.get(), p.c_addresses,
                                      types.elements, p.ldc, p.batch, types.compute, algorithm));
    } else if (p.batch > 1) {
      check(call_, call_.gemm_strided(handle, first, second, p.n, p.m, p.k, alpha.get(), p.b, types.elements, p.ldb,
                                      p.stride_b, p.a, types.elements, p.lda, p.stride_a, beta.get(), p.c,
                                      types.elements, p.ldc, p.stride_c, p.batch, types.compute, algorithm));
    } else {
      check(call_, call_.gemm(handle, first, second, p.n, p.m, p.k, alpha.get(), p.b, types.elements, p.ldb, p.a,
                              types.elements, p.lda, beta.get(), p.c, types.elements, p.ldc, types.compute, algorithm));
    }
  }

  void solve_triangular(const TriangularProblem& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const cublasHandle_t handle = handle_for(stream);
    const Factor alpha(p.alpha, p.dtype);
    const TypedRoutines& typed = routines_of(p.dtype);
    if (p.a_addresses != nullptr)
      check(call_, typed.trsm_batched(handle, side_of(p.right), triangle_of(p.triangle), operation(p.op),
                                      diagonal_of(p.unit_diagonal), p.n, p.m, alpha.get(), p.a_addresses, p.lda,
                                      p.b_addresses, p.ldb, p.batch));
    else
      check(call_, typed.trsm(handle, side_of(p.right), triangle_of(p.triangle), operation(p.op),
                              diagonal_of(p.unit_diagonal), p.n, p.m, alpha.get(), p.a, p.lda, p.b, p.ldb));
  }

  void multiply_triangular(const TriangularProblem& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const cublasHandle_t handle = handle_for(stream);
    const Factor alpha(p.alpha, p.dtype);
    check(call_, routines_of(p.dtype).trmm(handle, side_of(p.right), triangle_of(p.triangle), operation(p.op),
                                           diagonal_of(p.unit_diagonal), p.n, p.m, alpha.get(), p.a, p.lda, p.b, p.ldb,
                                           p.b, p.ldb));
  }

  /// A is its transpose in columns: A A' of ours is A' A of cuBLAS's.
  void update(const RankUpdate& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const cublasHandle_t handle = handle_for(stream);
    const Factor alpha(p.alpha, p.dtype), beta(p.beta, p.dtype);
    const TypedRoutines& typed = routines_of(p.dtype);
    const cublasOperation_t op = p.transposed ? CUBLAS_OP_N : CUBLAS_OP_T;
    if (p.b == nullptr)
      check(call_,
            typed.syrk(handle, triangle_of(p.triangle), op, p.n, p.k, alpha.get(), p.a, p.lda, beta.get(), p.c, p.ldc));
    else
      check(call_, typed.syr2k(handle, triangle_of(p.triangle), op, p.n, p.k, alpha.get(), p.a, p.lda, p.b, p.ldb,
                               beta.get(), p.c, p.ldc));
  }

  void multiply_symmetric(const SymmetricProduct& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const cublasHandle_t handle = handle_for(stream);
    const Factor alpha(p.alpha, p.dtype), beta(p.beta, p.dtype);
    check(call_, routines_of(p.dtype).symm(handle, side_of(p.right), triangle_of(p.triangle), p.n, p.m, alpha.get(),
                                           p.a, p.lda, p.b, p.ldb, beta.get(), p.c, p.ldc));
  }

  void lu(const SolverProblem& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const int n = to_int(p.n);
    check(call_, routines_of(p.dtype).lu_batched(handle_for(stream), n, p.a_addresses, n, static_cast<int*>(p.pivots),
                                                 p.info, to_int(p.batch)));
  }

  void lu_solve(const SolverProblem& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    const int m = to_int(p.m);
    int wrong_argument = 0;
    check(call_, routines_of(p.dtype).lu_solve_batched(handle_for(stream), operation(p.op), m, to_int(p.n),
                                                       p.a_addresses, m, static_cast<const int*>(p.pivots),
                                                       p.b_addresses, m, &wrong_argument, to_int(p.batch)));
  }

 private:
  static int to_int(std::int64_t size) {
    if (size > std::numeric_limits<int>::max()) throw Error("[linalg] expected sizes below 2^31, got {}", size);
    return static_cast<int>(size);
  }

  const TypedRoutines& routines_of(DType dtype) const {
    switch (dtype) {
      case DType::float32:
        return library_.of_float;
      case DType::float64:
        return library_.of_double;
      case DType::complex64:
        return library_.of_complex;
      case DType::complex128:
        return library_.of_double_complex;
      default:
        throw Error("[blas] expected float32, float64, complex64 or complex128, got {}", name(dtype));
    }
  }

  cublasHandle_t handle_for(Stream& stream) {
    auto& of_stream = static_cast<CudaStream&>(stream);
    if (!of_stream.blas()) of_stream.blas() = std::make_shared<StreamHandle>(context_, call_, of_stream.handle());
    return static_cast<StreamHandle*>(of_stream.blas().get())->get();
  }

  std::shared_ptr<Context> context_;
  const Library library_;
  const Cublas& call_;
};

}  // namespace

std::unique_ptr<CublasBlas> open_blas(const Config& config, std::shared_ptr<Context> context) {
  return std::make_unique<CudaBlas>(config, std::move(context));
}

}  // namespace gpulua::cuda
