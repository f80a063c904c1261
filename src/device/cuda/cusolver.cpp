#include "src/device/cuda/cusolver.h"

#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "src/base/error.h"
#include "src/device/cuda/context_guard.h"
#include "src/device/cuda/cuda_stream.h"
#include "src/device/cuda/cusolver_library.h"
#include "src/device/cuda/data_type.h"

namespace gpulua::cuda {
namespace {

/// cuSOLVER's handle of one stream, and host memory that its routines work in.
class StreamSolver {
 public:
  StreamSolver(std::shared_ptr<Context> context, const Cusolver& call, CUstream stream)
      : context_(std::move(context)), call_(call) {
    try {
      check_cusolver(call_.create(&handle_));
      check_cusolver(call_.set_stream(handle_, stream));
      check_cusolver(call_.create_parameters(&parameters_));
      check_cusolver(call_.create_jacobi(&jacobi_));
    } catch (...) {
      retire();
      throw;
    }
  }
  ~StreamSolver() { retire(); }
  StreamSolver(const StreamSolver&) = delete;
  StreamSolver& operator=(const StreamSolver&) = delete;

  cusolverDnHandle_t handle() const { return handle_; }
  cusolverDnParams_t parameters() const { return parameters_; }
  gesvdjInfo_t jacobi() const { return jacobi_; }
  /// Host memory of at least `bytes`. Null for none.
  void* host_memory(std::size_t bytes) {
    if (host_.size() < bytes) host_.resize(bytes);
    return bytes == 0 ? nullptr : host_.data();
  }

 private:
  /// The handle goes when no work is in flight; the stream may be gone then.
  void retire() noexcept {
    if (handle_ != nullptr) {
      const ContextGuard guard(*context_);
      call_.set_stream(handle_, nullptr);
    }
    context_->retire([destroy = call_.destroy, destroy_parameters = call_.destroy_parameters, handle = handle_,
                      parameters = parameters_, host = std::move(host_), destroy_jacobi = call_.destroy_jacobi,
                      jacobi = jacobi_](const Driver&) {
      if (jacobi != nullptr) destroy_jacobi(jacobi);
      if (parameters != nullptr) destroy_parameters(parameters);
      if (handle != nullptr) destroy(handle);
    });
  }

