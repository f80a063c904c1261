#pragma once

#include <lua.hpp>

namespace gpulua {
class StackBudget;
}

namespace gpulua::embed {

class Interruption;
class LuaMemory;

/// Makes the Lua thread L a place for scripts that are not trusted: they see tables of functions that are bounded or
/// can be stopped, and cannot change these tables; docs/security.md lists them. The state's libraries and the module
/// `gpu` are open, and its bindings are restricted (restrict_bindings). All other Lua threads that scripts make come
/// from this one. Raises Lua errors.
void open_sandbox(lua_State* L, const Interruption& interruption, const StackBudget& stack, LuaMemory& memory);

/// Sets find, match, gmatch and gsub in the table at the top of the stack: LuaJIT's own look at no deadline.
void set_pattern_functions(lua_State* L, const Interruption& interruption);

/// Sets sub, upper, lower, reverse and char there, and pushes tostring, and a function that makes room on a coroutine's
/// stack: LuaJIT's own do not survive that memory is short in the middle of them.
void set_text_functions(lua_State* L, LuaMemory& memory);

}  // namespace gpulua::embed
