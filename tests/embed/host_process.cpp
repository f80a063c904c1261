// The process belongs to the program that embeds the library: its signal handlers, signal stacks and arithmetic are as
// they were, and what kernels do wrong does not end it.

#include <fenv.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/embed/embedded_state.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

using namespace gpulua;

namespace {

using Handlers = std::map<int, void*>;

Handlers current_handlers() {
  Handlers handlers;
  for (int number = 1; number < 32; ++number) {
    struct sigaction action {};
    if (sigaction(number, nullptr, &action) != 0) continue;
    handlers[number] = reinterpret_cast<void*>(action.sa_handler);
  }
  return handlers;
}

std::vector<int> differing(const Handlers& a, const Handlers& b) {
  std::vector<int> numbers;
  for (const auto& [number, handler] : a)
    if (b.at(number) != handler) numbers.push_back(number);
  return numbers;
}

/// A handler of the program's, while one lives.
class HostHandler {
 public:
  HostHandler(int number, void (*handler)(int, siginfo_t*, void*)) : number_(number) {
    struct sigaction action {};
    action.sa_sigaction = handler;
    action.sa_flags = SA_SIGINFO;
    sigaction(number, &action, &previous_);
  }
  ~HostHandler() { sigaction(number_, &previous_, nullptr); }
  HostHandler(const HostHandler&) = delete;
  HostHandler& operator=(const HostHandler&) = delete;

  bool installed() const {
    struct sigaction action {};
    sigaction(number_, nullptr, &action);
    return action.sa_sigaction != previous_.sa_sigaction;
  }

 private:
  int number_;
  struct sigaction previous_ {};
};

// A source that no cache has.
std::string fresh_kernel(const std::string& body) {
  static int count = 0;
  const std::string name = "k" + std::to_string(getpid()) + "_" + std::to_string(count++);
  return "local k = gpu.kernel([[__global__ void " + name + "(volatile int* x) { " + body + " }]], '" + name + "') ";
}

constexpr const char* wild_access = "k {grid = 1, block = 1}(gpu.zeros(1, 'int32')) gpu.sync() return 'no error'";

/// Lua code in a state on the cpu device.
class CpuState : public State {
 public:
  explicit CpuState(Config config = Config::from_environment()) : State(std::move(config)) { run("gpu.device 'cpu'"); }
};

thread_local volatile bool counts_allocations = false;
volatile sig_atomic_t allocations_of_handlers = 0;

sigjmp_buf out_of_fault;
volatile sig_atomic_t own_faults = 0, own_signals = 0;

}  // namespace

#ifndef __SANITIZE_ADDRESS__  // which has a malloc of its own
extern "C" void* __libc_malloc(std::size_t bytes);

/// The C library's, in all of the process, which counts the calls from signal handlers.
extern "C" void* malloc(std::size_t bytes) {
  stack_t stack{};
  if (counts_allocations && sigaltstack(nullptr, &stack) == 0 && (stack.ss_flags & SS_ONSTACK) != 0)
    allocations_of_handlers = allocations_of_handlers + 1;
  return __libc_malloc(bytes);
}

TEST_CASE("the handler of faults allocates nothing", "[host]") {
  CpuState state;
  const std::string faults[] = {"*(volatile int*)16 = *x;", "__builtin_trap();",
                                "__syncthreads(); *(volatile int*)(16 + *x) = 1; __syncthreads();",
                                "int a[1000]; a[*x] = 1; *x = a[*x + 1]; *(volatile int*)32 = 1;",
                                "volatile int a[10]; for (int i = *x; i < 100000; ++i) a[i] = 1 << 30;"};
  for (const std::string& body : faults) {
    const std::string code = fresh_kernel(body) + wild_access;
    counts_allocations = true;
    const std::string message = state.run(code);
    counts_allocations = false;
    CHECK(message.find("error: ") == 0);
    CHECK(message.find("[launch]") != std::string::npos);
  }
  CHECK(allocations_of_handlers == 0);
}
#endif

