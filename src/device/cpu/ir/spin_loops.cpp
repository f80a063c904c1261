#include "src/device/cpu/ir/spin_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <map>

namespace gpulua::cpu {
namespace {

constexpr const char* yield_builtin = "gpulua_yield";
constexpr const char* pause_builtin = "gpulua_pause";

/// How an instruction or a function observes other threads. Ordered: the greatest one decides.
enum class Contact { none, operates, reads };

/// An atomic operation with `operand`. An operation that changes nothing reads. An addition has a new result each time,
/// like the counter of a work queue, so it waits for nobody.
Contact contact_of(const llvm::AtomicRMWInst& operation, const llvm::Value* operand) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(operand);
  const bool is_zero = constant != nullptr && constant->isZero();
  switch (operation.getOperation()) {
    case llvm::AtomicRMWInst::Add:
    case llvm::AtomicRMWInst::Sub:
      return is_zero ? Contact::reads : Contact::none;
    case llvm::AtomicRMWInst::Or:
    case llvm::AtomicRMWInst::Xor:
      return is_zero ? Contact::reads : Contact::operates;
    default:
      return Contact::operates;
  }
}

/// The operation that the function wraps, as CUDA's atomic functions do: its value is a parameter.
const llvm::AtomicRMWInst* wrapped_operation(const llvm::Function& function) {
  if (function.size() != 1) return nullptr;
  for (const llvm::Instruction& instruction : function.getEntryBlock())
    if (const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return llvm::isa<llvm::Argument>(operation->getValOperand()) ? operation : nullptr;
  return nullptr;
}

class Contacts {
 public:
  Contact of(const llvm::Instruction& instruction) {
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
      const bool is_local = llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load->getPointerOperand()));
      return (load->isVolatile() || load->isAtomic()) && !is_local ? Contact::reads : Contact::none;
    }
    if (const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction))
      return contact_of(*operation, operation->getValOperand());
    if (llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) return Contact::operates;
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    const llvm::Function* callee = call == nullptr ? nullptr : call->getCalledFunction();
    if (callee == nullptr || callee->getReturnType()->isVoidTy()) return Contact::none;
    if (const llvm::AtomicRMWInst* operation = wrapped_operation(*callee))
      return contact_of(*operation,
                        call->getArgOperand(llvm::cast<llvm::Argument>(operation->getValOperand())->getArgNo()));
    return of(*callee);
  }

 private:
  /// Operations take precedence: a function that loads a value and then swaps it operates.
  Contact of(const llvm::Function& function) {
    const auto [place, is_new] = known_.try_emplace(&function, Contact::none);  // recursion adds nothing
    if (!is_new) return place->second;
    Contact result = Contact::none;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const Contact contact = of(instruction);
      if (contact == Contact::operates || result == Contact::none) result = contact;
      if (result == Contact::operates) break;
    }
    return known_[&function] = result;
  }

  std::map<const llvm::Function*, Contact> known_;
};

const llvm::Value* condition_of(const llvm::BasicBlock& block) {
  const llvm::Instruction* terminator = block.getTerminator();
  if (const auto* branch = llvm::dyn_cast<llvm::BranchInst>(terminator))
    return branch->isConditional() ? branch->getCondition() : nullptr;
  if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(terminator)) return choice->getCondition();
  return nullptr;
}

/// The instructions that values depend on, in an iteration of a loop and in earlier ones.
class Slice {
 public:
  Slice(const llvm::Loop& loop, const llvm::DominatorTree& dominators) : loop_(loop), dominators_(dominators) {}

  void add(const llvm::Value* value) {
    if (const auto* instruction = llvm::dyn_cast_or_null<llvm::Instruction>(value))
      if (loop_.contains(instruction)) instructions_.insert(instruction);
  }

  void add_operands(const llvm::Instruction& instruction) {
    for (const llvm::Use& operand : instruction.operands()) add(operand);
    if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) add_choice(*phi);
  }

  const llvm::SetVector<const llvm::Instruction*>& close() {
    for (; closed_ < instructions_.size(); ++closed_) add_operands(*instructions_[closed_]);
    return instructions_;
  }

 private:
  /// The value of a phi depends on the branches on the paths to it.
  void add_choice(const llvm::PHINode& phi) {
    const llvm::BasicBlock* block = phi.getParent();
    const bool is_header = block == loop_.getHeader();
    if (is_header && loop_.getNumBackEdges() == 1) return;
    const llvm::BasicBlock* fork = is_header ? block : dominators_.getNode(block)->getIDom()->getBlock();
    for (const llvm::BasicBlock* way : loop_.blocks())
      if (dominators_.dominates(fork, way) && (is_header || !dominators_.dominates(block, way)))
        add(condition_of(*way));
  }

  const llvm::Loop& loop_;
  const llvm::DominatorTree& dominators_;
  llvm::SetVector<const llvm::Instruction*> instructions_;
  std::size_t closed_ = 0;  // the first instructions, whose operands have been added
};

/// True for an operation whose operands depend on its result in an earlier iteration.
bool retries(const llvm::Instruction& operation, const llvm::Loop& loop, const llvm::DominatorTree& dominators) {
  Slice operands(loop, dominators);
  operands.add_operands(operation);
  return operands.close().contains(&operation);
}

/// How the loop's exit conditions observe other threads.
Contact classify(const llvm::Loop& loop, const llvm::DominatorTree& dominators, Contacts& contacts) {
  Slice slice(loop, dominators);
  llvm::SmallVector<llvm::BasicBlock*, 4> exiting;
  loop.getExitingBlocks(exiting);
  for (const llvm::BasicBlock* block : exiting) slice.add(condition_of(*block));
  Contact result = Contact::none;
  for (const llvm::Instruction* instruction : slice.close()) {
    const Contact contact = contacts.of(*instruction);
    if (contact == Contact::operates && retries(*instruction, loop, dominators)) continue;
    result = std::max(result, contact);
  }
  return result;
}

void call_at_back_edges(const llvm::Loop& loop, llvm::Function& builtin) {
  llvm::SmallVector<llvm::BasicBlock*, 4> latches;
  loop.getLoopLatches(latches);
  for (llvm::BasicBlock* latch : latches) {
    llvm::IRBuilder<> builder(latch->getTerminator());
    llvm::DebugLoc location = latch->getTerminator()->getDebugLoc();
    if (llvm::DISubprogram* program = latch->getParent()->getSubprogram(); !location && program != nullptr)
      location = llvm::DILocation::get(latch->getContext(), 0, 0, program);
    builder.SetCurrentDebugLocation(location);
    builder.CreateCall(&builtin);
  }
}

}  // namespace

void mark_spin_loops(llvm::Module& module) {
  Contacts contacts;
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    const llvm::DominatorTree dominators(function);
    llvm::LoopInfo loops(dominators);
    for (const llvm::Loop* loop : loops.getLoopsInPreorder()) {
      const Contact contact = classify(*loop, dominators, contacts);
      if (contact == Contact::none) continue;
      call_at_back_edges(*loop, *module.getFunction(contact == Contact::reads ? yield_builtin : pause_builtin));
    }
  }
}

}  // namespace gpulua::cpu
