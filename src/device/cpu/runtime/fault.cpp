#include "src/device/cpu/runtime/fault.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <unwind.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>

#include "src/device/cpu/runtime/registers.h"
#include "src/device/cpu/runtime/signal_stack.h"
#include "src/device/cpu/runtime/thread_stack.h"

namespace gpulua::cpu {
namespace {

void handle_fault(int number, siginfo_t* info, void* context);

struct Signal {
  int number;
  // The handlers that ours has replaced, last and first: the last may be a handler that came over ours, and calls ours.
  struct sigaction previous, first;  // meaningful while `installed`
  bool installed;                    // or a handler over ours is, which may call ours
};
std::array<Signal, 5> signals{Signal{SIGSEGV, {}, {}, false}, Signal{SIGBUS, {}, {}, false},
                              Signal{SIGILL, {}, {}, false}, Signal{SIGTRAP, {}, {}, false},
                              Signal{SIGFPE, {}, {}, false}};

// By the process's devices and compilations.
std::mutex handlers_mutex;
std::atomic<int> handlers_wanted{0};

/// Where call_kernel() goes on after a fault.
struct Landing {
  sigjmp_buf place;
  const KernelFrames* frames;
  Fault fault;
  bool walking = false;  // the handler walks along the kernel's frames, which may be anything
};

// A handler may be the first on its thread to ask: these must not be allocated then.
#define GPULUA_HANDLER_LOCAL [[gnu::tls_model("initial-exec")]] thread_local
GPULUA_HANDLER_LOCAL int guards = 0;
GPULUA_HANDLER_LOCAL FaultReporter::Report reporter = nullptr;
GPULUA_HANDLER_LOCAL void* reporter_self = nullptr;
GPULUA_HANDLER_LOCAL Landing* landing = nullptr;
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

/// True for a fault of the processor, false for a signal that a process has sent.
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

/// Single steps, of a debugger or of the command's Ctrl-C, are none of ours.
bool is_of_code(int number, const siginfo_t& info) {
  return number == SIGTRAP ? info.si_code == Registers::trap_code : is_fault(info);
}

/// True when the kernel's frames lead to `frame`. Overwritten ones may make this fault.
bool unwinds_to(const void* frame) {
  struct Walk {
    std::uintptr_t frame;
    bool arrived = false;
  } walk{reinterpret_cast<std::uintptr_t>(frame)};
  constexpr std::uintptr_t largest_frame = 4096;  // of the kernel's caller
  _Unwind_Backtrace(
      [](_Unwind_Context* at, void* data) {
        auto& to = *static_cast<Walk*>(data);
        to.arrived = _Unwind_GetCFA(at) - to.frame < largest_frame;
        return to.arrived ? _URC_NORMAL_STOP : _URC_NO_REASON;
      },
      &walk);
  return walk.arrived;
}

/// Moves the registers to where the unwinder knows the frame.
void find_frame(const Fault& fault, Registers& registers) {
  if (fault.signal == SIGTRAP) registers.leave_trap();
  if (fault.is_access() && fault.address == fault.instruction) registers.leave_call();
}

void handle_fault(int number, siginfo_t* info, void* context) {
  const bool is_kernels = landing != nullptr || reporter != nullptr;
  if (!is_kernels || !is_of_code(number, *info))
    return pass_on(number, info, context, reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)));
  auto& interrupted = *static_cast<ucontext_t*>(context);
  Registers registers(interrupted);
  const Fault fault{.signal = number,
                    .code = info->si_code,
                    .address = info->si_addr,
                    .instruction = registers.instruction(),
                    .stack_pointer = registers.stack_pointer(),
                    .is_write = registers.is_write()};
  if (reporter != nullptr)
    reporter(reporter_self, number, fault.is_access() && ThreadStack::current().overflows(fault.address));
  Landing& place = *landing;
  if (!place.walking) {
    place.fault = fault;
    place.fault.stack_destroyed = place.frames != nullptr;
    if (place.frames != nullptr) {
      place.walking = true;
      find_frame(fault, registers);
      place.fault.stack_destroyed = !unwinds_to(place.frames->first());
    }
  }
  // A handler over ours may have had signals blocked when it called ours.
  pthread_sigmask(SIG_SETMASK, &interrupted.uc_sigmask, nullptr);
  siglongjmp(place.place, 1);
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

bool Fault::is_access() const {
  return signal == SIGSEGV || signal == SIGBUS;
}

std::optional<Fault> call_kernel(void (*kernel)(void* self), void* self, const KernelFrames* frames) {
  Landing here{.place = {}, .frames = frames, .fault = {}};
  if (sigsetjmp(here.place, 0) != 0) {
    landing = nullptr;
    return here.fault;
  }
  landing = &here;
  try {
    kernel(self);
  } catch (...) {
    landing = nullptr;
    throw;
  }
  landing = nullptr;
  return {};
}

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

FaultGuard::FaultGuard() : stack_(nullptr), active_(handlers_wanted.load(std::memory_order_relaxed) != 0) {
  if (!active_ || guards++ > 0) return;
  stack_ = &SignalStack::of_thread();
  stack_->enter();
}

FaultGuard::~FaultGuard() {
  if (active_) --guards;
  if (stack_) stack_->leave();
}

FaultReporter::FaultReporter(Report report, void* self) {
  reporter = report;
  reporter_self = self;
}

FaultReporter::~FaultReporter() {
  reporter = nullptr;
}

}  // namespace gpulua::cpu
