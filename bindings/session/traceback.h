#pragma once

#include <lua.hpp>

namespace gpulua {

// For message handlers, whose level 1 is the function that failed.

/// Pushes the traceback without our own frames and those that only give an address; gives its number of lines, 1 for
/// the heading alone.
int push_traceback(lua_State* L);

/// Appends to a message of Lua's own about a nil, at the top of the stack, where the nil perhaps came from. Lua does
/// not say that it is a file that was not there, or a device; a hint, where the message has one, does.
void add_source_of_nil(lua_State* L);

/// Pushes "file:line: " of the innermost Lua function of the script's, or "".
void push_running_line(lua_State* L);

}  // namespace gpulua
