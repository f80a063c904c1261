#include "src/algorithms/triangular.h"

#include "src/algorithms/matrix_operand.h"
#include "src/array/evaluator.h"
#include "src/array/uses.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

Triangle other(Triangle triangle) {
  return triangle == Triangle::lower ? Triangle::upper : Triangle::lower;
}

/// The operand in the order of its storage: a transposed view becomes its base, with the other triangle and operation.
struct StoredTriangle {
  MatrixOperand stored;
  Triangle triangle;
  MatrixOp op;
};

StoredTriangle stored_triangle(const TriangularOperand& operand) {
  MatrixOperand stored = matrix_operand(operand.a, false);
  if (stored.op == MatrixOp::plain) return {stored, operand.triangle, operand.op};
  if (operand.op == MatrixOp::conjugated) {
    stored = {copy(operand.a), MatrixOp::plain, operand.a->layout.shape.back()};
    return {stored, operand.triangle, operand.op};
  }
  return {stored, other(operand.triangle), operand.op == MatrixOp::plain ? MatrixOp::transposed : MatrixOp::plain};
}

/// The problem without addresses.
TriangularProblem problem_of(const TriangularOperand& operand, const StoredTriangle& a, std::complex<double> alpha,
                             const Array& b) {
  const Layout& layout = b->layout;
  const std::size_t last = layout.ndim() - 1;
  TriangularProblem problem;
  problem.dtype = b->dtype;
  problem.op = a.op;
  problem.triangle = a.triangle;
  problem.right = operand.right;
  problem.unit_diagonal = operand.unit_diagonal;
  problem.m = layout.shape[last - 1];
  problem.n = layout.shape[last];
  problem.alpha = alpha;
  problem.lda = a.stored.leading_dimension;
  problem.ldb = problem.m == 1 ? problem.n : layout.strides[last - 1];
  return problem;
}

std::int64_t row_distance(const Layout& layout) {
  return layout.shape[0] == 1 ? layout.shape[1] : layout.strides[0];
}

/// A row-major matrix.
Array row_major_matrix(const Array& array) {
  return is_row_major(array->layout) ? array : copy(array);
}

}  // namespace

void solve_triangular(const TriangularOperand& operand, std::complex<double> alpha, const Array& b) {
  OpenDevice& device = b->device();
  const StoredTriangle a = stored_triangle(operand);
  const StreamRef& stream = device.stream();
  TriangularProblem problem = problem_of(operand, a, alpha, b);
  const Batch batch = batch_of(a.stored.array->layout, b->layout, b->layout);
  Uses uses(device);
  const char* const first_a = uses.in(a.stored.array);
  char* const first_b = uses.in_out(b);
  Array of_a, of_b;
  if (batch.empty()) {
    problem.a = first_a;
    problem.b = first_b;
  } else {
    of_a = addresses(device, batch, first_a, b->itemsize(), &BatchAxis::a);
    of_b = addresses(device, batch, first_b, b->itemsize(), &BatchAxis::b);
    Node* const nodes[] = {of_a.get(), of_b.get()};
    evaluate(nodes);
    problem.batch = count_of(batch);
    problem.a_addresses = reinterpret_cast<const void* const*>(of_a->read(stream));
    problem.b_addresses = reinterpret_cast<void* const*>(of_b->read(stream));
  }
  device.run_library("solve triangular", *stream, [&] { device.device().blas().solve_triangular(problem, *stream); });
}

void multiply_triangular(const TriangularOperand& operand, std::complex<double> alpha, const Array& b) {
  OpenDevice& device = b->device();
  const StoredTriangle a = stored_triangle(operand);
  TriangularProblem problem = problem_of(operand, a, alpha, b);
  Uses uses(device);
  problem.a = uses.in(a.stored.array);
  problem.b = uses.in_out(b);
  Stream& stream = *device.stream();
  device.run_library("multiply triangular", stream,
                     [&] { device.device().blas().multiply_triangular(problem, stream); });
}

void update_symmetric(const Array& c, Triangle triangle, const Array& a, const Array& b, bool transposed,
                      const BlasFactors& factors) {
  OpenDevice& device = c->device();
  MatrixOperand left = matrix_operand(a, false), right = b ? matrix_operand(b, false) : left;
  if (left.op != right.op) {
    left = {row_major_matrix(a), MatrixOp::plain, 0};
    right = {row_major_matrix(b), MatrixOp::plain, 0};
    left.leading_dimension = row_distance(left.array->layout);
    right.leading_dimension = row_distance(right.array->layout);
  }
  RankUpdate problem;
  problem.dtype = c->dtype;
  problem.transposed = transposed != (left.op == MatrixOp::transposed);
  problem.triangle = triangle;
  problem.n = c->layout.shape[0];
  problem.k = a->layout.shape[transposed ? 0 : 1];
  problem.alpha = factors.alpha;
  problem.beta = factors.beta;
  Uses uses(device);
  problem.a = uses.in(left.array);
  if (b) problem.b = uses.in(right.array);
  problem.c = uses.in_out(c);
  problem.lda = left.leading_dimension;
  problem.ldb = right.leading_dimension;
  problem.ldc = row_distance(c->layout);
  Stream& stream = *device.stream();
  device.run_library("update symmetric", stream, [&] { device.device().blas().update(problem, stream); });
}

void multiply_symmetric(const Array& c, const Array& a, Triangle triangle, bool right, const Array& b,
                        const BlasFactors& factors) {
  OpenDevice& device = c->device();
  const MatrixOperand symmetric = matrix_operand(a, false);
  const Array other_operand = row_major_matrix(b);
  SymmetricProduct problem;
  problem.dtype = c->dtype;
  problem.triangle = symmetric.op == MatrixOp::plain ? triangle : other(triangle);
  problem.right = right;
  problem.m = c->layout.shape[0];
  problem.n = c->layout.shape[1];
  problem.alpha = factors.alpha;
  problem.beta = factors.beta;
  Uses uses(device);
  problem.a = uses.in(symmetric.array);
  problem.b = uses.in(other_operand);
  problem.c = uses.in_out(c);
  problem.lda = symmetric.leading_dimension;
  problem.ldb = row_distance(other_operand->layout);
  problem.ldc = row_distance(c->layout);
  Stream& stream = *device.stream();
  device.run_library("multiply symmetric", stream, [&] { device.device().blas().multiply_symmetric(problem, stream); });
}

}  // namespace gpulua
