#include "src/device/cpu/fault.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>

#include "src/device/cpu/fiber_stack.h"
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

/// The stack that the system gave the thread, with what the system keeps free below it.
class ThreadStack {
 public:
  ThreadStack() {
    pthread_attr_t attributes;
    if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
    void* low = nullptr;
    std::size_t bytes = 0, guard = 0;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    low_ = static_cast<const char*>(low) - std::max(guard, least_guard);
    end_ = static_cast<const char*>(low) + bytes;
  }
  /// What the stack has can be touched: an address that cannot is past its end.
  bool overflows(const void* address) const { return address >= low_ && address < end_; }

 private:
  static constexpr std::size_t least_guard = 4096;  // the first thread has no guard, only a limit
  const char *low_ = nullptr, *end_ = nullptr;
};

const ThreadStack& thread_stack() {
  thread_local const ThreadStack stack;
  return stack;
}

std::string describe(const siginfo_t& info, std::uintptr_t stack_pointer) {
  std::string address;
  if (info.si_code != SI_KERNEL) {  // the processor tells no address for one that none can have
    if (thread_stack().overflows(info.si_addr) ||
        FiberStack::overflows(info.si_addr, reinterpret_cast<const void*>(stack_pointer)))
      return "stack overflow: functions call each other too deeply";
    char text[32];
    std::snprintf(text, sizeof text, " at address %p", info.si_addr);
    address = text;
  }
  return "access to memory that is not there" + address +
         "; gpulua --check, or gpu.check(true), names the line and the array";
}

/// Throws through the kernel's frames: they have unwind information for every instruction, and wait for nothing.
void handle_fault(int number, siginfo_t* info, void* context) {
  if (guards == 0) return pass_on(number, info, context);
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack_pointer = static_cast<std::uintptr_t>(registers[REG_RSP]);
  if (reinterpret_cast<std::uintptr_t>(info->si_addr) == static_cast<std::uintptr_t>(registers[REG_RIP])) {
    // Code that is not there has no unwind information: the throw is from the call that led to it.
    registers[REG_RIP] = *reinterpret_cast<const greg_t*>(stack_pointer) - 1;
    registers[REG_RSP] += sizeof(greg_t);
    throw KernelFailure{"call of a function that is not there"};
  }
  throw KernelFailure{describe(*info, stack_pointer)};
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
  thread_local const SignalStack signal_stack;
  static_cast<void>(signal_stack);
  thread_stack();  // found before a handler needs it
  ++guards;
}

FaultGuard::~FaultGuard() {
  --guards;
}

}  // namespace gpulua::cpu
