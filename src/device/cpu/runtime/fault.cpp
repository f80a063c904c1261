#include "src/device/cpu/runtime/fault.h"

#include <pthread.h>
#include <signal.h>
#include <ucontext.h>
#include <unwind.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <mutex>
#include <utility>

#include "src/device/cpu/abi/kernel_failure.h"
#include "src/device/cpu/runtime/fiber_stack.h"
#include "src/device/cpu/runtime/shared_arena.h"

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
GPULUA_HANDLER_LOCAL KernelExit* kernel_exit = nullptr;
// What a kernel fails with while the handler looks at its frames, which may be anything.
GPULUA_HANDLER_LOCAL KernelFailure* looking_for = nullptr;
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

// From a null pointer on: no memory lies there, whatever the element.
constexpr std::uintptr_t null_pages = 0x10000;

KernelFailure describe_access(const siginfo_t& info, bool is_write) {
  if (info.si_code == SI_KERNEL)  // the processor tells no address for one that none can have
    return {"access to memory that is not there", true};
  if (const auto overrun = SharedArena::describe_overrun(info.si_addr, is_write)) return {*overrun, true};
  char address[32];
  std::snprintf(address, sizeof address, "%p", info.si_addr);
  const std::string what = std::string("access to memory that is not there at address ") + address;
  if (reinterpret_cast<std::uintptr_t>(info.si_addr) < null_pages)
    return {what + ", next to the null pointer (gpu.null)", true, true};
  return {what, true};
}

KernelFailure describe(int number, const siginfo_t& info, std::uintptr_t stack_pointer, bool is_write) {
  if (overflows_stack(number, info, stack_pointer)) return {"stack overflow: functions call each other too deeply"};
  switch (number) {
    case SIGILL:
      return {"__builtin_trap() was called, or a place was reached that the source says cannot be"};
    case SIGTRAP:
      return {"__builtin_debugtrap() was called"};
    case SIGFPE:
      return {"an arithmetic instruction trapped"};
    default:
      return describe_access(info, is_write);
  }
}

/// Single steps, of a debugger or of the command's Ctrl-C, are none of ours.
bool is_of_code(int number, const siginfo_t& info) {
  return number == SIGTRAP ? info.si_code == SI_KERNEL : is_fault(info);
}

/// True when a throw from here would come to `frame`. A walk along frames that the kernel has written over may fault.
bool unwinds_to(const void* frame) {
  struct Walk {
    std::uintptr_t frame;
    bool arrived = false;
  } walk{reinterpret_cast<std::uintptr_t>(frame)};
  constexpr std::uintptr_t largest_frame = 4096;  // of the function that catches
  _Unwind_Backtrace(
      [](_Unwind_Context* at, void* data) {
        auto& to = *static_cast<Walk*>(data);
        to.arrived = _Unwind_GetCFA(at) - to.frame < largest_frame;
        return to.arrived ? _URC_NORMAL_STOP : _URC_NO_REASON;
      },
      &walk);
  return walk.arrived;
}

/// Throws through the kernel's frames: they have unwind information for every instruction, and wait for nothing.
void handle_fault(int number, siginfo_t* info, void* context) {
  if (looking_for != nullptr && is_fault(*info)) kernel_exit->leave(std::move(*std::exchange(looking_for, nullptr)));
  if (guards == 0 || !is_of_code(number, *info))
    return pass_on(number, info, context, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack_pointer = static_cast<std::uintptr_t>(registers[REG_RSP]);
  const bool overflow = overflows_stack(number, *info, stack_pointer);
  if (reporter != nullptr) reporter(reporter_self, number, overflow);
  constexpr greg_t write_bit = 2;  // of the processor's error code
  KernelFailure failure = describe(number, *info, stack_pointer, (registers[REG_ERR] & write_bit) != 0);
  // Functions of the library that the kernel called, and let nothing through, may have met the stack's end.
  if (overflow && kernel_exit != nullptr) kernel_exit->leave(std::move(failure));
  KernelFailure destroyed{"its stack was written over, as by writes past the end of a local array", true};
  if (kernel_exit != nullptr) looking_for = &destroyed;
  if (number == SIGTRAP) --registers[REG_RIP];  // past the instruction, which may be its function's last
  if ((number == SIGSEGV || number == SIGBUS) &&
      reinterpret_cast<std::uintptr_t>(info->si_addr) == static_cast<std::uintptr_t>(registers[REG_RIP])) {
    // Code that is not there has no unwind information: the throw is from the call that led to it.
    registers[REG_RIP] = *reinterpret_cast<const greg_t*>(stack_pointer) - 1;
    registers[REG_RSP] += sizeof(greg_t);
    failure = {"call of a function that is not there"};
  }
  const bool unwinds = kernel_exit == nullptr || unwinds_to(kernel_exit->frame());
  looking_for = nullptr;
  if (!unwinds) kernel_exit->leave(std::move(destroyed));
  throw failure;
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

/// `is_first`: ours was not wanted before. If it is there nevertheless, a handler that had taken its place put it back.
/// One that was set over ours while ours was wanted gets ours over it.
void install(Signal& signal, bool is_first) {
  struct sigaction action {
  }, present{};
  action.sa_sigaction = &handle_fault;
  // The handler is left by a throw, so the system must not wait for its return before it gives the signal again.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  if (sigaction(signal.number, nullptr, &present) != 0) return;
  if (is_ours(present)) {
    if (is_first) signal.previous = signal.first;
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
  const bool is_first = handlers_wanted++ == 0;
  for (Signal& signal : signals) install(signal, is_first);
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

KernelExit::Scope::Scope(KernelExit& exit) {
  kernel_exit = &exit;
}

KernelExit::Scope::~Scope() {
  kernel_exit = nullptr;
}

FaultReporter::FaultReporter(Report report, void* self) {
  reporter = report;
  reporter_self = self;
}

FaultReporter::~FaultReporter() {
  reporter = nullptr;
}

}  // namespace gpulua::cpu
