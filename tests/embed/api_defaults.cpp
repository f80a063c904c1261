// What a state has without options, and what messages say of the mistakes that its defaults are to show.

#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <string>

#include "tests/embed/api.h"

namespace {

/// What is written to the standard error while it lives.
class Errors {
 public:
  Errors() : file_(std::tmpfile()), before_(dup(STDERR_FILENO)) {
    REQUIRE(file_ != nullptr);
    dup2(fileno(file_), STDERR_FILENO);
  }
  ~Errors() {
    dup2(before_, STDERR_FILENO);
    close(before_);
    std::fclose(file_);
  }
  Errors(const Errors&) = delete;
  Errors& operator=(const Errors&) = delete;

  std::string text() const {
    std::string all(4096, '\0');
    const ssize_t size = pread(fileno(file_), all.data(), all.size(), 0);
    all.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
    return all;
  }

 private:
  std::FILE* file_;
  int before_;
};

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

const char* const uncalled =
    "local k = gpu.kernel('__global__ void k(float* x) { x[0] = 1; }', 'k')\nk {grid = 1, block = 1}";

}  // namespace

TEST_CASE("warnings go to the standard error, or where the options say", "[cpu]") {
  const auto warns = [](const gpulua_options* options) {
    const Errors errors;
    gpulua_state* state = nullptr;
    REQUIRE(gpulua_create(options, &state) == GPULUA_OK);
    REQUIRE(gpulua_run(state, uncalled, std::strlen(uncalled), "w.lua") == GPULUA_OK);
    REQUIRE(gpulua_collect(state, 0) == GPULUA_OK);
    REQUIRE(gpulua_destroy(state) == GPULUA_OK);
    return errors.text();
  };
  gpulua_options options = on_cpu();
  CHECK(has(warns(&options), "gpulua: w.lua:2: [k] a launch was made and never called"));
  CHECK(has(warns(nullptr), "a launch was made and never called"));
  options.log = nullptr;
  CHECK(warns(&options).empty());
  std::string text;
  options.user = &text;
  options.log = [](void* user, int, const char* line) { *static_cast<std::string*>(user) += line; };
  CHECK(warns(&options).empty());
  CHECK(has(text, "a launch was made and never called"));
  // An older program's struct has no place for it.
  options = on_cpu();
  options.log = reinterpret_cast<void (*)(void*, int, const char*)>(1);
  REQUIRE(gpulua_options_init(&options, offsetof(gpulua_options, log)) == GPULUA_OK);
  CHECK(warns(&options).empty());
}

TEST_CASE("a kernel's wild access is an error without any option", "[cpu]") {
  gpulua_options options = on_cpu();
  ApiState state(options);
  REQUIRE(state.run("k = gpu.kernel([[__global__ void f(float* y) { extern __shared__ float t[]; t[threadIdx.x] = "
                    "threadIdx.x; __syncthreads(); y[threadIdx.x] = t[blockDim.x - 1 - threadIdx.x]; }]], 'f')") ==
          GPULUA_OK);
  CHECK(state.run("k {grid = 1, block = 256, shared = 256}(gpu.zeros(256))") == GPULUA_DEVICE);
  CHECK(has(state.error(), "[launch] kernel 'f': wrote past its 256 bytes of shared memory"));
  CHECK(state.run("local x = gpu.zeros(1000)\n"
                  "gpu.kernel('__global__ void g(float* x) { x[blockIdx.x * blockDim.x + threadIdx.x] = 1; }', 'g')"
                  ":over(1000)(x)",
                  "g.lua") == GPULUA_DEVICE);
  CHECK(
      has(state.error(), "g.lua:2: [launch] kernel 'g' has written past the end of an array of 4000 bytes made at g.lua:1"));
  CHECK(gpulua_sync(state.get()) == GPULUA_OK);
}

TEST_CASE("paths that are none, and names that scripts cannot write") {
  ApiState state;
  REQUIRE(state.run("x = gpu.ones(3) a = 2 port = {} function port.open() end") == GPULUA_OK);
  gpulua_function* function = nullptr;
  CHECK(gpulua_get(state.get(), "x:sum", &function) == GPULUA_ARGUMENT);
  CHECK(state.error() ==
        "[get] expected a function at 'x:sum', got nil; a path has dots and no colon: of an array, \"gpu.sum\" is the "
        "function, with the array as its first argument");
  CHECK(gpulua_get(state.get(), "port:open", &function) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "\"port.open\" is the function, with the table as its first argument"));
  CHECK(gpulua_get(state.get(), "a + 3", &function) == GPULUA_ARGUMENT);
  CHECK(has(state.error(), "a path is names with dots between them: load(\"return a + 3\") computes an expression"));
  const auto twice = [](gpulua_state*, void*, const gpulua_value*, size_t, gpulua_value*, size_t* count) {
    *count = 0;
    return GPULUA_OK;
  };
  CHECK(gpulua_register(state.get(), "port.read-fast", twice, nullptr) == GPULUA_ARGUMENT);
  CHECK(state.error() ==
        "[register] expected names that scripts can write, of letters, digits and _, got 'read-fast' in "
        "the path 'port.read-fast'; 'read_fast' is one");
  CHECK(gpulua_register(state.get(), "end", twice, nullptr) == GPULUA_ARGUMENT);
  const gpulua_value one = number_value(1);
  CHECK(gpulua_set(state.get(), "my gain", &one) == GPULUA_ARGUMENT);
  CHECK(gpulua_set(state.get(), "settings.max-gain", &one) == GPULUA_OK);
  CHECK(state.run("assert(settings['max-gain'] == 1)") == GPULUA_OK);
}

