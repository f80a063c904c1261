#pragma once

// The engine's builtins and markers that need no memory access: indices, barriers, shuffles and votes.

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/widen_warp_builder.h"

namespace gpulua::cpu::simd {

class WarpBuiltins {
 public:
  WarpBuiltins(WarpBuilder& warp, WarpLayout layout) : warp_(warp), builder_(warp.builder()), layout_(layout) {}

  /// threadIdx and blockDim.x.
  llvm::Value* emit_index(Marker marker);
  llvm::Value* emit_private_memory(const llvm::CallInst& call);
  llvm::Value* emit_fail(const llvm::CallInst& call);
  /// The number of true predicates for Marker::barrier_count; null for other barriers.
  llvm::Value* emit_barrier(const llvm::CallInst& call);
  /// Lanes leave the kernel's barriers for good.
  void emit_leave(llvm::Value* lanes);
  llvm::Value* emit_shuffle(const llvm::CallInst& call);
  llvm::Value* emit_ballot(const llvm::CallInst& call);

 private:
  llvm::Value* thread_index(unsigned axis);
  llvm::Value* part(llvm::Value* vector, unsigned first, unsigned count);
  // For each lane the value of the lane that `lanes` names, all below warp_size.
  llvm::Value* permute_avx512(llvm::Value* values, llvm::Value* lanes);
  llvm::Value* permute_avx2(llvm::Value* values, llvm::Value* lanes);
  llvm::CallInst* call_placeholder(const char* name, llvm::Type* result, const std::vector<llvm::Value*>& arguments);

  WarpBuilder& warp_;
  WarpBuilder::Builder& builder_;
  WarpLayout layout_;
  llvm::Value* thread_index_[3] = {};  // of all lanes, in blocks of any shape
};

/// What a widened function calls for Marker::fail; defined in src/device/cpu/headers/gpulua_warps.h.
inline constexpr const char* fail_function = "gpulua_fail_in_lane";

}  // namespace gpulua::cpu::simd
