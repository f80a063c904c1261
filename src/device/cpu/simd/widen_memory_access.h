#pragma once

#include "src/device/cpu/simd/widen_address_rows.h"
#include "src/device/cpu/simd/widen_induction_loads.h"
#include "src/device/cpu/simd/widen_lane_loop.h"
#include "src/device/cpu/simd/widen_paired_access.h"
#include "src/device/cpu/simd/widen_prefetcher.h"
#include "src/device/cpu/simd/widen_strided_access.h"

namespace gpulua::cpu::simd {

/// Loads and stores whose addresses or values differ between lanes: by rows, strided, in pairs, by permutations, by gathers and
/// scatters, or lane by lane.
class MemoryAccess {
 public:
  MemoryAccess(WarpBuilder& warp, LaneLoop& lanes, InductionLoads& inductions, const llvm::LoopInfo& loops)
      : warp_(warp),
        builder_(warp.builder()),
        lanes_(lanes),
        inductions_(inductions),
        rows_(warp),
        pairs_(warp),
        strided_(warp),
        prefetcher_(warp, loops) {}

  llvm::Value* load(const llvm::LoadInst& load);
  void store(const llvm::StoreInst& store);

 private:
  llvm::Value* gather(const llvm::LoadInst& load);
  llvm::Value* gather_narrow(llvm::Type* type, llvm::Value* addresses, llvm::Value* mask);
  void store_last(llvm::Value* values, const llvm::StoreInst& store);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  LaneLoop& lanes_;
  InductionLoads& inductions_;
  AddressRows rows_;
  PairedAccess pairs_;
  StridedAccess strided_;
  Prefetcher prefetcher_;
};

}  // namespace gpulua::cpu::simd
