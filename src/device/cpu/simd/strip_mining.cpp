#include "src/device/cpu/simd/strip_mining.h"

#include <llvm/Analysis/AssumptionCache.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetLibraryInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include <algorithm>
#include <vector>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

constexpr std::int64_t element_bytes = 4;
constexpr std::int64_t strip_bytes = strip_length * element_bytes;
// Distance in private memory from one iteration's elements to the next one's.
constexpr std::int64_t iteration_bytes = warp_size * element_bytes;

constexpr std::size_t max_rows = 4;
constexpr unsigned max_loop_instructions = 200;

bool is_in_private_memory(const llvm::Value* address) {
  return marker(llvm::getUnderlyingObject(address)) == Marker::private_memory;
}

bool is_element(const llvm::Type* type) {
  return type->isFloatTy() || type->isIntegerTy(32);
}

/// A load or store of the loop, at start + iteration * step.
struct Access {
  llvm::Instruction* instruction;
  const llvm::SCEV* start = nullptr;  // null: unknown
  std::int64_t step = 0, bytes = 0;
  bool is_row = false;  // each lane walks along a row of its own, element by element
};

class StripMiner {
 public:
  StripMiner(llvm::Function& function, llvm::BasicBlock* header, const std::vector<llvm::Instruction*>& candidates)
      : function_(function),
        data_(function.getParent()->getDataLayout()),
        known_(llvm::Triple(function.getParent()->getTargetTriple())),
        library_(known_),
        assumptions_(function),
        dominators_(function),
        loops_(dominators_),
        evolution_(function, library_, assumptions_, dominators_, loops_),
        loop_(loops_.getLoopFor(header)),
        candidates_(candidates) {}

  /// False, and no change, if an iteration may load what an earlier one stored.
  bool run() {
    const llvm::SCEV* taken = evolution_.getBackedgeTakenCount(loop_);
    if (llvm::isa<llvm::SCEVCouldNotCompute>(taken) || taken->getType()->getIntegerBitWidth() > 64) return false;
    find_accesses();
    if (rows_.empty() || rows_.size() > max_rows || !find_pairs()) return false;
    llvm::BasicBlock* before = loop_->getLoopPreheader();
    llvm::SCEVExpander expander(evolution_, data_, "strip");
    auto expands = [&](const llvm::SCEV* value) { return expander.isSafeToExpandAt(value, before->getTerminator()); };
    for (const Access& access : accesses_)
      if ((access.is_row || !pairs_.empty()) && !expands(access.start)) return false;
    if (!expands(taken)) return false;

    llvm::IRBuilder<> builder(before->getTerminator());
    llvm::Value* more = expander.expandCodeFor(taken, taken->getType(), before->getTerminator());
    for (const Access& access : accesses_)
      if (access.is_row || !pairs_.empty())
        starts_[access.instruction] = expander.expandCodeFor(access.start, builder.getPtrTy(), before->getTerminator());
    iterations_ = builder.CreateAdd(builder.CreateZExt(more, builder.getInt64Ty()), builder.getInt64(1));
    strips_ = builder.CreateUDiv(iterations_, builder.getInt64(strip_length));
    llvm::Value* worth_it = builder.CreateICmpNE(strips_, builder.getInt64(0));
    if (!pairs_.empty()) worth_it = builder.CreateAnd(worth_it, are_apart(builder));
    rebuild(before, worth_it);
    return true;
  }

 private:
  void find_accesses() {
    for (llvm::BasicBlock* block : loop_->blocks())
      for (llvm::Instruction& instruction : *block) {
        llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
        if (address == nullptr || is_in_private_memory(address)) continue;
        Access access{&instruction};
        access.bytes =
            static_cast<std::int64_t>(data_.getTypeStoreSize(llvm::getLoadStoreType(&instruction)).getFixedValue());
        const llvm::SCEV* place = evolution_.getSCEV(address);
        if (const auto* walk = llvm::dyn_cast<llvm::SCEVAddRecExpr>(place);
            walk != nullptr && walk->getLoop() == loop_ && walk->isAffine()) {
          if (const auto* step = llvm::dyn_cast<llvm::SCEVConstant>(walk->getStepRecurrence(evolution_))) {
            access.start = walk->getStart();
            access.step = step->getAPInt().getSExtValue();
          }
        } else if (evolution_.isLoopInvariant(place, loop_)) {
          access.start = place;
        }
        access.is_row = access.start != nullptr && access.step == element_bytes &&
                        std::ranges::find(candidates_, &instruction) != candidates_.end();
        if (access.is_row) rows_.push_back(&instruction);
        accesses_.push_back(access);
      }
  }

  static bool is_store(const Access& access) { return llvm::isa<llvm::StoreInst>(access.instruction); }

  /// Finds the pairs of a store and another access. False if a store cannot be delayed.
  bool find_pairs() {
    for (const Access& store : accesses_) {
      if (!is_store(store)) continue;
      if (!store.is_row) return false;
      for (const Access& other : accesses_) {
        if (&other == &store || (is_store(other) && &other < &store)) continue;
        if (other.start == nullptr || other.step < 0) return false;
        pairs_.emplace_back(&store, &other);
      }
    }
    return true;
  }

