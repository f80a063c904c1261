#pragma once

#include <map>

#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// Neighbours that each lane loads or stores together, as the parts of a complex number: one contiguous row of all
/// lanes' pairs, which is taken apart or put together in registers. Only elements of active lanes are accessed.
class PairedAccess {
 public:
  explicit PairedAccess(WarpBuilder& warp) : warp_(warp), builder_(warp.builder()) {}

  /// Null where the load has no neighbour. Emits the loads of both at the first one's place.
  llvm::Value* load(const llvm::LoadInst& load);
  /// False where the store has no neighbour. Emits the stores of both at the second one's place.
  bool store(const llvm::StoreInst& store);

 private:
  struct Neighbour {
    const llvm::Instruction* instruction = nullptr;
    bool follows = true;  // the neighbour's element lies behind the other one in memory
  };

  Neighbour find_next(const llvm::Instruction& first) const;
  bool can_be_row(const llvm::Value* address, llvm::Type* type) const;
  llvm::Value* mask_of_pairs();

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  std::map<const llvm::LoadInst*, llvm::Value*> loaded_;     // with their neighbours
  std::map<const llvm::StoreInst*, Neighbour> postponed_;  // by the second of two: the first one
};

}  // namespace gpulua::cpu::simd
