#include "src/device/cpu/simd/lockstep_loops.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/Local.h>

#include <vector>

#include "src/device/cpu/simd/barrier_splitting.h"

namespace gpulua::cpu::simd {
namespace {

// The copies together may have this many times the instructions of the one function.
constexpr unsigned max_growth = 3;

/// A copy of the function for one state.
llvm::Function* specialise(llvm::Function& warp, unsigned state) {
  llvm::ValueToValueMapTy map;
  llvm::Function* copy = llvm::CloneFunction(&warp, map);
  llvm::BasicBlock& entry = copy->getEntryBlock();
  auto* where = llvm::cast<llvm::SwitchInst>(entry.getTerminator());
  auto* number = llvm::ConstantInt::get(llvm::cast<llvm::IntegerType>(where->getCondition()->getType()), state);
  llvm::BasicBlock* start = where->findCaseValue(number)->getCaseSuccessor();
  for (llvm::BasicBlock* other : llvm::successors(&entry))
    if (other != start) other->removePredecessor(&entry);
  llvm::BranchInst::Create(start, where->getIterator());
  where->eraseFromParent();
  llvm::removeUnreachableBlocks(*copy);
  return copy;
}

std::vector<llvm::Function*> specialise_all(llvm::Function& warp) {
  const auto* where = llvm::dyn_cast<llvm::SwitchInst>(warp.getEntryBlock().getTerminator());
  std::vector<llvm::Function*> states;
  if (where == nullptr) return states;
  unsigned size = 0;
  for (unsigned state = 0; state <= where->getNumCases(); ++state) {
    states.push_back(specialise(warp, state));
    size += states.back()->getInstructionCount();
  }
  if (size <= max_growth * warp.getInstructionCount()) return states;
  for (llvm::Function* copy : states) copy->eraseFromParent();
  return {};
}

llvm::CallInst* find_call(llvm::Function& run, const llvm::Function& callee) {
  for (const llvm::User* user : callee.users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call != nullptr && call->getFunction() == &run)
      return const_cast<llvm::CallInst*>(call);
  return nullptr;
}

}  // namespace

std::set<llvm::Function*> make_loop_per_state(llvm::Function& run, llvm::Function& warp) {
  const std::vector<llvm::Function*> states = specialise_all(warp);
  if (states.empty()) return {&warp};
  llvm::CallInst* call = find_call(run, warp);
  llvm::DominatorTree dominators(run);
  llvm::LoopInfo loops(dominators);
  llvm::Loop* loop = loops.getLoopFor(call->getParent());
  llvm::BasicBlock* before = loop->getLoopPreheader();
  llvm::BasicBlock* preheader = llvm::SplitEdge(before, loop->getHeader(), &dominators, &loops);

  llvm::IRBuilder<> builder(before->getTerminator());
  llvm::Value* frame = builder.CreateCall(run.getParent()->getFunction(block_frame_function), {builder.getFalse()});
  llvm::SwitchInst* where = builder.CreateSwitch(builder.CreateLoad(builder.getInt32Ty(), frame), preheader);
  before->getTerminator()->eraseFromParent();
  for (unsigned state = 1; state < states.size(); ++state) {
    llvm::ValueToValueMapTy copies;
    llvm::SmallVector<llvm::BasicBlock*> blocks;
    llvm::cloneLoopWithPreheader(preheader, before, loop, copies, "", &loops, &dominators, blocks);
    llvm::remapInstructionsInBlocks(blocks, copies);
    llvm::cast<llvm::CallInst>(copies[call])->setCalledFunction(states[state]);
    where->addCase(builder.getInt32(state), blocks.front());
  }
  call->setCalledFunction(states.front());
  return {states.begin(), states.end()};
}

}  // namespace gpulua::cpu::simd
