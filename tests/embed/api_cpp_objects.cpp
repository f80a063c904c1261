// gpulua.h and gpulua.hpp: messages about tables, handles, kernels and shapes, which name the cause and the remedy.

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <gpulua/gpulua.hpp>
#include <string>
#include <vector>

#include "tests/embed/api.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::State;

TEST_CASE("gpulua.hpp: tables and other objects where another value is wanted") {
  State state;
  state.run("\nfunction stats(x)\n  return {mean = 1, n = 2}\nend\nmodel = {gain = 2}", "desk.lua");
  CHECK_THROWS_WITH(
      state.call<double>("stats", 1),
      "[call] expected a number as the result of 'stats', got a table; `return t.mean, t.n` gives fields, "
      "as a std::tuple<double, double>, and gpulua::Object takes the table, for a function of Lua: "
      "state.call<double>(\"rawget\", table, \"mean\")");
  CHECK(state.call<double>("rawget", state.call<gpulua::Object>("stats", 1), "mean") == 1);
  CHECK_THROWS_WITH(state.call<std::string>("stats", 1), ContainsSubstring("got a table; `return t.mean, t.n`"));
  CHECK_THROWS_WITH(state.call<bool>("stats", 1), ContainsSubstring("got a table; `return t.mean, t.n`"));
  CHECK_THROWS_WITH(state.value<double>("model"),
                    "[value] expected a number at 'model', got a table; a field has a path of its own, \"model.name\"");
  CHECK_THROWS_WITH(state.load<double()>("return coroutine.create(print)")(),
                    "[call] expected a number as the result, got a thread; gpulua::Object takes it");
  CHECK_THROWS_WITH(state.load<Array()>("return gpu.complex(1, 2)")(), EndsWith("got 1+2i; gpulua::Object takes it"));
}

TEST_CASE("the description of a handle says what it is of") {
  State state;
  state.run("\nfunction price(x)\n  return x\nend\nmodel = {}", "desk.lua");
  state.bind<void()>("bound", [] {});
  const auto of = [&](const char* path) {
    return std::string(gpulua_function_description(state.get<void()>(path).handle()));
  };
  CHECK(of("price") == "a function of desk.lua:2");
  CHECK(of("print") == "a function");
  CHECK(of("bound") == "a function");
  CHECK(of("gpu.add") == "a function");
  CHECK(gpulua_function_description(state.value<gpulua::Object>("model").handle()) == std::string("a table"));
  CHECK(gpulua_function_description(state.load<void()>("return 1").handle()) == std::string("a script"));
  CHECK(gpulua_function_description(nullptr) == nullptr);
  CHECK_THAT(gpulua_error(nullptr), StartsWith("[function_description] expected a gpulua_function, got NULL"));
  const auto nothing = state.load<gpulua::Function<double(double)>()>("\nreturn function() end", "made.lua")();
  CHECK_THROWS_WITH(nothing(1),
                    "[call] expected a number as the result, got none; a function of made.lua:2 returned nothing: end "
                    "it with `return value`");
}

TEST_CASE("gpulua.hpp: one of the two owners of a handle releases it") {
  State state;
  const Array x = state.zeros<float>(3);
  { const Array second(x.handle()); }
  const std::string advice =
      "an Array that was released: a handle is good until its last release; in C++ gpulua::Array(handle) takes the "
      "handle over, and `gpulua::Array b = a` is a second owner";
  CHECK_THROWS_WITH(x.to_vector<float>(), "[to_vector] expected an Array, got " + advice);
  CHECK_THROWS_WITH(state.call<double>("gpu.item", x), ContainsSubstring("got " + advice));
  CHECK_THROWS_WITH(state.set("x", x), ContainsSubstring("got " + advice));
  // Of a place that many handles have had since, both reasons are left.
  for (int i = 0; i < 100; ++i) static_cast<void>(state.zeros<float>(1));
  state.collect();
  CHECK_THROWS_WITH(x.size(), ContainsSubstring("an Array that was released, or whose state was destroyed: ") &&
                                  EndsWith("`gpulua::Array b = a` is a second owner"));
  state.run("function price() return 1 end t = {}");
  const auto price = state.get<double()>("price");
  { const auto second = gpulua::Function<double()>(price.handle()); }
  CHECK_THROWS_WITH(price(), StartsWith("[call] expected a Function or Object, got a Function or Object that was "
                                        "released: a handle is good until its last release; in C++"));
  const gpulua::Object t = state.value<gpulua::Object>("t");
  { const gpulua::Object second(t.handle()); }
  CHECK_THROWS_WITH(state.set("u", t), ContainsSubstring("got a Function or Object that was released"));
}

TEST_CASE("gpulua.hpp: errors of kernels name the kernel, or its file") {
  State state;
  CHECK_THROWS_WITH(state.kernel("__global__ void scale(float* x) {\n  x[0] = y;\n}", "scale"),
                    ContainsSubstring("<kernel scale>:2: error") || ContainsSubstring("<kernel scale>(2): error"));
  const std::string path = "gpulua_named.cu";
  std::ofstream(path) << "__global__ void scale(float* x) {\n  x[0] = y;\n}";
  CHECK_THROWS_WITH(state.kernel_file(path, "scale"),
                    ContainsSubstring(path + ":2: error") || ContainsSubstring(path + "(2): error"));
  std::remove(path.c_str());
  const gpulua::Kernel scale = state.kernel("__global__ void scale(float* x) { x[0] = 2; }", "scale");
  CHECK_THROWS_WITH(
      scale.with({1}, {2048}),
      ContainsSubstring("[launch] kernel 'scale': block has 2048 threads, the device takes at most 1024"));
}

TEST_CASE("gpulua.hpp: a kernel from a file in a sandbox", "[sandbox]") {
  gpulua_options options = State::defaults();
  options.flags = GPULUA_SANDBOX | GPULUA_KERNELS;
  const std::string path = "gpulua_sandboxed.cu";
  std::ofstream(path) << "__global__ void scale(float* x) { x[0] = 2; }";
  State sandbox(options);
  const Array x = sandbox.zeros<float>(1);
  sandbox.kernel_file(path, "scale").over(1)(x);
  CHECK(x.to_vector<float>() == std::vector<float>{2});
  std::remove(path.c_str());
}

TEST_CASE("shapes of int that were cast to int64_t", "[cpu]") {
  gpulua_options options;
  gpulua_options_init(&options, sizeof options);
  options.device = "cpu";
  ApiState state(options);
  const int sizes[] = {2, 3, 4096, 18138};
  std::int64_t shape[2];
  static_assert(sizeof sizes == sizeof shape);
  std::memcpy(shape, sizes, sizeof shape);
  const std::string advice = "; extents are int64_t, and 12884901890 is the int pair (2,3)";
  float data[6] = {};
  gpulua_array* array = nullptr;
  CHECK(gpulua_array_host(state.get(), data, "float32", 2, shape, nullptr, nullptr, nullptr, 1, &array) ==
        GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), EndsWith("got (12884901890," + std::to_string(shape[1]) + ")" + advice));
  CHECK(gpulua_array_zeros(state.get(), "float32", 2, shape, &array) == GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), EndsWith(advice));
  CHECK(gpulua_array_device(state.get(), nullptr, data, "float32", 2, shape, nullptr, nullptr, nullptr, &array) ==
        GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), EndsWith(advice));
  const std::int64_t large[] = {std::int64_t{1} << 40, std::int64_t{1} << 40};
  CHECK(gpulua_array_zeros(state.get(), "float32", 2, large, &array) == GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), !ContainsSubstring("int64_t"));
}
