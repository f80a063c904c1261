// gpulua.hpp.

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <exception>
#include <gpulua/gpulua.hpp>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/embed/api.h"

using gpulua::Array;
using gpulua::State;

TEST_CASE("gpulua.hpp: functions with types, and arrays") {
  State state;
  state.run("function scale(x, k) return (x * k):sum():item() end; function twice(x) return x * 2 end");
  const auto scale = state.get<double(const Array&, double)>("scale");
  const Array ones = state.copy(std::vector<float>(1000, 1.0F));
  CHECK(scale(ones, 2.5) == 2500);
  const auto twice = state.get<Array(const Array&)>("twice");
  const Array doubled = twice(state.copy(std::vector<int>{1, 2, 3}));
  CHECK(doubled.dtype() == "int32");
  CHECK(doubled.shape() == std::vector<std::int64_t>{3});
  CHECK(doubled.to_vector<int>() == std::vector<int>{2, 4, 6});
  CHECK_THROWS_WITH(
      doubled.to_vector<float>(),
      "[to_vector] expected an array of float32, got one of int32; x.to_vector<std::int32_t>() reads these, "
      "state.call<gpulua::Array>(\"gpu.astype\", x, \"float32\") gives an array of float32");
  Array zeros = state.zeros<double>({2, 2});
  const double set[] = {1, 2, 3, 4};
  zeros.assign(set, 4);
  state.set("z", zeros);
  state.run("n = z:sum():item(); s = 'text'; b = true");
  CHECK(state.value<int>("n") == 10);
  CHECK(state.value<std::string>("s") == "text");
  CHECK(state.value<bool>("b"));
  CHECK_THROWS_WITH(
      state.value<double>("s"),
      "[value] expected a number at 's', got the text 'text'; tonumber(x) in the script makes a number of it, "
      "std::string reads the text");
  state.set("n", 2.5);
  CHECK_THROWS_WITH(state.value<int>("n"),
                    "[value] expected an integer that fits at 'n', got the number 2.5; double reads it");
  state.set("n", std::int64_t{1} << 60);
  CHECK(state.value<std::int64_t>("n") == std::int64_t{1} << 60);
  CHECK_THROWS_AS(state.value<int>("n"), gpulua::Error);
  state.set("n", -1e300);
  CHECK(state.value<double>("n") == -1e300);
  CHECK_THROWS_WITH(state.value<float>("n"), "[value] expected a number that fits at 'n', got the number -1e+300");
  state.run("n = 1 / 0");
  CHECK(state.value<float>("n") == std::numeric_limits<float>::infinity());
  CHECK_THROWS_WITH(
      state.load<double()>("return")(),
      Catch::Matchers::StartsWith("[call] expected a number as the result, got none; the script returned nothing"));
}

TEST_CASE("gpulua.hpp: nullptr and null texts are nil") {
  State state;
  state.run("function kind(x) return type(x) end");
  const char* const no_text = nullptr;
  CHECK(state.call<std::string>("kind", no_text) == "nil");
  CHECK(state.call<std::string>("kind", nullptr) == "nil");
  CHECK(state.call<std::string>("kind", "") == "string");
  state.set("kept", 1);
  state.set("kept", no_text);
  state.bind<const char*()>("nothing", [] { return static_cast<const char*>(nullptr); });
  state.run("assert(kept == nil and nothing() == nil); kept = 2");
  state.set("kept", nullptr);
  state.run("assert(kept == nil)");
}

TEST_CASE("gpulua.hpp: functions of scripts go through C++ functions, which may keep them") {
  using Unary = gpulua::Function<double(double)>;
  State state;
  std::vector<Unary> kept;
  state.bind<void(Unary)>("keep", [&](Unary function) { kept.push_back(std::move(function)); });
  state.bind<Unary(Unary)>("same", [](Unary function) { return function; });
  state.bind<const Unary&()>("last", [&]() -> const Unary& { return kept.back(); });
  state.run(
      "keep(function(x) return x + 1 end); y = same(function(x) return 2 * x end)(4) + last()(10); collectgarbage()");
  CHECK(state.value<double>("y") == 19);
  CHECK(kept.at(0)(1) == 2);
  CHECK_THROWS_WITH(state.run("keep({})"),
                    Catch::Matchers::ContainsSubstring("[keep] expected a function as argument 1, got a table"));
}

