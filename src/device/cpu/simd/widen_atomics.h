#pragma once

#include "src/device/cpu/simd/widen_lane_loop.h"

namespace gpulua::cpu::simd {

/// Atomic operations: one for all lanes where their addresses are equal, else lane by lane.
class Atomics {
 public:
  Atomics(WarpBuilder& warp, LaneLoop& lanes) : warp_(warp), builder_(warp.builder()), lanes_(lanes) {}

  llvm::Value* emit(const llvm::AtomicRMWInst& atomic);
  /// Marker::flush_histogram: flushes if an active lane's access overlaps the histogram's elements.
  void emit_flush(const llvm::CallInst& call);

 private:
  llvm::Value* emit_combined(const llvm::AtomicRMWInst& atomic);
  llvm::Value* overlaps(const llvm::Value* address, llvm::Value* start, std::uint64_t bytes);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  LaneLoop& lanes_;
};

}  // namespace gpulua::cpu::simd
