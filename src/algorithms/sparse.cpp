#include "src/algorithms/sparse.h"

#include <algorithm>
#include <bit>

#include "src/algorithms/library_kernel.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

constexpr std::int64_t lanes_of_a_warp = 32;

constexpr unsigned threads = 128;
constexpr std::int64_t tile_items = 1024;  // gpulua_tile_items
constexpr unsigned tile_threads = 128;     // gpulua_tile_threads

std::int64_t blocks_of(std::int64_t items) {
  return (items + threads - 1) / threads;
}

LibraryKernel kernel_of(OpenDevice& device, const std::string& function) {
  return {device, {"complex.cuh", "indexed.cuh", "sparse.cuh"}, function};
}

/// The lanes of a warp that share a line of a product with a matrix.
std::int64_t lanes_of_columns(std::int64_t columns) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(columns, lanes_of_a_warp))));
}

/// The product with `x`, a vector or a matrix; with a null x, the sums of the nonzeros.
class SparseProduct {
 public:
  SparseProduct(const Array& entries, const Array& places, const Array& starts, const Array& tiles, const Array& x)
      : device_(entries->device()), entries_(entries), places_(places), starts_(starts), x_(x), tiles_(tiles) {
    problem_.entry = entries->dtype;
    problem_.dtype = x ? x->dtype : entries->dtype;
    problem_.index = starts->dtype;
    problem_.lines = starts->layout.size() - 1;
    problem_.count = entries->layout.size();
    Dims shape{problem_.lines};
    if (x && x->layout.ndim() == 2) shape.push_back(problem_.columns = x->layout.shape[1]);
    y_ = empty(device_, std::move(shape), problem_.dtype);
  }

  Array run() {
    if (y_->layout.size() == 0) return y_;
    if (x_ && x_->layout.size() == 0) {
      fill(y_, 0.0);
      return y_;
    }
    if (Sparse* library = device_.device().sparse())
      multiply_by(*library);
    else if (x_ && x_->layout.ndim() == 2)
      launch_by_matrix();
    else
      launch_by_vector();
    return y_;
  }

 private:
  void multiply_by(Sparse& library) {
    Uses uses(device_);
    problem_.entries = uses.in(entries_);
    problem_.places = uses.in(places_);
    problem_.starts = uses.in(starts_);
    problem_.x = uses.in(x_);
    problem_.y = uses.out(y_);
    device_.run_library("multiply sparse", *device_.stream(), [&] { library.multiply(problem_, *device_.stream()); });
  }

  void launch_by_matrix() {
    const std::int64_t width = lanes_of_columns(problem_.columns);
    LibraryKernel kernel =
        kernel_of(device_, "gpulua_multiply_lines_by_matrix<" + types() + ", " + std::to_string(width) + ">");
    add_operands(kernel);
    kernel.add(problem_.columns).launch(blocks_of(problem_.lines * width), threads);
  }

  void launch_by_vector() {
    const DType index = problem_.index, dtype = problem_.dtype;
    if (!tiles_) tiles_ = lines_of_tiles(starts_, problem_.count);
    const std::int64_t tiles = tiles_->layout.size() - 1;
    const Array rests = empty(device_, {tiles}, dtype);
    LibraryKernel kernel = kernel_of(device_, "gpulua_multiply_tiles<" + types() + ">");
    add_operands(kernel);
    kernel.add(problem_.count).in(tiles_).out(rests).launch(tiles, tile_threads);
    kernel_of(device_, "gpulua_add_rests<" + device_type(dtype) + ", " + device_type(index) + ">")
        .in(tiles_)
        .in(rests)
        .in_out(y_)
        .add(problem_.lines)
        .add(tiles)
        .launch(blocks_of(tiles * lanes_of_a_warp), threads);
  }

  std::string types() const {
    return device_type(problem_.entry) + ", " + device_type(problem_.dtype) + ", " + device_type(problem_.index);
  }

  void add_operands(LibraryKernel& kernel) const {
    kernel.in(entries_)
        .in(places_, read_pointer(problem_.index))
        .in(starts_)
        .in(x_, read_pointer(problem_.dtype))
        .out(y_)
        .add(problem_.lines);
  }

  OpenDevice& device_;
  const Array entries_, places_, starts_, x_;
  Array tiles_;
  SparseProblem problem_;
  Array y_;
};

}  // namespace

Array multiply(const SparseLines& matrix, const Array& x) {
  return SparseProduct(matrix.entries, matrix.places, matrix.starts, matrix.tiles, contiguous(x)).run();
}

Array lines_of_tiles(const Array& starts, std::int64_t count) {
  OpenDevice& device = starts->device();
  if (device.device().sparse()) return nullptr;
  const DType index = starts->dtype;
  const std::int64_t lines = starts->layout.size() - 1, tiles = (lines + count + tile_items - 1) / tile_items;
  const Array first = empty(device, {tiles + 1}, index);
  kernel_of(device, "gpulua_lines_of_tiles<" + device_type(index) + ">")
      .in(starts)
      .add(lines)
      .add(count)
      .out(first)
      .add(tiles)
      .launch(blocks_of(tiles + 1), threads);
  return first;
}

Array sum_lines(const Array& entries, const Array& starts) {
  return SparseProduct(contiguous(entries), nullptr, starts, nullptr, nullptr).run();
}

