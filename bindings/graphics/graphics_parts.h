#pragma once

// The parts of the table `core` that this folder defines.

#include <lua.hpp>
#include <memory>

#include "bindings/lua/lua.h"
#include "src/graphics/gl_contexts.h"
#include "src/graphics/shared_buffer.h"

namespace gpulua {

using GlContextsRef = std::shared_ptr<GlContexts>;
using SharedBufferRef = std::shared_ptr<SharedBuffer>;

template <>
struct LuaType<GlContextsRef> {
  static constexpr const char* name = "the OpenGL contexts of a state";
};
template <>
struct LuaType<SharedBufferRef> {
  static constexpr const char* name = "a buffer of OpenGL's";
};

/// Adds the C++ functions of the files of library/graphics to the table at the top of the stack.
void add_gl_buffers(lua_State* L);
void add_gl_images(lua_State* L);
void add_windows(lua_State* L);

}  // namespace gpulua
