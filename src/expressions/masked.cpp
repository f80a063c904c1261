#include "src/expressions/masked.h"

#include "src/array/array.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

// The result keeps its memory up to this multiple of its size. Copying the elements would take as long as finding them.
constexpr std::int64_t spare_memory = 4;

}  // namespace

Array compress(const Array& mask, const Array& values) {
  OpenDevice& device = mask->device();
  const Array found = empty(device, {mask->layout.size()}, values->dtype);
  const std::int64_t count = device.evaluator().compress(*found, *values, *mask);
  const Array result = view(found, row_major({count}));
  return count * spare_memory < found->layout.size() ? copy(result) : result;
}

}  // namespace gpulua
