// Sandboxes through the C interface: what a call leaves for the program and for the next call, and objects of the
// library that a script could turn against it.
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/embed/api.h"

namespace {

gpulua_options sandbox_options(std::size_t device_memory = std::size_t{64} << 20) {
  gpulua_options options = options_with(GPULUA_SANDBOX);
  options.device = "cpu";
  options.lua_memory = std::size_t{64} << 20;
  options.device_memory = device_memory;
  return options;
}

/// The most memory that the process has had, in MB.
long peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss >> 10;
}

gpulua_status nothing(gpulua_state*, void*, const gpulua_value*, size_t, gpulua_value*, size_t* count) {
  *count = 0;
  return GPULUA_OK;
}

/// Reads a text of the script's.
gpulua_status look(gpulua_state* state, void*, const gpulua_value*, size_t, gpulua_value*, size_t* count) {
  *count = 0;
  gpulua_value value;
  return gpulua_get_value(state, "text", &value);
}

/// The text that it gets, and the one that it reads.
gpulua_status both(gpulua_state* state, void*, const gpulua_value* in, size_t, gpulua_value* out, size_t* count) {
  out[0] = in[0];
  *count = 2;
  return gpulua_get_value(state, "text", &out[1]);
}

}  // namespace

TEST_CASE("what callbacks are given and read does not pile up in a call", "[sandbox]") {
  ApiState state(sandbox_options());
  for (const auto& [name, callback] : {std::pair{"note", &nothing}, std::pair{"look", &look}, std::pair{"both", &both}})
    REQUIRE(gpulua_register(state.get(), name, callback, nullptr) == GPULUA_OK);
  REQUIRE(state.run("text = ('y'):rep(1e6)") == GPULUA_OK);
  const long before = peak_mb();
  CHECK(state.run("local s = ('x'):rep(1e6) for i = 1, 1000 do note(s) end") == GPULUA_OK);
  CHECK(state.run("for i = 1, 1000 do look() end") == GPULUA_OK);
  CHECK(peak_mb() - before < 300);
  CHECK(state.run("for i = 1, 1000 do local a, b = both(tostring(i)) assert(a == tostring(i) and b == text) end") ==
        GPULUA_OK);
  // Handles too: 4,000 arrays of 64 KB are more than the device's memory.
  const gpulua_status status =
      state.run("for i = 1, 4000 do note(gpu.zeros(16384):eval(), function() return i end) end");
  INFO(state.error());
  CHECK(status == GPULUA_OK);
}

TEST_CASE("the text of a result stays while callbacks of a look-up run", "[sandbox]") {
  ApiState state;
  REQUIRE(gpulua_register(state.get(), "note", &nothing, nullptr) == GPULUA_OK);
  REQUIRE(state.run("function name() return ('z'):rep(100) end "
                    "model = setmetatable({}, {__index = function(_, k) note(k) return 3 end})") == GPULUA_OK);
  gpulua_function* const name = state.function("name");
  gpulua_value value;
  size_t count = 1;
  REQUIRE(gpulua_call(name, nullptr, 0, &value, &count, 0) == GPULUA_OK);
  CHECK(state.number("model.x") == 3);
  CHECK(std::string(value.as.text.data, value.as.text.size) == std::string(100, 'z'));
  gpulua_function_release(name);
}

TEST_CASE("pending operations and views count in a sandbox's memory", "[sandbox]") {
  ApiState state(sandbox_options());
  for (const char* const script :
       {"local x, t = gpu.ones(2), {} for i = 1, 1e9 do t[i] = x + i end",
        "local x, t = gpu.ones(2), {} for i = 1, 1e9 do t[i] = x({1, 1}) end",
        "local x, t = gpu.ones(2), {} for i = 1, 1e9 do t[i] = x.T end",
        "local x = gpu.ones(2) for i = 1, 1e9 do x = x + gpu.stack({x, x}, 1):sum(1) x = x:reshape(1, 2):reshape(2) "
        "keep = {keep, x} end"}) {
    INFO(script);
    CHECK(state.run(script) == GPULUA_MEMORY);
    CHECK(state.run("keep = nil") == GPULUA_OK);
    const gpulua_status after = state.run("assert(gpu.ones(3):sum():item() == 3)");
    INFO(state.error());
    CHECK(after == GPULUA_OK);
  }
}

TEST_CASE("arrays end with their state, also where Lua's stack has no room for their __gc", "[sandbox]") {
  const auto overflow = [] {
    ApiState state(sandbox_options());
    CHECK(state.run("local function f(n) gpu.full(3, n) local t = {n} return 1 + f(n + 1) end "
                    "for i = 1, 5 do pcall(f, 0) end") == GPULUA_OK);
  };
  overflow();  // what stays for the process
  const std::size_t before = mallinfo2().uordblks;  // 0 with a sanitizer, which finds leaks itself
  for (int i = 0; i < 8; ++i) overflow();
  // One array keeps its device, more than a megabyte.
  CHECK(mallinfo2().uordblks < before + (1 << 20));
}

