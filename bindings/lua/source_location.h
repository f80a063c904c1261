#pragma once

#include <lua.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace gpulua {

/// A line of a script, for `#line`.
struct SourceLocation {
  std::string file;
  int line = 1;
};

/// The content of a file. Empty for anything else: a folder may have the name of a script, and reading a device might
/// never end.
std::string file_text(const char* path);

/// The name of the frame's chunk, without characters that end or escape a name in `#line`.
std::string chunk_name(const lua_Debug& frame);

/// A name without such characters.
std::string name_in_line(std::string name);

/// Of text whose place nothing tells.
inline constexpr std::string_view nowhere = "<kernel source>";

/// The location of a kernel's text in the script, so that the compiler's messages point there. The text is searched in
/// the chunks of the calling functions, from the innermost outwards. Text that a script generates is in none of them;
/// its file is "<kernel source at script.lua:12>", the line of the call, and `nowhere` for a call of no script.
SourceLocation locate_source(lua_State* L, std::string_view text);

/// The text of the line that `frame` executes; nothing where the chunk's text is not there, or not for this script.
std::optional<std::string> line_text(lua_State* L, const lua_Debug& frame);

}  // namespace gpulua
