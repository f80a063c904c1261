#include "src/expressions/creation.h"

#include <array>
#include <cmath>

#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// A pending operation on the row-major position and `numbers`.
Array from_positions(OpenDevice& device, Dims shape, DType dtype, const OpInfo& op, DType compute,
                     std::initializer_list<Scalar> numbers) {
  check_extent(device, shape);
  Pending pending;
  pending.compute = compute;
  for (const Scalar& number : numbers) pending.inputs.push_back(constant(device, {}, compute, number));
  return operation(device, op, std::move(shape), dtype, std::move(pending));
}

}  // namespace

void check_extent(OpenDevice& device, const Dims& shape) {
  const std::size_t limit = device.memory().limit();
  if (static_cast<std::size_t>(checked_size(shape)) <= limit) return;
  throw Error(
      ErrorKind::memory,
      "[memory] out of memory on {}: an array of shape {} wanted, {}; one that is not stored either has at most "
      "as many elements as the limit has bytes",
      device.name(), to_string(shape), device.limit_text());
}

Array full(OpenDevice& device, Dims shape, DType dtype, const Scalar& value) {
  std::array<char, 16> bytes;
  check_stored(dtype, value);
  encode(dtype, value, bytes.data());  // throws before the allocation when the value does not fit
  Array array = empty(device, std::move(shape), dtype);
  fill(array, value);
  return array;
}

Array range(OpenDevice& device, Dims shape, DType dtype, const Scalar& first, const Scalar& step) {
  const DType exact = is_integer(dtype) ? DType::int64 : DType::float64;
  return from_positions(device, std::move(shape), dtype, op("arange"), exact, {first, step});
}

Array linspace(OpenDevice& device, std::int64_t count, DType dtype, double first, double last, bool has_end) {
  const auto steps = static_cast<double>(has_end ? count - 1 : count);
  const double end = steps > 0 ? last : first;
  // Divided last: the multiples of a rounded step may lie just below an integer.
  if (is_integer(dtype))
    return from_positions(device, {count}, dtype, op("linspace_whole"), DType::float64,
                          {first, last - first, end, steps});
  const bool overflows = std::isinf(last - first);
  const double step = steps <= 0 ? 0 : overflows ? last / steps - first / steps : (last - first) / steps;
  return from_positions(device, {count}, dtype, op("linspace"), DType::float64, {first, step, end, steps});
}

}  // namespace gpulua
