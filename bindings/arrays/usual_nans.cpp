#include "bindings/arrays/usual_nans.h"

#include <array>
#include <limits>
#include <optional>

#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// The dtype of the floating-point numbers that elements consist of, float32 or float64; nothing for other elements.
std::optional<DType> part_of(DType dtype) {
  if (dtype == DType::float32 || dtype == DType::complex64) return DType::float32;
  if (dtype == DType::float64 || dtype == DType::complex128) return DType::float64;
  return std::nullopt;
}

template <class T>
void replace_nans(void* host, std::size_t count) {
  auto* const elements = static_cast<T*>(host);
  for (std::size_t i = 0; i < count; ++i)
    if (elements[i] != elements[i]) elements[i] = std::numeric_limits<T>::quiet_NaN();
}

}  // namespace

void download_for_ffi(Node& array, void* host) {
  download(array, host);
  const std::optional<DType> part = part_of(array.dtype);
  if (part == DType::float32) replace_nans<float>(host, array.nbytes() / sizeof(float));
  if (part == DType::float64) replace_nans<double>(host, array.nbytes() / sizeof(double));
}

Array parts_with_usual_nans(const Array& array) {
  const std::optional<DType> part = part_of(array->dtype);
  if (!part) return array;
  const auto count = static_cast<std::int64_t>(array->itemsize() / size_of(*part));
  Layout layout = row_major({array->layout.size() * count});
  layout.offset = array->layout.offset * count;
  const BufferRef& buffer = array->buffer();
  const Array parts = make_node(array->device(), *part, share(std::move(layout)), buffer);
  const Array is_nan = elementwise(*find_op("isnan"), std::array<Operand, 1>{parts});
  const Scalar nan = std::numeric_limits<double>::quiet_NaN();
  return elementwise(*find_op("where"), std::array<Operand, 3>{is_nan, nan, parts});
}

}  // namespace gpulua
