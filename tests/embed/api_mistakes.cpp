// gpulua.h and gpulua.hpp: mistakes of programs, whose messages name the cause and the remedy.

#include <algorithm>
#include <gpulua/gpulua.hpp>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/embed/api.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::State;

namespace {

using Values = const gpulua_value*;
using Out = gpulua_value*;

gpulua_status forgets_status(gpulua_state* state, void*, Values, std::size_t, Out, std::size_t* out_count) {
  *out_count = 0;
  gpulua_fail(state, "the port is shut");
  return GPULUA_OK;
}

gpulua_status invents_status(gpulua_state*, void*, Values, std::size_t, Out, std::size_t*) {
  return static_cast<gpulua_status>(77);
}

gpulua_status returns_count(gpulua_state*, void*, Values in, std::size_t, Out out, std::size_t* out_count) {
  *out_count = static_cast<std::size_t>(in[0].as.number);
  std::fill(out, out + *out_count, number_value(3));
  return static_cast<gpulua_status>(*out_count);
}

gpulua_status fails_without_text(gpulua_state* state, void*, Values, std::size_t, Out, std::size_t*) {
  return gpulua_fail(state, nullptr);
}

/// The text of the error of an array's elements.
std::string error_of_elements(const Array& x) {
  return gpulua_array_evaluate(x.handle(), GPULUA_NO_STREAM, nullptr) == GPULUA_OK ? "" : gpulua_error(nullptr);
}

}  // namespace

TEST_CASE("callbacks whose failure is lost") {
  ApiState state;
  REQUIRE(gpulua_register(state.get(), "forgets", &forgets_status, nullptr) == GPULUA_OK);
  REQUIRE(gpulua_register(state.get(), "invents", &invents_status, nullptr) == GPULUA_OK);
  REQUIRE(gpulua_register(state.get(), "silent", &fails_without_text, nullptr) == GPULUA_OK);
  CHECK(state.run("forgets()") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(),
             StartsWith("script.lua:1: [callback] expected the status of gpulua_fail, got GPULUA_OK after "
                        "it; return gpulua_fail(state, text) passes the failure on: the port is shut"));
  CHECK(state.run("invents()") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), ContainsSubstring("gave 77, which is no gpulua_status, without a text"));
  CHECK(state.run("silent()") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), ContainsSubstring("without a text: gpulua_fail(state, text) says what has failed") &&
                                !ContainsSubstring("out_count"));
  REQUIRE(gpulua_register(state.get(), "counted", &returns_count, nullptr) == GPULUA_OK);
  CHECK(state.run("counted(0)") == GPULUA_OK);
  CHECK(state.run("counted(1)") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), ContainsSubstring("gave GPULUA_SYNTAX without a text: return gpulua_fail(state, text)"));
  CHECK_THAT(state.error(), ContainsSubstring("; a callback that has succeeded returns GPULUA_OK, 0: the number of its "
                                              "results, 1, is *out_count alone"));
  CHECK(state.run("counted(12)") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), ContainsSubstring("results, 12, is *out_count alone"));
  // A failure that the script has handled is none of the next call's.
  CHECK(state.run("pcall(silent); print('')") == GPULUA_OK);
  CHECK(gpulua_fail(state.get(), "late") == GPULUA_ARGUMENT);
  CHECK(state.error() ==
        "[fail] expected a callback of this state to run, whose error the text is, got none; text: late");
}

TEST_CASE("a text with the size of a pointer") {
  ApiState state;
  const char* const hint =
      "; the text ends after 8 bytes, the size of a pointer: where that is the sizeof of a char*, "
      "strlen(text) is meant";
  for (const char* const text : {"print('hello')", "x = (1 + 22)", "--[[ a comment ]] x = 1", "for i = 1, 3 do end"}) {
    CHECK(gpulua_run(state.get(), text, sizeof text, "hello.lua") == GPULUA_SYNTAX);
    CHECK_THAT(state.error(), ContainsSubstring(hint));
    gpulua_function* function = nullptr;
    CHECK(gpulua_load(state.get(), text, sizeof text, "hello.lua", &function) == GPULUA_SYNTAX);
    CHECK_THAT(state.error(), ContainsSubstring(hint));
  }
  for (const char* const text : {"x = = 12", "print('h", "print(1"}) {
    const std::size_t size = std::string(text).size() - (text[0] == 'p' ? 1 : 0);
    CHECK(gpulua_run(state.get(), text, size, "hello.lua") == GPULUA_SYNTAX);
    CHECK_THAT(state.error(), !ContainsSubstring("size of a pointer"));
  }
}

