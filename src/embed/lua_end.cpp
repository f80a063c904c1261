// A ScriptState in its Lua state, and the end of either.

#include "bindings/lua/state.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {
namespace {

char script_state_key;

}  // namespace

void ScriptState::set_in(lua_State* L, ScriptState* state) {
  lua_pushlightuserdata(L, &script_state_key);
  state != nullptr ? lua_pushlightuserdata(L, state) : lua_pushnil(L);
  lua_rawset(L, LUA_REGISTRYINDEX);
}

ScriptState* ScriptState::of(lua_State* L) {
  lua_pushlightuserdata(L, &script_state_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  auto* const state = static_cast<ScriptState*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  return state;
}

void ScriptState::watch_end(lua_State* L) {
  watch_ = static_cast<ScriptState**>(lua_newuserdata(L, sizeof(ScriptState*)));
  *watch_ = this;
  lua_newtable(L);
  lua_pushcfunction(L, &ScriptState::end_with_lua);
  lua_setfield(L, -2, "__gc");
  lua_setmetatable(L, -2);
  watch_reference_ = luaL_ref(L, LUA_REGISTRYINDEX);
}

/// A Lua state that closes calls the finalizers of newer objects first: the bindings, which are older, are still there.
int ScriptState::end_with_lua(lua_State* L) {
  ScriptState* const self = *static_cast<ScriptState**>(lua_touserdata(L, 1));
  if (self == nullptr) return 0;
  self->leave_lua();
  self->main_ = nullptr;
  self->context_.reset();
  self->lua_is_closed_.store(true, std::memory_order_release);
  return 0;
}

void ScriptState::close() noexcept {
  if (handle_ != nullptr) close_handle(handle_, Closing::end);
  if (context_) leave_lua();
  if (main_ == nullptr || options_.lua_state != nullptr) return;
  if (bindings_ != nullptr) bindings_->ends = true;
  memory_.close(main_);
}

void ScriptState::leave_lua() noexcept {
  for (Held* held : held_) {
    close_handle(held->handle, Closing::end);
    delete held;
  }
  held_.clear();
  has_released_.store(false, std::memory_order_relaxed);
  {
    const Context::Call call(*context_);
    for (const auto& device : context_->open_devices()) device->lent().wait();
  }
  if (main_ == nullptr || options_.lua_state == nullptr) return;
  // The program's own Lua goes on, without what was set for our calls.
  context_->on_warning = nullptr;
  context_->strict = false;
  context_->rights = {};
  if (watch_ != nullptr) *watch_ = nullptr;
  set_in(main_, nullptr);
  for (const int reference : {watch_reference_, trampoline_, settle_, handler_, own_reference_})
    luaL_unref(main_, LUA_REGISTRYINDEX, reference);
}

}  // namespace gpulua::embed
