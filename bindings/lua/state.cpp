#include "bindings/lua/state.h"

#include <algorithm>
#include <cstring>

#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/lua.h"

namespace gpulua {

namespace {

/// True for a frame of the library's own Lua files.
bool is_library(const lua_Debug& frame) {
  return std::strcmp(frame.source, "=[gpulua]") == 0;
}

/// True for a frame of the script itself, which has a line and a source.
bool is_script(const lua_Debug& frame) {
  return frame.currentline > 0 && !is_library(frame);
}

// The registry key of the function that Bindings::origin() cached.
char caller_key;

}  // namespace

Bindings::Bindings(lua_State* main, std::shared_ptr<Context> context) : running_(main), context_(std::move(context)) {
  context_->set_host(this);
}

Bindings::~Bindings() {
  held_values.clear();
  context_->end_use();
  context_->while_waiting = nullptr;
  context_->set_host(nullptr);
}

void Bindings::collect() {
  lua_gc(running_, LUA_GCCOLLECT, 0);
}

/// Names stay as long as the state, as work and arrays point to them. A script can name each chunk that it loads
/// differently.
const char* Bindings::lasting_name(const char* chunk) {
  constexpr std::size_t most = std::size_t{1} << 16;
  if (chunks_.size() >= most && !chunks_.contains(chunk)) return "(one of many chunks)";
  return chunks_.emplace(chunk).first->c_str();
}

Origin Bindings::origin() {
  if (origin_.chunk) return origin_;
  // This runs in every call. Looking up the chunk name of a function takes most of its time, so the last function is
  // cached. The registry holds that function, so no other function can get its address. Level 0 is the called C
  // function.
  lua_State* L = running_;
  lua_Debug frame;  // the calls below set what is read
  bool in_library = false;
  for (int level = 1; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "fl", &frame);
    const void* function = lua_topointer(L, -1);
    if (function != last_caller_) {
      lua_getinfo(L, "S", &frame);
      if (!is_script(frame)) {
        in_library = in_library || is_library(frame);
        lua_pop(L, 1);
        continue;
      }
      last_caller_ = function;
      last_chunk_ = lasting_name(frame.short_src);
      lua_pushlightuserdata(L, &caller_key);
      lua_pushvalue(L, -2);
      lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_pop(L, 1);
    return origin_ = {last_chunk_, frame.currentline, in_library};
  }
  return {};
}

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

/// The position of the tail call with which the function below the top has led to the one on top; empty if that is not
/// known, or there was no tail call. Pops both. `caller` is a frame of the chunk that has made the function.
std::string position_in(lua_State* L, const lua_Debug& caller) {
  const int top = lua_gettop(L) - 2;
  push_bytecode_reader(L, "position");
  lua_insert(L, -3);
  lua_pushstring(L, caller.short_src);
  std::string position;
  if (lua_pcall(L, 3, 1, 0) == 0 && lua_isstring(L, -1)) position = lua_tostring(L, -1);
  lua_settop(L, top);
  return position;
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

/// Pushes `fn`, the function of the script that one of gpu.fuse, at `function`, calls; nil for another function.
void push_fused(lua_State* L, int function) {
  for (int i = 1; const char* name = lua_getupvalue(L, function, i); ++i) {
    if (std::strcmp(name, "fn") == 0) return;
    lua_pop(L, 1);
  }
  lua_pushnil(L);
}

/// The position of a tail call, `return f(x)`. f takes over its caller's frame, so the stack shows the line of the
/// caller's caller. The tail call is detected when that line called a function other than f. Empty when there was no
/// tail call, or its position is not known. pcall(f) is a call of f.
std::string tail_call_position(lua_State* L, lua_Debug& caller, int callee_level) {
  lua_Debug callee{};
  if (!lua_checkstack(L, 8) || !lua_getstack(L, callee_level, &callee)) return {};
  lua_getinfo(L, "n", &callee);
  if (callee.name == nullptr) return {};
  const int top = lua_gettop(L);
  push_called(L, caller, callee);
  lua_getinfo(L, "f", &callee);
  const bool same = lua_rawequal(L, -2, -1) != 0;
  if (same && lua_iscfunction(L, -1)) {
    if (callee_level < 1 || lua_getstack(L, callee_level - 1, &callee) == 0) return lua_settop(L, top), std::string();
    push_protected(L, caller, top + 1);
    lua_getinfo(L, "f", &callee);
  } else if (same && callee_level >= 2 && lua_getstack(L, callee_level - 2, &callee)) {
    // A function of gpu.fuse calls the script's by one of C, whose callee may have been called by it in turn.
    push_fused(L, top + 2);
    lua_getinfo(L, "f", &callee);
  }
  std::string position;
  const bool lost = !lua_isnil(L, -2) && lua_iscfunction(L, -2) == 0 && lua_rawequal(L, -2, -1) == 0;
  if (lost) position = position_in(L, caller);
  lua_settop(L, top);
  return position;
}

}  // namespace

std::string caller_position(lua_State* L) {
  lua_Debug frame{};
  for (int level = 1; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (!is_script(frame)) continue;
    const std::string lost = tail_call_position(L, frame, level - 1);
    return (lost.empty() ? std::string(frame.short_src) + ":" + std::to_string(frame.currentline) : lost) + ": ";
  }
  return {};
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
  bool is_scripts = false;
  if (lua_isfunction(L, -1) && !lua_iscfunction(L, -1)) {
    lua_getinfo(L, ">S", &caller);
    is_scripts = !is_library(caller);
  }
  lua_settop(L, top);
  return is_scripts;
}

Bindings* find_bindings(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, bindings_key);
  auto* owner = static_cast<std::optional<Bindings>*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return owner && *owner ? &**owner : nullptr;
}

HeldValues& held_values(lua_State* L) {
  return find_bindings(L)->held_values;
}

std::string source_of_nil(lua_State* L) {
  const Bindings* bindings = find_bindings(L);
  return bindings ? bindings->gave_nil.reason(L) : "";
}

bool is_recording(const Context& context) {
  return std::ranges::any_of(context.open_devices(), [](const auto& device) {
    return device->evaluator().trace() || device->evaluator().capture();
  });
}

int push_nil(lua_State* L, const std::string& message) {
  bindings_of(L).gave_nil.note(L, caller_position(L) + message);
  lua_pushnil(L);
  lua_pushlstring(L, message.data(), message.size());
  return 2;
}

void call_helper(lua_State* L, const char* name, int arguments, int results) {
  lua_pushstring(L, "gpulua.helpers");
  lua_rawget(L, LUA_REGISTRYINDEX);
  lua_pushstring(L, name);
  lua_rawget(L, -2);
  lua_remove(L, -2);
  lua_insert(L, -1 - arguments);
  if (lua_pcall(L, arguments, results, 0) == 0) return;
  const char* text = lua_tostring(L, -1);
  const std::string message = text ? text : "an error without a message";
  lua_pop(L, 1);
  throw Error(message);
}

}  // namespace gpulua
