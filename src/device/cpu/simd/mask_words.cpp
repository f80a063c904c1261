#include "src/device/cpu/simd/mask_words.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/PatternMatch.h>

#include <map>
#include <numeric>

#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

using namespace llvm::PatternMatch;

constexpr unsigned most_lanes = 64;  // of a mask of AVX-512
// Operations between a word and the numbers of lanes that it is made of.
constexpr unsigned max_depth = 6;

bool is_mask(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector != nullptr && vector->getElementType()->isIntegerTy(1) && vector->getNumElements() < most_lanes;
}

/// The masks of a function that are made of words.
class MaskWords {
 public:
  explicit MaskWords(llvm::Function& function) : function_(function) {}

  void run();

 private:
  /// The word that the mask is made of. Null for other masks.
  llvm::Value* find(llvm::Value* mask);
  /// The word of what the instruction makes of masks that are words.
  llvm::Value* combine(llvm::Instruction& instruction);
  llvm::Value* make_mask(llvm::Instruction& like, llvm::Value* word);

  llvm::Function& function_;
  std::map<llvm::Value*, llvm::Value*> words_;
};

llvm::Value* MaskWords::find(llvm::Value* mask) {
  if (auto found = words_.find(mask); found != words_.end()) return found->second;
  auto* constant = llvm::dyn_cast<llvm::Constant>(mask);
  if (constant == nullptr) return nullptr;
  const unsigned lanes = llvm::cast<llvm::FixedVectorType>(mask->getType())->getNumElements();
  llvm::Type* type = llvm::Type::getIntNTy(function_.getContext(), lanes);
  return llvm::dyn_cast_or_null<llvm::ConstantInt>(llvm::ConstantFoldCastOperand(
      llvm::Instruction::BitCast, constant, type, function_.getParent()->getDataLayout()));
}

llvm::Value* MaskWords::combine(llvm::Instruction& instruction) {
  llvm::Value *source = nullptr, *a = nullptr, *b = nullptr;
  if (match(&instruction, m_BitCast(m_Value(source)))) return source->getType()->isIntegerTy() ? source : nullptr;
  const bool is_and = match(&instruction, m_LogicalAnd(m_Value(a), m_Value(b)));
  const bool is_or = !is_and && match(&instruction, m_LogicalOr(m_Value(a), m_Value(b)));
  if (!is_and && !is_or && !match(&instruction, m_Xor(m_Value(a), m_Value(b)))) return nullptr;
  llvm::Value *first = find(a), *second = find(b);
  if (first == nullptr || second == nullptr) return nullptr;
  llvm::IRBuilder<> builder(&instruction);
  // A select does not look at lanes of `b` that may be poison.
  if (llvm::isa<llvm::SelectInst>(instruction)) second = builder.CreateFreeze(second);
  if (is_and) return builder.CreateAnd(first, second);
  return is_or ? builder.CreateOr(first, second) : builder.CreateXor(first, second);
}

llvm::Value* MaskWords::make_mask(llvm::Instruction& like, llvm::Value* word) {
  llvm::IRBuilder<> builder(&like);
  llvm::Type* i64 = builder.getInt64Ty();
  llvm::Value* wide = nullptr;
  if (!match(word, m_Trunc(m_Value(wide))) || wide->getType() != i64) wide = builder.CreateZExt(word, i64);
  llvm::SmallVector<int> lanes(llvm::cast<llvm::FixedVectorType>(like.getType())->getNumElements());
  std::iota(lanes.begin(), lanes.end(), 0);
  llvm::Type* type = llvm::FixedVectorType::get(builder.getInt1Ty(), most_lanes);
  return builder.CreateShuffleVector(builder.CreateBitCast(wide, type), lanes, like.getName());
}

void MaskWords::run() {
  std::vector<llvm::Instruction*> made, unused;
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function_)) {
    for (llvm::Instruction& instruction : *block) {
      if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction);
          cast != nullptr && cast->getType()->isIntegerTy())
        if (auto found = words_.find(cast->getOperand(0)); found != words_.end()) {
          cast->replaceAllUsesWith(found->second);
          unused.push_back(cast);
        }
      if (!is_mask(instruction.getType())) continue;
      llvm::Value* word = combine(instruction);
      if (word == nullptr) continue;
      words_[&instruction] = word;
      made.push_back(&instruction);
    }
  }
  for (llvm::Instruction* cast : unused) cast->eraseFromParent();
  for (llvm::Instruction* mask : llvm::reverse(made)) {
    if (!mask->use_empty()) mask->replaceAllUsesWith(make_mask(*mask, words_.at(mask)));
    mask->eraseFromParent();
  }
}

