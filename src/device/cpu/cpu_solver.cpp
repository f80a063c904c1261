#include "src/device/cpu/cpu_solver.h"

#include <cmath>
#include <limits>
#include <numeric>

#include "src/base/error.h"
#include "src/device/cpu/lapack.h"
#include "src/device/cpu/runtime/cpu_stream.h"

namespace gpulua::cpu {
namespace {

/// A matrix of a problem: address and number of elements of its operands in a batch.
template <class T>
T* part(void* first, std::int64_t i, std::int64_t size) {
  return static_cast<T*>(first) + i * size;
}

int lapack_size(std::int64_t size) {
  if (size > std::numeric_limits<int>::max())
    throw Error("[linalg] expected sizes below 2^31 on the cpu device, got {}", size);
  return static_cast<int>(size);
}

template <class T>
bool all_finite(const T* elements, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i)
    if (!std::isfinite(std::real(elements[i])) || !std::isfinite(std::imag(elements[i]))) return false;
  return true;
}

/// True when the elements of a triangle of a column-major matrix are finite.
template <class T>
bool triangle_finite(const T* a, std::int64_t n, Triangle triangle) {
  for (std::int64_t column = 0; column < n; ++column) {
    const std::int64_t first = triangle == Triangle::lower ? column : 0;
    const std::int64_t count = triangle == Triangle::lower ? n - column : column + 1;
    if (!all_finite(a + column * n + first, count)) return false;
  }
  return true;
}

template <class T>
void fill_nan(T* elements, std::int64_t count) {
  std::fill_n(elements, count, T(std::numeric_limits<Real<T>>::quiet_NaN()));
}

// OpenBLAS's routines for float32 take some NaN for 0, so results of elements that are not finite are written here.

template <class T>
int factorise_lu(const Lapack<T>& lapack, int m, int n, T* a, int* pivots) {
  const std::int64_t elements = std::int64_t{m} * n;
  if (all_finite(a, elements)) return lapack.getrf(m, n, a, pivots);
  fill_nan(a, elements);
  std::iota(pivots, pivots + std::min(m, n), 1);
  return 0;
}

template <class T>
int solve_lu(const Lapack<T>& lapack, char op, int m, int n, T* lu, int* pivots, T* b) {
  const std::int64_t rows = m;
  if (!all_finite(lu, rows * m)) return fill_nan(b, rows * n), 0;
  std::vector<T*> wrong;
  for (int column = 0; column < n; ++column)
    if (!all_finite(b + column * rows, rows)) wrong.push_back(b + column * rows);
  const int info = lapack.getrs(op, m, n, lu, pivots, b);
  for (T* column : wrong) fill_nan(column, rows);
  return info;
}

template <class T>
int find_reflectors(const Lapack<T>& lapack, int m, int n, T* a, T* scales) {
  const std::int64_t elements = std::int64_t{m} * n;
  if (all_finite(a, elements)) return lapack.geqrf(m, n, a, scales);
  fill_nan(a, elements);
  fill_nan(scales, std::min(m, n));
  return 0;
}

template <class T>
int apply_reflectors(const Lapack<T>& lapack, int m, int n, int k, T* a, T* scales) {
  if (all_finite(scales, k)) return lapack.orgqr(m, n, k, a, scales);
  fill_nan(a, std::int64_t{m} * n);
  return 0;
}

/// OpenBLAS 0.3.21's products with upper triangles of Hermitian matrices, on which the routine is built, read elements
/// before and after the matrix, and end the process where no memory is there. So it gets the lower triangle.
template <class T>
int find_symmetric_eigenvalues(const Lapack<T>& lapack, bool vectors, Triangle triangle, int n, T* a, Real<T>* values) {
  if constexpr (Lapack<T>::is_complex) {
    if (triangle == Triangle::upper)
      for (std::int64_t column = 0; column < n; ++column)
        for (std::int64_t row = column + 1; row < n; ++row) a[column * n + row] = std::conj(a[row * n + column]);
    triangle = Triangle::lower;
  }
  return lapack.syevd(vectors ? 'V' : 'N', triangle == Triangle::lower ? 'L' : 'U', n, a, values);
}

/// Runs the routine for the matrix i of the batch. Returns SolverProblem::info.
template <class T>
int run_one(const Lapack<T>& lapack, const SolverProblem& p, std::int64_t i) {
  const int m = lapack_size(p.m), n = lapack_size(p.n), k = lapack_size(p.k);
  T* const a = part<T>(p.a, i, p.m * p.n);
  switch (p.routine) {
    case SolverRoutine::lu:
      return factorise_lu(lapack, m, n, a, part<int>(p.pivots, i, p.k));
    case SolverRoutine::lu_solve: {
      const char op = p.op == MatrixOp::plain ? 'N' : p.op == MatrixOp::transposed ? 'T' : 'C';
      return solve_lu(lapack, op, m, n, part<T>(p.a, i, p.m * p.m), part<int>(p.pivots, i, p.m),
                      part<T>(p.b, i, p.m * p.n));
    }
    case SolverRoutine::cholesky:
      if (!triangle_finite(a, p.n, p.triangle)) return -1;
      return lapack.potrf(p.triangle == Triangle::lower ? 'L' : 'U', n, a);
    case SolverRoutine::reflectors:
      return find_reflectors(lapack, m, n, a, part<T>(p.values, i, p.k));
    case SolverRoutine::orthogonal:
      return apply_reflectors(lapack, m, n, k, a, part<T>(p.values, i, p.k));
    case SolverRoutine::symmetric_eigen:
      if (!triangle_finite(a, p.n, p.triangle)) return -1;
      return find_symmetric_eigenvalues(lapack, p.vectors, p.triangle, n, a, part<Real<T>>(p.values, i, p.n));
    case SolverRoutine::eigen:
      if (!all_finite(a, p.m * p.n)) return -1;
      return lapack.geev(n, a, part<T>(p.values, i, Lapack<T>::is_complex ? p.n : 2 * p.n),
                         p.vectors ? part<T>(p.b, i, p.n * p.n) : nullptr);
    case SolverRoutine::singular_values:
      if (!all_finite(a, p.m * p.n)) return -1;
      return lapack.svd(!p.vectors ? 'N'
                        : p.full   ? 'A'
                                   : 'S',
                        m, n, a, part<Real<T>>(p.values, i, p.k),
                        p.vectors ? part<T>(p.b, i, p.m * (p.full ? p.m : p.k)) : nullptr,
                        p.vectors ? part<T>(p.c, i, p.n * (p.full ? p.n : p.k)) : nullptr);
  }
  return 0;
}

class OpenBlasSolver final : public Solver {
 public:
  bool checks_finite() const override { return true; }
  SolverNeeds needs(const SolverProblem&, Stream&) override { return {}; }

