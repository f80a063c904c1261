#include "src/device/cpu/simd/widen.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include <map>
#include <set>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/barriers.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/runtime_calls.h"
#include "src/device/cpu/simd/shared_atomics.h"
#include "src/device/cpu/simd/widen_instruction_emitter.h"
#include "src/device/cpu/simd/widen_mask_guards.h"

namespace gpulua::cpu::simd {
namespace {

llvm::Function& declare(llvm::Function& scalar) {
  auto* function = llvm::Function::Create(scalar.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                          scalar.getName() + ".warp", scalar.getParent());
  function->copyAttributesFrom(&scalar);
  function->setVisibility(llvm::GlobalValue::DefaultVisibility);  // a template's may be hidden
  function->setDSOLocal(true);
  function->removeFnAttr(llvm::Attribute::NoUnwind);
  for (unsigned i = 0; i < function->arg_size(); ++i) function->getArg(i)->setName(scalar.getArg(i)->getName());
  return *function;
}

/// The blocks under Marker::whole_warp.
std::set<Block*> find_whole(const Divergence& divergence) {
  std::set<Block*> found;
  for (Block* block : divergence.order()) {
    const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
    if (branch == nullptr || !branch->isConditional() || marker(branch->getCondition()) != Marker::whole_warp) continue;
    for (Block* other : divergence.order())
      if (divergence.dominators().dominates(branch->getSuccessor(0), other)) found.insert(other);
  }
  return found;
}

/// Control flow: the order of the blocks, their masks, and what edges pass on. InstructionEmitter does the rest.
class Widener {
 public:
  Widener(llvm::Function& scalar, const Divergence& divergence, const LanePatterns& patterns,
          const WidenOptions& options)
      : divergence_(divergence),
        options_(options),
        to_(declare(scalar)),
        warp_(scalar, to_, patterns),
        builder_(warp_.builder()),
        entry_(warp_.entry()),
        inductions_(warp_, divergence),
        instructions_(warp_, inductions_, divergence.loops(), options.layout, *options.math),
        barriers_(scalar, patterns),
        guarded_(find_guarded_masks(divergence, patterns)),
        whole_(find_whole(divergence)) {}

  llvm::Function* run();

 private:
  /// A phi, or the mask of a block, on its way from the ends of the predecessors.
  using Slot = llvm::AllocaInst;

  void make_slots();
  llvm::Value* first_lanes(llvm::IRBuilder<>& builder, llvm::Value* count);
  void end_lanes(llvm::Value* count);
  void make_entry();
  void emit_block(Block* block);
  void emit_guard(Block* block);
  void emit_terminator(Block* block);
  void emit_uniform_branch(Block* block, const llvm::BranchInst& branch);
  void emit_divergent_branch(Block* block, const llvm::BranchInst& branch);
  /// Stores what the edge passes on: the mask and the phis of `to`. `mask`: the lanes that take the edge.
  void pass_edge(Block* from, Block* to, llvm::Value* mask);
  /// Continues with the first of the pending blocks.
  void go_on(std::set<int> pending);

  const Divergence& divergence_;
  const WidenOptions& options_;
  llvm::Function& to_;
  WarpBuilder warp_;
  llvm::IRBuilder<>&builder_, &entry_;
  InductionLoads inductions_;
  InstructionEmitter instructions_;
  Barriers barriers_;
  std::set<Block*> guarded_;  // owners of masks
  std::set<Block*> whole_;    // blocks that run only if all lanes do

