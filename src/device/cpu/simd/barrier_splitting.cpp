#include "src/device/cpu/simd/barrier_splitting.h"

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
#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/simd/block_uniformity.h"
#include "src/device/cpu/simd/runtime_calls.h"

namespace gpulua::cpu::simd {
namespace {

// gpulua_warps.h: gpulua_warp_frame and gpulua_block_state.
constexpr std::uint64_t state_offset = 0;
constexpr std::uint64_t predicates_offset = 4;
constexpr std::uint64_t sum_offset = 8;  // a pointer
constexpr std::uint64_t header_bytes = 64;
constexpr std::uint64_t block_header_bytes = 8;
constexpr unsigned state_done = ~0u;

// Values of at most this many instructions are recomputed after a barrier instead of stored.
constexpr unsigned max_rematerialised = 8;

std::vector<llvm::CallInst*> find_calls(llvm::Function& function, const char* name) {
  return collect<llvm::CallInst>(function, [name](const llvm::CallInst& call) {
    return call.getCalledFunction() != nullptr && call.getCalledFunction()->getName() == name;
  });
}

/// A barrier: the call, which ends its block, and the block that follows it.
struct Suspension {
  llvm::CallInst* arrival;
  llvm::BasicBlock* resume;
};

/// A place in the frame of the block, if `per_block`, or else in the frame of each warp.
struct FrameSlot {
  std::uint64_t offset;
  bool per_block;
};

class BarrierSplitter {
 public:
  BarrierSplitter(llvm::Function& function, const std::vector<llvm::CallInst*>& arrivals,
                  const BlockUniformity* uniformity)
      : function_(function),
        layout_(function.getParent()->getDataLayout()),
        uniformity_(uniformity),
        first_(&function.getEntryBlock()) {
    entry_ = llvm::BasicBlock::Create(function.getContext(), "enter", &function, first_);
    llvm::IRBuilder<> builder(entry_);
    frame_ = context_field(builder, function_.getArg(0), offsetof(ThreadContext, fiber), builder.getPtrTy());
    current_ = uniformity == nullptr ? frame_ : call_block_frame(builder, false);
    next_ = uniformity == nullptr ? frame_ : call_block_frame(builder, true);
    builder.CreateBr(first_);
    for (llvm::CallInst* arrival : arrivals) {
      counts_predicates_ = counts_predicates_ || !arrival->use_empty();
      arrival->setArgOperand(0, builder.getInt32(0));  // all lanes of the warp that have not left
      llvm::BasicBlock* before = arrival->getParent();
      llvm::BasicBlock* resume = before->splitBasicBlock(std::next(arrival->getIterator()), "after");
      suspensions_.push_back({arrival, resume});
      if (arrival->use_empty()) continue;
      builder.SetInsertPoint(resume, resume->begin());
      llvm::Value* sum = uniformity == nullptr ? builder.CreateLoad(builder.getPtrTy(), at(builder, frame_, sum_offset))
                                               : at(builder, current_, predicates_offset);
      arrival->replaceAllUsesWith(builder.CreateLoad(builder.getInt32Ty(), sum));
    }
    dominators_.recalculate(function);
    loops_.analyze(dominators_);
  }

  /// Finds the values that live across barriers and gives them slots.
  FrameSizes lay_out() {
    for (llvm::Instruction& instruction : llvm::instructions(function_)) {
      if (instruction.getParent() == entry_) continue;
      if (auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
        variables_.push_back(memory);
        allocate_slot(*memory, memory->getAllocationSize(layout_)->getFixedValue(), memory->getAlign(), false);
        continue;
      }
      std::vector<Suspension*> crossed = suspensions_crossed_by(instruction);
      if (crossed.empty()) continue;
      live_values_.push_back({&instruction, crossed});
      if (unsigned count = 0; can_rematerialise(instruction, count)) continue;
      llvm::Type* type = instruction.getType();
      const bool per_block = uniformity_ != nullptr && uniformity_->is_block_uniform(instruction);
      allocate_slot(instruction, layout_.getTypeStoreSize(type).getFixedValue(), layout_.getPrefTypeAlign(type),
                    per_block);
    }
    return {llvm::alignTo(bytes_, header_bytes), llvm::alignTo(block_bytes_, header_bytes)};
  }

