#include "src/algorithms/sort.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/algorithms/sort_rows.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
constexpr std::int64_t tiny_row = 256;        // the longest row that one warp sorts
constexpr std::int64_t digits = 256;          // values of the eight bits that a pass sorts by
constexpr std::int64_t long_chunk = 1 << 16;  // elements of a row whose digits a block counts
// Shared memory that a sweep has for elements. Its counts take the rest of 48 KiB.
constexpr std::size_t sweep_bytes = 39 << 10;
constexpr unsigned sweep_blocks = 4;  // resident blocks per multiprocessor
// Elements of a tile for each thread where larger tiles would be few. This kernel also compiles in a third of the time.
constexpr std::int64_t few_turns = 8;

class RowSort {
 public:
  RowSort(const SortRows& rows, const SortOptions& options)
      : device_(rows.array->device()),
        dtype_(rows.array->dtype),
        rows_(rows.count),
        size_(rows.size),
        options_(options),
        order_(sort_order(dtype_, options.descending)),
        bits_(order_ + "::Bits*") {
    const Dims& shape = rows.array->layout.shape;
    if (options.values) sorted_.values = empty(device_, shape, dtype_);
    if (options.positions) sorted_.positions = empty(device_, shape, DType::uint32);
    if (rows_ == 0 || size_ == 0) return;
    if (Sorter* sorter = device_.device().sorter()) {
      Uses uses(device_);
      RowsToOrder from = rows.to_order(uses, options.descending);
      from.origins = reinterpret_cast<const std::uint32_t*>(uses.in(options.origins));
      const auto to = written_rows(uses, sorted_);
      device_.run_library("sort", *device_.stream(), [&] { sorter->sort(from, to, *device_.stream()); });
      return;
    }
    in_ = rows.array;
    if (size_ <= short_row(dtype_))
      sort_short_rows();
    else
      sort_long_rows();
  }

  const Sorted& sorted() const { return sorted_; }

 private:
  void sort_short_rows() {
    const unsigned threads = size_ <= tiny_row ? 32 : block_size;
    const std::int64_t most = size_ <= tiny_row ? tiny_row : short_row(dtype_);
    LibraryKernel(
        device_, {"sort.cuh"},
        "gpulua_sort_short_rows<" + order_ + ", " + std::to_string(threads) + ", " + std::to_string(most) + ">")
        .in(in_, "const " + bits_)
        .out(sorted_.values, bits_)
        .in(options_.origins, "const unsigned int*")
        .out(sorted_.positions, "unsigned int*")
        .add(static_cast<std::int32_t>(size_))
        .launch(rows_, threads);
  }

  /// A radix sort from the lowest digit on. Each pass reads the result of the pass before it.
  void sort_long_rows() {
    const std::int64_t total = rows_ * size_;
    const int passes = static_cast<int>(size_of(dtype_));
    const Array values = options_.values ? sorted_.values : empty(device_, {total}, dtype_);
    const Array other_values = passes > 1 ? empty(device_, {total}, dtype_) : nullptr;
    const Array other_positions = passes > 1 && options_.positions ? empty(device_, {total}, DType::uint32) : nullptr;
    const Array histogram = count_digits();
    Move pass{in_, nullptr, options_.origins, nullptr, 0};
    for (int left = passes; left > 0; --left) {
      const bool to_result = left % 2 == 1;
      pass.to = to_result ? values : other_values;
      pass.new_positions = to_result ? sorted_.positions : other_positions;
      sweep(pass, histogram);
      pass.from = pass.to;
      pass.positions = pass.new_positions;
      pass.shift += 8;
    }
  }

  /// One pass. Null `positions`: the elements come from positions 0, 1, ... of the row. Null `new_positions`: the
  /// positions are not needed.
  struct Move {
    Array from, to, positions, new_positions;
    std::int32_t shift;
  };

  /// For each row and each pass, the histogram of the digits.
  Array count_digits() {
    const Array counts =
        full(device_, {rows_ * static_cast<std::int64_t>(size_of(dtype_)) * digits}, DType::uint32, std::int64_t{0});
    const std::int64_t chunks = (size_ + long_chunk - 1) / long_chunk;
    LibraryKernel(device_, {"sort.cuh", "sort_sweep.cuh"},
                  "gpulua_sort_histogram<" + order_ + ", " + std::to_string(block_size) + ">")
        .in(in_, "const " + bits_)
        .out(counts)
        .add(size_)
        .add(long_chunk)
        .add(static_cast<std::uint32_t>(chunks))
        .launch(rows_ * chunks, block_size);
    return counts;
  }

