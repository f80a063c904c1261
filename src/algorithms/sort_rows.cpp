#include "src/algorithms/sort_rows.h"
#include "src/expressions/transfer.h"

#include <limits>

#include "src/array/views.h"
#include "src/base/error.h"

namespace gpulua {

std::string sort_order(DType dtype, bool descending) {
  static constexpr const char* bits[] = {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"};
  const std::size_t size = size_of(dtype);
  const char* kind = "gpulua_sort_unsigned";
  std::uint64_t infinity = 0;
  if (info(dtype).kind == DTypeKind::signed_integer) kind = "gpulua_sort_signed";
  if (info(dtype).kind == DTypeKind::floating) {
    kind = "gpulua_sort_floating";
    infinity = infinity_bits(dtype);
  }
  const std::size_t index = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return std::string("gpulua_sort_order<") + bits[index] + ", " + kind + ", " + std::to_string(infinity) + ", " +
         (descending ? "true" : "false") + ">";
}

std::int64_t short_row(DType dtype) {
  return size_of(dtype) == 8 ? 1024 : 2048;
}

OrderedRows written_rows(Uses& uses, const Sorted& sorted) {
  OrderedRows out;
  out.values = uses.out(sorted.values);
  out.positions = reinterpret_cast<std::uint32_t*>(uses.out(sorted.positions));
  return out;
}

SortRows::SortRows(const Array& from, std::size_t along, const char* op) : axis(along) {
  const std::string prefix = "[" + std::string(op) + "] ";
  if (info(from->dtype).kind == DTypeKind::complex)
    throw Error(
        "{}expected real numbers, got {}; x:real() and x:abs() have an order, and gpu.linalg.eigh gives the real "
        "eigenvalues of a symmetric matrix in order",
        prefix, name(from->dtype));
  size = from->layout.shape[axis];
  if (size > std::numeric_limits<std::uint32_t>::max())
    throw Error("{}expected fewer than 2^32 elements along the axis, got {}", prefix, size);
  const std::size_t first[] = {axis}, last[] = {from->layout.ndim() - 1};
  array = contiguous(axis == last[0] ? from : view(from, move_axes(from->layout, first, last)));
  count = size == 0 ? 0 : array->layout.size() / size;
}

RowsToOrder SortRows::to_order(Uses& uses, bool descending) const {
  RowsToOrder rows;
  rows.dtype = array->dtype;
  rows.descending = descending;
  rows.rows = count;
  rows.size = size;
  rows.in = uses.in(array);
  return rows;
}

Sorted SortRows::back(Sorted sorted) const {
  const std::size_t first[] = {axis}, last[] = {array->layout.ndim() - 1};
  if (axis == last[0]) return sorted;
  for (Array* each : {&sorted.values, &sorted.positions})
    if (*each) *each = view(*each, move_axes((*each)->layout, last, first));
  return sorted;
}

}  // namespace gpulua
