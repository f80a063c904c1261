#pragma once

#include <lua.hpp>
#include <string>

#include "src/base/dtype.h"

namespace gpulua {

/// How a Lua value and an element type agree.
enum class Fit { yes, wrong_kind, not_integral, out_of_range };

/// Writes the value at `index` as one `dtype` to `bytes`, exactly, or rounded for floating-point types; on any other
/// answer than Fit::yes nothing is known of the bytes. Unlike an array's element, an argument is never wrapped or made
/// infinite, and a number is no boolean.
Fit store_number(lua_State* L, int index, DType dtype, void* bytes);

/// What is wrong, for an error: "expected an integer for int, got 1.5", "3000000000 does not fit int (-2147483648 to
/// 2147483647)".
std::string describe_misfit(lua_State* L, int index, Fit fit, DType dtype, const std::string& type);

}  // namespace gpulua
