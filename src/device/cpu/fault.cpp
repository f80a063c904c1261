#include "src/device/cpu/fault.h"

#include <signal.h>

#include <array>
#include <cstdio>
#include <memory>

#include "src/device/cpu/kernel_failure.h"

namespace gpulua::cpu {
namespace {

struct Signal {
  int number;
  struct sigaction previous;
};
std::array<Signal, 2> signals{Signal{SIGSEGV, {}}, Signal{SIGBUS, {}}};

thread_local int guards = 0;

/// What the process would have done without us.
void pass_on(int number, siginfo_t* info, void* context) {
  for (const Signal& signal : signals) {
    if (signal.number != number) continue;
    const struct sigaction& previous = signal.previous;
    if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(number, info, context);
    if (previous.sa_handler == SIG_IGN) return;
    if (previous.sa_handler != SIG_DFL) return previous.sa_handler(number);
    // The instruction runs again, and the signal is then the system's.
    sigaction(number, &previous, nullptr);
  }
}

/// Throws through the kernel's frames: they have unwind information for every instruction, and wait for nothing.
void handle_fault(int number, siginfo_t* info, void* context) {
  if (guards == 0) return pass_on(number, info, context);
  char address[32] = "";
  // The processor tells no address for one that none can have.
  if (info->si_code != SI_KERNEL) std::snprintf(address, sizeof address, " at address %p", info->si_addr);
  throw KernelFailure{std::string("access to memory that is not there") + address +
                      "; gpulua --check, or gpu.check(true), names the line and the array"};
}

/// A kernel that overflows its stack leaves none for the handler.
class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || !(present.ss_flags & SS_DISABLE)) return;  // the host program has one
    memory_ = std::make_unique<char[]>(bytes);
    const stack_t own{memory_.get(), 0, bytes};
    sigaltstack(&own, nullptr);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }

 private:
  static constexpr std::size_t bytes = 64 * 1024;  // throwing takes some
  std::unique_ptr<char[]> memory_;
};

void install_handler() {
  struct sigaction action {};
  action.sa_sigaction = &handle_fault;
  // The handler is left by a throw, so the system must not wait for its return before it gives the signal again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  for (Signal& signal : signals) sigaction(signal.number, &action, &signal.previous);
}

}  // namespace

FaultGuard::FaultGuard() {
  static const bool installed = (install_handler(), true);
  static_cast<void>(installed);
  thread_local const SignalStack stack;
  static_cast<void>(stack);
  ++guards;
}

FaultGuard::~FaultGuard() {
  --guards;
}

}  // namespace gpulua::cpu
