// gpulua.hpp: the forms in which paths, shapes, times and callbacks are given, and copies of objects.

#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <gpulua/gpulua.hpp>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/embed/api.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::State;

TEST_CASE("gpulua.hpp: positions in paths") {
  State state;
  state.run("cfg = {ports = {80, 443}, stages = {{gain = 2}, {gain = 3}}, ['7'] = 'seven'}; x = gpu.arange(4)");
  CHECK(state.value<int>("cfg.ports[2]") == 443);
  CHECK(state.value<int>("cfg.stages[2].gain") == 3);
  CHECK(state.value<std::string>("cfg.7") == "seven");
  CHECK(state.value<double>("x[3]") == 2);
  state.set("cfg.ports[3]", 8080);
  state.set("made[1][2].name", "deep");
  state.bind<int()>("handlers[1]", [] { return 5; });
  state.run("ports, deep, five = #cfg.ports, made[1][2].name, handlers[1]()");
  CHECK(state.value<int>("ports") == 3);
  CHECK(state.value<std::string>("deep") == "deep");
  CHECK(state.value<int>("five") == 5);
  CHECK(state.call<int>("handlers[1]") == 5);
  CHECK_THROWS_WITH(state.value<int>("cfg.ports.1"),
                    "[value] expected a number at 'cfg.ports.1', got nil; a position has brackets: 'cfg.ports[1]'");
  CHECK_THROWS_WITH(state.value<int>("cfg.stages.1.gain"),
                    "[value] expected a table at 'cfg.stages.1' of the path 'cfg.stages.1.gain', got nil; a position "
                    "has brackets: 'cfg.stages[1]'");
  CHECK_THROWS_WITH(state.value<int>("cfg.ports[9]"),
                    "[value] expected a number at 'cfg.ports[9]', got nil; #cfg.ports is 3");
  for (const char* path : {"cfg.ports[x]", "cfg.ports[1", "cfg.ports[]", "cfg.ports[1]x", "cfg.", ".cfg", "cfg..ports"})
    CHECK_THROWS_WITH(state.value<int>(path),
                      "[value] expected names with dots between them and positions in brackets, stages[1].gain, "
                      "got '" +
                          std::string(path) + "'");
}

TEST_CASE("gpulua.hpp: what print throws is the script's error") {
  struct Full : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  gpulua_options options = State::on("cpu");
  std::string lines;
  options.user = &lines;
  options.print = [](void* user, const char* text, std::size_t size) {
    const std::string line(text, size);
    if (line == "seven") throw 7;
    if (line == "stop") throw Full("the disk is full");
    *static_cast<std::string*>(user) += line + ";";
  };
  State state(options);
  State moved = std::move(state);
  moved.run("print('a', 1)");
  try {
    moved.run("print('b')\nprint('stop')");
    FAIL("no error");
  } catch (const gpulua::Error& error) {
    CHECK_THAT(error.what(), StartsWith("script:2: the disk is full"));
    REQUIRE(error.cause());
    CHECK_THROWS_AS(std::rethrow_exception(error.cause()), Full);
  }
  CHECK_THROWS_WITH(moved.run("print('seven')"), ContainsSubstring("script:1: [print] expected exceptions that are"));
  moved.run("good, why = pcall(print, 'stop') print('c')");
  CHECK_THAT(moved.value<std::string>("why"), ContainsSubstring("the disk is full"));
  CHECK(lines == "a\t1;b;c;");
}

TEST_CASE("gpulua_options.print without gpulua.hpp: it may fail, and run scripts") {
  gpulua_options options = on_cpu();
  options.print = [](void*, const char*, std::size_t) { throw std::runtime_error("the disk is full"); };
  ApiState plain(options);
  CHECK(plain.run("print('stop')") == GPULUA_RUNTIME);
  CHECK_THAT(plain.error(),
             StartsWith("script.lua:1: [print] expected the host program's function to return gpulua_fail(state, "
                        "text), got a C++ exception that has left it: the disk is full"));
  options.print = [](void* user, const char* text, std::size_t size) {
    gpulua_state* const in = *static_cast<gpulua_state**>(user);
    if (gpulua_run(in, text, size, "printed") != GPULUA_OK) gpulua_fail(in, "no script");
  };
  gpulua_state* handle = nullptr;
  options.user = &handle;
  ApiState running(options);
  handle = running.get();
  CHECK(running.run("local a, b = 1, 2 print('x = 5') y = a + b") == GPULUA_OK);
  CHECK(running.number("x") == 5);
  CHECK(running.number("y") == 3);
  CHECK(running.run("\nprint('x =')") == GPULUA_RUNTIME);
  CHECK_THAT(running.error(), StartsWith("script.lua:2: no script"));
}

