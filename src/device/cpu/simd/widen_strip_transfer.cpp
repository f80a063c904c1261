#include "src/device/cpu/simd/widen_strip_transfer.h"

#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/strip_mining.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned element_bytes = 4;
static_assert(strip_length == half_warp, "a strip of half a warp is a square");

/// Transposes a matrix of 16 rows.
void transpose(llvm::IRBuilder<>& builder, std::vector<llvm::Value*>& rows) {
  for (unsigned distance = 1; distance < half_warp; distance *= 2) {
    llvm::SmallVector<int> low, high;
    for (unsigned i = 0; i < half_warp; ++i) {
      low.push_back(static_cast<int>(i & distance ? half_warp + i - distance : i));
      high.push_back(static_cast<int>(i & distance ? half_warp + i : i + distance));
    }
    for (unsigned i = 0; i < half_warp; ++i) {
      if (i & distance) continue;
      llvm::Value *a = rows[i], *b = rows[i + distance];
      rows[i] = builder.CreateShuffleVector(a, b, low);
      rows[i + distance] = builder.CreateShuffleVector(a, b, high);
    }
  }
}

}  // namespace

/// The address of a half's elements of one iteration in private memory.
llvm::Value* StripTransfer::iteration_row(const llvm::Value* own, unsigned iteration, unsigned half) {
  return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), warp_.scalar(own),
                                     (iteration * warp_size + half * half_warp) * element_bytes);
}

void StripTransfer::load(const llvm::CallInst& call) {
  const llvm::Value* own = call.getArgOperand(0);
  llvm::Value* places = warp_.vector(call.getArgOperand(1));
  if (!warp_.mask_is_full()) {
    // Inactive lanes load what an active one does: there is one (find_guards).
    llvm::Value* running =
        builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, warp_.bits_of(warp_.mask()), builder_.getTrue());
    llvm::Value* known = builder_.CreateVectorSplat(warp_size, builder_.CreateExtractElement(places, running));
    places = builder_.CreateSelect(warp_.mask(), places, known);
  }
  llvm::Type* row = llvm::FixedVectorType::get(builder_.getInt32Ty(), half_warp);
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<llvm::Value*> rows;
    for (unsigned lane = 0; lane < half_warp; ++lane)
      rows.push_back(builder_.CreateAlignedLoad(row, builder_.CreateExtractElement(places, half * half_warp + lane),
                                                llvm::Align(element_bytes)));
    transpose(builder_, rows);
    for (unsigned iteration = 0; iteration < strip_length; ++iteration)
      builder_.CreateAlignedStore(rows[iteration], iteration_row(own, iteration, half), llvm::Align(64));
  }
}

void StripTransfer::store(const llvm::CallInst& call) {
  const llvm::Value* own = call.getArgOperand(0);
  llvm::Value* places = warp_.vector(call.getArgOperand(1));
  llvm::Type* row = llvm::FixedVectorType::get(builder_.getInt32Ty(), half_warp);
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<llvm::Value*> rows;
    for (unsigned iteration = 0; iteration < strip_length; ++iteration)
      rows.push_back(builder_.CreateAlignedLoad(row, iteration_row(own, iteration, half), llvm::Align(64)));
    transpose(builder_, rows);
    for (unsigned lane = 0; lane < half_warp; ++lane) {
      llvm::Value* place = builder_.CreateExtractElement(places, half * half_warp + lane);
      if (warp_.mask_is_full()) {
        builder_.CreateAlignedStore(rows[lane], place, llvm::Align(element_bytes));
        continue;
      }
      llvm::Value* runs = builder_.CreateExtractElement(warp_.mask(), half * half_warp + lane);
      llvm::Value* all = builder_.CreateSExt(runs, builder_.getIntNTy(half_warp));
      builder_.CreateMaskedStore(
          rows[lane], place, llvm::Align(element_bytes),
          builder_.CreateBitCast(all, llvm::FixedVectorType::get(builder_.getInt1Ty(), half_warp)));
    }
  }
}

}  // namespace gpulua::cpu::simd
