#include "src/device/cpu/simd/widen_induction_loads.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <limits>

#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// Of 4 bytes each: as many as one permutation chooses from.
constexpr unsigned row_elements = 32;
constexpr unsigned lane_bytes = 4;
constexpr unsigned smallest_page = 4096;

}  // namespace

/// The induction variable that indexes the load's addresses; null if there is none.
const llvm::PHINode* InductionLoads::find_induction(const llvm::LoadInst& load) const {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getPointerOperand());
  const bool fits = load.isSimple() && (load.getType()->isFloatTy() || load.getType()->isIntegerTy(32)) &&
                    address != nullptr && address->getNumIndices() == 1 &&
                    warp_.is_uniform(address->getPointerOperand()) &&
                    warp_.layout().getTypeAllocSize(address->getSourceElementType()) == lane_bytes;
  if (!fits || lane_count() != warp_size || !has_feature(warp_.scalar_function(), "+avx512f")) return nullptr;
  const auto* counter = llvm::dyn_cast<llvm::PHINode>(address->getOperand(1));
  if (counter == nullptr || !warp_.is_varying(counter) || !counter->getType()->isIntegerTy(64)) return nullptr;
  const llvm::Loop* loop = divergence_.loops().getLoopFor(counter->getParent());
  if (loop == nullptr || loop->getHeader() != counter->getParent()) return nullptr;
  const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(counter->getIncomingValueForBlock(loop->getLoopLatch()));
  const bool steps = next != nullptr && next->getOpcode() == llvm::Instruction::Add && next->getOperand(0) == counter &&
                     llvm::isa<llvm::ConstantInt>(next->getOperand(1));
  return steps ? counter : nullptr;
}

std::vector<llvm::AllocaInst*> InductionLoads::prepare() {
  std::vector<llvm::AllocaInst*> variables;
  for (Block* block : divergence_.order())
    for (const llvm::Instruction& instruction : *block) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      const llvm::PHINode* counter = load == nullptr ? nullptr : find_induction(*load);
      if (counter == nullptr || inductions_.contains(counter)) continue;
      for (unsigned half = 0; half < 2; ++half) {
        auto slot = [&](llvm::Value* initial) {
          llvm::AllocaInst* made = warp_.entry().CreateAlloca(initial->getType(), nullptr, counter->getName());
          warp_.entry().CreateStore(initial, made);
          variables.push_back(made);
          return made;
        };
        llvm::Type* offsets = llvm::FixedVectorType::get(warp_.entry().getInt32Ty(), half_warp);
        inductions_[counter].slots[half] = {slot(llvm::PoisonValue::get(warp_.entry().getInt64Ty())),
                                            slot(llvm::PoisonValue::get(offsets)), slot(warp_.entry().getInt32(0))};
      }
    }
  return variables;
}

void InductionLoads::enter_header(const llvm::PHINode& counter) {
  Induction& induction = inductions_.at(&counter);
  for (unsigned half = 0; half < 2; ++half) {
    auto read = [&](llvm::AllocaInst* slot) { return builder_.CreateLoad(slot->getAllocatedType(), slot); };
    const auto& slots = induction.slots[half];
    induction.rows[half] = {read(slots.base), read(slots.offsets), read(slots.near)};
  }
}

void InductionLoads::pass_edge(const llvm::PHINode& counter, Block* from, llvm::Value* mask) {
  Induction& induction = inductions_.at(&counter);
  const llvm::Value* incoming = counter.getIncomingValueForBlock(from);
  if (divergence_.is_back_edge(from, counter.getParent())) {
    llvm::Value* step = llvm::cast<llvm::BinaryOperator>(incoming)->getOperand(1);
    for (unsigned half = 0; half < 2; ++half)
      builder_.CreateStore(builder_.CreateAdd(induction.rows[half].base, step), induction.slots[half].base);
    return;
  }
  for (unsigned half = 0; half < 2; ++half) {
    llvm::Value* lanes = warp_.half_of(mask, half);
    llvm::Value* starts = warp_.half_of(warp_.vector(incoming), half);
    auto splat = [&](llvm::Value* value) { return builder_.CreateVectorSplat(half_warp, value); };
    llvm::Value* most = builder_.getInt64(std::numeric_limits<std::int64_t>::max());
    llvm::Value* base =
        builder_.CreateIntMinReduce(builder_.CreateSelect(lanes, starts, splat(most)), /*IsSigned=*/true);
    llvm::Value* offsets = builder_.CreateSub(starts, splat(base));
    llvm::Value* far =
        builder_.CreateLogicalAnd(lanes, builder_.CreateICmpUGE(offsets, splat(builder_.getInt64(row_elements))));
    const auto& slots = induction.slots[half];
    builder_.CreateStore(base, slots.base);
    builder_.CreateStore(builder_.CreateTrunc(offsets, llvm::FixedVectorType::get(builder_.getInt32Ty(), half_warp)),
                         slots.offsets);
    builder_.CreateStore(builder_.CreateSelect(builder_.CreateOrReduce(far), builder_.getInt32(0),
                                               builder_.getInt32(0xffffu << half * half_warp)),
                         slots.near);
  }
}

/// Loads whole rows where they lie within one page: a page that one lane may read is readable.
llvm::Value* InductionLoads::load(const llvm::LoadInst& load) {
  const llvm::PHINode* counter = find_induction(load);
  if (counter == nullptr) return nullptr;
  const Induction& induction = inductions_.at(counter);
  const auto& address = llvm::cast<llvm::GetElementPtrInst>(*load.getPointerOperand());
  llvm::Value* array = warp_.scalar(address.getPointerOperand());
  const llvm::Align align = std::min(load.getAlign(), llvm::Align(lane_bytes));
  llvm::Type* half_type = llvm::FixedVectorType::get(load.getType(), half_warp);
  llvm::Value* halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    const auto& row = induction.rows[half];
    llvm::Value* place = builder_.CreateGEP(load.getType(), array, row.base);
    llvm::Value* in_page = builder_.CreateICmpULE(
        builder_.CreateAnd(builder_.CreatePtrToInt(place, builder_.getInt64Ty()), smallest_page - 1),
        builder_.getInt64(smallest_page - row_elements * lane_bytes));
    llvm::Value* near =
        builder_.CreateICmpNE(builder_.CreateAnd(warp_.bits_of(warp_.mask()), row.near), builder_.getInt32(0));
    auto together = [&] {
      llvm::Value* parts[2];
      for (unsigned i = 0; i < 2; ++i)
        parts[i] = builder_.CreateAlignedLoad(half_type,
                                              builder_.CreateConstGEP1_64(load.getType(), place, i * half_warp), align);
      return builder_.CreateIntrinsic(load.getType()->isFloatTy() ? llvm::Intrinsic::x86_avx512_vpermi2var_ps_512
                                                                  : llvm::Intrinsic::x86_avx512_vpermi2var_d_512,
                                      {}, {parts[0], row.offsets, parts[1]});
    };
    auto apart = [&] {
      llvm::Value* places =
          builder_.CreateGEP(load.getType(), array, warp_.half_of(warp_.vector(address.getOperand(1)), half));
      return builder_.CreateMaskedGather(half_type, places, align, warp_.half_of(warp_.mask(), half));
    };
    halves[half] = warp_.either(builder_.CreateAnd(near, in_page), together, apart);
  }
  return warp_.join_halves(builder_, halves[0], halves[1]);
}

}  // namespace gpulua::cpu::simd
