// What the host program holds of a state: functions, arrays, texts, callbacks.

#include <string>
#include <string_view>
#include <utility>

#include "bindings/kernels/launch.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/source_location.h"
#include "src/embed/handle.h"
#include "src/embed/held_array.h"
#include "src/embed/script_state.h"

namespace gpulua::embed {

namespace {

/// What messages call a value that the host program holds, and where a script has defined it.
std::string describe_held(lua_State* L, int index) {
  if (lua_type(L, index) != LUA_TFUNCTION) return describe(L, index);
  lua_Debug function{};
  lua_pushvalue(L, index);
  lua_getinfo(L, ">S", &function);
  if (std::string_view(function.what) == "main") return "a script";
  const bool is_script = function.linedefined > 0 && std::string_view(function.source) != "=[gpulua]";
  return is_script ? "a function of " + chunk_name(function) + ":" + std::to_string(function.linedefined)
                   : "a function";
}

/// The reference of a value in the registry.
int reference_of(lua_State* L, int index) {
  lua_pushvalue(L, index);
  return luaL_ref(L, LUA_REGISTRYINDEX);
}

}  // namespace

HeldFunction::HeldFunction(ScriptState& state_, lua_State* L, int index)
    : Held(state_), description(describe_held(L, index)), reference(reference_of(L, index)) {}

HeldFunction::~HeldFunction() {
  luaL_unref(state->own(), LUA_REGISTRYINDEX, reference);
}

/// A launch that waits for its call in vain.
void HeldFunction::dropped() noexcept {
  lua_State* const L = state->own();
  constexpr int room = 4;  // the value and two metatables
  if (lua_checkstack(L, room) == 0) return;
  lua_rawgeti(L, LUA_REGISTRYINDEX, reference);
  if (auto* const launch = test<Launch>(L, -1)) launch->dropped_by_host();
  lua_pop(L, 1);
}

HeldArray::HeldArray(ScriptState& state_, Array array_)
    : Held(state_), array(std::move(array_)), device(array->device().name()), size(array->layout.size()) {
  shape.assign(array->layout.shape.begin(), array->layout.shape.end());
  for (const std::int64_t stride : array->layout.strides)
    strides.push_back(stride * static_cast<std::int64_t>(array->itemsize()));
}

gpulua_array* hold_array(ScriptState& state, Array array) {
  return static_cast<gpulua_array*>(state.hold(std::make_unique<HeldArray>(state, std::move(array))));
}

void* ScriptState::hold(std::unique_ptr<Held> held, HandleKind kind) {
  held_.insert(held.get());
  try {
    held->handle = open_handle(kind, held.get());
  } catch (...) {
    held_.erase(held.get());
    throw;
  }
  return held.release()->handle;
}

void ScriptState::let_go(Held* held) noexcept {
  const std::lock_guard lock(release_lock_);
  held->next_released = released_;
  released_ = held;
  has_released_.store(true, std::memory_order_relaxed);
}

void ScriptState::drop_released() noexcept {
  Held* held = nullptr;
  {
    const std::lock_guard lock(release_lock_);
    std::swap(held, released_);
    has_released_.store(false, std::memory_order_relaxed);
  }
  const Context::Call call(*context_);
  while (held != nullptr) {
    Held* const next = held->next_released;
    close_handle(held->handle, Closing::release);  // lets a thread that still looks at it finish
    held_.erase(held);
    held->dropped();
    delete held;
    held = next;
  }
}

void ScriptState::drop_before_call() noexcept {
  if (!has_released_.load(std::memory_order_relaxed)) return;
  const StackBudget::Call stack(context_->stack);
  drop_released();
}

Callback* ScriptState::add_callback(gpulua_callback function, void* user, const char* path) {
  registered_.push_back(std::make_unique<Callback>(Callback{this, function, user, path}));
  return registered_.back().get();
}

const std::string& ScriptState::keep(std::string text) {
  return kept_.emplace_back(std::move(text));
}

void ScriptState::drop_leftovers() noexcept {
  if (has_released_.load(std::memory_order_relaxed)) drop_released();
  if (runs_script_ && callbacks_ == 0) kept_.clear();
}

}  // namespace gpulua::embed
