#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace gpulua {

/// What must be known of the machine code that LuaJIT compiles to leave it: where it lies, and which jumps are guards.
/// A copy is a snapshot of the process's mappings. Every method is async-signal-safe.
class MachineCode {
 public:
  using Address = std::uintptr_t;

  /// Reads where LuaJIT's machine code lies now.
  void locate() noexcept;
  bool contains(Address address) const noexcept { return find(address) != nullptr; }

  /// The exit stub that the instruction at `address`, in machine code, leaves to when it is a guard that fails; 0 when
  /// it is no guard, or one that leads to another trace.
  Address guard_exit(Address address) const noexcept;
  /// True iff the instruction at `address`, in machine code, is the one that says which trace runs now.
  bool enters_trace(Address address) const noexcept;
  /// True iff the instruction at `address`, in machine code, jumps back without a condition: the end of a loop that is
  /// not guarded there, or the link to another trace.
  bool jumps_back(Address address) const noexcept;
  /// The stub of exit 0, the same for all traces; 0 when there is none.
  Address first_exit() const noexcept;

 private:
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
