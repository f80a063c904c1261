#pragma once

// The texts of chunks that come from no file: of the option -e, of the REPL's lines, of the standard input.
// gpu.vectorize and gpu.jit read a function's text.

#include <functional>
#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

/// Keeps the text that is loaded under a chunk's name. Of one name the newest 64 texts are kept.
void keep_chunk_text(lua_State* L, const char* name, std::string_view text);

/// Calls `take` with each text of that name, the newest first, until it gives true.
bool find_chunk_text(lua_State* L, const char* name, const std::function<bool(std::string_view text)>& take);

}  // namespace gpulua
