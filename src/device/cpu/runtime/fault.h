#pragma once

// Faults of kernels, and of the compiler. A kernel that is not checked may touch memory that is not there, or execute a
// trap; this makes an error of it.
//
// The handlers are the process's, which belong to the host program. They are there while a device is open, pass on
// whatever is not a fault of a kernel, and give way to the ones before them when the last device is closed.

namespace gpulua::cpu {

struct KernelFailure;

/// The way out of a kernel whose frames cannot be unwound: it has used up its stack, or written over it.
class KernelExit {
 public:
  /// The frame of the function that catches what the kernel throws.
  virtual const void* frame() const = 0;
  /// Goes on behind the kernel, on another stack, with this failure; what is on the kernel's stack is left as it is.
  [[noreturn]] virtual void leave(KernelFailure failure) = 0;

  /// While one lives, kernels on its thread are left by this exit.
  class Scope {
   public:
    explicit Scope(KernelExit& exit);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
  };

 protected:
  ~KernelExit() = default;
};

/// While one lives, the process has our handlers for SIGSEGV, SIGBUS, SIGILL, SIGTRAP and SIGFPE.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;
};

/// While one lives, a fault on its thread throws KernelFailure out of the instruction, or leaves by the KernelExit
/// where no throw would get through. On other threads, and when none
/// lives, the handler that the process had before takes the signal; so it takes signals that a process has sent. There
/// are FaultHandlers.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

/// While one lives, a fault on its thread calls `report`, which does not return, with the signal and whether it was the
/// stack's end that was touched: for code that must not be unwound.
class FaultReporter {
 public:
  using Report = void (*)(void* self, int signal, bool stack_overflow);
  FaultReporter(Report report, void* self);
  ~FaultReporter();
  FaultReporter(const FaultReporter&) = delete;
  FaultReporter& operator=(const FaultReporter&) = delete;

 private:
  FaultGuard stack_;  // what the handler needs of the thread
};

}  // namespace gpulua::cpu