TEST_CASE("gpulua.hpp: copies of a Function, an Array and an Object are the same one of Lua's") {
  State state;
  state.run("function twice(x) return 2 * x end; t = {gain = 3}");
  std::function<double(double)> kept;
  gpulua::Function<double(double)> copy = state.get<double(double)>("twice");
  {
    const gpulua::Function<double(double)> first = copy;
    kept = first;
    copy = first;
  }
  CHECK(kept(2) == 4);
  CHECK(copy(3) == 6);
  Array x = state.copy(std::vector<float>{1, 2});
  const Array y = x;
  x.assign(std::vector<float>{3, 4});
  x = Array();
  CHECK(y.to_vector<float>() == std::vector<float>{3, 4});
  CHECK(y.ndim() == 1);
  const auto table = state.value<gpulua::Object>("t");
  const std::vector<gpulua::Object> tables(3, table);
  CHECK(state.call<double>("rawget", tables[2], "gain") == 3);
  const Array none, other = none;
  CHECK(other.handle() == nullptr);
}

TEST_CASE("gpulua.hpp: shapes of any integers, checked against the container") {
  State state("cpu");
  std::vector<float> v(6, 1.0F);
  const std::size_t rows = 2;
  const std::uint8_t columns = 3;
  CHECK(state.borrow(v.data(), {rows, columns}).shape() == std::vector<std::int64_t>{2, 3});
  const Array x = state.borrow(v, {rows, columns, 1});
  CHECK(x.data<float>() == v.data());
  CHECK(state.copy(v, {columns, rows}).shape() == std::vector<std::int64_t>{3, 2});
  CHECK(state.zeros<float>(std::vector<unsigned>{4, 5}).size() == 20);
  CHECK(state.zeros<float>({}).ndim() == 0);
  CHECK_THROWS_WITH(state.borrow(v, {rows, std::size_t{4}}),
                    "[borrow] expected a shape for the 6 elements that there are, got (2,4) for 8; v.data() and a "
                    "shape take a part of them");
  CHECK(state.borrow_host(v, {rows, columns}).span<float>().data() == v.data());
  CHECK_THROWS_WITH(state.borrow_host(v, 7), ContainsSubstring("[borrow_host] expected a shape for the 6 elements"));
  CHECK_THROWS_WITH(state.copy(v, 5), ContainsSubstring("[copy] expected a shape for the 6 elements"));
  CHECK_THROWS_WITH(state.zeros<float>({std::numeric_limits<std::size_t>::max()}),
                    "[shape] expected an integer that int64_t holds, got 18446744073709551615");
  CHECK_THROWS_WITH(state.borrow(v, {-2, -3}), ContainsSubstring("expected extents of 0 or more, got (-2,-3)"));
  const auto owner = std::make_shared<std::vector<float>>(6, 2.0F);
  state.set("owned", state.borrow(*owner, {2, 3}, owner));
  CHECK(owner.use_count() > 1);
}

TEST_CASE("gpulua.hpp: times are durations") {
  using namespace std::chrono_literals;
  State state;
  const auto price = state.load<double(double)>("return 2 * ...");
  CHECK(price.within(std::chrono::minutes(1), 2) == 4);
  for (const auto time : {0ms, -5ms}) {
    try {
      price.within(time, 2);
      FAIL("no error");
    } catch (const gpulua::Error& error) {
      CHECK(error.status() == GPULUA_DEADLINE);
      CHECK_THAT(error.what(), ContainsSubstring("expected a deadline of more than 0 ms"));
    }
  }
  state.collect(1ms);
  state.collect(0ms);
  state.collect();
}
