// gpu.vectorize(f): a Lua function as an elementwise operation.

#include "bindings/functions/vectorize.h"

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/captured_values.h"
#include "bindings/functions/differentiated.h"
#include "bindings/functions/element_function.h"
#include "bindings/functions/elementwise_call.h"
#include "bindings/functions/function_parts.h"
#include "bindings/kernels/kernel_source.h"
#include "bindings/lua/state.h"
#include "src/array/node_observer.h"
#include "src/luafn/set_elements.h"
#include "src/luafn/syntax.h"

namespace gpulua {

/// The values of a call, and what they led to.
struct VectorizedCall {
  CapturedValues captured;
  std::shared_ptr<const FunctionVariant> variant;
};

namespace {

/// gpu.vectorize(f [, {name, fmad}])
int new_vectorized(lua_State* L) {
  check_source_rights(L, "vectorize");
  if (!lua_isfunction(L, 1)) fail("vectorize", "a Lua function of the elements", L, 1);
  if (is_differentiated(L, 1))
    throw Error(
        "[vectorize] expected a Lua function of the elements, got one that gpu.grad has made: call it in one, "
        "gpu.vectorize(function(x) return derivative(x) end), or differentiate the vectorized function");
  Vectorized vectorized{"vectorize"};
  read_options(L, 2, "vectorize",
               {{"name", [&](int value) { vectorized.name = check_string(L, value, "vectorize", "name = a string"); }},
                {"fmad", [&](int value) { vectorized.contract = check_flag(L, value, "vectorize", "fmad"); }}});
  locate_function(L, 1, vectorized.name.c_str());  // its errors belong to this line
  return push_vectorized(L, 1, std::move(vectorized));
}

/// Runs the object at 1 for values of the latest call's types. False: they have others.
bool repeat_call(lua_State* L, int function, Vectorized& vectorized, std::vector<Array>& results) {
  // A Lua finalizer may call the object meanwhile, so this call is hidden from it.
  const std::shared_ptr<VectorizedCall> latest = std::move(vectorized.latest);
  if (!latest || !latest->captured.refresh(L, function) || !is_current(L, *latest->variant, latest->captured))
    return false;
  const struct Release {
    CapturedValues& captured;
    ~Release() { captured.release_arrays(); }
  } release{latest->captured};
  results = run_variant(L, *latest->variant, latest->captured, {});
  vectorized.latest = latest;
  return true;
}

/// vectorized(x, y, ... [, {out =, size =}])
int call_vectorized(lua_State* L) {
  auto& vectorized = check<Vectorized>(L, 1, "vectorize");
  const char* op = vectorized.name.c_str();
  const int arguments = lua_gettop(L);
  push_function_of(L, 1);
  const int function = lua_gettop(L);
  NodeObserver* const observer = bindings_of(L).context().observer;
  if (std::vector<Array> results; !observer && repeat_call(L, function, vectorized, results))
    return push_arrays(L, results);
  const LocatedFunction& located = locate_device_function(L, function, op);
  const auto& parameters = located.function->parameters;
  const auto count = static_cast<int>(parameters.size());
  const bool has_options = arguments == count + 2 && lua_istable(L, arguments);
  if (arguments - 1 != count + (has_options ? 1 : 0)) {
    std::string names;
    for (const luafn::Local* parameter : parameters) names += (names.empty() ? "" : ", ") + parameter->name;
    throw Error("[{}] expected {} arguments ({}) and options, got {}", vectorized.name, count, names, arguments - 1);
  }

  auto current = std::make_shared<VectorizedCall>(VectorizedCall{CapturedValues(L, op), {}});
  CapturedValues& captured = current->captured;
  captured.add_arguments(static_cast<std::size_t>(count));
  lua_settop(L, arguments);
  const UserCall call = check_element_call(L, has_options ? arguments : arguments + 1, vectorized.name);
  push_function_of(L, 1);
  const ElementFunction elements{vectorized.name, vectorized.contract};
  if (observer && call.out.empty() && !call.size) {
    std::vector<Array> results;
    const ObservedBy nobody(bindings_of(L).context(), nullptr);
    return push_arrays(L, run_observed(L, elements, lua_gettop(L), captured, observer));
  }
  current->variant = element_variant(L, elements, lua_gettop(L), captured);
  std::vector<Array> results = run_variant(L, *current->variant, captured, call);
  captured.release_arrays();
  vectorized.latest = std::move(current);
  return push_arrays(L, std::move(results));
}

int vectorized_text(lua_State* L) {
  const Vectorized& vectorized = check<Vectorized>(L, 1, "tostring");
  push_function_of(L, 1);
  const LocatedFunction& located = locate_function(L, lua_gettop(L), "tostring");
  std::string text;
  for (const luafn::Local* parameter : located.function->parameters)
    text += (text.empty() ? "" : ", ") + parameter->name;
  text = "vectorized " + vectorized.name + "(" + text + "), " + located.chunk->name + ":" +
         std::to_string(located.function->line);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// The line of the first return of values, that of another function's results not counted; 0: there is none.
int line_of_result(const luafn::Block& block) {
  for (const auto& stat : block) {
    const bool is_call = stat->right.size() == 1 && (stat->right.front()->kind == luafn::ExprKind::call ||
                                                     stat->right.front()->kind == luafn::ExprKind::method);
    if (stat->kind == luafn::StatKind::result && !stat->right.empty() && !is_call) return stat->line;
    for (const luafn::Block& inner : stat->blocks)
      if (const int line = line_of_result(inner)) return line;
  }
  return 0;
}

/// core.check_step_function(op, f, count [, set [, remedy]]): throws Error unless f is a Lua function with `count`
/// parameters, with `remedy` at the message's end. Where parameter `set` is an array that it sets, it must return
/// nothing, as what it computes is in its arrays.
int check_step_function(lua_State* L) {
  const std::string op(check_string(L, 1, "guvectorize", "a name"));
  const std::int64_t set = lua_isnoneornil(L, 4) ? 0 : check_integer(L, 4, "guvectorize", "a parameter");
  const std::string remedy(lua_isnoneornil(L, 5) ? "" : check_string(L, 5, "guvectorize", "a text"));
  check_source_rights(L, op.c_str());
  if (!push_function_of(L, 2)) fail(op.c_str(), "a Lua function of the arrays of one step", L, 2);
  const int function = lua_gettop(L);
  check_parameters(L, function, op, static_cast<std::size_t>(check_integer(L, 3, "guvectorize", "a number")), remedy);
  if (set == 0) return 0;
  const LocatedFunction& located = locate_function(L, function, op.c_str());
  if (const int line = line_of_result(located.function->body))
    throw Error(
        "[{}] {}:{}: expected a function that sets the elements of its arrays and returns nothing, got one that "
        "returns values; {} is such an array",
        op, located.chunk->name, line, located.function->parameters[static_cast<std::size_t>(set - 1)]->name);
  return 0;
}

/// core.unset_elements(op, f, parameter, count): which of the elements 1 to count of the array that is f's parameter f
/// never sets, a list; empty where its text does not tell.
int unset_elements(lua_State* L) {
  const std::string op(check_string(L, 1, "unset_elements", "a name"));
  if (!push_function_of(L, 2)) fail(op.c_str(), "a Lua function of arrays", L, 2);
  const luafn::Function& function = *locate_function(L, lua_gettop(L), op.c_str()).function;
  const auto parameter = static_cast<std::size_t>(check_integer(L, 3, "unset_elements", "a number"));
  const std::int64_t count = check_integer(L, 4, "unset_elements", "a number");
  lua_newtable(L);
  if (parameter > function.parameters.size()) return 1;
  const auto known = luafn::set_elements(function, *function.parameters[parameter - 1]);
  for (std::int64_t i = 1, found = 0; known && i <= count; ++i) {
    if (known->contains(i)) continue;
    lua_pushnumber(L, static_cast<double>(i));
    lua_rawseti(L, -2, static_cast<int>(++found));
  }
  return 1;
}

}  // namespace

void add_function_helpers(lua_State* L) {
  lua_getfield(L, LUA_REGISTRYINDEX, differentiated_key);
  lua_setfield(L, -2, "differentiated");
  set_functions(L,
                {{"check_step_function", protect<check_step_function>}, {"unset_elements", protect<unset_elements>}});
}

int push_vectorized(lua_State* L, int function, Vectorized vectorized) {
  push(L, std::move(vectorized));
  lua_newtable(L);
  lua_pushvalue(L, function);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, -2);
  return 1;
}

bool push_function_of(lua_State* L, int index) {
  if (lua_isfunction(L, index)) {
    lua_pushvalue(L, index);
    return true;
  }
  if (!test<Vectorized>(L, index)) return false;
  lua_getfenv(L, index);
  lua_rawgeti(L, -1, 1);
  lua_remove(L, -2);
  return true;
}

void open_lua_functions(lua_State* L) {
  note_library_functions(L);
  lua_newtable(L);
  lua_setfield(L, LUA_REGISTRYINDEX, differentiated_key);
  new_type<Vectorized>(L, {{"__call", protect<call_vectorized>}, {"__tostring", protect<vectorized_text>}}, "", {});
  set_functions(L, {{"vectorize", protect<new_vectorized>}});
}

}  // namespace gpulua
