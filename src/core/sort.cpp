#include "src/core/sort.h"

#include <algorithm>
#include <limits>
#include <string>

#include "src/core/error.h"
#include "src/core/library_kernel.h"
#include "src/core/scan.h"
#include "src/core/views.h"

namespace gpulua {

namespace {

constexpr unsigned block_size = 256;
constexpr std::int64_t tiny_row = 256;  // that a warp sorts
constexpr std::int64_t digits = 256;    // of each pass

/// "gpulua_sort_order<...>": how device code orders the bits of an element.
std::string order_type(DType dtype, bool descending) {
  static constexpr const char* bits[] = {"unsigned char", "unsigned short", "unsigned int", "unsigned long long"};
  const std::size_t size = size_of(dtype);
  const char* kind = "gpulua_sort_unsigned";
  const char* infinity = "0";
  if (info(dtype).kind == DTypeKind::signed_integer) kind = "gpulua_sort_signed";
  if (info(dtype).kind == DTypeKind::floating) {
    kind = "gpulua_sort_floating";
    infinity = dtype == DType::float16    ? "0x7c00"
               : dtype == DType::bfloat16 ? "0x7f80"
               : dtype == DType::float32  ? "0x7f800000"
                                          : "0x7ff0000000000000";
  }
  const std::size_t index = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3;
  return std::string("gpulua_sort_order<") + bits[index] + ", " + kind + ", " + infinity + ", " +
         (descending ? "true" : "false") + ">";
}

class RowSort {
 public:
  RowSort(const Array& from, std::int64_t rows, std::int64_t size, const SortOptions& options)
      : device_(from->device()),
        dtype_(from->dtype),
        rows_(rows),
        size_(size),
        options_(options),
        by_warp_(device_.info().merging_threads == 32),
        order_(order_type(dtype_, options.descending)),
        bits_(order_ + "::Bits*") {
    if (options.values) sorted_.values = empty(device_, from->layout.shape, dtype_);
    if (options.positions) sorted_.positions = empty(device_, from->layout.shape, DType::uint32);
    if (rows == 0 || size == 0) return;
    in_ = from->read(device_.stream());
    if (size <= short_row())
      sort_short_rows();
    else
      sort_long_rows();
  }

  const Sorted& sorted() const { return sorted_; }

 private:
  /// Elements that fit shared memory twice.
  std::int64_t short_row() const { return size_of(dtype_) == 8 ? 1024 : 2048; }
  /// Elements that a block brings into order in shared memory.
  std::int64_t tile() const { return size_of(dtype_) == 8 ? 2048 : 4096; }

  char* write(const Array& array) const { return array ? array->write(device_.stream()) : nullptr; }

  void sort_short_rows() {
    const unsigned threads = by_warp_ || size_ <= tiny_row ? 32 : block_size;
    const std::int64_t most = size_ <= tiny_row ? tiny_row : short_row();
    LibraryKernel(
        device_, {"sort.cuh"},
        "gpulua_sort_short_rows<" + order_ + ", " + std::to_string(threads) + ", " + std::to_string(most) + ">")
        .add("const " + bits_, in_)
        .add(bits_, write(sorted_.values))
        .add("unsigned int*", write(sorted_.positions))
        .add(static_cast<std::int32_t>(size_))
        .launch(rows_, threads);
  }

  /// By the lowest digit first; what a pass gives, the next one reads.
  void sort_long_rows() {
    std::int64_t piece = tile();
    if (by_warp_) {
      const std::int64_t wanted = (8 * std::max(device_.info().multiprocessors, 1) + rows_ - 1) / rows_;
      piece = std::max(((size_ + wanted - 1) / wanted + 31) / 32 * 32, tile());
    }
    const std::int64_t pieces = (size_ + piece - 1) / piece;
    const std::int64_t total = rows_ * size_;
    const int passes = static_cast<int>(size_of(dtype_));
    const Array values = options_.values ? sorted_.values : empty(device_, {total}, dtype_);
    const Array other_values = passes > 1 ? empty(device_, {total}, dtype_) : nullptr;
    const Array other_positions = passes > 1 && options_.positions ? empty(device_, {total}, DType::uint32) : nullptr;
    const char* from = in_;
    const char* positions = nullptr;
    for (int pass = 0; pass < passes; ++pass) {
      const bool to_result = (passes - pass) % 2 == 1;
      char* to = write(to_result ? values : other_values);
      char* new_positions = write(to_result ? sorted_.positions : other_positions);
      move(from, to, positions, new_positions, piece, pieces, 8 * pass);
      from = to;
      positions = new_positions;
    }
  }

