#pragma once

// The parts of the table `core` that this folder defines.

#include <cstdint>
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

/// Reads the number by which OpenGL knows an object. `what` names the object in errors.
std::uint32_t check_gl_number(lua_State* L, int index, const char* op, const char* what);

/// Throws Error while work is recorded that runs again later: `why` says what is not so then.
void check_not_recorded(lua_State* L, const char* op, const char* why);

/// Adds the C++ functions of the files of library/graphics to the table at the top of the stack.
void add_gl_buffers(lua_State* L);
void add_gl_images(lua_State* L);
void add_windows(lua_State* L);

}  // namespace gpulua
