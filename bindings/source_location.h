#pragma once

#include <lua.hpp>
#include <string>
#include <string_view>

namespace gpulua {

/// A place in a script, as `#line` names it.
struct SourceLocation {
  std::string file;
  int line = 1;
};

/// Where kernel text that a script passed to us stands in it, so that a compiler's messages point there: the chunks of
/// the calling functions are searched for it, from the innermost on. Text that a script puts together is in none of
/// them; its file is "<kernel source at script.lua:12>" then, which is where it was handed over.
SourceLocation locate_source(lua_State* L, std::string_view text);

}  // namespace gpulua
