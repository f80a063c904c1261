#pragma once

#include <lua.hpp>
#include <optional>
#include <string>

#include "src/base/dtype.h"

namespace gpulua {

/// The result of fitting a Lua value to an element type.
enum class Fit { yes, wrong_kind, not_integral, out_of_range };

/// Writes the value at `index` as one element of `dtype` to `bytes`: exactly, or rounded for a floating-point dtype.
/// The bytes are undefined unless the result is Fit::yes. In contrast to an array's elements, an argument is never
/// wrapped or made infinite, and a number is not a boolean.
Fit store_number(lua_State* L, int index, DType dtype, void* bytes);

/// The value at `index`, if it is an integer from -2^64 to 2^64: a number, or an integer of the FFI.
std::optional<__int128> wide_integer(lua_State* L, int index);

/// The text of the error for a misfit: "expected an integer for int, got 1.5", "3000000000 does not fit int
/// (-2147483648 to 2147483647)".
std::string describe_misfit(lua_State* L, int index, Fit fit, DType dtype, const std::string& type);

}  // namespace gpulua
