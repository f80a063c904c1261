#pragma once

#include <filesystem>
#include <lua.hpp>
#include <string>

namespace gpulua {

/// Reads commands from the standard input until it ends, and prints what they give. On a terminal there is a prompt,
/// after the banner, with editing, history and completion.
void run_repl(lua_State* L, const std::string& banner, const std::filesystem::path& history);

}  // namespace gpulua
