#include "src/algorithms/bincount.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"

#include <algorithm>

#include "src/algorithms/library_kernel.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
constexpr std::int64_t few = 4096;  // counters that fit into a block's shared memory: gpulua_bincount_few

}  // namespace

Array bincount(const Array& values, const Array& weights, std::int64_t count) {
  OpenDevice& device = values->device();
  const Array from = contiguous(values);
  const Array totals = full(device, {count}, weights ? DType::float64 : DType::int64, std::int64_t{0});
  const StreamRef& stream = device.stream();
  const std::int64_t size = from->layout.size();
  if (size == 0 || count == 0) return totals;
  const std::int64_t blocks = (size + block_size - 1) / block_size;
  const char* const in = from->read(stream);
  totals->buffer()->depend_on(*from->buffer());
  if (weights) {
    const Array addends = contiguous(weights);
    totals->buffer()->depend_on(*addends->buffer());
    LibraryKernel(device, {"bincount.cuh"}, "gpulua_bincount_weights")
        .add("const long long*", in)
        .add("const double*", addends->read(stream))
        .add(size)
        .add("double*", totals->write(stream))
        .add(count)
        .launch(blocks, block_size);
    return totals;
  }
  LibraryKernel kernel(device, {"bincount.cuh"}, count <= few ? "gpulua_bincount_few" : "gpulua_bincount_many");
  kernel.add("const long long*", in).add(size).add("unsigned long long*", totals->write(stream));
  if (count > few)
    kernel.add(count).launch(blocks, block_size);
  else
    kernel.add(static_cast<std::int32_t>(count))
        .launch(std::min<std::int64_t>(blocks, 8 * std::max(device.info().multiprocessors, 1)), block_size);
  return totals;
}

}  // namespace gpulua
