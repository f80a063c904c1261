#include "src/algorithms/bincount.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
constexpr std::int64_t turns = 8;  // values of a thread at a time: gpulua_histogram_turns

struct HistogramKernel {
  std::string function, arguments;  // of its template, after the types
  unsigned threads = block_size;
};

/// Counters of a block for each bin: on a GPU few lanes of a warp share counters, as far as those fit.
std::int64_t copies_of(const DeviceInfo& device, std::int64_t bins) {
  std::int64_t copies = device.block_is_warp ? 1 : 16;
  while (copies > 1 && copies * bins > most_even_bins) copies /= 2;
  return copies;
}

/// A core's lanes are many values at a time, and compile sooner without more.
std::int64_t turns_of(const DeviceInfo& device, std::int64_t of_gpu) {
  return device.block_is_warp ? 1 : of_gpu;
}

HistogramKernel choose_histogram(const DeviceInfo& device, std::int64_t bins) {
  constexpr std::int64_t byte_bins = 256;          // gpulua_byte_bins
  const bool lane_by_lane = device.block_is_warp;  // as a core counts
  if (!lane_by_lane && bins <= byte_bins) return {"gpulua_histogram_bytes", "", 128};
  return {"gpulua_histogram_even",
          ", " + std::to_string(copies_of(device, bins)) + ", " + std::to_string(turns_of(device, turns))};
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

/// A library reads no floating numbers of 16 bits.
Array weights_of_library(const Array& weights) {
  return weights->dtype == DType::float16 || weights->dtype == DType::bfloat16 ? cast(weights, DType::float32)
                                                                               : weights;
}

Array count_keys(const Array& keys, std::int64_t count) {
  OpenDevice& device = keys->device();
  const DeviceInfo& info = device.info();
  const Array totals = full(device, {count}, DType::int64, std::int64_t{0});
  const std::int64_t size = keys->layout.size(), multiprocessors = std::max(info.multiprocessors, 1);
  const std::int64_t copies = copies_of(info, count), at_a_time = turns_of(info, turns);
  const std::size_t shared = static_cast<std::size_t>(copies * count) * sizeof(std::uint32_t);
  if (shared > info.max_shared_bytes) {
    LibraryKernel(device, {"bincount.cuh"}, "gpulua_bincount_many<" + device_type(keys->dtype) + ">")
        .in(keys)
        .add(size)
        .in_out(totals, "unsigned long long*")
        .add(count)
        .launch((size + block_size - 1) / block_size, block_size);
    return totals;
  }
  // Where a block's counters leave no room for several blocks, it is a large one.
  const bool crowded = copies * count > most_even_bins && !info.block_is_warp;
  const unsigned threads = crowded ? 1024 : block_size;
  const std::int64_t share = std::max(at_a_time * threads, count);
  LibraryKernel(device, {"bincount.cuh"},
                "gpulua_bincount_few<" + device_type(keys->dtype) + ", " + std::to_string(copies) + ", " +
                    std::to_string(at_a_time) + ">")
      .in(keys)
      .add(size)
      .in_out(totals, "unsigned long long*")
      .add(static_cast<std::int32_t>(count))
      .launch(std::min((size + share - 1) / share, (crowded ? 2 : 6) * multiprocessors), threads, 0, shared);
  return totals;
}

/// Where gpulua_weighted_bins adds: `warps` of a block have `slots` sums each, for `width` numbers. A block is for one
/// of `ranges` of the numbers.
struct WeightedBins {
  int bits = 5;
  std::int64_t ranges = 1, width = 1, slots = 1, warps = 1;
};

WeightedBins choose_weighted_bins(const DeviceInfo& device, std::int64_t count) {
  constexpr std::int64_t least_slots = 1024, most_warps = 24;
  const std::int64_t most = static_cast<std::int64_t>(std::bit_floor(device.max_shared_bytes / sizeof(double)));
  WeightedBins bins;
  bins.ranges = (count + most - 1) / most;
  bins.width = (count + bins.ranges - 1) / bins.ranges;
  while (std::int64_t{1} << bins.bits < bins.width) ++bins.bits;
  const std::int64_t with_copies = std::max(std::int64_t{1} << bins.bits, least_slots);
  bins.slots = bins.width * (with_copies >> bins.bits);
  const auto room = static_cast<std::int64_t>(device.max_shared_bytes / sizeof(double)) / with_copies;
  bins.warps = device.block_is_warp ? 1 : std::min(room, most_warps);
  return bins;
}

Array add_weights(const Array& keys, const Array& weights, std::int64_t count) {
  OpenDevice& device = keys->device();
  const std::int64_t size = keys->layout.size(), multiprocessors = std::max(device.info().multiprocessors, 1);
  const std::string types = device_type(keys->dtype) + ", " + device_type(weights->dtype);
  if (count > most_ordered_bins) {
    const Array totals = full(device, {count}, DType::float64, std::int64_t{0});
    LibraryKernel(device, {"bincount.cuh", "weighted_bins.cuh"}, "gpulua_add_weights<" + types + ">")
        .in(keys)
        .in(weights)
        .add(size)
        .in_out(totals)
        .add(count)
        .launch((size + block_size - 1) / block_size, block_size);
    return totals;
  }
  const WeightedBins bins = choose_weighted_bins(device.info(), count);
  // Few warps take more at a time, so that as much is underway.
  const std::int64_t at_a_time = turns_of(device.info(), bins.warps >= 12 ? 4 : 8);
  const std::int64_t threads = 32 * bins.warps, share = std::max(at_a_time * threads, bins.width);
  const std::int64_t parts = std::min((size + share - 1) / share, multiprocessors);
  const Array sums = empty(device, {parts, count}, DType::float64);
  LibraryKernel(
      device, {"bincount.cuh", "weighted_bins.cuh"},
      "gpulua_weighted_bins<" + types + ", " + std::to_string(bins.bits) + ", " + std::to_string(at_a_time) + ">")
      .in(keys)
      .in(weights)
      .add(size)
      .out(sums)
      .add(count)
      .add(static_cast<std::int32_t>(bins.width))
      .add(static_cast<std::int32_t>(parts))
      .launch(parts * bins.ranges, static_cast<unsigned>(threads), 0,
              static_cast<std::size_t>(bins.warps * bins.slots) * sizeof(double));
  return reduce(reducer("sum"), sums, 1, false, {DType::float64, DType::float64});
}

}  // namespace

