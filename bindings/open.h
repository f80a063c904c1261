#pragma once

#include <lua.hpp>
#include <memory>

namespace gpulua {

class Context;

/// Hangs `context` on the state and preloads "gpu", so that require "gpu" works. Opens no device.
/// The context lives as long as the state, at least.
void open_bindings(lua_State* L, std::shared_ptr<Context> context);

}  // namespace gpulua
