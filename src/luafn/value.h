#pragma once

// What an expression of a function is on the device.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "src/luafn/uniform.h"

namespace gpulua::luafn {

struct Instance;

/// The variables of a derivative. Those of one within it have a greater depth.
struct Level {
  int depth, count;
  std::uint64_t varying;  // a bit for each variable on which the number depends: its other derivatives are 0

  bool depends_on(std::size_t variable) const { return (varying >> variable & 1) != 0; }
  bool operator==(const Level&) const = default;
};
using Levels = std::vector<Level>;  // by depth
/// The levels of both.
Levels joined(const Levels& x, const Levels& y);

/// A value and the C++ text that computes it. A number is strong if an element of an array has decided its dtype, and
/// weak otherwise, as a number is beside an array: literals, captured numbers, loop counters.
struct Value {
  enum class Kind { none, nil, integer, real, boolean, strong, array, shape, function, builtin, string, random, table };
  Kind kind = Kind::none;
  DType dtype{};                     // of `code`; of an array's elements
  const Uniform* uniform = nullptr;  // of an integer, a real or a boolean that is the same for all elements
  Range range{};                     // of an integer
  Levels levels{};                   // of a real or strong number: `code` is a dual number of these
  bool whole = false;                // a real or strong number without a fraction: what math.floor gives
  std::string code{};                // empty for a uniform
  std::string name{};                // a builtin's; a string's content; a generator's; for messages, an array's

  std::size_t array = 0;         // of an array or a table: its index in the list of HostValues
  std::vector<Value> indices{};  // an array: those given so far
  std::size_t passed = 0;        // how many of them it had as the argument of a function
  const Function* function = nullptr;
  const Closure* closure = nullptr;  // the function's captured values
  std::vector<Differentiation> derivatives{};
  Instance* scope = nullptr;  // where the variables of a function within a function are, or of a generator

  bool is_weak() const { return kind == Kind::integer || kind == Kind::real; }
  bool is_number() const { return is_weak() || kind == Kind::strong; }
  bool is_active() const { return !levels.empty(); }
};

/// True for a value that needs no variable of the device: what it is, is known when the function is translated, or the
/// host computes it.
inline bool is_known(const Value& value) {
  return value.uniform || !(value.is_number() || value.kind == Value::Kind::boolean);
}

inline bool same_type(const Value& a, const Value& b) {
  return a.kind == b.kind && a.dtype == b.dtype && a.levels == b.levels;
}

/// True for an integer, be it a number or an element.
inline bool is_integer_number(const Value& value) {
  return value.kind == Value::Kind::integer || (value.kind == Value::Kind::strong && is_integer(value.dtype));
}

Value uniform_value(const Uniform* uniform);
Value strong_value(DType dtype, std::string code);
/// What a device has for a name of CUDA, "gpu.syncthreads": "gpu.barrier()". Empty for another name.
std::string_view name_of_cuda(std::string_view name);
/// The function of a device that others call `name`, or that has this name in math or gpu: "math.max" for "max",
/// "np.max" and "fmaxf". Empty for another name.
std::string function_called(std::string_view name);
/// What the value is, for messages: "a float32", "a boolean", "an integer".
std::string describe(const Value& value);

/// The type of a variable, or of a result: what its assignments have in common.
class Join {
 public:
  /// Adds the value that the assignment at `line` gives. Throws Error without a position for one that does not go with
  /// the others.
  void add(const Value& value, int line);
  /// The variable: kind, dtype and range. `real` is the dtype of weak numbers with fractions.
  Value result(DType real) const;

 private:
  std::optional<DType> strong_;
  Levels levels_;
  bool integer_ = false, real_ = false, boolean_ = false;
  int strong_line_ = 0, number_line_ = 0, boolean_line_ = 0;
};

}  // namespace gpulua::luafn
