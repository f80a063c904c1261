#pragma once

#include <cstddef>

namespace gpulua::cpu {

/// Memory for a fiber's stack, taken from the system as it is used, between two pages that cannot be touched.
class FiberStack {
 public:
  /// Throws std::bad_alloc.
  explicit FiberStack(std::size_t bytes);
  ~FiberStack();
  FiberStack(const FiberStack&) = delete;
  FiberStack& operator=(const FiberStack&) = delete;

  char* low() const { return low_; }
  /// The stack grows down from here.
  char* top() const { return low_ + bytes_ - colour_; }
  std::size_t bytes() const { return bytes_ - colour_; }

  /// True when `address` is in the page below the stack that the stack pointer is in.
  static bool overflows(const void* address, const void* stack_pointer);
  /// Where a stack begins and ends.
  struct Range {
    const char *low = nullptr, *end = nullptr;
    bool contains(const void* address) const { return address >= low && address < end; }
  };
  /// The stack that `address` lies in; an empty one where it lies in none that has guards.
  static Range around(const void* address);

 private:
  char* low_;
  std::size_t bytes_;
  std::size_t colour_;
  bool guarded_;
};

}  // namespace gpulua::cpu