/// Masks from words on processors without registers for masks.
class LaneComparisons {
 public:
  explicit LaneComparisons(llvm::Function& function) : function_(function) {}

  void run() {
    const auto is_made = [](const llvm::BitCastInst& cast) {
      return is_mask(cast.getType()) && cast.getOperand(0)->getType()->isIntegerTy();
    };
    for (llvm::BitCastInst* cast : collect<llvm::BitCastInst>(function_, is_made)) {
      llvm::IRBuilder<> builder(cast);
      lanes_ = llvm::cast<llvm::FixedVectorType>(cast->getType())->getNumElements();
      cast->replaceAllUsesWith(mask_of(builder, cast->getOperand(0), 0));
      cast->eraseFromParent();
    }
  }

 private:
  llvm::Value* mask_of(llvm::IRBuilder<>& builder, llvm::Value* word, unsigned depth);
  /// The constant vector of `of(lane)`, 32 bits each.
  template <class Of>
  llvm::Value* constants(llvm::IRBuilder<>& builder, const Of& of) const {
    std::vector<llvm::Constant*> values;
    for (unsigned lane = 0; lane < lanes_; ++lane) values.push_back(builder.getInt32(of(lane)));
    return llvm::ConstantVector::get(values);
  }
  /// The lanes from `number` on, which is at most 64.
  llvm::Value* from(llvm::IRBuilder<>& builder, llvm::Value* number) const {
    number = builder.CreateVectorSplat(lanes_, builder.CreateZExtOrTrunc(number, builder.getInt32Ty()));
    return builder.CreateICmpSGE(constants(builder, [](unsigned lane) { return lane; }), number);
  }

  llvm::Function& function_;
  unsigned lanes_ = 0;
};

llvm::Value* LaneComparisons::mask_of(llvm::IRBuilder<>& builder, llvm::Value* word, unsigned depth) {
  llvm::Value *a = nullptr, *b = nullptr, *number = nullptr;
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(word))
    return builder.CreateBitCast(constant, llvm::FixedVectorType::get(builder.getInt1Ty(), lanes_));
  if (depth < max_depth && word->getType()->isIntegerTy(lanes_)) {
    const auto of = [&](llvm::Value* other) { return mask_of(builder, other, depth + 1); };
    if (match(word, m_Not(m_Value(a)))) return builder.CreateNot(of(a));
    if (match(word, m_And(m_Value(a), m_Value(b)))) return builder.CreateAnd(of(a), of(b));
    if (match(word, m_Or(m_Value(a), m_Value(b)))) return builder.CreateOr(of(a), of(b));
    if (match(word, m_Freeze(m_Value(a)))) return of(a);
    if (match(word, m_CombineOr(m_Trunc(m_Shl(m_AllOnes(), m_Value(number))), m_Shl(m_AllOnes(), m_Value(number)))))
      return from(builder, number);
    if (match(word, m_Trunc(m_Not(m_Shl(m_AllOnes(), m_Value(number))))))
      return builder.CreateNot(from(builder, number));
    if (match(word, m_LShr(m_AllOnes(), m_Value(number))))
      return builder.CreateNot(
          from(builder, builder.CreateSub(llvm::ConstantInt::get(number->getType(), lanes_), number)));
  }
  llvm::Value* bits = constants(builder, [](unsigned lane) { return 1u << lane; });
  llvm::Value* words = builder.CreateVectorSplat(lanes_, builder.CreateZExtOrTrunc(word, builder.getInt32Ty()));
  return builder.CreateICmpNE(builder.CreateAnd(words, bits), llvm::Constant::getNullValue(bits->getType()));
}

}  // namespace

void lower_mask_words(llvm::Function& function) {
  if (has_feature(function, "+avx512bw"))
    MaskWords(function).run();
  else
    LaneComparisons(function).run();
}

}  // namespace gpulua::cpu::simd
