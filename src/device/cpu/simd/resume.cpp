#include "src/device/cpu/simd/resume.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/SSAUpdater.h>

#include <map>
#include <set>
#include <vector>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/block_values.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// gpulua_warps.h: WarpFrame.
constexpr std::uint64_t state_offset = 0;
constexpr std::uint64_t predicates_offset = 4;
constexpr std::uint64_t sum_offset = 8;  // a pointer
constexpr std::uint64_t header_bytes = 64;
constexpr std::uint64_t block_header_bytes = 8;
constexpr unsigned state_done = ~0u;

// A value made of no more than so many instructions is made again rather than kept.
constexpr unsigned most_made_again = 8;

std::vector<llvm::CallInst*> find_calls(llvm::Function& function, const char* name) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call != nullptr && call->getCalledFunction() != nullptr && call->getCalledFunction()->getName() == name)
      calls.push_back(call);
  return calls;
}

/// A barrier: the call, which ends its block, and the block that goes on behind it.
struct Stop {
  llvm::CallInst* arrival;
  llvm::BasicBlock* behind;
};

/// In the frame of the block, if `once`, or in that of each warp.
struct Place {
  std::uint64_t offset;
  bool once;
};

class Splitter {
 public:
  Splitter(llvm::Function& function, const std::vector<llvm::CallInst*>& arrivals, const BlockValues* in_step)
      : function_(function),
        layout_(function.getParent()->getDataLayout()),
        in_step_(in_step),
        first_(&function.getEntryBlock()) {
    entry_ = llvm::BasicBlock::Create(function.getContext(), "enter", &function, first_);
    llvm::IRBuilder<> builder(entry_);
    frame_ = context_field(builder, function_.getArg(0), offsetof(ThreadContext, fiber), builder.getPtrTy());
    now_ = in_step == nullptr ? frame_ : call_block_frame(builder, false);
    next_ = in_step == nullptr ? frame_ : call_block_frame(builder, true);
    builder.CreateBr(first_);
    for (llvm::CallInst* arrival : arrivals) {
      counts_predicates_ = counts_predicates_ || !arrival->use_empty();
      arrival->setArgOperand(0, builder.getInt32(0));  // all that are there arrive
      llvm::BasicBlock* before = arrival->getParent();
      llvm::BasicBlock* behind = before->splitBasicBlock(std::next(arrival->getIterator()), "behind");
      stops_.push_back({arrival, behind});
      if (arrival->use_empty()) continue;
      builder.SetInsertPoint(behind, behind->begin());
      llvm::Value* sum = in_step == nullptr ? builder.CreateLoad(builder.getPtrTy(), at(builder, frame_, sum_offset))
                                            : at(builder, now_, predicates_offset);
      arrival->replaceAllUsesWith(builder.CreateLoad(builder.getInt32Ty(), sum));
    }
    dominators_.recalculate(function);
    loops_.analyze(dominators_);
  }

