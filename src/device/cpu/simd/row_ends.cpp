#include "src/device/cpu/simd/row_ends.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

#include "src/device/cpu/simd/lane_pattern.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/recompute.h"

namespace gpulua::cpu::simd {
namespace {

/// The first instruction of the function that does more than to compute.
llvm::Instruction* find_start(llvm::Function& function) {
  for (llvm::Instruction& instruction : function.getEntryBlock())
    if (instruction.isTerminator() || (instruction.mayHaveSideEffects() && marker(&instruction) == Marker::none))
      return &instruction;
  return nullptr;
}

/// The one value of a phi that does not come around a loop, or null.
llvm::Value* first_value(const llvm::PHINode& phi) {
  llvm::Value* first = nullptr;
  for (llvm::Value* incoming : phi.incoming_values()) {
    const auto* sum = llvm::dyn_cast<llvm::BinaryOperator>(incoming);
    if (sum != nullptr && llvm::is_contained(sum->operands(), &phi)) continue;
    if (first != nullptr && first != incoming) return nullptr;
    first = incoming;
  }
  return first;
}

/// The value that a thread has first, at the builder's place in the function's first block, or null.
llvm::Value* first_value(llvm::IRBuilder<>& builder, llvm::Value* value) {
  return recompute(builder, value, [&](llvm::Instruction& made) -> llvm::Value* {
    if (made.getParent() == builder.GetInsertBlock() && made.comesBefore(&*builder.GetInsertPoint())) return &made;
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(&made);
    return phi == nullptr ? nullptr : first_value(*phi);
  });
}

}  // namespace

void end_warps_with_rows(llvm::Function& function, llvm::ArrayRef<RowNumber> rows, unsigned least_width) {
  llvm::IRBuilder<> builder(find_start(function));
  llvm::Value* lanes = nullptr;
  for (const RowNumber& row : rows) {
    llvm::Value* number = first_value(builder, row.number);
    llvm::Value* width = number == nullptr ? nullptr : first_value(builder, row.width);
    if (width == nullptr) continue;
    llvm::Type* type = number->getType();
    llvm::Value* first = builder.CreateFreeze(call_marker(builder, Marker::first_lane, type, {number}));
    llvm::Value* known = builder.CreateFreeze(width);
    llvm::Value* least = llvm::ConstantInt::get(type, least_width);
    llvm::Value* wide = builder.CreateICmpSGE(known, least);
    known = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, known, least);
    // The quotient, as a copy of the region needs it, too.
    llvm::Value* left = builder.CreateAdd(builder.CreateMul(builder.CreateUDiv(first, known), known), known);
    left = builder.CreateSub(left, first);
    llvm::Value* all = llvm::ConstantInt::get(type, lane_count());
    left = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, builder.CreateSelect(wide, left, all), all);
    left = builder.CreateZExtOrTrunc(left, builder.getInt32Ty());
    lanes = lanes == nullptr ? left : builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, lanes, left);
  }
  if (lanes != nullptr) call_marker(builder, Marker::end_lanes, builder.getVoidTy(), {lanes});
}

}  // namespace gpulua::cpu::simd
