#pragma once

// Shapes and strides: where the elements of a dense array, or of a view of one, lie in its buffer. No device, no dtype:
// strides and offsets count elements.

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

/// A number for each axis. Few arrays have more than four axes, and those that have fewer need no memory of their own.
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
  /// True iff the elements lie one after the other in row-major order, wherever the first is.
  bool contiguous() const;
  /// True when several indices mean one element, so that a write has no one meaning; it may be true for strides that no
  /// indexing of a dense array makes.
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

/// The view that the specs select: missing ones take the whole axis. Positions have been checked against the shape.
Layout index(const Layout& layout, std::span<const IndexSpec> specs);
Layout transpose(const Layout& layout);
/// The same elements in another shape without moving them, where the strides allow it.
std::optional<Layout> reshape(const Layout& layout, const Dims& shape);
/// Throws the Error of shapes that do not broadcast: it shows them, the axis where they differ and, for a shape that
/// fits as leading axes, the call that makes them so.
[[noreturn]] void refuse_broadcast(std::string_view op, std::span<const Dims* const> shapes);
/// Throws Error: "[broadcast_to] operands could not be broadcast together with shapes (2,3) (2,4)", with `op` in
/// brackets.
Layout broadcast_to(const Layout& layout, const Dims& shape, std::string_view op = "broadcast_to");
/// The first and one past the last position in the buffer that the layout touches; equal for an empty one.
struct Extent {
  std::int64_t begin = 0, end = 0;
};
Extent extent(const Layout& layout);

/// "(2,3)", as error messages write shapes.
std::string to_string(const Dims& shape);

}  // namespace gpulua
