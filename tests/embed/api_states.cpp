// States of the C interface: options, handles, threads, interrupts.

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include "tests/embed/api.h"

namespace {

using Clock = std::chrono::steady_clock;

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("options: an older caller's struct, an unknown flag, a newer caller's field") {
  gpulua_state* state = nullptr;
  gpulua_options options = options_with(0);
  CHECK(options.struct_size == sizeof options);

  // A program from before `lua_memory`: what lies after its struct is not read.
  options.struct_size = offsetof(gpulua_options, lua_memory);
  options.flags = ~0U;
  options.allocate = reinterpret_cast<void* (*)(void*, void*, size_t, size_t)>(1);
  REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
  CHECK(gpulua_run(state, "x = 1", 5, "s") == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);

  options = options_with(1U << 20);
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  CHECK(state == nullptr);
  CHECK(
      std::string(gpulua_error(nullptr)) ==
      "[create] expected flags of GPULUA_SANDBOX (1), GPULUA_KERNELS (2), GPULUA_INTERRUPTIBLE (4), GPULUA_STRICT (8), "
      "GPULUA_NO_FAULT_HANDLERS (32), got the unknown bit 1048576; gpulua_options_init sets the flags to 0");
  options = options_with(GPULUA_STRICT | 64 | 1U << 31);
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "got the unknown bits 64, 2147483648;"));
  // Programs with an older header set this flag for what is the default now.
  options = options_with(16);
  REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  options = options_with(16 | GPULUA_NO_FAULT_HANDLERS);
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "the bit 16 of an older gpulua.h, which asks for these handlers, got both"));

  struct {
    gpulua_options known;
    void* later;
  } newer{options_with(0), nullptr};
  newer.known.struct_size = sizeof newer;
  CHECK(gpulua_create(&newer.known, &state) == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  newer.later = &newer;
  CHECK(gpulua_create(&newer.known, &state) == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "newer gpulua.h"));

  // sizeof options, where options is a pointer, in both calls.
  for (const std::size_t size : {std::size_t{0}, sizeof(void*), offsetof(gpulua_options, lua_memory) - 1}) {
    options = options_with(GPULUA_SANDBOX);
    CHECK(gpulua_options_init(&options, size) == GPULUA_ARGUMENT);
    CHECK(has(gpulua_error(nullptr), "[options_init] expected options with struct_size = sizeof(gpulua_options)"));
    CHECK(options.flags == GPULUA_SANDBOX);
    options.struct_size = size;
    CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
    CHECK(state == nullptr);
  }
  CHECK(has(gpulua_error(nullptr), "[create] expected options with struct_size = sizeof(gpulua_options)"));
  CHECK(gpulua_options_init(&options, sizeof(void*)) == GPULUA_ARGUMENT);
  CHECK(options.struct_size == sizeof(void*));
  CHECK(has(gpulua_error(nullptr), "got 8, the size of a pointer"));
  CHECK(gpulua_options_init(nullptr, sizeof options) == GPULUA_ARGUMENT);
  // A program from before handlers of faults were the default asks for them.
  options = options_with(16);
  REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  CHECK(gpulua_create(nullptr, &state) == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  CHECK(gpulua_create(nullptr, nullptr) == GPULUA_ARGUMENT);
}

TEST_CASE("options: the dtype of real numbers") {
  gpulua_state* state = nullptr;
  gpulua_options options = options_with(0);
  std::string text = "float64";
  options.default_dtype = text.c_str();
  REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
  text = "another";  // the option's text is copied
  const std::string script = "assert(gpu.zeros(2).dtype == 'float64')";
  CHECK(gpulua_run(state, script.data(), script.size(), "s") == GPULUA_OK);
  CHECK(gpulua_destroy(state) == GPULUA_OK);
  options.default_dtype = "float16";
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr),
            "[create] expected the default_dtype \"float32\", C's float, or \"float64\", C's double, got \"float16\""));
}

