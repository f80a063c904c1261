#include "src/algorithms/bincount.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
constexpr std::int64_t few = 4096;  // counters that fit into a block's shared memory: gpulua_bincount_few
constexpr std::int64_t turns = 8;   // values of a thread at a time: gpulua_histogram_turns

struct HistogramKernel {
  std::string function, arguments;  // of its template, after the types
  unsigned threads = block_size;
};

HistogramKernel choose_histogram(const DeviceInfo& device, std::int64_t bins) {
  constexpr std::int64_t byte_bins = 256;          // gpulua_byte_bins
  const bool lane_by_lane = device.block_is_warp;  // as a core counts
  if (!lane_by_lane && bins <= byte_bins) return {"gpulua_histogram_bytes", "", 128};
  // On a GPU few lanes of a warp share counters, as far as those fit.
  std::int64_t copies = lane_by_lane ? 1 : 16;
  while (copies * bins > most_even_bins) copies /= 2;
  // A core's lanes are many values at a time, and compile sooner without more.
  const std::int64_t at_a_time = lane_by_lane ? 1 : turns;
  return {"gpulua_histogram_even", ", " + std::to_string(copies) + ", " + std::to_string(at_a_time)};
}

/// What counts keys of that dtype; null: our kernels do, or the calls cannot be recorded.
Adder* library_for(const Array& values) {
  OpenDevice& device = values->device();
  const bool records = device.evaluator().trace() || device.evaluator().capture();
  return records || values->dtype == DType::uint64 ? nullptr : device.device().adder();
}

KeysToCount keys_of(const Array& values, Uses& uses) {
  KeysToCount keys;
  keys.dtype = values->dtype;
  keys.keys = uses.in(values);
  keys.size = values->layout.size();
  return keys;
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> range_of_keys(const Array& values) {
  Adder* const library = library_for(values);
  if (library == nullptr) return std::nullopt;
  const Array from = contiguous(values);
  if (from->buffer()->guarded()) return std::nullopt;  // only reading an element tells whether its check has failed
  Uses uses(values->device());
  return library->range(keys_of(from, uses), *values->device().stream());
}

Array bincount(const Array& values, const Array& weights, std::int64_t count) {
  OpenDevice& device = values->device();
  const Array totals = full(device, {count}, weights ? DType::float64 : DType::int64, std::int64_t{0});
  const std::int64_t size = values->layout.size();
  if (size == 0 || count == 0) return totals;
  if (Adder* const library = library_for(values)) {
    Uses uses(device);
    const Array from = contiguous(values), factors = weights ? contiguous(weights) : nullptr;
    KeysToCount keys = keys_of(from, uses);
    keys.weights = reinterpret_cast<const double*>(uses.in(factors));
    keys.count = count;
    keys.totals = uses.in_out(totals);
    library->count(keys, *device.stream());
    return totals;
  }
  const Array from = contiguous(cast(values, DType::int64));
  const std::int64_t blocks = (size + block_size - 1) / block_size;
  if (weights) {
    LibraryKernel(device, {"bincount.cuh"}, "gpulua_bincount_weights")
        .in(from)
        .in(contiguous(weights))
        .add(size)
        .in_out(totals)
        .add(count)
        .launch(blocks, block_size);
    return totals;
  }
  LibraryKernel kernel(device, {"bincount.cuh"}, count <= few ? "gpulua_bincount_few" : "gpulua_bincount_many");
  kernel.in(from).add(size).in_out(totals, "unsigned long long*");
  if (count > few)
    kernel.add(count).launch(blocks, block_size);
  else
    kernel.add(static_cast<std::int32_t>(count))
        .launch(std::min<std::int64_t>(blocks, 8 * std::max(device.info().multiprocessors, 1)), block_size);
  return totals;
}

Array histogram_of_even_bins(const Array& values, const Array& edges, double first, double last) {
  OpenDevice& device = values->device();
  const Array from = contiguous(values), bounds = contiguous(edges);
  const std::int64_t bins = bounds->layout.size() - 1, size = from->layout.size();
  const Array totals = full(device, {bins}, DType::int64, std::int64_t{0});
  if (size == 0) return totals;
  // The position of a number, in bins, is x * scale + shift. The rounding errors of this, of its terms and of the edges
  // add up to less than `rounding`.
  const double scale = static_cast<double>(bins) / (last - first);
  const double rounding =
      4 * precision(bounds->dtype) * (static_cast<double>(bins) + std::max(std::abs(first), std::abs(last)) * scale);
  const HistogramKernel kernel = choose_histogram(device.info(), bins);
  const std::int64_t share = turns * kernel.threads;
  LibraryKernel counting(
      device, {"search.cuh", "bincount.cuh"},
      kernel.function + "<" + device_type(from->dtype) + ", " + device_type(bounds->dtype) + kernel.arguments + ">");
  counting.in(from).add(size).in(bounds).add(static_cast<std::int32_t>(bins));
  for (const double number : {scale, -first * scale - 0.5, 0.5 - rounding})
    if (bounds->dtype == DType::float64)
      counting.add(number);
    else
      counting.add(static_cast<float>(number));
  counting.in_out(totals, "unsigned long long*")
      .launch(std::min<std::int64_t>((size + share - 1) / share, 6 * std::max(device.info().multiprocessors, 1)),
              kernel.threads);
  return totals;
}

}  // namespace gpulua
