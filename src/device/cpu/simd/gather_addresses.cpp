#include "src/device/cpu/simd/gather_addresses.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/ir/collect.h"

namespace gpulua::cpu::simd {

void sink_gather_addresses(llvm::Function& function) {
  const auto is_access = [](const llvm::IntrinsicInst& call) {
    return call.getIntrinsicID() == llvm::Intrinsic::masked_gather ||
           call.getIntrinsicID() == llvm::Intrinsic::masked_scatter;
  };
  for (llvm::IntrinsicInst* access : collect<llvm::IntrinsicInst>(function, is_access)) {
    const unsigned position = access->getIntrinsicID() == llvm::Intrinsic::masked_gather ? 0 : 1;
    auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(access->getArgOperand(position));
    if (address == nullptr || address->getNumIndices() != 1) continue;
    if (address->getParent() != access->getParent()) {
      llvm::Instruction* copy = address->clone();
      copy->insertBefore(access->getIterator());
      access->setArgOperand(position, copy);
      address = llvm::cast<llvm::GetElementPtrInst>(copy);
    }
    auto* index = llvm::dyn_cast<llvm::CastInst>(address->getOperand(1));
    if (index == nullptr || !llvm::isa<llvm::SExtInst, llvm::ZExtInst>(index)) continue;
    const bool not_negative = llvm::isa<llvm::ZExtInst>(index) && index->hasNonNeg();
    const bool is_signed = llvm::isa<llvm::SExtInst>(index) || not_negative;
    if (index->getParent() == address->getParent() && !not_negative) continue;
    address->setOperand(1, llvm::CastInst::Create(is_signed ? llvm::Instruction::SExt : llvm::Instruction::ZExt,
                                                  index->getOperand(0), index->getType(), "", address->getIterator()));
  }
}

}  // namespace gpulua::cpu::simd