TEST_CASE("a context and a stream of CUDA are for a GPU") {
  gpulua_state* state = nullptr;
  int stray = 0;
  gpulua_options options = options_with(0);
  options.device = "cpu";
  options.cu_stream = &stray;
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "[create] expected a CUDA device with cu_context or cu_stream"));
  options.cu_stream = nullptr;
  options.cu_context = &stray;
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  options.device = nullptr;
  options.flags = GPULUA_SANDBOX | GPULUA_KERNELS;
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  // A driver would read what is at the address.
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) return;
  options.flags = 0;
  ApiState with_context(options);
  CHECK(with_context.run("gpu.ones(1)") == GPULUA_UNAVAILABLE);
  CHECK(has(with_context.error(), "[device] expected NVIDIA's driver for the host program's CUcontext"));
  options.cu_context = nullptr;
  options.cu_stream = &stray;
  ApiState with_stream(options);
  for (int i = 0; i < 2; ++i) {
    CHECK(with_stream.run("gpu.ones(1):eval()") == GPULUA_RUNTIME);
    CHECK(has(with_stream.error(), "[stream] expected a device with streams of a driver, got cpu"));
  }
}

TEST_CASE("handles that are none") {
  ApiState a, b;
  REQUIRE(a.run("function f(g) return g end") == GPULUA_OK);
  gpulua_function* f = a.function("f");
  CHECK(gpulua_run(nullptr, "", 0, "s") == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "[run] expected a gpulua_state, got NULL"));
  CHECK(gpulua_run(reinterpret_cast<gpulua_state*>(f), "", 0, "s") == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "[run] expected a gpulua_state, got a gpulua_function"));
  int local = 0;
  CHECK(gpulua_run(reinterpret_cast<gpulua_state*>(&local), "", 0, "s") == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "got an address that is not a handle"));
  CHECK(gpulua_call(reinterpret_cast<gpulua_function*>(a.get()), nullptr, 0, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(nullptr), "[call] expected a gpulua_function, got a gpulua_state"));

  gpulua_value value{};
  value.kind = GPULUA_FUNCTION;
  value.as.function = f;
  CHECK(gpulua_set(b.get(), "f", &value) == GPULUA_ARGUMENT);
  CHECK(has(b.error(), "expected a gpulua_function of this state, got one of another state"));
  value.kind = 77;
  CHECK(gpulua_set(b.get(), "f", &value) == GPULUA_ARGUMENT);
  CHECK(has(b.error(), "expected a kind of gpulua_kind, got 77"));

  gpulua_state* closed = nullptr;
  REQUIRE(gpulua_create(nullptr, &closed) == GPULUA_OK);
  REQUIRE(gpulua_run(closed, "function g() end", 16, "s") == GPULUA_OK);
  gpulua_function* g = nullptr;
  REQUIRE(gpulua_get(closed, "g", &g) == GPULUA_OK);
  REQUIRE(gpulua_destroy(closed) == GPULUA_OK);
  CHECK(gpulua_run(closed, "", 0, "s") == GPULUA_ARGUMENT);
  CHECK(has(gpulua_error(closed), "a gpulua_state that was destroyed"));
  CHECK(gpulua_destroy(closed) == GPULUA_ARGUMENT);
  CHECK(gpulua_interrupt(closed) == GPULUA_ARGUMENT);
  CHECK(gpulua_call(g, nullptr, 0, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(gpulua_function_release(g) == GPULUA_ARGUMENT);
  CHECK(gpulua_destroy(nullptr) == GPULUA_OK);
}

TEST_CASE("an interrupt stops a loop, and the state goes on") {
  ApiState state(options_with(GPULUA_INTERRUPTIBLE));
  REQUIRE(state.run("function spin() while true do end end\n"
                    "function stubborn() while true do pcall(spin) end end") == GPULUA_OK);
  for (const char* name : {"spin", "stubborn"}) {
    gpulua_function* function = state.function(name);
    std::atomic<Clock::rep> pressed{0};
    std::atomic<bool> has_ended{false};
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      pressed = Clock::now().time_since_epoch().count();
      interrupt_until(state.get(), has_ended);
    });
    CHECK(gpulua_call(function, nullptr, 0, nullptr, nullptr, 0) == GPULUA_INTERRUPTED);
    has_ended = true;
    const auto late = Clock::now().time_since_epoch() - Clock::duration(pressed);
    other.join();
    INFO(name);
    CHECK(late < std::chrono::milliseconds(500));
    CHECK(has(state.error(), "interrupted by the host program"));
    REQUIRE(state.run("x = 0; for i = 1, 1000 do x = x + i end") == GPULUA_OK);
    CHECK(state.number("x") == 500500);
  }
  // Without a running call nothing happens.
  CHECK(gpulua_interrupt(state.get()) == GPULUA_OK);
  CHECK(state.run("x = gpu.ones(3):sum():item()") == GPULUA_OK);
  CHECK(state.run("jit.on()") == GPULUA_RUNTIME);
}

