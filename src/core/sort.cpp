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
constexpr std::int64_t tiny_row = 256;        // that a warp sorts
constexpr std::int64_t digits = 256;          // of each pass
constexpr std::int64_t long_piece = 1 << 16;  // elements of a row whose digits a block counts
// What a sweep has of shared memory for elements. The rest of 48 KiB is counts.
constexpr std::size_t sweep_bytes = 39 << 10;
constexpr unsigned sweep_blocks = 4;  // of a multiprocessor at once

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
    const std::int64_t total = rows_ * size_;
    const int passes = static_cast<int>(size_of(dtype_));
    const Array values = options_.values ? sorted_.values : empty(device_, {total}, dtype_);
    const Array other_values = passes > 1 ? empty(device_, {total}, dtype_) : nullptr;
    const Array other_positions = passes > 1 && options_.positions ? empty(device_, {total}, DType::uint32) : nullptr;
    const Array histogram = by_warp_ ? nullptr : count_digits();
    Move pass{in_, nullptr, nullptr, nullptr, 0};
    for (int left = passes; left > 0; --left) {
      const bool to_result = left % 2 == 1;
      pass.to = write(to_result ? values : other_values);
      pass.new_positions = write(to_result ? sorted_.positions : other_positions);
      if (by_warp_)
        move_by_warps(pass);
      else
        sweep(pass, histogram);
      pass.from = pass.to;
      pass.positions = pass.new_positions;
      pass.shift += 8;
    }
  }

  /// A pass. No `positions`: those of the elements as they were given. No `new_positions`: nobody asks.
  struct Move {
    const char* from;
    char* to;
    const char* positions;
    char* new_positions;
    std::int32_t shift;
  };

  void move_by_warps(const Move& pass) {
    const std::int64_t wanted = (8 * std::max(device_.info().multiprocessors, 1) + rows_ - 1) / rows_;
    const std::int64_t piece = std::max(((size_ + wanted - 1) / wanted + 31) / 32 * 32, std::int64_t{4096});
    const std::int64_t pieces = (size_ + piece - 1) / piece;
    const Array counts = empty(device_, {rows_, digits * pieces}, DType::uint32);
    LibraryKernel(device_, {"sort.cuh"}, "gpulua_sort_count<" + order_ + ">")
        .add("const " + bits_, pass.from)
        .add("unsigned int*", write(counts))
        .add(size_)
        .add(piece)
        .add(static_cast<std::uint32_t>(pieces))
        .add(pass.shift)
        .launch(rows_ * pieces, 32);
    const Array places = scan(scan_op("cumsum"), counts, 1, true, DType::uint32);
    move_kernel({"sort.cuh"}, "gpulua_sort_move_by_warp<" + order_ + ">", pass)
        .add("const unsigned int*", places->read(device_.stream()))
        .add(size_)
        .add(piece)
        .add(static_cast<std::uint32_t>(pieces))
        .add(pass.shift)
        .launch(rows_ * pieces, 32);
  }

  /// Of each row, how often it has each digit of each pass.
  Array count_digits() {
    const Array counts = zeros({rows_ * static_cast<std::int64_t>(size_of(dtype_)) * digits}, DType::uint32);
    const std::int64_t pieces = (size_ + long_piece - 1) / long_piece;
    LibraryKernel(device_, {"sort.cuh", "sort_sweep.cuh"},
                  "gpulua_sort_histogram<" + order_ + ", " + std::to_string(block_size) + ">")
        .add("const " + bits_, in_)
        .add("unsigned int*", write(counts))
        .add(size_)
        .add(long_piece)
        .add(static_cast<std::uint32_t>(pieces))
        .launch(rows_ * pieces, block_size);
    return counts;
  }

  void sweep(const Move& pass, const Array& histogram) {
    const bool with_positions = pass.new_positions != nullptr;
    const std::size_t bytes = size_of(dtype_) + (with_positions ? 4 : 0);
    const auto turns = static_cast<std::int64_t>(std::min<std::size_t>(sweep_bytes / (block_size * bytes) / 4 * 4, 32));
    const std::int64_t tile = turns * block_size, tiles = (size_ + tile - 1) / tile;
    // Two bits of a tile's word tell its state.
    const bool wide = size_ >= std::int64_t{1} << 30;
    const std::string word = wide ? "unsigned long long" : "unsigned int";
    const Array words = zeros({1 + rows_ * tiles * digits}, wide ? DType::uint64 : DType::uint32);
    char* memory = write(words);
    move_kernel({"sort.cuh", "sort_sweep.cuh"},
                "gpulua_sort_by_digit<gpulua_sort_sweep<" + order_ + ", " + word + ", " + std::to_string(block_size) +
                    ", " + std::to_string(turns) + ", " + (with_positions ? "true" : "false") + ">>",
                pass)
        .add("const unsigned int*", histogram->read(device_.stream()))
        .add("unsigned int*", memory)
        .add(word + "*", memory + words->itemsize())
        .add(size_)
        .add(static_cast<std::uint32_t>(tiles))
        .add(pass.shift)
        .launch(rows_ * tiles, block_size, sweep_blocks);
  }

  LibraryKernel move_kernel(std::initializer_list<std::string_view> headers, const std::string& function,
                            const Move& pass) const {
    LibraryKernel kernel(device_, headers, function);
    kernel.add("const " + bits_, pass.from)
        .add(bits_, pass.to)
        .add("const unsigned int*", pass.positions)
        .add("unsigned int*", pass.new_positions);
    return kernel;
  }

  Array zeros(Dims shape, DType dtype) {
    const Array array = empty(device_, std::move(shape), dtype);
    const std::uint32_t zero = 0;
    device_.device().fill(write(array), &zero, 4, array->nbytes() / 4, *device_.stream());
    return array;
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
