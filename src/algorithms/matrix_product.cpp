#include "src/algorithms/matrix_product.h"

#include <string>
#include <utility>

#include "src/algorithms/library_kernel.h"
#include "src/array/evaluator.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// An axis of the batch: its extent, and the strides of the three operands.
struct BatchAxis {
  std::int64_t extent, a, b, c;
};
using Batch = boost::container::small_vector<BatchAxis, 4>;

std::int64_t batch_stride(const Layout& layout, std::size_t axis, std::size_t axes) {
  const std::size_t own = layout.ndim() - 2, lead = axes - own;
  return axis < lead || layout.shape[axis - lead] == 1 ? 0 : layout.strides[axis - lead];
}

/// The axes of the batch. Those that one stride an operand goes through are one axis.
Batch batch_of(const Layout& a, const Layout& b, const Layout& c) {
  Batch batch;
  const std::size_t axes = c.ndim() - 2;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    if (c.shape[axis] == 1) continue;
    const BatchAxis next{c.shape[axis], batch_stride(a, axis, axes), batch_stride(b, axis, axes), c.strides[axis]};
    if (!batch.empty() && batch.back().a == next.a * next.extent && batch.back().b == next.b * next.extent &&
        batch.back().c == next.c * next.extent)
      batch.back() = {batch.back().extent * next.extent, next.a, next.b, next.c};
    else
      batch.push_back(next);
  }
  return batch;
}

/// True when one stride an operand, as a BLAS takes it, goes through the batch.
bool has_strides(const Batch& batch) {
  return batch.empty() || (batch.size() == 1 && batch[0].a >= 0 && batch[0].b >= 0 && batch[0].c > 0);
}

std::int64_t count_of(const Batch& batch) {
  std::int64_t count = 1;
  for (const BatchAxis& axis : batch) count *= axis.extent;
  return count;
}

/// The address of each matrix of the batch, as an array of int64.
Array addresses(OpenDevice& device, const Batch& batch, const void* first, std::size_t itemsize,
                std::int64_t BatchAxis::*stride) {
  Array sum;
  for (std::size_t axis = 0; axis < batch.size(); ++axis) {
    Dims shape(batch.size(), 1);
    shape[axis] = batch[axis].extent;
    // Addresses and distances in memory are below 2^53.
    const auto start = axis == 0 ? static_cast<double>(reinterpret_cast<std::uintptr_t>(first)) : 0.0;
    const auto step = static_cast<double>(batch[axis].*stride * static_cast<std::int64_t>(itemsize));
    const Array next = range(device, std::move(shape), DType::int64, start, step);
    const Operand operands[] = {sum, next};
    sum = sum ? elementwise(op("add"), operands) : next;
  }
  return sum;
}

/// The addresses of the three operands of each product of a batch, where strides do not give them.
struct Addresses {
  Array a, b, c;
  const char *a_memory = nullptr, *b_memory = nullptr, *c_memory = nullptr;

  Addresses() = default;
  Addresses(OpenDevice& device, const Batch& batch, std::size_t itemsize, const char* first_a, const char* first_b,
            const char* first_c)
      : a(addresses(device, batch, first_a, itemsize, &BatchAxis::a)),
        b(addresses(device, batch, first_b, itemsize, &BatchAxis::b)),
        c(addresses(device, batch, first_c, itemsize, &BatchAxis::c)) {
    Node* const nodes[] = {a.get(), b.get(), c.get()};
    evaluate(nodes);
    a_memory = a->read(device.stream()), b_memory = b->read(device.stream()), c_memory = c->read(device.stream());
  }
};

// ---- by the BLAS ----------------------------------------------------------------------------------------------------

/// A matrix, or a batch of matrices, with the parameters that a BLAS needs.
struct Matrix {
  Array array;
  MatrixOp op;
  std::int64_t leading_dimension;
};

Matrix as_matrix(const Array& array, bool conjugate) {
  const std::size_t last = array->layout.ndim() - 1;
  const std::int64_t rows = array->layout.shape[last - 1], columns = array->layout.shape[last];
  const std::int64_t row_stride = array->layout.strides[last - 1], column_stride = array->layout.strides[last];
  const bool conjugates = conjugate && info(array->dtype).kind == DTypeKind::complex;
  // The stride of an axis of extent 1 has no meaning.
  if (!conjugates && (columns == 1 || column_stride == 1) && (rows == 1 || row_stride >= columns))
    return {array, MatrixOp::plain, rows == 1 ? columns : row_stride};
  if ((rows == 1 || row_stride == 1) && (columns == 1 || column_stride >= rows))
    return {array, conjugates ? MatrixOp::conjugated : MatrixOp::transposed, columns == 1 ? rows : column_stride};
  if (!conjugates) return {copy(array), MatrixOp::plain, columns};
  const Operand operands[] = {array};
  return {elementwise(op("conj"), operands), MatrixOp::plain, columns};
}

/// Makes the batch of one A for each, times one B for all, a single product with more rows, if the rows are as far
/// apart.
void join_rows(GemmProblem& problem) {
  if (problem.batch == 1 || problem.stride_b != 0 || problem.op_a != MatrixOp::plain) return;
  if (problem.m == 1 && problem.stride_a >= problem.k) {
    problem.lda = problem.stride_a;
    problem.ldc = problem.stride_c;
  } else if (problem.stride_a != problem.m * problem.lda || problem.stride_c != problem.m * problem.ldc) {
    return;
  }
  problem.m *= problem.batch;
  problem.batch = 1;
}

