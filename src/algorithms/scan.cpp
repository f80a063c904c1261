#include "src/algorithms/scan.h"
#include "src/expressions/creation.h"
#include "src/expressions/transfer.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/array/views.h"
#include "src/base/error.h"
#include "src/ops/reduction_table.h"

namespace gpulua {

namespace {

constexpr ScanOp scan_rows[] = {
    {"cumsum", "gpulua_scan_sum", "sum"},
    {"cumprod", "gpulua_scan_prod", "prod"},
    {"cummax", "gpulua_scan_max", "max"},
    {"cummin", "gpulua_scan_min", "min"},
};

constexpr unsigned scan_threads = 256;
constexpr std::int64_t share_bytes = 64;  // that a thread holds in registers, of the wider of input and output
/// The blocks of a scan in one pass.
struct OnePass {
  unsigned threads, resident;  // resident blocks per multiprocessor
  std::int64_t bytes;          // that a thread holds, as share_bytes
};
// Blocks wait for each other: they are large and hold many elements, so that fewer wait. Where these would be few, they
// are small, and compile in half the time.
constexpr OnePass large_blocks = {512, 2, 128}, small_blocks = {256, 4, 32};
// Minimum elements per chunk of a row, on a device whose blocks are single warps.
constexpr std::int64_t row_chunk_size = 1 << 16;

/// The shape of a scan: outer x size x inner. The scan goes along `size`.
struct Extents {
  std::int64_t outer = 1, size = 1, inner = 1;
};

class Scan {
 public:
  Scan(const ScanCode& code, OpenDevice& device, DType result, bool exclusive)
      : code_(code), device_(device), result_(result), exclusive_(exclusive) {}

  /// `from` is row-major; so is the result.
  Array run(const Array& from, const Extents& extents) {
    Array to = empty(device_, from->layout.shape, result_);
    if (to->layout.size() == 0) return to;
    from_ = from;
    to_ = to;
    extents_ = extents;
    if (extents.inner > 1)
      columns();
    else if (in_turn())
      scan_chunks();
    else if (extents.size <= 8 * warp_share() / 4 && extents.outer > 1)
      rows(32, 1, 0, nullptr);
    else if (extents.size <= 2 * scan_threads / 32 * warp_share() ||
             extents.outer >= 4 * device_.info().multiprocessors)
      rows(scan_threads, 1, 0, nullptr);
    else
      one_pass();
    return to;
  }

 private:
  /// Elements that a warp holds in registers at once. Each takes at least one register.
  std::int64_t warp_share(std::int64_t bytes = share_bytes) const {
    const std::size_t each = std::max({widest(), code_.bytes, std::size_t{4}});
    return 32 * bytes / static_cast<std::int64_t>(each);
  }
  std::size_t widest() const { return std::max(size_of(from_->dtype), size_of(result_)); }

  /// Elements that a thread reads or writes in one access.
  std::int64_t width() const {
    auto width = static_cast<std::int64_t>(std::clamp<std::size_t>(device_.info().access_bytes / widest(), 1, 8));
    while (width > 1 && ((extents_.outer > 1 && extents_.size % width != 0) || from_->layout.offset % width != 0))
      width /= 2;
    return width;
  }

  /// A warp takes one chunk of its share after the other: kernels/scan_in_turn.cuh.
  bool in_turn() const { return device_.info().block_is_warp; }

  std::string types() const { return "<" + code_.operation + ", " + device_type(from_->dtype) + ", " + code_.type; }
  std::string types_and_mode() const {
    return types() + ", " + device_type(result_) + ", " + (exclusive_ ? "true" : "false");
  }
  /// The last template arguments: the number of chunks that a thread holds, and the elements in each.
  std::string share(std::int64_t bytes = share_bytes) const {
    return ", " + std::to_string(warp_share(bytes) / 32 / width()) + ", " + std::to_string(width()) + ">";
  }

  std::string chunks() const { return ", " + std::to_string(warp_share() / 32) + ">"; }

  LibraryKernel kernel(const std::string& function) const {
    const char* more = in_turn() ? "scan_in_turn.cuh" : "scan_sweep.cuh";
    LibraryKernel kernel =
        code_.function
            ? LibraryKernel(device_,
                            {"functions.cuh", "complex.cuh", "complex_elements.cuh", "reduce.cuh", "scan.cuh", more},
                            function, code_.function)
            : LibraryKernel(device_, {"reduce.cuh", "scan.cuh", more}, function);
    kernel.in(from_);
    return kernel;
  }

  void columns() {
    const unsigned threads = device_.info().block_is_warp ? 32 : 64;
    kernel("gpulua_scan_columns" + types_and_mode() + ">")
        .out(to_)
        .add(extents_.outer)
        .add(extents_.size)
        .add(extents_.inner)
        .launch((extents_.outer * extents_.inner + threads - 1) / threads, threads);
  }

  void rows(unsigned lanes, std::int64_t row_chunks, std::int64_t row_chunk, const Array& totals) {
    const unsigned threads = std::max(lanes, device_.info().merging_threads());
    const std::int64_t items = extents_.outer * row_chunks, slots = threads / lanes;
    kernel(in_turn() ? "gpulua_scan_rows_in_turn" + types_and_mode() + chunks()
                     : "gpulua_scan_rows" + types_and_mode() + ", " + std::to_string(threads) + ", " +
                           std::to_string(lanes) + share())
        .out(to_)
        .in(totals, "const " + code_.type + "*")
        .add(extents_.outer)
        .add(extents_.size)
        .add(row_chunks == 1 ? extents_.size : row_chunk)
        .add(row_chunks)
        .launch((items + slots - 1) / slots, threads);
  }

