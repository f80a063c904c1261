// Strips of rows (strip_mining.h): from where each lane's elements lie in one piece to where those of a turn do, and
// back.

#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/strip_mining.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned element_bytes = 4;
static_assert(strip_length == half_warp, "a strip of half a warp is a square");

/// The i-th element of the j-th vector becomes the j-th of the i-th.
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

/// Of the private memory: where a half's elements of a turn are.
llvm::Value* Widener::strip_row(const llvm::Value* own, unsigned turn, unsigned half) {
  return builder_.CreateConstGEP1_64(builder_.getInt8Ty(), scalar(own),
                                     (turn * warp_size + half * half_warp) * element_bytes);
}

void Widener::emit_load_strip(const llvm::CallInst& call) {
  const llvm::Value* own = call.getArgOperand(0);
  llvm::Value* places = vector(call.getArgOperand(1));
  if (!mask_is_full()) {
    // For a lane that does not run, what one that does reads: there is one (find_guards).
    llvm::Value* running = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits_of(mask()), builder_.getTrue());
    llvm::Value* known = builder_.CreateVectorSplat(warp_size, builder_.CreateExtractElement(places, running));
    places = builder_.CreateSelect(mask(), places, known);
  }
  llvm::Type* row = llvm::FixedVectorType::get(builder_.getInt32Ty(), half_warp);
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<llvm::Value*> rows;
    for (unsigned lane = 0; lane < half_warp; ++lane)
      rows.push_back(builder_.CreateAlignedLoad(row, builder_.CreateExtractElement(places, half * half_warp + lane),
                                                llvm::Align(element_bytes)));
    transpose(builder_, rows);
    for (unsigned turn = 0; turn < strip_length; ++turn)
      builder_.CreateAlignedStore(rows[turn], strip_row(own, turn, half), llvm::Align(64));
  }
}

void Widener::emit_store_strip(const llvm::CallInst& call) {
  const llvm::Value* own = call.getArgOperand(0);
  llvm::Value* places = vector(call.getArgOperand(1));
  llvm::Type* row = llvm::FixedVectorType::get(builder_.getInt32Ty(), half_warp);
  for (unsigned half = 0; half < 2; ++half) {
    std::vector<llvm::Value*> rows;
    for (unsigned turn = 0; turn < strip_length; ++turn)
      rows.push_back(builder_.CreateAlignedLoad(row, strip_row(own, turn, half), llvm::Align(64)));
    transpose(builder_, rows);
    for (unsigned lane = 0; lane < half_warp; ++lane) {
      llvm::Value* place = builder_.CreateExtractElement(places, half * half_warp + lane);
      if (mask_is_full()) {
        builder_.CreateAlignedStore(rows[lane], place, llvm::Align(element_bytes));
        continue;
      }
      llvm::Value* runs = builder_.CreateExtractElement(mask(), half * half_warp + lane);
      llvm::Value* all = builder_.CreateSExt(runs, builder_.getIntNTy(half_warp));
      builder_.CreateMaskedStore(
          rows[lane], place, llvm::Align(element_bytes),
          builder_.CreateBitCast(all, llvm::FixedVectorType::get(builder_.getInt1Ty(), half_warp)));
    }
  }
}

}  // namespace gpulua::cpu::simd
