#pragma once

#include <deque>
#include <functional>
#include <lua.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "bindings/lua/lua.h"

namespace gpulua {

/// The signature of a function or method: a line of signatures.txt, which cmake/signatures.lua makes of the
/// declarations above the functions' code, or a signature derived from one.
struct CallSignature {
  static constexpr int any_number = 1 << 30;
  static constexpr int unread = -1;

  std::string receiver;    // the prefix of the name, with dot or colon: "gpu.", "x:"
  std::string name;        // "sum"
  std::string parameters;  // the line's text: "([axis] [, {axis, keepdims}])"
  std::string shown = {};  // the name in messages, where it is another than op() makes
  int most = unread;       // maximum number of arguments, with a method's object; any_number: no maximum

  bool is_method() const { return receiver.back() == ':'; }
  /// The name in messages: "sum", "random.normal".
  std::string op() const {
    if (!shown.empty()) return shown;
    return is_method() ? name : receiver.substr(receiver.find('.') + 1) + name;
  }
  /// Whether the last parameter is a table of options with that name.
  bool has_option(std::string_view option) const;
  /// The whole signature: "x:sum([axis] [, {axis, keepdims}])".
  std::string text() const { return receiver + name + parameters; }
};

/// The signatures of a state's functions. The text is read when a signature is first needed, as most scripts call few
/// of the functions.
class CallSignatures {
 public:
  /// The signature of the function that is called as receiver + name. The reference is valid as long as this object.
  /// Throws std::logic_error when no line matches.
  const CallSignature& find(std::string_view receiver, std::string_view name);

  /// Registers a signature without its parameters, which read() fills in before they are used.
  CallSignature& add(std::string_view receiver, std::string_view name);
  void read(CallSignature& signature);

  /// The signature at an address, if add() has made it; else null.
  const CallSignature* added(const void* address) const;
  /// Whether there is a function gpu.name, or a method of arrays; and whether there is the former.
  bool has_function(const std::string& name);
  bool is_in_module(const std::string& name);

  /// The names of the options of `gpu.` + op, or of a method, "A:sum".
  std::vector<std::string_view> options(const std::string& op);

  /// True when the first argument of `gpu.` + op is a list of arrays or matrices.
  bool takes_list(const std::string& op);

  /// The Lua file that defines the function that is called as receiver + name; empty when none does.
  std::string_view file_of(std::string_view receiver, std::string_view name);
  /// Receivers and names of the functions that a Lua file defines.
  std::vector<std::pair<std::string, std::string>> functions_of(std::string_view file);
  /// The Lua files that define functions.
  std::vector<std::string_view> files();
  /// Whether scripts in a sandbox have the function of a Lua file: see cmake/signatures.lua.
  bool is_in_sandboxes(std::string_view file, std::string_view name);
  /// True when the names of some functions begin with the text.
  bool has_functions(std::string_view text);

 private:
  struct Line {
    std::string_view parameters;
    std::string_view file;  // empty: defined in C++
  };

  void read_lines(std::string_view text);
  const Line* line(const std::string& name);
  const std::map<std::string, Line, std::less<>>& lines();

  std::map<std::string, Line, std::less<>> lines_;                  // by receiver and name: "gpu.sum"
  std::map<std::string, std::string_view, std::less<>> sandboxes_;  // by Lua file: "all", "none" or names
  std::unordered_map<std::string, std::unique_ptr<const CallSignature>> found_;
  std::deque<CallSignature> added_;
};

/// Attaches signatures, and so the check of arguments by protect<>, to the C++ functions of the table at the top of the
/// stack.
void attach_signatures(lua_State* L, std::string_view receiver);

/// Replaces the Lua function `name` of the table at the top of the stack by one that checks its arguments.
void guard_function(lua_State* L, std::string_view receiver, std::string_view name);

/// The signature of the running C function, or null if it has none. check_arguments() has read it.
inline const CallSignature* signature_of_running(lua_State* L) {
  return static_cast<const CallSignature*>(lua_touserdata(L, lua_upvalueindex(signature_upvalue)));
}

/// Throws Error for more arguments on the stack than the running C function takes, and for nil that a script passes for
/// one that can be left out. Returns the function's signature, or null if it has none.
const CallSignature* check_arguments(lua_State* L);

/// Throws Error about too many arguments for `signature`. `first`: the stack index of the first argument.
[[noreturn]] void refuse_arguments(lua_State* L, const CallSignature& signature, int first);

/// For a call that failed: the message about a dot in place of a colon, or the reverse, which replaces the call's own
/// message; empty when neither was mistaken.
std::string mistaken_colon(lua_State* L, const CallSignature& signature, int first);

/// Adds the C++ functions for signatures to the helpers, the table at the top of the stack.
void add_signature_helpers(lua_State* L);

}  // namespace gpulua