TEST_CASE("a spent budget of launches fails no array for good", "[sandbox]") {
  gpulua_options options = sandbox_options();
  options.launches = 20;
  ApiState state(options);
  REQUIRE(state.run("x, t = gpu.ones(3), {} for i = 1, 1000 do t[i] = x({1, 2}) * i end") == GPULUA_OK);
  const auto spends = [&](const char* text) {
    INFO(text);
    CHECK(state.run(text) == GPULUA_RUNTIME);
    CHECK(state.error().find("expected at most 20 launches in a call of the host program") != std::string::npos);
  };
  spends("for i = 1, #t do t[i]:eval() end");
  spends("x:fill_(5)");  // which evaluates what reads the elements
  const gpulua_status after = state.run("assert(t[900]:sum():item() == 1800)");
  INFO(state.error());
  CHECK(after == GPULUA_OK);
}

TEST_CASE("a script's error on the device is the error of its own call", "[sandbox]") {
  ApiState state(sandbox_options());
  const auto next = [&] { return state.run("assert(gpu.ones(3):sum():item() == 3) gpu.sync()"); };
  // Evaluated, and never read.
  CHECK(state.run("kept = gpu.arange(3):take(gpu.array({9}, 'int32')):eval()") == GPULUA_RUNTIME);
  CHECK(state.error().find("9 in an index array is out of range") != std::string::npos);
  CHECK(next() == GPULUA_OK);
  // Beside another error, which comes first.
  CHECK(state.run("local y = gpu.arange(3):take(gpu.array({9}, 'int32')):eval() error 'first'") == GPULUA_RUNTIME);
  CHECK(state.error().find("first") != std::string::npos);
  CHECK(next() == GPULUA_OK);
  // Elements that depend on a failed check are an error for each that reads them.
  CHECK(state.run("return kept:sum():item()") == GPULUA_RUNTIME);
}

TEST_CASE("a sandbox's script changes no mode for the next one", "[sandbox]") {
  ApiState state(sandbox_options());
  for (const char* const mode : {"strict", "debug", "eager"}) {
    const std::string name(mode);
    CHECK(state.run("gpu." + name + "(true)") == GPULUA_RUNTIME);
    CHECK(state.error().find("[" + name + "] expected no change of a mode in a sandbox") != std::string::npos);
    CHECK(state.run("assert(gpu." + name + "() == false)") == GPULUA_OK);
  }
}

TEST_CASE("a gpu.scope in a coroutine that waits ends with the call", "[sandbox]") {
  ApiState state(sandbox_options());
  REQUIRE(state.run("co = coroutine.wrap(function() gpu.scope(function() coroutine.yield() end) end) co()") ==
          GPULUA_OK);
  REQUIRE(state.run("x = gpu.ones(4):eval()") == GPULUA_OK);
  const gpulua_status status = state.run("pcall(co) assert(x:sum():item() == 4)");
  INFO(state.error());
  CHECK(status == GPULUA_OK);
}

