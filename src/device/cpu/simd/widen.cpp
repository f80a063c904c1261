#include "src/device/cpu/simd/widen.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/barrier_splitting.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/shared_atomics.h"

namespace gpulua::cpu::simd {
namespace {

// A block of less work than this, in vector instructions, runs even when no lane is in it: a branch costs about as
// much.
constexpr unsigned worth_skipping = 10;
constexpr unsigned slow_instruction = 20;
constexpr unsigned contiguous_access = 4;

bool is_trivial(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::PHINode, llvm::BranchInst, llvm::GetElementPtrInst>(instruction) ||
         instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd();
}

llvm::Function* declare(llvm::Function& scalar) {
  auto* function = llvm::Function::Create(scalar.getFunctionType(), llvm::GlobalValue::InternalLinkage,
                                          scalar.getName() + ".warp", scalar.getParent());
  function->copyAttributesFrom(&scalar);
  function->setVisibility(llvm::GlobalValue::DefaultVisibility);  // a template's may be hidden
  function->setDSOLocal(true);
  function->removeFnAttr(llvm::Attribute::NoUnwind);
  for (unsigned i = 0; i < function->arg_size(); ++i) function->getArg(i)->setName(scalar.getArg(i)->getName());
  return function;
}

}  // namespace

llvm::Type* widened(llvm::Type* type) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    std::vector<llvm::Type*> fields;
    for (llvm::Type* field : record->elements()) fields.push_back(widened(field));
    return llvm::StructType::get(type->getContext(), fields);
  }
  return llvm::FixedVectorType::get(type, warp_size);
}

llvm::Value* context_field(llvm::IRBuilder<>& builder, llvm::Value* context, std::size_t offset, llvm::Type* type) {
  return builder.CreateLoad(type, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offset));
}

Widener::Widener(llvm::Function& scalar, Divergence& divergence, const LanePatterns& patterns,
                 const WidenOptions& options)
    : from_(scalar),
      to_(declare(scalar)),
      divergence_(divergence),
      patterns_(patterns),
      options_(options),
      layout_(scalar.getParent()->getDataLayout()),
      barriers_(scalar, patterns),
      builder_(scalar.getContext()),
      entry_(scalar.getContext()) {
  for (unsigned i = 0; i < from_.arg_size(); ++i) scalars_[from_.getArg(i)] = to_->getArg(i);
}

llvm::AllocaInst* Widener::local(llvm::Type* type, const llvm::Twine& name) {
  llvm::BasicBlock& first = to_->getEntryBlock();
  Builder builder(&first, first.begin());
  return builder.CreateAlloca(type, nullptr, name);
}

llvm::BasicBlock* Widener::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(to_->getContext(), name, to_);
}

llvm::Value* Widener::bits_of(llvm::Value* mask) {
  return builder_.CreateBitCast(mask, builder_.getInt32Ty());
}

llvm::Value* Widener::any(llvm::Value* mask) {
  return builder_.CreateICmpNE(bits_of(mask), builder_.getInt32(0));
}

llvm::Value* Widener::count(llvm::Value* mask) {
  return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits_of(mask));
}

bool Widener::mask_is_full() const {
  return options_.layout == WarpLayout::half_rows && divergence_.mask_owner(block_) == divergence_.order().front();
}

void Widener::make_slots() {
  llvm::Type* mask_type = widened(builder_.getInt1Ty());
  for (Block* block : divergence_.order()) {
    heads_[block] = new_block(block->getName());
    if (divergence_.mask_owner(block) == block && block != divergence_.order().front()) {
      Slot* slot = entry_.CreateAlloca(mask_type, nullptr, block->getName() + ".mask");
      entry_.CreateStore(llvm::Constant::getNullValue(mask_type), slot);
      mask_slots_[block] = slot;
      slots_.push_back(slot);
    }
    for (const llvm::PHINode& phi : block->phis()) {
      llvm::Type* type = is_varying(&phi) ? widened(phi.getType()) : phi.getType();
      phi_slots_[&phi] = entry_.CreateAlloca(type, nullptr, phi.getName());
      // A lane that brings nothing has no value, so there is nothing to blend with.
      entry_.CreateStore(llvm::PoisonValue::get(type), phi_slots_[&phi]);
      slots_.push_back(phi_slots_[&phi]);
      if (!patterns_(&phi).is_half_affine()) continue;
      second_slots_[&phi] = entry_.CreateAlloca(type, nullptr, phi.getName());
      slots_.push_back(second_slots_[&phi]);
    }
  }
}

