#include "bindings/state.h"

#include <cstring>

#include "bindings/lua.h"

namespace gpulua {

namespace {

/// The innermost Lua function of the script itself that is running.
bool find_caller(lua_State* L, lua_Debug& frame) {
  for (int level = 0; lua_getstack(L, level, &frame); ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline > 0 && std::strcmp(frame.source, "=[gpulua]") != 0) return true;
  }
  return false;
}

}  // namespace

Bindings::Bindings(lua_State* main, std::shared_ptr<Context> context) : running_(main), context_(std::move(context)) {
  context_->set_host(this);
}

Bindings::~Bindings() { context_->set_host(nullptr); }

void Bindings::collect() { lua_gc(running_, LUA_GCCOLLECT, 0); }

Origin Bindings::origin() {
  lua_Debug frame{};
  if (!find_caller(running_, frame)) return {};
  if (!last_chunk_ || *last_chunk_ != frame.short_src) last_chunk_ = &*chunks_.emplace(frame.short_src).first;
  return {last_chunk_->c_str(), frame.currentline};
}

std::string caller_position(lua_State* L) {
  lua_Debug frame{};
  if (!find_caller(L, frame)) return {};
  return std::string(frame.short_src) + ":" + std::to_string(frame.currentline) + ": ";
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
