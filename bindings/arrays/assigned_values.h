#pragma once

// What scripts write into arrays: numbers, arrays and tables.

#include <optional>

#include "bindings/lua/lua.h"
#include "src/array/array.h"
#include "src/base/scalar.h"

namespace gpulua {

/// The number or boolean at `index` that is written into the array, or nothing. An array of numbers takes no boolean: a
/// comparison in Lua, x == 2, is one.
std::optional<Scalar> assigned_scalar(lua_State* L, int index, const Array& target, const char* op);

/// An array that is written into another one. Numbers that are complex have no place among real ones. A weak array
/// counts as a number: an array of integers takes no fraction.
Array assigned_array(const Array& source, const Array& target, const char* op);

/// The values to write to `target`, on its device: the array at `index`, or an array made from the number or nested
/// tables there with the target's dtype.
Array check_values(lua_State* L, int index, const Array& target, const char* op);

}  // namespace gpulua
