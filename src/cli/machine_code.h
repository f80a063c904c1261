#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <lua.hpp>

namespace gpulua {

/// The machine code that LuaJIT has compiled: where it lies, and where a thread can leave it. The object holds a
/// snapshot of the process's mappings. Every method is async-signal-safe.
class MachineCode {
 public:
  using Address = std::uintptr_t;

  /// Reads where LuaJIT's machine code lies now.
  void locate() noexcept;
  bool contains(Address address) const noexcept { return find(address) != nullptr; }
  /// True iff r14 holds `address` in the machine code of the state whose main thread is `main`.
  static bool is_dispatch_of(const lua_State* main, Address address) noexcept {
    return address - reinterpret_cast<Address>(main) < state_bytes;
  }

  /// The exit stub that a guard at `address`, in machine code, jumps to when it fails; 0 when the instruction there is
  /// no guard, or its exit leads to another trace.
  Address guard_exit(Address address) const noexcept;
  /// True iff the instruction at `address`, in machine code, notes which trace begins to run.
  bool enters_trace(Address address) const noexcept;
  /// True iff the instruction at `address`, in machine code, jumps back without a condition: the end of a loop that is
  /// not guarded there, or the link to another trace.
  bool jumps_back(Address address) const noexcept;
  /// The stub of exit 0, the same for all traces; 0 when there is none.
  Address first_exit() const noexcept;

 private:
  // More than LuaJIT allocates for a state, with the main thread at the start and the dispatch table near the end.
  static constexpr Address state_bytes = 65'536;

  struct Region {
    Address begin = 0;
    Address end = 0;
  };

  const Region* find(Address address) const noexcept;
  bool is_exit_stub(Address address) const noexcept;

  std::array<Region, 64> regions_{};
  std::size_t count_ = 0;
};

}  // namespace gpulua
