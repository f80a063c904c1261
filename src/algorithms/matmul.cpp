#include "src/algorithms/matmul.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <string>

#include "src/base/error.h"
#include "src/expressions/expression.h"

namespace gpulua {

namespace {

/// A matrix with the parameters that a BLAS needs.
struct Matrix {
  Array array;
  bool transposed;
  std::int64_t leading_dimension;
};

Matrix as_matrix(const Array& array) {
  const std::int64_t rows = array->layout.shape[0], columns = array->layout.shape[1];
  const std::int64_t row_stride = array->layout.strides[0], column_stride = array->layout.strides[1];
  // The stride of an axis of extent 1 has no meaning.
  if ((columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns))
    return {array, false, rows == 1 ? columns : row_stride};
  if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows))
    return {array, true, columns == 1 ? rows : column_stride};
  return {copy(array), false, columns};
}

void check_operands(Node& a, Node& b) {
  const auto expected = [](const std::string& what, const std::string& got) {
    throw Error("[matmul] expected " + what + ", got " + got);
  };
  const auto dtypes = std::string(name(a.dtype)) + " and " + std::string(name(b.dtype));
  if (&a.device() != &b.device())
    expected("arrays of one device", a.device().name() + " and " + b.device().name() + "; x:to(name) copies one over");
  if (a.layout.ndim() != 2 || b.layout.ndim() != 2)
    expected("two-dimensional arrays (m,k) x (k,n)", to_string(a.layout.shape) + " x " + to_string(b.layout.shape) +
                                                         "; x:reshape makes a vector a row or a column");
  if (a.layout.shape[1] != b.layout.shape[0])
    expected("(m,k) x (k,n)", to_string(a.layout.shape) + " x " + to_string(b.layout.shape) + ": " +
                                  std::to_string(a.layout.shape[1]) + " columns meet " +
                                  std::to_string(b.layout.shape[0]) + " rows" +
                                  (a.layout.shape[1] == b.layout.shape[1] ? "; the second transposed, b.T, fits" : ""));
  if (a.dtype != b.dtype) expected("arrays of one dtype", dtypes + "; x:astype converts one");
  if (a.dtype != DType::float32 && a.dtype != DType::float64)
    expected("float32 or float64 arrays", dtypes + "; x:astype converts them");
}

/// True when the BLAS may write the product of a and b to `out`.
bool takes_product(const Array& out, Node& a, Node& b) {
  return out && out->layout.shape == Dims{a.layout.shape[0], b.layout.shape[1]} && out->dtype == a.dtype &&
         &out->device() == &a.device() && out->contiguous && out->buffer() != a.buffer() && out->buffer() != b.buffer();
}

}  // namespace

Array matmul(const Array& a, const Array& b, const Array& out) {
  check_operands(*a, *b);
  OpenDevice& device = a->device();
  GemmProblem problem;
  problem.dtype = a->dtype;
  problem.m = a->layout.shape[0];
  problem.k = a->layout.shape[1];
  problem.n = b->layout.shape[1];
  const auto finish = [&](const Array& result) {
    if (!out || result == out) return result;
    assign(out, result, "matmul");
    return out;
  };
  if (problem.m == 0 || problem.n == 0 || problem.k == 0)
    return finish(full(device, {problem.m, problem.n}, a->dtype, 0.0));

  const Matrix left = as_matrix(a), right = as_matrix(b);
  const Array result = takes_product(out, *a, *b) ? out : empty(device, {problem.m, problem.n}, a->dtype);
  const StreamRef& stream = device.stream();
  problem.transpose_a = left.transposed;
  problem.transpose_b = right.transposed;
  problem.lda = left.leading_dimension;
  problem.ldb = right.leading_dimension;
  problem.ldc = problem.n;
  problem.a = left.array->read(stream);
  problem.b = right.array->read(stream);
  problem.c = result->write(stream);
  device.device().blas().gemm(problem, *stream);
  for (const Matrix* matrix : {&left, &right}) result->buffer()->depend_on(*matrix->array->buffer());
  return finish(result);
}

}  // namespace gpulua
