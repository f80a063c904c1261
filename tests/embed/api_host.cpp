// What stays the program's own, whatever it calls: signals, locale, arithmetic, the current directory, threads.

#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cfenv>
#include <chrono>
#include <clocale>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>

#include "tests/embed/api.h"

namespace {

/// What a program sees of itself that a library could change.
struct Process {
  std::array<struct sigaction, NSIG> actions{};
  sigset_t blocked{};
  stack_t signal_stack{};
  std::string locale, folder;
  int rounding = 0, traps = 0;
  mode_t mask = 0;

  Process() {
    for (int signal = 1; signal < NSIG; ++signal)
      sigaction(signal, nullptr, &actions[static_cast<std::size_t>(signal)]);
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    sigaltstack(nullptr, &signal_stack);
    locale = std::setlocale(LC_ALL, nullptr);
    folder = std::filesystem::current_path();
    rounding = std::fegetround();
    traps = fegetexcept();
    mask = umask(0);
    umask(mask);
  }
};

void check_same(const Process& before, const Process& after) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto i = static_cast<std::size_t>(signal);
    INFO("signal " << signal);
    CHECK(before.actions[i].sa_sigaction == after.actions[i].sa_sigaction);
    CHECK(before.actions[i].sa_flags == after.actions[i].sa_flags);
    CHECK(sigismember(&before.blocked, signal) == sigismember(&after.blocked, signal));
  }
  CHECK(before.signal_stack.ss_sp == after.signal_stack.ss_sp);
  CHECK(before.locale == after.locale);
  CHECK(before.folder == after.folder);
  CHECK(before.rounding == after.rounding);
  CHECK(before.traps == after.traps);
  CHECK(before.mask == after.mask);
}

/// A program with settings of its own, while it lives.
class Settings {
 public:
  Settings() {
    locale_ = std::setlocale(LC_ALL, nullptr);
    folder_ = std::filesystem::current_path();
    CHECK(std::setlocale(LC_ALL, "C.UTF-8") != nullptr);
    std::filesystem::current_path("/");
    std::fesetround(FE_UPWARD);
    sigset_t more;
    sigemptyset(&more);
    sigaddset(&more, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &more, &blocked_);
    struct sigaction mine {};
    mine.sa_handler = [](int) {};
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &mine, &before_[i]);
  }
  ~Settings() {
    std::setlocale(LC_ALL, locale_.c_str());
    std::filesystem::current_path(folder_);
    std::fesetround(FE_TONEAREST);
    pthread_sigmask(SIG_SETMASK, &blocked_, nullptr);
    for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before_[i], nullptr);
  }
  Settings(const Settings&) = delete;
  Settings& operator=(const Settings&) = delete;

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGPIPE, SIGALRM, SIGFPE, SIGUSR1};

  std::string locale_, folder_;
  sigset_t blocked_{};
  std::array<struct sigaction, signals.size()> before_{};
};

std::size_t threads() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

/// The number of threads, once it is the expected one: a thread that was joined leaves the list a moment later.
std::size_t settled(std::size_t expected) {
  for (int i = 0; i < 1000 && threads() != expected; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  return threads();
}

}  // namespace

TEST_CASE("signals, locale, arithmetic and the current directory stay the program's") {
  const Settings settings;
  const Process before;
  for (const unsigned flags : {0U, unsigned{GPULUA_INTERRUPTIBLE}, unsigned{GPULUA_SANDBOX}}) {
    ApiState state(options_with(flags | GPULUA_NO_FAULT_HANDLERS));
    check_same(before, Process());
    // Within the library arithmetic rounds to nearest; the program's own mode is back in front of it.
    REQUIRE(state.run("x = gpu.arange(1000) / 3 s = x:sum():item() g = gpu.linalg.inv(gpu.eye(3)):sum():item() "
                      "t = tostring(gpu.randn(3)) d = (gpu.ones(1, {dtype = 'float64'}) / 3):item()") == GPULUA_OK);
    CHECK(state.number("d") == 0x1.5555555555555p-2);
    check_same(before, Process());
    CHECK(state.run("error('no')") == GPULUA_RUNTIME);
    CHECK(state.run("x = = 1") == GPULUA_SYNTAX);
    CHECK(state.run("local z = gpu.ones(3) + gpu.ones(4)") == GPULUA_RUNTIME);
    REQUIRE(state.run("function spin() while true do end end") == GPULUA_OK);
    CHECK(gpulua_call(state.function("spin"), nullptr, 0, nullptr, nullptr, 5) == GPULUA_DEADLINE);
    REQUIRE(gpulua_collect(state.get(), 0) == GPULUA_OK);
    check_same(before, Process());
  }
  check_same(before, Process());
}

TEST_CASE("handlers of faults are there while a state has the cpu device open, unless it leaves them out", "[cpu]") {
  const Process before;
  const std::string kernel =
      "k = gpu.kernel('__global__ void k(float* x) { x[1LL << 40] = 1; }', 'k') x = gpu.zeros(8) ";
  for (const bool by_options : {true, false}) {
    gpulua_options options = on_cpu();
    ApiState state(by_options ? options : options_with(GPULUA_SANDBOX | GPULUA_KERNELS));
    check_same(before, Process());
    REQUIRE(state.run(kernel) == GPULUA_OK);
    CHECK(Process().actions[SIGSEGV].sa_sigaction != before.actions[SIGSEGV].sa_sigaction);
    CHECK(state.run("k {grid = 1, block = 1}(x)") == GPULUA_DEVICE);
    CHECK(state.run("assert(gpu.ones(3):sum():item() == 3)") == GPULUA_OK);
  }
  for (int i = 0; i < 1000 && Process().actions[SIGSEGV].sa_sigaction != before.actions[SIGSEGV].sa_sigaction; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // a thread of the compiler's may have them, too
  check_same(before, Process());
}

TEST_CASE("the thread of deadlines ends with the last state") {
  const std::size_t before = threads();
  {
    ApiState first(options_with(GPULUA_SANDBOX)), second;
    CHECK(threads() == before);
    for (ApiState* state : {&first, &second}) {
      REQUIRE(state->run("function spin() while true do end end") == GPULUA_OK);
      CHECK(gpulua_call(state->function("spin"), nullptr, 0, nullptr, nullptr, 2) == GPULUA_DEADLINE);
      CHECK(threads() == before + 1);
    }
  }
  CHECK(settled(before) == before);
}
