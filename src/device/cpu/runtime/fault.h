#pragma once

// Faults of kernels, and of the compiler. A kernel that is not checked may access memory that is not there, or execute
// a trap; this makes an error of it.
//
// The handlers belong to the process, and so to the host program. They are there while a device is open, pass on
// whatever is no fault of a kernel, and give way to the handlers before them when the last device is closed. A program
// can leave them out: Config::fault_handlers. The handler runs in the middle of any instruction of a kernel. So it
// allocates nothing and takes no lock: it notes what happened and jumps back to where the kernel was called. What the
// fault means is found out there (fault_text.h).

#include <optional>

namespace gpulua::cpu {

class SignalStack;

/// What the processor reported when an instruction of a kernel faulted.
struct Fault {
  int signal = 0;
  int code = 0;  // siginfo_t::si_code
  const void* address = nullptr;
  const void* instruction = nullptr;
  const void* stack_pointer = nullptr;
  bool is_write = false;
  bool stack_destroyed = false;  // the kernel's frames do not lead back to its caller

  /// True for SIGSEGV and SIGBUS.
  bool is_access() const;
};

/// Where a kernel runs on a stack of its own, which it may use up or overwrite.
class KernelFrames {
 public:
  /// The frame of the function that calls the kernel, on the kernel's stack.
  virtual const void* first() const = 0;

 protected:
  ~KernelFrames() = default;
};

/// Calls `kernel(self)`, and throws what that throws. When the kernel faults, on this stack or one that it has switched
/// to, this returns the fault; the kernel's frames are left as they are, and no destructor of theirs runs. A FaultGuard
/// lives. `frames`: of a kernel on a stack of its own; else null.
std::optional<Fault> call_kernel(void (*kernel)(void* self), void* self, const KernelFrames* frames);

template <class Kernel>
std::optional<Fault> call_kernel(Kernel kernel, const KernelFrames* frames = nullptr) {
  return call_kernel([](void* self) { (*static_cast<Kernel*>(self))(); }, &kernel, frames);
}

/// While one lives, the process has our handlers for SIGSEGV, SIGBUS, SIGILL, SIGTRAP and SIGFPE.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;
};

/// While one lives, our handlers have what they need of the thread: a stack for signals. Does nothing where the program
/// has left the handlers out.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;

 private:
  SignalStack* stack_;  // null: the handlers are not there, or an older guard has entered it
  const bool active_;
};

/// While one lives, a fault on its thread calls `report`, which does not return, with the signal and whether the stack
/// has overflowed: for code that must be left as it is. `report` is called by the signal handler.
class FaultReporter {
 public:
  using Report = void (*)(void* self, int signal, bool stack_overflow);
  FaultReporter(Report report, void* self);
  ~FaultReporter();
  FaultReporter(const FaultReporter&) = delete;
  FaultReporter& operator=(const FaultReporter&) = delete;

 private:
  FaultGuard guard_;
};

}  // namespace gpulua::cpu