  std::map<const llvm::PHINode*, Slot*> phi_slots_, second_slots_;
  std::map<Block*, Slot*> mask_slots_;
  std::map<Block*, llvm::Value*> masks_;  // of their owners
  std::map<Block*, llvm::BasicBlock*> heads_;
  std::map<int, std::set<int>> pending_;  // for each block, by index: blocks where lanes may wait when it starts
  std::set<int> now_;                     // the same for the current block
  std::vector<Slot*> slots_;
};

void Widener::make_slots() {
  llvm::Type* mask_type = widened(builder_.getInt1Ty());
  for (Block* block : divergence_.order()) {
    heads_[block] = warp_.new_block(block->getName());
    if (divergence_.mask_owner(block) == block && block != divergence_.order().front()) {
      Slot* slot = entry_.CreateAlloca(mask_type, nullptr, block->getName() + ".mask");
      entry_.CreateStore(llvm::Constant::getNullValue(mask_type), slot);
      mask_slots_[block] = slot;
      slots_.push_back(slot);
    }
    for (const llvm::PHINode& phi : block->phis()) {
      llvm::Type* type = warp_.is_varying(&phi) ? widened(phi.getType()) : phi.getType();
      phi_slots_[&phi] = entry_.CreateAlloca(type, nullptr, phi.getName());
      // Lanes that have not arrived have no value, so there is nothing to blend with.
      entry_.CreateStore(llvm::PoisonValue::get(type), phi_slots_[&phi]);
      slots_.push_back(phi_slots_[&phi]);
      if (!warp_.pattern(&phi).is_half_affine()) continue;
      second_slots_[&phi] = entry_.CreateAlloca(type, nullptr, phi.getName());
      slots_.push_back(second_slots_[&phi]);
    }
  }
}

/// The mask of the first `count` lanes. `count` is at least 1.
llvm::Value* Widener::first_lanes(llvm::IRBuilder<>& builder, llvm::Value* count) {
  llvm::Value* none = builder.CreateSub(builder.getInt32(lane_count()), count);
  llvm::Value* bits = builder.CreateLShr(builder.getInt32(all_lanes()), none);
  return builder.CreateBitCast(builder.CreateTrunc(bits, builder.getIntNTy(lane_count())),
                               widened(builder.getInt1Ty()), "lanes");
}

/// Marker::end_lanes, in the first block: the lanes from `count` on are left to the next warp. In the other layouts it
/// has no effect.
void Widener::end_lanes(llvm::Value* count) {
  if (options_.layout != WarpLayout::row_chunk) return;
  llvm::Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), warp_.context(),
                                                           offsetof(ThreadContext, threads));
  llvm::Value* threads = builder_.CreateLoad(builder_.getInt32Ty(), place);
  threads = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, threads, count);
  builder_.CreateStore(threads, place);
  llvm::Value*& mask = masks_.at(divergence_.order().front());
  mask = first_lanes(builder_, threads);
  warp_.set_mask(mask, false);
}

/// Computes the mask of the first block: the lanes that have a thread.
void Widener::make_entry() {
  Block* first = divergence_.order().front();
  llvm::Type* mask_type = widened(entry_.getInt1Ty());
  if (is_whole(options_.layout))
    masks_[first] = llvm::Constant::getAllOnesValue(mask_type);
  else
    masks_[first] = first_lanes(
        entry_, context_field(entry_, warp_.context(), offsetof(ThreadContext, threads), entry_.getInt32Ty()));
  entry_.CreateBr(heads_.at(first));
  entry_.SetInsertPoint(to_.getEntryBlock().getTerminator());
}

void Widener::go_on(std::set<int> pending) {
  const int next = *pending.begin();
  pending.erase(pending.begin());
  pending_[next].insert(pending.begin(), pending.end());
  builder_.CreateBr(heads_.at(divergence_.order()[next]));
}

void Widener::emit_guard(Block* block) {
  const llvm::Loop* loop = divergence_.loops().getLoopFor(block);
  const bool loop_header = loop != nullptr && loop->getHeader() == block;
  // If no other block is pending, all lanes that run are here.
  if (divergence_.mask_owner(block) != block || !guarded_.contains(block) || loop_header || now_.empty()) return;
  llvm::BasicBlock* body = warp_.new_block(block->getName() + ".run");
  llvm::BasicBlock* skip = warp_.new_block(block->getName() + ".skip");
  builder_.CreateCondBr(warp_.any(warp_.mask()), body, skip);
  builder_.SetInsertPoint(skip);
  go_on(now_);
  builder_.SetInsertPoint(body);
}