  /// The values that are needed behind a barrier, and where they will be kept.
  Frames lay_out() {
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (instruction.getParent() == entry_) continue;
      if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        variables_.push_back(memory);
        place(*memory, memory->getAllocationSize(layout_)->getFixedValue(), memory->getAlign(), false);
        continue;
      }
      std::vector<Stop*> needed = stops_behind_which_live(instruction);
      if (needed.empty()) continue;
      kept_.push_back({&instruction, needed});
      if (unsigned count = 0; can_be_made_again(instruction, count)) continue;
      llvm::Type* type = instruction.getType();
      const bool once = in_step_ != nullptr && in_step_->is_alike(instruction);
      place(instruction, layout_.getTypeStoreSize(type).getFixedValue(), layout_.getPrefTypeAlign(type), once);
    }
    return {llvm::alignTo(bytes_, header_bytes), llvm::alignTo(block_bytes_, header_bytes)};
  }

  void split() {
    move_memory_into_frame();
    llvm::IRBuilder<> builder(entry_->getTerminator());
    llvm::Value* state = builder.CreateLoad(builder.getInt32Ty(), at(builder, now_, state_offset));
    llvm::SwitchInst* where = builder.CreateSwitch(state, first_, static_cast<unsigned>(stops_.size()));
    entry_->getTerminator()->eraseFromParent();
    for (const Kept& kept : kept_) keep(kept);
    for (unsigned i = 0; i < stops_.size(); ++i) {
      cut(stops_[i], i + 1);
      where->addCase(builder.getInt32(i + 1), stops_[i].behind);
    }
    for (Kept& kept : kept_) restore(kept);
    for (const Kept& kept : kept_) use_restored(kept);
    for (llvm::BasicBlock& block : function_)
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
          end != nullptr && !pauses_.contains(end)) {
        llvm::IRBuilder<> at_end(end);
        at_end.CreateStore(at_end.getInt32(state_done), at(at_end, next_, state_offset));
      }
    // From now on a context serves one block after another.
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      instruction.setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
  }

 private:
  struct Kept {
    llvm::Instruction* value;
    std::vector<Stop*> needed;
    std::vector<llvm::Value*> restored{};  // at these
  };

  /// `once`: for the block.
  void place(llvm::Instruction& value, std::uint64_t bytes, llvm::Align align, bool once) {
    std::uint64_t& end = once ? block_bytes_ : bytes_;
    end = llvm::alignTo(end, align);
    places_[&value] = {end, once};
    end += bytes;
  }

  llvm::Value* call_block_frame(llvm::IRBuilder<>& builder, bool next) {
    llvm::FunctionCallee function = function_.getParent()->getOrInsertFunction(
        block_frame_function, llvm::FunctionType::get(builder.getPtrTy(), {builder.getInt1Ty()}, false));
    return builder.CreateCall(function, {builder.getInt1(next)});
  }

  std::vector<Stop*> stops_behind_which_live(llvm::Instruction& value) {
    std::set<llvm::BasicBlock*> live;  // at the block's start
    std::vector<llvm::BasicBlock*> pending;
    auto need_at = [&](llvm::BasicBlock* block) {
      if (block != value.getParent() && live.insert(block).second) pending.push_back(block);
    };
    for (llvm::Use& use : value.uses()) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
      need_at(phi == nullptr ? user->getParent() : phi->getIncomingBlock(use));
    }
    while (!pending.empty()) {
      llvm::BasicBlock* block = pending.back();
      pending.pop_back();
      for (llvm::BasicBlock* before : llvm::predecessors(block)) need_at(before);
    }
    std::vector<Stop*> result;
    for (Stop& stop : stops_)
      if (live.contains(stop.behind)) result.push_back(&stop);
    return result;
  }

  /// From arguments, constants and the context alone, by a few cheap instructions.
  bool can_be_made_again(const llvm::Value& value, unsigned& count) const {
    if (llvm::isa<llvm::Constant, llvm::Argument, llvm::AllocaInst>(value)) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (instruction == nullptr || ++count > most_made_again) return false;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    const bool cheap = llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst,
                                 llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction) ||
                       (llvm::isa<llvm::BinaryOperator>(instruction) && !instruction->isIntDivRem() &&
                        instruction->getOpcode() != llvm::Instruction::FDiv) ||
                       (load != nullptr && reads_context(*load));
    return cheap && std::all_of(instruction->op_begin(), instruction->op_end(),
                                [&](const llvm::Use& operand) { return can_be_made_again(*operand, count); });
  }

  /// Nothing of a context changes while its warp runs.
  bool reads_context(const llvm::LoadInst& load) const {
    llvm::APInt offset(64, 0);
    return load.getPointerOperand()->stripAndAccumulateConstantOffsets(layout_, offset, true) == function_.getArg(0);
  }

  llvm::Value* make_again(llvm::IRBuilder<>& builder, llvm::Value* value) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr || instruction->getParent() == entry_) return value;
    llvm::Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) operand.set(make_again(builder, operand));
    return builder.Insert(copy, value->getName());
  }

  llvm::Value* at(llvm::IRBuilder<>& builder, llvm::Value* frame, std::uint64_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), frame, offset);
  }
  llvm::Value* read_at(llvm::IRBuilder<>& builder, const Place& place) {
    return at(builder, place.once ? now_ : frame_, place.offset);
  }
  llvm::Value* write_at(llvm::IRBuilder<>& builder, const Place& place) {
    return at(builder, place.once ? next_ : frame_, place.offset);
  }

  void move_memory_into_frame() {
    llvm::IRBuilder<> builder(entry_->getTerminator());
    for (llvm::AllocaInst* variable : variables_) {
      for (llvm::User* user : llvm::make_early_inc_range(variable->users()))
        if (auto* mark = llvm::cast<llvm::Instruction>(user); mark->isLifetimeStartOrEnd()) mark->eraseFromParent();
      variable->replaceAllUsesWith(read_at(builder, places_.at(variable)));
      variable->eraseFromParent();
    }
  }

  /// Where it is made; or, where that is in a loop without the barriers, at the barriers.
  void keep(const Kept& kept) {
    auto place = places_.find(kept.value);
    if (place == places_.end()) return;
    auto store_before = [&](llvm::BasicBlock::iterator position, llvm::BasicBlock* block) {
      llvm::IRBuilder<> builder(block, position);
      builder.CreateStore(kept.value, write_at(builder, place->second));
    };
    llvm::BasicBlock* home = kept.value->getParent();
    const unsigned depth = loops_.getLoopDepth(home);
    const bool at_stops = std::all_of(kept.needed.begin(), kept.needed.end(), [&](const Stop* stop) {
      return loops_.getLoopDepth(stop->arrival->getParent()) < depth;
    });
    if (at_stops) {
      for (const Stop* stop : kept.needed) store_before(stop->arrival->getIterator(), stop->arrival->getParent());
    } else {
      store_before(
          llvm::isa<llvm::PHINode>(kept.value) ? home->getFirstInsertionPt() : std::next(kept.value->getIterator()),
          home);
    }
  }

  /// The way through the barrier becomes a way out of the function.
  void cut(const Stop& stop, unsigned state) {
    llvm::Instruction* way = stop.arrival->getParent()->getTerminator();
    llvm::IRBuilder<> builder(way);
    builder.CreateStore(builder.getInt32(state), at(builder, next_, state_offset));
    if (counts_predicates_) {
      llvm::Value* place = at(builder, next_, predicates_offset);
      llvm::Value* predicates = stop.arrival->getArgOperand(1);
      if (in_step_ != nullptr)
        predicates = builder.CreateAdd(predicates, builder.CreateLoad(builder.getInt32Ty(), place));
      builder.CreateStore(predicates, place);
    }
    pauses_.insert(builder.CreateRetVoid());
    way->eraseFromParent();
    stop.arrival->eraseFromParent();
  }

  /// At the start of each block behind a barrier that needs it.
  void restore(Kept& kept) {
    auto place = places_.find(kept.value);
    for (const Stop* stop : kept.needed) {
      llvm::IRBuilder<> builder(stop->behind, stop->behind->begin());
      kept.restored.push_back(place == places_.end()
                                  ? make_again(builder, kept.value)
                                  : builder.CreateLoad(kept.value->getType(), read_at(builder, place->second)));
    }
  }

  void use_restored(const Kept& kept) {
    std::vector<llvm::Use*> uses;
    for (llvm::Use& use : kept.value->uses()) uses.push_back(&use);
    llvm::SSAUpdater updater;
    updater.Initialize(kept.value->getType(), kept.value->getName());
    updater.AddAvailableValue(kept.value->getParent(), kept.value);
    for (unsigned i = 0; i < kept.needed.size(); ++i)
      updater.AddAvailableValue(kept.needed[i]->behind, kept.restored[i]);
    for (llvm::Use* use : uses) {
      auto* user = llvm::cast<llvm::Instruction>(use->getUser());
      if (user->getParent() != kept.value->getParent() || llvm::isa<llvm::PHINode>(user))
        updater.RewriteUseAfterInsertions(*use);
    }
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  const BlockValues* in_step_;
  llvm::BasicBlock* first_;
  llvm::BasicBlock* entry_;  // ahead of it
  llvm::Value* frame_;
  llvm::Value *now_, *next_;  // of the block, as it was before this turn and will be behind it; else the warp's
  bool counts_predicates_ = false;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<Stop> stops_;
  std::vector<Kept> kept_;
  std::vector<llvm::AllocaInst*> variables_;
  std::map<const llvm::Instruction*, Place> places_;  // of kept_ and of variables_; never iterated
  std::uint64_t bytes_ = header_bytes, block_bytes_ = block_header_bytes;
  std::set<llvm::ReturnInst*> pauses_;
};

}  // namespace

std::optional<Frames> make_resumable(llvm::Function& widened, std::uint64_t most_bytes, const BlockValues* in_step) {
  // Whose turn it is tells who is still there.
  for (llvm::CallInst* call : find_calls(widened, leave_function)) call->eraseFromParent();
  Splitter splitter(widened, find_calls(widened, arrive_function), in_step);
  const Frames frames = splitter.lay_out();
  if (frames.warp_bytes > most_bytes) return std::nullopt;
  splitter.split();
  return frames;
}

void call_barrier_services(llvm::Function& widened) {
  for (auto [name, offset] : {std::pair{arrive_function, offsetof(Services, barrier)},
                              std::pair{leave_function, offsetof(Services, leave)}}) {
    for (llvm::CallInst* call : find_calls(widened, name)) {
      llvm::IRBuilder<> builder(call);
      std::vector<llvm::Value*> arguments{widened.getArg(0)};
      arguments.insert(arguments.end(), call->arg_begin(), call->arg_end());
      call->replaceAllUsesWith(call_service(builder, offset, call->getType(), arguments));
      call->eraseFromParent();
    }
  }
}

}  // namespace gpulua::cpu::simd
