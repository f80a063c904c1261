#pragma once

// The call of the script that an error belongs to: its line, and the function that it names.

#include <cstring>
#include <lua.hpp>
#include <optional>
#include <string>

namespace gpulua {

class Context;
struct CallSignature;
struct Origin;

/// True for a frame, of which "S" is known, of the library's own Lua files.
inline bool is_library(const lua_Debug& frame) {
  return std::strcmp(frame.source, "=[gpulua]") == 0;
}

/// True for a frame, of which "Sl" is known, of the script itself: it has a line and a source.
inline bool is_script(const lua_Debug& frame) {
  return frame.currentline > 0 && !is_library(frame);
}

/// Finds the innermost function of the script that runs, and reads "Sl" of its frame. False where there is none.
bool find_script_frame(lua_State* L, lua_Debug& frame);

/// The register of the call that the frame makes: the number of its values before the called function.
int register_of_call(lua_State* L, lua_Debug& frame);

/// A place in a script.
struct ScriptPlace {
  std::string chunk;
  int line = 0;              // 0: the chunk as a whole
  bool is_function = false;  // some line of the function that is defined there
};

/// The line of the script that called the function at `level`; nothing when no script runs. Chunks of the library
/// itself are skipped. For a tail call, `return f(x)`, whose frame is gone, it is the line of the tail call when that
/// is known. Where the library or a host program has called the function with the tail call, and several lines of it
/// may have made the call, it is the function.
std::optional<ScriptPlace> caller_place(lua_State* L, int level = 0);

/// The same as the beginning of a message: "script.lua:12: ", "in a function defined at script.lua:12: ", or nothing.
std::string caller_position(lua_State* L, int level = 0);

/// The message with the position before it, which is there once: "[vectorize] script.lua:3: max is nil", of a function
/// on the line of its call, has it as well.
std::string with_position(const std::string& position, std::string message);

/// True when the function at `level` was called by the script or the host program, and not by one of the library's own
/// functions.
bool is_call_of_script(lua_State* L, int level);

/// The signature of the outermost of the library's Lua functions between the script and the running function; null
/// where there is none.
const CallSignature* called_function(lua_State* L);

/// "; the call is window:corr(other)" where that is a method of an object that is made in Lua, and an argument cannot
/// be left out; else empty.
std::string about_method(lua_State* L);

/// A message about an argument with the name of the library's Lua function that the script called, in place of that of
/// the function that found the mistake for it: "[isclose] operands ..." for "[subtract] operands ...". Other messages
/// stay as they are. `running`, where it is known: a conversion that fails is named after it.
std::string named_as_called(lua_State* L, std::string message, const CallSignature* running);

/// Passes `text` to the context's warnings with the script's line before it, so that a line warns once.
void warn_at(Context& context, const Origin& origin, const std::string& text);

/// The same where the text has numbers that differ from call to call: a line warns once of a subject.
void warn_at(Context& context, const Origin& origin, const std::string& subject, const std::string& text);

}  // namespace gpulua
