#pragma once

#include <llvm/Analysis/LoopInfo.h>

#include "src/device/cpu/simd/widen_address_rows.h"

namespace gpulua::cpu::simd {

/// Prefetches for access patterns that the processor does not predict.
class Prefetcher {
 public:
  Prefetcher(WarpBuilder& warp, const llvm::LoopInfo& loops) : warp_(warp), builder_(warp.builder()), loops_(loops) {}

  /// Emits prefetches before the load of the row, if they help.
  void emit(const llvm::LoadInst& load, const AddressRow& row);

 private:
  void emit_for_blocks(const llvm::LoadInst& load, const AddressRow& row);
  llvm::Value* advance(const llvm::Value* index, const llvm::Loop& loop);
  bool is_fixed(const llvm::Value* value, const llvm::Loop& loop) const;
  void prefetch(llvm::Value* base, std::int64_t offset, unsigned cache);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  const llvm::LoopInfo& loops_;
};

}  // namespace gpulua::cpu::simd
