#include "src/device/cpu/simd/mask_words.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <numeric>

#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned most_lanes = 64;  // of a mask of AVX-512

bool makes_mask(const llvm::BitCastInst& cast) {
  const auto* type = llvm::dyn_cast<llvm::FixedVectorType>(cast.getType());
  return type != nullptr && type->getElementType()->isIntegerTy(1) && type->getNumElements() < most_lanes &&
         cast.getSrcTy()->isIntegerTy();
}

}  // namespace

void take_masks_from_wide_words(llvm::Function& function) {
  if (!has_feature(function, "+avx512bw")) return;
  for (llvm::BitCastInst* cast : collect<llvm::BitCastInst>(function, makes_mask)) {
    llvm::IRBuilder<> builder(cast);
    llvm::Type* i64 = builder.getInt64Ty();
    llvm::Value* word = nullptr;
    if (!match(cast->getOperand(0), llvm::PatternMatch::m_Trunc(llvm::PatternMatch::m_Value(word))) ||
        word->getType() != i64)
      word = builder.CreateZExt(cast->getOperand(0), i64);
    llvm::SmallVector<int> lanes(llvm::cast<llvm::FixedVectorType>(cast->getType())->getNumElements());
    std::iota(lanes.begin(), lanes.end(), 0);
    llvm::Value* all = builder.CreateBitCast(word, llvm::FixedVectorType::get(builder.getInt1Ty(), most_lanes));
    llvm::Value* mask = builder.CreateShuffleVector(all, lanes);
    mask->takeName(cast);
    cast->replaceAllUsesWith(mask);
    cast->eraseFromParent();
  }
}

}  // namespace gpulua::cpu::simd
