#include "src/algorithms/sparse.h"

#include <algorithm>
#include <bit>

#include "src/algorithms/library_kernel.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

constexpr std::int64_t warp = 32;

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
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(columns, warp))));
}

/// The product with `x`, a vector or a matrix; with a null x, the sums of the entries.
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
    const StreamRef& stream = device_.stream();
    problem_.entries = entries_->read(stream);
    problem_.places = places_ ? places_->read(stream) : nullptr;
    problem_.starts = starts_->read(stream);
    problem_.x = x_ ? x_->read(stream) : nullptr;
    problem_.y = y_->write(stream);
    if (Sparse* library = device_.device().sparse())
      library->multiply(problem_, *stream);
    else
      launch();
    for (const Array& source : {entries_, places_, starts_, x_})
      if (source) y_->buffer()->depend_on(*source->buffer());
    return y_;
  }

 private:
  void launch() {
    if (x_ && x_->layout.ndim() == 2)
      launch_by_matrix();
    else
      launch_by_vector();
  }

  void launch_by_matrix() {
    const std::int64_t width = lanes_of_columns(problem_.columns);
    LibraryKernel kernel =
        kernel_of(device_, "gpulua_multiply_lines_by_matrix<" + types() + ", " + std::to_string(width) + ">");
    add_operands(kernel);
    kernel.add(problem_.columns).launch(blocks_of(problem_.lines * width), threads);
  }

  void launch_by_vector() {
    const StreamRef& stream = device_.stream();
    const DType index = problem_.index, dtype = problem_.dtype;
    if (!tiles_) tiles_ = lines_of_tiles(starts_, problem_.count);
    const std::int64_t tiles = tiles_->layout.size() - 1;
    const Array rests = empty(device_, {tiles}, dtype);
    LibraryKernel kernel = kernel_of(device_, "gpulua_multiply_tiles<" + types() + ">");
    add_operands(kernel);
    kernel.add(problem_.count)
        .add(read_pointer(index), tiles_->read(stream))
        .add(write_pointer(dtype), rests->write(stream))
        .launch(tiles, tile_threads);
    kernel_of(device_, "gpulua_add_rests<" + device_type(dtype) + ", " + device_type(index) + ">")
        .add(read_pointer(index), tiles_->read(stream))
        .add(read_pointer(dtype), rests->read(stream))
        .add(write_pointer(dtype), problem_.y)
        .add(problem_.lines)
        .add(tiles)
        .launch(blocks_of(tiles * warp), threads);
  }

  std::string types() const {
    return device_type(problem_.entry) + ", " + device_type(problem_.dtype) + ", " + device_type(problem_.index);
  }

  void add_operands(LibraryKernel& kernel) const {
    kernel.add(read_pointer(problem_.entry), problem_.entries)
        .add(read_pointer(problem_.index), problem_.places)
        .add(read_pointer(problem_.index), problem_.starts)
        .add(read_pointer(problem_.dtype), problem_.x)
        .add(write_pointer(problem_.dtype), problem_.y)
        .add(problem_.lines);
  }

  OpenDevice& device_;
  const Array entries_, places_, starts_, x_;
  Array tiles_;
  SparseProblem problem_;
  Array y_;
};

/// Adds the record of a fault, and the line of the script.
IndexFaults::Watch add_fault(LibraryKernel& kernel, OpenDevice& device, const std::string& op) {
  Host* const host = device.context().host();
  const Origin origin = host ? host->origin() : Origin{};
  IndexFaults::Watch watch = device.index_faults().watch(device.stream());
  kernel.add("gpulua_index_fault*", watch.word)
      .add("const void*", origin.chunk)
      .add(std::int64_t{origin.line})
      .add("const void*", device.index_faults().lasting(op));
  return watch;
}

}  // namespace

Array multiply(const SparseLines& matrix, const Array& x) {
  return SparseProduct(matrix.entries, matrix.places, matrix.starts, matrix.tiles, contiguous(x)).run();
}

Array lines_of_tiles(const Array& starts, std::int64_t count) {
  OpenDevice& device = starts->device();
  if (device.device().sparse()) return nullptr;
  const StreamRef& stream = device.stream();
  const DType index = starts->dtype;
  const std::int64_t lines = starts->layout.size() - 1, tiles = (lines + count + tile_items - 1) / tile_items;
  const Array first = empty(device, {tiles + 1}, index);
  kernel_of(device, "gpulua_lines_of_tiles<" + device_type(index) + ">")
      .add(read_pointer(index), starts->read(stream))
      .add(lines)
      .add(count)
      .add(write_pointer(index), first->write(stream))
      .add(tiles)
      .launch(blocks_of(tiles + 1), threads);
  first->buffer()->depend_on(*starts->buffer());
  return first;
}

Array sum_lines(const Array& entries, const Array& starts) {
  return SparseProduct(contiguous(entries), nullptr, starts, nullptr, nullptr).run();
}

Array extremes_of_lines(const Array& entries, const Array& starts, std::int64_t width, bool maximum) {
  OpenDevice& device = starts->device();
  const StreamRef& stream = device.stream();
  const Array from = contiguous(entries);
  const DType dtype = from->dtype;
  const std::int64_t lines = starts->layout.size() - 1;
  const Array extremes = empty(device, {lines}, dtype);
  kernel_of(device, "gpulua_extreme_of_lines<" + device_type(dtype) + ", " + device_type(starts->dtype) +
                        (maximum ? ", true>" : ", false>"))
      .add(read_pointer(dtype), from->read(stream))
      .add(read_pointer(starts->dtype), starts->read(stream))
      .add(write_pointer(dtype), extremes->write(stream))
      .add(lines)
      .add(width)
      .launch(blocks_of(lines), threads);
  for (const Array& source : {from, starts}) extremes->buffer()->depend_on(*source->buffer());
  return extremes;
}

