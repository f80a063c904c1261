#pragma once

// AddressSanitizer is told of every switch to another stack. Without it this is empty.

#include <cstddef>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace gpulua::cpu {

class SanitizedStack {
 public:
  /// A thread's own stack: its place is learned when it is left.
  SanitizedStack() = default;

#ifdef __SANITIZE_ADDRESS__
  SanitizedStack(const void* low, std::size_t bytes) : low_(low), bytes_(bytes) {}
  /// The next thing is a switch from this stack, to come back.
  void leave(const SanitizedStack& to) {
    __sanitizer_start_switch_fiber(&frames_, to.low_, to.bytes_);
  }
  /// The same, never to come back.
  static void leave_for_good(const SanitizedStack& to) {
    __sanitizer_start_switch_fiber(nullptr, to.low_, to.bytes_);
  }
  /// This stack has just been switched to.
  void arrive(SanitizedStack& from) {
    __sanitizer_finish_switch_fiber(frames_, &from.low_, &from.bytes_);
  }
  /// The memory of a stack goes back to the system, for anything: what functions that never returned marked is void.
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
