#include "bindings/gradients/derived_call.h"

#include <memory>
#include <vector>

#include "bindings/lua/array_type.h"
#include "bindings/lua/signatures.h"
#include "bindings/lua/state.h"
#include "src/array/node_observer.h"
#include "src/expressions/unobserved.h"
#include "src/runtime/context.h"

namespace gpulua {

namespace {

/// A value that the observer keeps for a rule.
class Kept {
 public:
  explicit Kept(lua_State* L) : bindings_(&bindings_of(L)), reference_(luaL_ref(L, LUA_REGISTRYINDEX)) {}
  ~Kept() { luaL_unref(bindings_->running(), LUA_REGISTRYINDEX, reference_); }
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;

  const int& reference() const { return reference_; }

 private:
  Bindings* bindings_;
  int reference_;
};

template <class Visit>
void visit_arrays(lua_State* L, int index, const Visit& visit) {
  if (const Array* array = test<Array>(L, index)) return visit(*array);
  if (!lua_istable(L, index)) return;
  const int count = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, index, i);
    if (const Array* array = test<Array>(L, -1)) visit(*array);
    lua_pop(L, 1);
  }
}

bool depends(lua_State* L, int first, int last, const NodeObserver& observer) {
  bool found = false;
  for (int i = first; i <= last && !found; ++i)
    visit_arrays(L, i, [&](const Array& array) { found = found || observer.tracks(*array); });
  return found;
}

/// Pushes the value with the name in the table of the registry.
void push_named(lua_State* L, const char* table, const std::string& name) {
  lua_getfield(L, LUA_REGISTRYINDEX, table);
  lua_getfield(L, -1, name.c_str());
  lua_remove(L, -2);
}

std::string name_of(lua_State* L, const CallSignature* signature) {
  if (signature) return signature->op();
  lua_Debug info{};
  if (lua_getstack(L, 0, &info) != 0) lua_getinfo(L, "n", &info);
  return info.name ? info.name : "gpu";
}

/// Whether the results of the running function, or of all functions of its name, are constants.
bool gives_constants(lua_State* L, const std::string& name) {
  push_named(L, constants_key, name);
  lua_getfield(L, LUA_REGISTRYINDEX, constants_key);
  lua_Debug info{};
  lua_getstack(L, 0, &info);
  lua_getinfo(L, "f", &info);
  lua_rawget(L, -2);
  const bool are_constants = lua_toboolean(L, -1) || lua_toboolean(L, -3);
  lua_pop(L, 3);
  return are_constants;
}

/// True when the call reads elements for a function of the library, which computes with them where the observer does
/// not see it. A script that reads elements knows that they are constants.
bool reads_for_library(lua_State* L, const std::string& name) {
  const bool reads = name == "item" || name == "table" || name == "host" || (name == "__index" && lua_isnumber(L, 2));
  return reads && !is_call_of_script(L, 0);
}

/// True when an argument is a table with the option `out`, an array to write to.
bool has_out(lua_State* L, int arguments) {
  bool found = false;
  for (int i = 1; i <= arguments && !found; ++i) {
    if (!lua_istable(L, i)) continue;
    lua_pushliteral(L, "out");
    lua_rawget(L, i);
    found = test<Array>(L, -1) != nullptr;
    lua_pop(L, 1);
  }
  return found;
}

[[noreturn]] void refuse(const std::string& name) {
  throw Error("[{}] has no derivative; gpu.custom gives a function one, x:detach() leaves an operand out", name);
}

}  // namespace

void note_call(lua_State* L, int rule, int first, int arguments, NodeObserver& observer) {
  const int top = lua_gettop(L);
  std::vector<Array> inputs, results;
  for (int i = first; i < first + arguments; ++i)
    visit_arrays(L, i, [&](const Array& array) { inputs.push_back(array); });
  for (int i = first + arguments; i <= top; ++i)
    if (const Array* array = test<Array>(L, i)) results.push_back(*array);
  // {rule, number of arguments, arguments..., results...}
  lua_createtable(L, top - first + 3, 0);
  lua_pushvalue(L, rule);
  lua_rawseti(L, -2, 1);
  lua_pushinteger(L, arguments);
  lua_rawseti(L, -2, 2);
  for (int i = first; i <= top; ++i) {
    lua_pushvalue(L, i);
    lua_rawseti(L, -2, i - first + 3);
  }
  const auto kept = std::make_shared<const Kept>(L);
  observer.called(std::shared_ptr<const int>(kept, &kept->reference()), inputs, results);
}

int run_derived(lua_State* L, LuaFunction function, const CallSignature* signature) {
  Context& context = bindings_of(L).context();
  NodeObserver& observer = *context.observer;
  const int arguments = lua_gettop(L);
  if (!depends(L, 1, arguments, observer)) return function(L);
  const std::string name = name_of(L, signature);
  if (reads_for_library(L, name)) refuse(name);
  if (has_out(L, arguments)) throw Error("[{}] the option out has no derivative: use the result", name);
  // A function that is given an array for its results depends on the others, too.
  std::vector<std::pair<Array, std::uint64_t>> untracked;
  for (int i = 1; i <= arguments; ++i)
    visit_arrays(L, i, [&](const Array& array) {
      if (!array->pending() && !observer.tracks(*array)) untracked.emplace_back(array, array->buffer()->writes());
    });
  const auto check_arguments_unwritten = [&] {
    for (const auto& [array, writes] : untracked)
      if (array->buffer()->writes() != writes) refuse(name);
  };
  push_named(L, rules_key, name);
  if (lua_isfunction(L, -1)) {
    // The function finds its arguments at 1, so the rule and copies of them, which it may change, lie elsewhere.
    lua_createtable(L, arguments + 1, 0);
    lua_insert(L, -2);
    lua_rawseti(L, -2, arguments + 1);
    for (int i = 1; i <= arguments; ++i) {
      lua_pushvalue(L, i);
      lua_rawseti(L, -2, i);
    }
    const Kept call(L);
    int results = 0;
    {
      const Unobserved scope(context);
      results = function(L);
    }
    check_arguments_unwritten();
    const int first_result = lua_gettop(L) - results + 1;
    const int first = lua_gettop(L) + 1;
    lua_rawgeti(L, LUA_REGISTRYINDEX, call.reference());
    lua_rawgeti(L, first, arguments + 1);
    for (int i = 1; i <= arguments; ++i) lua_rawgeti(L, first, i);
    for (int i = 0; i < results; ++i) lua_pushvalue(L, first_result + i);
    note_call(L, first + 1, first + 2, arguments, observer);
    lua_settop(L, first - 1);
    return results;
  }
  lua_pop(L, 1);
  const int results = function(L);
  const int top = lua_gettop(L);
  check_arguments_unwritten();
  for (int i = top - results + 1; i <= top; ++i) {
    const Array* array = test<Array>(L, i);
    if (array) {
      const DTypeKind kind = info((*array)->dtype).kind;
      const bool is_continuous = kind == DTypeKind::floating || kind == DTypeKind::complex;
      if (!is_continuous || observer.tracks(**array)) continue;
    } else if (!lua_isuserdata(L, i) || name.starts_with("__")) {
      continue;  // a field of the array, such as its shape or device, depends on no element
    }
    if (!gives_constants(L, name)) refuse(name);
  }
  return results;
}

}  // namespace gpulua