TEST_CASE("arguments of the C interface that make no sense") {
  ApiState state;
  REQUIRE(state.run("function f() end") == GPULUA_OK);
  gpulua_function* const f = state.function("f");
  CHECK(gpulua_call(f, nullptr, 0, nullptr, nullptr, -5) == GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), StartsWith("[call] expected deadline_ms of 0, for none, or more milliseconds, got -5;"));
  CHECK(gpulua_call(f, nullptr, 2, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), StartsWith("[call] expected 2 arguments at in, got NULL;"));
  CHECK(gpulua_run(state.get(), "x = 1", 5, "") == GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), ContainsSubstring("such as \"model.lua\", got an empty name"));
  CHECK(gpulua_run(state.get(), nullptr, 5, "x") == GPULUA_ARGUMENT);
  CHECK_THAT(state.error(), ContainsSubstring("got NULL for the text"));
  const gpulua_value one = number_value(1);
  for (const char* path : {"gpu", "gpu.x", "gpu[1]"}) {
    CHECK(gpulua_set(state.get(), path, &one) == GPULUA_ARGUMENT);
    CHECK_THAT(state.error(), StartsWith("[set] expected a path outside of gpu, which is the library's"));
  }
  CHECK(gpulua_set(state.get(), "gpus", &one) == GPULUA_OK);
  CHECK(gpulua_set(state.get(), "end", &one) == GPULUA_ARGUMENT);
  CHECK(state.error() ==
        "[set] expected names that scripts can write, got 'end' in the path 'end', a word of Lua's; 'end_' is a name");
  gpulua_function* found = nullptr;
  for (const char* path : {"a..b", "a[x]", "a[1", ".a"}) {
    CHECK(gpulua_get(state.get(), path, &found) != GPULUA_OK);
    CHECK_THAT(state.error(), StartsWith("[get] expected names with dots between them and positions in brackets"));
  }
  gpulua_function_release(f);
  CHECK(gpulua_call(f, nullptr, 0, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK_THAT(gpulua_error(nullptr),
             ContainsSubstring("a gpulua_function that was released: a handle is good until its last release; in C++"));
  gpulua_options options = options_with(0);
  options.device = "";
  gpulua_state* none = nullptr;
  CHECK(gpulua_create(&options, &none) == GPULUA_ARGUMENT);
  CHECK_THAT(gpulua_error(nullptr), ContainsSubstring("or NULL for the default one, got an empty text"));
}

TEST_CASE("an error of elements names the script whose tail call has queued them", "[cpu]") {
  State state("cpu");
  const std::string singular = "return gpu.linalg.inv(gpu.zeros(3, 3))";
  CHECK_THAT(error_of_elements(state.load<Array()>("\n" + singular, "inverse.lua")()),
             ContainsSubstring("U(1,1) is 0; queued at inverse.lua:2;"));
  state.run("function invert(x)\n  return gpu.linalg.inv(x)\nend", "model.lua");
  CHECK_THAT(error_of_elements(state.call<Array>("invert", state.zeros<float>({3, 3}))),
             ContainsSubstring("queued at model.lua:2;"));
  // Nothing tells which of two lines.
  const std::string either =
      "if ... then\n  return gpu.linalg.inv(gpu.zeros(3, 3))\nend\nreturn gpu.linalg.inv(gpu.zeros(2, 2))";
  CHECK_THAT(error_of_elements(state.load<Array()>(either, "either.lua")()), ContainsSubstring("queued at either.lua"));
  // No script has.
  CHECK_THAT(error_of_elements(state.call<Array>("gpu.linalg.inv", state.zeros<float>({3, 3}))),
             !ContainsSubstring("queued"));
}

TEST_CASE("gpulua.hpp: a launch that a program keeps for work that never comes is no mistake", "[cpu]") {
  std::vector<std::string> warnings;
  const auto log = [&](std::string_view warning) { warnings.emplace_back(warning); };
  const char* const source = "__global__ void k(float* x) { x[0] = 1; }";
  std::optional<gpulua::Launch> outlives;
  {
    State state("cpu", {}, log);
    const gpulua::Launch kept = state.kernel(source, "k").over(1);
    outlives.emplace(state.kernel(source, "k").over(1));
  }
  CHECK(warnings.empty());
  {
    State state("cpu", {}, log);
    state.run("local k = gpu.kernel('__global__ void k(float* x) { x[0] = 1; }', 'k')\nlaunch = k:over(1)");
  }
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], StartsWith("script:2: [k] a launch was made and never called"));
}

