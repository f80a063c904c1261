#include "src/device/cpu/front_end/conversions.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/ir/collect.h"

namespace gpulua::cpu {
namespace {

bool is_wide_conversion(const llvm::IntrinsicInst& call) {
  if (call.getIntrinsicID() != llvm::Intrinsic::fptosi_sat && call.getIntrinsicID() != llvm::Intrinsic::fptoui_sat)
    return false;
  return call.getType()->isIntegerTy(64) ||
         (call.getType()->isIntegerTy(32) && call.getArgOperand(0)->getType()->isDoubleTy());
}

}  // namespace

void convert_nans(llvm::Module& module) {
  for (llvm::IntrinsicInst* call : collect<llvm::IntrinsicInst>(module, is_wide_conversion)) {
    llvm::IRBuilder<> builder(call->getNextNode());
    llvm::Value* number = call->getArgOperand(0);
    llvm::Value* top_bit =
        llvm::ConstantInt::get(call->getType(), llvm::APInt::getSignMask(call->getType()->getIntegerBitWidth()));
    llvm::Value* is_nan = builder.CreateFCmpUNO(number, number);
    auto* result = llvm::cast<llvm::Instruction>(builder.CreateSelect(is_nan, top_bit, call));
    call->replaceUsesWithIf(result, [&](llvm::Use& use) { return use.getUser() != result; });
  }
}

}  // namespace gpulua::cpu
