// gpulua.hpp: how C++ lends and copies memory, keeps it, and takes lines that scripts print.

#include <array>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gpulua/gpulua.hpp>

#include "tests/catch.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::State;
using gpulua::Strides;

TEST_CASE("gpulua.hpp: memory is lent with strides, in bytes", "[cpu]") {
  struct Particle {
    float x;
    double mass;
  };
  State state("cpu");
  std::vector<Particle> particles(5);
  state.set("mass", state.borrow(&particles[0].mass, particles.size(), Strides(sizeof(Particle))));
  state.run("mass:copy_(gpu.arange(5))");
  for (std::size_t i = 0; i < particles.size(); ++i) CHECK(particles[i].mass == static_cast<double>(i));
  std::vector<float> columns = {1, 2, 3, 4, 5, 6};
  const Array matrix = state.borrow(columns, {2, 3}, {4, 8});
  CHECK(matrix.to_vector<float>() == std::vector<float>{1, 3, 5, 2, 4, 6});
  CHECK_THROWS_WITH(
      state.borrow(columns, {2, 3}, {4, 12}),
      "[borrow] expected strides, in bytes, within the 24 bytes that there are, got ones from byte 0 to 32");
  CHECK_THROWS_WITH(state.borrow(columns, {2, 3}, {4}), StartsWith("[borrow] expected strides for the 2 axes"));
  CHECK_THROWS_WITH(state.borrow(columns, {2, 3}, {1, 2}), ContainsSubstring("in multiples of 4 bytes"));
  auto owner = std::make_shared<int>(1);
  Array kept = state.borrow(columns.data(), {2, 3}, {4, 8}, owner);
  CHECK(owner.use_count() == 2);
  kept = Array();
  state.collect();
  state.sync();
  CHECK(owner.use_count() == 1);
}

TEST_CASE("gpulua.hpp: a member of structs is lent by its name", "[cpu]") {
  struct Body {
    float x, y, z;
    double mass, other;
    float position[3];
    std::array<double, 2> speed;
  };
  State state("cpu");
  std::vector<Body> bodies(5);
  const Array mass = state.borrow(bodies, &Body::mass);
  CHECK(mass.shape() == std::vector<std::int64_t>{5});
  CHECK(mass.strides() == std::vector<std::int64_t>{sizeof(Body)});
  state.set("mass", mass);
  state.set("position", state.borrow(bodies, &Body::position));
  state.set("speed", state.borrow(bodies, &Body::speed, "cpu"));
  state.run(
      "mass:copy_(gpu.arange(5))\n"
      "position:copy_(gpu.arange(15):reshape(5, 3))\n"
      "speed:copy_(gpu.arange(10):reshape(5, 2))");
  state.sync();
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    CHECK(bodies[i].mass == static_cast<double>(i));
    CHECK(bodies[i].other == 0);
    CHECK(bodies[i].position[2] == static_cast<float>(3 * i + 2));
    CHECK(bodies[i].speed[1] == static_cast<double>(2 * i + 1));
  }
  std::array<Body, 3> three{};
  three[2].y = 7;
  CHECK(state.borrow(three, &Body::y).to_vector<float>() == std::vector<float>{0, 0, 7});
  Body four[4] = {};
  four[3].x = 2;
  CHECK(state.borrow(four, &Body::x).to_vector<float>() == std::vector<float>{0, 0, 0, 2});
  std::vector<Body> none;
  CHECK(state.borrow(none, &Body::mass).size() == 0);
  CHECK(state.borrow(none, &Body::position).shape() == std::vector<std::int64_t>{0, 3});
  auto owned = std::make_shared<std::vector<Body>>(2);
  Array kept = state.borrow(owned, &Body::other);
  CHECK(owned.use_count() == 2);
  kept = Array();
  state.collect();
  state.sync();
  CHECK(owned.use_count() == 1);
}

TEST_CASE("gpulua.hpp: a vector that a shared_ptr owns is lent with it", "[cpu]") {
  State state("cpu");
  auto owned = std::make_shared<std::vector<double>>(4, 1.5);
  Array x = state.borrow(owned), y = state.borrow(owned, {2, 2});
  CHECK(owned.use_count() == 3);
  CHECK(y.shape() == std::vector<std::int64_t>{2, 2});
  CHECK_THROWS_WITH(state.borrow(owned, {3}), StartsWith("[borrow] expected a shape for the 4 elements"));
  CHECK_THROWS_WITH(state.borrow(std::shared_ptr<std::vector<double>>()),
                    StartsWith("[borrow] expected elements, got"));
  x = y = Array();
  state.collect();
  state.sync();
  CHECK(owned.use_count() == 1);
}

