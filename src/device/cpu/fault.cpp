#include "src/device/cpu/fault.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>

#include "src/device/cpu/fiber_stack.h"
#include "src/device/cpu/kernel_failure.h"

namespace gpulua::cpu {
namespace {

void handle_fault(int number, siginfo_t* info, void* context);

struct Signal {
  int number;
  // What ours has taken the place of, last and first: the last may be a handler that came over ours, and calls ours.
  struct sigaction previous, first;  // meaningful while `installed`
  bool installed;                    // or a handler over ours is, which may call ours
};
std::array<Signal, 5> signals{Signal{SIGSEGV, {}, {}, false}, Signal{SIGBUS, {}, {}, false},
                              Signal{SIGILL, {}, {}, false}, Signal{SIGTRAP, {}, {}, false},
                              Signal{SIGFPE, {}, {}, false}};

// Of the process's devices.
std::mutex handlers_mutex;
int handlers_wanted = 0;

// A handler may be the first on its thread to ask: these must not be allocated then.
#define GPULUA_HANDLER_LOCAL [[gnu::tls_model("initial-exec")]] thread_local
GPULUA_HANDLER_LOCAL int guards = 0;
GPULUA_HANDLER_LOCAL FaultReporter::Report reporter = nullptr;
GPULUA_HANDLER_LOCAL void* reporter_self = nullptr;
// The signal that another handler was called about last, and the frame of ours that called it. The frame may be gone: a
// handler may jump.
GPULUA_HANDLER_LOCAL const siginfo_t* passed_on = nullptr;
GPULUA_HANDLER_LOCAL std::uintptr_t passing_frame = 0;
#undef GPULUA_HANDLER_LOCAL

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) && action.sa_sigaction == &handle_fault;
}

