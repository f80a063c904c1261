#pragma once

#include <optional>

#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// The addresses of a warp's lanes where they are contiguous, or equal, in each half of the warp.
struct AddressRow {
  LanePattern pattern;
  llvm::Value* bases[2] = {};    // the second one only where the whole warp's addresses are not contiguous
  llvm::Value* holds = nullptr;  // an i1: true iff these are the addresses; null: always
  bool all_lanes = false;        // where it holds, all lanes are active
  bool own = false;              // in memory of the warp's own: accesses may reach lanes that are not active
};

/// Finds rows of addresses, also where they depend on a condition that is tested at run time, and loads and stores
/// them.
class AddressRows {
 public:
  explicit AddressRows(WarpBuilder& warp);

  /// The row of elements of `bytes` bytes at the address; none where lanes are known to need a gather.
  std::optional<AddressRow> find(const llvm::Value* address, std::int64_t bytes);
  llvm::Value* load(llvm::Type* type, const AddressRow& row, llvm::Align align);
  void store(llvm::Value* values, const AddressRow& row, llvm::Align align);

 private:
  void store_groups(llvm::Value* values, llvm::Value* place, llvm::Align align, llvm::Value* lanes);
  /// The operand that a bounds check such as `i < n ? i : 0` or min(i, n - 1) yields where no lane is out of bounds:
  /// the one that is not uniform. Other values are returned as they are.
  const llvm::Value* expected_value(const llvm::Value* value) const;
  llvm::Value* chooses_expected(const llvm::Value* choice);
  llvm::Value* lanes_choose_expected(const llvm::Value* choice, unsigned half, bool alone);
  LanePattern assumed_pattern(const llvm::Value* value, unsigned depth) const;
  llvm::Value* assumed_base(const llvm::Value* value, unsigned half, bool alone, llvm::Value*& holds);
  llvm::Value* wraps_nowhere(llvm::Value* base, const LanePattern& pattern, bool alone, bool is_signed);
  llvm::Value* load_half(llvm::Type* type, const AddressRow& row, llvm::Align align, unsigned half);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  std::ptrdiff_t stores_;  // of the scalar function
};

}  // namespace gpulua::cpu::simd
