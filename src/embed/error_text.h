#pragma once

#include <cstddef>
#include <lua.hpp>

namespace gpulua::embed {

/// The message handler of the host's calls: message, hint and traceback as one text.
int add_traceback(lua_State* L);

/// Adds a hint to the message, at the top of the stack, of a parser that has refused the text.
void add_parser_hint(lua_State* L, const char* text, std::size_t size);

}  // namespace gpulua::embed
