#include "bindings/gradients/derived_call.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/arrays/sparse_matrix.h"
#include "bindings/lua/array_type.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/signatures.h"
#include "bindings/lua/state.h"
#include "src/array/node_observer.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// Replaces a sparse matrix at the top of the stack by the array of its nonzeros.
void take_nonzeros(lua_State* L) {
  if (!test<SparseMatrix>(L, -1)) return;
  const int matrix = lua_gettop(L);
  push_fields(L, matrix);
  lua_getfield(L, -1, "lines");
  if (lua_istable(L, -1)) lua_replace(L, matrix + 1);
  lua_getfield(L, matrix + 1, "entries");
  lua_replace(L, matrix);
  lua_settop(L, matrix);
}

/// Calls visit(array) for an argument that is an array or a sparse matrix, which has one, and for those of a list. The
/// array is at the top of the stack meanwhile.
template <class Visit>
void visit_arrays(lua_State* L, int index, const Visit& visit) {
  const auto visit_top = [&] {
    take_nonzeros(L);
    if (const Array* array = test<Array>(L, -1)) visit(*array);
    lua_pop(L, 1);
  };
  lua_pushvalue(L, index);
  visit_top();
  if (!lua_istable(L, index)) return;
  const int count = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    visit_top();
  }
}

/// The same for the arrays in all fields of a table.
template <class Visit>
void visit_all_arrays(lua_State* L, int index, const Visit& visit) {
  if (!lua_istable(L, index)) return visit_arrays(L, index, visit);
  for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
    take_nonzeros(L);
    if (const Array* array = test<Array>(L, -1)) visit(*array);
  }
}

/// Pushes what the table of the registry has for the running function: under the name in its signature, or under the
/// function itself.
void push_for_running(lua_State* L, const char* table, const CallSignature* signature, const std::string& name) {
  lua_getfield(L, LUA_REGISTRYINDEX, table);
  if (signature)
    lua_getfield(L, -1, name.c_str());
  else {
    lua_Debug info{};
    lua_getstack(L, 0, &info);
    lua_getinfo(L, "f", &info);
    lua_rawget(L, -2);
  }
  lua_remove(L, -2);
}

std::string name_of(lua_State* L, const CallSignature* signature) {
  if (signature) return signature->op();
  lua_Debug info{};
  if (lua_getstack(L, 0, &info) != 0) lua_getinfo(L, "n", &info);
  return info.name ? info.name : "gpu";
}

/// Whether the results of the running function are constants.
bool gives_constants(lua_State* L, const CallSignature* signature, const std::string& name) {
  push_for_running(L, constants_key, signature, name);
  const bool are_constants = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return are_constants;
}

/// True for a function that gives elements as numbers.
bool reads_elements(lua_State* L, const std::string& name) {
  return name == "item" || name == "table" || name == "host" || (name == "__index" && lua_isnumber(L, 2));
}

/// Refuses numbers for a script, which look like parts of the formula and are constants.
[[noreturn]] void refuse_reading(const std::string& name) {
  if (name == "__index")
    throw Error(
        "[index] x[i] is a number, which a derivative does not follow: x[{i}] is an array of one element, "
        "x:detach()[i] a number that is a constant");
  throw Error(
      "[{}] x:{}() gives numbers, which a derivative does not follow: x itself is a part of the formula, "
      "x:detach():{}() a constant, x:gt(y):item() a condition",
      name, name, name);
}

/// The array in the option `out` of an argument that is a table, or null.
Array find_out(lua_State* L, int arguments) {
  Array found;
  for (int i = 1; i <= arguments && !found; ++i) {
    if (!lua_istable(L, i)) continue;
    lua_pushliteral(L, "out");
    lua_rawget(L, i);
    if (const Array* array = test<Array>(L, -1)) found = *array;
    lua_pop(L, 1);
  }
  return found;
}

/// Pushes a list of the values at `first` up to before `end`.
void push_list(lua_State* L, int first, int end) {
  lua_createtable(L, end - first, 0);
  for (int i = first; i < end; ++i) {
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i - first + 1);
  }
}

/// Runs a function that has a rule, which is at the top of the stack. The observer learns of the call as a whole.
int run_with_rule(lua_State* L, LuaFunction function, int arguments, Context& context) {
  // The function finds its arguments at 1 and may change them there.
  push_list(L, 1, arguments + 1);
  const KeptValue given(L, context);
  const KeptValue rule(L, context);
  int results = 0;
  {
    const ObservedBy nobody(context, nullptr);
    results = function(L);
  }
  const int end = lua_gettop(L) + 1, call = end + 1;
  lua_rawgeti(L, LUA_REGISTRYINDEX, given.reference());
  lua_rawgeti(L, LUA_REGISTRYINDEX, rule.reference());
  for (int i = 1; i <= arguments; ++i) lua_rawgeti(L, end, i);
  for (int i = end - results; i < end; ++i) lua_pushvalue(L, i);
  note_call(L, call, call + 1, arguments, context);
  lua_settop(L, end - 1);
  return results;
}

}  // namespace

