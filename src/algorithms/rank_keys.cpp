#include "src/algorithms/rank_keys.h"

#include "src/algorithms/library_kernel.h"
#include "src/expressions/creation.h"

namespace gpulua {

Array find_keys(const Array& array, const std::string& order, const Array& ranks, const Array& nans) {
  constexpr unsigned threads = 256;
  constexpr std::int64_t digits = 256, chunk = 1 << 14;  // elements of a row that a block counts
  OpenDevice& device = array->device();
  const std::int64_t rows = ranks->layout.shape[0], size = array->layout.size() / rows,
                     together = ranks->layout.shape[1];
  const Array keys = full(device, {rows, together}, DType::uint64, std::int64_t{0});
  const Array totals = full(device, {rows, together, digits}, DType::uint32, std::int64_t{0});
  const std::int64_t chunks = (size + chunk - 1) / chunk;
  const auto highest = static_cast<std::int32_t>(array->itemsize()) - 1;
  for (std::int32_t digit = highest; digit >= 0; --digit) {
    LibraryKernel(
        device, {"sort.cuh", "partition.cuh"},
        "gpulua_partition_count<" + order + ", " + std::to_string(threads) + ", " + std::to_string(together) + ">")
        .in(array, "const " + order + "::Bits*")
        .in(keys)
        .in_out(totals)
        .in_out(digit == highest ? nans : nullptr, "unsigned int*")
        .add(size)
        .add(chunk)
        .add(static_cast<std::uint32_t>(chunks))
        .add(8 * digit)
        .launch(rows * chunks, threads);
    LibraryKernel(device, {"sort.cuh", "partition.cuh"}, "gpulua_partition_choose<" + std::to_string(together) + ">")
        .in_out(totals)
        .in_out(keys)
        .in_out(ranks)
        .launch(rows, 32);
  }
  return keys;
}

}  // namespace gpulua
