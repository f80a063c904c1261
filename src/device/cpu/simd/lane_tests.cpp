#include "src/device/cpu/simd/lane_tests.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/simd/lane_pattern.h"

namespace gpulua::cpu::simd {
namespace {

using namespace llvm::PatternMatch;

/// The n of `(i32)(~0 << n) == ~0`, or of `!=`. Null for other comparisons.
llvm::Value* find_number(llvm::ICmpInst& test) {
  llvm::Value* number = nullptr;
  const bool is_test = test.isEquality() && match(test.getOperand(1), m_AllOnes()) &&
                       match(test.getOperand(0), m_Trunc(m_Shl(m_AllOnes(), m_Value(number))));
  return is_test && number->getType()->isIntegerTy(64) ? number : nullptr;
}

void simplify_tests(llvm::Function& function) {
  for (llvm::ICmpInst* test : collect<llvm::ICmpInst>(function, [](const llvm::ICmpInst&) { return true; })) {
    llvm::Value* number = find_number(*test);
    if (number == nullptr) continue;
    llvm::Value *most = nullptr, *end = nullptr, *base = nullptr;
    match(number, m_ZExt(m_Value(number)));
    if (match(number, m_UMin(m_Value(most), m_SpecificInt(warp_size)))) number = most;
    llvm::IRBuilder<> builder(test);
    const bool is_empty = test->getPredicate() == llvm::ICmpInst::ICMP_EQ;
    llvm::Value* result = nullptr;
    if (match(number, m_Intrinsic<llvm::Intrinsic::usub_sat>(m_Value(end), m_Value(base))))
      result = builder.CreateICmp(is_empty ? llvm::ICmpInst::ICMP_ULE : llvm::ICmpInst::ICMP_UGT, end, base);
    else
      result = builder.CreateICmp(test->getPredicate(), number, llvm::Constant::getNullValue(number->getType()));
    test->replaceAllUsesWith(result);
    test->eraseFromParent();
  }
}

void simplify_last_lanes(llvm::Function& function) {
  const auto is_extract = [](const llvm::ExtractElementInst&) { return true; };
  for (llvm::ExtractElementInst* extract : collect<llvm::ExtractElementInst>(function, is_extract)) {
    const llvm::APInt* lane = nullptr;
    const auto leading = m_Intrinsic<llvm::Intrinsic::ctlz>(m_And(m_Value(), m_Power2(lane)), m_Value());
    if (match(extract->getIndexOperand(),
              m_CombineOr(m_Xor(leading, m_SpecificInt(warp_size - 1)), m_Sub(m_SpecificInt(warp_size - 1), leading))))
      extract->setOperand(1, llvm::ConstantInt::get(extract->getIndexOperand()->getType(), lane->logBase2()));
  }
}

}  // namespace

void simplify_lane_tests(llvm::Function& function) {
  simplify_tests(function);
  simplify_last_lanes(function);
}

}  // namespace gpulua::cpu::simd