bool depends(lua_State* L, int first, int last, NodeObserver& observer) {
  bool found = false;
  for (int i = first; i <= last && !found; ++i)
    visit_all_arrays(L, i, [&](const Array& array) { found = found || observer.tracks(*array); });
  return found;
}

void note_call(lua_State* L, int rule, int first, int arguments, Context& context) {
  const int results_at = first + arguments, end = lua_gettop(L) + 1;
  std::vector<Array> inputs, results;
  lua_createtable(L, 0, 4);
  lua_createtable(L, arguments, 0);
  const int arrays = lua_gettop(L);
  for (int i = first; i < results_at; ++i)
    visit_arrays(L, i, [&](const Array& array) {
      inputs.push_back(array);
      lua_pushvalue(L, -1);
      lua_rawseti(L, arrays, static_cast<int>(inputs.size()));
    });
  lua_setfield(L, -2, "arrays");
  for (int i = results_at; i < end; ++i)
    if (const Array* array = test<Array>(L, i)) results.push_back(*array);
  push_list(L, results_at, end);
  lua_setfield(L, -2, "results");
  push_list(L, first, results_at);
  lua_setfield(L, -2, "arguments");
  lua_pushvalue(L, rule);
  lua_setfield(L, -2, "rule");
  const auto kept = std::make_shared<const KeptValue>(L, context);
  context.observer->called(std::shared_ptr<const int>(kept, &kept->reference()), inputs, results);
}

int run_derived(lua_State* L, LuaFunction function, const CallSignature* signature) {
  Context& context = bindings_of(L).context();
  NodeObserver& observer = *context.observer;
  const int arguments = lua_gettop(L);
  if (!depends(L, 1, arguments, observer)) return function(L);
  const std::string name = name_of(L, signature);
  // A function of the library that reads elements computes with them where the observer does not see it.
  const bool reads = reads_elements(L, name);
  if (reads && !is_call_of_script(L, 0)) refuse_derivative(name);
  struct Argument {
    Array array;
    bool varies;
    std::optional<std::uint64_t> writes;  // of its memory, if it has any yet
  };
  std::vector<Argument> given;
  for (int i = 1; i <= arguments; ++i)
    visit_all_arrays(L, i, [&](const Array& array) {
      given.push_back({array, observer.tracks(*array), std::nullopt});
      if (!array->pending()) given.back().writes = array->buffer()->writes();
    });
  push_for_running(L, rules_key, signature, name);
  const bool has_rule = lua_isfunction(L, -1);
  if (!has_rule) lua_pop(L, 1);
  const Array out = signature ? find_out(L, arguments) : nullptr;
  if (has_rule && out) throw Error("[{}] the option out has no derivative: use the result", name);
  const std::uint64_t writes = observer.writes;
  const int results = has_rule ? run_with_rule(L, function, arguments, context) : function(L);
  // The observer follows the writes that are announced to it. An unannounced write may depend on the function's other
  // arguments.
  const bool is_heard = observer.writes != writes;
  if (out && is_inexact(out->dtype) && !(is_heard && observer.tracks(*out))) refuse_derivative(name);
  for (const Argument& one : given) {
    if (!one.writes || (is_heard && observer.tracks(*one.array))) continue;
    if (one.array->buffer()->writes() == *one.writes) continue;
    const auto is_other = [&](const Argument& other) { return other.varies && other.array != one.array; };
    if (!is_heard || std::ranges::any_of(given, is_other)) refuse_derivative(name);
  }
  const int top = lua_gettop(L);
  for (int i = top - results + 1; i <= top; ++i) {
    if (const Array* array = test<Array>(L, i)) {
      // gpu.eval gives its arguments, and so does fill_, which makes them constants.
      const bool is_argument = std::ranges::find(given, *array, &Argument::array) != given.end();
      if (is_argument || !is_inexact((*array)->dtype) || observer.tracks(**array)) continue;
    } else if (reads && lua_type(L, i) != LUA_TUSERDATA) {
      refuse_reading(name);
    } else if (!lua_isuserdata(L, i) || name.starts_with("__")) {
      continue;  // a field of the array, such as its shape or device, depends on no element
    }
    if (gives_constants(L, signature, name)) continue;
    if (name == "array")
      throw Error("[array] has no derivative; gpu.stack{x, y} makes an array of arrays, and has one");
    refuse_derivative(name);
  }
  return results;
}

}  // namespace gpulua