TEST_CASE("gpulua.hpp: the end of a state in its own callback is the program's, with a message") {
  int output[2];
  REQUIRE(pipe(output) == 0);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(output[1], STDERR_FILENO);
    std::set_terminate([] { _exit(7); });
    auto state = std::make_unique<State>();
    state->bind<void()>("quit", [&] { state.reset(); });
    state->run("quit()");
    _exit(0);
  }
  close(output[1]);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  char message[300] = {};
  CHECK(read(output[0], message, sizeof message - 1) > 0);
  close(output[0]);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);
  CHECK_THAT(message, Catch::Matchers::StartsWith("[State] cannot end while it runs something"));
  CHECK_THAT(message,
             Catch::Matchers::EndsWith(
                 "[destroy] expected no callback of this state to run, got 'quit', "
                 "which script:1 has called; call this after it has returned, such as when it has set a flag\n"));
}

TEST_CASE("gpulua.hpp: array functions and kernels without a line of Lua") {
  State state;
  const Array x = state.copy(std::vector<float>{1, 4, 9});
  CHECK(state.call<Array>("gpu.sqrt", x).to_vector<float>() == std::vector<float>{1, 2, 3});
  CHECK(state.call<Array>("gpu.power", x, 2).to_vector<float>() == std::vector<float>{1, 16, 81});
  CHECK_THROWS_WITH(state.call<Array>("gpu.sqroot", x), Catch::Matchers::ContainsSubstring("no field \"sqroot\""));

  const auto kernel = state.kernel(
      "__global__ void axpy(float a, const float* x, float* y, int n) {\n"
      "  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
      "  if (i < n) y[i] += a * x[i];\n"
      "}",
      "axpy");
  const Array y = state.zeros<float>({3});
  const auto axpy = kernel.over(3);
  axpy(2.0F, x, y, 3);
  axpy(1, x, y, 3);
  CHECK(y.to_vector<float>() == std::vector<float>{3, 12, 27});
  kernel.with({1}, {2, 1, 1})(1.0, x, y, 3);
  CHECK(y.to_vector<float>() == std::vector<float>{4, 16, 27});
  CHECK_THROWS_WITH(axpy(2.0F, x, state.zeros<double>({3}), 3), Catch::Matchers::ContainsSubstring("float64"));
  CHECK_THROWS_WITH(state.kernel("__global__ void f() { undefined(); }", "f"),
                    Catch::Matchers::ContainsSubstring("undefined"));

  // A script's functions are values too.
  const auto made =
      state.load<gpulua::Function<double(double)>(double)>("local k = ... return function(x) return k * x end");
  const auto triple = made(3);
  CHECK(triple(5) == 15);
  CHECK(state.load<double(const gpulua::Function<double(double)>&)>("return (...)(2)")(triple) == 6);
  CHECK_THROWS_WITH(state.load<void()>("x = = 1"), Catch::Matchers::ContainsSubstring("script:1:"));
}