  void split() {
    move_memory_into_frame();
    llvm::IRBuilder<> builder(entry_->getTerminator());
    llvm::Value* state = builder.CreateLoad(builder.getInt32Ty(), at(builder, current_, state_offset));
    llvm::SwitchInst* where = builder.CreateSwitch(state, first_, static_cast<unsigned>(suspensions_.size()));
    entry_->getTerminator()->eraseFromParent();
    for (const LiveValue& live : live_values_) spill(live);
    for (unsigned i = 0; i < suspensions_.size(); ++i) {
      suspend(suspensions_[i], i + 1);
      where->addCase(builder.getInt32(i + 1), suspensions_[i].resume);
    }
    for (LiveValue& live : live_values_) reload(live);
    for (const LiveValue& live : live_values_) use_reloaded(live);
    for (llvm::BasicBlock& block : function_)
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator());
          end != nullptr && !suspending_returns_.contains(end)) {
        llvm::IRBuilder<> at_end(end);
        at_end.CreateStore(at_end.getInt32(state_done), at(at_end, next_, state_offset));
      }
    // The function is about to be inlined into a loop in which one context serves one block after another.
    for (llvm::Instruction& instruction : llvm::instructions(function_))
      instruction.setMetadata(llvm::LLVMContext::MD_invariant_load, nullptr);
  }

 private:
  struct LiveValue {
    llvm::Instruction* value;
    std::vector<Suspension*> crossed;
    std::vector<llvm::Value*> reloaded{};  // at each of them
  };

  void allocate_slot(llvm::Instruction& value, std::uint64_t bytes, llvm::Align align, bool per_block) {
    std::uint64_t& end = per_block ? block_bytes_ : bytes_;
    end = llvm::alignTo(end, align);
    slots_[&value] = {end, per_block};
    end += bytes;
  }

  llvm::Value* call_block_frame(llvm::IRBuilder<>& builder, bool next) {
    llvm::FunctionCallee function = function_.getParent()->getOrInsertFunction(
        block_frame_function, llvm::FunctionType::get(builder.getPtrTy(), {builder.getInt1Ty()}, false));
    return builder.CreateCall(function, {builder.getInt1(next)});
  }

  std::vector<Suspension*> suspensions_crossed_by(llvm::Instruction& value) {
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
    std::vector<Suspension*> result;
    for (Suspension& suspension : suspensions_)
      if (live.contains(suspension.resume)) result.push_back(&suspension);
    return result;
  }

  /// True for a few cheap instructions on arguments, constants and the context.
  bool can_rematerialise(const llvm::Value& value, unsigned& count) const {
    if (llvm::isa<llvm::Constant, llvm::Argument, llvm::AllocaInst>(value)) return true;
    const auto* instruction = llvm::dyn_cast<llvm::Instruction>(&value);
    if (instruction == nullptr || ++count > max_rematerialised) return false;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(instruction);
    const bool cheap = llvm::isa<llvm::CastInst, llvm::GetElementPtrInst, llvm::CmpInst, llvm::SelectInst,
                                 llvm::InsertElementInst, llvm::ShuffleVectorInst>(instruction) ||
                       (llvm::isa<llvm::BinaryOperator>(instruction) && !instruction->isIntDivRem() &&
                        instruction->getOpcode() != llvm::Instruction::FDiv) ||
                       (load != nullptr && reads_context(*load));
    return cheap && std::all_of(instruction->op_begin(), instruction->op_end(),
                                [&](const llvm::Use& operand) { return can_rematerialise(*operand, count); });
  }

  /// A context does not change while its warp runs.
  bool reads_context(const llvm::LoadInst& load) const {
    return context_offset(load.getPointerOperand(), function_).has_value();
  }

  llvm::Value* rematerialise(llvm::IRBuilder<>& builder, llvm::Value* value) {
    auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
    if (instruction == nullptr || instruction->getParent() == entry_) return value;
    llvm::Instruction* copy = instruction->clone();
    for (llvm::Use& operand : copy->operands()) operand.set(rematerialise(builder, operand));
    return builder.Insert(copy, value->getName());
  }

