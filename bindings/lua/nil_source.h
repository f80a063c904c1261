#pragma once

#include <lua.hpp>

#include <string>
#include <vector>

namespace gpulua {

/// The last call that returned nil and a message. A script that ignores the message fails later, at the nil.
struct NilSource {
  std::string text;                // the call's position and its message; empty: there was none, or it was seen to
  std::vector<std::string> names;  // words that the calling lines assign to
  std::vector<std::string> lines;  // the calling lines, "@script.lua:3"
  bool known = false;              // false: the text of a line was not there

  /// Notes the call that the running function of C returns nil from. `text`: its position and message.
  void note(lua_State* L, std::string call);
  /// The text, if an error of the running line can be due to the nil: the line names what the call was assigned to, is
  /// one of the calling lines, or runs within the line of the call. Empty otherwise.
  std::string reason(lua_State* L) const;
};

/// True when the script's call of the library is a statement, which has no use for its results.
bool is_statement(lua_State* L);

/// False when it is known that no call on the script's running line has nil as an argument: then a
/// missing argument is not the nil that another call returned.
bool passes_nil(lua_State* L);

/// What messages add about the one variable that is nil and that an operator or a function of the library's gets on the
/// script's running line: "; the field 'gian' is nil; did you mean \"gain\"?". Empty where there are none or several.
std::string about_nil_variable(lua_State* L);

}  // namespace gpulua
