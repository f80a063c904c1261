#include "bindings/lua/caller.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/state.h"
#include "src/array/node_observer.h"
#include "src/base/origin.h"

namespace gpulua {

namespace {

/// Replaces the environment at the top by its global of that name, found without running code of the script.
void push_global(lua_State* L, const char* name) {
  const int scope = lua_gettop(L);
  for (int depth = 0; depth < 8 && lua_istable(L, scope); ++depth) {
    lua_pushstring(L, name);
    lua_rawget(L, scope);
    if (!lua_isnil(L, -1) || lua_getmetatable(L, scope) == 0) break;
    lua_pushliteral(L, "__index");
    lua_rawget(L, -2);
    lua_replace(L, scope);
    lua_settop(L, scope);
  }
  if (lua_gettop(L) == scope) lua_pushnil(L);
  lua_replace(L, scope);
}

/// Pushes the value of the variable through which the script's frame made its call; nil when it was not a variable.
void push_called(lua_State* L, lua_Debug& caller, const lua_Debug& callee) {
  const std::string_view kind = callee.namewhat;
  lua_pushnil(L);
  const int result = lua_gettop(L);
  lua_getinfo(L, "f", &caller);
  const auto take_if_named = [&](const char* name) {
    const bool named = std::strcmp(name, callee.name) == 0;
    if (named)
      lua_replace(L, result);
    else
      lua_pop(L, 1);
    return named;
  };
  if (kind == "local") {
    // If several locals have the name, the last one is in scope.
    for (int i = 1; const char* name = lua_getlocal(L, &caller, i); ++i) take_if_named(name);
  } else if (kind == "upvalue") {
    for (int i = 1; const char* name = lua_getupvalue(L, result + 1, i); ++i)
      if (take_if_named(name)) break;
  } else if (kind == "global") {
    lua_getfenv(L, result + 1);
    push_global(L, callee.name);
    lua_replace(L, result);
  }
  lua_settop(L, result);
}

/// The place of the tail call with which the function below the top has led to the one on top; nothing if that is not
/// known, or there was no tail call. Pops both. `chunk`: that of the function below the top, where it is a prototype.
/// `nearest`: where several lines may have made the call, it is the place of the function.
std::optional<ScriptPlace> place_in(lua_State* L, const char* chunk, bool nearest) {
  const int top = lua_gettop(L) - 2;
  push_bytecode_reader(L, "position");
  lua_insert(L, -3);
  lua_pushstring(L, chunk);
  lua_pushboolean(L, nearest ? 1 : 0);
  std::optional<ScriptPlace> place;
  if (lua_pcall(L, 4, 3, 0) == 0 && lua_isstring(L, -3))
    place = {lua_tostring(L, -3), static_cast<int>(lua_tointeger(L, -2)), lua_toboolean(L, -1) != 0};
  lua_settop(L, top);
  return place;
}

/// Pushes the function, or its prototype, that the script's line has given to the C function at `called`; nil when that
/// is not known or the function is not pcall or xpcall.
void push_protected(lua_State* L, lua_Debug& caller, int called) {
  push_bytecode_reader(L, "protected");
  lua_getinfo(L, "f", &caller);
  lua_pushinteger(L, caller.currentline);
  lua_pushvalue(L, called);
  if (lua_pcall(L, 3, 1, 0) != 0) return lua_pop(L, 1), lua_pushnil(L);
  if (lua_type(L, -1) != LUA_TNUMBER) return;
  const char* name = lua_getlocal(L, &caller, static_cast<int>(lua_tointeger(L, -1)) + 1);
  if (!name) lua_pushnil(L);
  lua_remove(L, -2);
}

/// Whether the value at the top of the stack is a Lua function of the script's.
bool is_function_of_script(lua_State* L) {
  if (!lua_isfunction(L, -1) || lua_iscfunction(L, -1)) return false;
  lua_Debug function{};
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &function);
  return !is_library(function);
}

/// Pushes the function of the script that the function of C or of the library at `caller` has called; nil for another.
/// A function of C has what it calls among its values. A function of the library has it in a variable, `fn` where
/// xpcall calls it. `callee_level` then is the level of what xpcall runs.
void push_called_by_library(lua_State* L, lua_Debug& caller, int& callee_level) {
  lua_Debug callee{};
  lua_pushnil(L);
  const int result = lua_gettop(L);
  if (*caller.what == 'C') {
    for (int i = 1; lua_getlocal(L, &caller, i) != nullptr; ++i)
      is_function_of_script(L) ? lua_replace(L, result) : lua_pop(L, 1);
    return;
  }
  lua_getstack(L, callee_level, &callee);
  lua_getinfo(L, "n", &callee);
  if (callee.name == nullptr) return;
  if (callee_level > 0 && std::strcmp(callee.name, "xpcall") == 0) {
    callee.name = "fn";
    callee.namewhat = "local";
    --callee_level;
  }
  push_called(L, caller, callee);
  if (is_function_of_script(L)) lua_replace(L, result);
  lua_settop(L, result);
}

/// The place of a tail call, `return f(x)`. f takes over its caller's frame, so the stack shows the line of the
/// caller's caller. The tail call is detected when that line, or the library, called a function other than f. Nothing
/// when there was no tail call, or its place is not known. pcall(f) is a call of f.
std::optional<ScriptPlace> tail_call_place(lua_State* L, lua_Debug& caller, int callee_level) {
  lua_Debug callee{};
  if (!lua_checkstack(L, 12) || !lua_getstack(L, callee_level, &callee)) return {};
  lua_getinfo(L, "n", &callee);
  const int top = lua_gettop(L);
  const bool by_script = is_script(caller);
  if (!by_script) {
    push_called_by_library(L, caller, callee_level);
    lua_getstack(L, callee_level, &callee);
  } else if (callee.name != nullptr) {
    push_called(L, caller, callee);
  } else {
    return {};
  }
  lua_getinfo(L, "f", &callee);
  if (by_script && lua_rawequal(L, -2, -1) != 0 && lua_iscfunction(L, -1)) {
    if (callee_level < 1 || lua_getstack(L, callee_level - 1, &callee) == 0) return lua_settop(L, top), std::nullopt;
    push_protected(L, caller, top + 1);
    lua_getinfo(L, "f", &callee);
  }
  std::optional<ScriptPlace> place;
  const bool lost = !lua_isnil(L, -2) && lua_iscfunction(L, -2) == 0 && lua_rawequal(L, -2, -1) == 0;
  if (lost) place = place_in(L, caller.short_src, !by_script);
  lua_settop(L, top);
  return place;
}

}  // namespace

