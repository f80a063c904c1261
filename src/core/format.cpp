// What print(array) shows.

#include <algorithm>
#include <cstdio>
#include <vector>

#include "src/core/array.h"

namespace gpulua {

namespace {

constexpr std::int64_t whole_limit = 1000;  // arrays up to so many elements are shown whole, as in NumPy
constexpr std::int64_t edge = 3;            // else so many at each end of an axis

/// The elements to show, read from the device: a small row-major array, with a gap in the middle of the axes cut short.
struct Excerpt {
  Dims shape;
  std::vector<bool> cut;           // for each axis: true when only its two ends are here
  std::vector<std::string> texts;  // of the elements
  std::size_t width = 0;           // of the longest
};

std::string element_text(const Scalar& value) {
  char text[64];
  if (const auto* real = std::get_if<double>(&value)) {
    std::snprintf(text, sizeof text, "%.6g", *real);
    return text;
  }
  if (const auto* z = std::get_if<std::complex<double>>(&value)) {
    std::snprintf(text, sizeof text, "%.6g%+.6gi", z->real(), z->imag());
    return text;
  }
  return to_string(value);
}

/// Calls `read(view, position)` for each corner of the array, where `position` is the corner's place in the excerpt.
template <class Read>
void for_each_corner(const Layout& layout, const Excerpt& excerpt, std::size_t axis, std::vector<IndexSpec>& specs,
                     Dims& position, const Read& read) {
  if (axis == layout.ndim()) return read(index(layout, specs), position);
  const std::int64_t extent = layout.shape[axis];
  const int ends = excerpt.cut[axis] ? 2 : 1;
  for (int end = 0; end < ends; ++end) {
    IndexSpec spec;
    spec.count = excerpt.cut[axis] ? edge : extent;
    spec.first = end == 0 ? 0 : extent - edge;
    specs.push_back(spec);
    position.push_back(end * edge);
    for_each_corner(layout, excerpt, axis + 1, specs, position, read);
    specs.pop_back();
    position.pop_back();
  }
}

Excerpt read_excerpt(const Node& array) {
  Excerpt excerpt;
  const Layout& layout = array.layout;
  for (std::int64_t extent : layout.shape) {
    excerpt.cut.push_back(layout.size() > whole_limit && extent > 2 * edge);
    excerpt.shape.push_back(excerpt.cut.back() ? 2 * edge : extent);
  }
  const Layout shown = row_major(excerpt.shape);
  excerpt.texts.resize(static_cast<std::size_t>(shown.size()));

  std::vector<IndexSpec> specs;
  Dims position;
  for_each_corner(layout, excerpt, 0, specs, position, [&](const Layout& corner, const Dims& at) {
    const Node part{array.dtype, corner, array.buffer()};
    std::vector<char> bytes(part.nbytes());
    download(part, bytes.data());
    const Dims strides = row_major(corner.shape).strides;
    for (std::int64_t i = 0; i < corner.size(); ++i) {
      std::int64_t rest = i, target = 0;
      for (std::size_t axis = 0; axis < corner.ndim(); ++axis) {
        target += (at[axis] + rest / strides[axis]) * shown.strides[axis];
        rest %= strides[axis];
      }
      std::string& text = excerpt.texts[static_cast<std::size_t>(target)];
      text = element_text(decode(array.dtype, bytes.data() + i * static_cast<std::int64_t>(array.itemsize())));
      excerpt.width = std::max(excerpt.width, text.size());
    }
  });
  return excerpt;
}

void write_axis(const Excerpt& excerpt, std::size_t axis, std::size_t& next, std::string& out) {
  if (axis == excerpt.shape.size()) {
    const std::string& text = excerpt.texts[next++];
    out.append(excerpt.width - text.size(), ' ').append(text);
    return;
  }
  const bool innermost = axis + 1 == excerpt.shape.size();
  const std::string separator =
      innermost ? " " : std::string(excerpt.shape.size() - axis - 1, '\n') + std::string(axis + 1, ' ');
  out += '[';
  for (std::int64_t i = 0; i < excerpt.shape[axis]; ++i) {
    if (i > 0) out += separator;
    if (excerpt.cut[axis] && i == edge) out += "..." + separator;
    write_axis(excerpt, axis + 1, next, out);
  }
  out += ']';
}

}  // namespace

std::string type_text(const Node& array) {
  std::string text = std::string(name(array.dtype)) + "[";
  for (std::size_t axis = 0; axis < array.layout.ndim(); ++axis)
    text += (axis > 0 ? "x" : "") + std::to_string(array.layout.shape[axis]);
  return text + "]";
}

std::string format(const Node& array) {
  std::string out = type_text(array) + " " + array.device().name();
  if (array.freed()) return out + " (freed)";
  const Excerpt excerpt = read_excerpt(array);
  out += array.layout.ndim() == 0 ? " " : "\n";
  std::size_t next = 0;
  write_axis(excerpt, 0, next, out);
  return out;
}

}  // namespace gpulua