#ifdef __SANITIZE_ADDRESS__
/// What is allocated in its scope is no leak.
using MeantLeaks = __lsan::ScopedDisabler;
#else
struct MeantLeaks {
  MeantLeaks() {}
};
#endif

TEST_CASE("a program can leave the handlers of faults out", "[host]") {
  const Handlers before = current_handlers();
  const HostHandler handler(SIGSEGV, [](int, siginfo_t*, void*) {
    own_faults = own_faults + 1;
    siglongjmp(out_of_fault, 1);
  });
  own_faults = 0;
  Config config = Config::from_environment();
  config.fault_handlers = false;
  // A jump out of a launch leaves the state as it is, for good.
  const MeantLeaks leaks;
  auto* state = new CpuState(config);
  const std::string code = fresh_kernel("*(volatile int*)16 = *x;") + wild_access;
  CHECK(differing(before, current_handlers()) == std::vector<int>{SIGSEGV});
  CHECK(state->run("return gpu.ones(3):sum():item()") == "3");
  if (sigsetjmp(out_of_fault, 1) == 0) state->run(code);
  CHECK(own_faults == 1);
}

TEST_CASE("a handler of the program's that calls ours may have signals blocked", "[host]") {
  CpuState state;
  state.run(fresh_kernel("*(volatile int*)16 = *x;") + "x = gpu.zeros(1, 'int32') wild = k {grid = 1, block = 1}");
  static struct sigaction ours;
  sigaction(SIGSEGV, nullptr, &ours);
  // Set without SA_NODEFER: the signal is blocked while it runs, and so it is in ours.
  const HostHandler over(SIGSEGV,
                         [](int number, siginfo_t* info, void* context) { ours.sa_sigaction(number, info, context); });
  for (int i = 0; i < 2; ++i) CHECK(state.run("wild(x)").find("memory that is not there") != std::string::npos);
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  CHECK(sigismember(&blocked, SIGSEGV) == 0);
}

TEST_CASE("the program's signal handlers are its own", "[host]") {
  const Handlers before = current_handlers();
  {
    CpuState state;
    CHECK(state.run(fresh_kernel("*x = 1;") +
                    "local x = gpu.zeros(1, 'int32') k {grid = 1, block = 1}(x) return x[1]") == "1");
    CHECK(differing(before, current_handlers()) == std::vector<int>{SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV});
    { CpuState another; }
    CHECK(state.run("return gpu.ones(3):sum():item()") == "3");
  }
  CHECK(differing(before, current_handlers()).empty());
}

/// Where no memory is. The compiler must not see which address it is.
volatile std::uintptr_t nowhere = 64;

TEST_CASE("faults of the program go to its own handler, whenever it was installed", "[host]") {
  const auto handler = [](int, siginfo_t*, void*) {
    own_faults = own_faults + 1;
    siglongjmp(out_of_fault, 1);
  };
  const auto fault = [] {
    if (sigsetjmp(out_of_fault, 1) == 0) *reinterpret_cast<volatile int*>(nowhere) = 1;
  };
  own_faults = 0;
  {
    const HostHandler earlier(SIGSEGV, handler);
    CpuState state;
    CHECK(state.run(fresh_kernel("*(volatile int*)16 = *x;") + wild_access).find("memory that is not there") !=
          std::string::npos);
    fault();
    CHECK(own_faults == 1);
    CHECK(state.run("return gpu.ones(3):sum():item()") == "3");
  }
  auto state = std::make_unique<CpuState>();
  const HostHandler later(SIGSEGV, handler);
  fault();
  CHECK(own_faults == 2);
  state.reset();
  CHECK(later.installed());
  fault();
  CHECK(own_faults == 3);
  CpuState again;
  fault();
  CHECK(own_faults == 4);
}

