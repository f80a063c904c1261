#pragma once

#include <lua.hpp>
#include <memory>
#include <string>

namespace gpulua {

class Context;

/// Attaches `context` to a state without one, and registers "gpu" in package.preload, so that require "gpu" works.
/// Opens no device. The context lives at least as long as the state.
void open_bindings(lua_State* L, std::shared_ptr<Context> context);

/// Takes from the module what reaches beyond arrays: for a context whose rights are not trusted. After the first
/// require "gpu", before the first script. Raises Lua errors.
void restrict_bindings(lua_State* L);

/// True iff open_bindings was called on the state.
bool has_bindings(lua_State* L);

/// The context that open_bindings attached to the state; null where it was not called, or the state is being closed.
std::shared_ptr<Context> context_of(lua_State* L);

/// The registry key of a function that returns the report of Config::profile as text. Nil before require "gpu".
inline constexpr const char* profile_report_key = "gpulua.profile_report";

/// The position and message of the state's last call that returned nil and a message: "script.lua:3: [load] cannot open
/// x.npy: ..."; empty if there was none, or the running line has nothing to do with it. For reports of errors about a
/// nil.
std::string source_of_nil(lua_State* L);

/// Tells the other ranks of the job, if the state has connected to them, that this one's script has failed.
void report_failure(lua_State* L, const std::string& message);

}  // namespace gpulua