bool find_script_frame(lua_State* L, lua_Debug& frame) {
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (is_script(frame)) return true;
  }
  return false;
}

int register_of_call(lua_State* L, lua_Debug& frame) {
  int count = 0;
  for (; lua_getlocal(L, &frame, count + 1) != nullptr; ++count) lua_pop(L, 1);
  return count;
}

std::optional<ScriptPlace> caller_place(lua_State* L, int level) {
  lua_Debug frame{};
  while (lua_getstack(L, ++level, &frame)) {
    lua_getinfo(L, "Sl", &frame);
    if (auto lost = tail_call_place(L, frame, level - 1)) return lost;
    if (is_script(frame)) return ScriptPlace{frame.short_src, frame.currentline, false};
  }
  return {};
}

std::string caller_position(lua_State* L, int level) {
  const std::optional<ScriptPlace> place = caller_place(L, level);
  if (!place) return {};
  const char* const where = !place->is_function ? "" : place->line == 0 ? "in " : "in a function defined at ";
  return where + line_text(place->chunk.c_str(), place->line) + ": ";
}

std::string with_position(const std::string& position, std::string message) {
  const std::size_t end = message.find("] ") + 2;
  if (!position.empty() && message.starts_with('[') && message.compare(end, position.size(), position) == 0)
    message.erase(end, position.size());
  return position + message;
}

