#pragma once

#include <memory>
#include <string_view>

#include "src/luafn/syntax.h"

namespace gpulua::luafn {

/// The syntax tree of the text, which LuaJIT has accepted. Throws Error "line 3: ..." for syntax that is not Lua 5.1
/// with LuaJIT's goto.
std::unique_ptr<Chunk> parse(std::string_view text);

/// Sets Function::free of all functions in the chunk. parse() has done it.
void find_captures(const Chunk& chunk);

}  // namespace gpulua::luafn
