// Many states, one after the other and at once. The long runs are left out unless they are named:
//   gpulua_api_test '[endurance]'

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "tests/embed/api.h"

namespace {

using Clock = std::chrono::steady_clock;

/// Bytes of the process in memory.
std::size_t resident() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages >> pages;
  return pages * 4096;
}

/// A state from its beginning to its end, with a device, handles that nobody releases, a callback and an error.
void live(bool with_device) {
  ApiState state(options_with(GPULUA_INTERRUPTIBLE));
  const auto callback = [](gpulua_state*, void*, const gpulua_value*, size_t, gpulua_value* out, size_t* count) {
    out[0] = number_value(4);
    *count = 1;
    return GPULUA_OK;
  };
  REQUIRE(gpulua_register(state.get(), "four", callback, nullptr) == GPULUA_OK);
  REQUIRE(state.run("function f(x) return x, four(), 'text', f end t = {} for i = 1, 100 do t[i] = {i} end") ==
          GPULUA_OK);
  const gpulua_value in = number_value(3);
  gpulua_value out[4];
  std::size_t count = 4;
  REQUIRE(gpulua_call(state.function("f"), &in, 1, out, &count, 0) == GPULUA_OK);
  REQUIRE(out[1].as.number == 4);
  REQUIRE(state.run("error('no')") == GPULUA_RUNTIME);
  if (!with_device) return;
  REQUIRE(state.run("x = gpu.ones(1000) * 2 s = x:sum():item()") == GPULUA_OK);
  REQUIRE(state.number("s") == 2000);
  gpulua_value value;
  REQUIRE(gpulua_get_value(state.get(), "x", &value) == GPULUA_OK);
}

/// Threads with a state each, until the time has passed and at least for some rounds: scripts, arrays, callbacks,
/// deadlines, interrupts and releases from the next thread. Gives the number of calls that went wrong.
int run_threads(int threads, int rounds, Clock::duration time) {
  const std::string script =
      "function add(x, k) return x + k end function spin() while true do end end "
      "function sum(x) return (x * 2):sum():item() end";
  {
    // So that the kernels are in the cache: no compilation is given up, again and again, on a slow machine.
    ApiState first;
    REQUIRE(first.run(script + " sum(add(gpu.ones(1000), 1))") == GPULUA_OK);
  }
  std::atomic<int> wrong{0};
  std::vector<std::atomic<gpulua_state*>> states(static_cast<std::size_t>(threads));
  std::atomic<bool> over{false};
  const auto end = Clock::now() + time;
  const auto work = [&](std::size_t mine) {
    const auto expect = [&](bool good) { wrong += good ? 0 : 1; };
    for (int round = 0; round < rounds || Clock::now() < end; ++round) {
      gpulua_options options = options_with(round % 2 == 0 ? 0U : unsigned{GPULUA_SANDBOX});
      gpulua_state* state = nullptr;
      expect(gpulua_create(&options, &state) == GPULUA_OK);
      states[mine] = state;
      // The next thread may have interrupted it.
      gpulua_status status = GPULUA_INTERRUPTED;
      while (status == GPULUA_INTERRUPTED) status = gpulua_run(state, script.data(), script.size(), "script");
      expect(status == GPULUA_OK);
      gpulua_function *add = nullptr, *spin = nullptr, *sum = nullptr;
      expect(gpulua_get(state, "add", &add) == GPULUA_OK && gpulua_get(state, "spin", &spin) == GPULUA_OK &&
             gpulua_get(state, "sum", &sum) == GPULUA_OK);
      const std::vector<float> ones(1000, 1.0F);
      const std::int64_t shape = 1000;
      for (int i = 0; i < 20; ++i) {
        gpulua_value in[2] = {}, out{};
        in[0].kind = GPULUA_ARRAY;
        expect(gpulua_array_host(state, const_cast<float*>(ones.data()), "float32", 1, &shape, nullptr, nullptr,
                                 nullptr, 1, &in[0].as.array) == GPULUA_OK);
        in[1] = number_value(i);
        std::size_t count = 1;
        status = gpulua_call(add, in, 2, &out, &count, 0);
        expect(status == GPULUA_OK || status == GPULUA_INTERRUPTED);
        if (status == GPULUA_OK) {
          gpulua_value total{};
          count = 1;
          status = gpulua_call(sum, &out, 1, &total, &count, 0);
          expect((status == GPULUA_OK && total.as.number == 2000.0 * (i + 1)) || status == GPULUA_INTERRUPTED);
          gpulua_array_release(out.as.array);
        }
        gpulua_array_release(in[0].as.array);
        if (i % 10 == 0) {
          status = gpulua_call(spin, nullptr, 0, nullptr, nullptr, 1);
          expect(status == GPULUA_DEADLINE || status == GPULUA_INTERRUPTED);
        }
      }
      expect(gpulua_destroy(state) == GPULUA_OK);
    }
  };
  std::vector<std::thread> workers;
  for (std::size_t i = 0; i < states.size(); ++i) workers.emplace_back(work, i);
  std::thread interrupts([&] {
    // One after the other, and seldom enough that kernels are compiled in between. Handles may be closed meanwhile.
    for (std::size_t i = 0; !over; ++i) {
      gpulua_interrupt(states[i % states.size()]);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (std::thread& worker : workers) worker.join();
  over = true;
  interrupts.join();
  return wrong;
}

void check_memory(int states, bool with_device) {
  for (int i = 0; i < 100; ++i) live(with_device);
  const std::size_t before = resident();
  for (int i = 0; i < states; ++i) live(with_device);
  const std::size_t after = resident();
  WARN(states << (with_device ? " states with a device: " : " states: ") << before / 1024 << " KB resident before, "
              << after / 1024 << " KB after");
  // A kilobyte that each state leaves would be 10 MB. AddressSanitizer keeps freed memory for a while.
#ifndef __SANITIZE_ADDRESS__
  CHECK(after < before + (std::size_t{4} << 20));
#endif
}

}  // namespace

TEST_CASE("eight threads with a state each") {
  CHECK(run_threads(8, 2, {}) == 0);
}

TEST_CASE("a minute of eight threads with a state each", "[.endurance]") {
  CHECK(run_threads(8, 1, std::chrono::seconds(60)) == 0);
}

TEST_CASE("ten thousand states leave nothing", "[.endurance]") {
  check_memory(10000, false);
}

TEST_CASE("ten thousand states that use a device leave nothing", "[.endurance]") {
  check_memory(10000, true);
}
