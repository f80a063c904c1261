#pragma once

// Uniform numbers: constants, numbers that the function captures or gets as arguments, and expressions of them alone.
// They are the same for all elements, so the host computes them, in Lua's own double precision. What a kernel gets is
// the result, converted to the dtype of the number that it meets: `x * (r + 0.5 * s ^ 2)` is what it is for arrays.

#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "src/luafn/host_value.h"

namespace gpulua::luafn {

using HostScalar = std::variant<bool, double, std::int64_t>;  // int64: one that a double rounds

/// Bounds of an integer.
struct Range {
  double low = -0x1p63, high = 0x1p63;

  bool fits_int() const { return low >= -0x1p31 && high < 0x1p31; }
  bool fits_long() const { return low >= -0x1p63 && high < 0x1p63; }
  bool operator==(const Range&) const = default;
};
/// The bounds of x + y, x - y and x * y; of other operations none.
Range combined(std::string_view op, const Range& x, const Range& y);

enum class NumberClass { small_integer, integer, real };
/// Captured numbers of one class share a kernel. Integers up to 2^30 are small, so that a kernel counts in 32 bits.
NumberClass class_of(double number);
NumberClass class_of(const HostValue& number);
HostScalar scalar_of(const HostValue& number);

struct Uniform {
  enum class Kind { constant, value, extent, stride, origin, operation };
  Kind kind;
  HostScalar constant{};  // of a constant
  std::size_t index = 0;  // of a value or an array in the list of HostValues
  std::size_t axis = 0;   // of an extent or a stride
  std::string name{};     // of a value: the variable's; of an operation: "+", "sqrt", ...
  std::vector<const Uniform*> inputs{};
  NumberClass number = NumberClass::real;
  bool is_boolean = false;
  Range range{};
  std::string text{};  // for messages: what Lua calls it; empty for a constant or an operation
};

/// Owns the uniforms of a translation. Equal expressions are one object.
class Uniforms {
 public:
  const Uniform* constant(HostScalar value);
  const Uniform* value(const HostValue& value, std::size_t index, const std::string& name);
  /// The size of an axis of the array, at most `most`.
  const Uniform* extent(std::size_t index, std::size_t axis, const std::string& array, double most);
  /// The distance of neighbours along an axis, and the position of the first element.
  const Uniform* stride(std::size_t index, std::size_t axis, const std::string& text);
  const Uniform* origin(std::size_t index, const std::string& text);
  /// Null: the host does not compute this operation, or not on these inputs. Operations on constants are constants.
  const Uniform* operation(const std::string& name, const std::vector<const Uniform*>& inputs);

 private:
  const Uniform* add(const std::string& key, Uniform uniform);
  std::deque<Uniform> all_;
  std::map<std::string, const Uniform*> by_key_;
};

/// The expression as Lua writes it, for messages: "v + 5".
std::string text_of(const Uniform& uniform);
HostScalar evaluate(const Uniform& uniform, std::span<const HostValue> values);

}  // namespace gpulua::luafn
