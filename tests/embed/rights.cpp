// What scripts of a context with narrowed rights may do.
#include <catch2/catch.hpp>

#include "src/base/sha256.h"
#include "tests/embed/embedded_state.h"

using namespace gpulua;

namespace {

/// A state whose scripts are not trusted, on the cpu device.
class RestrictedState : public State {
 public:
  explicit RestrictedState(bool check = false) : State(configuration(check)) {
    context().rights.trusted = false;
    context().rights.checked_kernels = check;
    restrict();
  }

  /// The error of the chunk, without its position.
  std::string error(const std::string& chunk) {
    const std::string text = run(chunk);
    const std::size_t position = text.find("]:1: ");
    return position == text.npos ? text : text.substr(position + 5);
  }

 private:
  static Config configuration(bool check) {
    Config config = Config::from_environment();
    config.device = "cpu";
    config.check = check;
    return config;
  }
};

constexpr const char* doubling = "__global__ void twice(float* x) { x[threadIdx.x] *= 2; }";

std::string launch(const std::string& source, const std::string& name) {
  return "local k = gpu.kernel([[" + source + "]], '" + name +
         "') local x = gpu.ones(4) k {grid = 1, block = 4}(x) return x:sum():item()";
}

}  // namespace

TEST_CASE("restricted scripts have arrays, and nothing that reaches beyond them", "[rights]") {
  RestrictedState state;
  CHECK(state.run("return (gpu.arange(4) * 2):sum():item()") == "12");
  CHECK(state.run("return gpu.cubic_spline(gpu.array {0, 1, 2}, gpu.array {0, 1, 4})(gpu.array {1}):item()") == "1");
  CHECK(state.run("return #gpu.random.bytes(7)") == "7");
  CHECK(state.run("return gpu.fft.irfft(gpu.fft.rfft(gpu.ones(8))):sum():item()") == "8");

  const std::string files = "got one that reads or writes files", memory = "got one that gives the host's memory",
                    unknown = "got one that sandboxes do not have";
  const std::string factors = "got one that keeps factors in the host's memory";
  for (const auto& [code, name, why] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"gpu.save('x.npy', gpu.ones(1))", "save", files},
           {"gpu.load('/etc/passwd')", "load", files},
           {"gpu.loadtxt('/etc/passwd')", "loadtxt", unknown},
           {"gpu.genfromtxt('/etc/passwd')", "genfromtxt", unknown},
           {"gpu.savetxt('x', gpu.ones(1))", "savetxt", unknown},
           {"gpu.fromfile('/etc/passwd')", "fromfile", unknown},
           {"gpu.ones(1):tofile('x')", "tofile", unknown},
           {"gpu.tofile(gpu.ones(1), 'x')", "tofile", unknown},
           {"gpu.image.load('x.png')", "load", files},
           {"gpu.image.save('x.png', gpu.ones(2, 2))", "save", files},
           {"gpu.ones(1):host()", "host", memory},
           {"gpu.host(gpu.ones(1))", "host", memory},
           {"gpu.pinned(8)", "pinned", memory},
           {"gpu.ones(1):copy_to(1LL)", "copy_to", memory},
           {"gpu.copy_from(gpu.ones(1), 1LL)", "copy_from", memory},
           {"gpu.In(1LL)", "In", memory},
           {"gpu.sparse.linalg.splu(gpu.sparse.csr({{1}}))", "sparse.linalg.splu", factors},
           {"gpu.sparse.linalg.spsolve(gpu.sparse.csr({{1}}), gpu.ones(1))", "sparse.linalg.spsolve", factors},
           {"gpu.plot.line({1, 2})", "line", unknown},
           {"gpu.plot.save(1, 'x.png')", "save", unknown},
           {"gpu.progress(3)", "progress", unknown},
           {"gpu.load_module('x.ptx')", "load_module", "got one that runs machine code"},
           {"gpu.set_memory_limit(1e12)", "set_memory_limit", "got one that changes what the host program has set"},
           {"gpu.check(false)", "check", "got one that changes what the host program has set"}}) {
    INFO(code);
    CHECK(state.error(code) == "[" + name + "] expected a function for scripts in a sandbox, " + why);
  }
  CHECK(state.error("return gpu.ones(1).pointer") == "[index] expected no address in a sandbox, got x.pointer");
  // Names that are not there make all files run, and bring nothing back.
  CHECK(state.error("gpu.no_such_function()").find("has no field") != std::string::npos);
  CHECK(state.error("gpu.plot.line({1, 2})").find("[line] expected a function for scripts") == 0);
}

