#pragma once

// Fibers: flows of control with a stack each, which switch explicitly.

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>
#include <new>
#include <optional>

#include "src/device/cpu/runtime/fiber_stack.h"
#include "src/device/cpu/runtime/sanitized_stack.h"

namespace gpulua::cpu {

class Fiber {
 public:
  /// The running thread, on its own stack.
  Fiber() = default;
  /// Runs `body` in a loop. The body ends each turn by switching to another fiber, and throws nothing. The system gives
  /// stack memory as it is used. Throws std::bad_alloc.
  Fiber(std::size_t stack_bytes, std::function<void()> body);
  /// Precondition: the body has not started, has switched away at its end, or was abandoned.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// The fiber will not run again, wherever it is suspended, and may be destroyed. Its frames are left as they are.
  void abandon() { new (&context_) boost::context::fiber; }
  /// Called on the thread's fiber after a jump from `lost` to the thread's stack that was no switch.
  void jumped_back(Fiber& lost) {
    lost.sanitized_.leave(sanitized_);
    sanitized_.arrive(lost.sanitized_);
    abandon();
  }

  /// Resumes `to` where it was suspended, or starts it; returns when another fiber switches back to `from`. Called by
  /// `from`. A fiber may run on different threads, one at a time.
  static void switch_between(Fiber& from, Fiber& to) {
    to.predecessor_ = &from;
    from.sanitized_.leave(to.sanitized_);
    boost::context::fiber suspended = std::move(to.context_).resume();
    from.sanitized_.arrive(from.predecessor_->sanitized_);
    from.predecessor_->context_ = std::move(suspended);
  }

 private:
  std::optional<FiberStack> stack_;
  SanitizedStack sanitized_;
  std::function<void()> body_;
  bool closing_ = false;
  Fiber* predecessor_ = nullptr;   // the fiber that switched to this one
  boost::context::fiber context_;  // where it is suspended; empty while it runs
};

}  // namespace gpulua::cpu
