#include "src/core/overlap.h"

#include <string>

#include "src/core/error.h"

namespace gpulua {

namespace {

bool same_elements(const Layout& a, const Layout& b) {
  return a.offset == b.offset && a.shape == b.shape && a.strides == b.strides;
}

}  // namespace

bool overlaps(const Node& to, const Node& from, const Layout& source) {
  if (from.pending() || to.buffer() != from.buffer()) return false;
  if (same_elements(to.layout, source) && to.itemsize() == from.itemsize()) return false;
  const Extent a = extent(to.layout), b = extent(source);
  const auto bytes = [](std::int64_t position, const Node& node) {
    return position * static_cast<std::int64_t>(node.itemsize());
  };
  return bytes(a.begin, to) < bytes(b.end, from) && bytes(b.begin, from) < bytes(a.end, to);
}

void check_writable(const Node& array, const char* op) {
  if (array.layout.overlaps_itself())
    throw Error("[" + std::string(op) + "] expected an array to write to, got a broadcast view of shape " +
                to_string(array.layout.shape) + ", where several indices are one element; x:copy() makes one to write");
}

}  // namespace gpulua
