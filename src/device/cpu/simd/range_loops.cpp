#include "src/device/cpu/simd/range_loops.h"

#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <optional>
#include <vector>

namespace gpulua::cpu::simd {
namespace {

// A vector operation costs a lane a small part of a scalar one, but a gather costs it as much as some of those.
constexpr unsigned operations_of_gather = 4;

/// A loop of one block.
struct RangeLoop {
  llvm::BasicBlock* block;
  llvm::BasicBlock* before;
  llvm::BasicBlock* after;
};

/// True for phis that change by a step which is known before the loop.
bool is_counter(const llvm::PHINode& phi, const llvm::Loop& loop) {
  const auto* next = llvm::dyn_cast<llvm::Instruction>(phi.getIncomingValueForBlock(loop.getLoopLatch()));
  if (next == nullptr || next->getNumOperands() != 2) return false;
  const bool steps = next->getOpcode() == llvm::Instruction::Add || next->getOpcode() == llvm::Instruction::Sub ||
                     next->getOpcode() == llvm::Instruction::GetElementPtr;
  return steps && next->getOperand(0) == &phi && loop.isLoopInvariant(next->getOperand(1));
}

/// True for values that the loop can compute without what it computed in earlier iterations, but for counters, and, if
/// not `loads`, without loads.
bool follows_counters(const llvm::Value* value, const llvm::Loop& loop, bool loads) {
  if (loop.isLoopInvariant(value)) return true;
  if (const auto* phi = llvm::dyn_cast<llvm::PHINode>(value)) return is_counter(*phi, loop);
  if (llvm::isa<llvm::LoadInst>(value) && !loads) return false;
  return llvm::all_of(llvm::cast<llvm::Instruction>(value)->operands(),
                      [&](const llvm::Use& operand) { return follows_counters(operand, loop, loads); });
}

bool is_light(const llvm::Instruction& instruction) {
  if (const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
    return llvm::isTriviallyVectorizable(call->getIntrinsicID()) && !call->mayReadOrWriteMemory();
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  if (load != nullptr) return load->isSimple();
  return !instruction.mayReadOrWriteMemory() && !instruction.isIntDivRem() && !llvm::isa<llvm::CallInst>(instruction);
}

std::optional<RangeLoop> range_loop(const llvm::Loop& loop, const Divergence& divergence,
                                    const LanePatterns& patterns) {
  if (loop.getNumBlocks() != 1 || !divergence.diverges(&loop)) return std::nullopt;
  const llvm::BasicBlock& block = *loop.getHeader();
  unsigned gathers = 0, operations = 0;
  for (const llvm::Instruction& instruction : block) {
    if (llvm::isa<llvm::PHINode, llvm::GetElementPtrInst>(instruction)) continue;
    if (instruction.isTerminator()) {
      if (!follows_counters(instruction.getOperand(0), loop, false)) return std::nullopt;
      continue;
    }
    if (!is_light(instruction)) return std::nullopt;
    ++operations;
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load == nullptr) continue;
    if (!follows_counters(load->getPointerOperand(), loop, true)) return std::nullopt;
    gathers += patterns(load->getPointerOperand()).is_varying();
  }
  if (operations > operations_of_gather * gathers) return std::nullopt;
  return RangeLoop{loop.getHeader(), loop.getLoopPreheader(), loop.getExitBlock()};
}

/// Moves the loop into a function of the values that it uses, and returns the function. Its result is the values that
/// are used after the loop.
llvm::Function& outline(const RangeLoop& loop, llvm::Function& from) {
  const auto is_made = [&](const llvm::Value* value) {
    const auto* made = llvm::dyn_cast<llvm::Instruction>(value);
    return made != nullptr && made->getParent() == loop.block;
  };
  llvm::SetVector<llvm::Value*> inputs, outputs;
  for (llvm::Instruction& instruction : *loop.block)
    for (llvm::Use& operand : instruction.operands())
      if (llvm::isa<llvm::Argument>(operand) || (llvm::isa<llvm::Instruction>(operand) && !is_made(operand)))
        inputs.insert(operand);
  for (llvm::PHINode& phi : loop.after->phis())
    if (llvm::Value* value = phi.getIncomingValueForBlock(loop.block); is_made(value)) outputs.insert(value);
  std::vector<llvm::Type*> parameters, results;
  for (const llvm::Value* input : inputs) parameters.push_back(input->getType());
  for (const llvm::Value* output : outputs) results.push_back(output->getType());
  auto* result = llvm::StructType::get(from.getContext(), results);
  auto* function =
      llvm::Function::Create(llvm::FunctionType::get(result, parameters, false), llvm::GlobalValue::InternalLinkage,
                             from.getName() + ".range", from.getParent());
  for (llvm::Attribute attribute : from.getAttributes().getFnAttrs()) function->addFnAttr(attribute);
  function->setOnlyReadsMemory();
  function->setDoesNotThrow();

  llvm::ValueToValueMapTy copies;
  for (unsigned i = 0; i < inputs.size(); ++i) copies[inputs[i]] = function->getArg(i);
  auto* entry = llvm::BasicBlock::Create(from.getContext(), "entry", function);
  llvm::BasicBlock* block = llvm::CloneBasicBlock(loop.block, copies, "", function);
  auto* done = llvm::BasicBlock::Create(from.getContext(), "done", function);
  copies[loop.before] = entry;
  copies[loop.block] = block;
  copies[loop.after] = done;
  llvm::BranchInst::Create(block, entry);
  llvm::remapInstructionsInBlocks({block}, copies);
  llvm::IRBuilder<> builder(done);
  llvm::Value* record = llvm::PoisonValue::get(result);
  for (unsigned i = 0; i < outputs.size(); ++i) record = builder.CreateInsertValue(record, copies[outputs[i]], i);
  builder.CreateRet(record);

  builder.SetInsertPoint(loop.before->getTerminator());
  llvm::CallInst* call = builder.CreateCall(function, inputs.getArrayRef());
  for (llvm::PHINode& phi : loop.after->phis()) {
    const auto index = static_cast<unsigned>(phi.getBasicBlockIndex(loop.block));
    const auto* place = llvm::find(outputs, phi.getIncomingValue(index));
    if (place != outputs.end())
      phi.setIncomingValue(index, builder.CreateExtractValue(call, static_cast<unsigned>(place - outputs.begin())));
    phi.setIncomingBlock(index, loop.before);
  }
  builder.CreateBr(loop.after);
  loop.before->getTerminator()->eraseFromParent();
  loop.block->dropAllReferences();
  loop.block->eraseFromParent();
  return *function;
}

}  // namespace

std::set<llvm::Function*> outline_range_loops(llvm::Function& function, WarpLayout layout) {
  std::vector<RangeLoop> found;
  {
    Divergence divergence(function);
    if (divergence.loops().empty()) return {};
    const LanePatterns patterns(function, divergence, layout);
    for (const llvm::Loop* loop : divergence.loops().getLoopsInPreorder())
      if (std::optional<RangeLoop> one = range_loop(*loop, divergence, patterns)) found.push_back(*one);
  }
  std::set<llvm::Function*> outlined;
  for (const RangeLoop& loop : found) outlined.insert(&outline(loop, function));
  return outlined;
}

}  // namespace gpulua::cpu::simd
