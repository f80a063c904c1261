#pragma once

#include <cstddef>
#include <lua.hpp>

namespace gpulua {

/// The width of the terminal on the standard output; 80 without a terminal.
std::size_t terminal_width();

/// Adds the C++ functions for terminal.lua to the table at the top of the stack.
void add_terminal(lua_State* L);

/// The registry key of a function that shows a value, in a program that has a way of its own, as notebooks have.
constexpr const char* display_key = "gpulua.display";

}  // namespace gpulua
