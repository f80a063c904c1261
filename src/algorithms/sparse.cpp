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

bool is_core(const OpenDevice& device) {
  return device.info().merging_threads == warp;
}

constexpr unsigned threads = 128;

std::int64_t blocks_of(std::int64_t items) {
  return (items + threads - 1) / threads;
}

LibraryKernel kernel_of(OpenDevice& device, const std::string& function) {
  return {device, {"complex.cuh", "indexed.cuh", "sparse.cuh"}, function};
}

/// The lanes of a warp that share a line: as many as the lines have entries on average.
std::int64_t lanes_of_line(const OpenDevice& device, std::int64_t entries, std::int64_t lines) {
  if (is_core(device)) return 1;
  const std::int64_t mean = std::max<std::int64_t>(entries / std::max<std::int64_t>(lines, 1), 1);
  return std::min<std::int64_t>(warp, static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(mean))));
}

/// The lanes of a warp that share a line of a product with a matrix.
std::int64_t lanes_of_columns(std::int64_t columns) {
  return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(columns, warp))));
}

/// The product with `x`, a vector or a matrix; with a null x, the sums of the entries.
class SparseProduct {
 public:
  SparseProduct(const Array& entries, const Array& places, const Array& starts, const Array& x)
      : device_(entries->device()), entries_(entries), places_(places), starts_(starts), x_(x) {
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
    const bool by_vector = !x_ || x_->layout.ndim() == 1;
    const std::int64_t width =
        by_vector ? lanes_of_line(device_, problem_.count, problem_.lines) : lanes_of_columns(problem_.columns);
    LibraryKernel kernel =
        kernel_of(device_, (by_vector ? "gpulua_multiply_lines<" : "gpulua_multiply_lines_by_matrix<") +
                               device_type(problem_.entry) + ", " + device_type(problem_.dtype) + ", " +
                               device_type(problem_.index) + ", " + std::to_string(width) + ">");
    kernel.add(read_pointer(problem_.entry), problem_.entries)
        .add(read_pointer(problem_.index), problem_.places)
        .add(read_pointer(problem_.index), problem_.starts)
        .add(read_pointer(problem_.dtype), problem_.x)
        .add(write_pointer(problem_.dtype), problem_.y)
        .add(problem_.lines);
    if (!by_vector) kernel.add(problem_.columns);
    kernel.launch(blocks_of(problem_.lines * width), threads);
  }

  OpenDevice& device_;
  const Array entries_, places_, starts_, x_;
  SparseProblem problem_;
  Array y_;
};

/// Adds the record of a fault, and the line of the script. Returns the check that the kernel's results depend on.
CheckRef add_fault(LibraryKernel& kernel, OpenDevice& device, const std::string& op) {
  Host* const host = device.context().host();
  const Origin origin = host ? host->origin() : Origin{};
  IndexFaults::Watch watch = device.index_faults().watch(device.stream());
  kernel.add("gpulua_index_fault*", watch.word)
      .add("const void*", origin.chunk)
      .add(std::int64_t{origin.line})
      .add("const void*", device.index_faults().lasting(op));
  return watch.check;
}

}  // namespace

Array multiply(const SparseLines& matrix, const Array& x) {
  return SparseProduct(matrix.entries, matrix.places, matrix.starts, contiguous(x)).run();
}

Array sum_lines(const Array& entries, const Array& starts) {
  return SparseProduct(contiguous(entries), nullptr, starts, nullptr).run();
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
  const CheckRef check = add_fault(kernel, device, op);
  kernel.launch(blocks_of(count), threads);
  places->buffer()->depend_on(check);
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
  const CheckRef check = add_fault(kernel, device, op);
  kernel.launch(blocks_of(lines + 1), threads);
  starts->buffer()->depend_on(check);
  starts->buffer()->depend_on(*from->buffer());
  return starts;
}

}  // namespace gpulua
