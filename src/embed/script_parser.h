#pragma once

#include <lua.hpp>

#include <string_view>

namespace gpulua::embed {

/// As luaL_loadbufferx: pushes the text's function, or a message, and gives the status. LuaJIT's parser bounds its
/// nesting by 200 levels, for which it fills some 200 KB of the C stack: where the thread has less left, it runs on a
/// stack of its own.
int parse(lua_State* L, std::string_view text, const char* chunk, const char* mode);

}  // namespace gpulua::embed
