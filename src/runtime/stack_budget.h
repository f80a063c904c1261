#pragma once

#include <cstddef>
#include <cstdint>

namespace gpulua {

/// How much of its thread's C stack a call of the host program's may fill. Lua bounds its own stacks, but functions in
/// C that call Lua, and coroutines that resume others, fill the thread's, and nothing else stops them at its end.
class StackBudget {
 public:
  /// A call that has a budget, on its thread: half of what the thread has left, and `most` at most.
  class Call {
   public:
    explicit Call(StackBudget& budget) noexcept : budget_(budget) { budget_.begin(); }
    ~Call() { budget_.end_ = 0; }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    StackBudget& budget_;
  };

  /// True when no function may be called that calls a script. False outside of calls that have a budget.
  bool is_spent() const noexcept { return address() < end_; }
  /// Throws Error when it is spent.
  void check() const {
    if (is_spent()) refuse();
  }

  /// Bytes that the calling thread's stack has left.
  static std::size_t left_of_thread() noexcept;

  /// What check() says.
  static constexpr const char* message =
      "stack overflow: coroutines, or functions of the library that call the script's, nest too deep";

 private:
  /// Lua functions in gsub's callbacks nest some 200 deep in it, as in Lua 5.1; coroutines 10,000 deep.
  static constexpr std::uintptr_t most = std::uintptr_t{2} << 20;
  /// On a stack that is not the thread's own: that of a fiber of the host program's.
  static constexpr std::uintptr_t on_unknown_stack = std::uintptr_t{64} << 10;

  static std::uintptr_t address() noexcept { return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)); }
  [[noreturn]] static void refuse();
  void begin() noexcept;

  std::uintptr_t end_ = 0;  // stacks grow towards lower addresses
};

}  // namespace gpulua
