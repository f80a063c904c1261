// Walks: counters of loops that each lane steps alike, from a start of its own, so the lanes stay as far apart as they
// were. Where those of half a warp start near each other, what they read in a turn is a short row of memory, out of
// which a permutation takes the lanes' elements faster than a gather would.

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <limits>

#include "src/device/cpu/simd/target.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// Of 4 bytes each: as many as one permutation chooses from.
constexpr unsigned row_elements = 32;
constexpr unsigned element_bytes = 4;
constexpr unsigned page_bytes = 4096;

}  // namespace

/// The counter of the walk that the load's addresses follow; null where they follow none.
const llvm::PHINode* Widener::find_induction(const llvm::LoadInst& load) const {
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getPointerOperand());
  const bool fits = load.isSimple() && (load.getType()->isFloatTy() || load.getType()->isIntegerTy(32)) &&
                    address != nullptr && address->getNumIndices() == 1 && is_uniform(address->getPointerOperand()) &&
                    layout_.getTypeAllocSize(address->getSourceElementType()) == element_bytes;
  if (!fits || !has_feature(from_, "+avx512f")) return nullptr;
  const auto* counter = llvm::dyn_cast<llvm::PHINode>(address->getOperand(1));
  if (counter == nullptr || !is_varying(counter) || !counter->getType()->isIntegerTy(64)) return nullptr;
  const llvm::Loop* loop = divergence_.loops().getLoopFor(counter->getParent());
  if (loop == nullptr || loop->getHeader() != counter->getParent()) return nullptr;
  const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(counter->getIncomingValueForBlock(loop->getLoopLatch()));
  const bool steps = next != nullptr && next->getOpcode() == llvm::Instruction::Add && next->getOperand(0) == counter &&
                     llvm::isa<llvm::ConstantInt>(next->getOperand(1));
  return steps ? counter : nullptr;
}

void Widener::make_inductions() {
  for (Block* block : divergence_.order())
    for (const llvm::Instruction& instruction : *block) {
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      const llvm::PHINode* counter = load == nullptr ? nullptr : find_induction(*load);
      if (counter == nullptr || inductions_.contains(counter)) continue;
      for (unsigned half = 0; half < 2; ++half) {
        auto slot = [&](llvm::Value* initial) {
          Slot* made = entry_.CreateAlloca(initial->getType(), nullptr, counter->getName());
          entry_.CreateStore(initial, made);
          slots_.push_back(made);
          return made;
        };
        llvm::Type* offsets = llvm::FixedVectorType::get(entry_.getInt32Ty(), half_warp);
        inductions_[counter].slots[half] = {slot(llvm::PoisonValue::get(entry_.getInt64Ty())),
                                            slot(llvm::PoisonValue::get(offsets)), slot(entry_.getInt32(0))};
      }
    }
}

/// At the start of the loop's header.
void Widener::read_induction(Induction& walk) {
  for (unsigned half = 0; half < 2; ++half) {
    auto read = [&](Slot* slot) { return builder_.CreateLoad(slot->getAllocatedType(), slot); };
    const auto& slots = walk.slots[half];
    walk.rows[half] = {read(slots.base), read(slots.offsets), read(slots.near)};
  }
}

/// What the edge into the loop's header brings, with the counter.
void Widener::pass_induction(const llvm::PHINode& counter, Block* from, llvm::Value* mask) {
  Induction& walk = inductions_.at(&counter);
  const llvm::Value* incoming = counter.getIncomingValueForBlock(from);
  if (divergence_.is_back_edge(from, counter.getParent())) {
    llvm::Value* step = llvm::cast<llvm::BinaryOperator>(incoming)->getOperand(1);
    for (unsigned half = 0; half < 2; ++half)
      builder_.CreateStore(builder_.CreateAdd(walk.rows[half].base, step), walk.slots[half].base);
    return;
  }
  for (unsigned half = 0; half < 2; ++half) {
    llvm::Value* lanes = half_of(mask, half);
    llvm::Value* starts = half_of(vector(incoming), half);
    auto splat = [&](llvm::Value* value) { return builder_.CreateVectorSplat(half_warp, value); };
    llvm::Value* most = builder_.getInt64(std::numeric_limits<std::int64_t>::max());
    llvm::Value* base =
        builder_.CreateIntMinReduce(builder_.CreateSelect(lanes, starts, splat(most)), /*IsSigned=*/true);
    llvm::Value* offsets = builder_.CreateSub(starts, splat(base));
    llvm::Value* far =
        builder_.CreateLogicalAnd(lanes, builder_.CreateICmpUGE(offsets, splat(builder_.getInt64(row_elements))));
    const auto& slots = walk.slots[half];
    builder_.CreateStore(base, slots.base);
    builder_.CreateStore(builder_.CreateTrunc(offsets, llvm::FixedVectorType::get(builder_.getInt32Ty(), half_warp)),
                         slots.offsets);
    builder_.CreateStore(builder_.CreateSelect(builder_.CreateOrReduce(far), builder_.getInt32(0),
                                               builder_.getInt32(0xffffu << half * half_warp)),
                         slots.near);
  }
}

/// A row that lies within a page can be read whole if a lane reads any of it.
llvm::Value* Widener::emit_induction_load(const llvm::LoadInst& load, const Induction& walk) {
  const auto& address = llvm::cast<llvm::GetElementPtrInst>(*load.getPointerOperand());
  llvm::Value* array = scalar(address.getPointerOperand());
  const llvm::Align align = std::min(load.getAlign(), llvm::Align(element_bytes));
  llvm::Type* half_type = llvm::FixedVectorType::get(load.getType(), half_warp);
  llvm::Value* halves[2];
  for (unsigned half = 0; half < 2; ++half) {
    const auto& row = walk.rows[half];
    llvm::Value* place = builder_.CreateGEP(load.getType(), array, row.base);
    llvm::Value* in_page = builder_.CreateICmpULE(
        builder_.CreateAnd(builder_.CreatePtrToInt(place, builder_.getInt64Ty()), page_bytes - 1),
        builder_.getInt64(page_bytes - row_elements * element_bytes));
    llvm::Value* near = builder_.CreateICmpNE(builder_.CreateAnd(bits_of(mask()), row.near), builder_.getInt32(0));
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
      llvm::Value* places = builder_.CreateGEP(load.getType(), array, half_of(vector(address.getOperand(1)), half));
      return builder_.CreateMaskedGather(half_type, places, align, half_of(mask(), half));
    };
    halves[half] = emit_either(builder_.CreateAnd(near, in_page), together, apart);
  }
  return join_halves(builder_, halves[0], halves[1]);
}

}  // namespace gpulua::cpu::simd
