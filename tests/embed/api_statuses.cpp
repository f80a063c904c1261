// gpulua.h and gpulua.hpp: whose mistake a status tells, and what an error of memory names.

#include <gpulua/gpulua.hpp>
#include <string>

#include "tests/embed/api.h"

using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::State;

TEST_CASE("a status tells a mistake of the program's from one of a script's") {
  State state;
  const auto status = [](const auto& call) {
    try {
      call();
    } catch (const gpulua::Error& error) {
      return error.status();
    }
    return GPULUA_OK;
  };
  const char* const source = "__global__ void f(float* x, int n) { if (threadIdx.x < n) x[threadIdx.x] += 1; }";
  const auto kernel = state.kernel(source, "f");
  const Array x = state.zeros<float>(4), wide = state.zeros<double>(4);
  CHECK(status([&] { kernel.over(4)(x, 4); }) == GPULUA_OK);
  CHECK(status([&] { kernel.over(4)(wide, 4); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { kernel.over(4)(x); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { kernel.over(4)(4, x); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { kernel.over(4)(Array(), 4); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { kernel.over(-4)(x, 4); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { kernel.with({0}, {1})(x, 4); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { kernel.with({1}, {4096})(x, 4); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { state.kernel(source, "g"); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { state.kernel("__global__ void f(", "f"); }) == GPULUA_RUNTIME);
  CHECK(status([&] { state.get<void()>("missing"); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { state.get<void()>("gpu.sqrtt"); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { state.value<double>("a.b.c"); }) == GPULUA_ARGUMENT);
  CHECK(status([&] { state.call<void>("missing"); }) == GPULUA_ARGUMENT);
  // Scripts, what they have made, and functions of gpu.
  state.set("k", state.call<gpulua::Object>("gpu.kernel", source, "f"));
  state.run(
      "function launch(x) local done = k:over(4)(x, 4) return done end\n"
      "late = gpu.arange(3):take(gpu.array({9}, 'int32'))\n"
      "refuses = setmetatable({}, {__index = function(_, name) error('no ' .. name, 0) end,\n"
      "                            __newindex = function() error('no fields', 0) end})");
  CHECK(status([&] { state.call<void>("launch", wide); }) == GPULUA_RUNTIME);
  CHECK(status([&] { state.run("k:over(-4)"); }) == GPULUA_RUNTIME);
  CHECK(status([&] { state.value<double>("refuses.x"); }) == GPULUA_RUNTIME);
  CHECK(status([&] { state.set("refuses.x", 1); }) == GPULUA_RUNTIME);
  CHECK(status([&] { state.call<void>("gpu.item", state.value<Array>("late")); }) == GPULUA_RUNTIME);
  CHECK(status([&] { state.call<Array>("gpu.add", x, state.zeros<float>(3)); }) == GPULUA_RUNTIME);
  // A function of the program's that a script calls: its mistake is the script's error, and its own call's status.
  gpulua_status inner = GPULUA_OK;
  state.bind<void()>("port", [&] {
    inner = status([&] { kernel.over(4)(wide, 4); });
    kernel.over(4)(wide, 4);
  });
  CHECK(status([&] { state.run("port()"); }) == GPULUA_RUNTIME);
  CHECK(inner == GPULUA_ARGUMENT);
  // An error that is no text leaves nothing of the one before it.
  state.bind<void()>("late_port", [] { throw gpulua::Error(GPULUA_DEADLINE, "too late"); });
  CHECK(status([&] { state.run("late_port()"); }) == GPULUA_DEADLINE);
  CHECK(status([&] { state.run("error({})"); }) == GPULUA_RUNTIME);
}

TEST_CASE("an error of Lua's memory names what was called") {
  gpulua_options options = options_with(GPULUA_SANDBOX);
  options.lua_memory = std::size_t{24} << 20;
  State state(options);
  state.run("function tick() local t = {} for i = 1, 1e9 do t[i] = {} end end function give() return tick end",
            "plugin.lua");
  const auto text = [](const auto& call) -> std::string {
    try {
      call();
    } catch (const gpulua::Error& error) {
      CHECK(error.status() == GPULUA_MEMORY);
      return error.what();
    }
    return "";
  };
  CHECK_THAT(text([&] { state.call<void>("tick"); }),
             StartsWith("not enough memory calling 'tick', defined at plugin.lua:1; Lua's memory is full"));
  CHECK_THAT(text([&] { state.call<gpulua::Function<void()>>("give")(); }),
             StartsWith("not enough memory calling a function defined at plugin.lua:1; Lua's memory is full"));
  CHECK_THAT(text([&] { state.load<void()>("tick()", "main.lua")(); }),
             StartsWith("not enough memory running main.lua; Lua's memory is full"));
  CHECK_THAT(text([&] { state.run("tick()", "main.lua"); }),
             StartsWith("not enough memory running main.lua; Lua's memory is full"));
}