/// Calls a handler as the system would, with the signals blocked that it wants blocked.
void call(const struct sigaction& action, int number, siginfo_t* info, void* context) {
  sigset_t blocked = action.sa_mask, before;
  if (!(action.sa_flags & SA_NODEFER)) sigaddset(&blocked, number);
  pthread_sigmask(SIG_BLOCK, &blocked, &before);
  if (action.sa_flags & SA_SIGINFO)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

/// True for what the processor found, false for what a process has sent.
bool is_fault(const siginfo_t& info) {
  return info.si_code > 0;
}

/// What the process would have done without us. `frame`: the handler's. A call about the same signal from further down
/// the stack is a handler's that came over ours, which ours has called.
void pass_on(int number, siginfo_t* info, void* context, std::uintptr_t frame) {
  const bool called_back = info == passed_on && frame < passing_frame;
  if (!called_back) {
    passed_on = info;
    passing_frame = frame;
  }
  for (const Signal& signal : signals) {
    if (signal.number != number) continue;
    const struct sigaction& previous = called_back ? signal.first : signal.previous;
    const bool is_default = !(previous.sa_flags & SA_SIGINFO) &&
                            (previous.sa_handler == SIG_DFL || (previous.sa_handler == SIG_IGN && is_fault(*info)));
    if (!(previous.sa_flags & SA_SIGINFO) && previous.sa_handler == SIG_IGN && !is_fault(*info)) return;
    if (!is_default) return call(previous, number, info, context);
    struct sigaction end {};
    end.sa_handler = SIG_DFL;
    sigaction(number, &end, nullptr);
    // A fault comes again when the instruction does, and is then the system's; others are gone.
    if (!is_fault(*info) || number == SIGTRAP) raise(number);
    return;
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

bool overflows_stack(int number, const siginfo_t& info, std::uintptr_t stack_pointer) {
  if ((number != SIGSEGV && number != SIGBUS) || info.si_code == SI_KERNEL) return false;
  return thread_stack().overflows(info.si_addr) ||
         FiberStack::overflows(info.si_addr, reinterpret_cast<const void*>(stack_pointer));
}

std::string describe_access(const siginfo_t& info) {
  std::string address;
  if (info.si_code != SI_KERNEL) {  // the processor tells no address for one that none can have
    char text[32];
    std::snprintf(text, sizeof text, " at address %p", info.si_addr);
    address = text;
    // No memory lies there, whatever the element.
    if (reinterpret_cast<std::uintptr_t>(info.si_addr) < 0x10000) address += ", next to the null pointer (gpu.null)";
  }
  return "access to memory that is not there" + address +
         "; gpulua --check, or gpu.check(true), names the line and the array";
}

std::string describe(int number, const siginfo_t& info, std::uintptr_t stack_pointer) {
  if (overflows_stack(number, info, stack_pointer)) return "stack overflow: functions call each other too deeply";
  switch (number) {
    case SIGILL:
      return "__builtin_trap() was called, or a place was reached that the source says cannot be";
    case SIGTRAP:
      return "__builtin_debugtrap() was called";
    case SIGFPE:
      return "an arithmetic instruction trapped";
    default:
      return describe_access(info);
  }
}

/// Single steps, of a debugger or of the command's Ctrl-C, are none of ours.
bool is_of_code(int number, const siginfo_t& info) {
  return number == SIGTRAP ? info.si_code == SI_KERNEL : is_fault(info);
}

/// Throws through the kernel's frames: they have unwind information for every instruction, and wait for nothing.
void handle_fault(int number, siginfo_t* info, void* context) {
  if (guards == 0 || !is_of_code(number, *info))
    return pass_on(number, info, context, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack_pointer = static_cast<std::uintptr_t>(registers[REG_RSP]);
  if (reporter != nullptr) reporter(reporter_self, number, overflows_stack(number, *info, stack_pointer));
  if (number == SIGTRAP) --registers[REG_RIP];  // past the instruction, which may be its function's last
  if ((number == SIGSEGV || number == SIGBUS) &&
      reinterpret_cast<std::uintptr_t>(info->si_addr) == static_cast<std::uintptr_t>(registers[REG_RIP])) {
    // Code that is not there has no unwind information: the throw is from the call that led to it.
    registers[REG_RIP] = *reinterpret_cast<const greg_t*>(stack_pointer) - 1;
    registers[REG_RSP] += sizeof(greg_t);
    throw KernelFailure{"call of a function that is not there"};
  }
  throw KernelFailure{describe(number, *info, stack_pointer)};
}

/// A kernel that overflows its stack leaves none for the handler. The host program's own signal stack serves where it
/// is large enough to throw on; else ours takes its place while a guard lives.
class SignalStack {
 public:
  SignalStack() {
    if (sigaltstack(nullptr, &hosts_) != 0) return;
    const bool none = hosts_.ss_flags & SS_DISABLE;
    if (!none && hosts_.ss_size >= bytes) return;
    memory_ = std::make_unique<char[]>(bytes);
    borrows_ = !none;
    if (none) set();
  }
  ~SignalStack() {
    stack_t present{};
    if (!memory_ || sigaltstack(nullptr, &present) != 0 || present.ss_sp != memory_.get()) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

  void enter() {
    if (borrows_) set();
  }
  void leave() {
    if (borrows_) sigaltstack(&hosts_, nullptr);
  }

 private:
  static constexpr std::size_t bytes = 64 * 1024;  // throwing takes some

  void set() {
    const stack_t own{memory_.get(), 0, bytes};
    sigaltstack(&own, nullptr);
  }

  std::unique_ptr<char[]> memory_;
  stack_t hosts_{};
  bool borrows_ = false;
};

SignalStack& signal_stack() {
  thread_local SignalStack stack;
  return stack;
}

void install(Signal& signal) {
  struct sigaction action {
  }, present{};
  action.sa_sigaction = &handle_fault;
  // The handler is left by a throw, so the system must not wait for its return before it gives the signal again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal.number, nullptr, &present) != 0) return;
  if (is_ours(present)) {  // put back by a handler that had taken its place
    signal.previous = signal.first;
    signal.installed = true;
    return;
  }
  signal.previous = present;
  if (!signal.installed) signal.first = present;
  signal.installed = sigaction(signal.number, &action, nullptr) == 0;
}

void uninstall(Signal& signal) {
  struct sigaction present {};
  if (!signal.installed || sigaction(signal.number, nullptr, &present) != 0 || !is_ours(present)) return;
  sigaction(signal.number, &signal.previous, nullptr);
  signal.installed = false;
}

}  // namespace

FaultHandlers::FaultHandlers() {
  std::lock_guard lock(handlers_mutex);
  if (handlers_wanted++ != 0) return;
  for (Signal& signal : signals) install(signal);
}

FaultHandlers::~FaultHandlers() {
  std::lock_guard lock(handlers_mutex);
  if (--handlers_wanted != 0) return;
  for (Signal& signal : signals) uninstall(signal);
}

FaultGuard::FaultGuard() {
  if (guards == 0) {
    thread_stack();  // found before a handler needs it
    signal_stack().enter();
  }
  ++guards;
}

FaultGuard::~FaultGuard() {
  if (--guards == 0) signal_stack().leave();
}

FaultReporter::FaultReporter(Report report, void* self) {
  reporter = report;
  reporter_self = self;
}

FaultReporter::~FaultReporter() {
  reporter = nullptr;
}

}  // namespace gpulua::cpu
