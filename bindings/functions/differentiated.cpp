#include "bindings/functions/differentiated.h"

#include <algorithm>

#include "bindings/functions/elementwise_call.h"
#include "src/array/node_observer.h"
#include "src/base/error.h"

namespace gpulua {

namespace {

/// Most variables of one kernel: it keeps the derivatives of a number in registers.
constexpr std::size_t most_variables = 8;

/// Pushes the list for the function at `index`, or nil.
void push_entry(lua_State* L, int index) {
  lua_getfield(L, LUA_REGISTRYINDEX, differentiated_key);
  lua_pushvalue(L, index);
  lua_rawget(L, -2);
  lua_remove(L, -2);
}

/// The arguments that the observer follows. Throws Error when it follows an array that the function captures.
std::vector<std::size_t> followed(const ElementFunction& elements, const CapturedValues& captured,
                                  NodeObserver& observer) {
  std::vector<std::size_t> arguments;
  const std::size_t count = captured.closure()->function->parameters.size();
  for (std::size_t i = 0; i < captured.values().size(); ++i) {
    const Array& array = captured.array(i);
    if (!array || !observer.follows(*array)) continue;
    if (i >= count)
      throw Error(
          "[{}] expected captured arrays that are constants, got one that depends on a variable: make it an "
          "argument of the function, or capture x:detach()",
          elements.name);
    arguments.push_back(i);
  }
  return arguments;
}

}  // namespace

bool is_differentiated(lua_State* L, int index) {
  push_entry(L, index);
  const bool is = lua_istable(L, -1);
  lua_pop(L, 1);
  return is;
}

bool push_differentiated(lua_State* L, int index, std::vector<luafn::Differentiation>& derivatives) {
  lua_pushvalue(L, index);
  const int function = lua_gettop(L);
  for (push_entry(L, function); lua_istable(L, -1); push_entry(L, function)) {
    const int entry = lua_gettop(L);
    luafn::Differentiation taken;
    lua_rawgeti(L, entry, 2);
    taken.with_value = lua_toboolean(L, -1) != 0;
    for (int i = 3; i <= static_cast<int>(lua_objlen(L, entry)); ++i) {
      lua_rawgeti(L, entry, i);
      taken.which.push_back(static_cast<std::size_t>(lua_tointeger(L, -1)) - 1);
    }
    derivatives.insert(derivatives.begin(), std::move(taken));
    lua_rawgeti(L, entry, 1);
    lua_replace(L, function);
    lua_settop(L, function);
  }
  lua_settop(L, function);
  const bool found = push_function_of(L, function);
  lua_remove(L, function);
  return found;
}

std::vector<Array> run_observed(lua_State* L, const ElementFunction& elements, int function, CapturedValues& captured,
                                NodeObserver* observer) {
  const auto variant = element_variant(L, elements, function, captured);
  if (!observer) return run_variant(L, *variant, captured, {});
  const std::vector<std::size_t> variables = followed(elements, captured, *observer);
  if (variables.empty()) return run_observed(L, elements, function, captured, observer->outer());

  // Each result of `elements` is one of a block of `size`, after which come the derivatives of the block.
  std::size_t size = 1;
  for (const auto& level : elements.levels) size *= 1 + level.size();
  std::vector<Array> results, partials;
  for (std::size_t first = 0; first < variables.size(); first += most_variables) {
    const std::size_t count = std::min(most_variables, variables.size() - first);
    ElementFunction derived = elements;
    derived.levels.emplace_back(variables.begin() + static_cast<std::ptrdiff_t>(first),
                                variables.begin() + static_cast<std::ptrdiff_t>(first + count));
    const std::vector<Array> all = run_observed(L, derived, function, captured, observer->outer());
    const std::vector<bool> varies = results_that_vary(L, derived, function, captured);
    const std::size_t total = all.size() / (1 + count);
    if (first == 0) {
      for (std::size_t i = 0; i < total; ++i) results.push_back(all[i / size * size * (1 + count) + i % size]);
      partials.resize(total * variables.size());
    }
    for (std::size_t i = 0; i < total; ++i)
      for (std::size_t k = 0; k < count; ++k) {
        const std::size_t at = (i / size * (1 + count) + 1 + k) * size + i % size;
        if (varies[at]) partials[i * variables.size() + first + k] = all[at];
      }
  }
  std::vector<Array> inputs;
  for (const std::size_t i : variables) inputs.push_back(captured.array(i));
  observer->derived(inputs, results, partials);
  return results;
}

}  // namespace gpulua
