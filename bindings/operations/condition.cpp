#include "bindings/operations/condition.h"

#include <string>
#include <string_view>

#include "bindings/lua/bytecode_readers.h"
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

/// The register of the call that the caller's frame makes: the number of its values before the called function.
int register_of_call(lua_State* L, lua_Debug& caller) {
  int count = 0;
  while (lua_getlocal(L, &caller, count + 1) != nullptr) {
    lua_pop(L, 1);
    ++count;
  }
  return count;
}

/// How the script uses the result of its call of the function `name`: "condition", "comparison", or empty for another
/// use. Pushes values.
std::string_view use_of_call(lua_State* L, const Bindings::Caller& at, const std::string& name) {
  CallerConditions& last = *bindings_of(L).conditions;
  lua_Debug caller{}, callee{};
  if (lua_checkstack(L, 12) == 0 || lua_getstack(L, at.level, &caller) == 0) return {};
  lua_getinfo(L, "f", &caller);
  push_conditions(L);
  last = {at.number, !lua_istable(L, -1)};
  if (last.none) return {};
  lua_rawgeti(L, -1, at.line);
  if (!lua_istable(L, -1)) return {};
  lua_rawgeti(L, -1, register_of_call(L, caller));
  if (!lua_istable(L, -1)) return {};
  lua_getstack(L, at.level - 1, &callee);
  lua_getinfo(L, "n", &callee);
  // Of a tail call it is the name of the function that ends with it.
  if (callee.name == nullptr || name != callee.name) return {};
  const std::string_view kind = callee.namewhat;
  lua_getfield(L, -1, kind == "method" || kind == "field" ? callee.name : "");
  return lua_isstring(L, -1) ? lua_tostring(L, -1) : std::string_view();
}

void refuse_use(lua_State* L, const Bindings::Caller& at, const std::string& name, bool is_mask) {
  std::shared_ptr<CallerConditions>& known = bindings_of(L).conditions;
  if (!known) known = std::make_shared<CallerConditions>();
  const CallerConditions& last = *known;
  if (at.line <= 0 || (last.none && last.caller == at.number)) return;
  const int top = lua_gettop(L);
  const std::string use(use_of_call(L, at, name));
  lua_settop(L, top);
  if (use == "comparison")
    throw Error(
        "[{}] expected a number beside == or ~=, got an array, which equals no number, text or boolean in Lua; "
        "x:item() is the number of one element, x:eq(y) compares all",
        name);
  if (use != "condition" || !is_mask) return;
  const bool is_reduction = name == "any" || name == "all";
  throw Error(
      "[{}] expected a boolean as a condition, got an array, which is always true in Lua; {}:item() is a boolean, "
      "gpu.logical_and(x, y), gpu.logical_or(x, y) and gpu.logical_not(x) combine masks",
      name, is_reduction ? "x:" + name + "()" : "mask:all()");
}

}  // namespace

void refuse_condition(lua_State* L, bool is_mask) {
  const CallSignature* signature = signature_of_running(L);
  const Bindings::Caller at = bindings_of(L).caller();
  if (signature != nullptr && at.level == 1) refuse_use(L, at, signature->name, is_mask);
}

void refuse_condition_of(lua_State* L, const std::string& name) {
  refuse_use(L, bindings_of(L).caller(), name, true);
}

}  // namespace gpulua