  /// A condition: no lane loads within a strip what it stores in an earlier iteration.
  llvm::Value* are_apart(llvm::IRBuilder<>& builder) {
    llvm::Value* meets = builder.getFalse();
    auto number = [&](std::int64_t value) { return builder.getInt64(static_cast<std::uint64_t>(value)); };
    for (auto [store, other] : pairs_) {
      llvm::Value* distance =
          builder.CreateSub(builder.CreatePtrToInt(starts_.at(other->instruction), builder.getInt64Ty()),
                            builder.CreatePtrToInt(starts_.at(store->instruction), builder.getInt64Ty()));
      llvm::Value* meet;
      if (other->step == element_bytes && other->bytes == element_bytes) {
        meet = builder.CreateICmpULT(builder.CreateAdd(distance, number(strip_bytes - 1)), number(2 * strip_bytes - 1));
        // An iteration that loads an element before it stores to it loads nothing of another iteration.
        if (!is_store(*other) && dominators_.dominates(other->instruction, store->instruction))
          meet = builder.CreateAnd(meet, builder.CreateICmpNE(distance, number(0)));
      } else {
        llvm::Value* end = builder.CreateAdd(
            distance,
            builder.CreateAdd(builder.CreateMul(iterations_, number(other->step)), number(other->bytes - other->step)));
        meet =
            builder.CreateAnd(builder.CreateICmpSGT(end, number(0)),
                              builder.CreateICmpSLT(distance, builder.CreateMul(iterations_, number(element_bytes))));
      }
      meets = builder.CreateOr(meets, meet);
    }
    // For all lanes.
    auto* apart = llvm::cast<llvm::ICmpInst>(builder.Insert(new llvm::ICmpInst(
        llvm::ICmpInst::ICMP_EQ, builder.CreateZExt(meets, builder.getInt32Ty()), builder.getInt32(0))));
    return call_marker(builder, Marker::all_lanes, builder.getInt1Ty(), {apart});
  }

  llvm::Value* copied(llvm::Value* value) const {
    auto found = copies_.find(value);
    return found == copies_.end() ? value : static_cast<llvm::Value*>(found->second);
  }

  /// before -> strip -> copy of the loop, 16 iterations -> end -> strip or done; before or done -> rest -> the loop,
  /// for the remaining iterations.
  void rebuild(llvm::BasicBlock* before, llvm::Value* worth_it) {
    llvm::LLVMContext& context = function_.getContext();
    llvm::BasicBlock* latch = loop_->getLoopLatch();
    llvm::BasicBlock* exit = loop_->getExitBlock();
    llvm::BasicBlock* header = loop_->getHeader();
    llvm::BasicBlock* rest = llvm::SplitEdge(before, header, &dominators_, &loops_);
    auto* end = llvm::BasicBlock::Create(context, "strip.end", &function_, rest);
    auto* done = llvm::BasicBlock::Create(context, "strips.done", &function_, rest);
    llvm::SmallVector<llvm::BasicBlock*> blocks;
    llvm::cloneLoopWithPreheader(end, before, loop_, copies_, ".strip", &loops_, &dominators_, blocks);
    llvm::remapInstructionsInBlocks(blocks, copies_);
    llvm::BasicBlock* strip = blocks.front();
    auto* first = llvm::cast<llvm::BasicBlock>(copies_[header]);
    auto* last = llvm::cast<llvm::BasicBlock>(copies_[latch]);

    llvm::ReplaceInstWithInst(before->getTerminator(), llvm::BranchInst::Create(strip, rest, worth_it));
    llvm::IRBuilder<> builder(strip, strip->begin());
    llvm::PHINode* number = builder.CreatePHI(builder.getInt64Ty(), 2, "strip");
    number->addIncoming(builder.getInt64(0), before);
    for (llvm::PHINode& phi : header->phis()) {
      llvm::Value* initial = phi.getIncomingValueForBlock(rest);
      llvm::Value* next = copied(phi.getIncomingValueForBlock(latch));
      builder.SetInsertPoint(strip, strip->begin());
      llvm::PHINode* carried = builder.CreatePHI(phi.getType(), 2);
      carried->addIncoming(initial, before);
      carried->addIncoming(next, end);
      llvm::cast<llvm::PHINode>(copies_[&phi])->setIncomingValueForBlock(strip, carried);
      builder.SetInsertPoint(rest, rest->begin());
      llvm::PHINode* left = builder.CreatePHI(phi.getType(), 2);
      left->addIncoming(initial, before);
      left->addIncoming(next, done);
      phi.setIncomingValueForBlock(rest, left);
    }

    builder.SetInsertPoint(first, first->begin());
    llvm::PHINode* iteration = builder.CreatePHI(builder.getInt64Ty(), 2, "iteration");
    last->getTerminator()->eraseFromParent();
    builder.SetInsertPoint(last);
    llvm::Value* next_iteration = builder.CreateAdd(iteration, builder.getInt64(1));
    builder.CreateCondBr(builder.CreateICmpULT(next_iteration, builder.getInt64(strip_length)), first, end);
    iteration->addIncoming(builder.getInt64(0), strip);
    iteration->addIncoming(next_iteration, last);

    llvm::IRBuilder<> entry(&function_.getEntryBlock(), function_.getEntryBlock().begin());
    llvm::IRBuilder<> before_strip(strip->getTerminator()), behind_strip(end);
    for (llvm::Instruction* access : rows_) {
      llvm::CallInst* own = call_private_memory(entry, strip_bytes, element_bytes);
      const bool stores = llvm::isa<llvm::StoreInst>(access);
      llvm::IRBuilder<>& outside = stores ? behind_strip : before_strip;
      llvm::Value* place = outside.CreateGEP(outside.getInt8Ty(), starts_.at(access),
                                             outside.CreateMul(number, outside.getInt64(strip_bytes)));
      call_marker(outside, stores ? Marker::store_strip : Marker::load_strip, outside.getVoidTy(), {own, place});
      auto* inside = llvm::cast<llvm::Instruction>(copies_[access]);
      builder.SetInsertPoint(inside);
      llvm::Value* element =
          builder.CreateGEP(builder.getInt8Ty(), own, builder.CreateMul(iteration, builder.getInt64(iteration_bytes)));
      inside->setOperand(stores ? llvm::StoreInst::getPointerOperandIndex() : llvm::LoadInst::getPointerOperandIndex(),
                         element);
    }

    llvm::Value* next_strip = behind_strip.CreateAdd(number, behind_strip.getInt64(1));
    number->addIncoming(next_strip, end);
    behind_strip.CreateCondBr(behind_strip.CreateICmpULT(next_strip, strips_), strip, done);
    builder.SetInsertPoint(done);
    llvm::Value* left = builder.CreateAnd(iterations_, builder.getInt64(strip_length - 1));
    builder.CreateCondBr(builder.CreateICmpNE(left, builder.getInt64(0)), rest, exit);
    for (llvm::PHINode& phi : exit->phis()) phi.addIncoming(copied(phi.getIncomingValueForBlock(latch)), done);
  }

