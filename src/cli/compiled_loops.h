#pragma once

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <vector>

namespace gpulua {

/// The loops of a Lua state that LuaJIT has compiled, each with an instruction that every round passes, and where a
/// thread that stands there can leave the machine code.
class CompiledLoops {
 public:
  using Address = std::uintptr_t;

  /// Notes what `L` compiles from now on, until the script asks LuaJIT to tell itself (jit.attach). The object outlives
  /// the state. May raise a Lua error.
  void watch(lua_State* L);

  /// Puts breakpoints into all loops: a thread that comes by one gets SIGTRAP. Async-signal-safe.
  void stop() const noexcept { put_all(true); }
  void let_go() const noexcept { put_all(false); }
  /// Where to go on after a SIGTRAP that left the thread at `next`; 0: it was none of these. Async-signal-safe.
  Address exit_after(Address next) const noexcept;

 private:
  struct Place {
    Address address;
    std::uint8_t instruction;  // its first byte
  };

  static int attach(lua_State* L);
  static int on_trace(lua_State* L);
  void forget();
  void note(lua_State* L);
  void put_all(bool breakpoints) const noexcept;

  std::vector<Place> places_;
  Address exit_ = 0;
  bool is_root_ = false;  // the trace that is being recorded begins at a loop or a function, not at another's exit
};

}  // namespace gpulua
