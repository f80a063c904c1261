#include "bindings/state.h"

#include <cstring>

#include "bindings/lua.h"

namespace gpulua {

namespace {

/// True for a function of the script itself, whose frame has its line and its source.
bool is_script(const lua_Debug& frame) {
  return frame.currentline > 0 && std::strcmp(frame.source, "=[gpulua]") != 0;
}

// The registry's key of the function that Bindings::origin() remembers.
char caller_key;

}  // namespace

Bindings::Bindings(lua_State* main, std::shared_ptr<Context> context) : running_(main), context_(std::move(context)) {
  context_->set_host(this);
}

Bindings::~Bindings() {
  context_->set_host(nullptr);
}

void Bindings::collect() {
  lua_gc(running_, LUA_GCCOLLECT, 0);
}

Origin Bindings::origin() {
  if (origin_.chunk) return origin_;
  // Asked in every call. Naming a function's chunk takes longer than the rest of it, so the last function is
  // remembered; the registry holds it, and so its address stays its own. Level 0 is the C function that was called.
  lua_State* L = running_;
  lua_Debug frame{};
  for (int level = 1; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "fl", &frame);
    const void* function = lua_topointer(L, -1);
    if (function != last_caller_) {
      lua_getinfo(L, "S", &frame);
      if (!is_script(frame)) {
        lua_pop(L, 1);
        continue;
      }
      last_caller_ = function;
      last_chunk_ = chunks_.emplace(frame.short_src).first->c_str();
      lua_pushlightuserdata(L, &caller_key);
      lua_pushvalue(L, -2);
      lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_pop(L, 1);
    return origin_ = {last_chunk_, frame.currentline};
  }
  return {};
}

std::string caller_position(lua_State* L) {
  lua_Debug frame{};
  for (int level = 1; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (is_script(frame)) return std::string(frame.short_src) + ":" + std::to_string(frame.currentline) + ": ";
  }
  return {};
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
