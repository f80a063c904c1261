#pragma once

// Flows of control that switch by hand, each on a stack of its own.

#include <boost/context/fiber.hpp>
#include <cstddef>
#include <functional>

namespace gpulua::cpu {

/// Runs its body over and over: resume() starts it, or goes on where it was suspended, and returns when it suspends or
/// ends. It may be resumed by different threads, one at a time.
class Fiber {
 public:
  /// Stack memory is taken as it is used. The body throws nothing. Throws std::bad_alloc.
  Fiber(std::size_t stack_bytes, std::function<void()> body);
  /// The body is not suspended.
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  void resume() { self_ = std::move(self_).resume(); }
  /// Called by the body.
  void suspend() { caller_ = std::move(caller_).resume(); }

 private:
  std::function<void()> body_;
  bool closing_ = false;
  boost::context::fiber caller_, self_;
};

}  // namespace gpulua::cpu
