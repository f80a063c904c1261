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

std::int64_t blocks_of(std::int64_t threads, unsigned block) {
  return (threads + block - 1) / block;
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

/// Null x: the sums of the entries.
Array multiply_by_vector(const Array& entries, const Array& places, const Array& starts, const Array& x) {
  OpenDevice& device = entries->device();
  const StreamRef& stream = device.stream();
  const DType dtype = x ? x->dtype : entries->dtype;
  const std::int64_t lines = starts->layout.size() - 1;
  const Array y = empty(device, {lines}, dtype);
  const std::int64_t width = lanes_of_line(device, entries->layout.size(), lines);
  const unsigned threads = 128;
  kernel_of(device, "gpulua_multiply_lines<" + device_type(entries->dtype) + ", " + device_type(dtype) + ", " +
                        device_type(starts->dtype) + ", " + std::to_string(width) + ">")
      .add(read_pointer(entries->dtype), entries->read(stream))
      .add(read_pointer(starts->dtype), places ? places->read(stream) : nullptr)
      .add(read_pointer(starts->dtype), starts->read(stream))
      .add(read_pointer(dtype), x ? x->read(stream) : nullptr)
      .add(write_pointer(dtype), y->write(stream))
      .add(lines)
      .launch(blocks_of(lines * width, threads), threads);
  for (const Array& source : {entries, places, starts, x})
    if (source) y->buffer()->depend_on(*source->buffer());
  return y;
}

Array multiply_by_matrix(const SparseLines& matrix, const Array& x) {
  OpenDevice& device = x->device();
  const StreamRef& stream = device.stream();
  const DType index = matrix.starts->dtype;
  const std::int64_t lines = matrix.count(), columns = x->layout.shape[1];
  const Array y = empty(device, {lines, columns}, x->dtype);
  if (y->layout.size() == 0) return y;
  const auto width = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(columns, warp))));
  const unsigned threads = 128;
  kernel_of(device, "gpulua_multiply_lines_by_matrix<" + device_type(matrix.entries->dtype) + ", " +
                        device_type(x->dtype) + ", " + device_type(index) + ", " + std::to_string(width) + ">")
      .add(read_pointer(matrix.entries->dtype), matrix.entries->read(stream))
      .add(read_pointer(index), matrix.places->read(stream))
      .add(read_pointer(index), matrix.starts->read(stream))
      .add(read_pointer(x->dtype), x->read(stream))
      .add(write_pointer(x->dtype), y->write(stream))
      .add(lines)
      .add(columns)
      .launch(blocks_of(lines * width, threads), threads);
  for (const Array& source : {matrix.entries, matrix.places, matrix.starts, x})
    y->buffer()->depend_on(*source->buffer());
  return y;
}

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
  const Array from = contiguous(x);
  return x->layout.ndim() == 1 ? multiply_by_vector(matrix.entries, matrix.places, matrix.starts, from)
                               : multiply_by_matrix(matrix, from);
}

Array sum_lines(const Array& entries, const Array& starts) {
  return multiply_by_vector(contiguous(entries), nullptr, starts, nullptr);
}

Array starts_of(const Array& line_of_entry, std::int64_t lines) {
  OpenDevice& device = line_of_entry->device();
  const StreamRef& stream = device.stream();
  const DType index = line_of_entry->dtype;
  const Array from = contiguous(line_of_entry), starts = empty(device, {lines + 1}, index);
  const unsigned threads = 128;
  kernel_of(device, "gpulua_starts_of_lines<" + device_type(index) + ">")
      .add(read_pointer(index), from->read(stream))
      .add(from->layout.size())
      .add(write_pointer(index), starts->write(stream))
      .add(lines)
      .launch(blocks_of(lines + 1, threads), threads);
  starts->buffer()->depend_on(*from->buffer());
  return starts;
}

Array lines_of(const Array& starts, std::int64_t count) {
  OpenDevice& device = starts->device();
  const StreamRef& stream = device.stream();
  const DType index = starts->dtype;
  const Array lines = empty(device, {count}, index);
  const unsigned threads = 128;
  kernel_of(device, "gpulua_lines_of_entries<" + device_type(index) + ">")
      .add(read_pointer(index), starts->read(stream))
      .add(starts->layout.size() - 1)
      .add(write_pointer(index), lines->write(stream))
      .add(count)
      .launch(blocks_of(count, threads), threads);
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
  const unsigned threads = 128;
  kernel.launch(blocks_of(count, threads), threads);
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
  const unsigned threads = 128;
  kernel.launch(blocks_of(lines + 1, threads), threads);
  starts->buffer()->depend_on(check);
  starts->buffer()->depend_on(*from->buffer());
  return starts;
}

}  // namespace gpulua
