#pragma once

#include <memory>
#include <string>

#include "bindings/lua/lua.h"

namespace gpulua {

struct VectorizedCall;

/// An object of gpu.vectorize. The userdata's environment holds the Lua function at 1.
struct Vectorized {
  std::string name;
  bool contract = true;
  std::shared_ptr<VectorizedCall> latest{};  // what the next call repeats, if it has values of the same types
};

/// Pushes an object of the Lua function at stack index `function`. Returns 1.
int push_vectorized(lua_State* L, int function, Vectorized vectorized);

template <>
struct LuaType<Vectorized> {
  static constexpr const char* name = "a vectorized function";
};

}  // namespace gpulua
