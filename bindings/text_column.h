#pragma once

// Columns of text of gpu.table.

#include <lua.hpp>

#include "src/array/array.h"

namespace gpulua {

/// The positions of the column of text of gpu.table at `index`, or null. Its box has a tag of its own, so that
/// test<Array>() refuses it and no function takes the positions for numbers.
const Array* test_text_column(lua_State* L, int index);

/// The array at `index`, or the positions of a column of text, which select elements as such an array does; else null.
const Array* test_array_or_text(lua_State* L, int index);

/// Adds the C++ functions for text_column.lua to the core, the table at the top of the stack.
void add_text_columns(lua_State* L);

}  // namespace gpulua
