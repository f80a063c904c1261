#pragma once

#include <string_view>

#include "bindings/lua/array_type.h"
#include "bindings/lua/state.h"
#include "src/array/array.h"

namespace gpulua {

/// Pushes an array. All arrays reach a script through this function, which registers them with gpu.scope.
Array& push_array(lua_State* L, Array array);
Array& push_array(Bindings& bindings, lua_State* L, Array array);
/// Pushes an array of elements that the function `name`, a literal, has just copied.
void push_copy(lua_State* L, Array array, const char* name);

/// Pushes the address of the array's elements, a number. They count as written, because a kernel that gets the address
/// can write to them.
void push_address(lua_State* L, const Array& array);

/// The registry key of the metatable of x.shape and x.strides.
constexpr const char* sizes_key = "gpulua.sizes";

/// Pushes the positions of the nonzero elements: one array for each axis. Returns the number of arrays.
int push_nonzero(lua_State* L, const Array& array);

}  // namespace gpulua