TEST_CASE("a second thread in a state gets GPULUA_BUSY") {
  ApiState state(options_with(GPULUA_INTERRUPTIBLE));
  REQUIRE(state.run("function spin() started = true; while true do end end") == GPULUA_OK);
  gpulua_function* spin = state.function("spin");
  std::atomic<bool> has_ended{false};
  std::thread first([&] {
    gpulua_status ended = GPULUA_BUSY;  // as long as the other thread's run is the one that came first
    while (ended == GPULUA_BUSY) ended = gpulua_call(spin, nullptr, 0, nullptr, nullptr, 0);
    CHECK(ended == GPULUA_INTERRUPTED);
    has_ended = true;
  });
  gpulua_status status = GPULUA_OK;
  while ((status = gpulua_run(state.get(), "", 0, "s")) == GPULUA_OK)
    std::this_thread::sleep_for(std::chrono::microseconds(50));  // the other thread's turn
  CHECK(status == GPULUA_BUSY);
  CHECK(has(gpulua_error(nullptr), "[run] another thread works in this state"));
  CHECK(gpulua_destroy(state.get()) == GPULUA_BUSY);
  CHECK(gpulua_function_retain(spin) == GPULUA_OK);
  CHECK(gpulua_function_release(spin) == GPULUA_OK);
  interrupt_until(state.get(), has_ended);
  first.join();
  CHECK(state.run("x = 1") == GPULUA_OK);
}

TEST_CASE("many interrupts hit the call that they are meant for") {
  ApiState state(options_with(GPULUA_INTERRUPTIBLE));
  REQUIRE(state.run("function work() local t = 0 for i = 1, 200 do t = t + i end return t end") == GPULUA_OK);
  gpulua_function* work = state.function("work");
  std::atomic<bool> done{false};
  std::thread other([&] {
    while (!done) gpulua_interrupt(state.get());
  });
  int finished = 0, stopped = 0;
  for (int i = 0; i < 3000; ++i) {
    gpulua_value out{};
    std::size_t count = 1;
    const gpulua_status status = gpulua_call(work, nullptr, 0, &out, &count, 0);
    if (status == GPULUA_OK)
      ++finished;
    else if (status == GPULUA_INTERRUPTED)
      ++stopped;
    else
      FAIL(status << " " << state.error());
    if (status == GPULUA_OK) REQUIRE(out.as.number == 20100);
  }
  done = true;
  other.join();
  CHECK(finished + stopped == 3000);
  gpulua_value out{};
  std::size_t count = 1;
  CHECK(gpulua_call(work, nullptr, 0, &out, &count, 0) == GPULUA_OK);
}

namespace {

struct Heap {
  std::size_t bytes = 0;
  int blocks = 0;
};

void* allocate(void* user, void* block, std::size_t old_size, std::size_t size) {
  auto& heap = *static_cast<Heap*>(user);
  heap.bytes += size - old_size;
  heap.blocks += (size > 0 ? 1 : 0) - (block != nullptr ? 1 : 0);
  if (size > 0) return std::realloc(block, size);
  std::free(block);
  return nullptr;
}

}  // namespace

