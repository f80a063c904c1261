#pragma once

#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// Copies strips (strip_mining.h) between the rows of the lanes and their private memory, where the elements of one
/// iteration are contiguous.
class StripTransfer {
 public:
  explicit StripTransfer(WarpBuilder& warp) : warp_(warp), builder_(warp.builder()) {}

  /// Marker::load_strip.
  void load(const llvm::CallInst& call);
  /// Marker::store_strip.
  void store(const llvm::CallInst& call);

 private:
  llvm::Value* iteration_row(const llvm::Value* own, unsigned iteration, unsigned half);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
};

}  // namespace gpulua::cpu::simd
