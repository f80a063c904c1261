#pragma once

// Tells AddressSanitizer of every switch to another stack. Empty without the sanitizer.

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace gpulua::cpu {

class SanitizedStack {
 public:
  /// A thread's own stack. The first switch away from it records where it lies.
  SanitizedStack() = default;

#ifdef __SANITIZE_ADDRESS__
  SanitizedStack(const void* low, std::size_t bytes) : low_(low), bytes_(bytes) {}
  /// Called right before a switch from this stack, which will be switched back to.
  void leave(const SanitizedStack& to) {
    __sanitizer_start_switch_fiber(&frames_, to.low_, to.bytes_);
  }
  /// Called right before a switch from a stack for good.
  static void leave_for_good(const SanitizedStack& to) {
    __sanitizer_start_switch_fiber(nullptr, to.low_, to.bytes_);
  }
  /// Called right after a switch to this stack.
  void arrive(SanitizedStack& from) {
    __sanitizer_finish_switch_fiber(frames_, &from.low_, &from.bytes_);
  }
  /// Called before a stack's memory goes back to the system. Removes the marks of functions that never returned.
  static void release(const void* low, std::size_t bytes) {
    __asan_unpoison_memory_region(low, bytes);
  }

 private:
  void* frames_ = nullptr;
  const void* low_ = nullptr;
  std::size_t bytes_ = 0;
#else
  SanitizedStack(const void*, std::size_t) {}
  void leave(const SanitizedStack&) {}
  static void leave_for_good(const SanitizedStack&) {}
  void arrive(SanitizedStack&) {}
  static void release(const void*, std::size_t) {}
#endif
};

}  // namespace gpulua::cpu
