#pragma once

#include <signal.h>

#include <optional>

#include "src/device/cpu/runtime/guarded_mapping.h"

namespace gpulua::cpu {

/// A thread's stack for signal handlers: a kernel that overflows its own stack leaves none. The host program's signal
/// stack serves where it is large enough; else ours takes its place while kernels run.
class SignalStack {
 public:
  /// Made on a thread's first call, removed when the thread ends.
  static SignalStack& of_thread();

  void enter();
  void leave();

 private:
  SignalStack();
  ~SignalStack();
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;
  void set();

  std::optional<GuardedMapping> memory_;
  stack_t hosts_{};
  bool borrows_ = false;  // the place of the host's
};

}  // namespace gpulua::cpu
