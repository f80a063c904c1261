#include "src/algorithms/sparse_pair.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <variant>
#include <vector>

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

/// A kernel on the lines of two matrices.
class PairKernel {
 public:
  PairKernel(const SparseLines& a, const SparseLines& b, const std::string& function)
      : sources_{a.entries, a.places, a.starts, b.entries, b.places, b.starts},
        stream_(a.starts->device().stream()),
        kernel_(a.starts->device(), {"complex.cuh", "indexed.cuh", "sparse.cuh", "sparse_pairs.cuh"}, function) {}

  /// Adds the places and starts, and the entries where the kernel needs them.
  PairKernel& add_operands(bool with_entries) {
    for (std::size_t i = 0; i < sources_.size(); ++i)
      if (with_entries || i % 3 > 0) add(sources_[i]);
    return *this;
  }
  PairKernel& add(const Array& source) {
    kernel_.add(read_pointer(source->dtype), source->read(stream_));
    if (std::ranges::find(sources_, source) == sources_.end()) sources_.push_back(source);
    return *this;
  }
  PairKernel& add_result(const Array& result) {
    kernel_.add(write_pointer(result->dtype), result->write(stream_));
    results_.push_back(result);
    return *this;
  }
  template <class Number>
  PairKernel& add_number(Number number) {
    kernel_.add(number);
    return *this;
  }

  void launch(std::int64_t blocks, unsigned block_threads) {
    kernel_.launch(blocks, block_threads);
    for (const Array& result : results_)
      for (const Array& source : sources_) result->buffer()->depend_on(*source->buffer());
  }
  void launch_for(std::int64_t items) {
    constexpr unsigned each = 128;
    launch((items + each - 1) / each, each);
  }

 private:
  std::vector<Array> sources_, results_;
  const StreamRef& stream_;
  LibraryKernel kernel_;
};

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
  pair.a_entries = a.entries->read(stream), pair.a_places = a.places->read(stream);
  pair.b_entries = b.entries->read(stream), pair.b_places = b.places->read(stream);
  pair.a_starts = a.starts->read(stream), pair.b_starts = b.starts->read(stream);
  const Array all_starts = empty(device, {pair.lines + 1}, DType::int64);
  pair.counted_starts = reinterpret_cast<std::int64_t*>(all_starts->write(stream));
  library->count_pair(pair, *stream);
  const std::int64_t count = last_of(all_starts);
  if (pair.index == DType::int32 && count > std::numeric_limits<std::int32_t>::max())
    return multiply_pair(with_wide_positions(a), with_wide_positions(b), width);
  SparseLines product{empty(device, {count}, pair.dtype), empty(device, {count}, pair.index),
                      cast(all_starts, pair.index)};
  pair.starts = product.starts->read(stream);
  pair.places = product.places->write(stream), pair.entries = product.entries->write(stream);
  library->multiply_pair(pair, *stream);
  for (const Array& result : {product.entries, product.places, product.starts})
    for (const Array& source : {a.entries, a.places, a.starts, b.entries, b.places, b.starts})
      result->buffer()->depend_on(*source->buffer());
  return product;
}

bool ascends(const SparseLines& lines) {
  OpenDevice& device = lines.starts->device();
  const std::int64_t count = lines.places->layout.size();
  const Array found = full(device, {1}, DType::int32, std::int64_t{0});
  PairKernel(lines, lines, "gpulua_find_descent<" + device_type(lines.starts->dtype) + ">")
      .add(lines.places)
      .add(lines.starts)
      .add_number(lines.count())
      .add_number(count)
      .add_result(found)
      .launch_for(count);
  std::int32_t descends = 0;
  download(*found, &descends);
  return descends == 0;
}

Array count_pair(const SparseLines& a, const SparseLines& b, int few) {
  const Array counts = empty(a.starts->device(), {a.count()}, DType::int64);
  PairKernel(a, b, "gpulua_count_pair<" + device_type(a.starts->dtype) + text_of_few(few))
      .add_operands(false)
      .add_result(counts)
      .add_number(a.count())
      .add_number(few > 0)
      .launch_for(a.count());
  return counts;
}

void count_marked(const SparseLines& a, const SparseLines& b, const MarkedLines& lines, const Array& counts) {
  const BlockShape shape = shape_of(lines);
  PairKernel(a, b, "gpulua_count_sorted<" + device_type(a.starts->dtype) + arguments_of(shape))
      .add_operands(false)
      .add(lines.list)
      .add_result(counts)
      .launch(lines.list->layout.size(), shape.threads);
}

void multiply_counted(const SparseLines& a, const SparseLines& b, int few, const Array& counts,
                      const SparseLines& product) {
  PairKernel(
      a, b,
      "gpulua_multiply_pair<" + device_type(a.entries->dtype) + ", " + device_type(a.starts->dtype) + text_of_few(few))
      .add_operands(true)
      .add(counts)
      .add(product.starts)
      .add_result(product.places)
      .add_result(product.entries)
      .add_number(a.count())
      .launch_for(a.count());
}

void multiply_marked(const SparseLines& a, const SparseLines& b, const MarkedLines& lines, const SparseLines& product) {
  const BlockShape shape = shape_of(lines);
  PairKernel(a, b,
             "gpulua_multiply_sorted<" + device_type(a.entries->dtype) + ", " + device_type(a.starts->dtype) +
                 arguments_of(shape))
      .add_operands(true)
      .add(lines.list)
      .add(product.starts)
      .add_result(product.places)
      .add_result(product.entries)
      .launch(lines.list->layout.size(), shape.threads);
}

}  // namespace gpulua