/// The lanes that there are, and the start of the layout.
void Widener::make_entry() {
  Block* first = divergence_.order().front();
  llvm::Type* mask_type = widened(entry_.getInt1Ty());
  if (options_.layout == WarpLayout::half_rows) {
    masks_[first] = llvm::Constant::getAllOnesValue(mask_type);
  } else {
    llvm::Type* i32 = entry_.getInt32Ty();
    llvm::Value* threads = context_field(entry_, to_->getArg(0), offsetof(ThreadContext, threads), i32);
    llvm::Value* none = entry_.CreateSub(entry_.getInt32(warp_size), threads);
    masks_[first] = entry_.CreateBitCast(entry_.CreateLShr(entry_.getInt32(~0u), none), mask_type, "lanes");
  }
  entry_.CreateBr(heads_.at(first));
  entry_.SetInsertPoint(to_->getEntryBlock().getTerminator());
}

/// Which masks are tested for being empty ahead of their blocks: where instructions may not run for nobody, and where
/// they are worth skipping.
void Widener::find_guards() {
  std::map<Block*, unsigned> work;
  for (Block* block : divergence_.order()) {
    Block* root = divergence_.mask_owner(block);
    const llvm::Loop* loop = divergence_.loops().getLoopFor(block);
    const bool never_empty =
        root == divergence_.order().front() || (loop != nullptr && loop->getHeader() == block && root == block);
    if (loop != nullptr && loop->getHeader() == block && root == block)
      guarded_.insert(divergence_.mask_owner(loop->getLoopPreheader()));
    if (never_empty) continue;
    for (const llvm::Instruction& instruction : *block) {
      const auto* branch = llvm::dyn_cast<llvm::BranchInst>(&instruction);
      if (branch != nullptr && branch->isConditional() && !divergence_.diverges(block)) guarded_.insert(root);
      if (is_trivial(instruction)) continue;
      const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
      const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (address != nullptr && !is_uniform(address)) {
        const bool contiguous = !is_varying(address) && !patterns_(address).is_uniform_per_half();
        work[root] += contiguous ? contiguous_access : slow_instruction;
      } else if (instruction.mayReadOrWriteMemory() || llvm::isa<llvm::UnreachableInst>(instruction)) {
        guarded_.insert(root);
      } else if (call != nullptr || (llvm::isa<llvm::BinaryOperator>(instruction) && instruction.isIntDivRem())) {
        work[root] += slow_instruction;
      } else if (is_varying(&instruction)) {
        ++work[root];
      }
    }
  }
  for (const auto& [root, amount] : work)
    if (amount >= worth_skipping) guarded_.insert(root);
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
  // When nothing else is pending, the lanes that there are are here.
  if (divergence_.mask_owner(block) != block || !guarded_.contains(block) || loop_header || now_.empty()) return;
  llvm::BasicBlock* body = new_block(block->getName() + ".run");
  llvm::BasicBlock* skip = new_block(block->getName() + ".skip");
  builder_.CreateCondBr(any(mask()), body, skip);
  builder_.SetInsertPoint(skip);
  go_on(now_);
  builder_.SetInsertPoint(body);
}

void Widener::emit_block(Block* block) {
  block_ = block;
  builder_.SetInsertPoint(heads_.at(block));
  now_ = pending_[divergence_.index(block)];
  const llvm::Loop* loop = divergence_.loops().getLoopFor(block);
  if (loop != nullptr && loop->getHeader() == block && divergence_.diverges(loop)) {
    // Lanes that have left wait while others go around.
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
    // What lanes bring next is not blended into what they brought before.
    if (is_varying(&phi)) builder_.CreateStore(llvm::PoisonValue::get(slot->getAllocatedType()), slot);
    (is_varying(&phi) ? vectors_ : scalars_)[&phi] = value;
    if (auto other = second_slots_.find(&phi); other != second_slots_.end())
      seconds_[&phi] = builder_.CreateLoad(phi.getType(), other->second, phi.getName());
    if (auto walk = inductions_.find(&phi); walk != inductions_.end()) read_induction(walk->second);
  }
  emit_guard(block);
  for (const llvm::Instruction& instruction : *block) {
    if (instruction.isTerminator()) break;
    if (!llvm::isa<llvm::PHINode>(instruction)) emit_instruction(instruction);
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
    llvm::Value* value = is_varying(&phi) ? vector(incoming) : scalar(incoming);
    if (is_varying(&phi) && !together)
      value = builder_.CreateSelect(mask, value, builder_.CreateLoad(slot->getAllocatedType(), slot));
    stores.emplace_back(slot, value);
    if (auto other = second_slots_.find(&phi); other != second_slots_.end())
      stores.emplace_back(other->second, second(incoming));
    if (inductions_.contains(&phi)) pass_induction(phi, from, mask);
  }
  for (auto [slot, value] : stores) builder_.CreateStore(value, slot);

  auto slot = mask_slots_.find(to);
  if (slot != mask_slots_.end()) {
    // A loop's next turn is for those lanes alone that come around.
    llvm::Value* before = builder_.CreateLoad(slot->second->getAllocatedType(), slot->second);
    builder_.CreateStore(together ? mask : builder_.CreateOr(before, mask), slot->second);
  }
  if (barriers_.lanes_leave(from, to)) call_later(leave_function, builder_.getVoidTy(), {count(mask)});
}

