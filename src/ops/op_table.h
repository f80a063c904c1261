#pragma once

// The elementwise operations: one row each. The Lua functions and methods, the emitter, the promotion of dtypes, the
// reference and the tests are driven by this table; nothing else lists the operations again.

#include <array>
#include <cstdint>
#include <span>
#include <string_view>

#include "src/base/dtype.h"

namespace gpulua {

struct UserFunction;

/// How the dtypes of the operands decide the dtype in which an operation computes, and the dtype of its result.
enum class DTypeRule : std::uint8_t {
  numeric,     // the promoted dtype, for both
  floating,    // the promoted dtype, integers and bool as float32; for both
  comparison,  // computed in the promoted dtype; gives bool
  test,        // computed in the promoted dtype, integers and bool as float32; gives bool
  logical,     // computed in bool; gives bool
  integer,     // promoted integers, or bool
  count,       // promoted integers; gives uint8
  magnitude,   // computed in the promoted dtype; gives the dtype of the parts of a complex dtype
  phase,       // as floating; gives the dtype of the parts of a complex dtype
  scaled,      // the first operand decides as in floating; the second is an integer
  select,      // the first operand is a bool; the others are promoted
  conversion,  // the dtype of the node
  random,      // computed in the node's dtype; x and y are the key and the first block of a stream (kernels/philox.cuh)
};

/// The value of OpInfo::boolean for an operation that computes bool as int8.
inline constexpr std::string_view as_int8 = "as int8";

/// Operations for which some second operands have a faster operation with the same result.
enum class Algebra : std::uint8_t { none, power, quotient };

/// A row. Expressions are CUDA C++ over the operands x, y, z, w, v. Each operand is a number of the dtype in which the
/// operation computes. The 16-bit floating types are computed as float and rounded after every operation. R is the type
/// of those numbers, T the type of such an element in memory.
struct OpInfo {
  std::string_view name;  // in Lua
  int arity;
  DTypeRule rule;
  std::string_view expression;    // for floating types, and for each type without an expression of its own
  std::string_view integer = "";  // for integers
  std::string_view boolean = "";  // for bool; "" for numeric, integer, count: there is no such operation on bool
  bool complex = false;           // the expression takes complex numbers too
  bool position = false;          // the expression has `i`, the row-major position of the element
  std::string_view numpy = "";    // NumPy's name where it differs; "-": NumPy has none
  // Random numbers: a type that is made from the operands and a position that is a multiple of `width`. Its array `at`
  // has the results for `width` positions.
  std::string_view vectorised = "";
  // The expression for numbers in range, which clears the bool `in_range` for others (kernels/fast_path.cuh).
  std::string_view fast_path = "";
  // For integers, the expression's y may be a gpulua_divisor (kernels/arithmetic.cuh).
  bool divides = false;
  // What NVRTC takes for a copy of it in a kernel, in milliseconds. 0: as most functions, or nothing for an operator.
  std::uint8_t copy_ms = 0;
  Algebra algebra = Algebra::none;
  // Chosen in place of another row, or a part of derivatives: scripts have no function of this name.
  bool hidden = false;
  // The result may be a number where an operand is NaN, which other arithmetic keeps.
  bool drops_nan = false;
  // A comparison: what it gives for a negative x and an unsigned y, and its name with the operands exchanged.
  bool of_negative = false;
  std::string_view exchanged = "";
  // The partial derivative by each operand, as an expression in rows (partials.h). "none": there is one, but no formula
  // for it here. "": the result is no continuous function of the operand, and a constant for derivatives.
  std::array<std::string_view, 4> partials = {};
  // A script's own function, never in the table. `expression` then takes the function's result as x, and the operation
  // has any number of operands.
  const UserFunction* function = nullptr;
};

std::span<const OpInfo> op_table();
/// The dtype to which the operand with that index is converted, in an operation that computes in `compute`.
DType operand_dtype(const OpInfo& op, std::size_t index, DType compute);

/// One more name of a row, from NumPy.
struct OpAlias {
  std::string_view name, op;
};
std::span<const OpAlias> op_aliases();

/// The row with that name, or null.
const OpInfo* find_op(std::string_view name);
/// The row with that name. The library uses it itself, so it exists.
const OpInfo& op(std::string_view name);

}  // namespace gpulua
