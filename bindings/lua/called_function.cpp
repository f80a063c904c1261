#include "bindings/lua/called_function.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "bindings/lua/state.h"
#include "src/array/node_observer.h"

namespace gpulua {

namespace {

/// The signature that the guard at the top of the stack checks; null for another function. Guards are closures of
/// helpers.guard, and the signature is one of the values that they hold.
const CallSignature* guarded_signature(lua_State* L, const CallSignatures& signatures) {
  const CallSignature* found = nullptr;
  for (int i = 1; !found && lua_getupvalue(L, -1, i) != nullptr; ++i) {
    if (lua_type(L, -1) == LUA_TLIGHTUSERDATA) found = signatures.added(lua_touserdata(L, -1));
    lua_pop(L, 1);
  }
  return found;
}

/// The outermost of the library's Lua functions between the script and the error; null where there is none.
const CallSignature* called_function(lua_State* L) {
  const CallSignatures& signatures = bindings_of(L).signatures;
  const CallSignature* called = nullptr;
  lua_Debug frame{};
  for (int level = 1; lua_getstack(L, level, &frame) != 0 && lua_checkstack(L, 4) != 0; ++level) {
    lua_getinfo(L, "Sf", &frame);
    if (std::strcmp(frame.what, "C") != 0) {
      if (std::strcmp(frame.source, "=[gpulua]") != 0) return lua_pop(L, 1), called;
      if (const CallSignature* own = guarded_signature(L, signatures)) called = own;
    }
    lua_pop(L, 1);
  }
  return called;
}

/// Whether a message is about an argument, and about one of this call: an error of queued work belongs to another line.
bool is_about_argument(std::string_view message) {
  constexpr std::array parts = {"] expected ", " does not fit ", "] operands could not be broadcast",
                                "] indices start at", "is out of range for"};
  return message.find("queued at ") == message.npos &&
         std::ranges::any_of(parts, [&](const char* part) { return message.find(part) != message.npos; });
}

/// Whether a message says that something has no derivative.
bool is_refused_derivative(std::string_view message) {
  return message.find("no derivative; gpu.custom") != message.npos ||
         message.find("would hide a dependence from the derivative") != message.npos;
}

/// Whether functions of the library find mistakes under this name.
bool is_of_function(CallSignatures& signatures, const std::string& name) {
  constexpr std::array<std::string_view, 4> others = {"cast", "convert", "equal", "index"};
  return std::ranges::find(others, name) != others.end() || signatures.has_function(name);
}

}  // namespace

std::string named_as_called(lua_State* L, std::string message) {
  const std::size_t end = message.find("] ");
  const bool is_refused = is_refused_derivative(message);
  if (!message.starts_with('[') || end == message.npos || !(is_refused || is_about_argument(message))) return message;
  // A function of the script's that the library has called may end with this call: `return x:sum(axis)`.
  if (is_call_of_script(L, 0)) return message;
  const CallSignature* called = called_function(L);
  const std::string name = message.substr(1, end - 1);
  if (called && is_refused) return name == called->op() ? message : no_derivative(called->op());
  // The same function, as gpu.comm.split in "[split]" and g:uniform in "[random.uniform]".
  if (!called || called->name == name.substr(name.rfind('.') + 1)) return message;
  if (!is_of_function(bindings_of(L).signatures, name)) return message;
  return message.replace(1, end - 1, called->op());
}

}  // namespace gpulua