  void run(const SolverProblem& problem, Stream& stream) override {
    for (const std::int64_t size : {problem.m, problem.n, problem.k}) lapack_size(size);
    queue(stream, [problem, this] { run_now(problem); });
  }

 private:
  void run_now(const SolverProblem& problem) const {
    switch (problem.dtype) {
      case DType::float32:
        return run_all(float_, problem);
      case DType::float64:
        return run_all(double_, problem);
      case DType::complex64:
        return run_all(complex_, problem);
      case DType::complex128:
        return run_all(double_complex_, problem);
      default:
        throw Error("[linalg] expected float32, float64, complex64 or complex128, got {}", name(problem.dtype));
    }
  }

  template <class T>
  void run_all(const Lapack<T>& lapack, const SolverProblem& problem) const {
    const auto m = static_cast<double>(problem.m), n = static_cast<double>(problem.n);
    library_.each(problem.batch, m * n * std::min(m, n),
                  [&](std::int64_t i) { problem.info[i] = run_one(lapack, problem, i); });
  }

  OpenBlasLibrary library_{"linalg", "systems of equations and decompositions"};
  Lapack<float> float_{library_};
  Lapack<double> double_{library_};
  Lapack<std::complex<float>> complex_{library_};
  Lapack<std::complex<double>> double_complex_{library_};
};

}  // namespace

std::unique_ptr<Solver> open_solver() {
  return std::make_unique<OpenBlasSolver>();
}

}  // namespace gpulua::cpu
