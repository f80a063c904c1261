#pragma once

// The texts of chunks that come from no file: of the option -e, of the REPL's lines, of the standard input, of the C
// interface. gpu.vectorize and gpu.jit read a function's text, messages about a nil the line that they name.

#include <cstddef>
#include <functional>
#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

constexpr std::size_t chunk_text_bytes = std::size_t{4} << 20;

/// Keeps the text that is loaded under a chunk's name, in Lua's memory. The oldest texts, of whatever name, are dropped
/// so that the others take at most `most_bytes`. Raises Lua's error where memory is short.
void keep_chunk_text(lua_State* L, const char* name, std::string_view text, std::size_t most_bytes = chunk_text_bytes);

/// Calls `take` with each text and the name of its chunk, the newest first, until it gives true.
bool find_chunk(lua_State* L, const std::function<bool(const char* name, std::string_view text)>& take);

/// The same for the texts of that name.
bool find_chunk_text(lua_State* L, const char* name, const std::function<bool(std::string_view text)>& take);

}  // namespace gpulua
