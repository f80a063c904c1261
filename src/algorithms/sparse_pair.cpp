#include "src/algorithms/sparse_pair.h"

#include <cstdint>
#include <limits>
#include <variant>

#include "src/algorithms/library_kernel.h"
#include "src/expressions/creation.h"
#include "src/expressions/expression.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

SparseLines with_wide_positions(const SparseLines& lines) {
  return {lines.entries, cast(lines.places, DType::int64), cast(lines.starts, DType::int64)};
}

std::int64_t last_of(const Array& integers) {
  Layout last = row_major({1});
  last.offset = integers->layout.offset + integers->layout.size() - 1;
  return std::get<std::int64_t>(item(*view(integers, last)));
}

LibraryKernel pair_kernel(OpenDevice& device, const std::string& function) {
  return {device, {"complex.cuh", "indexed.cuh", "sparse.cuh", "sparse_pairs.cuh"}, function};
}

void add_positions(LibraryKernel& kernel, const SparseLines& a, const SparseLines& b) {
  kernel.in(a.places).in(a.starts).in(b.places).in(b.starts);
}
void add_operands(LibraryKernel& kernel, const SparseLines& a, const SparseLines& b) {
  kernel.in(a.entries).in(a.places).in(a.starts).in(b.entries).in(b.places).in(b.starts);
}

void launch_for(LibraryKernel& kernel, std::int64_t items) {
  constexpr unsigned each = 128;
  kernel.launch((items + each - 1) / each, each);
}

std::string types_of(const SparseLines& lines) {
  return "<" + device_type(lines.entries->dtype) + ", " + device_type(lines.starts->dtype);
}
std::string text_of_few(int few) {
  return few > 8 ? ", 16>" : ", 8>";
}

/// How a block finds a line: the most terms, and its threads.
struct BlockShape {
  unsigned most, threads;
};
BlockShape shape_of(const MarkedLines& lines) {
  return lines.mark == -1 ? BlockShape{512, 64} : BlockShape{4096, 256};
}
std::string arguments_of(const BlockShape& shape) {
  return ", " + std::to_string(shape.most) + ", " + std::to_string(shape.threads) + ">";
}

}  // namespace

std::optional<SparseLines> multiply_pair(const SparseLines& a, const SparseLines& b, std::int64_t width) {
  OpenDevice& device = a.starts->device();
  Sparse* const library = device.device().sparse();
  if (!library) return std::nullopt;
  const StreamRef& stream = device.stream();
  SparsePair pair;
  pair.dtype = a.entries->dtype;
  pair.index = a.starts->dtype;
  pair.lines = a.count();
  pair.width = width;
  Uses uses(device);
  pair.a_entries = uses.in(a.entries), pair.a_places = uses.in(a.places), pair.a_starts = uses.in(a.starts);
  pair.b_entries = uses.in(b.entries), pair.b_places = uses.in(b.places), pair.b_starts = uses.in(b.starts);
  const Array all_starts = empty(device, {pair.lines + 1}, DType::int64);
  pair.counted_starts = reinterpret_cast<std::int64_t*>(uses.out(all_starts));
  device.run_library("count sparse product", *stream, [&] { library->count_pair(pair, *stream); });
  const std::int64_t count = last_of(all_starts);
  if (pair.index == DType::int32 && count > std::numeric_limits<std::int32_t>::max())
    return multiply_pair(with_wide_positions(a), with_wide_positions(b), width);
  SparseLines product{empty(device, {count}, pair.dtype), empty(device, {count}, pair.index),
                      cast(all_starts, pair.index)};
  pair.starts = uses.in(product.starts);
  pair.places = uses.out(product.places), pair.entries = uses.out(product.entries);
  device.run_library("multiply sparse pair", *stream, [&] { library->multiply_pair(pair, *stream); });
  return product;
}

bool ascends(const SparseLines& lines) {
  OpenDevice& device = lines.starts->device();
  const std::int64_t count = lines.places->layout.size();
  const Array found = full(device, {1}, DType::int32, std::int64_t{0});
  LibraryKernel kernel = pair_kernel(device, "gpulua_find_descent<" + device_type(lines.starts->dtype) + ">");
  kernel.in(lines.places).in(lines.starts).add(lines.count()).add(count).in_out(found);
  launch_for(kernel, count);
  std::int32_t descends = 0;
  download(*found, &descends);
  return descends == 0;
}

Array count_pair(const SparseLines& a, const SparseLines& b, int few) {
  OpenDevice& device = a.starts->device();
  const Array counts = empty(device, {a.count()}, DType::int64);
  LibraryKernel kernel = pair_kernel(device, "gpulua_count_pair<" + device_type(a.starts->dtype) + text_of_few(few));
  add_positions(kernel, a, b);
  kernel.out(counts).add(a.count()).add(few > 0);
  launch_for(kernel, a.count());
  return counts;
}

void count_marked(const SparseLines& a, const SparseLines& b, const MarkedLines& lines, const Array& counts) {
  const BlockShape shape = shape_of(lines);
  LibraryKernel kernel =
      pair_kernel(counts->device(), "gpulua_count_sorted<" + device_type(a.starts->dtype) + arguments_of(shape));
  add_positions(kernel, a, b);
  kernel.in(lines.list).out(counts).launch(lines.list->layout.size(), shape.threads);
}

void multiply_counted(const SparseLines& a, const SparseLines& b, int few, const Array& counts,
                      const SparseLines& product) {
  LibraryKernel kernel = pair_kernel(counts->device(), "gpulua_multiply_pair" + types_of(a) + text_of_few(few));
  add_operands(kernel, a, b);
  kernel.in(counts).in(product.starts).out(product.places).out(product.entries).add(a.count());
  launch_for(kernel, a.count());
}

void multiply_marked(const SparseLines& a, const SparseLines& b, const MarkedLines& lines, const SparseLines& product) {
  const BlockShape shape = shape_of(lines);
  LibraryKernel kernel = pair_kernel(a.starts->device(), "gpulua_multiply_sorted" + types_of(a) + arguments_of(shape));
  add_operands(kernel, a, b);
  kernel.in(lines.list)
      .in(product.starts)
      .out(product.places)
      .out(product.entries)
      .launch(lines.list->layout.size(), shape.threads);
}

}  // namespace gpulua