  llvm::Value* at(llvm::IRBuilder<>& builder, llvm::Value* frame, std::uint64_t offset) {
    return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), frame, offset);
  }
  llvm::Value* read_at(llvm::IRBuilder<>& builder, const FrameSlot& slot) {
    return at(builder, slot.per_block ? current_ : frame_, slot.offset);
  }
  llvm::Value* write_at(llvm::IRBuilder<>& builder, const FrameSlot& slot) {
    return at(builder, slot.per_block ? next_ : frame_, slot.offset);
  }

  void move_memory_into_frame() {
    llvm::IRBuilder<> builder(entry_->getTerminator());
    for (llvm::AllocaInst* variable : variables_) {
      for (llvm::User* user : llvm::make_early_inc_range(variable->users()))
        if (auto* mark = llvm::cast<llvm::Instruction>(user); mark->isLifetimeStartOrEnd()) mark->eraseFromParent();
      variable->replaceAllUsesWith(read_at(builder, slots_.at(variable)));
      variable->eraseFromParent();
    }
  }

  /// Stores the value after its definition; at the barriers if the definition is in a deeper loop than they are.
  void spill(const LiveValue& live) {
    auto slot = slots_.find(live.value);
    if (slot == slots_.end()) return;
    auto store_before = [&](llvm::BasicBlock::iterator position, llvm::BasicBlock* block) {
      llvm::IRBuilder<> builder(block, position);
      builder.CreateStore(live.value, write_at(builder, slot->second));
    };
    llvm::BasicBlock* home = live.value->getParent();
    const unsigned depth = loops_.getLoopDepth(home);
    const bool at_suspensions = std::all_of(
        live.crossed.begin(), live.crossed.end(),
        [&](const Suspension* suspension) { return loops_.getLoopDepth(suspension->arrival->getParent()) < depth; });
    if (at_suspensions) {
      for (const Suspension* suspension : live.crossed)
        store_before(suspension->arrival->getIterator(), suspension->arrival->getParent());
    } else {
      store_before(
          llvm::isa<llvm::PHINode>(live.value) ? home->getFirstInsertionPt() : std::next(live.value->getIterator()),
          home);
    }
  }

  /// Makes the function return at the barrier.
  void suspend(const Suspension& suspension, unsigned state) {
    llvm::Instruction* branch = suspension.arrival->getParent()->getTerminator();
    llvm::IRBuilder<> builder(branch);
    builder.CreateStore(builder.getInt32(state), at(builder, next_, state_offset));
    if (counts_predicates_) {
      llvm::Value* place = at(builder, next_, predicates_offset);
      llvm::Value* predicates = suspension.arrival->getArgOperand(1);
      if (uniformity_ != nullptr)
        predicates = builder.CreateAdd(predicates, builder.CreateLoad(builder.getInt32Ty(), place));
      builder.CreateStore(predicates, place);
    }
    suspending_returns_.insert(builder.CreateRetVoid());
    branch->eraseFromParent();
    suspension.arrival->eraseFromParent();
  }

  /// Loads or recomputes the value after each barrier that it crosses.
  void reload(LiveValue& live) {
    auto slot = slots_.find(live.value);
    for (const Suspension* suspension : live.crossed) {
      llvm::IRBuilder<> builder(suspension->resume, suspension->resume->begin());
      live.reloaded.push_back(slot == slots_.end()
                                  ? rematerialise(builder, live.value)
                                  : builder.CreateLoad(live.value->getType(), read_at(builder, slot->second)));
    }
  }

  void use_reloaded(const LiveValue& live) {
    std::vector<llvm::Use*> uses;
    for (llvm::Use& use : live.value->uses()) uses.push_back(&use);
    llvm::SSAUpdater updater;
    updater.Initialize(live.value->getType(), live.value->getName());
    updater.AddAvailableValue(live.value->getParent(), live.value);
    for (unsigned i = 0; i < live.crossed.size(); ++i)
      updater.AddAvailableValue(live.crossed[i]->resume, live.reloaded[i]);
    for (llvm::Use* use : uses) {
      auto* user = llvm::cast<llvm::Instruction>(use->getUser());
      if (user->getParent() != live.value->getParent() || llvm::isa<llvm::PHINode>(user))
        updater.RewriteUseAfterInsertions(*use);
    }
  }

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  const BlockUniformity* uniformity_;
  llvm::BasicBlock* first_;
  llvm::BasicBlock* entry_;  // before it
  llvm::Value* frame_;
  llvm::Value *current_, *next_;  // in lockstep the block's frame before and after this phase, else the warp's
  bool counts_predicates_ = false;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  std::vector<Suspension> suspensions_;
  std::vector<LiveValue> live_values_;
  std::vector<llvm::AllocaInst*> variables_;
  std::map<const llvm::Instruction*, FrameSlot> slots_;  // of live_values_ and of variables_; never iterated
  std::uint64_t bytes_ = header_bytes, block_bytes_ = block_header_bytes;
  std::set<llvm::ReturnInst*> suspending_returns_;
};

}  // namespace

std::optional<FrameSizes> split_at_barriers(llvm::Function& widened, std::uint64_t max_bytes,
                                            const BlockUniformity* uniformity) {
  // A warp that has ended is not called again, so nobody has to count those that left.
  for (llvm::CallInst* call : find_calls(widened, leave_function)) call->eraseFromParent();
  BarrierSplitter splitter(widened, find_calls(widened, arrive_function), uniformity);
  const FrameSizes frames = splitter.lay_out();
  if (frames.warp_bytes > max_bytes) return std::nullopt;
  splitter.split();
  return frames;
}

void call_barrier_services(llvm::Function& widened) {
  for (auto [name, offset] : {std::pair{arrive_function, offsetof(Services, barrier)},
                              std::pair{leave_function, offsetof(Services, leave)}}) {
    for (llvm::CallInst* call : find_calls(widened, name)) {
      llvm::IRBuilder<> builder(call);
      std::vector<llvm::Value*> arguments(call->arg_begin(), call->arg_end());
      arguments.insert(arguments.begin(), widened.getArg(0));
      call->replaceAllUsesWith(call_service(builder, offset, call->getType(), arguments));
      call->eraseFromParent();
    }
  }
}

}  // namespace gpulua::cpu::simd
