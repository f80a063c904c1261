#pragma once

// Flows of control that switch by hand, each on a stack of its own.

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
  /// What runs already: the thread itself, on its own stack.
  Fiber() = default;
  /// Runs `body` over and over. The body ends by switching to another fiber, and throws nothing. Stack memory is taken
  /// as it is used. Throws std::bad_alloc.
  Fiber(std::size_t stack_bytes, std::function<void()> body);
  /// The body has not started or has switched away at its end.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// It will not go on, and may be destroyed, wherever it is suspended: what its stack holds is left as it is.
  void abandon() { new (&context_) boost::context::fiber; }
  /// This is the thread, which has jumped back to its own stack from `lost` instead of being switched to.
  void jumped_back(Fiber& lost) {
    lost.sanitized_.leave(sanitized_);
    sanitized_.arrive(lost.sanitized_);
    abandon();
  }

  /// Goes on with `to` where that was suspended, or from its start; returns when someone switches back to `from`.
  /// Called by `from`. A fiber may run on different threads, one at a time.
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
  Fiber* predecessor_ = nullptr;   // who switched to this one
  boost::context::fiber context_;  // where it is suspended; empty while it runs
};

}  // namespace gpulua::cpu
