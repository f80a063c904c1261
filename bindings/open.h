#pragma once

#include <lua.hpp>
#include <memory>
#include <string>

namespace gpulua {

class Context;

/// Hangs `context` on the state, which has none yet, and preloads "gpu", so that require "gpu" works. Opens no device.
/// The context lives as long as the state, at least.
void open_bindings(lua_State* L, std::shared_ptr<Context> context);

/// True iff open_bindings was called on the state.
bool has_bindings(lua_State* L);

/// The registry's field with a function that gives, as text, what Config::profile has recorded. Nil before require
/// "gpu".
inline constexpr const char* profile_report_key = "gpulua.profile_report";

/// "script.lua:3: [load] cannot open x.npy: ...", of the state's last call that gave nil and a message; "" if there was
/// none. For who reports an error about a nil.
std::string source_of_nil(lua_State* L);

}  // namespace gpulua
