// gpu.graph: work that is recorded once and launched as a whole. graph.lua calls the function and these functions.

#include <algorithm>

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/function_parts.h"
#include "bindings/kernels/stream.h"
#include "bindings/lua/caller.h"
#include "bindings/lua/state.h"
#include "src/array/capture.h"
#include "src/expressions/transfer.h"

namespace gpulua {

namespace {

struct GraphHandle {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<Capture> capture;
};

}  // namespace

template <>
struct LuaType<GraphHandle> {
  static constexpr const char* name = "a graph";
};

namespace {

constexpr const char* change_key = "gpulua.change";  // in a graph's environment

std::vector<Array> check_arrays(lua_State* L, int index) {
  std::vector<Array> arrays;
  for (int i = 1; i <= static_cast<int>(lua_objlen(L, index)); ++i) {
    lua_rawgeti(L, index, i);
    arrays.push_back(check<Array>(L, -1, "graph"));
    lua_pop(L, 1);
  }
  return arrays;
}

/// start_graph(): the graph, whose function's first run starts.
int start_graph(lua_State* L) {
  if (is_recording(bindings_of(L).context()))
    throw Error("[graph] expected a call outside of a function that gpu.graph or gpu.fuse records");
  OpenDevice& device = bindings_of(L).device();
  device.evaluator().evaluate_all();
  push(L, GraphHandle{device.shared_from_this(),
                      std::make_shared<Capture>(device, "graph", device.device().create_stream())});
  return 1;
}

/// record_graph(graph, results): the second run starts. `results`: the arrays that the first one has given.
int record_graph(lua_State* L) {
  const GraphHandle handle = check<GraphHandle>(L, 1, "graph");
  handle.capture->find_changed_number();  // those of the second run are compared with the first one's
  try {
    handle.capture->record(check_arrays(L, 2));
  } catch (...) {
    handle.capture->abandon();
    throw;
  }
  return 0;
}

void check_same(const std::vector<Array>& results, const std::vector<Array>& first) {
  const auto refuse = [](const std::string& one, const std::string& other) {
    throw Error("[graph] expected a function that gives the same arrays each time, got {} and then {}", one, other);
  };
  const auto count = [](std::size_t number) { return std::to_string(number) + (number == 1 ? " array" : " arrays"); };
  if (results.size() != first.size()) refuse(count(first.size()), count(results.size()));
  for (std::size_t i = 0; i < first.size(); ++i)
    if (type_text(*results[i]) != type_text(*first[i])) refuse(type_text(*first[i]), type_text(*results[i]));
}

/// finish_graph(graph, results, first, change): the second run has ended. Its results get the elements of the first
/// run's. `change`, or nil: what gives a message where something that the function reads has changed since.
int finish_graph(lua_State* L) {
  const GraphHandle handle = check<GraphHandle>(L, 1, "graph");
  const std::vector<Array> results = check_arrays(L, 2), first = check_arrays(L, 3);
  try {
    check_same(results, first);
    if (const std::string changed = handle.capture->find_changed_number(); !changed.empty())
      throw Error(
          "[graph] expected the same numbers in both calls of the function, got {}: each launch repeats those of the "
          "recording. Keep what changes in an array that the function writes in place, as T:multiply_(0.99); "
          "gpu.random draws anew in each launch",
          changed);
    handle.capture->finish(results,
                           "[graph] the array was made by a graph's function, which did not return it: it has no "
                           "elements before the first g:launch()");
  } catch (...) {
    handle.capture->abandon();
    throw;
  }
  for (std::size_t i = 0; i < results.size(); ++i)
    if (handle.capture->owns(*results[i])) copy_into(results[i], first[i]);
  if (lua_isnoneornil(L, 4)) return 0;
  // A cycle of the graph and a function that has it can be collected by way of the userdata's environment.
  lua_createtable(L, 0, 1);
  lua_pushvalue(L, 4);
  lua_setfield(L, -2, change_key);
  lua_setfenv(L, 1);
  return 0;
}

/// Warns where something that the graph's function reads has changed since it was recorded.
void warn_of_change(lua_State* L) {
  const int top = lua_gettop(L);
  lua_getfenv(L, 1);
  lua_pushstring(L, change_key);
  lua_rawget(L, -2);
  if (lua_isfunction(L, -1) && lua_pcall(L, 0, 1, 0) == 0 && lua_type(L, -1) == LUA_TSTRING) {
    Bindings& bindings = bindings_of(L);
    warn_at(bindings.context(), bindings.origin(), lua_tostring(L, -1));
  }
  lua_settop(L, top);
}

/// abandon_graph(graph): the function has failed.
int abandon_graph(lua_State* L) {
  check<GraphHandle>(L, 1, "graph").capture->abandon();
  return 0;
}

/// repeated(): "graph" or "fuse" while work is queued that a launch or a replay will repeat; else nothing.
int lua_repeated(lua_State* L) {
  const Context& context = bindings_of(L).context();
  if (!is_recording(context)) return 0;
  const bool traces = std::ranges::any_of(context.open_devices(), [](const auto& d) { return d->evaluator().trace(); });
  lua_pushstring(L, traces ? "fuse" : "graph");
  return 1;
}

/// graph:launch([s])
/// Queues the recorded work on the stream, by default the current one.
int launch_graph(lua_State* L) {
  const GraphHandle handle = check<GraphHandle>(L, 1, "launch");
  if (is_recording(bindings_of(L).context()))  // of any device: no recording would launch the graph again
    throw Error("[launch] expected a call outside of a function that gpu.graph or gpu.fuse records");
  StreamRef stream = handle.device->stream();
  if (!lua_isnoneornil(L, 2)) {
    if (!test<StreamHandle>(L, 2))
      throw Error(
          "[launch] expected a stream, or nothing, got {}; a launch repeats the recorded work, with the arguments of "
          "then: an array that is written in place, x:fill_(value), changes between launches",
          describe(L, 2));
    const auto& other = check<StreamHandle>(L, 2, "launch");
    if (other.device != handle.device)
      throw Error("[launch] expected a stream of {}, got one of {}", handle.device->name(), other.device->name());
    stream = other.stream;
  }
  warn_of_change(L);
  handle.capture->launch(stream);
  return 0;
}

/// graph(): an error, since a graph is not a function.
int refuse_graph_call(lua_State*) {
  throw Error("[graph] expected graph:launch([s]), got a call of the graph itself");
}

int graph_text(lua_State* L) {
  const auto& handle = check<GraphHandle>(L, 1, "tostring");
  const std::size_t kernels = handle.capture->kernels();
  lua_pushfstring(L, "graph of %d kernel%s on %s", static_cast<int>(kernels), kernels == 1 ? "" : "s",
                  handle.device->name().c_str());
  return 1;
}

}  // namespace

void add_graphs(lua_State* L) {
  new_type<GraphHandle>(L, {{"__call", protect<refuse_graph_call>}, {"__tostring", protect<graph_text>}},
                        "graph:", {{"launch", protect<launch_graph>}});
  set_functions(L, {{"abandon_graph", protect<abandon_graph>},
                    {"finish_graph", protect<finish_graph>},
                    {"record_graph", protect<record_graph>},
                    {"repeated", protect<lua_repeated>},
                    {"start_graph", protect<start_graph>}});
}

}  // namespace gpulua
