#ifndef GPULUA_SHAPE_HPP
#define GPULUA_SHAPE_HPP

// Shapes and strides of gpulua.hpp, which includes this.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "errors.hpp"
#include "gpulua.h"

namespace gpulua {
namespace detail {

/// Where a value goes, for messages: the number of the argument, from 1, or else the path that is set.
struct Target {
  std::size_t argument = 0;
  std::string_view path = {};
  std::string text() const {
    if (argument > 0) return " as argument " + std::to_string(argument);
    return path.empty() ? "" : " at '" + std::string(path) + "'";
  }
};

/// The integer, for the C interface.
template <class Integer>
std::int64_t to_int64(Integer from, const char* op, const Target& target = {}) {
  if constexpr (sizeof(Integer) == 8 && std::is_unsigned_v<Integer>)
    if (from > static_cast<Integer>(std::numeric_limits<std::int64_t>::max()))
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected an integer that int64_t holds" + target.text() +
                                       ", got " + std::to_string(from));
  return static_cast<std::int64_t>(from);
}

}  // namespace detail

/// The extents of an array: an integer of any type, several in braces, {rows, columns}, or a std::vector of them.
class Shape {
 public:
  template <class... Integer, class = std::enable_if_t<(std::is_integral_v<Integer> && ...)>>
  Shape(Integer... extents) : extents_{detail::to_int64(extents, "shape")...} {}
  template <class Integer, class = std::enable_if_t<std::is_integral_v<Integer>>>
  Shape(const std::vector<Integer>& extents) {
    for (const Integer extent : extents) extents_.push_back(detail::to_int64(extent, "shape"));
  }
  int ndim() const noexcept { return static_cast<int>(extents_.size()); }
  const std::int64_t* data() const noexcept { return extents_.data(); }

  /// Throws for a shape of more or fewer elements than a container has.
  void check_count(const char* op, std::size_t elements) const {
    constexpr std::uint64_t most = std::numeric_limits<std::int64_t>::max();
    std::uint64_t count = 1;
    bool is_negative = false, is_too_large = false;
    std::string text;
    for (const std::int64_t extent : extents_) {
      const auto factor = static_cast<std::uint64_t>(extent);
      is_negative = is_negative || extent < 0;
      is_too_large = is_too_large || (factor > 0 && count > most / factor);
      count *= factor;
      if (!text.empty()) text += ',';
      text += std::to_string(extent);
    }
    if (is_negative)
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected extents of 0 or more, got (" + text + ")");
    if (is_too_large)
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected a shape for the " + std::to_string(elements) +
                                       " elements that there are, got (" + text + ") for more than int64_t counts");
    if (count != elements)
      throw Error(GPULUA_ARGUMENT, std::string("[") + op + "] expected a shape for the " + std::to_string(elements) +
                                       " elements that there are, got (" + text + ") for " + std::to_string(count) +
                                       "; v.data() and a shape take a part of them");
  }

 private:
  std::vector<std::int64_t> extents_;
};

/// Bytes from each element to the next along each axis, as x.strides in Lua. Bytes, not elements: of the doubles in a
/// struct of 32 bytes Strides(32). Strides(8) is as valid, also where it means no more than no strides would: a program
/// that computes its strides, or whose struct has one member, gets there. borrow(v, &Body::mass) needs none.
class Strides {
 public:
  template <class... Integer, class = std::enable_if_t<(std::is_integral_v<Integer> && ...)>>
  Strides(Integer... bytes) : bytes_{detail::to_int64(bytes, "strides")...} {}
  const std::int64_t* data() const noexcept { return bytes_.data(); }

  /// Throws for a number of axes that is not the shape's.
  void check_axes(const Shape& shape) const {
    if (static_cast<std::size_t>(shape.ndim()) != bytes_.size())
      throw Error(GPULUA_ARGUMENT, "[borrow] expected strides for the " + std::to_string(shape.ndim()) +
                                       " axes of the shape, got " + std::to_string(bytes_.size()));
  }
  /// Throws where elements of the shape are outside of a container.
  void check_range(const Shape& shape, std::size_t elements, std::size_t element_bytes) const {
    check_axes(shape);
    std::int64_t first = 0, last = 0;
    for (std::size_t axis = 0; axis < bytes_.size(); ++axis) {
      if (shape.data()[axis] <= 0) return;  // no elements, or what the library refuses
      (bytes_[axis] < 0 ? first : last) += (shape.data()[axis] - 1) * bytes_[axis];
    }
    const auto end = static_cast<std::int64_t>(elements * element_bytes);
    if (first < 0 || last + static_cast<std::int64_t>(element_bytes) > end)
      throw Error(GPULUA_ARGUMENT, "[borrow] expected strides, in bytes, within the " + std::to_string(end) +
                                       " bytes that there are, got ones from byte " + std::to_string(first) + " to " +
                                       std::to_string(last + static_cast<std::int64_t>(element_bytes)));
  }

 private:
  std::vector<std::int64_t> bytes_;
};

}  // namespace gpulua

#endif