Array diagonal_of_lines(const SparseLines& matrix, std::int64_t first, std::int64_t offset, std::int64_t count) {
  OpenDevice& device = matrix.starts->device();
  Sparse* const library = device.device().sparse();
  if (library == nullptr) return nullptr;
  const Array sums = empty(device, {count}, matrix.entries->dtype);
  Uses uses(device);
  SparseDiagonal problem{matrix.entries->dtype, matrix.starts->dtype, first, offset, count};
  problem.entries = uses.in(matrix.entries);
  problem.places = uses.in(matrix.places);
  problem.starts = uses.in(matrix.starts);
  problem.y = uses.out(sums);
  device.run_library("diagonal of sparse", *device.stream(),
                     [&] { library->take_diagonal(problem, *device.stream()); });
  return sums;
}

Array extremes_of_lines(const Array& entries, const Array& starts, std::int64_t width, bool maximum) {
  OpenDevice& device = starts->device();
  const Array from = contiguous(entries);
  const DType dtype = from->dtype;
  const std::int64_t lines = starts->layout.size() - 1;
  const Array extremes = empty(device, {lines}, dtype);
  kernel_of(device, "gpulua_extreme_of_lines<" + device_type(dtype) + ", " + device_type(starts->dtype) +
                        (maximum ? ", true>" : ", false>"))
      .in(from)
      .in(starts)
      .out(extremes)
      .add(lines)
      .add(width)
      .launch(blocks_of(lines), threads);
  return extremes;
}

Array count_merged(const SparseLines& a, const SparseLines& b) {
  OpenDevice& device = a.starts->device();
  const DType index = a.starts->dtype;
  const Array counts = empty(device, {a.count()}, DType::int64);
  kernel_of(device, "gpulua_count_merged<" + device_type(index) + ">")
      .in(a.places)
      .in(a.starts)
      .in(b.places)
      .in(b.starts)
      .out(counts)
      .add(a.count())
      .launch(blocks_of(a.count()), threads);
  return counts;
}

MergedLines merge(const SparseLines& a, const SparseLines& b, const Array& starts, std::int64_t count) {
  OpenDevice& device = a.starts->device();
  const DType index = a.starts->dtype, dtype = a.entries->dtype;
  MergedLines merged{empty(device, {count}, index), empty(device, {count}, dtype), empty(device, {count}, dtype)};
  kernel_of(device, "gpulua_merge_lines<" + device_type(dtype) + ", " + device_type(index) + ">")
      .in(a.entries)
      .in(a.places)
      .in(a.starts)
      .in(b.entries)
      .in(b.places)
      .in(b.starts)
      .in(starts)
      .out(merged.places)
      .out(merged.left)
      .out(merged.right)
      .add(a.count())
      .launch(blocks_of(a.count()), threads);
  return merged;
}

Array starts_of(const Array& line_of_entry, std::int64_t lines) {
  OpenDevice& device = line_of_entry->device();
  const DType index = line_of_entry->dtype;
  const Array from = contiguous(line_of_entry), starts = empty(device, {lines + 1}, index);
  kernel_of(device, "gpulua_starts_of_lines<" + device_type(index) + ">")
      .in(from)
      .add(from->layout.size())
      .out(starts)
      .add(lines)
      .launch(blocks_of(lines + 1), threads);
  return starts;
}

Array lines_of(const Array& starts, std::int64_t count) {
  OpenDevice& device = starts->device();
  const DType index = starts->dtype;
  const Array lines = empty(device, {count}, index);
  kernel_of(device, "gpulua_lines_of_entries<" + device_type(index) + ">")
      .in(starts)
      .add(starts->layout.size() - 1)
      .out(lines)
      .add(count)
      .launch(blocks_of(count), threads);
  return lines;
}

Array checked_places(const std::string& op, const Array& given, std::int64_t extent, int axis, DType to) {
  OpenDevice& device = given->device();
  const Array from = contiguous(cast(given, DType::int64));
  const std::int64_t count = from->layout.size();
  const Array places = empty(device, {count}, to);
  if (count == 0) return places;
  LibraryKernel kernel = kernel_of(device, "gpulua_checked_places<" + device_type(to) + ">");
  kernel.in(from).out(places).add(count).add(extent).add(std::int32_t{axis});
  kernel.add_fault(op);
  kernel.launch(blocks_of(count), threads);
  return places;
}

Array checked_starts(const std::string& op, const Array& given, std::int64_t count, DType to) {
  OpenDevice& device = given->device();
  const Array from = contiguous(cast(given, DType::int64));
  const std::int64_t lines = from->layout.size() - 1;
  const Array starts = empty(device, {lines + 1}, to);
  LibraryKernel kernel = kernel_of(device, "gpulua_checked_starts<" + device_type(to) + ">");
  kernel.in(from).out(starts).add(lines).add(count);
  const IndexFault* const fault = kernel.add_fault(op);
  kernel.launch(blocks_of(lines + 1), threads);
  kernel_of(device, "gpulua_drop_faulty_starts<" + device_type(to) + ">")
      .add("const gpulua_index_fault*", fault)
      .in_out(starts)
      .add(lines)
      .launch(blocks_of(lines + 1), threads);
  return starts;
}

}  // namespace gpulua
