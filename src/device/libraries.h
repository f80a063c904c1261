#pragma once

// The library interfaces of a device, one small class each. Matrices are row-major here; an implementation over a
// column-major library swaps its operands.

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/dtype.h"
#include "src/device/sparse_library.h"

namespace gpulua {

class Stream;

/// How a BLAS reads a matrix; `conjugated`: conjugated and transposed.
enum class MatrixOp : std::uint8_t { plain, transposed, conjugated };

/// C (m x n) = alpha * op(A) (m x k) * op(B) (k x n) + beta * C, row-major, for each of `batch` triples of matrices;
/// leading dimensions and strides in elements.
struct GemmProblem {
  DType dtype = DType::float32;  // floating or complex
  MatrixOp op_a = MatrixOp::plain, op_b = MatrixOp::plain;
  std::int64_t m = 0, n = 0, k = 0;          // all > 0
  std::complex<double> alpha = 1, beta = 0;  // real where the dtype is
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batch = 1;
  // From one matrix to the next, >= 0. 0: the same A, or B, for all.
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  // In place of a, b, c and the strides: the addresses of `batch` matrices each, in device memory; null: not used.
  const void* const* a_addresses = nullptr;
  const void* const* b_addresses = nullptr;
  void* const* c_addresses = nullptr;
  // Allow less exact arithmetic where the device has it: float32 by TF32, float64 by emulation in fixed-point numbers.
  bool tf32 = false, emulated = false;
};

/// The triangle of a square matrix that is read, or written. The elements of the other one do not matter.
enum class Triangle : std::uint8_t { lower, upper };

/// B (m x n) becomes alpha * op(A)^-1 B, or alpha * op(A) B; with A on the right, alpha * B op(A)^-1 or alpha * B
/// op(A). A is triangular.
struct TriangularProblem {
  DType dtype = DType::float32;  // float32, float64, complex64 or complex128, as for the problems below
  MatrixOp op = MatrixOp::plain;
  Triangle triangle = Triangle::lower;
  bool right = false;          // A stands on the right
  bool unit_diagonal = false;  // the diagonal is 1, whatever is stored there
  std::int64_t m = 0, n = 0;   // > 0
  std::complex<double> alpha = 1;
  const void* a = nullptr;
  void* b = nullptr;
  std::int64_t lda = 0, ldb = 0;
  // For solve_triangular(), in place of a and b: the addresses of `batch` matrices each, in device memory; null: not
  // used.
  std::int64_t batch = 1;
  const void* const* a_addresses = nullptr;
  void* const* b_addresses = nullptr;
};

/// A triangle of C (n x n) = alpha * A A' + beta * C, where A is n x k, or with B of A's shape, alpha * (A B' + B A') +
/// beta * C. `transposed`: A' A and A' B + B' A, where A and B are k x n.
struct RankUpdate {
  DType dtype = DType::float32;
  bool transposed = false;
  Triangle triangle = Triangle::lower;
  std::int64_t n = 0, k = 0;  // > 0
  std::complex<double> alpha = 1, beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;  // null: the update by A alone
  void* c = nullptr;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

/// C (m x n) = alpha * A B + beta * C, with A symmetric; with A on the right, alpha * B A + beta * C.
struct SymmetricProduct {
  DType dtype = DType::float32;
  Triangle triangle = Triangle::lower;
  bool right = false;
  std::int64_t m = 0, n = 0;  // > 0
  std::complex<double> alpha = 1, beta = 0;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
};

/// Products add in the type of their operands, or in float32 where that is smaller. float32 is never rounded to TF32,
/// and float64 never emulated, but where a problem allows it.
class Blas {
 public:
  virtual ~Blas() = default;
  /// Whether gemm() takes matrices of this dtype. All take float32, float64, complex64 and complex128.
  virtual bool takes(DType dtype) const = 0;
  virtual void gemm(const GemmProblem& problem, Stream& stream) = 0;
  virtual void solve_triangular(const TriangularProblem& problem, Stream& stream) = 0;
  virtual void multiply_triangular(const TriangularProblem& problem, Stream& stream) = 0;
  virtual void update(const RankUpdate& problem, Stream& stream) = 0;
  virtual void multiply_symmetric(const SymmetricProduct& problem, Stream& stream) = 0;
};

/// What a Solver does. The names in brackets are LAPACK's. Matrices are column-major: a batch of them lies one after
/// the other, without gaps, and so do their pivots, values and vectors.
enum class SolverRoutine : std::uint8_t {
  // a (m x n) becomes its factors L and U; `pivots` (min(m, n)) are the exchanges of rows, from 1 [getrf].
  lu,
  // b (m x n) becomes op(A)^-1 B; a (m x m) has the factors of A, with their pivots [getrs].
  lu_solve,
  // The triangle of a (n x n) becomes the factor L of A = L L', or U of A = U' U [potrf].
  cholesky,
  // a (m x n) becomes R, and reflectors below its diagonal; `values` (min(m, n)) are their factors [geqrf].
  reflectors,
  // a (m x n) becomes the first n columns of Q, the product of k reflectors. They are a's first k columns, and `values`
  // are their factors. n <= m [orgqr, ungqr].
  orthogonal,
  // `values` (n) become the eigenvalues of the symmetric, or Hermitian, matrix a (n x n), ascending. The triangle of a
  // is read. a becomes the eigenvectors if they are wanted, else it is lost [syevd, heevd].
  symmetric_eigen,
  // `values` become the eigenvalues of a (n x n), which is lost: n of a complex matrix; of a real one n real parts,
  // then
  // n imaginary parts. b (n x n) becomes the right eigenvectors if they are wanted; for two conjugate ones the real
  // parts, then the imaginary parts of the first [geev].
  eigen,
  // `values` (k = min(m, n)) become the singular values of a (m x n), which is lost, descending. If vectors are wanted,
  // b (m x k, full: m x m) become the left ones, and c (k x n, full: n x n) the conjugates of the right ones, in rows.
  // m >= n [gesdd, gesvd].
  singular_values,
};

/// A routine's operands. All of them are in device memory.
struct SolverProblem {
  SolverRoutine routine = SolverRoutine::lu;
  DType dtype = DType::float32;  // float32, float64, complex64 or complex128
  MatrixOp op = MatrixOp::plain;
  Triangle triangle = Triangle::lower;
  bool vectors = false, full = false;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  // > 0
  void* a = nullptr;
  void* b = nullptr;
  void* c = nullptr;
  void* values = nullptr;  // of the dtype for reflectors and complex eigenvalues; otherwise real, in its precision
  void* pivots = nullptr;
  // For each matrix 0, or LAPACK's number of what went wrong, from 1: the position on the diagonal of U that is 0, the
  // order of the leading minor that is not positive. -1: elements are not finite (checks_finite()). Before the call all
  // are 0, as they stay for lu_solve, reflectors and orthogonal.
  std::int32_t* info = nullptr;
  // What the solver needs (SolverNeeds).
  void* workspace = nullptr;
  std::size_t workspace_bytes = 0;
  void* const* a_addresses = nullptr;
  void* const* b_addresses = nullptr;
};

/// What a problem needs beside its operands.
struct SolverNeeds {
  // singular_values of small matrices, `full`: c becomes the right vectors in columns, not their conjugates in rows.
  bool right_in_columns = false;
  std::size_t workspace = 0;    // bytes of device memory
  DType pivots = DType::int32;  // or int64
  bool addresses = false;       // of the matrices of a, and of b for lu_solve, in device memory
};

/// Systems of equations and decompositions, as LAPACK has them.
class Solver {
 public:
  virtual ~Solver() = default;
  /// Whether run() reports elements that are not finite, as -1. Otherwise it must not get any.
  virtual bool checks_finite() const = 0;
  /// For a problem without pointers.
  virtual SolverNeeds needs(const SolverProblem& problem, Stream& stream) = 0;
  virtual void run(const SolverProblem& problem, Stream& stream) = 0;
};

/// A square sparse matrix in device memory. The nonzeros of column j, and their rows, are those from starts[j] on and
/// before starts[j + 1]. Positions count from 0; no two nonzeros have the same position.
struct SparseColumns {
  DType dtype = DType::float32;          // float32, float64, complex64 or complex128
  std::int64_t n = 0, nonzeros = 0;      // n > 0
  const void* values = nullptr;          // nonzeros
  const std::int32_t* rows = nullptr;    // nonzeros
  const std::int32_t* starts = nullptr;  // n + 1
};

/// The LU factors of a sparse matrix A.
class SparseFactors {
 public:
  virtual ~SparseFactors() = default;
  /// 0, or the first column of A, from 1, for which there is no pivot but 0: A is singular, and solve() is not called.
  virtual std::int64_t zero_pivot() const = 0;
  /// The nonzeros of both factors.
  virtual std::int64_t nonzeros() const = 0;
  /// b (n x columns, in device memory, one column after the other) becomes op(A)^-1 B.
  virtual void solve(MatrixOp op, void* b, std::int64_t columns, Stream& stream) = 0;
};

/// Factors of sparse matrices. Both classes may wait for the device; then a stream that is captured must not be given.
class SparseSolver {
 public:
  virtual ~SparseSolver() = default;
  virtual std::shared_ptr<SparseFactors> factorise(const SparseColumns& matrix, Stream& stream) = 0;
};

/// A random number generator of the vendor's library. Each call continues the sequence.
class RngGenerator {
 public:
  virtual ~RngGenerator() = default;
  /// Writes `count` values of `dtype` (float32 or float64), uniform in (0, 1], to device memory.
  virtual void uniform(DType dtype, void* out, std::size_t count, Stream& stream) = 0;
  /// Writes normally distributed values. The count may be odd.
  virtual void normal(DType dtype, void* out, std::size_t count, double mean, double stddev, Stream& stream) = 0;
  /// Writes exp of normally distributed values.
  virtual void lognormal(DType dtype, void* out, std::size_t count, double mean, double stddev, Stream& stream) = 0;
  /// Writes `count` values of uint32 of a Poisson distribution. Precondition: the mean is above 0.
  virtual void poisson(void* out, std::size_t count, double mean, Stream& stream) = 0;
  /// Of a sequence: the next call begins with this point, counted from 0.
  virtual void seek(std::uint64_t point) = 0;
  /// About the bytes that it takes once it has made numbers, of the device's memory or the host's.
  virtual std::size_t bytes() const = 0;
};

/// cuRAND's quasi-random sequences by name.
inline constexpr std::string_view sequences[] = {"sobol32", "scrambled_sobol32", "sobol64", "scrambled_sobol64"};
inline constexpr std::uint32_t most_sequence_dimensions = 20000;

class Rng {
 public:
  virtual ~Rng() = default;
  /// `algorithm` is one of cuRAND's pseudo-random generators by name ("xorwow", "mrg32k3a", "mtgp32", "mt19937",
  /// "philox4_32_10"); throws Error that lists them for another.
  virtual std::unique_ptr<RngGenerator> create(std::string_view algorithm, std::uint64_t seed) = 0;
  /// A generator of one of the `sequences`. A call gives the first coordinate of all its points, then the second one,
  /// and so on. Preconditions: up to most_sequence_dimensions; calls for a multiple of that many numbers.
  virtual std::unique_ptr<RngGenerator> create_sequence(std::string_view sequence, std::uint32_t dimensions) = 0;
};

/// complex: complex numbers from complex ones. real: elements 0 to n / 2 of the last axis, from real numbers. to_real:
/// real numbers from those, the inverse.
enum class FftKind : std::uint8_t { complex, real, to_real };

/// Discrete Fourier transforms, which are not divided by their lengths. Distances in elements, of the one or the other
/// side.
struct FftProblem {
  FftKind kind = FftKind::complex;
  bool is_double = false;
  bool inverse = false;                    // of complex; real is forward, to_real inverse
  int rank = 1;                            // axes of a transform, which are row-major and together
  std::array<std::int64_t, 3> n{};         // their extents, > 0; of the real numbers where there are some
  std::int64_t in_step = 1, out_step = 1;  // from an element to the next on the last axis; 1 if rank > 1
  std::int64_t batch = 1, in_distance = 0, out_distance = 0;  // from one transform to the next; > 0
};

/// What a library has prepared for a problem.
class FftPlan : public std::enable_shared_from_this<FftPlan> {
 public:
  virtual ~FftPlan() = default;
  /// The bytes of device memory that run() needs beside its operands.
  virtual std::size_t work_bytes() const = 0;
  /// `in` and `out` do not overlap. Of to_real, `in` is overwritten.
  virtual void run(const void* in, void* out, void* work, Stream& stream) = 0;
};

class Fft {
 public:
  virtual ~Fft() = default;
  virtual std::string_view library() const = 0;
  /// Null where the library does not take the problem, or is slower than our kernels.
  virtual std::shared_ptr<FftPlan> plan(const FftProblem& problem) = 0;
};

/// Contiguous rows of real numbers, and their order: NaN comes last in both directions, -0 equals 0, and equal elements
/// keep the order of their positions.
struct RowsToOrder {
  DType dtype = DType::float32;
  bool descending = false;
  std::int64_t rows = 0, size = 0;  // > 0; `size`, of a row, < 2^32
  const void* in = nullptr;
  // What a sort reports as the positions of the elements; null: 0, 1, ... in each row.
  const std::uint32_t* origins = nullptr;
};

/// The results for each row. Either may be null.
struct OrderedRows {
  void* values = nullptr;
  std::uint32_t* positions = nullptr;  // of the values in the source row
};

/// Sorts of a device that does better by a library than by our kernels.
class Sorter {
 public:
  virtual ~Sorter() = default;
  virtual void sort(const RowsToOrder& rows, const OrderedRows& out, Stream& stream) = 0;
  /// Stable three-way partition of each row around its element of rank `rank`; writes the first `count` elements.
  virtual void partition(const RowsToOrder& rows, std::int64_t rank, std::int64_t count, const OrderedRows& out,
                         Stream& stream) = 0;
  /// The elements at ranks of each row's order: out[row][i] is the one at ranks[row][i], where -0 may be 0. With
  /// `nan_rows`, NaN in place of all elements of a row that has a NaN. `ranks` are read, and elements are written, in
  /// device memory.
  virtual void select(const RowsToOrder& rows, const std::int64_t* ranks, std::int64_t count, bool nan_rows, void* out,
                      Stream& stream) = 0;
};

/// Values to add to elements at positions, which count from 1, or from the end where they are negative.
struct Additions {
  DType dtype = DType::float32;  // of the elements and the values: float32, float64, or integers of 4 or 8 bytes
  void* to = nullptr;            // position 1
  std::int64_t extent = 0, stride = 0;
  DType position_dtype = DType::int64;  // or int32
  const void* positions = nullptr;
  std::int64_t count = 0;
  const void* values = nullptr;
  bool one_value = false;  // for all positions
};

/// Keys to count: contiguous integers or bool, and not uint64.
struct KeysToCount {
  DType dtype = DType::int64;
  const void* keys = nullptr;
  std::int64_t size = 0;                // > 0
  DType weight_dtype = DType::float64;  // bool, integers, float32 or float64
  const void* weights = nullptr;        // of the keys; null: each counts 1
  std::int64_t count = 0;
  void* totals = nullptr;  // count, of int64, or of float64 for weights
};

/// Additions at positions of a device that does better by a library than by atomic additions in a kernel.
class Adder {
 public:
  virtual ~Adder() = default;
  /// An element gets its values one after the other in their order. A position out of range gets none; returns which of
  /// the positions is the first such one, counted from 0, or -1.
  virtual std::int64_t add(const Additions& additions, Stream& stream) = 0;
  /// The least and the greatest key.
  virtual std::pair<std::int64_t, std::int64_t> range(const KeysToCount& keys, Stream& stream) = 0;
  /// Adds how often each number from 0 to `count` - 1 occurs to its total, or its weights, one after the other.
  virtual void count(const KeysToCount& keys, Stream& stream) = 0;
};

/// The connected parts of an array of bool, which is row-major and has fewer than 2^31 elements.
struct PartsToLabel {
  const void* inside = nullptr;
  std::vector<std::int64_t> shape;  // one axis or more, > 0
  // Which of the 3 x 3 x ... elements around an element are its neighbours; symmetric.
  std::vector<bool> structure;
  std::int32_t* labels = nullptr;
};

/// Labels of a device that does better by a library than by our kernels.
class Labeller {
 public:
  virtual ~Labeller() = default;
  /// Numbers the parts from 1 in the order of their first elements; others get 0. Returns how many parts there are.
  virtual std::int64_t label(const PartsToLabel& parts, Stream& stream) = 0;
};

}  // namespace gpulua
