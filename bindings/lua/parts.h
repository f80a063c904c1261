#pragma once

// The parts of the module: gpu itself, gpu.linalg and the others. Each has two tables: one with its functions, which
// the library's files fill, and an empty one for scripts, which reads from it.

#include <lua.hpp>
#include <string>

namespace gpulua {

/// Pushes a table: the paths of the parts, "gpu.linalg", by both of their tables.
void push_parts(lua_State* L);
/// The path of the part at `index`; empty for any other value.
std::string part_at(lua_State* L, int index);
/// Replaces a part at the top of the stack by the table with its functions. Other values stay.
void push_own_functions(lua_State* L);

}  // namespace gpulua
