#pragma once

#include <deque>
#include <lua.hpp>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/lua.h"

namespace gpulua {

/// How one function or method may be called: a line of signatures.txt, or what follows from one.
struct CallSignature {
  static constexpr int any_number = 1 << 30;
  static constexpr int unread = -1;

  std::string receiver;    // what stands in front of the name, with its dot or colon: "gpu.", "x:"
  std::string name;        // "sum"
  std::string parameters;  // as the line has them: "([axis] [, {axis, keepdims}])"
  int most = unread;       // arguments, with the one in front of a colon; any_number: that many

  bool is_method() const { return receiver.back() == ':'; }
  /// As messages call it: "sum", "random.normal".
  std::string op() const { return is_method() ? name : receiver.substr(receiver.find('.') + 1) + name; }
  /// "x:sum([axis] [, {axis, keepdims}])".
  std::string text() const { return receiver + name + parameters; }
};

/// The signatures of a state's functions. The text is read when a signature is first needed, as most scripts call few
/// of the functions.
class CallSignatures {
 public:
  /// Of the function that is called as receiver + name. It lives as long as this. Throws std::logic_error when there is
  /// no line for it.
  const CallSignature& find(std::string_view receiver, std::string_view name);

  /// The same, but unread: read() has to come before any use of its parameters.
  CallSignature& add(std::string_view receiver, std::string_view name);
  void read(CallSignature& signature);

  /// The names of the options of `gpu.` + op.
  std::vector<std::string_view> options(const std::string& op);

 private:
  const std::string_view* line(const std::string& name);

  std::unordered_map<std::string, std::string_view> parameters_;  // by what stands before them: "gpu.sum"
  std::unordered_map<std::string, std::unique_ptr<const CallSignature>> found_;
  std::deque<CallSignature> added_;
};

/// Gives each function of the table at the top of the stack its signature, and with it the check of its arguments:
/// those in C++ are checked by protect<>, those in Lua get a function in front of them.
void attach_signatures(lua_State* L, std::string_view receiver);

/// The signature of the C function that runs, or null where it has none. check_arguments() has read it.
inline const CallSignature* signature_of_running(lua_State* L) {
  return static_cast<const CallSignature*>(lua_touserdata(L, lua_upvalueindex(signature_upvalue)));
}

/// Throws Error for more arguments on the stack than the C function that runs takes; gives its signature, or null where
/// it has none.
const CallSignature* check_arguments(lua_State* L);

/// Throws Error about more arguments than `signature` has; `first` is where they begin on the stack.
[[noreturn]] void refuse_arguments(lua_State* L, const CallSignature& signature, int first);

/// Of a call that failed: the message to give in place of its own, where dot and colon were mistaken; else nothing.
std::string mistaken_colon(lua_State* L, const CallSignature& signature, int first);

/// Adds to the helpers in the table at the top of the stack what signatures need of C++.
void add_signature_helpers(lua_State* L);

}  // namespace gpulua
