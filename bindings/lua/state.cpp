#include "bindings/lua/state.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "bindings/lua/caller.h"
#include "bindings/lua/lua.h"

namespace gpulua {

namespace {

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
      ++caller_number_;
      last_chunk_ = lasting_name(frame.short_src);
      lua_pushlightuserdata(L, &caller_key);
      lua_pushvalue(L, -2);
      lua_rawset(L, LUA_REGISTRYINDEX);
    }
    lua_pop(L, 1);
    caller_level_ = level;
    return origin_ = {last_chunk_, frame.currentline, in_library};
  }
  caller_level_ = 0;
  return origin_ = origin_of_tail_call(in_library);
}

Origin Bindings::origin_of_tail_call(bool in_library) {
  const std::optional<ScriptPlace> place = caller_place(running_);
  return place ? Origin{lasting_name(place->chunk.c_str()), place->line, in_library} : Origin{};
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
  // A statement would go on as if nothing had failed.
  if (is_statement(L)) throw Error("{}; local value, message = ... gets nil and this message instead", message);
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
