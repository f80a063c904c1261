// gpu.loop and gpu.loop_while: loops whose steps run on the device. loop.lua calls the function and these functions.

#include "bindings/arrays/lua_array.h"
#include "bindings/functions/elementwise_call.h"
#include "bindings/functions/function_parts.h"
#include "bindings/lua/state.h"
#include "src/expressions/device_loop.h"

namespace gpulua {

namespace {

struct LoopHandle {
  std::shared_ptr<OpenDevice> device;
  StreamRef outer, stream;  // on which it is launched and recorded
  std::shared_ptr<DeviceLoop> loop;
};

}  // namespace

template <>
struct LuaType<LoopHandle> {
  static constexpr const char* name = "a loop";
};

namespace {

DeviceLoop& check_loop(lua_State* L) {
  return *check<LoopHandle>(L, 1, "loop").loop;
}

/// The values from `index` on. In errors the first of them is the `what` with that number.
std::vector<Array> check_arrays(lua_State* L, int index, const char* op, const char* what, int number) {
  std::vector<Array> arrays;
  for (; index <= lua_gettop(L); ++index, ++number) {
    const Array* array = test<Array>(L, index);
    if (!array)
      throw Error("[{}] expected an array as {} {}, got {}{}", op, what, number, describe(L, index),
                  lua_isnumber(L, index) ? "; gpu.full({}, number, dtype) makes one" : "");
    arrays.push_back(*array);
  }
  return arrays;
}

/// Runs a part of the loop. When it fails, the loop ends.
template <class Part>
int run_part(DeviceLoop& loop, Part part) {
  try {
    part();
  } catch (...) {
    loop.abandon();
    throw;
  }
  return 0;
}

/// start_loop(last, asks, arrays...): the loop, which carries the arrays; whether it records its steps. `last`: the
/// last loop that did, or nil.
int start_loop(lua_State* L) {
  Bindings& bindings = bindings_of(L);
  OpenDevice& device = bindings.device();
  const bool asks = lua_toboolean(L, 2);
  const char* op = asks ? "loop_while" : "loop";
  const std::vector<Array> arrays = check_arrays(L, 3, op, "argument", asks ? 2 : 3);
  LoopHandle handle{device.shared_from_this(), device.stream(), nullptr, nullptr};
  if (!is_recording(bindings.context())) {
    // A new stream would have new handles of the libraries that the function calls.
    const auto* last = test<LoopHandle>(L, 1);
    const bool fits = last && last->device == handle.device && last->outer == handle.outer;
    handle.stream = fits ? last->stream : device.device().create_stream();
  }
  handle.loop = std::make_shared<DeviceLoop>(device, op, arrays, asks, handle.stream);
  lua_pushboolean(L, handle.loop->records());
  push(L, std::move(handle));
  lua_insert(L, -2);
  return 2;
}

/// step_arguments(loop): what the function of the loop is called with.
int step_arguments(lua_State* L) {
  return push_arrays(L, check_loop(L).arguments());
}

/// take_step(loop, results...): the function has given them.
int take_step(lua_State* L) {
  DeviceLoop& loop = check_loop(L);
  return run_part(loop, [&] { loop.take(check_arrays(L, 2, loop.op(), "result", 1)); });
}

/// steps_of_launch(loop)
int steps_of_launch(lua_State* L) {
  lua_pushnumber(L, static_cast<double>(check_loop(L).steps_of_launch()));
  return 1;
}

/// record_loop(loop): from now on steps are recorded.
int record_loop(lua_State* L) {
  DeviceLoop& loop = check_loop(L);
  return run_part(loop, [&] { loop.record(); });
}

/// finish_loop(loop): the last recorded step has ended.
int finish_loop(lua_State* L) {
  DeviceLoop& loop = check_loop(L);
  return run_part(loop, [&] { loop.finish(); });
}

/// launch_loop(loop): runs the recorded steps.
int launch_loop(lua_State* L) {
  check_loop(L).launch();
  return 0;
}

/// launch_while(loop): whether the device runs the recorded step as long as its condition is true.
int launch_while(lua_State* L) {
  lua_pushboolean(L, check_loop(L).launch_while());
  return 1;
}

/// loop_goes_on(loop): the condition that the last step has given.
int loop_goes_on(lua_State* L) {
  lua_pushboolean(L, check_loop(L).goes_on());
  return 1;
}

/// end_loop(loop): the carried arrays.
int end_loop(lua_State* L) {
  return push_arrays(L, check_loop(L).end());
}

/// abandon_loop(loop): the function has failed.
int abandon_loop(lua_State* L) {
  check_loop(L).abandon();
  return 0;
}

}  // namespace

void add_loops(lua_State* L) {
  new_type<LoopHandle>(L, {}, "loop:", {});
  set_functions(L, {{"abandon_loop", protect<abandon_loop>},
                    {"end_loop", protect<end_loop>},
                    {"finish_loop", protect<finish_loop>},
                    {"launch_loop", protect<launch_loop>},
                    {"launch_while", protect<launch_while>},
                    {"loop_goes_on", protect<loop_goes_on>},
                    {"record_loop", protect<record_loop>},
                    {"start_loop", protect<start_loop>},
                    {"step_arguments", protect<step_arguments>},
                    {"steps_of_launch", protect<steps_of_launch>},
                    {"take_step", protect<take_step>}});
}

}  // namespace gpulua