Array count_merged(const SparseLines& a, const SparseLines& b) {
  OpenDevice& device = a.starts->device();
  const StreamRef& stream = device.stream();
  const DType index = a.starts->dtype;
  const Array counts = empty(device, {a.count()}, DType::int64);
  kernel_of(device, "gpulua_count_merged<" + device_type(index) + ">")
      .add(read_pointer(index), a.places->read(stream))
      .add(read_pointer(index), a.starts->read(stream))
      .add(read_pointer(index), b.places->read(stream))
      .add(read_pointer(index), b.starts->read(stream))
      .add("long long*", counts->write(stream))
      .add(a.count())
      .launch(blocks_of(a.count()), threads);
  for (const Array& source : {a.places, a.starts, b.places, b.starts}) counts->buffer()->depend_on(*source->buffer());
  return counts;
}

MergedLines merge(const SparseLines& a, const SparseLines& b, const Array& starts, std::int64_t count) {
  OpenDevice& device = a.starts->device();
  const StreamRef& stream = device.stream();
  const DType index = a.starts->dtype, dtype = a.entries->dtype;
  MergedLines merged{empty(device, {count}, index), empty(device, {count}, dtype), empty(device, {count}, dtype)};
  kernel_of(device, "gpulua_merge_lines<" + device_type(dtype) + ", " + device_type(index) + ">")
      .add(read_pointer(dtype), a.entries->read(stream))
      .add(read_pointer(index), a.places->read(stream))
      .add(read_pointer(index), a.starts->read(stream))
      .add(read_pointer(dtype), b.entries->read(stream))
      .add(read_pointer(index), b.places->read(stream))
      .add(read_pointer(index), b.starts->read(stream))
      .add(read_pointer(index), starts->read(stream))
      .add(write_pointer(index), merged.places->write(stream))
      .add(write_pointer(dtype), merged.left->write(stream))
      .add(write_pointer(dtype), merged.right->write(stream))
      .add(a.count())
      .launch(blocks_of(a.count()), threads);
  for (const Array& result : {merged.places, merged.left, merged.right})
    for (const Array& source : {a.entries, a.places, a.starts, b.entries, b.places, b.starts, starts})
      result->buffer()->depend_on(*source->buffer());
  return merged;
}

Array starts_of(const Array& line_of_entry, std::int64_t lines) {
  OpenDevice& device = line_of_entry->device();
  const StreamRef& stream = device.stream();
  const DType index = line_of_entry->dtype;
  const Array from = contiguous(line_of_entry), starts = empty(device, {lines + 1}, index);
  kernel_of(device, "gpulua_starts_of_lines<" + device_type(index) + ">")
      .add(read_pointer(index), from->read(stream))
      .add(from->layout.size())
      .add(write_pointer(index), starts->write(stream))
      .add(lines)
      .launch(blocks_of(lines + 1), threads);
  starts->buffer()->depend_on(*from->buffer());
  return starts;
}

Array lines_of(const Array& starts, std::int64_t count) {
  OpenDevice& device = starts->device();
  const StreamRef& stream = device.stream();
  const DType index = starts->dtype;
  const Array lines = empty(device, {count}, index);
  kernel_of(device, "gpulua_lines_of_entries<" + device_type(index) + ">")
      .add(read_pointer(index), starts->read(stream))
      .add(starts->layout.size() - 1)
      .add(write_pointer(index), lines->write(stream))
      .add(count)
      .launch(blocks_of(count), threads);
  lines->buffer()->depend_on(*starts->buffer());
  return lines;
}

Array checked_places(const std::string& op, const Array& given, std::int64_t extent, int axis, DType to) {
  OpenDevice& device = given->device();
  const StreamRef& stream = device.stream();
  const Array from = contiguous(cast(given, DType::int64));
  const std::int64_t count = from->layout.size();
  const Array places = empty(device, {count}, to);
  if (count == 0) return places;
  LibraryKernel kernel = kernel_of(device, "gpulua_checked_places<" + device_type(to) + ">");
  kernel.add("const long long*", from->read(stream))
      .add(write_pointer(to), places->write(stream))
      .add(count)
      .add(extent)
      .add(std::int32_t{axis});
  const IndexFaults::Watch watch = add_fault(kernel, device, op);
  kernel.launch(blocks_of(count), threads);
  places->buffer()->depend_on(watch.check);
  places->buffer()->depend_on(*from->buffer());
  return places;
}

Array checked_starts(const std::string& op, const Array& given, std::int64_t count, DType to) {
  OpenDevice& device = given->device();
  const StreamRef& stream = device.stream();
  const Array from = contiguous(cast(given, DType::int64));
  const std::int64_t lines = from->layout.size() - 1;
  const Array starts = empty(device, {lines + 1}, to);
  LibraryKernel kernel = kernel_of(device, "gpulua_checked_starts<" + device_type(to) + ">");
  kernel.add("const long long*", from->read(stream))
      .add(write_pointer(to), starts->write(stream))
      .add(lines)
      .add(count);
  const IndexFaults::Watch watch = add_fault(kernel, device, op);
  kernel.launch(blocks_of(lines + 1), threads);
  kernel_of(device, "gpulua_drop_faulty_starts<" + device_type(to) + ">")
      .add("const gpulua_index_fault*", watch.word)
      .add(write_pointer(to), starts->write(stream))
      .add(lines)
      .launch(blocks_of(lines + 1), threads);
  starts->buffer()->depend_on(watch.check);
  starts->buffer()->depend_on(*from->buffer());
  return starts;
}

}  // namespace gpulua