TEST_CASE("hints about names that a program's scripts do not see") {
  ApiState state, sandbox(options_with(GPULUA_SANDBOX));
  REQUIRE(state.run("local gain, other = 2, 3\nlocal function area() end", "config.lua") == GPULUA_OK);
  CHECK(state.run("result = gain * 2", "run.lua") == GPULUA_RUNTIME);
  CHECK(has(state.error(),
            "\nhint: gain is a local of config.lua, which other scripts do not see: without `local` it is a "
            "global\nstack"));
  CHECK(state.run("result = other * 2", "run.lua") == GPULUA_RUNTIME);
  CHECK(has(state.error(), "other is a local of config.lua"));
  CHECK(state.run("area()", "run.lua") == GPULUA_RUNTIME);
  CHECK(has(state.error(), "area is a local of config.lua"));
  CHECK(state.run("result = gai * 2", "run.lua") == GPULUA_RUNTIME);
  CHECK_FALSE(has(state.error(), "is a local of"));
  CHECK(sandbox.run("local f = io.open('data.txt')", "plug.lua") == GPULUA_RUNTIME);
  CHECK(
      has(sandbox.error(),
          "plug.lua:1: attempt to index global 'io' (a nil value)\nhint: a sandbox has no io: it leaves out what "
          "reaches files and programs, as io, package, ffi and most of os do; the host program gives its scripts what "
          "they may reach, functions by gpulua_register or state.bind, values by gpulua_set or state.set\n"));
  for (const char* script :
       {"local io = io\nio.open('data.txt')", "local io = io; (function() io.open('x') end)()",
        "local f = _G.io.open('x')", "local co = coroutine.wrap(function() io.open('x') end) co()"}) {
    CHECK(sandbox.run(script, "plug.lua") == GPULUA_RUNTIME);
    CHECK(has(sandbox.error(), "\nhint: a sandbox has no io: it leaves out"));
  }
  CHECK(sandbox.run("local package = nil; package.size = 3", "plug.lua") == GPULUA_RUNTIME);
  CHECK_FALSE(has(sandbox.error(), "a sandbox has no"));
  gpulua_function* function = nullptr;
  REQUIRE(gpulua_load(state.get(), "return x * 2", 12, "f.lua", &function) == GPULUA_OK);
  const gpulua_value three = number_value(3);
  CHECK(gpulua_call(function, &three, 1, nullptr, nullptr, 0) == GPULUA_RUNTIME);
  CHECK(has(state.error(), "\nhint: the arguments of a script are ...: local x = ... takes the first"));
  const std::string anonymous = "function(x) return 2 * x end";
  CHECK(gpulua_load(state.get(), anonymous.data(), anonymous.size(), "f.lua", &function) == GPULUA_SYNTAX);
  CHECK(has(state.error(), "hint: the text itself is the function, and its arguments are ...: local x = ..."));
  CHECK(gpulua_load(state.get(), "6 * 7", 5, "f.lua", &function) == GPULUA_SYNTAX);
  CHECK(has(state.error(), "hint: a value alone is no statement: return 6 * 7"));
}

TEST_CASE("an error that passes many calls has the tracebacks of the innermost and of the outermost") {
  ApiState state;
  const auto again = [](gpulua_state* in, void*, const gpulua_value*, size_t, gpulua_value*, size_t* count) {
    *count = 0;
    return gpulua_run(in, "go()", 4, "again.lua");
  };
  REQUIRE(gpulua_register(state.get(), "again", again, nullptr) == GPULUA_OK);
  REQUIRE(state.run("function go() again() end") == GPULUA_OK);
  CHECK(state.run("\n\ngo()", "first.lua") == GPULUA_RUNTIME);
  const std::string error = state.error();
  std::size_t tracebacks = 0;
  for (std::size_t at = 0; (at = error.find("stack traceback:", at)) != std::string::npos; ++at) ++tracebacks;
  CHECK(tracebacks <= 3);
  CHECK(error.size() < 4000);
  CHECK(error.starts_with("script.lua:1: stack overflow"));
  CHECK(error.ends_with("first.lua:3: in main chunk"));
}