TEST_CASE("gpulua.hpp: a launch that is dropped and was never called is a warning of the next call", "[cpu]") {
  std::vector<std::string> warnings;
  State state("cpu", {}, [&](std::string_view warning) { warnings.emplace_back(warning); });
  // Each has a name of its own, as a warning is given once.
  const auto launch = [&](const std::string& name) {
    return state.kernel("__global__ void " + name + "(float* x) { x[0] = 1; }", name).over(1);
  };
  const auto next = [&] {
    state.sync();
    std::string names;
    for (const std::string& warning : std::exchange(warnings, {})) names += warning.substr(0, warning.find(' '));
    return names;
  };
  const Array x = state.zeros<float>(1);
  { const gpulua::Launch dropped = launch("dropped"); }
  CHECK(warnings.empty());
  state.sync();
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0] ==
        "[dropped] a launch was made and never called, so its kernel has not run: expected the arguments in a second "
        "call, as in dropped.over(n)(arguments)");
  warnings.clear();
  CHECK(next().empty());
  {
    const gpulua::Launch called = launch("called"), refuses = launch("refuses");
    called(x);
    CHECK_THROWS_AS(refuses(1), gpulua::Error);  // which is an Error of its own
  }
  CHECK(next().empty());
  CHECK(x.to_vector<float>() == std::vector<float>{1});
  // The last of all copies counts, and no object that was moved from.
  std::optional<gpulua::Launch> copy;
  {
    gpulua::Launch first = launch("copied");
    gpulua::Launch second = std::move(first);
    copy = second;
  }
  CHECK(next().empty());
  copy.reset();
  CHECK(next() == "[copied]");
  {
    gpulua::Launch first = launch("called_copy");
    copy = first;
  }
  (*copy)(x);
  copy.reset();
  CHECK(next().empty());
  // One of a callback has the script's line, and might be the script's: Lua tells when nothing has it any more.
  state.bind<void()>("drop", [&] { static_cast<void>(launch("in_callback")); });
  state.run("drop()");
  state.collect();
  CHECK(next() == "script:1:");
  copy = launch("on_thread");
  std::thread([&] { copy.reset(); }).join();
  CHECK(next() == "[on_thread]");
}

TEST_CASE("gpulua.hpp: a function of warnings may call the library", "[cpu]") {
  std::unique_ptr<State> state;
  int warnings = 0;
  const auto log = [&](std::string_view) { state->run("warned = (warned or 0) + 1"), ++warnings; };
  state = std::make_unique<State>("cpu", gpulua::State::Lines(), log);
  const gpulua::Kernel kernel = state->kernel("__global__ void k(float* x) { x[0] = 1; }", "k");
  { const gpulua::Launch dropped = kernel.over(1); }
  state->run("assert(warned == 1)");
  CHECK(warnings == 1);
}

TEST_CASE("gpulua.hpp: results of scripts and functions that give none") {
  State state;
  const std::string_view text = "function price(x) return 2 * x end function note(x) last = x end";
  CHECK_THROWS_WITH(
      state.load<double(double)>(text)(3),
      "[call] expected a number as the result, got none; the script returned nothing: end it with `return "
      "value`. A function that it defines is called by its name: state.run(text), then "
      "state.call<double>(\"name\", arguments...)");
  state.run(text);
  CHECK(state.call<double>("price", 3) == 6);
  CHECK_THROWS_WITH(
      state.call<double>("note", 3),
      "[call] expected a number as the result of 'note', got none; 'note', a function of script:1, returned "
      "nothing: end it with `return value`");
  CHECK_THROWS_WITH(state.load<Array()>("return nil")(), ContainsSubstring("got nil; does the function return it?"));
  CHECK_THROWS_WITH((state.call<std::tuple<double, double>>("note", 3)),
                    ContainsSubstring("'note', a function of script:1, returned nothing"));
  CHECK_THROWS_WITH((state.call<std::tuple<double, double>>("price", 3)),
                    "[call] expected a number as result 2 of 'price', got none; it gave 1 result");
}