  std::shared_ptr<Context> context_;
  const Cusolver call_;
  cusolverDnHandle_t handle_ = nullptr;
  cusolverDnParams_t parameters_ = nullptr;
  gesvdjInfo_t jacobi_ = nullptr;
  std::vector<char> host_;
};

/// The types of a problem's elements, and of their real parts.
struct SolverTypes {
  cudaDataType elements, reals;
};

SolverTypes solver_types_of(DType dtype) {
  const bool is_double = dtype == DType::float64 || dtype == DType::complex128;
  return {data_type(dtype, "linalg"), is_double ? CUDA_R_64F : CUDA_R_32F};
}

int small_size(std::int64_t size) {
  if (size > std::numeric_limits<int>::max()) throw Error("[linalg] expected sizes below 2^31, got {}", size);
  return static_cast<int>(size);
}

cublasFillMode_t solver_triangle_of(Triangle triangle) {
  return triangle == Triangle::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
cublasOperation_t operation_of(MatrixOp op) {
  return op == MatrixOp::plain ? CUBLAS_OP_N : op == MatrixOp::transposed ? CUBLAS_OP_T : CUBLAS_OP_C;
}
cusolverEigMode_t mode_of(bool vectors) {
  return vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
}
signed char vectors_of(const SolverProblem& p) {
  return static_cast<signed char>(!p.vectors ? 'N' : p.full ? 'A' : 'S');
}

/// The largest matrices that the routines for batches are quicker for than one call after the other.
constexpr std::int64_t most_of_batches = 512;

/// What cuBLAS's routines for batches take.
bool is_batch_of_blas(const SolverProblem& p) {
  const bool is_lu = p.routine == SolverRoutine::lu || p.routine == SolverRoutine::lu_solve;
  return is_lu && p.batch > 1 && p.m <= most_of_batches && (p.routine == SolverRoutine::lu_solve || p.m == p.n);
}
/// The most rows and columns that Jacobi's method takes in batches.
constexpr std::int64_t most_of_jacobi = 32;

bool is_batch_of_solver(const SolverProblem& p) {
  if (p.routine == SolverRoutine::singular_values)
    return p.batch > 1 && p.m <= most_of_jacobi && (p.full || !p.vectors);
  const bool has_batches = p.routine == SolverRoutine::cholesky || p.routine == SolverRoutine::symmetric_eigen;
  return has_batches && p.batch > 1 && p.n <= most_of_batches;
}

/// Bytes of memory that a routine works in.
struct WorkSizes {
  std::size_t device = 0, host = 0;
};

class CudaSolver final : public Solver {
 public:
  CudaSolver(const Config& config, std::shared_ptr<Context> context, std::function<CublasBlas&()> blas)
      : context_(std::move(context)), library_(load_cusolver(config)), call_(library_.call), blas_(std::move(blas)) {}

  bool checks_finite() const override { return false; }

  SolverNeeds needs(const SolverProblem& p, Stream& stream) override {
    SolverNeeds needs;
    if (is_batch_of_blas(p)) {
      needs.addresses = true;
      return needs;
    }
    needs.pivots = DType::int64;
    needs.addresses = is_batch_of_solver(p) && p.routine == SolverRoutine::cholesky;
    needs.right_in_columns = is_batch_of_solver(p) && p.routine == SolverRoutine::singular_values && p.vectors;
    if (needs.addresses || p.routine == SolverRoutine::lu_solve) return needs;
    const ContextGuard guard(*context_);
    needs.workspace = sizes_of(p, solver_for(stream)).device;
    return needs;
  }

  void run(const SolverProblem& p, Stream& stream) override {
    const ContextGuard guard(*context_);
    if (is_batch_of_blas(p))
      return p.routine == SolverRoutine::lu ? blas_().lu(p, stream) : blas_().lu_solve(p, stream);
    StreamSolver& solver = solver_for(stream);
    if (is_batch_of_solver(p)) return run_batch(p, solver);
    const WorkSizes sizes = p.routine == SolverRoutine::lu_solve ? WorkSizes{} : sizes_of(p, solver);
    for (std::int64_t i = 0; i < p.batch; ++i) run_one(at(p, i), sizes, solver);
  }

 private:
  StreamSolver& solver_for(Stream& stream) {
    auto& of_stream = static_cast<CudaStream&>(stream);
    if (!of_stream.solver()) of_stream.solver() = std::make_shared<StreamSolver>(context_, call_, of_stream.handle());
    return *static_cast<StreamSolver*>(of_stream.solver().get());
  }

  const SolverFunctions& routines_of(DType dtype) const {
    switch (dtype) {
      case DType::float32:
        return library_.of_float;
      case DType::float64:
        return library_.of_double;
      case DType::complex64:
        return library_.of_complex;
      default:
        return library_.of_double_complex;
    }
  }

  /// The problem of the matrix i of the batch.
  static SolverProblem at(SolverProblem p, std::int64_t i) {
    const auto bytes = static_cast<std::int64_t>(size_of(p.dtype));
    const bool is_complex = info(p.dtype).kind == DTypeKind::complex;
    const auto move = [&](void*& pointer, std::int64_t count, std::int64_t item) {
      if (pointer != nullptr) pointer = static_cast<char*>(pointer) + i * count * item;
    };
    const std::int64_t real_bytes = is_complex ? bytes / 2 : bytes;
    switch (p.routine) {
      case SolverRoutine::lu_solve:
        move(p.a, p.m * p.m, bytes), move(p.b, p.m * p.n, bytes), move(p.pivots, p.m, 8);
        break;
      case SolverRoutine::eigen:
        move(p.a, p.n * p.n, bytes), move(p.b, p.n * p.n, bytes);
        move(p.values, is_complex ? p.n : 2 * p.n, bytes);
        break;
      case SolverRoutine::singular_values:
        move(p.a, p.m * p.n, bytes), move(p.b, p.m * (p.full ? p.m : p.k), bytes), move(p.c, p.k * p.n, bytes);
        move(p.values, p.k, real_bytes);
        break;
      case SolverRoutine::symmetric_eigen:
        move(p.a, p.n * p.n, bytes), move(p.values, p.n, real_bytes);
        break;
      default:
        move(p.a, p.m * p.n, bytes), move(p.values, p.k, bytes), move(p.pivots, p.k, 8);
    }
    p.info += i;
    p.batch = 1;
    return p;
  }

  /// The memory of Jacobi's method: what it works in, then vectors that nobody wants, since it writes them all the
  /// same.
  struct JacobiParts {
    int count = 0;  // elements to work in
    std::size_t left = 0, right = 0, bytes = 0;
  };

  JacobiParts jacobi_parts(const SolverProblem& p, const StreamSolver& solver) const {
    const int m = small_size(p.m), n = small_size(p.n);
    JacobiParts parts;
    check_cusolver(routines_of(p.dtype).singular_batch_size(solver.handle(), mode_of(p.vectors), m, n, p.a, m, p.values,
                                                            p.b, m, p.c, n, &parts.count, solver.jacobi(),
                                                            small_size(p.batch)));
    const auto end_of = [&](std::size_t begin, std::int64_t elements) {
      constexpr std::size_t alignment = 256;
      const std::size_t end = begin + static_cast<std::size_t>(elements) * size_of(p.dtype);
      return (end + alignment - 1) / alignment * alignment;
    };
    parts.left = end_of(0, parts.count);
    parts.right = p.vectors ? parts.left : end_of(parts.left, p.batch * p.m * p.m);
    parts.bytes = p.vectors ? parts.right : end_of(parts.right, p.batch * p.n * p.n);
    return parts;
  }

  WorkSizes sizes_of(const SolverProblem& p, const StreamSolver& solver) const {
    const SolverTypes types = solver_types_of(p.dtype);
    const cudaDataType type = types.elements;
    const cusolverDnHandle_t handle = solver.handle();
    const cusolverDnParams_t parameters = solver.parameters();
    WorkSizes sizes;
    switch (p.routine) {
      case SolverRoutine::lu:
        check_cusolver(call_.lu_size(handle, parameters, p.m, p.n, type, p.a, p.m, type, &sizes.device, &sizes.host));
        break;
      case SolverRoutine::lu_solve:
        break;
      case SolverRoutine::cholesky:
        check_cusolver(call_.cholesky_size(handle, parameters, solver_triangle_of(p.triangle), p.n, type, p.a, p.n,
                                           type, &sizes.device, &sizes.host));
        break;
      case SolverRoutine::reflectors:
        check_cusolver(call_.reflectors_size(handle, parameters, p.m, p.n, type, p.a, p.m, type, p.values, type,
                                             &sizes.device, &sizes.host));
        break;
      case SolverRoutine::orthogonal: {
        int count = 0;
        check_cusolver(routines_of(p.dtype).orthogonal_size(handle, small_size(p.m), small_size(p.n), small_size(p.k),
                                                            p.a, small_size(p.m), p.values, &count));
        sizes.device = static_cast<std::size_t>(count) * size_of(p.dtype);
        break;
      }
      case SolverRoutine::symmetric_eigen:
        if (is_batch_of_solver(p))
          check_cusolver(call_.symmetric_eigen_batch_size(
              handle, parameters, mode_of(p.vectors), solver_triangle_of(p.triangle), p.n, type, p.a, p.n, types.reals,
              p.values, type, &sizes.device, &sizes.host, p.batch));
        else
          check_cusolver(call_.symmetric_eigen_size(handle, parameters, mode_of(p.vectors),
                                                    solver_triangle_of(p.triangle), p.n, type, p.a, p.n, types.reals,
                                                    p.values, type, &sizes.device, &sizes.host));
        break;
      case SolverRoutine::eigen:
        check_cusolver(call_.eigen_size(handle, parameters, CUSOLVER_EIG_MODE_NOVECTOR, mode_of(p.vectors), p.n, type,
                                        p.a, p.n, type, p.values, type, nullptr, p.n, type, p.b, p.n, type,
                                        &sizes.device, &sizes.host));
        break;
      case SolverRoutine::singular_values:
        if (is_batch_of_solver(p)) {
          sizes.device = jacobi_parts(p, solver).bytes;
          break;
        }
        check_cusolver(call_.singular_values_size(handle, parameters, vectors_of(p), vectors_of(p), p.m, p.n, type, p.a,
                                                  p.m, types.reals, p.values, type, p.b, p.m, type, p.c, p.n, type,
                                                  &sizes.device, &sizes.host));
        break;
    }
    return sizes;
  }

  void run_one(const SolverProblem& p, const WorkSizes& sizes, StreamSolver& solver) const {
    const SolverTypes types = solver_types_of(p.dtype);
    const cudaDataType type = types.elements;
    const cusolverDnHandle_t handle = solver.handle();
    const cusolverDnParams_t parameters = solver.parameters();
    void* const host = solver.host_memory(sizes.host);
    switch (p.routine) {
      case SolverRoutine::lu:
        return check_cusolver(call_.lu(handle, parameters, p.m, p.n, type, p.a, p.m,
                                       static_cast<std::int64_t*>(p.pivots), type, p.workspace, sizes.device, host,
                                       sizes.host, p.info));
      case SolverRoutine::lu_solve:
        return check_cusolver(call_.lu_solve(handle, parameters, operation_of(p.op), p.m, p.n, type, p.a, p.m,
                                             static_cast<const std::int64_t*>(p.pivots), type, p.b, p.m, p.info));
      case SolverRoutine::cholesky:
        return check_cusolver(call_.cholesky(handle, parameters, solver_triangle_of(p.triangle), p.n, type, p.a, p.n,
                                             type, p.workspace, sizes.device, host, sizes.host, p.info));
      case SolverRoutine::reflectors:
        return check_cusolver(call_.reflectors(handle, parameters, p.m, p.n, type, p.a, p.m, type, p.values, type,
                                               p.workspace, sizes.device, host, sizes.host, p.info));
      case SolverRoutine::orthogonal:
        return check_cusolver(routines_of(p.dtype).orthogonal(
            handle, small_size(p.m), small_size(p.n), small_size(p.k), p.a, small_size(p.m), p.values, p.workspace,
            static_cast<int>(sizes.device / size_of(p.dtype)), p.info));
      case SolverRoutine::symmetric_eigen:
        return check_cusolver(call_.symmetric_eigen(
            handle, parameters, mode_of(p.vectors), solver_triangle_of(p.triangle), p.n, type, p.a, p.n, types.reals,
            p.values, type, p.workspace, sizes.device, host, sizes.host, p.info));
      case SolverRoutine::eigen:
        return check_cusolver(call_.eigen(handle, parameters, CUSOLVER_EIG_MODE_NOVECTOR, mode_of(p.vectors), p.n, type,
                                          p.a, p.n, type, p.values, type, nullptr, p.n, type, p.b, p.n, type,
                                          p.workspace, sizes.device, host, sizes.host, p.info));
      case SolverRoutine::singular_values:
        return check_cusolver(call_.singular_values(handle, parameters, vectors_of(p), vectors_of(p), p.m, p.n, type,
                                                    p.a, p.m, types.reals, p.values, type, p.b, p.m, type, p.c, p.n,
                                                    type, p.workspace, sizes.device, host, sizes.host, p.info));
    }
  }

  void run_batch(const SolverProblem& p, StreamSolver& solver) const {
    if (p.routine == SolverRoutine::cholesky)
      return check_cusolver(routines_of(p.dtype).cholesky_batch(solver.handle(), solver_triangle_of(p.triangle),
                                                                small_size(p.n), p.a_addresses, small_size(p.n), p.info,
                                                                small_size(p.batch)));
    if (p.routine == SolverRoutine::singular_values) {
      const int m = small_size(p.m), n = small_size(p.n);
      const JacobiParts parts = jacobi_parts(p, solver);
      char* const memory = static_cast<char*>(p.workspace);
      return check_cusolver(routines_of(p.dtype).singular_batch(
          solver.handle(), mode_of(p.vectors), m, n, p.a, m, p.values, p.vectors ? p.b : memory + parts.left, m,
          p.vectors ? p.c : memory + parts.right, n, memory, parts.count, p.info, solver.jacobi(),
          small_size(p.batch)));
    }
    const SolverTypes types = solver_types_of(p.dtype);
    const WorkSizes sizes = sizes_of(p, solver);
    check_cusolver(call_.symmetric_eigen_batch(solver.handle(), solver.parameters(), mode_of(p.vectors),
                                               solver_triangle_of(p.triangle), p.n, types.elements, p.a, p.n,
                                               types.reals, p.values, types.elements, p.workspace, sizes.device,
                                               solver.host_memory(sizes.host), sizes.host, p.info, p.batch));
  }

  std::shared_ptr<Context> context_;
  const SolverLibrary library_;
  const Cusolver& call_;
  std::function<CublasBlas&()> blas_;
};

}  // namespace

std::unique_ptr<Solver> open_solver(const Config& config, std::shared_ptr<Context> context,
                                    std::function<CublasBlas&()> blas) {
  return std::make_unique<CudaSolver>(config, std::move(context), std::move(blas));
}

}  // namespace gpulua::cuda
