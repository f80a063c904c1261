#pragma once

namespace gpulua::cpu {

/// The stack that the system gave to the running thread.
class ThreadStack {
 public:
  /// Found on a thread's first call, which may allocate; later calls suit a signal handler.
  static const ThreadStack& current();

  /// True iff `address`, at which an access has faulted, lies in the stack or in the space that the system keeps free
  /// below it. All of the stack itself can be accessed, so such a fault is an overflow.
  bool overflows(const void* address) const { return address >= low_ && address < end_; }

 private:
  ThreadStack();

  const char *low_ = nullptr, *end_ = nullptr;
};

}  // namespace gpulua::cpu
