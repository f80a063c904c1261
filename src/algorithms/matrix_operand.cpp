#include "src/algorithms/matrix_operand.h"

#include <utility>

#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

std::int64_t batch_stride(const Layout& layout, std::size_t axis, std::size_t axes) {
  const std::size_t own = layout.ndim() - 2, lead = axes - own;
  return axis < lead || layout.shape[axis - lead] == 1 ? 0 : layout.strides[axis - lead];
}

}  // namespace

MatrixOperand matrix_operand(const Array& array, bool conjugate) {
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

bool is_row_major(const Layout& layout) {
  const std::size_t last = layout.ndim() - 1;
  const std::int64_t rows = layout.shape[last - 1], columns = layout.shape[last];
  return (columns == 1 || layout.strides[last] == 1) && (rows == 1 || layout.strides[last - 1] >= columns);
}

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

std::int64_t count_of(const Batch& batch) {
  std::int64_t count = 1;
  for (const BatchAxis& axis : batch) count *= axis.extent;
  return count;
}

Array addresses(OpenDevice& device, const Batch& batch, const void* first, std::size_t itemsize,
                std::int64_t BatchAxis::*stride) {
  const Evaluator::OwnNumbers own(device.evaluator());
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

}  // namespace gpulua