TEST_CASE("gpulua.hpp: tracebacks have no functions that the library calls itself") {
  State state;
  const auto traceback_of = [&](const std::string& text) {
    try {
      state.run(text);
    } catch (const gpulua::Error& error) {
      const std::string what = error.what();
      return what.substr(what.find("\nstack traceback:\n"));
    }
    return std::string("no error");
  };
  const std::string in_script = "\nstack traceback:\n\tscript:2: in main chunk";
  CHECK(traceback_of("\ngpu.plot.line('x')") == in_script);
  CHECK(traceback_of("\ngpu.table{a = {1, 2}}:take('x', 3)") == in_script);
  // What a script calls itself stays.
  CHECK(traceback_of("\nerror('no')") == "\nstack traceback:\n\t[C]: in function 'error'\n\tscript:2: in main chunk");
}

TEST_CASE("gpulua.hpp: what cannot be set names the path") {
  State state;
  CHECK_THROWS_WITH(state.set("model.x", Array()),
                    "[set] expected an array at 'model.x', got one that is empty or moved from");
  CHECK_THROWS_WITH(state.set("model.x", gpulua::Object(nullptr)),
                    "[set] expected an object at 'model.x', got one that is empty or moved from");
  CHECK_THROWS_WITH(state.set("model.x", gpulua::Function<void()>(nullptr)),
                    "[set] expected a function at 'model.x', got one that is empty or moved from");
  CHECK_THROWS_WITH(state.set("model.x", ~std::uint64_t{0}),
                    StartsWith("[set] expected an integer that int64_t holds at 'model.x', got 1844"));
  state.run("assert(model == nil)");
}

TEST_CASE("gpulua.hpp: arrays and results that are not what the program takes them for") {
  State state;
  CHECK_THROWS_WITH(Array().size(), "[size] expected an array, got one that is empty or moved from");
  auto other = std::make_unique<State>();
  const Array closed = other->zeros<float>(2);
  other.reset();
  CHECK_THROWS_WITH(closed.size(), ContainsSubstring("whose state was destroyed"));
  state.run("half = gpu.ones(3, 'float16'); mask = gpu.ones(3, 'bool')");
  CHECK_THROWS_WITH(state.value<Array>("half").to_vector<float>(),
                    "[to_vector] expected an array of float32, got one of float16; C++ has no such type: "
                    "state.call<gpulua::Array>(\"gpu.astype\", x, \"float32\") gives an array of float32");
  CHECK_THROWS_WITH(state.value<Array>("mask").to_vector<double>(),
                    ContainsSubstring("x.to_vector<std::uint8_t>() reads these"));
  CHECK(state.value<Array>("mask").to_vector<std::uint8_t>() == std::vector<std::uint8_t>{1, 1, 1});
  const Array halves = state.call<Array>("gpu.astype", state.value<Array>("half"), "float32");
  CHECK(halves.to_vector<float>() == std::vector<float>{1, 1, 1});
  state.run("function add(a, b) return a + b end; model = {rate = function(self) return self.x end}");
  CHECK_THROWS_WITH(
      state.call<double>("add", 1.0),
      ContainsSubstring("hint: b is argument 2 of 2 that the function takes, and the host program's call"));
  CHECK_THROWS_WITH(state.run("add(1)"), !ContainsSubstring("host program"));
  CHECK_THROWS_WITH(state.call<double>("model.rate"), ContainsSubstring("hint: self is the table before a colon"));
  CHECK_THROWS_WITH(state.call<double>("model:rate"),
                    ContainsSubstring("a path has dots and no colon: \"model.rate\""));
  state.bind<Array()>("empty", [] { return Array(); });
  state.bind<std::uint64_t()>("large", [] { return ~std::uint64_t{0}; });
  CHECK_THROWS_WITH(state.run("empty()"), StartsWith("script:1: [empty] expected an array, got one that is empty"));
  CHECK_THROWS_WITH(state.run("large()"),
                    StartsWith("script:1: [large] expected an integer that int64_t holds, got 1844"));
  CHECK_THROWS_WITH(state.load<double()>("return function() end")(),
                    ContainsSubstring("got a function; call it in the script, f(...), or take it: gpulua::Function"));
}

