#pragma once

// Shapes and strides: the positions of an array's elements in its buffer. Strides and offsets count elements, so a
// layout knows neither a device nor a dtype.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

/// A number for each axis. Up to four axes need no allocation.
using Dims = boost::container::small_vector<std::int64_t, 4>;

inline constexpr std::size_t max_ndim = 64;  // as NumPy
/// The most elements that an array has, broadcast views included. Their bytes fit 64 bits in every dtype, and so does
/// what kernels round up from them; their number, and each position among them, is exact as a number of Lua.
inline constexpr std::int64_t max_elements = std::int64_t{1} << 53;

struct Layout {
  Dims shape;
  Dims strides;             // may be negative or 0 (broadcast)
  std::int64_t offset = 0;  // of the first element

  std::size_t ndim() const { return shape.size(); }
  std::int64_t size() const;
  /// True iff the elements are consecutive in row-major order. The offset does not matter.
  bool contiguous() const;
  /// True when several indices may lead to one element, so that a write would be ambiguous. It may be true for unusual
  /// strides, which indexing never makes, without such an element.
  bool overlaps_itself() const;
};

/// Number of elements. Throws Error, with `op` in brackets, for a negative extent, more than max_ndim dimensions, or
/// more than max_elements elements (of an empty shape: in the extents other than 0, whose products are strides). Every
/// array's shape has passed: its Node asks.
std::int64_t checked_size(const Dims& shape, std::string_view op = "shape");
Layout row_major(Dims shape);

/// An item of an index in basic indexing; axes and positions count from 0 here.
struct IndexSpec {
  enum class Kind { integer, slice, ellipsis, new_axis } kind = Kind::slice;
  std::int64_t first = 0;   // integer: the position. slice: the first position taken
  std::int64_t count = -1;  // slice: how many positions are taken; -1: the whole axis (first and step do not count)
  std::int64_t step = 1;

  static IndexSpec whole() { return {}; }
};

/// The view that the specs select. An axis without a spec is taken whole. The caller has checked the positions.
Layout index(const Layout& layout, std::span<const IndexSpec> specs);
Layout transpose(const Layout& layout);
/// True when elements that are neighbours in memory are neighbours along another axis than the innermost.
bool is_transposed(const Layout& layout);
/// The same elements in another shape without a copy; nothing where the strides do not allow it.
std::optional<Layout> reshape(const Layout& layout, const Dims& shape);
/// Throws the Error for shapes that do not broadcast. It shows the shapes and the axis where they differ; for a shape
/// that would fit as leading axes it shows the call that makes it so.
[[noreturn]] void refuse_broadcast(std::string_view op, std::span<const Dims* const> shapes);
/// The common shape to which the shapes broadcast. Throws Error with the two shapes that do not fit.
Dims broadcast_shapes(std::string_view op, std::span<const Dims* const> shapes);
/// Throws Error: "[broadcast_to] operands could not be broadcast together with shapes (2,3) (2,4)", with `op` in
/// brackets.
Layout broadcast_to(const Layout& layout, const Dims& shape, std::string_view op = "broadcast_to");
/// The first position in the buffer that the layout touches, and the one after the last; equal for an empty layout.
struct Extent {
  std::int64_t begin = 0, end = 0;
};
Extent extent(const Layout& layout);

/// "(2,3)": a shape in error messages.
std::string to_string(const Dims& shape);

}  // namespace gpulua
