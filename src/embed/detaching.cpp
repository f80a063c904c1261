// Pending expressions that read memory whose address the host program has: it may write there between two calls.

#include <vector>

#include "bindings/arrays/lua_array.h"
#include "src/embed/script_state.h"
#include "src/exchange/exposed_readers.h"

namespace gpulua::embed {
namespace {

bool is_exposed_read(const Context& context) {
  for (const auto& device : context.open_devices())
    if (device->exposed().is_read()) return true;
  return false;
}

/// Most readers are operands of expressions that have been computed: nobody wants them, but only a collection of Lua's
/// garbage tells. It takes a time in proportion to Lua's memory, as the copies do to theirs.
void collect_readers(lua_State* L, const Context& context) {
  constexpr std::size_t bytes_a_byte_of_lua = 4;
  std::size_t bytes = 0;
  for (const auto& device : context.open_devices()) bytes += bytes_to_detach(*device);
  const auto kilobytes = static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT, 0));
  if (bytes > bytes_a_byte_of_lua * 1024 * kilobytes) lua_gc(L, LUA_GCCOLLECT, 0);
}

int detach_all(lua_State* L, void* data) {
  Context& context = *static_cast<Context*>(data);
  collect_readers(L, context);
  try {
    const Context::Call call(context);
    evaluate_writes(context);
    for (const auto& device : context.open_devices()) detach_readers(*device);
  } catch (...) {  // the host has no room for a list of readers
  }
  return 0;
}

}  // namespace

void ScriptState::detach() noexcept {
  if (!is_exposed_read(*context_)) return;
  lua_State* const L = running_;
  if (lua_checkstack(L, 2) == 0) return;
  Request request{&detach_all, context_.get()};
  push_trampoline(L);
  lua_pushlightuserdata(L, &request);
  // Not with what a finalizer of the script's may raise.
  if (lua_pcall(L, 1, 0, 0) != 0) lua_pop(L, 1);
}

bool ScriptState::compute(lua_State* L, int count) {
  if (!is_exposed_read(*context_)) return true;
  try {
    const Context::Call call(*context_);
    std::vector<Array> arrays;
    for (int i = 1; i <= count; ++i)
      if (const Array* array = test<Array>(L, i)) arrays.push_back(*array);
    evaluate(arrays);
    return true;
  } catch (const Error& failure) {
    context_->last_error = failure;
    lua_pushstring(L, failure.what());
    return false;
  }
}

}  // namespace gpulua::embed