  void move(const char* from, char* to, const char* positions, char* new_positions, std::int64_t piece,
            std::int64_t pieces, std::int32_t shift) {
    const unsigned threads = by_warp_ ? 32 : block_size;
    const Array counts = empty(device_, {rows_, digits * pieces}, DType::uint32);
    LibraryKernel(device_, {"sort.cuh"}, "gpulua_sort_count<" + order_ + ", " + std::to_string(threads) + ">")
        .add("const " + bits_, from)
        .add("unsigned int*", write(counts))
        .add(size_)
        .add(piece)
        .add(static_cast<std::uint32_t>(pieces))
        .add(shift)
        .launch(rows_ * pieces, threads);
    const Array places = scan(scan_op("cumsum"), counts, 1, true, DType::uint32);
    std::string function = "gpulua_sort_move_by_warp<" + order_ + ">";
    if (!by_warp_)
      function = "gpulua_sort_move_by_block<" + order_ + ", " + std::to_string(threads) + ", " + std::to_string(piece) +
                 ", " + (new_positions ? "true" : "false") + ">";
    LibraryKernel kernel(device_, {"sort.cuh"}, function);
    kernel.add("const " + bits_, from)
        .add(bits_, to)
        .add("const unsigned int*", positions)
        .add("unsigned int*", new_positions)
        .add("const unsigned int*", places->read(device_.stream()))
        .add(size_);
    if (by_warp_) kernel.add(piece);
    kernel.add(static_cast<std::uint32_t>(pieces)).add(shift).launch(rows_ * pieces, threads);
  }

  OpenDevice& device_;
  DType dtype_;
  std::int64_t rows_, size_;
  SortOptions options_;
  bool by_warp_;  // a block is a warp: where barriers cost more than they are worth
  std::string order_, bits_;
  const char* in_ = nullptr;
  Sorted sorted_;
};

}  // namespace

Sorted sort(const Array& array, std::size_t axis, const SortOptions& options, const char* op) {
  const std::string prefix = "[" + std::string(op) + "] ";
  if (info(array->dtype).kind == DTypeKind::complex)
    throw Error(prefix + "expected real numbers, got " + std::string(name(array->dtype)));
  const std::int64_t size = array->layout.shape[axis];
  if (size > std::numeric_limits<std::uint32_t>::max())
    throw Error(prefix + "expected fewer than 2^32 elements along the axis, got " + std::to_string(size));
  const std::size_t from[] = {axis}, last[] = {array->layout.ndim() - 1};
  const Array moved = axis == last[0] ? array : view(array, move_axes(array->layout, from, last));
  const Array rows = contiguous(moved);
  const RowSort sort(rows, size == 0 ? 0 : rows->layout.size() / size, size, options);
  Sorted sorted = sort.sorted();
  if (axis == last[0]) return sorted;
  for (Array* each : {&sorted.values, &sorted.positions})
    if (*each) *each = view(*each, move_axes((*each)->layout, last, from));
  return sorted;
}

Array search_sorted(const Array& sorted, const Array& values, bool right) {
  OpenDevice& device = values->device();
  const Array haystack = contiguous(sorted), needles = contiguous(values);
  const Array places = empty(device, needles->layout.shape, DType::int64);
  const StreamRef& stream = device.stream();
  const unsigned threads = block_size;
  const std::int64_t count = needles->layout.size();
  LibraryKernel(device, {"search.cuh"},
                "gpulua_search_sorted<" + device_type(values->dtype) + ", " + (right ? "true" : "false") + ">")
      .add(read_pointer(values->dtype), haystack->read(stream))
      .add(haystack->layout.size())
      .add(read_pointer(values->dtype), needles->read(stream))
      .add(count)
      .add("long long*", places->write(stream))
      .launch((count + threads - 1) / threads, threads);
  return places;
}

}  // namespace gpulua