void multiply_by_blas(const MatrixProduct& product) {
  OpenDevice& device = product.c->device();
  const Matrix a = as_matrix(product.a, product.conjugate_a), b = as_matrix(product.b, product.conjugate_b);
  const Layout& c = product.c->layout;
  const Batch batch = batch_of(a.array->layout, b.array->layout, c);
  const std::size_t last = c.ndim() - 1;
  const StreamRef& stream = device.stream();
  GemmProblem problem;
  problem.dtype = product.c->dtype;
  problem.op_a = a.op;
  problem.op_b = b.op;
  problem.m = c.shape[last - 1];
  problem.n = c.shape[last];
  problem.k = a.array->layout.shape[a.array->layout.ndim() - 1];
  problem.alpha = product.alpha;
  problem.beta = product.beta;
  problem.lda = a.leading_dimension;
  problem.ldb = b.leading_dimension;
  problem.ldc = problem.m == 1 ? problem.n : c.strides[last - 1];
  problem.batch = count_of(batch);
  const char* const first_a = a.array->read(stream);
  const char* const first_b = b.array->read(stream);
  char* const first_c = product.c->write(stream);
  Addresses of_each;
  if (has_strides(batch)) {
    problem.a = first_a;
    problem.b = first_b;
    problem.c = first_c;
    if (!batch.empty()) problem.stride_a = batch[0].a, problem.stride_b = batch[0].b, problem.stride_c = batch[0].c;
    join_rows(problem);
  } else {
    of_each = Addresses(device, batch, product.c->itemsize(), first_a, first_b, first_c);
    problem.a_addresses = reinterpret_cast<const void* const*>(of_each.a_memory);
    problem.b_addresses = reinterpret_cast<const void* const*>(of_each.b_memory);
    problem.c_addresses = reinterpret_cast<void* const*>(const_cast<char*>(of_each.c_memory));
  }
  device.device().blas().gemm(problem, *stream);
  for (const Matrix* matrix : {&a, &b}) product.c->buffer()->depend_on(*matrix->array->buffer());
}

// ---- by our kernel --------------------------------------------------------------------------------------------------

/// A matrix that our kernel goes through: the distances of neighbours in a column, and in a row.
struct Steps {
  std::int64_t row, column;
};

Steps steps_of(const Layout& layout) {
  return {layout.strides[layout.ndim() - 2], layout.strides[layout.ndim() - 1]};
}

void multiply_by_kernel(const MatrixProduct& product) {
  OpenDevice& device = product.c->device();
  // A core adds up neighbouring columns in one vector; a GPU's block has a square tile.
  const bool by_rows = device.info().merging_threads == 32;
  const Array& a = product.a;
  const Array b = by_rows && steps_of(product.b->layout).column != 1 ? copy(product.b) : product.b;
  const Layout& c = product.c->layout;
  const Batch batch = batch_of(a->layout, b->layout, c);
  const std::int64_t m = c.shape[c.ndim() - 2], n = c.shape[c.ndim() - 1];
  const std::int64_t tile_rows = by_rows ? 8 : 64, tile_columns = by_rows ? 32 : 64;
  const std::int64_t tiles = ((m + tile_rows - 1) / tile_rows) * ((n + tile_columns - 1) / tile_columns);
  const StreamRef& stream = device.stream();
  const char* const first_a = a->read(stream);
  const char* const first_b = b->read(stream);
  char* const first_c = product.c->write(stream);
  Addresses of_each;
  BatchAxis axis{1, 0, 0, 0};
  if (!has_strides(batch))
    of_each = Addresses(device, batch, product.c->itemsize(), first_a, first_b, first_c);
  else if (!batch.empty())
    axis = batch[0];
  const Steps of_a = steps_of(a->layout), of_b = steps_of(b->layout), of_c = steps_of(c);
  LibraryKernel(device, {"matmul.cuh"},
                std::string(by_rows ? "gpulua_matmul_rows<" : "gpulua_matmul_tiles<") + device_type(a->dtype) + ">")
      .add(read_pointer(a->dtype), first_a)
      .add(read_pointer(a->dtype), first_b)
      .add(write_pointer(a->dtype), first_c)
      .add(m)
      .add(n)
      .add(a->layout.shape[a->layout.ndim() - 1])
      .add(of_a.row)
      .add(of_a.column)
      .add(of_b.row)
      .add(of_b.column)
      .add(of_c.row)
      .add(axis.a)
      .add(axis.b)
      .add(axis.c)
      .add("const long long*", of_each.a_memory)
      .add("const long long*", of_each.b_memory)
      .add("const long long*", of_each.c_memory)
      .launch(tiles * count_of(batch), by_rows ? 32 : 256);
  for (const Array& source : {a, b}) product.c->buffer()->depend_on(*source->buffer());
}

bool is_whole(DType dtype) {
  return is_integer(dtype) || dtype == DType::boolean;
}

}  // namespace

bool multiplies(OpenDevice& device, DType dtype) {
  return is_whole(dtype) || device.device().blas().takes(dtype);
}

void multiply(const MatrixProduct& product) {
  if (is_whole(product.c->dtype)) return multiply_by_kernel(product);
  multiply_by_blas(product);
}

}  // namespace gpulua
