#pragma once

#include <cstddef>

namespace gpulua::cpu {

/// Memory for a fiber's stack, between two guard pages. The system gives it as it is used.
class FiberStack {
 public:
  /// The bytes of a stack for a kernel whose local variables take `local_bytes`.
  static std::size_t bytes_for(std::size_t local_bytes);

  /// Throws std::bad_alloc.
  explicit FiberStack(std::size_t bytes);
  ~FiberStack();
  FiberStack(const FiberStack&) = delete;
  FiberStack& operator=(const FiberStack&) = delete;

  char* low() const { return low_; }
  /// The stack grows down from here.
  char* top() const { return low_ + bytes_ - colour_; }
  std::size_t bytes() const { return bytes_ - colour_; }

  /// True when `address` lies in the guard page below the stack that contains `stack_pointer`.
  static bool overflows(const void* address, const void* stack_pointer);
  /// Where a stack begins and ends.
  struct Range {
    const char *low = nullptr, *end = nullptr;
    bool contains(const void* address) const { return address >= low && address < end; }
  };
  /// The guarded stack that contains `address`; empty: none.
  static Range around(const void* address);

 private:
  char* low_;
  std::size_t bytes_;
  std::size_t colour_;
  bool guarded_;
};

}  // namespace gpulua::cpu