void Widener::emit_block(Block* block) {
  builder_.SetInsertPoint(heads_.at(block));
  now_ = pending_[divergence_.index(block)];
  const llvm::Loop* loop = divergence_.loops().getLoopFor(block);
  if (loop != nullptr && loop->getHeader() == block && divergence_.diverges(loop)) {
    // Lanes that have left wait at the exits while others iterate.
    llvm::SmallVector<llvm::BasicBlock*> exits;
    loop->getExitBlocks(exits);
    for (Block* exit : exits) now_.insert(divergence_.index(exit));
  }
  if (auto slot = mask_slots_.find(block); slot != mask_slots_.end()) {
    llvm::Type* type = slot->second->getAllocatedType();
    masks_[block] = builder_.CreateLoad(type, slot->second, block->getName() + ".lanes");
    builder_.CreateStore(llvm::Constant::getNullValue(type), slot->second);
  }
  for (const llvm::PHINode& phi : block->phis()) {
    Slot* slot = phi_slots_.at(&phi);
    llvm::Value* value = builder_.CreateLoad(slot->getAllocatedType(), slot, phi.getName());
    // The next values are not blended with these.
    if (warp_.is_varying(&phi)) builder_.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
    if (warp_.is_varying(&phi))
      warp_.set_vector(&phi, value);
    else
      warp_.set_scalar(&phi, value);
    if (auto other = second_slots_.find(&phi); other != second_slots_.end())
      warp_.set_second(&phi, builder_.CreateLoad(phi.getType(), other->second, phi.getName()));
    if (inductions_.contains(phi)) inductions_.enter_header(phi);
  }
  Block* owner = divergence_.mask_owner(block);
  if (whole_.contains(block) && !whole_.contains(owner))
    warp_.set_mask(llvm::Constant::getAllOnesValue(widened(builder_.getInt1Ty())), true);
  else
    warp_.set_mask(masks_.at(owner), is_whole(options_.layout) && owner == divergence_.order().front());
  emit_guard(block);
  for (const llvm::Instruction& instruction : *block) {
    if (instruction.isTerminator()) break;
    if (marker(&instruction) == Marker::end_lanes)
      end_lanes(warp_.scalar(llvm::cast<llvm::CallInst>(instruction).getArgOperand(0)));
    else if (!llvm::isa<llvm::PHINode>(instruction))
      instructions_.emit(instruction);
  }
  emit_terminator(block);
}

void Widener::pass_edge(Block* from, Block* to, llvm::Value* mask) {
  const bool together = divergence_.enters_by_one_edge(to);
  std::vector<std::pair<Slot*, llvm::Value*>> stores;
  for (const llvm::PHINode& phi : to->phis()) {
    const llvm::Value* incoming = phi.getIncomingValueForBlock(from);
    if (llvm::isa<llvm::UndefValue>(incoming)) continue;
    Slot* slot = phi_slots_.at(&phi);
    llvm::Value* value = warp_.is_varying(&phi) ? warp_.vector(incoming) : warp_.scalar(incoming);
    if (warp_.is_varying(&phi) && !together)
      value = builder_.CreateSelect(mask, value, builder_.CreateLoad(slot->getAllocatedType(), slot));
    stores.emplace_back(slot, value);
    if (auto other = second_slots_.find(&phi); other != second_slots_.end())
      stores.emplace_back(other->second, warp_.second(incoming));
    if (inductions_.contains(phi)) inductions_.pass_edge(phi, from, mask);
  }
  for (auto [slot, value] : stores) builder_.CreateStore(value, slot);

  auto slot = mask_slots_.find(to);
  if (slot != mask_slots_.end()) {
    // Only lanes that take the back edge run a loop's next iteration.
    llvm::Value* before = builder_.CreateLoad(slot->second->getAllocatedType(), slot->second);
    builder_.CreateStore(together ? mask : builder_.CreateOr(before, mask), slot->second);
  }
  if (barriers_.lanes_leave(from, to)) instructions_.builtins().emit_leave(mask);
}

