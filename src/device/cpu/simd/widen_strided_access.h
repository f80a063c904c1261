#pragma once

#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

/// Fields of small structures, and every second to fourth element of an array: loaded and stored as contiguous rows,
/// with permutations in registers. Only elements of active lanes are accessed.
class StridedAccess {
 public:
  explicit StridedAccess(WarpBuilder& warp) : warp_(warp), builder_(warp.builder()) {}

  /// The distance between the lanes' elements, in elements, where the access can be strided; else 0.
  unsigned stride(const llvm::Value* address, llvm::Type* type, bool loads) const;
  llvm::Value* load(llvm::Type* type, const llvm::Value* address, unsigned stride);
  void store(llvm::Value* values, const llvm::Value* address, unsigned stride);

 private:
  llvm::Value* mask_of_chunk(unsigned first, unsigned stride);
  llvm::Value* load_whole(llvm::Type* type, const llvm::Value* address, unsigned stride);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
};

}  // namespace gpulua::cpu::simd
