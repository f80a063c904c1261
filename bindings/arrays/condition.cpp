#include "bindings/arrays/condition.h"

#include <string>
#include <string_view>

#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/signatures.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

// The registry key of the weak table that has, by function, what the reader "conditions" gives.
char conditions_key;

/// Pushes what the reader gives for the function at the top of the stack: false, or a table.
void push_conditions(lua_State* L) {
  const int function = lua_gettop(L);
  lua_pushlightuserdata(L, &conditions_key);
  lua_rawget(L, LUA_REGISTRYINDEX);
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_newtable(L);
    lua_createtable(L, 0, 1);
    lua_pushliteral(L, "k");
    lua_setfield(L, -2, "__mode");
    lua_setmetatable(L, -2);
    lua_pushlightuserdata(L, &conditions_key);
    lua_pushvalue(L, -2);
    lua_rawset(L, LUA_REGISTRYINDEX);
  }
  lua_pushvalue(L, function);
  lua_rawget(L, -2);
  if (!lua_isnil(L, -1)) return;
  push_bytecode_reader(L, "conditions");
  lua_pushvalue(L, function);
  if (lua_pcall(L, 1, 1, 0) != 0) lua_pushboolean(L, 0);
  lua_pushvalue(L, function);
  lua_pushvalue(L, -2);
  lua_rawset(L, function + 1);
}

/// Pushes the table of the uses on the caller's line, if there is one.
bool push_uses(lua_State* L, const Bindings::Caller& at) {
  std::shared_ptr<CallerConditions>& known = bindings_of(L).conditions;
  if (!known) known = std::make_shared<CallerConditions>();
  CallerConditions& last = *known;
  const std::uint32_t bit = std::uint32_t{1} << at.line % 32;
  if (at.line <= 0 || (last.caller == at.number && (last.lines & bit) == 0)) return false;
  lua_Debug caller{};
  if (lua_checkstack(L, 12) == 0 || lua_getstack(L, at.level, &caller) == 0) return false;
  lua_getinfo(L, "f", &caller);
  push_conditions(L);
  last = {at.number, 0};
  if (!lua_istable(L, -1)) return false;
  lua_rawgeti(L, -1, 0);
  last.lines = static_cast<std::uint32_t>(lua_tonumber(L, -1));
  lua_pop(L, 1);
  lua_rawgeti(L, -1, at.line);
  return lua_istable(L, -1);
}

/// Which of the uses on a line, whose table is at the top of the stack, is that of the running function's result.
/// Pushes it: "condition" or "comparison".
using PushUse = void (*)(lua_State* L, const Bindings::Caller& at, std::string_view name);

/// That of the script's call, if its function has the name; of any function if it is empty.
void push_use_of_call(lua_State* L, const Bindings::Caller& at, std::string_view name) {
  lua_Debug caller{}, callee{};
  lua_getstack(L, at.level, &caller);
  lua_rawgeti(L, -1, register_of_call(L, caller));
  if (!lua_istable(L, -1)) return;
  lua_getstack(L, at.level - 1, &callee);
  lua_getinfo(L, "n", &callee);
  // Of a tail call it is the name of the function that ends with it.
  if (callee.name == nullptr || (!name.empty() && name != callee.name)) return;
  const std::string_view kind = callee.namewhat;
  lua_getfield(L, -1, kind == "method" || kind == "field" ? callee.name : "");
}

void push_use_of_selection(lua_State* L, const Bindings::Caller& at, std::string_view /*name*/) {
  push_use_of_call(L, at, {});
}

void push_use_of_operator(lua_State* L, const Bindings::Caller& /*at*/, std::string_view name) {
  lua_pushlstring(L, name.data(), name.size());
  lua_rawget(L, -2);
}

/// That use; empty for another one.
std::string use_of(lua_State* L, const Bindings::Caller& at, PushUse push_use, std::string_view name) {
  const int top = lua_gettop(L);
  std::string use;
  if (push_uses(L, at)) {
    push_use(L, at, name);
    if (lua_isstring(L, -1)) use = lua_tostring(L, -1);
  }
  lua_settop(L, top);
  return use;
}

constexpr std::string_view with_constant = "comparison", with_value = "comparison of values";

[[noreturn]] void refuse_comparison(std::string_view op) {
  throw Error(
      "[{}] expected a number beside == or ~=, got an array, which equals no number, text or boolean in Lua; "
      "x:item() is the number of one element, x:eq(y) compares all, gpu.where(x:eq(y), a, b) chooses",
      op);
}

void refuse_use(lua_State* L, const Bindings::Caller& at, PushUse push_use, std::string_view name, bool is_mask) {
  const std::string use = use_of(L, at, push_use, name);
  if (use == with_constant || use == with_value) refuse_comparison(name);
  if (use != "condition" || !is_mask) return;
  const bool is_reduction = name == "any" || name == "all";
  throw Error(
      "[{}] expected a boolean as a condition, got an array, which is always true in Lua; {}:item() is a boolean, "
      "gpu.logical_and(x, y), gpu.logical_or(x, y) and gpu.logical_not(x) combine masks",
      name, is_reduction ? "x:" + std::string(name) + "()" : "mask:all()");
}

}  // namespace

void refuse_condition(lua_State* L, bool is_mask) {
  const CallSignature* signature = signature_of_running(L);
  const Bindings::Caller at = bindings_of(L).caller();
  if (signature != nullptr && at.level == 1) refuse_use(L, at, push_use_of_call, signature->name, is_mask);
}

void refuse_condition_of(lua_State* L, const std::string& name) {
  refuse_use(L, bindings_of(L).caller(), push_use_of_call, name, true);
}

void refuse_comparison_of(lua_State* L, const CallSignature& signature, bool may_be_kept) {
  const Bindings::Caller at = bindings_of(L).caller();
  if (at.level != 2) return;  // the check of the guard in gpu.lua stands between the script and this function
  const std::string use = use_of(L, at, push_use_of_call, signature.name);
  if (use == with_constant || (use == with_value && !may_be_kept)) refuse_comparison(signature.op());
}

void refuse_condition_of_operator(lua_State* L, std::string_view name, bool is_mask) {
  const Bindings::Caller at = bindings_of(L).caller();
  if (at.level == 1) refuse_use(L, at, push_use_of_operator, name, is_mask);
}

void refuse_condition_of_column(lua_State* L, const std::string& name, bool is_mask) {
  const Bindings::Caller at = bindings_of(L).caller();
  if (at.level != 3) return;  // tables' __index and column_uses.lua stand between the script and this function
  const std::string use = use_of(L, at, push_use_of_operator, "field " + name);
  if (use == with_constant)
    throw Error(
        "[table] expected a number beside == or ~=, got the column {}, which equals no number, text or boolean in Lua; "
        "t.{}:eq(y) is a mask of all rows, t:where(\"{}\", y) has the rows with y",
        name, name, name);
  if (use == "condition" && is_mask)
    throw Error(
        "[table] expected a boolean as a condition, got the column {}, which is always true in Lua; "
        "t.{}:all():item() is a boolean, t:take(t.{}) has the rows where it is true",
        name, name, name);
}

void refuse_condition_of_selection(lua_State* L, bool is_mask) {
  const Bindings::Caller at = bindings_of(L).caller();
  if (at.level == 1) refuse_use(L, at, push_use_of_selection, "index", is_mask);
}

}  // namespace gpulua
