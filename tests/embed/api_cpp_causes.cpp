// gpulua.hpp: what messages tell about errors within others, about calls in callbacks, and about limits.

#include <chrono>
#include <exception>
#include <gpulua/gpulua.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/embed/api.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::Error;
using gpulua::State;
using std::chrono::milliseconds;

namespace {

/// The error that the function throws.
template <class F>
Error error_of(F function) {
  try {
    function();
  } catch (const Error& error) {
    return error;
  }
  return {GPULUA_OK, "no error"};
}

[[noreturn]] void fail_with_cause() {
  try {
    throw std::out_of_range("socket closed");
  } catch (...) {
    std::throw_with_nested(std::runtime_error("cannot read port"));
  }
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

}  // namespace

TEST_CASE("gpulua.hpp: the text of an error has those of its causes, each once") {
  State state;
  state.bind<void()>("read", &fail_with_cause);
  state.bind<void()>("poll", [&] {
    try {
      state.run("read()", "inner.lua");
    } catch (...) {
      throw Error(GPULUA_RUNTIME, "the board is gone", std::current_exception());
    }
  });
  state.bind<void()>("pass", [&] { state.run("read()", "inner.lua"); });
  state.bind<void()>("odd", [] {
    try {
      throw 7;
    } catch (...) {
      std::throw_with_nested(std::runtime_error("an odd number"));
    }
  });
  CHECK_THROWS_WITH(state.run("read()"), StartsWith("script:1: cannot read port\ncaused by: socket closed\nstack"));
  CHECK_THROWS_WITH(state.run("odd()"), StartsWith("script:1: an odd number\nstack"));
  const std::string why = state.load<std::string()>("return tostring(select(2, pcall(read)))")();
  CHECK(why == "script:1: cannot read port\ncaused by: socket closed");
  for (const char* script : {"poll()", "pass()", "local good, why = pcall(poll) error('polling: ' .. why, 0)"}) {
    const Error error = error_of([&] { state.run(script); });
    CHECK(count_of(error.what(), "cannot read port") == 1);
    CHECK(count_of(error.what(), "socket closed") == 1);
    CHECK(error.cause() != nullptr);
  }
  CHECK_THROWS_WITH(state.run("poll()"),
                    StartsWith("script:1: the board is gone\ncaused by: inner.lua:1: cannot read"));
  const Error own(GPULUA_RUNTIME, "outer", std::make_exception_ptr(std::runtime_error("inner")));
  CHECK(std::string(own.what()) == "outer\ncaused by: inner");
}

TEST_CASE("gpulua.hpp: a variable that is nil in the call of a bound function is named") {
  State state;
  state.bind<double(double, double)>("price", [](double spot, double strike) { return spot * strike; });
  state.bind<double(Array)>("model.norm", [](const Array& x) { return static_cast<double>(x.size()); });
  CHECK_THROWS_WITH(state.run("local p = price(sptos, 3)"),
                    StartsWith("script:1: [price] expected a number as argument 1, got nil; the global 'sptos' is not "
                               "defined\n"));
  CHECK_THROWS_WITH(
      state.run("local t = {spots = 1}\nprice(t.sptos, 3)"),
      StartsWith("script:2: [price] expected a number as argument 1, got nil; the field 'sptos' is nil; did "
                 "you mean \"spots\"?\n"));
  CHECK_THROWS_WITH(state.run("local function f(x) local n = model.norm(x) return n end f()"),
                    ContainsSubstring("[model.norm] expected an array as argument 1, got nil; the local 'x' is nil\n"));
  // Nothing tells which of two.
  CHECK_THROWS_WITH(state.run("price(one, other)"), ContainsSubstring("as argument 1, got nil\n"));
}

TEST_CASE("gpulua.hpp: calls that a callback may not make name it and its line") {
  State state;
  state.bind<void()>("port.tidy", [&] { state.collect(); });
  const Error error = error_of([&] { state.run("\nport.tidy()", "plugin.lua"); });
  CHECK_THAT(error.what(), StartsWith("plugin.lua:2: [collect] expected no callback of this state to run, got "
                                      "'port.tidy', which plugin.lua:2 has called; call this after it has returned"));
  // In C, too, where the callback passes on a status that it has not made.
  const auto quit = [](gpulua_state* self, void*, const gpulua_value*, std::size_t, gpulua_value*, std::size_t* count) {
    *count = 0;
    return gpulua_destroy(self);
  };
  REQUIRE(gpulua_register(state.handle(), "quit", quit, nullptr) == GPULUA_OK);
  CHECK_THROWS_WITH(state.run("quit()"),
                    StartsWith("script:1: [destroy] expected no callback of this state to run, got "
                               "'quit', which script:1 has called"));
}

TEST_CASE("gpulua.hpp: the status of an error in a callback reaches the program's call", "[cpu]") {
  State outer("cpu"), inner("cpu");
  const auto spin = inner.load<void()>("while true do end");
  outer.bind<void()>("hasty", [&] { spin.within(milliseconds(20)); });
  outer.bind<void()>("large", [&] { inner.run("gpu.zeros(1e15):eval()"); });
  outer.bind<void()>("wrong", [&] { inner.run("x = = 1"); });
  outer.bind<void()>("empty", [&] { static_cast<void>(Array().size()); });
  const auto status = [&](const char* script) { return error_of([&] { outer.run(script); }).status(); };
  CHECK(status("hasty()") == GPULUA_DEADLINE);
  CHECK(status("local good, why = pcall(hasty) error('late: ' .. why, 0)") == GPULUA_DEADLINE);
  CHECK(status("pcall(hasty) error('another')") == GPULUA_RUNTIME);
  CHECK(status("pcall(hasty)") == GPULUA_OK);
  CHECK(status("large()") == GPULUA_MEMORY);
  // Mistakes of the callback, not of this call.
  CHECK(status("wrong()") == GPULUA_RUNTIME);
  CHECK(status("empty()") == GPULUA_RUNTIME);
  CHECK(error_of([&] { outer.load<void()>("hasty()").within(std::chrono::minutes(1)); }).status() == GPULUA_DEADLINE);
  // An error of before, which is none of the next call's.
  CHECK(status("error 'plain'") == GPULUA_RUNTIME);
}

TEST_CASE("gpulua.hpp: advice about a launch is none about methods of Lua's", "[cpu]") {
  State state("cpu");
  const auto launch = state.kernel("__global__ void k(float* x, int n) { x[0] = n; }", "k").over(3);
  const std::string error = error_of([&] { launch(state.zeros<double>(3), 3); }).what();
  CHECK_THAT(error,
             StartsWith("[k] argument 1 (x): expected a float32 array for float*, got float64[3]; the kernel "
                        "writes it, so the memory itself is to be of float32: gpu.astype(x, \"float32\") is a copy"));
  CHECK_THAT(error, !ContainsSubstring("x:"));
  state.run("turned = gpu.zeros(3, 4).T; k = gpu.kernel('__global__ void k(float* x) { x[0] = 1; }', 'k'):over(1)");
  CHECK_THROWS_WITH(launch(state.value<Array>("turned"), 3),
                    ContainsSubstring("itself is to be row-major: gpu.copy(x) is a copy"));
  CHECK_THROWS_WITH(state.run("k(gpu.zeros(3, 'float64'))"),
                    ContainsSubstring("to be of float32: x:astype(\"float32\") is a copy"));
  CHECK_THROWS_WITH(state.run("return k(gpu.zeros(3, 'float64'))"),
                    ContainsSubstring("to be of float32: x:astype(\"float32\") is a copy"));
}

TEST_CASE("gpulua.hpp: limits name the field of the options", "[cpu]") {
  gpulua_options options = State::on("cpu");
  options.launches = 3;
  options.compilations = 20;
  options.blocks = 2;
  options.device_memory = std::size_t{1} << 20;
  options.lua_memory = std::size_t{32} << 20;
  State state(options);
  state.run("x = gpu.ones(4):eval()");
  CHECK_THROWS_WITH(state.run("for i = 1, 9 do (x + i):eval() end"),
                    ContainsSubstring("by launches of gpulua_options"));
  CHECK_THROWS_WITH(state.run("gpu.kernel('__global__ void k() {}', 'k') {grid = 9, block = 1}()"),
                    ContainsSubstring("by blocks of gpulua_options"));
  CHECK_THROWS_WITH(state.run("gpu.ones(1000000):eval()"),
                    ContainsSubstring("limit 1.049 MB, by device_memory of gpulua_options"));
  CHECK_THROWS_WITH(state.run("(gpu.rand(1000) + gpu.rand(1000, 1)):eval()"),
                    ContainsSubstring("limit 1.049 MB, by device_memory of gpulua_options"));
  CHECK_THROWS_WITH(state.run("gpu.set_memory_limit(1000) gpu.ones(1000):eval()"),
                    ContainsSubstring("limit 1 KB, by gpu.set_memory_limit"));
  CHECK_THROWS_WITH(state.run("local t = {} for i = 1, 1e8 do t[i] = {} end"), ContainsSubstring("by lua_memory;"));
  CHECK_THROWS_WITH(State("cpu").run("gpu.zeros(1e15):eval()"), !ContainsSubstring("gpulua_options"));
}

TEST_CASE("gpulua.hpp: strides that are none of whole elements say what they are") {
  State state("cpu");
  struct __attribute__((packed)) Packed {
    char tag;
    float x;
  };
  std::vector<Packed> packed(4);
  auto* const address = reinterpret_cast<float*>(reinterpret_cast<char*>(packed.data()) + 1);
  CHECK_THROWS_WITH(state.borrow(address, packed.size(), gpulua::Strides(sizeof(Packed))),
                    StartsWith("[borrow] expected strides in multiples of 4 bytes, the size of a float32, got (5,); in "
                               "structs that are packed"));
  CHECK_THROWS_WITH(state.borrow(address, 1),
                    ContainsSubstring("got one that leaves 1; where it is a member of a packed"));
  std::vector<double> matrix(6);
  CHECK_THROWS_WITH(state.borrow(matrix, {2, 3}, {3, 1}),
                    "[borrow] expected strides in multiples of 8 bytes, the size of a float64, got (3,1); strides are "
                    "bytes: those of as many elements are (24,8)");
}

TEST_CASE("gpulua.hpp: messages begin with what C++ has called") {
  auto state = std::make_unique<State>("cpu");
  const Array x = state->zeros<float>(3);
  State other = std::move(*state);
  CHECK_THROWS_WITH(state->zeros<float>(3), StartsWith("[zeros] expected a state, got one that is empty or moved"));
  CHECK_THROWS_WITH(state->bind<void()>("f", [] {}), StartsWith("[bind] expected a state"));
  CHECK_THROWS_WITH(other.call<void>("no.such"), StartsWith("[call] expected a table at 'no'"));
  gpulua_options options = State::defaults();
  options.default_dtype = "float16";
  CHECK_THROWS_WITH(State(options), StartsWith("[State] expected the default_dtype"));
  CHECK_THROWS_WITH(
      other.run("plugins/my plugin.lua"),
      ContainsSubstring("this looks like a path, where the text of the script is expected: run_file and"));
  CHECK_THROWS_WITH(other.run("x = = y.lua"), !ContainsSubstring("looks like a path"));
  { const State ends = std::move(other); }
  for (const auto& [call, op] : std::vector<std::pair<std::string, std::string>>{
           {error_of([&] { static_cast<void>(x.dtype()); }).what(), "dtype"},
           {error_of([&] { static_cast<void>(x.shape()); }).what(), "shape"},
           {error_of([&] { static_cast<void>(x.span<float>()); }).what(), "span"},
           {error_of([&] { static_cast<void>(x.data<float>()); }).what(), "data"},
           {error_of([&] { static_cast<void>(x.to_vector<float>()); }).what(), "to_vector"}})
    CHECK_THAT(call, StartsWith("[" + op + "] expected an Array, got an Array whose state was destroyed"));
}
