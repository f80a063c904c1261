// Scripts, values, calls and callbacks through the C interface.

#include <cstdint>
#include <filesystem>
#include <vector>

#include "tests/embed/api.h"

TEST_CASE("a script runs, and its functions are called with values") {
  ApiState state;
  REQUIRE(state.run("model = {k = 3}; function model.scale(x, y) return model.k * x, y, not y, nil end") == GPULUA_OK);
  gpulua_function* scale = state.function("model.scale");
  const gpulua_value in[] = {number_value(14), text_value("seven")};
  gpulua_value out[6];
  std::size_t count = 6;
  REQUIRE(gpulua_call(scale, in, 2, out, &count, 0) == GPULUA_OK);
  REQUIRE(count == 4);
  CHECK(out[0].kind == GPULUA_NUMBER);
  CHECK(out[0].as.number == 42);
  CHECK(out[1].kind == GPULUA_TEXT);
  CHECK(std::string(out[1].as.text.data, out[1].as.text.size) == "seven");
  CHECK(out[1].as.text.data[5] == 0);
  CHECK(out[2].kind == GPULUA_BOOLEAN);
  CHECK(out[2].as.boolean == 0);
  CHECK(out[3].kind == GPULUA_NIL);

  count = 1;  // the others are dropped, and counted
  CHECK(gpulua_call(scale, in, 2, out, &count, 0) == GPULUA_OK);
  CHECK(count == 4);
  CHECK(gpulua_call(scale, in, 2, nullptr, nullptr, 0) == GPULUA_OK);
  CHECK(gpulua_function_release(scale) == GPULUA_OK);
  CHECK(gpulua_call(scale, in, 2, nullptr, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(std::string(gpulua_error(nullptr)).find("a gpulua_function that was released") != std::string::npos);
}

TEST_CASE("a script does not end the program") {
  ApiState state;
  CHECK(state.run("local answer = 1\nos.exit(3)") == GPULUA_RUNTIME);
  CHECK(state.error().find(":2: [os.exit] the program that runs this script decides when it ends") !=
        std::string::npos);
  CHECK(state.run("assert(not pcall(os.exit))") == GPULUA_OK);
}

TEST_CASE("integers of 64 bits pass unchanged, and numbers as numbers") {
  ApiState state;
  REQUIRE(state.run("function same(x) return x, type(x) end") == GPULUA_OK);
  gpulua_function* same = state.function("same");
  for (const std::int64_t integer : {INT64_MAX, INT64_MIN, (std::int64_t{1} << 53) + 1}) {
    gpulua_value in{}, out[2];
    in.kind = GPULUA_INTEGER;
    in.as.integer = integer;
    std::size_t count = 2;
    REQUIRE(gpulua_call(same, &in, 1, out, &count, 0) == GPULUA_OK);
    CHECK(out[0].kind == GPULUA_INTEGER);
    CHECK(out[0].as.integer == integer);
    CHECK(std::string(out[1].as.text.data) == "cdata");
  }
  gpulua_value in{}, out[2];
  in.kind = GPULUA_INTEGER;
  in.as.integer = -7;
  std::size_t count = 2;
  REQUIRE(gpulua_call(same, &in, 1, out, &count, 0) == GPULUA_OK);
  CHECK(out[0].kind == GPULUA_NUMBER);
  CHECK(out[0].as.number == -7);
}

TEST_CASE("functions are values, and text has any bytes") {
  ApiState state;
  const std::string text = "local bytes = ... ; return function(n) return #bytes + n end";
  gpulua_function* chunk = nullptr;
  REQUIRE(gpulua_load(state.get(), text.data(), text.size(), "make.lua", &chunk) == GPULUA_OK);
  gpulua_value in{}, out{};
  in.kind = GPULUA_TEXT;
  in.as.text = {"a\0b", 3};
  std::size_t count = 1;
  REQUIRE(gpulua_call(chunk, &in, 1, &out, &count, 0) == GPULUA_OK);
  REQUIRE(out.kind == GPULUA_FUNCTION);
  gpulua_function* add = out.as.function;
  // A function as an argument, and as a global.
  REQUIRE(gpulua_set(state.get(), "add", &out) == GPULUA_OK);
  in = number_value(4);
  count = 1;
  REQUIRE(gpulua_call(add, &in, 1, &out, &count, 0) == GPULUA_OK);
  CHECK(out.as.number == 7);
  REQUIRE(state.run("seven = add(4)") == GPULUA_OK);
  CHECK(state.number("seven") == 7);
  CHECK(gpulua_function_retain(add) == GPULUA_OK);
  CHECK(gpulua_function_release(add) == GPULUA_OK);
  CHECK(gpulua_function_release(add) == GPULUA_OK);
  CHECK(gpulua_function_release(add) == GPULUA_ARGUMENT);
}

TEST_CASE("tables and other values are objects, which go back to Lua as they are") {
  ApiState state;
  REQUIRE(state.run("function pair() return 1, {size = 7}, gpu.complex(3, 4), 18446744073709551615ULL end\n"
                    "function size(t) return t.size end\n"
                    "function same(n) return n == 18446744073709551615ULL end") == GPULUA_OK);
  gpulua_value out[4];
  std::size_t count = 4;
  REQUIRE(gpulua_call(state.function("pair"), nullptr, 0, out, &count, 0) == GPULUA_OK);
  REQUIRE(count == 4);
  for (int i = 1; i < 4; ++i) REQUIRE(out[i].kind == GPULUA_OBJECT);
  gpulua_value result{};
  count = 1;
  REQUIRE(gpulua_call(state.function("size"), &out[1], 1, &result, &count, 0) == GPULUA_OK);
  CHECK(result.as.number == 7);
  REQUIRE(gpulua_set(state.get(), "z", &out[2]) == GPULUA_OK);
  REQUIRE(state.run("im = z.im") == GPULUA_OK);
  CHECK(state.number("im") == 4);
  REQUIRE(gpulua_call(state.function("same"), &out[3], 1, &result, &count, 0) == GPULUA_OK);
  CHECK(result.as.boolean == 1);
  // It is no function.
  CHECK(gpulua_call(out[1].as.function, nullptr, 0, nullptr, nullptr, 0) == GPULUA_RUNTIME);
  CHECK(state.error().find("attempt to call a table value") != std::string::npos);
  for (int i = 1; i < 4; ++i) CHECK(gpulua_function_release(out[i].as.function) == GPULUA_OK);
}

TEST_CASE("errors have a status, the script's line and a traceback") {
  ApiState state;
  CHECK(state.run("x = = 1", "broken.lua") == GPULUA_SYNTAX);
  CHECK(state.error().find("broken.lua:1: ") == 0);
  CHECK(state.run("local function inner() error('no such port') end\nfunction outer() inner() end\nouter()") ==
        GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:1: no such port\n") == 0);
  CHECK(state.error().find("script.lua:2: in function 'outer'") != std::string::npos);
  CHECK(std::string(gpulua_error(nullptr)) == state.error());
  CHECK(state.run("error(setmetatable({}, {__tostring = function() return 'mine' end}))") == GPULUA_RUNTIME);
  CHECK(state.error().find("mine") == 0);
  CHECK(state.run("error()") == GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:1: error object: nil") == 0);
  CHECK(state.run("gpu.array({1, {2}})") == GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:1: [array]") == 0);
  CHECK(state.run("gpu.zeros(3, {device = 'tpu'})") == GPULUA_UNAVAILABLE);
  CHECK(state.run("pcall(gpu.zeros, 3, {device = 'tpu'}); error('other')") == GPULUA_RUNTIME);
  CHECK(state.run("x = 1") == GPULUA_OK);
  CHECK(state.error().find("other") != std::string::npos);  // stays until the next failure
}

TEST_CASE("an error of a last call, whose frame is gone, has the script's line") {
  const unsigned flags = GENERATE(0U, unsigned{GPULUA_SANDBOX});
  ApiState state(options_with(flags));
  const auto begins = [&](const std::string& text) {
    INFO(state.error());
    CHECK(state.error().starts_with(text));
  };
  CHECK(state.run("local x = gpu.ones(3)\nreturn gpu.add(x, gpu.ones(4))") == GPULUA_RUNTIME);
  begins("script.lua:2: [add] operands could not be broadcast");
  CHECK(state.run("local x = gpu.ones(3)\nreturn math.max(x, 0)") == GPULUA_RUNTIME);
  begins("script.lua:2: bad argument #1 to 'max' (number expected, got userdata); the argument is an array: gpu.max");

  REQUIRE(state.run("function last()\n  return gpu.add(gpu.ones(3), gpu.ones(4))\nend\n"
                    "function scoped()\n  return gpu.scope(function() return math.sqrt(gpu.ones(3)) end)\nend") ==
          GPULUA_OK);
  CHECK(gpulua_call(state.function("last"), nullptr, 0, nullptr, nullptr, 0) == GPULUA_RUNTIME);
  begins("script.lua:2: [add] operands could not be broadcast");
  CHECK(gpulua_call(state.function("scoped"), nullptr, 0, nullptr, nullptr, 0) == GPULUA_RUNTIME);
  begins("script.lua:5: bad argument #1 to 'sqrt' (number expected, got userdata); the argument is an array: x:sqrt");
}

TEST_CASE("a script may have the name of a folder") {
  ApiState state;
  const auto folder = std::filesystem::temp_directory_path();
  REQUIRE(state.run("kernel = gpu.kernel('__global__ void k(float* x) { x[0] = 7; }', 'k')\nlocal x = gpu.zeros(1)\n"
                    "kernel {grid = 1, block = 1}(x)\nfound = x[1]",
                    folder.c_str()) == GPULUA_OK);
  CHECK(state.number("found") == 7);
}

TEST_CASE("paths that lead nowhere say where") {
  ApiState state;
  REQUIRE(state.run("model = {step = 5}") == GPULUA_OK);
  gpulua_function* function = nullptr;
  CHECK(gpulua_get(state.get(), "model.step", &function) == GPULUA_ARGUMENT);
  CHECK(state.error() == "[get] expected a function at 'model.step', got number");
  CHECK(gpulua_get(state.get(), "modle.step", &function) == GPULUA_ARGUMENT);
  CHECK(state.error() ==
        "[get] expected a table at 'modle' of the path 'modle.step', got nil; did you mean \"model\"?");
  CHECK(function == nullptr);
  CHECK(gpulua_get(state.get(), "", &function) == GPULUA_ARGUMENT);
  CHECK(gpulua_get(state.get(), nullptr, &function) == GPULUA_ARGUMENT);
  gpulua_value value = number_value(1);
  CHECK(gpulua_set(state.get(), "model.step.size", &value) == GPULUA_ARGUMENT);
  CHECK(gpulua_set(state.get(), "model.size", &value) == GPULUA_OK);
  CHECK(state.number("model.size") == 1);
}

namespace {

struct Port {
  std::vector<double> seen;
};

gpulua_status read_port(gpulua_state* state, void* user, const gpulua_value* in, std::size_t in_count,
                        gpulua_value* out, std::size_t* out_count) {
  auto& port = *static_cast<Port*>(user);
  if (in_count != 1 || in[0].kind != GPULUA_NUMBER) return gpulua_fail(state, "[port] expected a number");
  port.seen.push_back(in[0].as.number);
  // A script is part of the call that runs, but does not end the state.
  gpulua_value k;
  if (gpulua_get_value(state, "k", &k) != GPULUA_OK) return gpulua_fail(state, gpulua_error(state));
  if (gpulua_run(state, "inner = k", 9, "nested") != GPULUA_OK) return gpulua_fail(state, gpulua_error(state));
  if (gpulua_collect(state, 0) != GPULUA_BUSY) return gpulua_fail(state, "garbage was collected");
  if (gpulua_destroy(state) != GPULUA_BUSY) return gpulua_fail(state, "the state was destroyed");
  const gpulua_value seen = number_value(static_cast<double>(port.seen.size()));
  if (gpulua_set(state, "seen", &seen) != GPULUA_OK) return gpulua_fail(state, gpulua_error(state));
  out[0] = number_value(k.as.number * in[0].as.number);
  out[1] = text_value("port");
  *out_count = 2;
  return GPULUA_OK;
}

void print_line(void* user, const char* text, std::size_t size) {
  static_cast<std::vector<std::string>*>(user)->emplace_back(text, size);
}

}  // namespace

TEST_CASE("scripts call the host program's functions") {
  ApiState state;
  Port port;
  REQUIRE(state.run("k = 10; io.ports = {}") == GPULUA_OK);
  REQUIRE(gpulua_register(state.get(), "io.ports.read", &read_port, &port) == GPULUA_OK);
  REQUIRE(state.run("a, b = io.ports.read(4)\n"
                    "c = coroutine.wrap(function() return (io.ports.read(5)) end)()") == GPULUA_OK);
  CHECK(state.number("a") == 40);
  CHECK(state.text("b") == "port");
  CHECK(state.number("c") == 50);
  CHECK(state.number("seen") == 2);
  CHECK(port.seen == std::vector<double>{4, 5});
  CHECK(state.run("x = 1\nio.ports.read('four')") == GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:2: [port] expected a number") == 0);
  CHECK(state.run("ok, why = pcall(io.ports.read)") == GPULUA_OK);
  CHECK(state.text("why") == "script.lua:1: [port] expected a number");
}

TEST_CASE("print goes to the host program") {
  std::vector<std::string> lines;
  gpulua_options options = options_with(0);
  options.print = &print_line;
  options.user = &lines;
  ApiState state(options);
  REQUIRE(
      state.run("print('a', 1, nil, true) print() print(setmetatable({}, {__tostring = function() return 'T' end}))") ==
      GPULUA_OK);
  CHECK(lines == std::vector<std::string>{"a\t1\tnil\ttrue", "", "T"});
}

TEST_CASE("warnings of the library go to the host program", "[cpu]") {
  std::vector<std::string> warnings;
  gpulua_options options = options_with(0);
  options.device = "cpu";
  options.log = [](void* user, int level, const char* text) {
    CHECK(level == GPULUA_LOG_WARNING);
    static_cast<std::vector<std::string>*>(user)->emplace_back(text);
  };
  options.user = &warnings;
  ApiState state(options);
  REQUIRE(state.run("local k = gpu.kernel([[\n"
                    "__device__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }\n"
                    "__global__ void slow(int* x) { *x = fib(10); }]], 'slow')\n"
                    "for i = 1, 3 do k {grid = 1, block = 1}(gpu.zeros(1, 'int32')) end") == GPULUA_OK);
  REQUIRE(warnings.size() == 1);
  CHECK_THAT(warnings[0], Catch::Matchers::StartsWith("script.lua:1: the kernel 'slow' runs thread by thread"));
}

TEST_CASE("the library reads the text of functions that the program has loaded", "[cpu]") {
  const std::string text =
      "local k = 3\nfunction triple(x) return k * x end\n"
      "function total() return gpu.vectorize(triple)(gpu.array({1, 2})):sum():item() end";
  gpulua_options sandboxed = options_with(GPULUA_SANDBOX | GPULUA_KERNELS);
  for (gpulua_options options : {on_cpu(), sandboxed}) {
    options.device = "cpu";
    for (const char* name : {"script.lua", "=script", "formulas of today"}) {
      ApiState state(options);
      REQUIRE(state.run(text, name) == GPULUA_OK);
      // Another text of that name, and many more.
      for (int i = 0; i < 300; ++i)
        REQUIRE(state.run("f = function() return " + std::to_string(i) + " end", name) == GPULUA_OK);
      CHECK(state.run("sum = total()") == GPULUA_OK);
      CHECK(state.error().empty());
      CHECK(state.number("sum") == 9);

      gpulua_function* chunk = nullptr;
      const std::string loaded = "return gpu.jit(function(x) local i = gpu.grid() if i <= 2 then x[i] = 7 end end)";
      REQUIRE(gpulua_load(state.get(), loaded.data(), loaded.size(), name, &chunk) == GPULUA_OK);
      REQUIRE(state.run("function launch(make) local x = gpu.zeros(2) make():over(2)(x) sevens = x:sum():item() end") ==
              GPULUA_OK);
      gpulua_value in{};
      in.kind = GPULUA_FUNCTION;
      in.as.function = chunk;
      CHECK(gpulua_call(state.function("launch"), &in, 1, nullptr, nullptr, 0) == GPULUA_OK);
      CHECK(state.error().empty());
      CHECK(state.number("sevens") == 14);
    }
  }
}

TEST_CASE("the texts of scripts take a bounded part of Lua's memory") {
  gpulua_options options = options_with(GPULUA_SANDBOX);
  options.device = "cpu";
  options.lua_memory = std::size_t{24} << 20;
  ApiState state(options);
  const std::string filling(std::size_t{100} << 10, ' ');
  for (int i = 0; i < 1000; ++i)
    REQUIRE(state.run("function f() return " + std::to_string(i) + " end" + filling) == GPULUA_OK);
  CHECK(state.run("collectgarbage('count') kept = collectgarbage('count') * 1024") == GPULUA_OK);
  CHECK(state.number("kept") < 16e6);
}

namespace {

gpulua_status leave_count(gpulua_state*, void* user, const gpulua_value*, std::size_t, gpulua_value* out,
                          std::size_t* out_count) {
  if (user == nullptr) return GPULUA_OK;
  const std::size_t count = *static_cast<std::size_t*>(user);
  for (std::size_t i = 0; i < count; ++i) out[i] = number_value(static_cast<double>(i));
  *out_count = count;
  return GPULUA_OK;
}

}  // namespace

TEST_CASE("counts of results and flags that nothing can mean are errors") {
  ApiState state;
  REQUIRE(gpulua_register(state.get(), "untouched", &leave_count, nullptr) == GPULUA_OK);
  CHECK(state.run("untouched()") == GPULUA_RUNTIME);
  CHECK(state.error().find(
            "[callback] expected *out_count set to the number of results, got the 16 that it was before") !=
        std::string::npos);
  for (std::size_t count : {std::size_t{0}, std::size_t{15}, std::size_t{16}}) {
    REQUIRE(gpulua_register(state.get(), "some", &leave_count, &count) == GPULUA_OK);
    REQUIRE(state.run("count = select('#', some()); last = select(-1, 0, some())") == GPULUA_OK);
    CHECK(state.number("count") == static_cast<double>(count));
    CHECK(state.number("last") == (count == 0 ? 0 : static_cast<double>(count - 1)));
  }

  REQUIRE(state.run("function one() return 1 end") == GPULUA_OK);
  gpulua_function* one = state.function("one");
  gpulua_value out = number_value(7);
  CHECK(gpulua_call(one, nullptr, 0, &out, nullptr, 0) == GPULUA_ARGUMENT);
  CHECK(state.error().find("[call] expected out_count, how many values fit at out, got NULL") != std::string::npos);
  CHECK(out.as.number == 7);
  std::size_t count = 0;
  CHECK(gpulua_call(one, nullptr, 0, nullptr, &count, 0) == GPULUA_OK);
  CHECK(count == 1);

  float memory[2] = {1, 2};
  const std::int64_t shape = 2;
  for (const int copy : {7, -1, 3}) {
    gpulua_array* array = nullptr;
    CHECK(gpulua_array_host(state.get(), memory, "float32", 1, &shape, nullptr, nullptr, nullptr, copy, &array) ==
          GPULUA_ARGUMENT);
    CHECK(state.error() == "[array_host] expected copy 0, 1 or GPULUA_READ_ONLY, got " + std::to_string(copy));
    CHECK(array == nullptr);
  }
}

namespace {

/// Calls the global Lua function `inner`, and passes its status on.
gpulua_status call_inner(gpulua_state* state, void* user, const gpulua_value*, std::size_t, gpulua_value*,
                         std::size_t* out_count) {
  *out_count = 0;
  gpulua_function* inner = nullptr;
  const gpulua_status found = gpulua_get(state, "inner", &inner);
  if (found != GPULUA_OK) return found;
  const gpulua_status status = gpulua_call(inner, nullptr, 0, nullptr, nullptr, user != nullptr ? 50 : 0);
  gpulua_function_release(inner);
  return status;
}

}  // namespace

TEST_CASE("a callback runs scripts as part of the call that called it") {
  for (const unsigned flags : {0U, unsigned{GPULUA_INTERRUPTIBLE}}) {
    ApiState state(options_with(flags));
    REQUIRE(gpulua_register(state.get(), "outer", &call_inner, nullptr) == GPULUA_OK);
    REQUIRE(state.run("depth = 0; function inner() depth = depth + 1; if depth < 4 then outer() end end; outer()\n"
                      "coroutine.wrap(function() depth = 2; outer() end)()") == GPULUA_OK);
    CHECK(state.number("depth") == 4);
    // The error of the innermost call, which each callback passes on.
    REQUIRE(
        state.run("function inner() depth = depth + 1; if depth < 4 then outer() end; error 'the port is shut' end") ==
        GPULUA_OK);
    CHECK(state.run("depth = 0; outer()") == GPULUA_RUNTIME);
    CHECK(state.error().find("the port is shut") != std::string::npos);
    CHECK(state.number("depth") == 4);
    // No error of before, where nothing in the callback has failed.
    const auto give_device = [](gpulua_state*, void*, const gpulua_value*, std::size_t, gpulua_value*, std::size_t*) {
      return GPULUA_DEVICE;
    };
    REQUIRE(gpulua_register(state.get(), "plain", give_device, nullptr) == GPULUA_OK);
    CHECK(state.run("plain()") == GPULUA_RUNTIME);
    CHECK(state.error().find("script.lua:1: the host program's function gave GPULUA_DEVICE") == 0);
  }
}

TEST_CASE("the deadline of the outermost call stops what a callback runs") {
  ApiState state;
  int any = 0;
  REQUIRE(gpulua_register(state.get(), "outer", &call_inner, nullptr) == GPULUA_OK);
  REQUIRE(gpulua_register(state.get(), "hasty", &call_inner, &any) == GPULUA_OK);
  REQUIRE(state.run("function inner() while true do end end; function go() pcall(outer) end") == GPULUA_OK);
  CHECK(gpulua_call(state.function("go"), nullptr, 0, nullptr, nullptr, 50) == GPULUA_DEADLINE);
  CHECK(state.run("x = 1") == GPULUA_OK);
}

TEST_CASE("a deadline in a callback ends that call, and the earlier of both counts") {
  int any = 0;  // a deadline of 50 ms
  for (const unsigned flags : {0U, static_cast<unsigned>(GPULUA_SANDBOX)}) {
    ApiState state(options_with(flags));
    REQUIRE(gpulua_register(state.get(), "hasty", &call_inner, &any) == GPULUA_OK);
    REQUIRE(state.run(
                "function inner() while true do end end\n"
                "function twice() for i = 1, 2 do good, why = pcall(hasty); assert(not good) end\n"
                "  local n = 0; for i = 1, 1e5 do n = n + i end; sum = n end\n"
                "function forever() while true do pcall(hasty) end end\n"
                "function nested() depth = depth + 1; if depth < 4 then pcall(hasty) else while true do end end end") ==
            GPULUA_OK);
    // The call that runs goes on, with and without a deadline of its own.
    for (const double deadline : {0.0, 60000.0}) {
      CHECK(gpulua_call(state.function("twice"), nullptr, 0, nullptr, nullptr, deadline) == GPULUA_OK);
      CHECK(state.number("sum") == 5000050000.0);
      CHECK(state.text("why").find("the call's deadline of 50 ms has passed") != std::string::npos);
    }
    CHECK(gpulua_call(state.function("forever"), nullptr, 0, nullptr, nullptr, 120) == GPULUA_DEADLINE);
    CHECK(state.error().find("the call's deadline of 120 ms has passed") != std::string::npos);
    CHECK(state.run("depth = 0; inner = nested; pcall(hasty); local n = 0; for i = 1, 1e5 do n = n + i end") ==
          GPULUA_OK);
    CHECK(state.run("inner = function() while true do end end; hasty()") == GPULUA_DEADLINE);
    CHECK(state.run("x = 1") == GPULUA_OK);
  }
}

TEST_CASE("scripts that callbacks run share the budget of the outermost call", "[cpu]") {
  gpulua_options options = options_with(GPULUA_SANDBOX);
  options.device = "cpu";
  options.launches = 5;
  ApiState state(options);
  REQUIRE(gpulua_register(state.get(), "outer", &call_inner, nullptr) == GPULUA_OK);
  REQUIRE(state.run("x = gpu.ones(2000); function inner() x = (x + 1):eval() end") == GPULUA_OK);
  CHECK(state.run("for i = 1, 3 do outer() end") == GPULUA_OK);
  CHECK(state.run("for i = 1, 9 do outer() end") == GPULUA_RUNTIME);
  CHECK(state.error().find("budget") != std::string::npos);
}