  /// For devices that run blocks one after another, where a block cannot wait for another: the first kernel computes
  /// the total of each chunk, the second scans the chunks.
  void scan_chunks() {
    const std::int64_t enough = (8 * std::max(device_.info().multiprocessors, 1) + extents_.outer - 1) / extents_.outer;
    std::int64_t row_chunks = std::clamp<std::int64_t>(extents_.size / row_chunk_size, 1, enough);
    if (row_chunks == 1) return rows(32, 1, 0, nullptr);
    const std::int64_t tile = warp_share();
    const std::int64_t row_chunk = ((extents_.size + row_chunks - 1) / row_chunks + tile - 1) / tile * tile;
    row_chunks = (extents_.size + row_chunk - 1) / row_chunk;
    const Array totals =
        empty(device_, {extents_.outer * row_chunks * static_cast<std::int64_t>(code_.bytes)}, DType::uint8);
    kernel("gpulua_scan_totals_in_turn" + types() + chunks())
        .out(totals, code_.type + "*")
        .add(extents_.outer)
        .add(extents_.size)
        .add(row_chunk)
        .add(row_chunks)
        .launch(extents_.outer * row_chunks, 32);
    rows(32, row_chunks, row_chunk, totals);
  }

  void one_pass() {
    const auto tile_of = [&](const OnePass& pass) { return pass.threads / 32 * warp_share(pass.bytes); };
    const bool small = device_.info().has_few_tiles(extents_.outer * extents_.size, tile_of(large_blocks));
    const OnePass& pass = small ? small_blocks : large_blocks;
    const std::int64_t tile = tile_of(pass);
    const std::int64_t tiles = (extents_.size + tile - 1) / tile, groups = (tiles + 31) / 32;
    const auto words = static_cast<std::int64_t>((code_.bytes + 3) / 4);
    const std::int64_t messages = extents_.outer * (tiles + groups) * words;
    const Array scratch = full(device_, {messages + 1}, DType::uint64, std::int64_t{0});
    kernel("gpulua_scan_in_one_pass" + types_and_mode() + ", " + std::to_string(pass.threads) + share(pass.bytes))
        .out(to_)
        .add(extents_.size)
        .add(static_cast<std::uint32_t>(tiles))
        .scratch("unsigned int*", scratch)
        .scratch("unsigned long long*", scratch, 8)
        .scratch("unsigned long long*", scratch, static_cast<std::size_t>(8 * (1 + extents_.outer * tiles * words)))
        .launch(extents_.outer * tiles, pass.threads, pass.resident);
  }

  const ScanCode& code_;
  OpenDevice& device_;
  DType result_;
  bool exclusive_;
  Array from_, to_;
  Extents extents_;
};

ReductionDTypes scan_dtypes(const ScanOp& op, DType input) {
  if (info(input).kind == DTypeKind::complex && !reducer(op.reducer).complex)
    throw Error("[{}] expected real numbers, got {}", op.name, name(input));
  ReductionDTypes dtypes = reduction_dtypes(reducer(op.reducer), input);
  if (dtypes.compute == DType::float16 || dtypes.compute == DType::bfloat16) dtypes.compute = DType::float32;
  if (dtypes.compute == DType::boolean) dtypes.compute = DType::uint8;
  return dtypes;
}

}  // namespace

std::span<const ScanOp> scan_table() {
  return scan_rows;
}

const ScanOp& scan_op(std::string_view name) {
  const auto row =
      std::find_if(std::begin(scan_rows), std::end(scan_rows), [&](const ScanOp& r) { return r.name == name; });
  if (row == std::end(scan_rows)) throw std::logic_error("no scan " + std::string(name));
  return *row;
}

Array scan(const ScanOp& op, const Array& array, std::optional<std::size_t> axis, bool exclusive,
           std::optional<DType> dtype) {
  const ReductionDTypes dtypes = scan_dtypes(op, dtype.value_or(array->dtype));
  std::string type = device_type(dtypes.compute);
  std::size_t bytes = size_of(dtypes.compute);
  // Products of floating-point numbers are scanned with the marks of their factors.
  if (op.reducer == "prod" && !is_integer(dtypes.compute)) {
    type = "gpulua_marked_prod<" + type + ">";
    bytes *= 2;
  }
  const ScanCode code{std::string(op.operation) + "<" + type + ">", type, bytes};
  return scan(code, array, axis, exclusive, dtype.value_or(dtypes.result));
}

Array scan(const ScanCode& code, const Array& array, std::optional<std::size_t> axis, bool exclusive, DType dtype) {
  OpenDevice& device = array->device();
  Scan scan(code, device, dtype, exclusive);
  if (!axis) {
    const std::int64_t size = array->layout.size();
    const Array row_major_array = contiguous(array);
    Layout vector = row_major({size});
    vector.offset = row_major_array->layout.offset;
    return scan.run(view(row_major_array, vector), {1, size, 1});
  }
  Extents extents;
  const Dims& shape = array->layout.shape;
  extents.size = shape[*axis];
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (i != *axis) (i < *axis ? extents.outer : extents.inner) *= shape[i];
  // One thread per column, when the columns fill the device or are short.
  const std::int64_t enough = 512 * std::max(device.info().multiprocessors, 1);
  if (extents.inner == 1 || extents.size <= 64 || extents.outer * extents.inner >= enough)
    return scan.run(contiguous(array), extents);
  const std::size_t from[] = {*axis}, last[] = {shape.size() - 1};
  const Array rows = contiguous(view(array, move_axes(array->layout, from, last)));
  const Array result = scan.run(rows, {extents.outer * extents.inner, extents.size, 1});
  return view(result, move_axes(result->layout, last, from));
}

}  // namespace gpulua
