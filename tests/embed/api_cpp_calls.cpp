// gpulua.hpp: what fails says what and where, and values of more types.

#include <complex>
#include <cstdint>
#include <exception>
#include <fstream>
#include <gpulua/gpulua.hpp>
#include <limits>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/embed/api.h"

using Catch::Matchers::ContainsSubstring;
using gpulua::Array;
using gpulua::State;

namespace {

std::exception_ptr cause_of(State& state, const char* script) {
  try {
    state.run(script);
  } catch (const gpulua::Error& error) {
    return error.cause();
  }
  FAIL("no error");
  return nullptr;
}

}  // namespace

TEST_CASE("gpulua.hpp: an exception with an empty text is an error") {
  State state;
  state.bind<void()>("fail", [] { throw std::runtime_error(""); });
  state.run("good, why = pcall(fail)");
  CHECK_FALSE(state.value<bool>("good"));
  CHECK_THAT(state.value<std::string>("why"),
             ContainsSubstring("[fail] has thrown an exception whose what() is empty"));
  CHECK_THROWS_AS(std::rethrow_exception(cause_of(state, "fail()")), std::runtime_error);
}

TEST_CASE("gpulua.hpp: a cause belongs to its own error") {
  struct Jam : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  State state;
  state.bind<void()>("jam", [] { throw Jam("a"); });
  state.bind<void()>("seven", [] { throw 7; });
  CHECK_THROWS_AS(std::rethrow_exception(cause_of(state, "jam()")), Jam);
  CHECK_THROWS_AS(std::rethrow_exception(cause_of(state, "coroutine.wrap(jam)()")), Jam);
  CHECK_THROWS_AS(std::rethrow_exception(cause_of(state, "local _, why = pcall(jam); error(why)")), Jam);
  CHECK_THROWS_AS(std::rethrow_exception(cause_of(state, "local _, why = pcall(jam); error('read: ' .. why)")), Jam);
  CHECK_THROWS_AS(std::rethrow_exception(cause_of(state, "pcall(jam); seven()")), int);
  // The script has handled the exception: what it raises then is its own, whatever letters are in it.
  CHECK(cause_of(state, "pcall(jam); error('a jam of another kind')") == nullptr);
  CHECK(cause_of(state, "pcall(jam)\nerror('a')") == nullptr);
  CHECK(cause_of(state, "pcall(jam); local x = nil + 1") == nullptr);
  CHECK(cause_of(state, "pcall(jam); gpu.ones(3):bad()") == nullptr);
  // What another call has thrown is forgotten.
  state.run("_, kept = pcall(jam)");
  CHECK(cause_of(state, "error(kept, 0)") == nullptr);
  CHECK_THROWS_AS(state.value<int>("none"), gpulua::Error);
  // A C callback's error has none, or its own.
  const auto plain = [](gpulua_state* in, void*, const gpulua_value*, std::size_t, gpulua_value*, std::size_t*) {
    return gpulua_fail(in, "a");
  };
  REQUIRE(gpulua_register(state.handle(), "plain", plain, nullptr) == GPULUA_OK);
  CHECK(cause_of(state, "pcall(jam); plain()") == nullptr);
  CHECK(gpulua_error_cause() == nullptr);
  int mark = 0;
  const auto marked = [](gpulua_state* in, void* user, const gpulua_value*, std::size_t, gpulua_value*, std::size_t*) {
    return gpulua_fail_with(in, "", user);
  };
  REQUIRE(gpulua_register(state.handle(), "marked", marked, &mark) == GPULUA_OK);
  CHECK(cause_of(state, "marked()") == nullptr);
  CHECK(gpulua_error_cause() == &mark);
  CHECK_THAT(gpulua_error(state.handle()), ContainsSubstring("an error without a text"));
}

TEST_CASE("gpulua.hpp: a kernel with dynamic shared memory wants its size", "[cpu]") {
  State state("cpu");
  const auto kernel = state.kernel(
      "__global__ void turn(float* x) {\n"
      "  extern __shared__ float part[];\n"
      "  part[threadIdx.x] = x[threadIdx.x];\n"
      "  __syncthreads();\n"
      "  x[threadIdx.x] = part[blockDim.x - 1 - threadIdx.x];\n"
      "}",
      "turn");
  const Array x = state.copy(std::vector<float>{1, 2, 3, 4});
  CHECK_THROWS_WITH(kernel.with({1}, {4})(x), ContainsSubstring("[turn] expected the bytes of the kernel's"));
  kernel.with({1}, {4}, 4 * sizeof(float))(x);
  CHECK(x.to_vector<float>() == std::vector<float>{4, 3, 2, 1});
  // Errors have no line of a chunk that is none of the program's.
  CHECK_THROWS_WITH(kernel.with({1}, {4})(x), Catch::Matchers::StartsWith("[turn]"));
  CHECK_THROWS_WITH(state.kernel("__global__ void f() {}", "g"), Catch::Matchers::StartsWith("[module]"));
}

TEST_CASE("gpulua.hpp: integers of any width, complex elements, several results") {
  State state;
  const std::vector<double> v(7);
  state.run("function add(a, b) return a + b end; function pair() return 2, 'two' end");
  CHECK(state.call<double>("add", v.size(), std::uint64_t{1}) == 8);
  CHECK_THROWS_WITH(
      state.call<double>("add", std::numeric_limits<std::uint64_t>::max(), 1),
      ContainsSubstring("expected an integer that int64_t holds as argument 1, got 18446744073709551615"));
  const auto [number, text] = state.call<std::tuple<int, std::string>>("pair");
  CHECK(number == 2);
  CHECK(text == "two");
  CHECK_THROWS_WITH((state.call<std::tuple<int, std::string, Array>>("pair")),
                    "[call] expected an array as result 3 of 'pair', got none; it gave 2 results");
  using Complex = std::complex<float>;
  const Array z = state.copy(std::vector<Complex>{{1, 2}, {3, -4}});
  CHECK(z.dtype() == "complex64");
  CHECK(state.call<Array>("gpu.conj", z).to_vector<Complex>() == std::vector<Complex>{{1, -2}, {3, 4}});
}