TEST_CASE("gpulua.hpp: shapes that no array has, and arrays where a number is wanted", "[cpu]") {
  State state("cpu");
  std::vector<float> v(12);
  CHECK_THROWS_WITH(state.copy(v, {3, -1}), "[copy] expected extents of 0 or more, got (3,-1)");
  CHECK_THROWS_WITH(state.copy(v, {-3, -4}), "[copy] expected extents of 0 or more, got (-3,-4)");
  CHECK_THROWS_WITH(state.borrow(v, {-1, 12}), "[borrow] expected extents of 0 or more, got (-1,12)");
  const std::int64_t half = std::int64_t{1} << 32;
  std::vector<float> none;
  CHECK_THROWS_WITH(state.copy(none, {half, half}),
                    "[copy] expected a shape for the 0 elements that there are, got (4294967296,4294967296) for more "
                    "than int64_t counts");
  CHECK(state.copy(none, {0, half}).size() == 0);
  CHECK_THROWS_WITH(state.copy(v, {3, 5}), ContainsSubstring("got (3,5) for 15; v.data() and a shape take a part"));

  state.run("gains = {2, 3, 4}; one = {2}; none = {}; x = gpu.ones(3)");
  CHECK_THROWS_WITH(state.value<double>("gains[0]"),
                    "[value] expected a number at 'gains[0]', got nil; #gains is 3, and positions count from 1: "
                    "gains[1] to gains[3]");
  CHECK_THROWS_WITH(state.value<double>("gains[-1]"), ContainsSubstring("count from 1: gains[1] to gains[3]"));
  CHECK_THROWS_WITH(state.value<double>("one[0]"), EndsWith("#one is 1, and positions count from 1: one[1]"));
  CHECK_THROWS_WITH(state.value<double>("none[0]"), EndsWith("got nil; #none is 0"));
  CHECK_THROWS_WITH(state.value<double>("gains[0].low"), ContainsSubstring("gains[1] to gains[3]"));

  const Array x = state.value<Array>("x");
  const std::string advice =
      "; take it as gpulua::Array x: state.call<double>(\"gpu.item\", x) reads the number of one "
      "element";
  CHECK_THROWS_WITH(state.call<double>("gpu.sum", x),
                    EndsWith("as the result of 'gpu.sum', got an array of float32" + advice));
  CHECK_THROWS_WITH(state.value<int>("x"), EndsWith("at 'x', got an array of float32" + advice));
  CHECK_THROWS_WITH(state.call<bool>("gpu.all", x),
                    EndsWith("state.call<bool>(\"gpu.item\", x) reads the boolean of one element"));
  CHECK(state.call<double>("gpu.item", state.call<Array>("gpu.sum", x)) == 3);
  CHECK(state.call<bool>("gpu.item", state.call<Array>("gpu.all", x)));
  state.bind<double(double)>("twice", [](double n) { return 2 * n; });
  state.bind<bool(bool)>("no", [](bool n) { return !n; });
  CHECK_THROWS_WITH(state.run("twice(x)"), ContainsSubstring("; x:item() gives the number of an array of one element"));
  CHECK_THROWS_WITH(state.run("no(x)"), ContainsSubstring("; x:item() gives the boolean of an array of one element"));
}

TEST_CASE("messages of sandboxes and limits say whose choice it is") {
  gpulua_options options = options_with(GPULUA_SANDBOX);
  options.lua_memory = std::size_t{32} << 20;
  ApiState state(options);
  CHECK(state.run("gpu.default_dtype('float64')") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), ContainsSubstring("where the dtype is the host program's choice for all of its scripts"));
  CHECK_THAT(state.error(), ContainsSubstring("gpu.zeros(3, \"float64\")"));
  CHECK(state.run("os.getenv('HOME')") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), ContainsSubstring("hint: a sandbox has no getenv: it leaves out what reaches files"));
  CHECK(state.run("t = {}; t.missing()") == GPULUA_RUNTIME);
  CHECK_THAT(state.error(), !ContainsSubstring("a sandbox has no"));
  CHECK(state.run("local s = ('x'):rep(1e6); local t = {}; for i = 1, 1e6 do t[i] = s .. i end") == GPULUA_MEMORY);
  CHECK_THAT(
      state.error(),
      StartsWith("not enough memory running script.lua; Lua's memory is full, which the host program limits to"));
}
