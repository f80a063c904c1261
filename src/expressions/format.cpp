#include "src/expressions/format.h"

#include <vector>

#include "src/array/array.h"
#include "src/expressions/element_format.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

/// The elements to show, read from the device: a small row-major array. A truncated axis has a gap in the middle.
struct Excerpt {
  Dims shape;
  std::vector<bool> cut;           // for each axis: true when only its two ends are shown
  std::vector<std::string> texts;  // aligned texts of the elements
  std::int64_t edge;               // elements at each end of a truncated axis
};

/// Calls `read(view, position)` for each corner of the array. `position` is the corner's position in the excerpt.
template <class Read>
void for_each_corner(const Layout& layout, const Excerpt& excerpt, std::size_t axis, std::vector<IndexSpec>& specs,
                     Dims& position, const Read& read) {
  if (axis == layout.ndim()) return read(index(layout, specs), position);
  const std::int64_t extent = layout.shape[axis], edge = excerpt.edge;
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

Excerpt read_excerpt(Node& array, const PrintOptions& options) {
  Excerpt excerpt;
  const std::int64_t edge = excerpt.edge = options.edge;
  const Layout& layout = array.layout;
  for (std::int64_t extent : layout.shape) {
    excerpt.cut.push_back(layout.size() > options.threshold && extent > 2 * edge);
    excerpt.shape.push_back(excerpt.cut.back() ? 2 * edge : extent);
  }
  const Layout shown = row_major(excerpt.shape);
  std::vector<Scalar> elements(static_cast<std::size_t>(shown.size()));

  std::vector<IndexSpec> specs;
  Dims position;
  for_each_corner(layout, excerpt, 0, specs, position, [&](const Layout& corner, const Dims& at) {
    Node part(array.dtype, share(corner), array.buffer());
    std::vector<char> bytes(part.nbytes());
    download(part, bytes.data());
    const Dims strides = row_major(corner.shape).strides;
    for (std::int64_t i = 0; i < corner.size(); ++i) {
      std::int64_t rest = i, target = 0;
      for (std::size_t axis = 0; axis < corner.ndim(); ++axis) {
        target += (at[axis] + rest / strides[axis]) * shown.strides[axis];
        rest %= strides[axis];
      }
      elements[static_cast<std::size_t>(target)] =
          decode(array.dtype, bytes.data() + i * static_cast<std::int64_t>(array.itemsize()));
    }
  });
  excerpt.texts = aligned_texts(elements, options.precision);
  return excerpt;
}

/// Writes the elements in brackets. A line has at most `width` characters unless a single element is wider.
class Writer {
 public:
  explicit Writer(const Excerpt& excerpt) : excerpt_(excerpt) {}

  std::string text(std::size_t width) { return axis_text(0, width); }

 private:
  /// Lines after the first start below the first element.
  std::string axis_text(std::size_t axis, std::size_t width) {
    if (axis == excerpt_.shape.size()) return excerpt_.texts[next_++];
    const std::size_t indent = axis + 1;
    const bool innermost = indent == excerpt_.shape.size();
    const std::string separator = std::string(excerpt_.shape.size() - indent, '\n') + std::string(indent, ' ');
    std::string text(axis, ' ');
    text += '[';
    std::size_t start = 0;  // of the line
    const auto add = [&](const std::string& word, bool first) {
      if (!first && !innermost) {
        text += separator;
      } else if (!first && text.size() - start + 1 + word.size() + 1 > width) {
        text.erase(text.find_last_not_of(' ') + 1);
        text += '\n';
        start = text.size();
        text.append(indent, ' ');
      } else if (!first) {
        text += ' ';
      }
      text += word;
    };
    for (std::int64_t i = 0; i < excerpt_.shape[axis]; ++i) {
      if (excerpt_.cut[axis] && i == excerpt_.edge) add("...", false);
      add(axis_text(axis + 1, width - 1), i == 0);
    }
    return text.substr(axis) + ']';
  }

  const Excerpt& excerpt_;
  std::size_t next_ = 0;
};

}  // namespace

std::string format(Node& array, const PrintOptions& options) {
  std::string out = type_text(array) + " " + array.device().name();
  if (array.freed()) return out + " (freed)";
  const Excerpt excerpt = read_excerpt(array, options);
  out += array.layout.ndim() == 0 ? " " : "\n";
  return out + (array.layout.size() == 0 ? "[]" : Writer(excerpt).text(options.width));
}

}  // namespace gpulua