TEST_CASE("gpulua.hpp: errors about results name the function and what helps") {
  State state;
  state.run("function f(x) return x end; function silent() end");
  const Array x = state.copy(std::vector<float>{1});
  CHECK_THROWS_WITH(state.call<double>("f", x),
                    "[call] expected a number as the result of 'f', got an array of float32; take it as gpulua::Array "
                    "x: state.call<double>(\"gpu.item\", x) reads the number of one element");
  CHECK_THROWS_WITH(state.get<double()>("silent")(),
                    "[call] expected a number as the result of 'silent', got none; 'silent', a function of script:1, "
                    "returned nothing: end it "
                    "with `return value`");
  CHECK_THROWS_WITH(state.call<Array>("gpu.load", "nofile.npy"),
                    ContainsSubstring("[call] expected an array as the result of 'gpu.load', got nil: ") &&
                        ContainsSubstring("nofile.npy"));
  Array y = state.zeros<float>({2});
  CHECK_THROWS_WITH(
      y.assign(std::vector<double>{1, 2}),
      "[assign] expected elements of float32, as the array's are, got float64; a container of the array's "
      "element, or state.call<gpulua::Array>(\"gpu.astype\", state.copy(v), \"float32\")");
  const Array moved = std::move(y);
  CHECK_THROWS_WITH(y.dtype(), "[dtype] expected an array, got one that is empty or moved from");
  CHECK_THROWS_WITH(state.call<Array>("f", Array()),
                    "[call] expected an array as argument 1, got one that is empty or moved from");
  CHECK_THROWS_WITH(state.call<Array>("gpu.add", x, y),
                    "[call] expected an array as argument 2, got one that is empty or moved from");
  CHECK_THROWS_WITH(state.set("y", y), "[set] expected an array at 'y', got one that is empty or moved from");
  state.set("rate", "2.5");
  CHECK_THROWS_WITH(state.value<double>("rate"),
                    "[value] expected a number at 'rate', got the text '2.5'; tonumber(x) in the script makes a number "
                    "of it, std::string reads the text");
}

TEST_CASE("gpulua.hpp: paths that lead nowhere") {
  State state;
  state.run(
      "local function step() end; model = {advance = step}; locked = setmetatable({}, {__newindex = function() "
      "error('locked', 0) end})");
  CHECK_THROWS_WITH(state.get<void()>("step"), ContainsSubstring("got nil; it is a local of script: without `local`"));
  CHECK_THROWS_WITH(state.call<double>("model.advanse"), ContainsSubstring("did you mean \"advance\"?"));
  CHECK_THROWS_WITH(state.value<double>("settings.gain"),
                    "[value] expected a table at 'settings' of the path 'settings.gain', got nil; nothing has "
                    "set it yet: has the script run that does? A local of a script is not a global");
  CHECK_THROWS_WITH(state.bind<void()>("gpu.f", [] {}),
                    "[bind] expected a path outside of gpu, which is the library's, got 'gpu.f'; take a "
                    "table of the program's own, such as 'host.f'");
  CHECK_THROWS_WITH(state.set("gpu.n", 1), ContainsSubstring("[set] expected a path outside of gpu"));
  CHECK_THROWS_WITH(state.set("locked.n", 1), ContainsSubstring("[set] cannot set 'locked.n': locked"));
  State sandbox(options_with(GPULUA_SANDBOX));
  CHECK_THROWS_WITH(sandbox.bind<void()>("gpu.f", [] {}), ContainsSubstring("[bind] expected a path outside"));
  CHECK_THROWS_WITH(sandbox.bind<void()>("math.f", [] {}), ContainsSubstring("[bind] cannot set 'math.f': "));
}

TEST_CASE("gpulua.hpp: texts that are no scripts, and files that are") {
  State state;
  const char script[] = "x = 1";
  CHECK_THROWS_WITH(state.run({script, sizeof script}), ContainsSubstring("ends with a byte of zero"));
  CHECK_THROWS_WITH(state.run("plugin.lua"), ContainsSubstring("this looks like a path"));
  const std::string path = "gpulua_api_run_file.lua";
  std::ofstream(path) << "x = 5\nfunction twice() error('at the third line', 2) end\nreturn x";
  state.run_file(path);
  CHECK(state.value<int>("x") == 5);
  CHECK(state.load_file<int()>(path)() == 5);
  std::remove(path.c_str());
  CHECK_THROWS_WITH(state.run_file(path), ContainsSubstring("[run_file]") && ContainsSubstring(path));
}

TEST_CASE("gpulua.hpp: an error that is a table keeps its place and fields") {
  State state;
  CHECK_THROWS_WITH(state.run("\nerror({code = 5})"), ContainsSubstring("script:2: error object: {code = 5}"));
  CHECK_THROWS_WITH(state.run("error({'no port', ok = false, at = {}})"), ContainsSubstring("[1] = \"no port\"") &&
                                                                              ContainsSubstring("ok = false") &&
                                                                              ContainsSubstring("at = table"));
}
