#include "src/algorithms/partition.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/algorithms/scan.h"
#include "src/algorithms/sort_rows.h"

namespace gpulua {

namespace {

constexpr unsigned partition_threads = 256;
constexpr std::int64_t moved_chunk = 1 << 11;  // elements of a row that a warp moves

std::int64_t divided(std::int64_t size, std::int64_t chunk) {
  return (size + chunk - 1) / chunk;
}

/// Moves the elements up to a rank to the front of each row, without sorting them.
class Partition {
 public:
  Partition(const SortRows& rows, std::int64_t rank, const SortOptions& options)
      : device_(rows.array->device()),
        dtype_(rows.array->dtype),
        rows_(rows.count),
        size_(rows.size),
        rank_(rank),
        options_(options),
        order_(sort_order(dtype_, options.descending)),
        bits_(order_ + "::Bits*"),
        in_(rows) {}

  /// Only the elements up to the rank.
  Sorted first() { return move(rank_ + 1); }
  Sorted all() { return move(size_); }

 private:
  Sorted move(std::int64_t count) const {
    Sorted moved;
    Dims shape = in_.array->layout.shape;
    shape.back() = count;
    if (options_.values) moved.values = empty(device_, shape, dtype_);
    if (options_.positions) moved.positions = empty(device_, shape, DType::uint32);
    if (Sorter* sorter = device_.device().sorter()) {
      Uses uses(device_);
      const RowsToOrder from = in_.to_order(uses, options_.descending);
      const auto to = written_rows(uses, moved);
      Stream& stream = *device_.stream();
      device_.run_library("partition", stream, [&] { sorter->partition(from, rank_, count, to, stream); });
      return moved;
    }
    const bool all = count == size_;
    const std::string kind = "<" + order_ + ", " + (all ? "true" : "false") + ">";
    const Array ranks = full(device_, {rows_, 1}, DType::uint32, rank_);
    const Array keys = find_keys(in_.array, order_, ranks, nullptr);
    const std::int64_t chunks = divided(size_, moved_chunk);
    const std::int64_t blocks = divided(rows_ * chunks, partition_threads / 32);
    const Array counts = empty(device_, {rows_, (all ? 3 : 2) * chunks}, DType::uint32);
    LibraryKernel(device_, {"sort.cuh", "partition.cuh"}, "gpulua_partition_count_classes" + kind)
        .in(in_.array, "const " + bits_)
        .in(keys)
        .out(counts)
        .add(rows_)
        .add(size_)
        .add(moved_chunk)
        .add(static_cast<std::uint32_t>(chunks))
        .launch(blocks, partition_threads);
    const Array offsets = scan(scan_op("cumsum"), counts, 1, true, DType::uint32);
    LibraryKernel(device_, {"sort.cuh", "partition.cuh"}, "gpulua_partition_move" + kind)
        .in(in_.array, "const " + bits_)
        .in(keys)
        .in(offsets)
        .out(moved.values, bits_)
        .out(moved.positions, "unsigned int*")
        .add(rows_)
        .add(size_)
        .add(moved_chunk)
        .add(static_cast<std::uint32_t>(chunks))
        .add(count)
        .launch(blocks, partition_threads);
    return moved;
  }

  OpenDevice& device_;
  DType dtype_;
  std::int64_t rows_, size_, rank_;
  SortOptions options_;
  std::string order_, bits_;
  const SortRows& in_;
};

/// True for rows that a partition does faster than a sort: a block sorts a row that fits into its shared memory.
bool is_long(const SortRows& rows) {
  const bool by_library = rows.array->device().device().sorter() != nullptr;
  return rows.count > 0 && rows.size > (by_library ? 0 : short_row(rows.array->dtype));
}

}  // namespace

Sorted first_sorted(const Array& array, std::size_t axis, std::int64_t count, const SortOptions& options,
                    const char* op) {
  const SortRows rows(array, axis, op);
  const std::size_t last = rows.array->layout.ndim() - 1;
  if (is_long(rows) && count > 0 && count <= rows.size / 4) {
    SortOptions with_values = options;
    with_values.values = true;
    const Sorted found = Partition(rows, count - 1, with_values).first();
    SortOptions rest = options;
    rest.origins = found.positions;
    return rows.back(sort(found.values, last, rest, op));
  }
  Sorted sorted = sort(rows.array, last, options, op);
  for (Array* each : {&sorted.values, &sorted.positions}) {
    if (!*each || count == rows.size) continue;
    Layout layout = (*each)->layout;
    layout.shape[last] = count;
    *each = copy(view(*each, std::move(layout)));
  }
  return rows.back(sorted);
}

Sorted partition(const Array& array, std::size_t axis, std::int64_t rank, const SortOptions& options, const char* op) {
  const SortRows rows(array, axis, op);
  if (is_long(rows)) return rows.back(Partition(rows, rank, options).all());
  return rows.back(sort(rows.array, rows.array->layout.ndim() - 1, options, op));
}

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