  void sweep(const Move& pass, const Array& histogram) {
    const bool with_positions = pass.new_positions != nullptr;
    const std::size_t bytes = size_of(dtype_) + (with_positions ? 4 : 0);
    auto turns = static_cast<std::int64_t>(std::min<std::size_t>(sweep_bytes / (block_size * bytes) / 4 * 4, 32));
    if (device_.info().has_few_tiles(rows_ * size_, turns * block_size)) turns = std::min(turns, few_turns);
    const std::int64_t tile = turns * block_size, tiles = (size_ + tile - 1) / tile;
    // Two bits of a tile's word hold the tile's state.
    const bool wide = size_ >= std::int64_t{1} << 30;
    const std::string word = wide ? "unsigned long long" : "unsigned int";
    const Array words =
        full(device_, {1 + rows_ * tiles * digits}, wide ? DType::uint64 : DType::uint32, std::int64_t{0});
    LibraryKernel(device_, {"sort.cuh", "sort_sweep.cuh"},
                  "gpulua_sort_by_digit<gpulua_sort_sweep<" + order_ + ", " + word + ", " + std::to_string(block_size) +
                      ", " + std::to_string(turns) + ", " + (with_positions ? "true" : "false") + ">>")
        .in(pass.from, "const " + bits_)
        .out(pass.to, bits_)
        .in(pass.positions, "const unsigned int*")
        .out(pass.new_positions, "unsigned int*")
        .in(histogram)
        .scratch("unsigned int*", words)
        .scratch(word + "*", words, words->itemsize())
        .add(size_)
        .add(static_cast<std::uint32_t>(tiles))
        .add(pass.shift)
        .launch(rows_ * tiles, block_size, sweep_blocks);
  }

  OpenDevice& device_;
  DType dtype_;
  std::int64_t rows_, size_;
  SortOptions options_;
  std::string order_, bits_;
  Array in_;
  Sorted sorted_;
};

}  // namespace

Sorted sort(const Array& array, std::size_t axis, const SortOptions& options, const char* op) {
  const SortRows rows(array, axis, op);
  return rows.back(RowSort(rows, options).sorted());
}

namespace {

/// How gpulua_search_sorted searches. Without a table, `levels` is 0. With one, a block searches a tree of `levels`
/// levels in shared memory first, which finds a group of `stride` elements.
struct SearchPlan {
  std::int32_t levels = 0;
  std::int64_t stride = 0, turns = 1, blocks = 1;
  unsigned threads = block_size;
  std::size_t shared = 0;
};

/// A table in shared memory of a GPU pays once a block searches at least as often as it has entries.
SearchPlan plan_search(const DeviceInfo& device, DType dtype, std::int64_t size, std::int64_t count) {
  constexpr std::int64_t least_entries = 64, turns = 4;
  constexpr std::size_t most_shared = 128 << 10;
  SearchPlan plan;
  const std::int64_t multiprocessors = std::max(device.multiprocessors, 1);
  const std::size_t bytes = std::max(size_of(dtype), sizeof(float));  // of a number of 16 bits too
  const auto fits = static_cast<std::int64_t>(std::min(device.max_shared_bytes, most_shared) / bytes);
  const std::int64_t most = std::min(fits, count / multiprocessors);
  if (device.block_is_warp || most < least_entries || size < 2) {
    plan.blocks = (count + plan.threads - 1) / plan.threads;
    return plan;
  }
  // There are more groups than elements, or a group has more than one.
  plan.levels = static_cast<std::int32_t>(std::bit_width(static_cast<std::uint64_t>(std::min(most, 2 * size)))) - 1;
  plan.stride = (size >> plan.levels) + 1;
  plan.turns = turns;
  plan.threads = 1024;
  plan.shared = bytes << plan.levels;
  const std::int64_t shares = (count + turns * plan.threads - 1) / (turns * plan.threads);
  plan.blocks = std::min(shares, (2 * plan.shared <= device.max_shared_bytes ? 2 : 1) * multiprocessors);
  return plan;
}

}  // namespace

Array search_sorted(const Array& sorted, const Array& values, bool right, std::int64_t origin) {
  OpenDevice& device = values->device();
  const Array haystack = contiguous(sorted), needles = contiguous(values);
  const Array positions = empty(device, needles->layout.shape, DType::int64);
  const std::int64_t size = haystack->layout.size(), count = needles->layout.size();
  const SearchPlan plan = plan_search(device.info(), haystack->dtype, size, count);
  // A core's vectors have positions as wide as the elements.
  const bool narrow = size <= std::numeric_limits<std::int32_t>::max() &&
                      !(device.info().block_is_warp && size_of(haystack->dtype) == sizeof(std::int64_t));
  LibraryKernel kernel(device, {"search.cuh"},
                       "gpulua_search_sorted<" + device_type(haystack->dtype) + ", " + device_type(needles->dtype) +
                           (narrow ? ", int, " : ", long long, ") + (right ? "true, " : "false, ") +
                           (plan.levels > 0 ? "true, " : "false, ") + std::to_string(plan.turns) + ">");
  kernel.in(haystack);
  narrow ? kernel.add(static_cast<std::int32_t>(size)) : kernel.add(size);
  kernel.in(needles).add(count).out(positions).add(origin).add(plan.levels);
  narrow ? kernel.add(static_cast<std::int32_t>(plan.stride)) : kernel.add(plan.stride);
  kernel.launch(plan.blocks, plan.threads, 0, plan.shared);
  return positions;
}

}  // namespace gpulua