  llvm::Function& function_;
  const llvm::DataLayout& data_;
  llvm::TargetLibraryInfoImpl known_;
  llvm::TargetLibraryInfo library_;
  llvm::AssumptionCache assumptions_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::ScalarEvolution evolution_;
  llvm::Loop* loop_;
  const std::vector<llvm::Instruction*>& candidates_;
  std::vector<Access> accesses_;
  std::vector<llvm::Instruction*> rows_;
  std::vector<std::pair<const Access*, const Access*>> pairs_;
  std::map<const llvm::Instruction*, llvm::Value*> starts_;
  llvm::Value *iterations_ = nullptr, *strips_ = nullptr;
  llvm::ValueToValueMapTy copies_;
};

/// Accesses by which each lane may walk along a row. None if the loop has several exits, inner loops, calls that touch
/// memory, or lanes that leave it in different iterations.
std::vector<llvm::Instruction*> find_candidates(const llvm::Loop& loop, const Divergence& divergence,
                                                const LanePatterns& patterns) {
  const llvm::BasicBlock* latch = loop.getLoopLatch();
  std::vector<llvm::Instruction*> found;
  if (!loop.isInnermost() || loop.getExitingBlock() != latch || divergence.diverges(&loop)) return {};
  unsigned size = 0;
  for (llvm::BasicBlock* block : loop.blocks())
    for (llvm::Instruction& instruction : *block) {
      if (++size > max_loop_instructions) return {};
      const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
      if (address == nullptr) {
        if (instruction.mayReadOrWriteMemory()) return {};
        continue;
      }
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
      if (!(load != nullptr ? load->isSimple() : llvm::cast<llvm::StoreInst>(instruction).isSimple())) return {};
      if (patterns(address).is_varying() && is_element(llvm::getLoadStoreType(&instruction)) &&
          divergence.dominators().dominates(block, latch) && !is_in_private_memory(address))
        found.push_back(&instruction);
    }
  return found;
}

}  // namespace

bool strip_mine(llvm::Function& function, WarpLayout layout) {
  std::vector<std::pair<llvm::BasicBlock*, std::vector<llvm::Instruction*>>> found;
  {
    Divergence divergence(function);
    if (divergence.loops().empty()) return false;
    const LanePatterns patterns(function, divergence, layout);
    for (const llvm::Loop* loop : divergence.loops().getLoopsInPreorder())
      if (std::vector<llvm::Instruction*> rows = find_candidates(*loop, divergence, patterns); !rows.empty())
        found.emplace_back(loop->getHeader(), std::move(rows));
  }
  bool changed = false;
  for (const auto& [header, rows] : found) changed = StripMiner(function, header, rows).run() || changed;
  return changed;
}

}  // namespace gpulua::cpu::simd
