// gpu.fuse: finds the trace that fits a call and replays it, or makes one. fuse.lua calls these functions.

#include <algorithm>

#include "bindings/functions/function_parts.h"
#include "bindings/functions/fused_key.h"
#include "bindings/lua/bytecode_readers.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/state.h"

namespace gpulua {

namespace {

// A function with this many traces drops them all before the next one is added.
constexpr std::size_t most_traces = 256;
// A function with this many traces is worth a warning.
constexpr std::size_t many_traces = 32;

/// traces(fn): the traces of a function, initially empty.
int new_traces(lua_State* L) {
  push(L, Traces{});
  lua_newtable(L);
  lua_pushvalue(L, 1);
  lua_rawseti(L, -2, 1);
  lua_setfenv(L, -2);
  return 1;
}

void warn_of_many(Bindings& bindings) {
  warn_at(
      bindings.context(), bindings.origin(),
      "gpu.fuse has recorded this function " + std::to_string(many_traces) +
          " times, because a number, a shape or a function differs from call to call; a number that changes goes in "
          "as an array, gpu.full({}, value)");
}

/// enter_fused(traces, ...): "replay" if a trace fits the arguments, "trace" if a trace has been started; nil within a
/// trace of another function, or a capture of gpu.graph.
int enter_fused(lua_State* L) {
  auto& traces = check<Traces>(L, 1, "fuse");
  Bindings& bindings = bindings_of(L);
  if (is_recording(bindings.context())) return 0;
  const int last = lua_gettop(L);
  traces.key = key_of_call(L, last);
  if (const auto found = traces.known.find(traces.key.text); found != traces.known.end()) {
    traces.found = &found->second;
    lua_pushliteral(L, "replay");
    return 1;
  }
  lua_getfenv(L, 1);
  traces.key = key_of_call(L, last, lua_gettop(L));
  OpenDevice& device = *traces.key.device;
  device.evaluator().evaluate_all();
  traces.trace = device.evaluator().start_trace(device, std::exchange(traces.key.arrays, {}));
  lua_pushliteral(L, "trace");
  return 1;
}

/// replay(traces): the results of the call that enter_fused has found.
int replay(lua_State* L) {
  auto& traces = check<Traces>(L, 1, "fuse");
  // Local, because a replay may run a script that calls the function too.
  const Recorded recorded = *traces.found;
  const std::vector<Array> inputs = std::exchange(traces.key.arrays, {});
  std::vector<Array> results = recorded.trace->replay(inputs);
  if (!lua_checkstack(L, static_cast<int>(recorded.returned.size()) + 2)) throw Error("[fuse] too many results");
  lua_getfenv(L, 1);
  const int kept = lua_gettop(L);
  for (const Returned& one : recorded.returned) {
    if (one.array) {
      results[*one.array]->weak = one.weak;
      push_array(L, std::move(results[*one.array]));
    } else
      lua_rawgeti(L, kept, one.value);
  }
  return lua_gettop(L) - kept;
}

/// The results of the traced function, from `first` on: the arrays, and how a replay returns all of them.
std::vector<Returned> read_results(lua_State* L, int first, Traces& traces, std::vector<Array>& arrays) {
  std::vector<Returned> returned;
  const int last = lua_gettop(L);
  lua_getfenv(L, 1);
  for (int index = first; index <= last; ++index) {
    Returned& one = returned.emplace_back();
    if (const Array* array = test<Array>(L, index)) {
      one.array = arrays.size();
      one.weak = (*array)->weak;
      arrays.push_back(*array);
      continue;
    }
    const int type = lua_type(L, index);
    if (type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TUSERDATA || type == LUA_TTHREAD)
      fail("fuse", "a function that returns arrays, numbers, strings or booleans, each as a result of its own", L,
           index);
    one.value = ++traces.kept;
    lua_pushvalue(L, index);
    lua_rawseti(L, last + 1, one.value);
  }
  lua_settop(L, last);
  return returned;
}

/// end_trace(traces, ok, ...): ends the trace. The function has returned the values, or failed.
int end_trace(lua_State* L) {
  auto& traces = check<Traces>(L, 1, "fuse");
  Recorded recorded{std::exchange(traces.trace, nullptr), {}};
  if (!lua_toboolean(L, 2)) return recorded.trace->abandon(), 0;
  try {
    std::vector<Array> arrays;
    recorded.returned = read_results(L, 3, traces, arrays);
    recorded.trace->finish(arrays);
    bool returns = false;
    for (int index = 3; index <= lua_gettop(L); ++index) returns = returns || !lua_isnil(L, index);
    if (!returns && recorded.trace->is_empty())
      throw Error("[fuse] expected a function that returns arrays, or writes in place, got one that does neither");
  } catch (...) {
    recorded.trace->abandon();
    throw;
  }
  if (traces.known.size() == most_traces) traces.known.clear();
  traces.known.emplace(std::move(traces.key.text), std::move(recorded));
  if (traces.known.size() == many_traces) warn_of_many(bindings_of(L));
  return 0;
}

/// bytecode(): the table of bytecode.lua; nil where LuaJIT's module jit.util is missing.
int bytecode(lua_State* L) {
  push_bytecode_reader(L, "bytecode");
  return 1;
}

}  // namespace

void add_fusing(lua_State* L) {
  new_type<Traces>(L, {}, "traces:", {});
  set_functions(L, {{"bytecode", protect<bytecode>},
                    {"end_trace", protect<end_trace>},
                    {"enter_fused", protect<enter_fused>},
                    {"replay", protect<replay>},
                    {"traces", protect<new_traces>}});
  lua_newtable(L);
  lua_newtable(L);
  lua_pushliteral(L, "k");
  lua_setfield(L, -2, "__mode");
  lua_setmetatable(L, -2);
  lua_setfield(L, LUA_REGISTRYINDEX, libraries_key);
  // A table with weak keys, whose function `find` fills it.
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, LUA_REGISTRYINDEX, globals_key);
  lua_setfield(L, -2, "globals");
}

}  // namespace gpulua
