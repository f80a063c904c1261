// What scripts of a context with narrowed rights may do.

#include "src/base/sha256.h"
#include "tests/catch.h"
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

  const std::string files = "which reads or writes files", memory = "which gives the host's memory",
                    unknown = "which sandboxes do not have";
  const std::string factors = "got one that keeps factors in the host's memory";
  for (const auto& [code, name, why] : std::vector<std::tuple<std::string, std::string, std::string>>{
           {"gpu.save('x.npy', gpu.ones(1))", "save", files},
           {"gpu.load('/etc/passwd')", "load", files},
           {"gpu.loadtxt('/etc/passwd')", "loadtxt", unknown},
           {"gpu.genfromtxt('/etc/passwd')", "genfromtxt", unknown},
           {"gpu.savetxt('x', gpu.ones(1))", "savetxt", unknown},
           {"gpu.fromfile('/etc/passwd')", "fromfile", unknown},
           {"gpu.tofile(gpu.ones(1), 'x')", "tofile", unknown},
           {"gpu.image.load('x.png')", "image.load", files},
           {"gpu.image.save('x.png', gpu.ones(2, 2))", "image.save", files},
           {"gpu.ones(1):host()", "host", memory},
           {"gpu.host(gpu.ones(1))", "host", memory},
           {"gpu.pinned(8)", "pinned", memory},
           {"gpu.ones(1):copy_to(1LL)", "copy_to", memory},
           {"gpu.copy_from(gpu.ones(1), 1LL)", "copy_from", memory},
           {"gpu.In(1LL)", "In", memory},
           {"gpu.ones(1):ipc_handle()", "ipc_handle", memory},
           {"gpu.from_ipc('')", "from_ipc", memory},
           {"gpu.sparse.linalg.splu(gpu.sparse.csr({{1}}))", "sparse.linalg.splu", factors},
           {"gpu.sparse.linalg.spsolve(gpu.sparse.csr({{1}}), gpu.ones(1))", "sparse.linalg.spsolve", factors},
           {"gpu.plot.line({1, 2})", "plot.line", unknown},
           {"gpu.plot.save(1, 'x.png')", "plot.save", unknown},
           {"gpu.progress(3)", "progress", unknown},
           {"gpu.load_module('x.ptx')", "load_module", "which runs machine code"},
           {"gpu.set_memory_limit(1e12)", "set_memory_limit", "which changes what the host program has set"},
           {"gpu.check(false)", "check", "which changes what the host program has set"}}) {
    INFO(code);
    const std::string got = why == factors ? why : "got gpu." + name + ", " + why;
    CHECK(state.error(code) == "[" + name + "] expected a function for scripts in a sandbox, " + got);
  }
  CHECK(state.error("return gpu.ones(1).pointer") == "[index] expected no address in a sandbox, got x.pointer");
  // Names that are not there make all files run, and bring nothing back.
  CHECK(state.error("gpu.no_such_function()").find("has no field") != std::string::npos);
  CHECK(state.error("gpu.plot.line({1, 2})").find("[plot.line] expected a function for scripts") == 0);
  CHECK(state.error("gpu.ones(1):tofile('x')") ==
        "[tofile] expected a function for scripts in a sandbox, got x:tofile, which sandboxes do not have");
  CHECK(state.error("gpu.print_options{precision = 3}").find("[print_options] expected no change of a mode") == 0);
  CHECK(state.run("return gpu.print_options().precision") == "6");
}

TEST_CASE("restricted scripts run the library's own kernels", "[rights]") {
  RestrictedState state;
  state.context().rights.most_blocks = 1;  // for kernels that scripts bring
  for (const auto& [code, result] : std::vector<std::pair<std::string, std::string>>{
           {"gpu.signal.sosfilt(gpu.signal.butter(3, 0.2, {output = 'sos'}), gpu.ones(2000))[2000] > 0.99", "true"},
           {"gpu.signal.lfilter({1}, {1, -0.5}, gpu.ones(40))[40]", "2"},
           {"gpu.signal.filtfilt({1, 1}, {2}, gpu.ones(40))[3]", "1"},
           {"gpu.signal.find_peaks(gpu.array {0, 1, 0, 3, 0}, {prominence = 2, width = 0}):item()", "4"},
           {"gpu.signal.resample_poly(gpu.ones(8), 3, 2).size", "12"},
           {"gpu.signal.convolve2d(gpu.ones(3, 3), gpu.ones(2, 2)):sum():item()", "36"},
           {"gpu.signal.medfilt(gpu.array {1, 9, 1, 1}):max():item()", "1"},
           {"gpu.sparse.eye(3):sum():item()", "3"},
           {"gpu.sparse.diags({gpu.ones(3)}):todense():sum():item()", "3"},
           {"gpu.sparse.kron(gpu.sparse.eye(2), gpu.sparse.eye(2)).nnz", "4"},
           {"gpu.sparse.find(gpu.sparse.eye(2)).size", "2"},
           {"gpu.sparse.eye(3):argmax(1):sum():item()", "6"},
           {"select(2, gpu.ndimage.label(gpu.array {1, 0, 1}))", "2"},
           {"gpu.ndimage.gaussian_filter(gpu.ones(9), 1):sum():round():item()", "9"},
           {"gpu.ndimage.map_coordinates(gpu.arange(4), {gpu.array {1.5}}, {order = 1}):item()", "0.5"},
           {"gpu.ndimage.rotate(gpu.ones(3, 3), 90):sum():round():item()", "9"},
           {"gpu.ndimage.median_filter(gpu.ones(9), 3):sum():item()", "9"},
           {"gpu.ndimage.distance_transform_edt(gpu.array {{1, 1, 0}, {1, 1, 1}}):max():item() > 2", "true"},
           {"gpu.random.sobol(4, 2).size", "8"}}) {
    INFO(code);
    CHECK(state.run("return tostring((" + code + "))") == result);
  }
  // Which does not open it for the script's own.
  CHECK(state.error("gpu.module('')").find("[module] expected array functions, or a kernel") == 0);
  CHECK(state.error("gpu.elementwise{inputs = 'raw float32 x', outputs = 'float32 y', body = 'y = x[i];'}")
            .find("[elementwise] expected array functions, or a kernel") == 0);
}