TEST_CASE("a signal stack of the program's that is too small for us serves the program", "[host]") {
  std::thread([] {
    std::vector<char> small(static_cast<std::size_t>(MINSIGSTKSZ) * 4);
    const stack_t own{small.data(), 0, small.size()};
    REQUIRE(sigaltstack(&own, nullptr) == 0);
    CpuState state;
    for (const char* body :
         {"*(volatile int*)16 = *x;", "int a[1000]; a[*x] = 1; *x = a[*x + 1]; *(volatile int*)32 = 1;"})
      CHECK(state.run(fresh_kernel(body) + wild_access).find("memory that is not there") != std::string::npos);
    stack_t now{};
    REQUIRE(sigaltstack(nullptr, &now) == 0);
    CHECK(now.ss_sp == small.data());
    CHECK(now.ss_size == small.size());
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }).join();
}

TEST_CASE("a signal that meets a launch is handled, and the launch goes on", "[host]") {
  CpuState state;
  own_signals = 0;
  const HostHandler handler(SIGUSR1, [](int, siginfo_t*, void*) { own_signals = own_signals + 1; });
  std::atomic<bool> done{false};
  std::thread sender([&done] {
    while (!done) {
      kill(getpid(), SIGUSR1);
      std::this_thread::sleep_for(std::chrono::microseconds(200));
    }
  });
  const std::string kernels[] = {"for (int i = 0; i < 1000; ++i) atomicAdd((int*)x, 1);",
                                 "for (int i = 0; i < 100; ++i) { __syncthreads(); atomicAdd((int*)x, 10); }"};
  for (const std::string& body : kernels)
    CHECK(state.run(fresh_kernel(body) + "local x = gpu.zeros(1, 'int32') k {grid = 200, block = 64}(x) return x[1]") ==
          "12800000");
  done = true;
  sender.join();
  CHECK(own_signals > 0);
}

TEST_CASE("kernels and the library's arithmetic round to nearest, and the program's mode stays", "[host]") {
  CpuState state;
  constexpr const char* work = R"lua(
    local x = gpu.array({1, 10, 0.1, -1e-310}, "float64")
    local y, z = (x / 3):eval(), (gpu.array({0.1, 1e-40}, "float32") * 0.3):eval()
    local many = (gpu.arange(300000, "float64") / 3):sum()
    return ("%a %a %a %a %a %a %a"):format(y[1], y[2], y[3], y[4], z[1], z[2], many:item()))lua";
  const std::string expected = state.run(work);
  CHECK(expected.substr(0, 20) == "0x1.5555555555555p-2");
  for (int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    CpuState fresh;
    fesetround(mode);
    const std::string got = state.run(work), got_fresh = fresh.run(work);
    const int after = fegetround();
    fesetround(FE_TONEAREST);
    CHECK(got == expected);
    CHECK(got_fresh == expected);
    CHECK(after == mode);
  }
  const std::string division = fresh_kernel("*x = 1.0f / *x > 0;") +
                               "local x = gpu.zeros(1, 'int32') k {grid = 1, block = 1}(x) "
                               "return tostring((gpu.ones(2) / gpu.zeros(2)):eval()[1]) .. x[1]";
  feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW);
  const std::string got = state.run(division);
  const int traps = fegetexcept();
  fedisableexcept(FE_ALL_EXCEPT);
  CHECK(got == "inf1");
  CHECK(traps == (FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW));
}

TEST_CASE("a child of the program, forked after use, can go on", "[host]") {
  CpuState state;
  CHECK(state.run("x = gpu.arange(300000, 'float64') return (x + 1):sum():item()") == "45000150000");
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    const bool good = state.run("return (x + 1):sum():item()") == "45000150000" &&
                      state.run(fresh_kernel("*x = 7;") +
                                "local y = gpu.zeros(1, 'int32') k {grid = 1, block = 1}(y) return y[1]") == "7";
    _exit(good ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
