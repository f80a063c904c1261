#include "src/algorithms/order_statistics.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

#include <algorithm>

#include "src/algorithms/library_kernel.h"
#include "src/algorithms/partition.h"
#include "src/algorithms/sort_rows.h"
#include "src/array/views.h"

namespace gpulua {

namespace {

constexpr std::int64_t together = 2;  // ranks that a kernel finds in one go

/// True where a block finds the ranks of a row: the row stays in the cache while it is read for each digit, and there
/// are rows enough for all multiprocessors.
bool block_takes_row(const OpenDevice& device, std::int64_t rows, std::int64_t size) {
  return size <= 1 << 13 || (size <= 1 << 16 && rows >= device.info().multiprocessors);
}

void find_by_rows(const SortRows& rows, const std::string& order, const Array& ranks, bool nan_rows,
                  const Array& found) {
  OpenDevice& device = rows.array->device();
  const unsigned threads = rows.size <= 256 ? 32 : rows.size <= 2048 ? 128 : 256;
  LibraryKernel(device, {"sort.cuh", "partition.cuh", "order_statistics.cuh"},
                "gpulua_order_statistics_of_row<" + order + ", " + std::to_string(threads) + ", " +
                    std::to_string(together) + ">")
      .in(rows.array, "const " + order + "::Bits*")
      .in(ranks)
      .out(found, order + "::Bits*")
      .add(rows.size)
      .add(static_cast<std::int32_t>(found->layout.shape.back()))
      .add(nan_rows)
      .launch(rows.count, threads);
}

void find_by_chunks(const SortRows& rows, const std::string& order, const Array& ranks, bool nan_rows,
                    const Array& found) {
  constexpr unsigned threads = 256;
  OpenDevice& device = rows.array->device();
  const std::int64_t count = found->layout.shape.back();
  const Array nans = nan_rows ? full(device, {rows.count}, DType::uint32, std::int64_t{0}) : nullptr;
  for (std::int64_t first = 0; first < count; first += together) {
    const std::int64_t some = std::min(together, count - first);
    Layout part = ranks->layout;
    part.shape = {rows.count, some};
    part.strides = {count, 1};
    part.offset += first;
    const Array keys = find_keys(rows.array, order, copy(cast(view(ranks, part), DType::uint32)), nans);
    LibraryKernel(device, {"sort.cuh", "partition.cuh", "order_statistics.cuh"},
                  "gpulua_order_statistics_write<" + order + ">")
        .in(keys)
        .in(nans, "const unsigned int*")
        .out(found, order + "::Bits*")
        .add(rows.count)
        .add(static_cast<std::int32_t>(some))
        .add(static_cast<std::int32_t>(count))
        .add(static_cast<std::int32_t>(first))
        .launch((rows.count * some + threads - 1) / threads, threads);
  }
}

}  // namespace

Array order_statistics(const Array& array, const Array& ranks, bool nan_rows, const char* op) {
  const SortRows rows(array, array->layout.ndim() - 1, op);
  OpenDevice& device = array->device();
  const Array at = contiguous(ranks);
  const Array found = empty(device, at->layout.shape, array->dtype);
  if (at->layout.size() == 0) return found;
  nan_rows = nan_rows && info(array->dtype).kind == DTypeKind::floating;
  const std::string order = sort_order(array->dtype, false);
  if (Sorter* sorter = device.device().sorter()) {
    Uses uses(device);
    const RowsToOrder from = rows.to_order(uses, false);
    const auto* const positions = reinterpret_cast<const std::int64_t*>(uses.in(at));
    char* const to = uses.out(found);
    Stream& stream = *device.stream();
    device.run_library("select", stream,
                       [&] { sorter->select(from, positions, at->layout.shape.back(), nan_rows, to, stream); });
  } else if (block_takes_row(device, rows.count, rows.size)) {
    find_by_rows(rows, order, at, nan_rows, found);
  } else {
    find_by_chunks(rows, order, at, nan_rows, found);
  }
  return found;
}

}  // namespace gpulua