void Widener::emit_uniform_branch(Block* block, const llvm::BranchInst& branch) {
  Block* ways[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  llvm::BasicBlock* legs[] = {new_block(block->getName() + ".then"), new_block(block->getName() + ".else")};
  builder_.CreateCondBr(scalar(branch.getCondition()), legs[0], legs[1]);
  for (int i = 0; i < 2; ++i) {
    builder_.SetInsertPoint(legs[i]);
    pass_edge(block, ways[i], mask());
    if (divergence_.is_back_edge(block, ways[i])) {
      builder_.CreateBr(heads_.at(ways[i]));
      continue;
    }
    std::set<int> pending = now_;
    pending.insert(divergence_.index(ways[i]));
    // When all lanes that are in a loop leave it together, nothing is pending in it.
    for (const llvm::Loop* loop = divergence_.loops().getLoopFor(block); loop != nullptr && !loop->contains(ways[i]);
         loop = loop->getParentLoop())
      if (divergence_.mask_owner(block) == divergence_.mask_owner(loop->getHeader()))
        std::erase_if(pending, [&](int index) { return loop->contains(divergence_.order()[index]); });
    go_on(pending);
  }
}

void Widener::emit_divergent_branch(Block* block, const llvm::BranchInst& branch) {
  Block* ways[] = {branch.getSuccessor(0), branch.getSuccessor(1)};
  llvm::Value* condition = vector(branch.getCondition());
  // Selects, not `and`: what lanes that are not here compute may be poison.
  llvm::Value* lanes[] = {builder_.CreateLogicalAnd(mask(), condition),
                          builder_.CreateLogicalAnd(mask(), builder_.CreateNot(condition))};
  std::set<int> pending = now_;
  llvm::BasicBlock* around = nullptr;
  llvm::Value* lanes_around = nullptr;
  for (int i = 0; i < 2; ++i) {
    pass_edge(block, ways[i], lanes[i]);
    if (!divergence_.is_back_edge(block, ways[i])) {
      pending.insert(divergence_.index(ways[i]));
      continue;
    }
    around = heads_.at(ways[i]);
    lanes_around = lanes[i];
  }
  if (around != nullptr) {
    llvm::BasicBlock* behind = new_block(block->getName() + ".left");
    builder_.CreateCondBr(any(lanes_around), around, behind);
    builder_.SetInsertPoint(behind);
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
  pass_edge(block, next, mask());
  if (!divergence_.is_back_edge(block, next)) {
    std::set<int> pending = now_;
    pending.insert(divergence_.index(next));
    return go_on(pending);
  }
  if (!divergence_.diverges(divergence_.loops().getLoopFor(next))) {
    builder_.CreateBr(heads_.at(next));
    return;
  }
  llvm::BasicBlock* behind = new_block(block->getName() + ".left");
  builder_.CreateCondBr(any(mask()), heads_.at(next), behind);
  builder_.SetInsertPoint(behind);
  go_on(now_);
}

llvm::Function* Widener::run() {
  llvm::BasicBlock* entry = new_block("entry");
  entry_.SetInsertPoint(entry);
  make_slots();
  make_inductions();
  make_entry();
  find_guards();
  for (Block* block : divergence_.order()) emit_block(block);
  llvm::removeUnreachableBlocks(*to_);
  llvm::DominatorTree dominators(*to_);
  llvm::PromoteMemToReg(slots_, dominators);
  lower_shared_atomics(*to_);
  return to_;
}

llvm::Function* widen(llvm::Function& scalar, const WidenOptions& options) {
  Divergence divergence(scalar);
  LanePatterns patterns(scalar, divergence, options.layout);
  return Widener(scalar, divergence, patterns, options).run();
}

}  // namespace gpulua::cpu::simd
