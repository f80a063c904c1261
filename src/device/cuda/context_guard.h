#pragma once

#include "src/device/cuda/cuda_context.h"

namespace gpulua::cuda {

/// Makes a context current in the calling thread, and restores the caller's at the end. A thread without a context
/// keeps the primary one, which the next call then finds in place; it does not keep one of the host program's.
class ContextGuard {
 public:
  explicit ContextGuard(const Context& context) : driver_(context.driver()) {
    CUcontext current = nullptr;
    driver_.context_get_current(&current);
    if (current == context.handle()) return;
    driver_.context_set_current(context.handle());
    callers_ = current;
    restores_ = current != nullptr || context.is_programs();
  }
  ~ContextGuard() {
    if (restores_) driver_.context_set_current(callers_);
  }
  ContextGuard(const ContextGuard&) = delete;
  ContextGuard& operator=(const ContextGuard&) = delete;

 private:
  const Driver& driver_;
  CUcontext callers_ = nullptr;
  bool restores_ = false;
};

}  // namespace gpulua::cuda
