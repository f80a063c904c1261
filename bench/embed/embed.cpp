// bench_embed: what the C interface costs a program. A state beside a bare Lua state; a call of a kept Lua function
// beside the same call by Lua's own C API; a kept function that launches one kernel beside the same launches by a loop
// of Lua, and on a GPU beside a C++ loop over cuLaunchKernel. In one process, batch by batch in turn.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <lua.hpp>
#include <string>
#include <thread>
#include <vector>

#include "include/gpulua/gpulua.h"

extern "C" double bench_launch_loop(int launches);

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* script = R"lua(
  local n = 128
  local saxpy = gpu.kernel([[
    extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
      size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
      if (i < n) out[i] = a * x[i] + y[i];
    }]], "saxpy")
  x, y, out = gpu.ones(n):eval(), gpu.ones(n):eval(), gpu.empty(n)
  local launch, x, y, out = saxpy {grid = 1, block = n}, x, y, out
  function empty() end
  function kept() launch(2, x, y, out, n) end
  function given(x, y, out) launch(2, x, y, out, n) end
  function loop(count) for _ = 1, count do launch(2, x, y, out, n) end end
)lua";

void check(gpulua_status status) {
  if (status == GPULUA_OK) return;
  std::fprintf(stderr, "%s\n", gpulua_error(nullptr));
  std::exit(1);
}

gpulua_function* get(gpulua_state* state, const char* name) {
  gpulua_function* function = nullptr;
  check(gpulua_get(state, name, &function));
  return function;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Microseconds of one of `count` runs.
template <class Work>
double time(int count, Work work) {
  const Clock::time_point start = Clock::now();
  for (int i = 0; i < count; ++i) work();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count() / count;
}

/// Prints both medians of the batches, and the median of their ratios.
template <class Ours, class Peer>
void compare(const char* what, const char* peer, int batches, Ours ours, Peer theirs) {
  std::vector<double> of_ours, of_theirs, ratios;
  for (int batch = 0; batch <= batches; ++batch) {  // the first one warms up
    const double a = ours(), b = theirs();
    if (batch == 0) continue;
    of_ours.push_back(a);
    of_theirs.push_back(b);
    ratios.push_back(a / b);
  }
  std::printf("%-44s %9.3f us   %-44s %9.3f us   ratio %.3f\n", what, median(of_ours), peer, median(of_theirs),
              median(ratios));
}

void bench_states() {
  compare(
      "create and destroy a state", "luaL_newstate, luaL_openlibs, lua_close", 51,
      [] {
        return time(20, [] {
          gpulua_state* state = nullptr;
          check(gpulua_create(nullptr, &state));
          check(gpulua_destroy(state));
        });
      },
      [] {
        return time(20, [] {
          lua_State* L = luaL_newstate();
          luaL_openlibs(L);
          lua_close(L);
        });
      });
}

/// How long an endless loop goes on after gpulua_interrupt().
void bench_interrupts() {
  gpulua_options options;
  gpulua_options_init(&options, sizeof options);
  options.flags = GPULUA_INTERRUPTIBLE;
  gpulua_state* state = nullptr;
  check(gpulua_create(&options, &state));
  const std::string loops =
      "function plain() local n = 0 while true do n = n + 1 end end "
      "function catching() while true do pcall(plain) end end";
  check(gpulua_run(state, loops.data(), loops.size(), "loops"));
  for (const char* name : {"plain", "catching"}) {
    gpulua_function* const function = get(state, name);
    std::vector<double> times;
    for (int i = 0; i < 100; ++i) {
      Clock::time_point pressed;
      std::thread other([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        pressed = Clock::now();
        gpulua_interrupt(state);
      });
      if (gpulua_call(function, nullptr, 0, nullptr, nullptr, 0) != GPULUA_INTERRUPTED) std::exit(1);
      const Clock::time_point ended = Clock::now();
      other.join();
      times.push_back(std::chrono::duration<double, std::micro>(ended - pressed).count());
    }
    check(gpulua_run(state, "x = 1", 5, "after"));
    std::printf("an endless loop, %-9s ends %.0f us after gpulua_interrupt, at most %.0f us (100 times)\n",
                (std::string(name) + ",").c_str(), median(times), *std::max_element(times.begin(), times.end()));
  }
  check(gpulua_destroy(state));
}

void bench_calls(gpulua_state* state) {
  gpulua_function* const empty = get(state, "empty");
  lua_State* L = luaL_newstate();
  luaL_loadstring(L, "return function() end");
  lua_call(L, 0, 1);
  compare(
      "call a function that does nothing", "lua_pcall of one", 51,
      [&] { return time(10000, [&] { check(gpulua_call(empty, nullptr, 0, nullptr, nullptr, 0)); }); },
      [&] {
        return time(10000, [&] {
          lua_pushvalue(L, 1);
          if (lua_pcall(L, 0, 0, 0) != 0) std::exit(1);
        });
      });
  lua_close(L);
}

void bench_launches(gpulua_state* state) {
  // Fewer than the driver queues before a launch waits for the device.
  constexpr int launches = 500, batches = 201;
  gpulua_function *const kept = get(state, "kept"), *const given = get(state, "given"),
                         *const loop = get(state, "loop");
  gpulua_value arrays[3];
  const char* const names[] = {"x", "y", "out"};
  for (int i = 0; i < 3; ++i) check(gpulua_get_value(state, names[i], &arrays[i]));

  const auto of_kept = [&] {
    check(gpulua_sync(state));
    return time(launches, [&] { check(gpulua_call(kept, nullptr, 0, nullptr, nullptr, 0)); });
  };
  const auto of_given = [&] {
    check(gpulua_sync(state));
    return time(launches, [&] { check(gpulua_call(given, arrays, 3, nullptr, nullptr, 0)); });
  };
  const auto of_loop = [&] {
    check(gpulua_sync(state));
    gpulua_value count{};
    count.kind = GPULUA_NUMBER;
    count.as.number = launches;
    return time(1, [&] { check(gpulua_call(loop, &count, 1, nullptr, nullptr, 0)); }) / launches;
  };
  compare("call a function with one launch", "the launch in a loop of Lua", batches, of_kept, of_loop);
  compare("the same, its three arrays as arguments", "the launch in a loop of Lua", batches, of_given, of_loop);
#ifdef GPULUA_BENCH_CUDA
  if (std::string(gpulua_array_device_name(arrays[0].as.array)).rfind("cuda", 0) == 0) {
    const auto of_driver = [&] {
      check(gpulua_sync(state));
      return bench_launch_loop(launches);
    };
    compare("call a function with one launch", "cuLaunchKernel in a loop of C++", batches, of_kept, of_driver);
    compare("the same, its three arrays as arguments", "cuLaunchKernel in a loop of C++", batches, of_given, of_driver);
  }
#endif
  for (const gpulua_value& array : arrays) gpulua_array_release(array.as.array);
}

}  // namespace

int main() {
  bench_states();
  bench_interrupts();
  gpulua_state* state = nullptr;
  check(gpulua_create(nullptr, &state));
  check(gpulua_run(state, script, std::char_traits<char>::length(script), "bench.lua"));
  bench_calls(state);
  bench_launches(state);
  check(gpulua_destroy(state));
}