TEST_CASE("gpulua.hpp: C++ functions in scripts, and errors both ways") {
  State state;
  int calls = 0;
  state.bind<double(double, const std::string&)>("host.port", [&](double x, const std::string& name) {
    ++calls;
    if (name != "a") throw std::runtime_error("no port " + name);
    return 2 * x;
  });
  state.bind<std::string()>("host.name", [] { return std::string("rig"); });
  state.bind<Array(Array)>("host.same", [](Array x) { return x; });
  state.bind<void(bool)>("host.note", [&](bool) { ++calls; });
  state.run("x = host.port(4, 'a'); name = host.name(); host.note(true); s = host.same(gpu.ones(5)):sum():item()");
  CHECK(state.value<double>("x") == 8);
  CHECK(state.value<std::string>("name") == "rig");
  CHECK(state.value<double>("s") == 5);
  CHECK(calls == 2);
  try {
    state.run("x = 1\nhost.port(1, 'b')", "rig.lua");
    FAIL("no error");
  } catch (const gpulua::Error& error) {
    CHECK(error.status() == GPULUA_RUNTIME);
    CHECK(std::string(error.what()).find("rig.lua:2: no port b") == 0);
  }
  CHECK_THROWS_WITH(state.run("host.name(1)"),
                    Catch::Matchers::ContainsSubstring("[host.name] expected 0 arguments, got 1"));
  CHECK_THROWS_WITH(state.run("host:note(true)"),
                    Catch::Matchers::ContainsSubstring("[host.note] expected 1 argument, got 2"));
  CHECK_THROWS_WITH(
      state.run("host.port('x', 'a')"),
      Catch::Matchers::ContainsSubstring("[host.port] expected a number as argument 1, got the text 'x'"));
  CHECK_THROWS_WITH(state.run("host.port(1, gpu.ones(2))"),
                    Catch::Matchers::ContainsSubstring("[host.port] expected a text as argument 2, got an array"));
  CHECK_THROWS_AS(state.get<void()>("host.other"), gpulua::Error);
  // Tables on the way are made where they are not there.
  state.bind<double()>("host.deep.er.still", [] { return 6.0; });
  state.run("x = host.deep.er.still() + host.port(1, 'a')");
  CHECK(state.value<double>("x") == 8);
  CHECK_THROWS_WITH(state.bind<double()>("x.y", [] { return 6.0; }),
                    "[bind] expected a table at 'x' of the path 'x.y', got number");
}

TEST_CASE("gpulua.hpp: exceptions of the program's own class go through three levels of scripts") {
  struct Jam : std::runtime_error {
    using std::runtime_error::runtime_error;
    int port = 3;
  };
  State state;
  state.bind<void()>("jam", [] { throw Jam("port 3 is jammed"); });
  state.bind<void()>("seven", [] { throw 7; });
  state.bind<void()>("two", [&] { state.run("jam()", "two.lua"); });
  state.bind<void()>("one", [&] { state.run("local good = pcall(function() end); two()", "one.lua"); });
  std::string places;
  try {
    state.run("one()", "zero.lua");
    FAIL("no error");
  } catch (const gpulua::Error& outer) {
    std::exception_ptr cause = outer.cause();
    places = std::string(outer.what()).substr(0, 9);
    for (int level = 0; level < 2; ++level) {
      REQUIRE(cause);
      try {
        std::rethrow_exception(cause);
      } catch (const gpulua::Error& error) {
        places += ' ' + std::string(error.what()).substr(0, 8);
        cause = error.cause();
      }
    }
    REQUIRE(cause);
    CHECK_THROWS_AS(std::rethrow_exception(cause), Jam);
  }
  CHECK(places == "zero.lua: one.lua: two.lua:");

  const auto cause_of = [&](const char* script) {
    try {
      state.run(script);
    } catch (const gpulua::Error& error) {
      return error.cause();
    }
    FAIL("no error");
    return std::exception_ptr();
  };
  CHECK_THROWS_AS(std::rethrow_exception(cause_of("seven()")), int);
  CHECK(cause_of("pcall(jam); error 'another'") == nullptr);
  CHECK(cause_of("error 'of the script'") == nullptr);
  // A call within a bound function takes nothing away from the script around it.
  state.bind<void()>("calm", [&] { state.run("return"); });
  CHECK_THROWS_AS(std::rethrow_exception(cause_of("local _, why = pcall(jam); calm(); error(why, 0)")), Jam);
  state.run("x = 1");
  CHECK(state.value<int>("x") == 1);
}

