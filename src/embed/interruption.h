#pragma once

#include <atomic>
#include <cstdint>
#include <lua.hpp>
#include <string>

namespace gpulua {
class Context;
}

namespace gpulua::embed {

/// Stops what the host program's call into a Lua state runs, from any thread: interpreted code by a debug hook, waits
/// for a device and launches on the CPU device by the context's flag. Machine code of LuaJIT's compiler looks at no
/// hook, so calls that must be stoppable run with the compiler off (see State::set_compiler).
///
/// A call that must be stoppable has a hook that looks every 1000 instructions. Once there is a reason, the hook
/// raises the error at the next instruction, and again at each one after it, so that no pcall of the script
/// goes on: it stays until the call returns to the host. Each call has a generation, so that what was meant for one
/// call cannot hit the next.
class Interruption {
 public:
  enum class Reason : std::uint8_t { none, interrupted, deadline };

  /// The state and the context outlive it. Stores itself in the registry; may raise a Lua error.
  Interruption(lua_State* L, Context& context);
  /// In the state's last moments.
  ~Interruption() = default;
  Interruption(const Interruption&) = delete;
  Interruption& operator=(const Interruption&) = delete;

  /// Before and after a call of the host's, on its thread. begin() gives the generation of the call, end() why the
  /// call was stopped.
  /// `looks`: the compiler is off, and the call is to have the hook.
  std::uint64_t begin(bool looks) noexcept;
  Reason end() noexcept;

  /// Stops the running call, if there is one; with a generation, only that one. The first reason counts. False when
  /// nothing was stopped. Any thread, and a signal handler. Calling it again, or `force`, sets the hook from this
  /// thread: the call's own cannot run where the script keeps Lua's stack full.
  bool raise(Reason reason) noexcept;
  bool raise(std::uint64_t generation, Reason reason, bool force) noexcept;

  /// On the call's thread, for a deadline of a part of it: the call has the hook from now on; and the call, whose part
  /// that deadline has stopped, goes on.
  void look() noexcept;
  void go_on() noexcept;

  /// The number of the running call; any thread.
  std::uint64_t generation() const noexcept { return word_.load(std::memory_order_acquire) / one_generation; }

  /// Whether a call runs; a program's own Lua runs callbacks without one.
  bool runs() const noexcept { return (word_.load(std::memory_order_acquire) & running) != 0; }

  /// Why the running call is being stopped; any thread.
  Reason reason() const noexcept { return static_cast<Reason>(word_.load(std::memory_order_acquire) & reason_mask); }

 private:
  static constexpr std::uint64_t reason_mask = 0x7F, running = 0x80, one_generation = 0x100;

  static constexpr int instructions_between_looks = 1000;

  static void on_hook(lua_State* L, lua_Debug*);

  struct Hook {
    lua_Hook function = nullptr;
    int mask = 0, count = 0;
  };

  lua_State* L_;
  Context& context_;
  std::atomic<bool> looks_{false};
  Hook previous_;  // the program's own, while the call has ours
  /// The call's generation, whether it still runs, and why it is being stopped: one word, so that a late raise() fails
  /// as a whole.
  std::atomic<std::uint64_t> word_{0};
  std::atomic<int> raising_{0};  // calls of raise() that are under way: end() lets them finish
};

/// What the error says: "interrupted by the host program".
const char* reason_text(Interruption::Reason reason);
/// The text of what was stopped in the middle of something, "x.lua:3: [launch] interrupted", says why, and a deadline
/// how long it was.
std::string with_reason(std::string text, Interruption::Reason reason, double deadline_ms);

}  // namespace gpulua::embed
