#include "src/expressions/join.h"
#include "src/expressions/transfer.h"

#include <vector>

#include "src/base/error.h"
#include "src/ops/promotion.h"

namespace gpulua {

namespace {

DType promoted(std::span<const Array> arrays) {
  DType dtype = arrays.front()->dtype;
  for (const Array& array : arrays) dtype = promote(dtype, array->dtype);
  return dtype;
}

void check_device(std::span<const Array> arrays, const char* op) {
  const OpenDevice& first = arrays.front()->device();
  for (const Array& array : arrays)
    if (&array->device() != &first)
      throw Error("[{}] expected arrays of one device, got {} and {}; x:to(name) copies one over", op, first.name(),
                  array->device().name());
}

[[noreturn]] void refuse(const char* op, const std::string& expected, const Array& first, const Array& other) {
  throw Error("[{}] expected {}, got {} and {}", op, expected, to_string(first->layout.shape),
              to_string(other->layout.shape));
}

std::vector<IndexSpec> along(std::size_t axis, const IndexSpec& spec) {
  std::vector<IndexSpec> specs(axis);
  specs.push_back(spec);
  return specs;
}

/// What the result of some arrays notes once it has their elements.
Array noted(Array result, std::span<const Array> arrays) {
  for (const Array& array : arrays)
    if (const char* function = array->missing_by(); function && is_inexact(result->dtype))
      result->set_missing_by(function);
  return result;
}

}  // namespace

Array concat(std::span<const Array> arrays, std::size_t axis) {
  check_device(arrays, "concat");
  const Array& first = arrays.front();
  Dims shape = first->layout.shape;
  shape[axis] = 0;
  for (const Array& array : arrays) {
    Dims rest = array->layout.shape;
    if (rest.size() != shape.size()) refuse("concat", "arrays of as many dimensions", first, array);
    shape[axis] += rest[axis];
    rest[axis] = shape[axis];
    if (rest != shape) refuse("concat", "shapes that are equal but for axis " + std::to_string(axis + 1), first, array);
  }
  Array result = empty(first->device(), std::move(shape), promoted(arrays));
  IndexSpec piece;
  for (const Array& array : arrays) {
    piece.count = array->layout.shape[axis];
    copy_into(view(result, index(result->layout, along(axis, piece))), array);
    piece.first += piece.count;
  }
  return noted(std::move(result), arrays);
}

Array stack(std::span<const Array> arrays, std::size_t axis) {
  check_device(arrays, "stack");
  const Array& first = arrays.front();
  for (const Array& array : arrays)
    if (array->layout.shape != first->layout.shape) refuse("stack", "arrays of one shape", first, array);
  Dims shape = first->layout.shape;
  shape.insert(shape.begin() + static_cast<std::ptrdiff_t>(axis), static_cast<std::int64_t>(arrays.size()));
  Array result = empty(first->device(), std::move(shape), promoted(arrays));
  IndexSpec piece;
  piece.kind = IndexSpec::Kind::integer;
  for (const Array& array : arrays) {
    copy_into(view(result, index(result->layout, along(axis, piece))), array);
    ++piece.first;
  }
  return noted(std::move(result), arrays);
}

}  // namespace gpulua
