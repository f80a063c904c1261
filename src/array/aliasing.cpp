#include "src/array/aliasing.h"

#include <string>

#include "src/array/node_observer.h"
#include "src/base/error.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

bool same_elements(const Layout& a, const Layout& b) {
  return a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

/// The range of bytes in the buffer that the layout's elements lie in.
Extent byte_extent(Node& node, const Layout& layout) {
  const Extent elements = extent(layout);
  const auto itemsize = static_cast<std::int64_t>(node.itemsize());
  return {elements.begin * itemsize, elements.end * itemsize};
}

}  // namespace

bool may_overlap(Node& a, Node& b) {
  if (&a == &b) return true;
  if (a.pending() || b.pending() || a.buffer() != b.buffer()) return false;
  const Extent x = byte_extent(a, a.layout), y = byte_extent(b, b.layout);
  return x.begin < y.end && y.begin < x.end;
}

bool overlaps(Node& to, Node& from, const Layout& source) {
  if (from.pending() || to.buffer() != from.buffer()) return false;
  if (same_elements(to.layout, source) && to.itemsize() == from.itemsize()) return false;
  const Extent a = byte_extent(to, to.layout), b = byte_extent(from, source);
  return a.begin < b.end && b.begin < a.end;
}

void note_write(Node& array, Node* value) {
  if (NodeObserver* observer = array.device().context().observer) observer->written(array, value);
}

void check_writable(Node& array, const char* op, Node* value) {
  if (NodeObserver* observer = array.device().context().observer) observer->check_write(array, value, op);
  if (array.layout.overlaps_itself())
    throw Error(
        "[{}] expected an array to write to, got a broadcast view of shape {}, where several indices are one element; "
        "x:copy() makes one to write",
        op, to_string(array.layout.shape));
}

}  // namespace gpulua
