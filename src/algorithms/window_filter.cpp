#include "src/algorithms/window_filter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>
#include <vector>

#include "src/algorithms/library_kernel.h"
#include "src/base/scalar.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

constexpr std::int64_t warp = 32;
constexpr std::int64_t most_threads = 128;
constexpr std::int64_t most_rows = 32;  // that a thread goes down; its first elements read rows that no others need
constexpr std::int64_t least_rows = 4;
constexpr std::int64_t most_turns = 8;            // elements of a thread, for windows of any size
constexpr std::int64_t most_in_text = 15;         // rows and columns of windows with code of their own
constexpr std::int64_t most_sorted = 9;           // rows and columns, of networks
constexpr std::int64_t most_near = 4;             // colours
constexpr unsigned resident = 4;                  // blocks of a multiprocessor
constexpr std::int64_t most_positions = 1 << 28;  // of an axis and of a line, so that an int holds a few of them

struct Axis {
  std::int64_t extent = 1, size = 1, before = 0;
};

/// The array as planes of rows of columns, each of `inner` elements.
struct Frame {
  std::int64_t outer = 1;
  Axis planes, rows, columns;
  std::int64_t inner = 1;

  std::int64_t line() const { return columns.extent * inner; }
};

/// The axes that matter. None where the kernels do not take the window, or a line is shorter than a warp.
std::optional<Frame> frame_of(const Dims& shape, const Window& window) {
  std::vector<Axis> axes;
  Frame frame;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (window.sizes[i] > 1) {
      if (frame.inner > 1 && !axes.empty()) return std::nullopt;
      axes.push_back({shape[i], window.sizes[i], window.before[i]});
      if (axes.back().size > most_positions) return std::nullopt;
    } else {
      (axes.empty() ? frame.outer : frame.inner) *= shape[i];
    }
  }
  if (axes.empty()) {
    frame.columns.extent = frame.outer;
    frame.outer = 1;
  } else if (axes.size() == 1 && frame.inner >= warp) {
    frame.rows = axes[0];
    frame.columns.extent = frame.inner;
    frame.inner = 1;
  } else if (axes.size() == 1) {
    frame.rows.extent = frame.outer;
    frame.outer = 1;
    frame.columns = axes[0];
  } else if (axes.size() <= 3) {
    frame.columns = axes.back();
    frame.rows = axes[axes.size() - 2];
    if (axes.size() == 3) frame.planes = axes[0];
  } else {
    return std::nullopt;
  }
  const std::int64_t longest =
      std::max({frame.planes.extent, frame.rows.extent, frame.line(), frame.columns.size * frame.inner});
  return longest <= most_positions && frame.line() >= warp ? std::optional(frame) : std::nullopt;
}

/// A launch of a kernel of window_filter.cuh or window_ranks.cuh. Its first arguments are those that all of them have.
class Filter {
 public:
  Filter(const Array& x, const Array& to, const Window& window, const Frame& frame)
      : device_(x->device()), window_(window), frame_(frame), from_(contiguous(x)), to_(to) {
    const auto lanes = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(frame.line())));
    threads_ = device_.info().block_is_warp ? warp : std::min(lanes, most_threads);
  }

  /// The kernel reads an array of the window's sizes, too, which can be null, by pointers of that type.
  Filter& with(const Array& array, const std::string& type) {
    beside_ = array ? contiguous(array) : nullptr;
    beside_type_ = type;
    return *this;
  }

  /// A kernel with code for the window's rows and columns. `more`: the rest of the template arguments.
  void run_of_size(const std::string& function, const std::string& more = {}) const {
    std::int64_t height = most_rows;
    while (height > least_rows && blocks(height) < 8 * device_.info().multiprocessors) height /= 2;
    const std::int64_t near = frame_.inner <= most_near ? frame_.inner : 0;
    run(function + ", " + std::to_string(frame_.rows.size) + ", " + std::to_string(frame_.columns.size) + ", " +
            std::to_string(near) + more + ">",
        height, {height});
  }

  /// A kernel for windows of any size.
  void run_of_any(const std::string& function) const {
    const std::int64_t height = frame_.rows.extent >= most_turns ? most_turns : 1;
    run(function + ", " + (frame_.columns.size == 1 ? "true" : "false") + ", " + std::to_string(height) + ">", height,
        {frame_.planes.extent, frame_.planes.before, frame_.planes.size, frame_.rows.size, frame_.columns.size});
  }

 private:
  /// `height`: the rows of a thread. `more`: the last arguments.
  void run(const std::string& function, std::int64_t height, std::initializer_list<std::int64_t> more) const {
    LibraryKernel kernel(device_, {"window_filter.cuh", "window_ranks.cuh"}, function);
    const auto add = [&](std::int64_t number) { kernel.add(static_cast<std::int32_t>(number)); };
    kernel.in(from_);
    if (!beside_type_.empty()) kernel.in(beside_, beside_type_);
    kernel.out(to_);
    for (const std::int64_t extent : {frame_.rows.extent, frame_.columns.extent, frame_.inner}) add(extent);
    for (const std::int64_t before : {frame_.rows.before, frame_.columns.before}) add(before);
    kernel.add(static_cast<std::int32_t>(window_.border)).add(window_.number);
    for (const std::int64_t number : more) add(number);
    kernel.launch(blocks(height), static_cast<unsigned>(threads_), resident);
  }

  std::int64_t blocks(std::int64_t height) const {
    return frame_.outer * frame_.planes.extent * ((frame_.rows.extent + height - 1) / height) *
           ((frame_.line() + threads_ - 1) / threads_);
  }

  OpenDevice& device_;
  const Window& window_;
  const Frame& frame_;
  Array from_, to_, beside_;
  std::string beside_type_;
  std::int64_t threads_;
};