std::optional<std::pair<std::int64_t, std::int64_t>> range_of_keys(const Array& values) {
  Adder* const library = library_for(values);
  if (library == nullptr) return std::nullopt;
  const Array from = contiguous(values);
  if (from->buffer()->guarded()) return std::nullopt;  // only reading an element tells whether its check has failed
  Uses uses(values->device());
  OpenDevice& device = values->device();
  const KeysToCount keys = keys_of(from, uses);
  std::pair<std::int64_t, std::int64_t> range;
  device.run_library("range", *device.stream(), [&] { range = library->range(keys, *device.stream()); });
  return range;
}

Array bincount(const Array& values, const Array& weights, std::int64_t count) {
  OpenDevice& device = values->device();
  const std::int64_t size = values->layout.size();
  const DType dtype = weights ? DType::float64 : DType::int64;
  if (size == 0 || count == 0) return full(device, {count}, dtype, std::int64_t{0});
  if (Adder* const library = library_for(values)) {
    Uses uses(device);
    const Array totals = full(device, {count}, dtype, std::int64_t{0});
    const Array from = contiguous(values), factors = weights ? contiguous(weights_of_library(weights)) : nullptr;
    KeysToCount keys = keys_of(from, uses);
    if (factors) keys.weight_dtype = factors->dtype;
    keys.weights = uses.in(factors);
    keys.count = count;
    keys.totals = uses.in_out(totals);
    device.run_library("count", *device.stream(), [&] { library->count(keys, *device.stream()); });
    return totals;
  }
  const Array from = contiguous(values);
  return weights ? add_weights(from, contiguous(weights), count) : count_keys(from, count);
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