void Widener::emit_uniform_branch(Block* block, const llvm::BranchInst& branch) {
  Block* targets[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  llvm::BasicBlock* edges[] = {warp_.new_block(block->getName() + ".then"),
                               warp_.new_block(block->getName() + ".else")};
  builder_.CreateCondBr(warp_.scalar(branch.getCondition()), edges[0], edges[1]);
  for (int i = 0; i < 2; ++i) {
    builder_.SetInsertPoint(edges[i]);
    pass_edge(block, targets[i], warp_.mask());
    if (divergence_.is_back_edge(block, targets[i])) {
      builder_.CreateBr(heads_.at(targets[i]));
      continue;
    }
    std::set<int> pending = now_;
    pending.insert(divergence_.index(targets[i]));
    // If all lanes of a loop leave it together, no block in it is pending.
    for (const llvm::Loop* loop = divergence_.loops().getLoopFor(block); loop != nullptr && !loop->contains(targets[i]);
         loop = loop->getParentLoop())
      if (divergence_.mask_owner(block) == divergence_.mask_owner(loop->getHeader()))
        std::erase_if(pending, [&](int index) { return loop->contains(divergence_.order()[index]); });
    go_on(pending);
  }
}

void Widener::emit_divergent_branch(Block* block, const llvm::BranchInst& branch) {
  Block* targets[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  llvm::Value* condition = warp_.vector(branch.getCondition());
  // Selects, not `and`: the conditions of inactive lanes may be poison.
  llvm::Value* lanes[] = {builder_.CreateLogicalAnd(warp_.mask(), condition),
                          builder_.CreateLogicalAnd(warp_.mask(), builder_.CreateNot(condition))};
  std::set<int> pending = now_;
  llvm::BasicBlock* around = nullptr;
  llvm::Value* lanes_around = nullptr;
  for (int i = 0; i < 2; ++i) {
    pass_edge(block, targets[i], lanes[i]);
    if (!divergence_.is_back_edge(block, targets[i])) {
      pending.insert(divergence_.index(targets[i]));
      continue;
    }
    around = heads_.at(targets[i]);
    lanes_around = lanes[i];
  }
  if (around != nullptr) {
    llvm::BasicBlock* after = warp_.new_block(block->getName() + ".left");
    builder_.CreateCondBr(warp_.any(lanes_around), around, after);
    builder_.SetInsertPoint(after);
  }
  go_on(pending);
}

void Widener::emit_terminator(Block* block) {
  const llvm::Instruction* terminator = block->getTerminator();
  if (llvm::isa<llvm::ReturnInst>(terminator)) {
    builder_.CreateRetVoid();
    return;
  }
  if (llvm::isa<llvm::UnreachableInst>(terminator)) {
    builder_.CreateUnreachable();
    return;
  }
  const auto& branch = llvm::cast<llvm::BranchInst>(*terminator);
  if (branch.isConditional()) {
    if (divergence_.diverges(block)) return emit_divergent_branch(block, branch);
    return emit_uniform_branch(block, branch);
  }
  Block* next = branch.getSuccessor(0);
  pass_edge(block, next, warp_.mask());
  if (!divergence_.is_back_edge(block, next)) {
    std::set<int> pending = now_;
    pending.insert(divergence_.index(next));
    return go_on(pending);
  }
  if (!divergence_.diverges(divergence_.loops().getLoopFor(next))) {
    builder_.CreateBr(heads_.at(next));
    return;
  }
  llvm::BasicBlock* after = warp_.new_block(block->getName() + ".left");
  builder_.CreateCondBr(warp_.any(warp_.mask()), heads_.at(next), after);
  builder_.SetInsertPoint(after);
  go_on(now_);
}

llvm::Function* Widener::run() {
  make_slots();
  const std::vector<Slot*> inductions = inductions_.prepare();
  slots_.insert(slots_.end(), inductions.begin(), inductions.end());
  make_entry();
  for (Block* block : divergence_.order()) emit_block(block);
  llvm::removeUnreachableBlocks(to_);
  llvm::DominatorTree dominators(to_);
  llvm::PromoteMemToReg(slots_, dominators);
  lower_shared_atomics(to_);
  return &to_;
}

}  // namespace

llvm::Function* widen(llvm::Function& scalar, const WidenOptions& options) {
  Divergence divergence(scalar);
  LanePatterns patterns(scalar, divergence, options.layout);
  return Widener(scalar, divergence, patterns, options).run();
}

}  // namespace gpulua::cpu::simd
