// The C++ functions of tracing.lua.

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/lua/library.h"
#include "bindings/lua/lua.h"
#include "bindings/lua/state.h"
#include "bindings/session/session_parts.h"
#include "src/array/evaluator.h"
#include "src/runtime/trace_file.h"

namespace gpulua {

namespace {

constexpr const char* trace_op = "profiler.trace";

/// start_trace(path)
/// Returns what finish_trace takes.
int start_trace(lua_State* L) {
  Context& context = bindings_of(L).context();
  evaluate_writes(context);
  context.traces.push_back(
      std::make_unique<TraceFile>(context, std::string(check_string(L, 1, trace_op, "a file")), trace_op));
  lua_pushlightuserdata(L, context.traces.back().get());
  return 1;
}

/// Evaluates the arrays among the results of a function, and waits for all work.
void finish_results(lua_State* L, Context& context, int first) {
  evaluate_arrays(L, first);
  evaluate_writes(context);
  context.synchronize();
}

/// finish_trace(trace, good, ...)
/// The results of the function follow where it has none but good news. Traces within this one, of coroutines that go on
/// no more, end without a file.
int finish_trace(lua_State* L) {
  // Work of a function that has failed may never end.
  constexpr int patience = 1000;  // ms
  Context& context = bindings_of(L).context();
  const bool good = lua_toboolean(L, 2) != 0;
  std::exception_ptr failure;
  if (good) try {
      finish_results(L, context, 3);
    } catch (...) {
      failure = std::current_exception();
    }
  const auto found = std::ranges::find(context.traces, lua_touserdata(L, 1),
                                       [](const auto& trace) -> const void* { return trace.get(); });
  if (found != context.traces.end()) {
    const std::unique_ptr<TraceFile> trace = std::move(*found);
    context.traces.erase(found, context.traces.end());
    try {
      trace->finish(good && !failure ? 0 : patience);
    } catch (const Error& error) {
      if (good && !failure) throw;
      context.warn(error.what());
    }
  }
  if (failure) std::rethrow_exception(failure);
  return 0;
}

/// enter_range(name)
int enter_range(lua_State* L) {
  const std::string_view name = check_string(L, 1, "annotate", "a name");
  lua_pushnumber(L, static_cast<double>(bindings_of(L).context().ranges.enter(name, "annotate")));
  return 1;
}

int leave_range(lua_State* L) {
  bindings_of(L).context().ranges.leave(static_cast<std::uint64_t>(lua_tonumber(L, 1)));
  return 0;
}

/// push_range(name)
int push_range(lua_State* L) {
  bindings_of(L).context().ranges.push(check_string(L, 1, "range_push", "a name"), "range_push");
  return 0;
}

int pop_range(lua_State* L) {
  bindings_of(L).context().ranges.pop();
  return 0;
}

int start_profiler(lua_State* L) {
  bindings_of(L).device().device().start_profiler();
  return 0;
}

int stop_profiler(lua_State* L) {
  bindings_of(L).device().device().stop_profiler();
  return 0;
}

}  // namespace

void add_tracing(lua_State* L) {
  set_functions(L, {{"enter_range", protect<enter_range>},
                    {"finish_trace", protect<finish_trace>},
                    {"leave_range", protect<leave_range>},
                    {"pop_range", protect<pop_range>},
                    {"push_range", protect<push_range>},
                    {"start_profiler", protect<start_profiler>},
                    {"start_trace", protect<start_trace>},
                    {"stop_profiler", protect<stop_profiler>}});
}

}  // namespace gpulua