TEST_CASE("metatables of the library's objects are hidden", "[sandbox]") {
  ApiState state(sandbox_options());
  const gpulua_status status = state.run(R"(
    local A = gpu.sparse.csr(gpu.eye(3))
    local objects = {gpu.ones(2), A, gpu.stream(), gpu.event(), gpu.device(), gpu.timer(), gpu.devices(), gpu.memory(),
      gpu.random.generator("philox", {seed = 1}), gpu.random.state(), gpu.table {a = gpu.ones(2), b = {1, 2}},
      gpu.table({a = gpu.ones(2)}):group_by("a"), gpu.fuse(function(x) return x end), gpu.graph(gpu.ones, 3),
      gpu.sparse.linalg.operator(function(x) return x end, {shape = {2, 2}}), gpu.benchmark(function() end, {repeats = 1}),
      gpu.profile(function() return gpu.ones(2) + 1 end), gpu.rand(2),
      gpu.array({1i}, "complex64")[1], gpu.array({1}, "int64")[1], gpu.cubic_spline(gpu.arange(4, "float64"), gpu.arange(4, "float64")), gpu.newaxis, gpu.unique(gpu.ones(2)),
      gpu.fft, gpu.linalg, gpu.sparse, gpu.sparse.linalg, gpu.random, gpu.signal, gpu.ndimage, gpu.stats}
    local seen, open, count = {}, {}, 0
    local function walk(value, path, depth)
      local kind = type(value)
      if kind ~= "table" and kind ~= "userdata" and kind ~= "cdata" or seen[value] then return end
      seen[value], count = true, count + 1
      if type(getmetatable(value)) == "table" then open[#open + 1] = path end
      if depth == 0 then return end
      if kind == "table" then for key, item in next, value do walk(item, path .. "." .. tostring(key), depth - 1) end end
      for _, name in ipairs {"shape", "strides", "T", "device", "dtype", "values", "rows", "columns", "names"} do
        local good, item = pcall(function() return value[name] end)
        if good then walk(item, path .. "." .. name, depth - 1) end
      end
    end
    for i = 1, 60 do walk(objects[i], "object " .. i, 3) end
    assert(count > 40, "walked " .. count)
    assert(#open == 0, "open: " .. table.concat(open, ", ")))");
  INFO(state.error());
  CHECK(status == GPULUA_OK);
}

TEST_CASE("bits of NaNs do not become other values of Lua", "[sandbox]") {
  ApiState state(sandbox_options());
  // The bits with which LuaJIT notes a table, in memory that gpu.empty may get next.
  const gpulua_status status = state.run(R"(
    local bits = 0xFFFA000000000000ULL + 0x414141414140ULL
    gpu.scope(function() gpu.full({512}, bits, {dtype = "uint64"}):eval() end)
    local x = gpu.empty(512, {dtype = "float64"})
    assert(x:eq(0):all():item(), "gpu.empty shows what was in its memory")
    assert(gpu.empty_like(x):eq(0):all():item()))");
  INFO(state.error());
  CHECK(status == GPULUA_OK);
}

TEST_CASE("deadlines in a child of fork()", "[sandbox]") {
  // bit 0: the timer's thread runs in the parent; bit 1: the device has worked there; bit 2: the child makes the state.
  const std::string spin = "while true do end", work = "assert(gpu.ones(1000000):sum():item() == 1000000)";
  for (int mode = 0; mode < 8; ++mode) {
    gpulua_options options = sandbox_options();
    gpulua_state* state = nullptr;
    gpulua_function* function = nullptr;
    const auto open = [&] {
      return gpulua_create(&options, &state) == GPULUA_OK &&
             gpulua_load(state, spin.data(), spin.size(), "spin", &function) == GPULUA_OK;
    };
    REQUIRE(open());
    if (mode & 1) CHECK(gpulua_call(function, nullptr, 0, nullptr, nullptr, 5) == GPULUA_DEADLINE);
    if (mode & 2) CHECK(gpulua_run(state, work.data(), work.size(), "work") == GPULUA_OK);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(20);  // ends the child where the call does not end
      if ((mode & 4) && !open()) _exit(1);
      if (gpulua_call(function, nullptr, 0, nullptr, nullptr, 20) != GPULUA_DEADLINE) _exit(2);
      if (gpulua_run(state, work.data(), work.size(), "work") != GPULUA_OK) _exit(3);
      _exit(gpulua_destroy(state) == GPULUA_OK ? 0 : 4);
    }
    int ended = 0;
    REQUIRE(waitpid(child, &ended, 0) == child);
    INFO("mode " << mode);
    CHECK(ended == 0);
    CHECK(gpulua_destroy(state) == GPULUA_OK);
  }
}

TEST_CASE("generators of random numbers count in a sandbox's memory", "[sandbox]") {
  ApiState state(sandbox_options(std::size_t{100} << 20));
  if (state.run("gpu.random.generator 'xorwow'") == GPULUA_UNAVAILABLE) return;  // no cuRAND
  for (const char* name : {"xorwow", "mrg32k3a", "mtgp32", "mt19937", "philox4_32_10", "sobol64"}) {
    INFO(name);
    const std::string make = "gpu.random.generator '" + std::string(name) + "'";
    CHECK(state.run("kept = {} for i = 1, 1e5 do kept[i] = " + make + " end") == GPULUA_MEMORY);
    CHECK(state.error().find("of random generators") != std::string::npos);
    CHECK(state.run("made = #kept kept = nil") == GPULUA_OK);
    CHECK(state.number("made") >= 1);
    // Those that nobody keeps are collected.
    CHECK(state.run("for i = 1, 40 do " + make + " end") == GPULUA_OK);
  }
}

TEST_CASE("elements between Lua's tables and arrays count in a sandbox's memory", "[sandbox]") {
  ApiState state(sandbox_options(std::size_t{100} << 20));
  // A table that is an element of itself many times over.
  REQUIRE(state.run("row = {} for i = 1, 1000 do row[i] = i end function of(n) local t = {} for i = 1, n do t[i] = row "
                    "end return t end") == GPULUA_OK);
  CHECK(state.run("x = gpu.array(of(4000), 'float64') assert(#x:table() == 4000) x:free()") == GPULUA_OK);
  CHECK(state.run("x = gpu.array(of(8000), 'float64')") == GPULUA_MEMORY);
  INFO(state.error());
  CHECK(state.error().find("out of memory on cpu: 64 MB wanted") != std::string::npos);
  CHECK(state.run("x = gpu.ones(8000, 1000, 'float64'):eval() x:table()") == GPULUA_MEMORY);
}