/// Throws Error for a number beyond the borders that the dtype does not hold. Any is one for bool.
void check_number(const Window& window, DType dtype) {
  if (window.border != WindowBorder::constant) return;
  if (dtype == DType::boolean) dtype = DType::uint8;
  std::array<char, sizeof(double)> bytes{};
  check_stored(dtype, window.number);
  encode(dtype, window.number, bytes.data());
}

/// The types of elements and of what is compared in their place, as template arguments.
std::string compared_types(DType dtype) {
  DType compared = dtype;
  if (compared == DType::boolean)
    compared = DType::uint8;
  else if (info(compared).kind == DTypeKind::floating)
    compared = compared == DType::float64 ? compared : DType::float32;
  else if (size_of(compared) < sizeof(std::int32_t))
    compared = DType::int32;
  return "<" + device_type(dtype) + ", " + device_type(compared);
}

bool has_network(const Frame& frame) {
  return frame.planes.size == 1 && std::max(frame.rows.size, frame.columns.size) <= most_sorted;
}

}  // namespace

Array window_sums(const Array& x, const Array& weights, const Window& window) {
  const std::optional<Frame> frame = frame_of(x->layout.shape, window);
  if (!frame) return nullptr;
  check_number(window, weights->dtype);
  const Array sums = empty(x->device(), x->layout.shape, weights->dtype);
  Filter filter(x, sums, window, *frame);
  filter.with(weights, read_pointer(weights->dtype));
  const std::string types = "<" + device_type(x->dtype) + ", " + device_type(weights->dtype);
  const auto [least, most] = std::minmax(frame->rows.size, frame->columns.size);
  if (frame->planes.size == 1 && least > 1 && most <= most_in_text)
    filter.run_of_size("gpulua_window_sums" + types);
  else
    filter.run_of_any("gpulua_window_sums_of_any" + types);
  return sums;
}

Array window_ranks(const Array& x, std::int64_t rank, const Window& window) {
  const std::optional<Frame> frame = frame_of(x->layout.shape, window);
  if (!frame || !has_network(*frame)) return nullptr;
  check_number(window, x->dtype);
  const Array ranked = empty(x->device(), x->layout.shape, x->dtype);
  Filter(x, ranked, window, *frame)
      .run_of_size("gpulua_window_ranks" + compared_types(x->dtype), ", " + std::to_string(rank));
  return ranked;
}

Array window_extremes(const Array& x, bool greatest, const Array& footprint, const Window& window) {
  const std::optional<Frame> frame = frame_of(x->layout.shape, window);
  if (!frame) return nullptr;
  if (!footprint && has_network(*frame))
    return window_ranks(x, greatest ? frame->rows.size * frame->columns.size - 1 : 0, window);
  check_number(window, x->dtype);
  const Array found = empty(x->device(), x->layout.shape, x->dtype);
  Filter(x, found, window, *frame)
      .with(footprint, read_pointer(DType::boolean))
      .run_of_any("gpulua_window_extremes" + compared_types(x->dtype) + (greatest ? ", true" : ", false") +
                  (footprint ? ", true" : ", false"));
  return found;
}

}  // namespace gpulua
