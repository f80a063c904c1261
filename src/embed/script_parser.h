#pragma once

#include <lua.hpp>

#include <string_view>

#include "src/embed/interruption.h"

namespace gpulua::embed {

/// As luaL_loadbufferx: pushes the text's function, or a message, and gives the status. LuaJIT's parser bounds its
/// nesting by 200 levels, for which it fills some 200 KB of the C stack: where the thread has less left, it runs on a
/// stack of its own.
///
/// It gets the text in pieces (text_pieces.h), and none once the call is to stop: LUA_ERRRUN.
int parse(lua_State* L, std::string_view text, const char* chunk, const char* mode, const Interruption& interruption);

}  // namespace gpulua::embed
