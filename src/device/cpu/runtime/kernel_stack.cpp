#include "src/device/cpu/runtime/kernel_stack.h"

#include <algorithm>
#include <utility>

#include "src/device/cpu/runtime/fault_text.h"
#include "src/device/cpu/runtime/fiber_stack.h"

namespace gpulua::cpu {
namespace {

// Memory is taken as it is used.
constexpr std::size_t least_bytes = 8 << 20;

}  // namespace

KernelStack& KernelStack::of_thread() {
  thread_local KernelStack stack;
  return stack;
}

void KernelStack::run(std::size_t local_bytes) {
  const std::size_t wanted = std::max(least_bytes, FiberStack::bytes_for(local_bytes));
  if (!fiber_ || bytes_ < wanted) {
    fiber_ = std::make_unique<Fiber>(wanted, [this] { body(); });
    bytes_ = wanted;
  }
  const auto fault = call_kernel([this] { Fiber::switch_between(thread_, *fiber_); }, this);
  if (fault) {
    thread_.jumped_back(*fiber_);
    failure_ = std::make_exception_ptr(describe(*fault));  // while there is the stack that it overflowed
  }
  if (!failure_) return;
  // What the kernel has done to the stack is not known.
  fiber_->abandon();
  fiber_.reset();
  std::rethrow_exception(std::exchange(failure_, nullptr));
}

void KernelStack::body() noexcept {
  frame_ = __builtin_frame_address(0);
  try {
    call_(kernel_);
  } catch (...) {
    failure_ = std::current_exception();
  }
  Fiber::switch_between(*fiber_, thread_);
}

}  // namespace gpulua::cpu
