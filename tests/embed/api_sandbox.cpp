// Scripts that are not trusted, through the C interface: what they cannot reach, and that deadlines stop them.
#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>
#include <vector>

#include "tests/embed/api.h"

namespace {

constexpr double deadline_ms = 20;

gpulua_options sandbox_options(unsigned more = 0) {
  gpulua_options options = options_with(GPULUA_SANDBOX | more);
  options.device = "cpu";
  options.lua_memory = std::size_t{64} << 20;
  options.device_memory = std::size_t{256} << 20;
  return options;
}

/// Loads the text and calls it with a deadline.
gpulua_status run_until(ApiState& state, const std::string& text, double ms, gpulua_value* out = nullptr) {
  gpulua_function* function = nullptr;
  const gpulua_status loaded = gpulua_load(state.get(), text.data(), text.size(), "script.lua", &function);
  if (loaded != GPULUA_OK) return loaded;
  size_t count = 1;
  const gpulua_status status = gpulua_call(function, nullptr, 0, out, out != nullptr ? &count : nullptr, ms);
  gpulua_function_release(function);
  return status;
}

/// Runs it on a thread whose C stack has that size.
void on_stack_of(std::size_t bytes, const std::function<void()>& work) {
  pthread_attr_t attributes;
  REQUIRE(pthread_attr_init(&attributes) == 0);
  REQUIRE(pthread_attr_setstacksize(&attributes, bytes) == 0);
  pthread_t thread;
  const auto run = [](void* given) -> void* {
    (*static_cast<const std::function<void()>*>(given))();
    return nullptr;
  };
  REQUIRE(pthread_create(&thread, &attributes, run, const_cast<std::function<void()>*>(&work)) == 0);
  pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
}

std::string read_file(const std::string& name) {
  std::ifstream file(GPULUA_TESTS "/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The texts of a list in the file, which a state that is trusted reads.
std::vector<std::string> attacks(const std::string& list, const std::string& file = "attacks.lua") {
  ApiState reader;
  REQUIRE(reader.run("lists = (function() " + read_file(file) + " end)()") == GPULUA_OK);
  REQUIRE(reader.run("list = lists." + list + " count = #list function at(i) return list[i] end") == GPULUA_OK);
  std::vector<std::string> texts;
  gpulua_function* at = reader.function("at");
  for (int i = 1; i <= reader.number("count"); ++i) {
    const gpulua_value index = number_value(i);
    gpulua_value text;
    size_t count = 1;
    REQUIRE(gpulua_call(at, &index, 1, &text, &count, 0) == GPULUA_OK);
    texts.emplace_back(text.as.text.data, text.as.text.size);
  }
  gpulua_function_release(at);
  return texts;
}

}  // namespace

TEST_CASE("loops without an end stop at the deadline, whatever they catch, and the state works afterwards",
          "[sandbox]") {
  const std::vector<std::string> chunks = attacks("forever");
  REQUIRE(chunks.size() >= 34);
  ApiState state(sandbox_options());
  REQUIRE(state.run("gpu.ones(2):sum():item()") == GPULUA_OK);  // opens the device
  for (const std::string& chunk : chunks) {
    INFO(chunk);
    const bool takes_memory = chunk.find("-- memory") == 0;
    const auto start = std::chrono::steady_clock::now();
    const gpulua_status status = run_until(state, chunk, deadline_ms);
    const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - start;
    CHECK((status == GPULUA_DEADLINE || (takes_memory && status == GPULUA_MEMORY)));
    CHECK(time.count() < 5000);  // no test of speed: a loop that does not stop takes years
    const gpulua_status after = state.run(
        "assert(gpu.ones(3):sum():item() == 3) local n = 0 for i = 1, 1000 do n = n + i end assert(n == 500500)");
    INFO("after it: " << state.error());
    CHECK(after == GPULUA_OK);
  }
}

TEST_CASE("calls that nest without an end fill no C stack, be it large or small", "[sandbox]") {
  const std::vector<std::string> chunks = attacks("deep");
  std::vector<std::string> wrong;
  const auto attack = [&] {
    ApiState state(sandbox_options());
    // A callback of the host program's that makes a metamethod call it again.
    const auto host = [](gpulua_state* self, void*, const gpulua_value*, size_t, gpulua_value*, size_t* count) {
      *count = 0;
      gpulua_value value;
      return gpulua_get_value(self, "model.x", &value);
    };
    REQUIRE(gpulua_register(state.get(), "host", host, nullptr) == GPULUA_OK);
    for (const std::string& chunk : chunks) {
      const gpulua_status status = run_until(state, chunk, 100);
      if (status != GPULUA_OK && status != GPULUA_DEADLINE && status != GPULUA_RUNTIME && status != GPULUA_MEMORY)
        wrong.push_back(chunk + ": " + state.error());
      if (state.run("assert(gpu.ones(3):sum():item() == 3)") != GPULUA_OK)
        wrong.push_back("after " + chunk + ": " + state.error());
    }
  };
  attack();
  on_stack_of(std::size_t{512} << 10, attack);
  on_stack_of(std::size_t{128} << 10, attack);
  INFO((wrong.empty() ? "" : wrong.front()));
  CHECK(wrong.empty());

  ApiState state(sandbox_options());
  // As deep as Lua 5.1 lets them nest.
  CHECK(run_until(state,
                  "local function f(n) return n == 0 and 'y' or (('x'):gsub('x', function() return f(n - 1) end)) end "
                  "assert(f(190) == 'y')",
                  0) == GPULUA_OK);
  CHECK(run_until(state, "local function f() return (('x'):gsub('x', f)) end\nf()", 0) == GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:1: stack overflow: coroutines, or functions of the library that call the "
                           "script's, nest too deep") == 0);
}

TEST_CASE("a launch and a compilation that are stopped say why", "[sandbox]") {
  ApiState state(sandbox_options());
  CHECK(run_until(state, "gpu.ndimage.correlate(gpu.ones(2000, 2000), gpu.ones(200, 200)):eval()", 400) ==
        GPULUA_DEADLINE);
  CHECK(state.error().find("script.lua:1: the call's deadline of 400 ms has passed\nstack traceback") == 0);
  CHECK(run_until(state, "local t = {} for i = 1, 2000 do t[i] = t end gpu.array(t)", 20) != GPULUA_OK);
  CHECK(state.error().find("interrupted") == std::string::npos);
}

TEST_CASE("what a stopped script was in the middle of has ended", "[sandbox]") {
  ApiState state(sandbox_options());
  REQUIRE(state.run("s = gpu.stream() function spin() while true do end end") == GPULUA_OK);
  for (const char* chunk :
       {"gpu.fuse(spin)(gpu.ones(2))", "gpu.graph(spin)", "gpu.with(s, spin)", "gpu.scope(spin)", "gpu.profile(spin)",
        "gpu.annotate('a', spin)", "local function f() gpu.fuse(f)(gpu.ones(2)) end f()",
        "local function f() gpu.scope(f) end f()"}) {
    INFO(chunk);
    const gpulua_status status = run_until(state, chunk, 30);
    CHECK((status == GPULUA_DEADLINE || status == GPULUA_RUNTIME));
    // Reads elements, and begins what does not begin twice.
    CHECK(state.run("assert(gpu.ones(3):sum():item() == 3) gpu.graph(gpu.ones, 3) "
                    "assert(gpu.fuse(function(x) return x + 1 end)(gpu.ones(3))[1] == 2)") == GPULUA_OK);
  }
  // A coroutine that was in a scope, whose end comes late.
  CHECK(run_until(state, "co = coroutine.wrap(function() gpu.scope(coroutine.yield) return 7 end) co() spin()", 30) ==
        GPULUA_DEADLINE);
  CHECK(state.run("assert(co() == 7)") == GPULUA_OK);
}

TEST_CASE("a sandbox has ranges, which end with the call, and no traces", "[sandbox]") {
  ApiState state(sandbox_options());
  CHECK(state.run("gpu.range_push 'a' gpu.annotate('b', function() assert(gpu.ones(3):sum():item() == 3) end)") ==
        GPULUA_OK);
  CHECK(state.run("gpu.range_pop()") == GPULUA_RUNTIME);
  CHECK(state.error().find("[range_pop] expected an open range, got none") != std::string::npos);
  CHECK(state.run("co = coroutine.wrap(function() gpu.annotate('c', coroutine.yield) return 7 end) co()") == GPULUA_OK);
  CHECK(state.run("assert(co() == 7)") == GPULUA_OK);
  for (const char* chunk :
       {"gpu.profiler.trace('/tmp/x.json', print)", "gpu.profiler.start()", "gpu.profiler.stop()"}) {
    INFO(chunk);
    CHECK(state.run(chunk) != GPULUA_OK);
    CHECK(state.error().find("which sandboxes do not have") != std::string::npos);
  }
}

TEST_CASE("a sandbox shows nothing of the process", "[sandbox]") {
  ApiState state(sandbox_options());
  for (const std::string& expression : attacks("outside")) {
    INFO(expression);
    gpulua_value value;
    const std::string text =
        "local good, value = pcall(function() return " + expression + " end) return good and value or nil";
    CHECK(run_until(state, text, 2000, &value) == GPULUA_OK);
    CHECK((value.kind == GPULUA_NIL || (value.kind == GPULUA_BOOLEAN && !value.as.boolean)));
  }
  CHECK(run_until(state, "return io or package", 1000) == GPULUA_OK);
  CHECK(gpulua_run(state.get(), "\x1bLJ\x02", 4, "bytecode") == GPULUA_SYNTAX);
}

TEST_CASE("functions of Lua do bounded work in a sandbox", "[sandbox]") {
  ApiState state(sandbox_options());
  for (const std::string& chunk : attacks("work")) {
    INFO(chunk);
    const gpulua_status status = run_until(state, "pcall(function() " + chunk + " end)", 5000);
    CHECK(status == GPULUA_OK);
  }
}

TEST_CASE("scripts of a sandbox have what they need", "[sandbox]") {
  ApiState state(sandbox_options());
  const auto good = [&](const std::string& text) {
    INFO(text);
    const gpulua_status status = run_until(state, text, 10000);
    INFO(state.error());
    CHECK(status == GPULUA_OK);
  };
  good("local gpu = require 'gpu' assert((gpu.arange(4) * 2):sum():item() == 12)");
  good("assert(gpu.linalg.det(gpu.eye(3)):item() == 1) assert(gpu.fft.fft(gpu.ones(4))[1].re == 4)");
  good("assert(gpu.array({2^53 + 2}, 'int64'):sum():item() == 2^53 + 2)");
  good("x = 3 assert(_G.x == 3 and rawget(_G, 'x') == 3) local t = {} rawset(t, 1, 2) assert(t[1] == 2)");
  good("assert(load('return x')() == 3 and load('return y', 'c', 't', {y = 4})() == 4) assert(not load('x ='))");
  good("local n = 0 assert(load(function() n = n + 1 return ({'return ', '7'})[n] end)() == 7)");
  good(
      "local t = {3, 1, 2} table.sort(t) assert(table.concat(t) == '123') table.sort(t, function(a, b) return a > b "
      "end) "
      "assert(table.concat(t) == '321')");
  good(
      "local t = {} table.insert(t, 'b') table.insert(t, 1, 'a') assert(table.concat(t) == 'ab') "
      "assert(table.remove(t) == 'b') "
      "assert(table.remove(t, 1) == 'a') assert(table.remove(t) == nil)");
  good(
      "local t = table.move({1, 2, 3}, 1, 3, 2) assert(table.concat(t) == '1123') assert(table.concat(table.move({1, "
      "2, 3}, 2, 3, 1)) == '233')");
  good(
      "local ok, text = xpcall(function(a) error(a, 0) end, function(m) return m .. '!' end, 'no') assert(not ok and "
      "text == 'no!')");
  good(
      "local co = coroutine.wrap(function() xpcall(function() coroutine.yield(1) end, print) return 2 end) assert(co() "
      "== 1 and co() == 2)");
  good("assert(collectgarbage 'count' > 0 and os.time() > 0 and os.clock() >= 0 and #debug.traceback() > 0)");
  good(
      "assert(('a,b'):find(',', 1, true) == 2 and ('k=v'):match('(%w+)=(%w+)') == 'k' and ('abc'):gsub('%w', '%0%0') "
      "== 'aabbcc')");
  // The library's own files that run late have their own globals.
  good(
      "string_was = string string = nil assert(gpu.einsum('ij,j', gpu.eye(2), gpu.ones(2)):sum():item() == 2) string = "
      "string_was");

  CHECK(run_until(state, "gpu.linalg.inv = 1", 1000) == GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:1: expected gpu.linalg as it is, got an assignment to its field inv") == 0);
  CHECK(run_until(state, "collectgarbage 'stop'", 1000) == GPULUA_RUNTIME);
  CHECK(state.error().find("script.lua:1: expected \"count\" in a sandbox, got stop") == 0);
}

TEST_CASE("a sandbox finds what LuaJIT's own pattern functions find", "[sandbox]") {
  const std::string script = read_file("patterns.lua") + " result = transcript(2026, 3000)";
  ApiState own, sandbox(sandbox_options());
  REQUIRE(own.run(script) == GPULUA_OK);
  REQUIRE(sandbox.run(script) == GPULUA_OK);
  const std::string expected = own.text("result"), got = sandbox.text("result");
  CHECK(expected.size() > 100000);
  const auto differs = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  if (differs.first != expected.end() || differs.second != got.end()) {
    const auto at = static_cast<std::size_t>(differs.first - expected.begin());
    const std::size_t from = at < 200 ? 0 : at - 200;
    FAIL("expected " << expected.substr(from, 300) << "\ngot " << got.substr(from, 300));
  }
}

TEST_CASE("a sandbox's texts are those of LuaJIT's own functions", "[sandbox]") {
  const std::string script =
      "local list, texts = {}, {'', 'a', 'abcXYZ09', ('Az@[`{\\0\\255'):rep(60)} "
      "for _, s in ipairs(texts) do "
      "  list[#list + 1] = s:upper() .. s:lower() .. s:reverse() .. string.char(s:byte(1, -1)) "
      "  for i = -9, 9 do list[#list + 1] = s:sub(i) for j = -9, 9 do list[#list + 1] = s:sub(i, j) end end end "
      "for _, v in ipairs{0, -0.0, 1 / 3, 1e300, 2^53, 1 / 0, -7, true, false, 'text', 3LL, 2ULL^2} do list[#list + 1] "
      "= "
      "tostring(v) end "
      "list[#list + 1] = tostring(nil) .. tostring(setmetatable({}, {__tostring = function() return 'mine' end})) "
      "list[#list + 1] = tostring({}):gsub('0x%x+', '') .. tostring(print):gsub(': .*', '') "
      "for _, f in ipairs{function() tostring() end, function() ('x'):sub() end, function() string.char(256) end, "
      "function() string.upper({}) end, function() string.char('y') end} do list[#list + 1] = select(2, pcall(f)) end "
      "result = table.concat(list, '|')";
  // Interpreted, as LuaJIT's compiler gets some of the ends in loops of sub wrong.
  ApiState own(options_with(GPULUA_INTERRUPTIBLE)), sandbox(sandbox_options());
  REQUIRE(own.run(script) == GPULUA_OK);
  REQUIRE(sandbox.run(script) == GPULUA_OK);
  CHECK(own.text("result").size() > 5000);
  CHECK(own.text("result") == sandbox.text("result"));
}

namespace {

/// An allocator that gives no room once: at the growth of that number.
struct Allocator {
  long grown = 0, fails_at = 0;

  static void* run(void* user, void* block, std::size_t old_size, std::size_t size) {
    auto& self = *static_cast<Allocator*>(user);
    if (size == 0) return std::free(block), nullptr;
    if (size > old_size && ++self.grown == self.fails_at) return nullptr;
    return std::realloc(block, size);
  }
};

}  // namespace

TEST_CASE("a sandbox survives that Lua's memory is short, wherever it happens", "[sandbox]") {
  const std::string script =
      "local list = {} for i = 1, 40 do pcall(function() list[#list + 1] = tostring(i + 0.5):sub(1, "
      "9):upper():reverse() "
      "list[#list + 1] = string.char(i, i + 1, i + 2) .. ('x'):rep(i):lower() end) end "
      "local co = coroutine.wrap(function(...) while true do coroutine.yield(select('#', ...)) end end) "
      "for i = 1, 20 do pcall(co, unpack(list, 1, 3 * i)) end "
      "local x = (gpu.arange(12) * 2):reshape(3, 4) local s = tostring(x) .. x:sum():item() "
      "pcall(function() return x + gpu.ones(7) end)";
  // `at`: which growth fails, counted from the script's start; 0: none. `grown`: how many there were.
  const auto attempt = [&](long at, long* grown) {
    Allocator allocator;
    gpulua_options options = sandbox_options();
    options.allocate = &Allocator::run;
    options.user = &allocator;
    ApiState state(options);
    allocator.grown = 0;
    allocator.fails_at = at;
    const gpulua_status status = state.run(script);
    if (grown != nullptr) *grown = allocator.grown;
    allocator.fails_at = 0;
    return state.run("assert(gpu.ones(3):sum():item() == 3)") == GPULUA_OK ? status : GPULUA_LOST;
  };
  long grown = 0;
  REQUIRE(attempt(0, &grown) == GPULUA_OK);
  REQUIRE(grown > 200);
  int survived = 0;
  for (long i = 1; i <= grown; ++i) {
    const gpulua_status status = attempt(i, nullptr);
    INFO("growth " << i << ": " << gpulua_status_name(status) << ", " << gpulua_error(nullptr));
    CHECK((status == GPULUA_OK || status == GPULUA_MEMORY || status == GPULUA_RUNTIME));
    survived += status == GPULUA_OK ? 1 : 0;
  }
  CHECK(survived > 10);
}

TEST_CASE("a limit of memory that has no room for Lua's libraries", "[sandbox]") {
  for (const bool own_allocator : {false, true})
    for (const std::size_t bytes : {1, 1000, 30000, 200000}) {
      Allocator allocator;
      gpulua_options options = sandbox_options();
      options.lua_memory = bytes;
      if (own_allocator) {
        options.allocate = &Allocator::run;
        options.user = &allocator;
      }
      gpulua_state* state = nullptr;
      CHECK(gpulua_create(&options, &state) == GPULUA_MEMORY);
      CHECK(state == nullptr);
      const std::string error = gpulua_error(nullptr), before = "[create] expected lua_memory in bytes, ";
      REQUIRE(error.substr(0, before.size()) == before);
      const std::string behind = " of them at least for Lua's libraries, or 0 for the default, got " +
                                 std::to_string(bytes) + "; 64 MB are 64 << 20";
      CHECK(error.find(behind) != error.npos);
      options.lua_memory = std::stoul(error.substr(before.size()));
      CHECK(options.lua_memory > 200000);
      REQUIRE(gpulua_create(&options, &state) == GPULUA_OK);
      CHECK(gpulua_destroy(state) == GPULUA_OK);
    }
}

TEST_CASE("look-ups of values call metamethods only for a time", "[sandbox]") {
  ApiState state(sandbox_options());
  REQUIRE(state.run("model = setmetatable({}, {__index = function() while true do end end})") == GPULUA_OK);
  gpulua_value value;
  CHECK(gpulua_get_value(state.get(), "model.step", &value) == GPULUA_DEADLINE);
  REQUIRE(state.run("model = {step = 4}") == GPULUA_OK);
  CHECK(state.number("model.step") == 4);
}

TEST_CASE("an interrupt stops a sandbox, and the next call runs", "[sandbox]") {
  ApiState state(sandbox_options());
  std::atomic<bool> has_ended{false};
  std::thread other([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    interrupt_until(state.get(), has_ended);
  });
  CHECK(state.run("while true do pcall(function() while true do end end) end") == GPULUA_INTERRUPTED);
  has_ended = true;
  other.join();
  CHECK(state.run("assert(1 + 1 == 2)") == GPULUA_OK);
}

TEST_CASE("thousands of deadlines: none hits the call after it", "[sandbox]") {
  ApiState state(sandbox_options());
  REQUIRE(state.run("function spin() while true do end end function quick() return 1 end") == GPULUA_OK);
  gpulua_function *spin = state.function("spin"), *quick = state.function("quick");
  int missed = 0, hit = 0;
  for (int i = 0; i < 300; ++i) {
    missed += gpulua_call(spin, nullptr, 0, nullptr, nullptr, 0.2) != GPULUA_DEADLINE;
    for (int j = 0; j < 5; ++j) hit += gpulua_call(quick, nullptr, 0, nullptr, nullptr, 0) != GPULUA_OK;
  }
  CHECK(missed == 0);
  CHECK(hit == 0);
  gpulua_function_release(spin);
  gpulua_function_release(quick);
}

TEST_CASE("deadlines of states on several threads", "[sandbox]") {
  int wrong[4] = {};
  std::vector<std::thread> threads;
  for (int& count : wrong)
    threads.emplace_back([&count] {
      gpulua_options options = sandbox_options();
      gpulua_state* state = nullptr;
      if (gpulua_create(&options, &state) != GPULUA_OK) ++count;
      const char text[] = "while true do end";
      gpulua_function* spin = nullptr;
      if (gpulua_load(state, text, sizeof text - 1, "spin", &spin) != GPULUA_OK) ++count;
      for (int i = 1; i <= 20; ++i)
        count += gpulua_call(spin, nullptr, 0, nullptr, nullptr, i % 5 + 0.5) != GPULUA_DEADLINE;
      gpulua_function_release(spin);
      if (gpulua_destroy(state) != GPULUA_OK) ++count;
    });
  for (std::thread& thread : threads) thread.join();
  for (const int count : wrong) CHECK(count == 0);
}

TEST_CASE("a deadline stops trusted scripts too, and their compiled loops", "[sandbox]") {
  ApiState state;
  REQUIRE(state.run("function work(n) local x = 0 for i = 1, n do x = x + i end return x end function spin() while "
                    "true do work(100) end end work(1e6)") == GPULUA_OK);
  gpulua_function* spin = state.function("spin");
  CHECK(gpulua_call(spin, nullptr, 0, nullptr, nullptr, 20) == GPULUA_DEADLINE);
  CHECK(state.error().find("the call's deadline of 20 ms has passed") != std::string::npos);
  CHECK(gpulua_call(spin, nullptr, 0, nullptr, nullptr, 20) == GPULUA_DEADLINE);
  gpulua_function_release(spin);
  CHECK(state.run("assert(work(10) == 55)") == GPULUA_OK);
}

TEST_CASE("budgets of a call, through the C interface", "[sandbox]") {
  gpulua_options options = sandbox_options();
  options.launches = 3;
  options.compilations = 50;
  ApiState state(options);
  CHECK(state.run("x = gpu.ones(4):eval()") == GPULUA_OK);
  for (int i = 0; i < 2; ++i) {
    CHECK(state.run("for i = 1, 9 do (x + i):eval() n = i end") == GPULUA_RUNTIME);
    CHECK(state.error().find("[launch] expected at most 3 launches in a call of the host program") !=
          std::string::npos);
    CHECK(state.number("n") == 3);
  }
  CHECK(state.run("y = gpu.empty(100e6, 'float64'):fill_(1)") == GPULUA_MEMORY);
  CHECK(state.run("local t = {} for i = 1, 1e9 do t[i] = i end") == GPULUA_MEMORY);
  CHECK(state.run("assert((x + 1):sum():item() == 8)") == GPULUA_OK);
}

TEST_CASE("kernels of sandboxes: by digest, or checked", "[sandbox]") {
  const std::string source = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }";
  const std::string launch = "local k = gpu.kernel('" + source +
                             "', 'twice') local x = gpu.ones(4) k {grid = 1, block = %d}(x) assert(x[4] == 2)";
  const auto with = [&](const char* threads) { return std::string(launch).replace(launch.find("%d"), 2, threads); };
  ApiState state(sandbox_options());
  CHECK(state.run(with("4")) == GPULUA_RUNTIME);
  const std::string mark = "SHA-256 digest ", error = state.error();
  REQUIRE(error.find(mark) != std::string::npos);
  const std::string digest = error.substr(error.find(mark) + mark.size(), 64);
  CHECK(gpulua_allow_kernel(state.get(), digest.c_str()) == GPULUA_OK);
  CHECK(state.run(with("4")) == GPULUA_OK);
  CHECK(gpulua_allow_kernel(state.get(), "12ab") == GPULUA_ARGUMENT);
  CHECK(state.error() == "[allow_kernel] expected the 64 hexadecimal digits of a SHA-256 digest, got \"12ab\"");
  CHECK(gpulua_allow_kernel(state.get(), nullptr) == GPULUA_ARGUMENT);
  CHECK(gpulua_allow_kernel(nullptr, digest.c_str()) == GPULUA_ARGUMENT);

  ApiState checked(sandbox_options(GPULUA_KERNELS));
  CHECK(checked.run(with("4")) == GPULUA_OK);
  // Indices in a Lua function that becomes a kernel are checked by the checker alone.
  const std::string lua =
      "local f = load('return function(x) return x * 2 end')() assert(gpu.vectorize(f)(gpu.ones(3)):sum():item() == 6)";
  CHECK(state.run(lua) == GPULUA_RUNTIME);
  CHECK(state.error().find("[vectorize] expected array functions, or a kernel that the host program has allowed") !=
        std::string::npos);
  CHECK(checked.run(lua) == GPULUA_OK);
  CHECK(checked.run(with("5")) == GPULUA_DEVICE);
  CHECK(checked.error().find("out-of-bounds read of 4 bytes: x[4] of float32[4]") != std::string::npos);
}

TEST_CASE("kernels that a sandbox's checker runs end at the deadline, or with an error", "[sandbox]") {
  ApiState state(sandbox_options(GPULUA_KERNELS));
  const auto launch = [](const std::string& source) {
    return "local k = gpu.kernel([==[" + source +
           "]==], 'k') {grid = 1, block = 32} local x = gpu.zeros({64}, 'int32') k(x) " + "gpu.sync()";
  };
  const auto works = [&] {
    const gpulua_status after = state.run(
        "local x = gpu.zeros({64}, 'int32') gpu.kernel('__global__ void k(int* x) { "
        "x[threadIdx.x] = 3; }', 'k') {grid = 1, block = 64}(x) assert(x[64] == 3)");
    INFO("after it: " << state.error());
    CHECK(after == GPULUA_OK);
  };
  works();
  const auto run_list = [&](const char* list, double ms, auto is_right) {
    const std::vector<std::string> sources = attacks(list, "kernel_attacks.lua");
    REQUIRE(!sources.empty());
    for (const std::string& source : sources) {
      INFO(source);
      const gpulua_status status = run_until(state, launch(source), ms);
      INFO(state.error());
      CHECK(is_right(status));
      works();
    }
  };
  // They compile before the deadline, so that it meets the loop.
  run_list("endless", 2000, [](gpulua_status status) { return status == GPULUA_DEADLINE; });
  run_list("wrong", 0, [](gpulua_status status) {
    return status == GPULUA_DEVICE || status == GPULUA_RUNTIME || status == GPULUA_MEMORY || status == GPULUA_ARGUMENT;
  });
  run_list("harmless", 0, [](gpulua_status status) { return status == GPULUA_OK; });
}

TEST_CASE("options of sandboxes that make no sense", "[sandbox]") {
  const auto refused = [](const gpulua_options& options) {
    gpulua_state* state = nullptr;
    CHECK(gpulua_create(&options, &state) == GPULUA_ARGUMENT);
    CHECK(state == nullptr);
    return std::string(gpulua_error(nullptr));
  };
  CHECK(refused(options_with(GPULUA_KERNELS)) == "[create] expected GPULUA_SANDBOX with GPULUA_KERNELS, got it alone");
  gpulua_options options = options_with(GPULUA_SANDBOX | GPULUA_KERNELS);
  options.device = "cuda:0";
  CHECK(refused(options).find("[create] expected the device \"cpu\" with GPULUA_KERNELS") == 0);
  options = options_with(GPULUA_SANDBOX);
  int stranger = 0;
  options.lua_state = &stranger;
  CHECK(refused(options).find("[create] expected no lua_state with GPULUA_SANDBOX") == 0);
}