TEST_CASE("restricted scripts bring no device code", "[rights]") {
  RestrictedState state;
  for (const std::string code :
       {"gpu.elementwise{inputs = 'float32 x', outputs = 'float32 y', body = 'y = x;'}",
        "gpu.reduction{inputs = 'float32 x', outputs = 'float32 y', map = 'x', reduce = 'a + b'}",
        "gpu.scan_kernel{input = 'float32 x', expr = 'a + b'}"}) {
    INFO(code);
    CHECK(state.error(code).find(
              "] expected array functions, or a kernel that the host program has allowed, got device code") !=
          std::string::npos);
  }
  const std::string expected =
      "[kernel] expected array functions, or a kernel that the host program has allowed, got source with the SHA-256 "
      "digest ";
  CHECK(state.error(launch(doubling, "twice")) == expected + sha256(doubling));

  state.context().rights.known_sources.insert(sha256(doubling));
  CHECK(state.run(launch(doubling, "twice")) == "8");
  CHECK(state.error(launch(std::string(doubling) + " ", "twice")) == expected + sha256(std::string(doubling) + " "));
  CHECK(state.error("gpu.kernel([[" + std::string(doubling) + "]], 'twice<1>')")
            .find("[kernel] expected a kernel's name without template arguments in a sandbox, got") == 0);
  CHECK(state.error("gpu.kernel([[" + std::string(doubling) + "]], 'twice', {defines = {x = 'y'}})")
            .find("[kernel] expected source without options in a sandbox, got a table") == 0);
}

TEST_CASE("with the right to it, restricted scripts bring kernels that the device checks", "[rights]") {
  RestrictedState state(true);
  CHECK(state.run(launch(doubling, "twice")) == "8");
  CHECK(state
            .error("local k = gpu.kernel([[" + std::string(doubling) +
                   "]], 'twice') local x = gpu.ones(4) k {grid = 1, block = 5}(x) gpu.sync()")
            .find("out-of-bounds") != std::string::npos);
  CHECK(state.error("gpu.kernel([[" + std::string(doubling) + "]], 'twice', {include = {'/etc'}})")
            .find("[kernel] expected source without options") == 0);
  CHECK(state.error("gpu.kernel('\\n#include \"/etc/passwd\"\\n__global__ void f() {}', 'f')").find("root:") ==
        std::string::npos);
  CHECK(state.run("return gpu.elementwise{inputs = 'float32 x', outputs = 'float32 y', body = 'y = x + "
                  "1;'}(gpu.ones(3)):sum():item()") == "6");
  CHECK(state.run("local f = loadstring('return function(a, b) return a + b end')() "
                  "return gpu.reduce(f, 0)(gpu.ones(3)):item()") == "3");
  CHECK(state.run("local f = loadstring('return function(x) return x[1] + x[2] end')() "
                  "return gpu.guvectorize('(n)->()', f)(gpu.ones(3, 2)):sum():item()") == "6");
  CHECK(state
            .error("local f = loadstring('return function(x) return x[1] + x[3] end')() "
                   "return gpu.guvectorize('(n)->()', f)(gpu.ones(3, 2)):sum():item()")
            .find("index 3 of x, whose indices are 1 to 2") != std::string::npos);
  CHECK(state
            .error("local k = gpu.jit(loadstring('return function(x) x[gpu.thread()] = 1 end')()) "
                   "k {grid = 1, block = 5}(gpu.ones(4)) gpu.sync()")
            .find("index 5 of x, whose indices are 1 to 4") != std::string::npos);
  // The library opens no file to find a function's text.
  CHECK(state
            .error("local f = loadstring('return function(x) return x end', '@/dev/zero')() "
                   "gpu.vectorize(f)(gpu.ones(2)):eval()")
            .find("is not in the file /dev/zero") != std::string::npos);
}

TEST_CASE("budgets of a call", "[rights]") {
  RestrictedState state;
  state.run("x = gpu.ones(4):eval()");
  state.context().rights.most_launches = 3;
  state.context().spending.begin();
  CHECK(state.error("for i = 1, 5 do (x + i):eval() n = i end") ==
        "[launch] expected at most 3 launches in a call of the host program: its budget is spent");
  CHECK(state.run("return n") == "3");
  CHECK(state.error("pcall(function() (x + 1):eval() end); (x + 2):eval()").find("its budget is spent") !=
        std::string::npos);
  state.context().spending.begin();
  CHECK(state.run("return (x + 1):sum():item()") == "8");

  state.context().rights.most_launches = ScriptRights::no_limit;
  state.context().rights.most_compilations = 0;
  state.context().spending.begin();
  CHECK(state.error("(x * 3 / 7 - gpu.cos(x) ^ 5):eval()") ==
        "[compile] expected at most 0 compilations in a call of the host program: its budget is spent");

  state.context().rights.most_compilations = ScriptRights::no_limit;
  state.context().rights.most_blocks = 100;
  state.context().rights.known_sources.insert(sha256(doubling));
  state.run("k = gpu.kernel([[" + std::string(doubling) + "]], 'twice') y = gpu.ones(4)");
  CHECK(state.run("k {grid = {10, 10}, block = 4}(y) return 'fine'") == "fine");
  CHECK(state.error("k {grid = {101}, block = 4}(y)") ==
        "[twice] expected at most 100 blocks, the budget of a launch, got 101");
}

TEST_CASE("restricted scripts have one device", "[rights]") {
  RestrictedState state;
  CHECK(state.run("return gpu.ones(2).device") == "cpu");
  CHECK(state.run("return gpu.ones(2, {device = 'cpu'}).device") == "cpu");
  const std::string other = state.error("local device, why = gpu.device('cuda:0') error(why or 'opened', 0)");
  CHECK((other.find("[device] expected cpu, the sandbox's one device, got cuda:0") == 0 ||
         other.find("error: [device] expected one of") == 0));
}
