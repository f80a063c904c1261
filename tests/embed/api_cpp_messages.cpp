// gpulua.hpp and gpulua.h: messages that name the cause and what to write.

#include <pthread.h>

#include <filesystem>
#include <fstream>
#include <gpulua/gpulua.hpp>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <vector>

#include "tests/embed/api.h"

using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;
using gpulua::Array;
using gpulua::State;

namespace {

/// Runs the function on a thread with a stack of so many bytes.
template <class F>
void on_stack_of(std::size_t bytes, F function) {
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, bytes);
  pthread_t thread{};
  const auto run = [](void* data) -> void* { return (*static_cast<F*>(data))(), nullptr; };
  const int failed = pthread_create(&thread, &attributes, run, &function);
  pthread_attr_destroy(&attributes);
  REQUIRE(failed == 0);
  pthread_join(thread, nullptr);
}

/// The text of the error that the function throws; "" where it throws none.
template <class F>
std::string error_of(F function) {
  try {
    function();
  } catch (const gpulua::Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("gpulua.hpp: a script and a host that call each other without an end fill no C stack") {
  std::vector<std::string> errors;
  const auto attack = [&](const gpulua_options& options) {
    State state(options);
    state.bind<void(double)>("model.set", [&](double x) { state.call<void>("on_change", x); });
    state.bind<void()>("model.get", [&] { state.value<double>("model_view.x"); });
    state.run(
        "function on_change(x) model.set(math.min(x, 100)) end; "
        "model_view = setmetatable({}, {__index = function() model.get() end})");
    errors.push_back(error_of([&] { state.call<void>("on_change", 150.0); }));
    errors.push_back(error_of([&] { state.run("on_change(1)"); }));
    errors.push_back(error_of([&] { state.value<double>("model_view.x"); }));
    state.run("local x = 1 + 1; assert(x == 2)");
  };
  for (const gpulua_options& options : {options_with(0), options_with(GPULUA_SANDBOX)}) {
    attack(options);
    on_stack_of(std::size_t{256} << 10, [&] { attack(options); });
  }
  REQUIRE(errors.size() == 12);
  for (const std::string& error : errors) {
    CHECK_THAT(error,
               StartsWith("script:1: stack overflow: scripts and functions of the host program call each other"));
    CHECK(error.size() < 20000);  // not a traceback for each of the calls
  }
}

TEST_CASE("gpulua.hpp: calls that nest and end may nest some hundred deep") {
#ifdef __SANITIZE_ADDRESS__  // whose calls take three times the stack
  const int depth = 100;
#else
  const int depth = 200;
#endif
  State state;
  state.bind<double(double)>("down", [&](double n) { return n == 0 ? 0 : 1 + state.call<double>("step", n); });
  state.run("function step(n) return down(n - 1) end");
  CHECK(state.call<double>("down", depth) == depth);
}

TEST_CASE("gpulua.hpp: files that are no scripts") {
  State state;
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK_THROWS_WITH(state.run_file(folder),
                    "[run_file] expected a file that can be read, got '" + folder + "': Is a directory");
  const std::string missing = (std::filesystem::current_path() / "gpulua_no_such.lua").string();
  CHECK_THROWS_WITH(state.load_file<void()>("gpulua_no_such.lua"),
                    "[load_file] expected a file that can be read, got '" + missing + "': No such file or directory");
}

TEST_CASE("gpulua.hpp: a compile error has the line of the text that was run, not of a file with its name", "[cpu]") {
  State state("cpu");
  const std::string kernel = "__global__ void k() {\n  wrong;\n}";
  const std::string script = "local source = [[\n" + kernel + "]]\ngpu.kernel(source, 'k')";
  CHECK_THROWS_WITH(state.run(script, "kern.lua"), ContainsSubstring("\nkern.lua:3: error: "));
  std::ofstream("gpulua_kern.lua") << "-- another\n\n\n\n\n" << script;
  const std::string error = error_of([&] { state.run(script, "gpulua_kern.lua"); });
  const std::string generated =
      error_of([&] { state.run("gpu.kernel('__global__ void k() {\\n' .. '  bad;\\n}', 'k')", "gpulua_kern.lua"); });
  std::filesystem::remove("gpulua_kern.lua");
  CHECK_THAT(error, ContainsSubstring("\ngpulua_kern.lua:3: error: "));
  CHECK_THAT(generated, ContainsSubstring("<kernel source at gpulua_kern.lua:1>:2: error: "));
}

TEST_CASE("gpulua.hpp: paths that are misspelt name the neighbour, and never one of Lua's own names") {
  State state;
  state.run("local function scale() end; local price; settings = {gain = 1}; function shift() end");
  const std::string local = "; it is a local of script: without `local` it is a global, which the program sees";
  const std::string unset =
      "; nothing has set it yet: has the script run that does? A local of a script is not a global";
  const auto check = [&](const State& from, const std::string& name, const std::string& why) {
    CHECK_THROWS_WITH(from.get<void()>(name), "[get] expected a function at '" + name + "', got nil" + why);
  };
  for (const char* name : {"scale", "price"}) check(state, name, local);
  for (const char* name : {"tabel", "prnt"}) check(state, name, unset);
  check(State(), "scale", unset);
  gpulua_options options = State::defaults();
  options.flags = GPULUA_SANDBOX;
  State sandbox(options);
  sandbox.run("local scale = 1");
  check(sandbox, "scale", unset);
  CHECK_THROWS_WITH(state.get<void()>("shfit"), ContainsSubstring("did you mean \"shift\"?"));
  CHECK_THROWS_WITH(state.get<void()>("sqrt"), ContainsSubstring("did you mean \"gpu.sqrt\"?"));
  CHECK_THROWS_WITH(state.value<double>("settings.gian"),
                    "[value] expected a number at 'settings.gian', got nil; did you mean \"gain\"?");
  CHECK_THROWS_WITH(state.value<double>("settings.offset"), "[value] expected a number at 'settings.offset', got nil");
  CHECK_THROWS_WITH(state.value<double>("price"), "[value] expected a number at 'price', got nil" + local);
  CHECK_THROWS_WITH(state.value<double>("setings.gain"), ContainsSubstring("got nil; did you mean \"settings\"?"));
}

TEST_CASE("gpulua.hpp: texts without a copy, several results, and tables go through C++ functions") {
  State state;
  state.bind<std::size_t(const char*)>(
      "length", [](const char* text) { return text == nullptr ? 99 : std::string(text).size(); });
  state.bind<bool(std::string_view, std::string_view)>("same", [](auto a, auto b) { return a == b; });
  using Pair = std::tuple<std::string, double, std::string>;
  state.bind<Pair(double)>("pair", [](double x) { return Pair(std::string(40, 'a'), x, "short"); });
  state.bind<std::tuple<Array, const char*>(Array)>(
      "both", [](Array x) { return std::tuple<Array, const char*>(std::move(x), nullptr); });
  state.run(
      "assert(length('four') == 4 and length(nil) == 99 and same('a', 'a') and not same('a\\0', 'a\\0b'))\n"
      "local a, x, b, none = pair(3); assert(a == ('a'):rep(40) and x == 3 and b == 'short' and none == nil)\n"
      "local y, nothing = both(gpu.ones(3)); assert(y:sum():item() == 3 and nothing == nil)");
  CHECK_THROWS_WITH(state.run("length(3)"),
                    ContainsSubstring("[length] expected a text as argument 1, got the number 3"));

  state.run("settings = {gain = 2.5, name = 'rig'}");
  const gpulua::Object settings = state.value<gpulua::Object>("settings");
  CHECK(state.call<double>("rawget", settings, "gain") == 2.5);
  const auto fields =
      state.load<std::tuple<double, std::string>(const gpulua::Object&)>("local t = ... return t.gain, t.name");
  CHECK(fields(settings) == std::tuple<double, std::string>(2.5, "rig"));
  state.bind<gpulua::Object(gpulua::Object)>("pass", [](gpulua::Object table) { return table; });
  state.run("assert(pass(settings) == settings)");
  CHECK_THROWS_WITH(state.run("pass(1)"),
                    ContainsSubstring("[pass] expected an object as argument 1, got the number 1"));
}

TEST_CASE("gpulua.hpp: shapes are numbers or lists of them", "[cpu]") {
  State state("cpu");
  std::vector<double> data(6, 1.0);
  CHECK(state.borrow(data.data(), data.size()).shape() == std::vector<std::int64_t>{6});
  CHECK(state.copy(data.data(), 4).shape() == std::vector<std::int64_t>{4});
  CHECK(state.zeros<float>(3).shape() == std::vector<std::int64_t>{3});
  const Array x = state.borrow(data.data(), {2, 3});
  CHECK(state.zeros<float>(x.shape()).shape() == std::vector<std::int64_t>{2, 3});
}

TEST_CASE("gpulua.hpp: mistakes of a script in a call of a bound function") {
  State state;
  state.bind<double(int)>("port.read", [](int channel) { return 2.0 * channel; });
  state.bind<double(Array)>("norm2", [](Array) { return 1.0; });
  state.bind<void()>("seven", [] { throw 7; });
  const std::string colon =
      "; a call with a colon gives the table as the first argument: write port.read(...), with a dot";
  CHECK_THROWS_WITH(state.run("port:read(3)"), StartsWith("script:1: [port.read] expected 1 argument, got 2" + colon));
  CHECK_THROWS_WITH(state.run("port:read()"),
                    ContainsSubstring("expected a number as argument 1, got a table" + colon));
  CHECK_THROWS_WITH(state.run("print(port.raed(3))"),
                    ContainsSubstring("'raed' (a nil value)\nhint: did you mean read?"));
  CHECK_THROWS_WITH(state.run("norm2{1, 2, 3}"),
                    ContainsSubstring("got a table; gpu.array{1, 2, 3} makes one of a table of numbers"));
  CHECK_THROWS_WITH(state.run("seven()"), StartsWith("script:1: [seven] expected exceptions that are std::exception"));
  CHECK_THROWS_WITH(state.run("require 'gpulua'"), ContainsSubstring("hint: the module is named gpu"));
  const auto silent = [](gpulua_state*, void*, const gpulua_value*, std::size_t, gpulua_value*, std::size_t*) {
    return GPULUA_RUNTIME;
  };
  REQUIRE(gpulua_register(state.handle(), "silent", silent, nullptr) == GPULUA_OK);
  CHECK_THROWS_WITH(
      state.run("silent()"),
      StartsWith(
          "script:1: the host program's function gave GPULUA_RUNTIME without a text: return gpulua_fail(state, text)"));
}

TEST_CASE("gpulua.hpp: mistakes of the program say what to write") {
  State state;
  state.run("function pair() return 1, 2 end; function total(x, k) return x:sum() * k end; n = 2.5; port = 8080");
  CHECK_THROWS_WITH((state.call<std::tuple<int, int, Array>>("pair")),
                    "[call] expected an array as result 3 of 'pair', got none; it gave 2 results");
  CHECK_THROWS_WITH((state.call<std::tuple<int, Array>>("pair")),
                    "[call] expected an array as result 2 of 'pair', got the number 2");
  CHECK_THROWS_WITH(
      state.call<double>("total", 2.0, state.zeros<float>(3)),
      ContainsSubstring("hint: x is a number, which has no methods: perhaps an argument in the place of"));
  CHECK_THROWS_WITH(state.value<int>("n"),
                    "[value] expected an integer that fits at 'n', got the number 2.5; double reads it");
  CHECK_THROWS_WITH(
      state.value<std::string>("port"),
      "[value] expected a text at 'port', got the number 8080; double reads a number, tostring(x) makes a text of it");
  state.set("host.build.version", 3);
  state.run("assert(host.build.version == 3)");
  CHECK_THROWS_WITH(state.load<void()>("while true do end").within(std::chrono::milliseconds(20)),
                    StartsWith("script:1: the call's deadline of 20 ms has passed\n"));
  auto other = std::make_unique<State>();
  const Array foreign = other->zeros<float>(2);
  CHECK_THROWS_WITH(
      state.call<void>("print", foreign),
      "[call] argument 1: expected an Array of this state, got one of another state; copy its elements: "
      "gpulua_array_copy_to there, gpulua_array_host here, in C++ state.copy(x.to_vector<float>(), x.shape())");
  CHECK_THROWS_WITH(state.set("x", foreign), StartsWith("[set] 'x': expected an Array of this state"));
  other.reset();
  CHECK_THROWS_WITH(
      foreign.to_vector<float>(),
      ContainsSubstring("whose state was destroyed: a program copies the elements that it still needs before that"));
  State moved = std::move(state);
  CHECK_THROWS_WITH(state.run("x = 1"), "[run] expected a state, got one that is empty or moved from");
  moved.bind<void()>("elsewhere", [&] {
    std::thread([&] {
      const std::string busy = error_of([&] { moved.run("x = 1"); });
      CHECK_THAT(busy, ContainsSubstring("one at a time can; give each thread a state of its own, or a mutex"));
    }).join();
  });
  moved.run("elsewhere()");
}

TEST_CASE("gpulua.hpp: the checker knows where borrowed memory ends", "[cpu]") {
  State state("cpu");
  std::vector<float> data(24, 1.0F);
  state.set("x", state.borrow(data.data() + 4, 8));
  state.run(
      "gpu.check(true)\n"
      "local k = gpu.kernel('__global__ void k(float* x, int i) { x[i] = 2; }', 'k'):over(1)\n"
      "function touch(i) local good, why = pcall(k, x, i) return good and 'good' or why end\n"
      "inside, last, before, behind = touch(0), touch(7), touch(-1), touch(8)\n"
      "total = (x + 1):sum():item()");
  CHECK(state.value<std::string>("inside") == "good");
  CHECK(state.value<std::string>("last") == "good");
  CHECK(state.value<double>("total") == 18);
  CHECK_THAT(state.value<std::string>("before"),
             ContainsSubstring("out-of-bounds write of 4 bytes: x[-1] of float32[8]"));
  CHECK_THAT(state.value<std::string>("behind"),
             ContainsSubstring("out-of-bounds write of 4 bytes: x[8] of float32[8]"));
  state.run("far = touch(2000)");
  CHECK_THAT(state.value<std::string>("far"), ContainsSubstring("x[2000] of float32[8]"));
  state.run(
      "local back = gpu.kernel('__global__ void k(float* x) { for (float* p = x + 7; p >= x - 1; p--) *p = 3; }', "
      "'k')\n"
      "local good, why = pcall(back:over(1), x)\n"
      "stepped = good and 'good' or why");
  CHECK_THAT(state.value<std::string>("stepped"), ContainsSubstring("[-1] of float32[8]"));
  CHECK(data[3] == 1);
  CHECK(data[12] == 1);
  // Another array over more of the memory: its elements are no other program's.
  state.set("all", state.borrow(data));
  state.run("behind = touch(8); all = nil");
  CHECK(state.value<std::string>("behind") == "good");
  CHECK(data[12] == 2);
  state.collect();
  state.collect();
  state.run("behind = touch(8)");
  CHECK_THAT(state.value<std::string>("behind"), ContainsSubstring("x[8] of float32[8]"));
}

TEST_CASE("gpulua_call: results are asked for with room for them, or not at all") {
  ApiState state;
  REQUIRE(state.run("function one() return 1 end") == GPULUA_OK);
  gpulua_function* const one = state.function("one");
  gpulua_value out = number_value(7);
  std::size_t count = 0;
  CHECK(gpulua_call(one, nullptr, 0, &out, &count, 0) == GPULUA_ARGUMENT);
  CHECK(state.error() ==
        "[call] expected *out_count, how many values fit at out, got 0; NULL for both drops the results");
  count = 1;
  CHECK(gpulua_call(one, nullptr, 0, &out, &count, 0) == GPULUA_OK);
  CHECK(out.as.number == 1);
}

TEST_CASE("gpulua.hpp: a function that yields to the program says what makes one that goes on") {
  State state("cpu");
  state.run(
      "function job(n) n = n + coroutine.yield(n) return n end\n"
      "function sorted() table.sort({2, 1, 3}, function(a, b) coroutine.yield() return a < b end) end");
  const std::string error = error_of([&] { state.call<double>("job", 1); });
  CHECK_THAT(error,
             ContainsSubstring("script:1: attempt to yield across C-call boundary; no coroutine runs here: job = "
                               "coroutine.wrap(job) makes a function"));
  CHECK_THAT(error_of([&] { state.call<void>("sorted"); }), ContainsSubstring("cannot yield: it returns its value"));
  state.run("job = coroutine.wrap(job)");
  CHECK(state.call<double>("job", 1) == 1);
  CHECK(state.call<double>("job", 2) == 3);
}
