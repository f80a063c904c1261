#pragma once

#include <lua.hpp>
#include <memory>
#include <string>

namespace gpulua {

class Context;

/// Opens Lua's libraries in a state of ours, before its first script. LuaJIT's compiler goes without the optimisation
/// in which most of its mistakes with bit operations arise (docs/guide.md). Raises Lua errors.
void open_lua_libraries(lua_State* L);

/// The first of Lua's libraries that the bindings need and the state has not; null: all are open.
const char* missing_library(lua_State* L);
/// The message about it.
inline constexpr const char* missing_library_text =
    "expected a lua_State with Lua's libraries, got one without `%s`; call luaL_openlibs(L) first";

/// Attaches `context` to a state without one, and registers "gpu" in package.preload, so that require "gpu" works.
/// Opens no device. The context lives at least as long as the state.
void open_bindings(lua_State* L, std::shared_ptr<Context> context);

/// The functions that stand in the places of Lua's own from now on, such as a print of the host program, are known by
/// their names in functions for a device.
void name_replaced_functions(lua_State* L);

/// Takes from the module what reaches beyond arrays: for a context whose rights are not trusted. After the first
/// require "gpu", before the first script. Raises Lua errors.
void restrict_bindings(lua_State* L);

/// True iff open_bindings was called on the state.
bool has_bindings(lua_State* L);

/// The context that open_bindings attached to the state; null where it was not called, or the state is being closed.
std::shared_ptr<Context> context_of(lua_State* L);

}  // namespace gpulua
