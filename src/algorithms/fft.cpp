#include "src/algorithms/fft.h"

#include <algorithm>
#include <bit>
#include <string>

#include "src/algorithms/library_kernel.h"
#include "src/array/uses.h"

namespace gpulua {

namespace {

/// The type of the parts of complex numbers.
std::string part_type(const Array& array) {
  return array->dtype == DType::complex128 || array->dtype == DType::float64 ? "double" : "float";
}

/// A core has the rows of a block in its cache, a GPU in shared memory.
bool is_core(const OpenDevice& device) {
  return device.info().block_is_warp;
}

/// The radices that a kernel has code for, four bits each: 2, 4 and 8; with 3 or 5 among the factors both; and the
/// larger ones among them. So few kernels serve many lengths, and large radices are compiled only where they are used.
std::uint32_t radices(std::int64_t factors) {
  std::uint32_t small = 0x248, bits = 12, large = 0;
  for (; factors != 0; factors >>= 4) {
    const auto factor = static_cast<std::uint32_t>(factors & 15);
    if (factor == 3 || factor == 5) small = 0x24835, bits = 20;
    if ((factor == 7 || factor > 8) && factor != (large & 15)) large = large << 4 | factor;
  }
  return large << bits | small;
}

/// As kernels/fft.cuh: gpulua_fft_rows::lines().
std::int64_t core_lines(std::int64_t slots) {
  return slots + slots / 32;
}

/// The layout in kernels/fft.cuh of rows. `count` elements of each row are read, or written.
const char* layout(bool core, std::int64_t count, std::int64_t step, std::int64_t to_row) {
  if (step == 1) return core && count % 64 == 0 ? "gpulua_fft_along_competing" : "gpulua_fft_along";
  return to_row == 1 ? "gpulua_fft_across" : "gpulua_fft_apart";
}

/// A launch with the arguments that all kernels have in front and at the end.
class RowsLaunch {
 public:
  struct Elements {
    std::int64_t in, out, slots;  // of a row: read, written, and in a block's memory
  };

  /// `mode`: a parameter of the function's, with a comma, or nothing.
  RowsLaunch(const char* function, const FftRows& rows, const Elements& elements, const std::string& mode)
      : rows_(rows),
        device_(rows.out->device()),
        core_(is_core(device_)),
        type_(part_type(rows.out)),
        bytes_((core_ ? core_lines(elements.slots) : elements.slots) * rows.width * (type_ == "double" ? 16 : 8)),
        kernel_(device_, {"butterflies.cuh", "fft.cuh"},
                std::string(function) + "<" + type_ + ", " + std::to_string(radices(rows.factors)) + "u, " + mode +
                    layout(core_, elements.in, rows.in_step, rows.axes[0].in) + ", " +
                    layout(core_, elements.out, rows.out_step, rows.axes[0].out) + (core_ ? ", true>" : ", false>")) {
    blocks_ = (rows.axes[0].extent + rows.width - 1) / rows.width;
    for (std::size_t i = 1; i < rows.axes.size(); ++i) blocks_ *= rows.axes[i].extent;
    // Each core goes through several rows in the same memory.
    if (core_) {
      blocks_ = std::min<std::int64_t>(blocks_, 4 * device_.info().multiprocessors);
      // In few sizes, so that transforms of many lengths use the same memory.
      scratch_ = new_buffer(device_, std::bit_ceil(static_cast<std::size_t>(blocks_ * bytes_)));
    }
    const std::string pointer = type_ + "* __restrict__";
    read(rows.in);
    kernel_.overwrite(rows.out, pointer).add(pointer, scratch_ ? scratch_->write(device_.stream()) : nullptr);
    read(rows.roots);
  }

  /// Appends a table of real numbers, which may be null.
  void read(const Array& table) { kernel_.in(table, "const " + type_ + "* __restrict__"); }
  LibraryKernel& kernel() { return kernel_; }

  void launch() {
    kernel_.add(rows_.inverse).add(rows_.in_step).add(rows_.out_step);
    for (const FftAxis& axis : rows_.axes) kernel_.add(axis.extent).add(axis.in).add(axis.out);
    // A core's are those of a group of rows (kernels/fft.cuh).
    unsigned threads = !core_ ? 32 : type_ == "double" ? 8 : 16;
    // An eighth of the elements have a group of their own in a pass of radix 8.
    while (!core_ && threads < 256 && threads * 8 < static_cast<std::int64_t>(rows_.n) * rows_.width) threads *= 2;
    kernel_.launch(blocks_, threads, 0, core_ ? 0 : static_cast<std::size_t>(bytes_));
  }

 private:
  const FftRows& rows_;
  OpenDevice& device_;
  bool core_;
  std::string type_;
  std::int64_t bytes_;
  LibraryKernel kernel_;
  std::int64_t blocks_ = 0;
  BufferRef scratch_;
};

}  // namespace

FftBlock fft_block(const OpenDevice& device) {
  if (is_core(device)) return {1 << 20, 32};
  return {32 << 10, 0};
}

void transform_rows(const FftRows& rows, const Array& places, FftMode mode, const FftRoots& roots) {
  const std::int64_t n = rows.n;
  RowsLaunch launch("gpulua_fft", rows,
                    {mode == FftMode::to_real ? n + 1 : n, mode == FftMode::real ? n + 1 : n, n + 1},
                    std::to_string(static_cast<int>(mode)) + ", ");
  launch.kernel().in(places, "const int* __restrict__");
  launch.read(roots.coarse);
  launch.read(roots.fine);
  launch.kernel().add(roots.bits).add(rows.factors).add(rows.n).add(rows.width);
  launch.launch();
}

void transform_rows_by_chirp(const FftRows& rows, const Array& chirp, const Array& spectrum, std::int32_t count) {
  RowsLaunch launch("gpulua_fft_chirp", rows, {count, count, rows.n}, "");
  launch.read(chirp);
  launch.read(spectrum);
  launch.kernel().add(rows.factors).add(rows.n).add(count).add(rows.width);
  launch.launch();
}

void join_halves(const Array& in, const Array& out, const FftRoots& roots, std::int64_t h, std::int64_t rows,
                 bool join) {
  OpenDevice& device = out->device();
  const std::string type = part_type(out), table = "const " + type + "*";
  const unsigned threads = is_core(device) ? 32 : 256;
  const std::int64_t of_row = h / 2 + 1;
  LibraryKernel(device, {"butterflies.cuh", "fft.cuh"}, "gpulua_fft_halves<" + type + ">")
      .in(in, table)
      .overwrite(out, type + "*")
      .in(roots.coarse, table)
      .in(roots.fine, table)
      .add(roots.bits)
      .add(h)
      .add(join ? h + 1 : h)
      .add(join ? h : h + 1)
      .add(of_row)
      .add(join)
      .launch((of_row + threads - 1) / threads * rows, threads);
}

void transform_by_library(FftPlan& plan, const Array& in, const Array& out) {
  OpenDevice& device = out->device();
  const StreamRef& stream = device.stream();
  // Memory of the pool, which goes back in the stream's order: plans of any sizes share it.
  const BufferRef work = plan.work_bytes() > 0 ? new_buffer(device, plan.work_bytes()) : nullptr;
  Uses uses(device);
  const char* const from = uses.in(in);
  char* const to = uses.overwrite(out);
  void* const scratch = work ? work->write(stream) : nullptr;
  device.run_library("fft", *stream, [&] { plan.run(from, to, scratch, *stream); });
}

}  // namespace gpulua