TEST_CASE("gpulua.hpp: numbers in braces and bits are copied") {
  State state;
  CHECK(state.copy({1.0f, 2.5f}).to_vector<float>() == std::vector<float>{1, 2.5f});
  CHECK(state.copy({1, 2, 3, 4}, {2, 2}).shape() == std::vector<std::int64_t>{2, 2});
  CHECK_THROWS_WITH(state.copy({1, 2, 3}, {2, 2}), StartsWith("[copy] expected a shape for the 3 elements"));
  const std::vector<bool> bits = {true, false, true};
  state.set("mask", state.copy(bits));
  state.run("assert(mask.dtype == 'bool' and gpu.array{10, 20, 30}[mask]:sum():item() == 40)");
  CHECK(state.copy(bits, {3, 1}).shape() == std::vector<std::int64_t>{3, 1});
}

TEST_CASE("gpulua.hpp: a span keeps its array", "[cpu]") {
  State state("cpu");
  const auto elements = [&](int n) {
    const Array x = state.load<Array(int)>("return gpu.range(1, ..., 'float32') * 2")(n);
    return x.span<float>();
  };
  const auto small = elements(1000), large = elements(2000);
  state.collect();
  state.run("for i = 1, 20 do local a, b = gpu.full(1000, 7), gpu.full(2000, 7) gpu.eval(a, b) end");
  CHECK(small[999] == 2000);
  CHECK(large[1999] == 4000);
  double sum = 0;
  for (const float x : state.call<Array>("gpu.ones", 100).span<float>()) sum += x;
  CHECK(sum == 100);
}

TEST_CASE("gpulua.hpp: functions that capture take what scripts print, and warnings", "[cpu]") {
  std::vector<std::string> lines, warnings;
  const auto print = [&](std::string_view line) {
    if (line == "stop") throw std::runtime_error("the disk is full");
    lines.emplace_back(line);
  };
  State state("cpu", print, [&](std::string_view warning) { warnings.emplace_back(warning); });
  State moved = std::move(state);
  moved.run("print('a', 1)\nlocal k = gpu.kernel('__global__ void k(float* x) { x[0] = 1; }', 'k')\nk:over(1)");
  moved.collect();
  CHECK(lines == std::vector<std::string>{"a\t1"});
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], StartsWith("script:3: [k] a launch was made and never called"));
  CHECK_THROWS_WITH(moved.run("\nprint('stop')"), StartsWith("script:2: the disk is full"));
  // Beside options, and one of the two alone.
  gpulua_options options = State::on("cpu");
  options.lua_memory = std::size_t{64} << 20;
  State with_options(options, {}, [&](std::string_view warning) { warnings.emplace_back(warning); });
  with_options.run("assert(gpu.ones(2):sum():item() == 2)");
}

TEST_CASE("gpulua.hpp: messages of C++ name what C++ writes", "[cpu]") {
  State state("cpu");
  const auto kernel = state.kernel("__global__ void f(float* y) { extern __shared__ float t[]; y[0] = t[0]; }", "f");
  CHECK_THROWS_WITH(kernel.with({1}, {256}), ContainsSubstring("kernel.with({n}, {256}, 4 * 256); 0 is none"));
  CHECK_THROWS_WITH(state.kernel("kernels/f.cu", "f"),
                    "[kernel] expected CUDA C++ source, got the name of a file, \"kernels/f.cu\"; "
                    "state.kernel_file(path, name) reads it");
  CHECK_THROWS_WITH(state.kernel_file("/nowhere/f.cu", "f"),
                    StartsWith("[kernel_file] expected a file that can be read, got '/nowhere/f.cu'"));
  std::function<double(double)> none;
  CHECK_THROWS_WITH(state.bind<double(double)>("twice", none),
                    "[bind] expected a function for 'twice', got an empty one");
  state.run("function range() return {1, 2} end");
  CHECK_THROWS_WITH(
      (state.call<std::tuple<double, double>>("range")),
      "[call] expected a number as result 1 of 'range', got a table; `return a, b` gives several results, "
      "`return {a, b}` one table");
  Array x = state.zeros<float>(3);
  CHECK_THROWS_WITH(x.assign(std::vector<float>(2)), "[assign] expected 3 elements, as the array has, got 2");
}