TEST_CASE("the library's own kernels stay within their arrays, and end", "[rights]") {
  RestrictedState state;
  const std::string steps = " expected at most 65536 steps for each element in a sandbox, got ";
  for (const auto& [code, error] : std::vector<std::pair<std::string, std::string>>{
           {"gpu.signal.peak_prominences(gpu.zeros(0), gpu.array({1}, 'int64'))",
            "[signal.peak_prominences] expected a vector with elements"},
           {"gpu.signal.upfirdn({1, 1}, gpu.ones(3000), 2 ^ 60, 2 ^ 60)",
            "[signal.upfirdn] expected up and down with positions below 2^53"},
           {"gpu.ndimage.shift(gpu.ones(unpack(gpu.ones(20):table())), 1)",
            "[ndimage.shift] expected at most 65536 neighbours"},
           {"gpu.signal.upfirdn(gpu.ones(70000), gpu.ones(70000))", "[signal.upfirdn]" + steps},
           {"gpu.signal.convolve2d(gpu.ones(300, 300), gpu.ones(300, 300))", "[signal.convolve2d]" + steps},
           {"gpu.ndimage.correlate(gpu.ones(300, 300), gpu.ones(300, 300))", "[ndimage.correlate]" + steps},
           {"gpu.ndimage.median_filter(gpu.ones(300, 300), 64)", "[ndimage.median_filter]" + steps}}) {
    INFO(code);
    CHECK(state.error(code).find(error) == 0);
  }
  // Integers whose difference has no place in their dtype: heights above the peak.
  CHECK(
      state.run("local x = gpu.array({-9000000000000000000LL, 9000000000000000000LL, -9000000000000000000LL}, 'int64') "
                "local a, b, c, d = gpu.signal.peak_widths(x, gpu.array({1, 2, 3}, 'int64'), 1) "
                "return tostring(c:isfinite():all():item() and d:isfinite():all():item())") == "true");
  CHECK(state.run("return gpu.ndimage.map_coordinates(gpu.ones(4), {gpu.array({1e300, -1e300, math.huge, 0 / 0}, "
                  "'float64')}, {mode = 'mirror', order = 1})[1]") == "1");
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
  const std::string remedy =
      "; the program allows this source by gpulua_allow_kernel, and all kernels, checked and on the cpu device, by the "
      "flag GPULUA_KERNELS";
  CHECK(state.error(launch(doubling, "twice")) == expected + sha256(doubling) + remedy);

  state.context().rights.known_sources.insert(sha256(doubling));
  CHECK(state.run(launch(doubling, "twice")) == "8");
  CHECK(state.error(launch(std::string(doubling) + " ", "twice")) ==
        expected + sha256(std::string(doubling) + " ") + remedy);
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
        "[launch] expected at most 3 launches in a call of the host program: its budget is spent; the program sets "
        "it by launches of gpulua_options, 0 for no limit");
  CHECK(state.run("return n") == "3");
  CHECK(state.error("pcall(function() (x + 1):eval() end); (x + 2):eval()").find("its budget is spent") !=
        std::string::npos);
  state.context().spending.begin();
  CHECK(state.run("return (x + 1):sum():item()") == "8");

  state.context().rights.most_launches = ScriptRights::no_limit;
  state.context().rights.most_compilations = 0;
  state.context().spending.begin();
  CHECK(state.error("(x * 3 / 7 - gpu.cos(x) ^ 5):eval()") ==
        "[compile] expected at most 0 compilations in a call of the host program: its budget is spent; the program "
        "sets it by compilations of gpulua_options, 0 for no limit");

  state.context().rights.most_compilations = ScriptRights::no_limit;
  state.context().rights.most_blocks = 100;
  state.context().rights.known_sources.insert(sha256(doubling));
  state.run("k = gpu.kernel([[" + std::string(doubling) + "]], 'twice') y = gpu.ones(4)");
  CHECK(state.run("k {grid = {10, 10}, block = 4}(y) return 'fine'") == "fine");
  CHECK(state.error("k {grid = {101}, block = 4}(y)") ==
        "[twice] expected at most 100 blocks, the budget of a launch, got 101; the program sets it by blocks of "
        "gpulua_options, 0 for no limit");
}

TEST_CASE("restricted scripts have one device", "[rights]") {
  RestrictedState state;
  CHECK(state.run("return gpu.ones(2).device") == "cpu");
  CHECK(state.run("return gpu.ones(2, {device = 'cpu'}).device") == "cpu");
  const std::string other = state.error("local device, why = gpu.device('cuda:0') error(why or 'opened', 0)");
  CHECK((other.find("[device] expected cpu, the sandbox's one device, got cuda:0") == 0 ||
         other.find("error: [device] expected one of") == 0));
}