bool is_call_of_script(lua_State* L, int level) {
  lua_Debug caller{}, callee{};
  if (lua_getstack(L, level + 1, &caller) == 0) return true;
  lua_getinfo(L, "S", &caller);
  if (!is_library(caller)) return true;
  // The library may have called a function of the script that ends with this call: `return x:sum(axis)`.
  lua_getstack(L, level, &callee);
  lua_getinfo(L, "n", &callee);
  if (callee.name == nullptr || !lua_checkstack(L, 8)) return false;
  const int top = lua_gettop(L);
  push_called(L, caller, callee);
  const bool is_scripts = is_function_of_script(L);
  lua_settop(L, top);
  return is_scripts;
}

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

}  // namespace

const CallSignature* called_function(lua_State* L) {
  const CallSignatures& signatures = bindings_of(L).signatures;
  const CallSignature* called = nullptr;
  lua_Debug frame{};
  for (int level = 1; lua_getstack(L, level, &frame) != 0 && lua_checkstack(L, 4) != 0; ++level) {
    lua_getinfo(L, "Sf", &frame);
    if (std::strcmp(frame.what, "C") != 0) {
      if (!is_library(frame)) return lua_pop(L, 1), called;
      if (const CallSignature* own = guarded_signature(L, signatures)) called = own;
    }
    lua_pop(L, 1);
  }
  return called;
}

std::string about_method(lua_State* L) {
  const CallSignature* called = called_function(L);
  if (!called || !called->is_method() || called->receiver == "x:") return {};
  const bool has_needed =
      !called->parameters.empty() && called->parameters != "()" && !called->parameters.starts_with("([");
  return has_needed ? "; the call is " + called->text() : "";
}

namespace {

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

/// Whether functions of the library find mistakes under this name, which may be short of the part of gpu that `called`
/// is in: "all_reduce" for gpu.comm.sum.
bool is_of_function(CallSignatures& signatures, const std::string& name, const std::string& called) {
  constexpr std::array<std::string_view, 4> others = {"cast", "convert", "equal", "index"};
  return std::ranges::find(others, name) != others.end() || signatures.has_function(name) ||
         signatures.has_function(called.substr(0, called.rfind('.') + 1) + name);
}

}  // namespace

std::string named_as_called(lua_State* L, std::string message, const CallSignature* running) {
  // Conversions are a step of many functions.
  constexpr std::string_view conversion = "[convert] ";
  if (running && message.starts_with(conversion)) message.replace(1, conversion.size() - 3, running->op());
  const std::size_t end = message.find("] ");
  if (!message.starts_with('[') || end == message.npos) return message;
  // A function of the script's that the library has called may end with this call: `return x:sum(axis)`.
  if (is_call_of_script(L, 0)) return message;
  const CallSignature* called = called_function(L);
  if (!called) return message;
  const std::string name = message.substr(1, end - 1);
  if (is_refused_derivative(message)) return name == called->op() ? message : no_derivative(called->op());
  // The part of gpu that the function is in: gpu.linalg.norm is not x:norm, which "[norm]" would be.
  const bool is_short = called->op().ends_with("." + name) && message.find("queued at ") == message.npos;
  // The same function, as g:uniform in "[random.uniform]".
  const bool is_same = called->name == name.substr(name.rfind('.') + 1);
  if (!is_short &&
      (is_same || !is_about_argument(message) || !is_of_function(bindings_of(L).signatures, name, called->op())))
    return message;
  return message.replace(1, end - 1, called->op());
}

void warn_at(Context& context, const Origin& origin, const std::string& text) {
  context.warn(place_text(origin) + text);
}

void warn_at(Context& context, const Origin& origin, const std::string& subject, const std::string& text) {
  context.warn(place_text(origin) + text, place_text(origin) + subject);
}

}  // namespace gpulua