TEST_CASE("gpulua.hpp: the program's memory, and objects that outlive the state", "[cpu]") {
  std::vector<float> data(16, 1.0F);
  Array kept;
  {
    State state("cpu");
    kept = state.borrow(data.data(), {4, 4});
    state.set("x", kept);
    state.run("x:fill_(3)");
    CHECK(kept.data<float>() == data.data());
    const gpulua::Span<float> span = kept.span<float>();
    CHECK(span.data() == data.data());
    CHECK(span.size() == 16);
    for (float& element : span) element += 1;
    CHECK(state.load<double()>("return x:sum():item()")() == 64);
    const Array turned = state.load<Array()>("return x.T")();
    const std::string strided =
        " expected elements in row-major order, got a stride of 16 bytes on axis 2; gpu.contiguous(x) has them so";
    CHECK_THROWS_WITH(turned.span<float>(), "[span]" + strided);
    CHECK_THROWS_WITH(turned.data<float>(), "[data]" + strided);
    CHECK(state.call<Array>("gpu.contiguous", turned).span<float>()[1] == 4);
    CHECK_THROWS_WITH(kept.span<int>(),
                      "[span] expected an array of int32, got one of float32; x.span<float>() reads these, "
                      "state.call<gpulua::Array>(\"gpu.astype\", x, \"int32\") gives an array of int32");
    Array copied = state.copy(std::array<float, 2>{1, 2});
    copied.assign(std::array<float, 2>{3, 4});
    CHECK(copied.to_vector<float>() == std::vector<float>{3, 4});
    std::vector<double> other(3, 1.5);
    state.set("y", state.borrow_host(other.data(), {3}));
    state.run("y:add_(1)");
    CHECK(other == std::vector<double>(3, 2.5));
    State moved = std::move(state);
    moved.run("x:fill_(4)");
  }
  CHECK(data[15] == 4);
  CHECK_THROWS_AS(kept.shape(), gpulua::Error);
}

TEST_CASE("gpulua.hpp: the owner of borrowed memory lives as long as what uses it", "[cpu]") {
  auto memory = std::make_shared<std::vector<double>>(3, 2.0);
  const std::weak_ptr<std::vector<double>> life = memory;
  State state("cpu");
  double* const data = memory->data();
  state.set("x", state.borrow(data, {3}, memory));
  state.run("y = x * 2; x = nil");
  memory.reset();
  CHECK(state.load<double()>("return y:sum():item()")() == 12);
  CHECK_THROWS_AS(state.borrow(data, {-1}, life.lock()), gpulua::Error);
  state.run("y = nil");
  state.collect();
  state.collect();
  CHECK(life.expired());

  std::vector<float> elements{1, 2, 3};
  state.set("x", state.borrow(elements));
  state.run("x:add_(1)");
  CHECK(elements == std::vector<float>{2, 3, 4});
  std::array<int, 2> pair{5, 6};
  CHECK(state.borrow(pair).to_vector<int>() == std::vector<int>{5, 6});
}

TEST_CASE("gpulua.hpp: memory that cannot be that of an array is refused by name", "[cpu]") {
  State state("cpu");
  std::vector<double> data(4, 1.0);
  auto* const nowhere = static_cast<double*>(nullptr);
  auto* const shifted = reinterpret_cast<double*>(reinterpret_cast<char*>(data.data()) + 4);
  const std::string no_address = "expected an address of elements, got NULL";
  using Catch::Matchers::StartsWith;
  CHECK_THROWS_WITH(state.borrow(nowhere, {2, 2}), StartsWith("[borrow] " + no_address));
  CHECK_THROWS_WITH(state.borrow_host(nowhere, {4}), StartsWith("[borrow_host] " + no_address));
  CHECK_THROWS_WITH(state.copy(nowhere, {4}), StartsWith("[copy] " + no_address));
  CHECK_THROWS_WITH(state.borrow(shifted, {3}), StartsWith("[borrow] expected an address that is a multiple of 8"));
  CHECK_THROWS_WITH(state.borrow(data.data(), {-4}), StartsWith("[borrow] expected extents of 0 or more, got (-4,)"));
  CHECK_THROWS_WITH(state.zeros<double>({2, -1}), StartsWith("[zeros] expected extents of 0 or more, got (2,-1)"));
  CHECK_THROWS_WITH(state.borrow(data.data(), {4}, "tpu"), StartsWith("[device] expected one of"));
  const std::vector<std::int64_t> many(100, 1);
  CHECK_THROWS_WITH(state.borrow(data.data(), many), Catch::Matchers::ContainsSubstring("axes, got 100"));
  // Of no elements, no address is needed.
  CHECK(state.borrow(nowhere, {0, 3}).size() == 0);
  CHECK(state.copy(nowhere, {0}).size() == 0);
  Array x = state.borrow(data);
  CHECK_THROWS_WITH(x.assign(nowhere, 4), "[assign] expected host memory, got NULL");
  CHECK_THROWS_WITH(x.assign(data.data(), 3), StartsWith("[assign] expected 4 elements, as the array has, got 3"));
  CHECK_THROWS_AS(Array().to_vector<double>(), gpulua::Error);
}