TEST_CASE("Lua's memory is the host's, and has a limit") {
  Heap heap;
  gpulua_options options = options_with(0);
  options.allocate = &allocate;
  options.user = &heap;
  {
    ApiState state(options);
    CHECK(heap.bytes > 50'000);
    CHECK(state.run("t = {} for i = 1, 1e5 do t[i] = {i} end") == GPULUA_OK);
    CHECK(heap.bytes > 1'000'000);
  }
  CHECK(heap.bytes == 0);
  CHECK(heap.blocks == 0);

  options = options_with(0);
  options.lua_memory = 8 << 20;
  ApiState state(options);
  CHECK(state.run("local t = {} for i = 1, 1e7 do t[i] = {i} end") == GPULUA_MEMORY);
  CHECK(has(state.error(), "not enough memory"));
  CHECK(state.run("t = {} for i = 1, 1e4 do t[i] = {i} end") == GPULUA_OK);
}

TEST_CASE("garbage takes no memory from what is in use") {
  gpulua_options options = options_with(GPULUA_INTERRUPTIBLE);
  options.lua_memory = std::size_t{32} << 20;
  ApiState state(options);
  for (const int megabytes : {4, 8, 12, 16, 20, 24}) {
    INFO(megabytes);
    const std::string keep =
        "local kept = {} for i = 1, " + std::to_string(megabytes) + " do kept[i] = ('x'):rep(2^20 + i) end ";
    const std::string churn =
        "for i = 1, 40 do local s = ('y'):rep(2^20 + i) end for i = 1, 2e5 do local t = {i, i} end ";
    CHECK(state.run(keep + churn + "assert(#kept == " + std::to_string(megabytes) + ")") == GPULUA_OK);
    CHECK(state.run(keep + "error('no')") == GPULUA_RUNTIME);
    CHECK(state.run(churn) == GPULUA_OK);
  }
  CHECK(state.run("kept = {} for i = 1, 1e6 do kept[i] = {i} end") == GPULUA_MEMORY);
  // The memory is full of what is in use, and the state says so until the program gives some back.
  CHECK(state.run("for i = 1, 1e5 do local t = {i} end") == GPULUA_MEMORY);
  const gpulua_value nil{};
  CHECK(gpulua_set(state.get(), "kept", &nil) == GPULUA_OK);
  CHECK(gpulua_collect(state.get(), 0) == GPULUA_OK);
  CHECK(state.run("for i = 1, 1e5 do local t = {i} end") == GPULUA_OK);
}

TEST_CASE("arrays have the device's limit of the options") {
  gpulua_options options = options_with(0);
  options.device_memory = 1 << 20;
  ApiState state(options);
  CHECK(state.run("x = gpu.zeros(2^17)") == GPULUA_OK);
  CHECK(state.run("y = gpu.zeros(2^20):eval()") == GPULUA_MEMORY);
}

TEST_CASE("a state makes no device, and 300 states leave nothing") {
  for (int i = 0; i < 300; ++i) {
    ApiState state;
    REQUIRE(state.run("x = 1") == GPULUA_OK);
  }
}

TEST_CASE("collecting for a time, and waiting") {
  ApiState state;
  REQUIRE(state.run("for i = 1, 1e4 do local t = {i} end; x = gpu.ones(100) * 2") == GPULUA_OK);
  CHECK(gpulua_collect(state.get(), 1) == GPULUA_OK);
  CHECK(gpulua_collect(state.get(), -1) == GPULUA_ARGUMENT);
  CHECK(gpulua_sync(state.get()) == GPULUA_OK);
  CHECK(std::string(gpulua_status_name(GPULUA_LOST)) == "GPULUA_LOST");
  CHECK(std::string(gpulua_status_name(99)) == "an unknown status");
  CHECK(gpulua_abi_version() == GPULUA_ABI_VERSION);
}

TEST_CASE("a device of an unknown kind is an error of gpulua_create") {
  gpulua_options options = options_with(0);
  options.device = "banana:1";
  gpulua_state* state = nullptr;
  CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
  const std::string error = gpulua_error(nullptr);
  CHECK(error.find("[device] expected a device of the kinds ") == 0);
  CHECK(error.find("got \"banana:1\"; the name comes from the option device of gpulua_create") != error.npos);
  options.device = "cuda:999";
  ApiState late(options);
  CHECK(late.run("gpu.ones(2):eval()") == GPULUA_UNAVAILABLE);
  CHECK(late.error().find("; the name comes from the option device of gpulua_create") != std::string::npos);
}

TEST_CASE("a script's error with a byte of 0 is read as a whole") {
  ApiState state;
  CHECK(state.run("error('a\\0b\\0\\0c')") == GPULUA_RUNTIME);
  CHECK(state.error().find("a\\0b\\0\\0c") != std::string::npos);
}
