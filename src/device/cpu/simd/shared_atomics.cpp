#include "src/device/cpu/simd/shared_atomics.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <algorithm>
#include <vector>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/simd/runtime_calls.h"

namespace gpulua::cpu::simd {
namespace {

/// True for the base address of shared memory as prepare() makes it: loaded from the ThreadContext.
bool is_shared_memory(const llvm::Value* object, const llvm::Function& prepared) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
  if (load == nullptr) return false;
  const std::optional<std::uint64_t> field = context_offset(load->getPointerOperand(), prepared);
  return field == offsetof(ThreadContext, shared) || field == offsetof(ThreadContext, dynamic_shared);
}

}  // namespace

bool points_to_shared_memory(const llvm::Value* pointer, const llvm::Function& prepared) {
  llvm::SmallVector<const llvm::Value*> objects;
  llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
  return std::all_of(objects.begin(), objects.end(),
                     [&](const llvm::Value* object) { return is_shared_memory(object, prepared); });
}

void mark_shared_atomics(llvm::Function& prepared) {
  for (llvm::Instruction& instruction : llvm::instructions(prepared)) {
    if (instruction.isVolatile()) continue;
    if (auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      if (points_to_shared_memory(operation->getPointerOperand(), prepared))
        operation->setSyncScopeID(llvm::SyncScope::SingleThread);
    } else if (auto* exchange = llvm::dyn_cast<llvm::AtomicCmpXchgInst>(&instruction)) {
      if (points_to_shared_memory(exchange->getPointerOperand(), prepared))
        exchange->setSyncScopeID(llvm::SyncScope::SingleThread);
    }
  }
}

bool is_shared_atomic(const llvm::Instruction& instruction) {
  return llvm::isa<llvm::AtomicRMWInst, llvm::AtomicCmpXchgInst>(instruction) &&
         llvm::getAtomicSyncScopeID(&instruction) == llvm::SyncScope::SingleThread;
}

void lower_shared_atomics(llvm::Function& widened) {
  for (llvm::Instruction* instruction : collect<llvm::Instruction>(widened, is_shared_atomic)) {
    if (auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(instruction))
      llvm::lowerAtomicRMWInst(operation);
    else
      llvm::lowerAtomicCmpXchgInst(llvm::cast<llvm::AtomicCmpXchgInst>(instruction));
  }
}

}  // namespace gpulua::cpu::simd
