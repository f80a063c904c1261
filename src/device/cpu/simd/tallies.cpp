#include "src/device/cpu/simd/tallies.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/shared_atomics.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// Each costs a comparison.
constexpr std::size_t most_settlements = 4;

/// `atomicAdd(&array[index], ...)` with an array that is a parameter of the kernel.
struct Addition {
  llvm::AtomicRMWInst* atomic;
  llvm::Argument* array;
  llvm::Value* index;  // i64
};

std::optional<Addition> as_addition(llvm::AtomicRMWInst& atomic) {
  if (atomic.getOperation() != llvm::AtomicRMWInst::Add || !atomic.getType()->isIntegerTy(32) || !atomic.use_empty() ||
      atomic.isVolatile() || atomic.getOrdering() != llvm::AtomicOrdering::Monotonic)
    return std::nullopt;
  llvm::Value* index = llvm::ConstantInt::get(llvm::Type::getInt64Ty(atomic.getContext()), 0);
  llvm::Value* pointer = atomic.getPointerOperand();
  if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(pointer)) {
    if (!address->getSourceElementType()->isIntegerTy(32) || address->getNumIndices() != 1) return std::nullopt;
    index = address->getOperand(1);
    pointer = address->getPointerOperand();
  }
  auto* array = llvm::dyn_cast<llvm::Argument>(pointer);
  if (array == nullptr || array->getArgNo() == 0 || array->hasByValAttr() || !index->getType()->isIntegerTy(64))
    return std::nullopt;
  return Addition{&atomic, array, index};
}

/// What a kernel does with memory, if it is no more than this.
class Accesses {
 public:
  explicit Accesses(llvm::Function& prepared) : prepared_(prepared) {}

  bool collect() {
    for (llvm::Instruction& instruction : llvm::instructions(prepared_))
      if (!add(instruction)) return false;
    std::erase_if(others_, [&](llvm::Instruction* access) { return is_elsewhere(*access); });
    return !additions_.empty() && others_.size() * arrays_.size() <= most_settlements;
  }
  const std::vector<Addition>& additions() const { return additions_; }
  const std::vector<llvm::Argument*>& arrays() const { return arrays_; }
  /// Loads and stores that may be to the arrays.
  const std::vector<llvm::Instruction*>& others() const { return others_; }

 private:
  bool add(llvm::Instruction& instruction) {
    if (!instruction.mayReadOrWriteMemory() || is_shared_atomic(instruction)) return true;
    if (auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
      const std::optional<Addition> addition = as_addition(*atomic);
      if (!addition) return false;
      additions_.push_back(*addition);
      if (std::find(arrays_.begin(), arrays_.end(), addition->array) == arrays_.end())
        arrays_.push_back(addition->array);
      return true;
    }
    if (llvm::isa<llvm::LoadInst, llvm::StoreInst>(instruction)) {
      others_.push_back(&instruction);
      return !instruction.isVolatile() && !instruction.isAtomic();
    }
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (call == nullptr) return false;
    return marker(call) == Marker::fail || call->onlyAccessesInaccessibleMemory() || call->isLifetimeStartOrEnd();
  }

  bool is_elsewhere(const llvm::Instruction& access) const {
    const llvm::Value* pointer = llvm::getLoadStorePointerOperand(&access);
    if (points_to_shared_memory(pointer, prepared_)) return true;
    llvm::SmallVector<const llvm::Value*> objects;
    llvm::getUnderlyingObjects(pointer, objects, nullptr, /*MaxLookup=*/0);
    return std::all_of(objects.begin(), objects.end(), [&](const llvm::Value* object) {
      if (object == prepared_.getArg(0) || marker(object) == Marker::private_memory) return true;
      const auto* argument = llvm::dyn_cast<llvm::Argument>(object);
      return argument != nullptr && argument->hasNoAliasAttr() &&
             std::find(arrays_.begin(), arrays_.end(), argument) == arrays_.end();
    });
  }

  llvm::Function& prepared_;
  std::vector<Addition> additions_;
  std::vector<llvm::Argument*> arrays_;
  std::vector<llvm::Instruction*> others_;
};

llvm::CallInst* call_marker(llvm::IRBuilder<>& builder, Marker marker, llvm::Type* result,
                            const std::vector<llvm::Value*>& arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* call = builder.CreateCall(builder.GetInsertBlock()->getModule()->getOrInsertFunction(
                                                marker_name(marker), llvm::FunctionType::get(result, types, false)),
                                            arguments);
  call->setDoesNotThrow();
  call->addFnAttr(llvm::Attribute::WillReturn);
  return call;
}

void redirect(llvm::AtomicRMWInst& atomic, llvm::Value* tally, llvm::Value* index) {
  llvm::IRBuilder<> builder(&atomic);
  atomic.setOperand(0, builder.CreateInBoundsGEP(builder.getInt32Ty(), tally, index));
  atomic.setSyncScopeID(llvm::SyncScope::SingleThread);
}

void add_to_tally(const Addition& addition, llvm::Value* tally) {
  const llvm::DataLayout& layout = addition.atomic->getModule()->getDataLayout();
  if (llvm::computeKnownBits(addition.index, layout).getMaxValue().ult(tally_elements))
    return redirect(*addition.atomic, tally, addition.index);
  llvm::IRBuilder<> builder(addition.atomic);
  llvm::Instruction *then, *otherwise;
  llvm::SplitBlockAndInsertIfThenElse(builder.CreateICmpULT(addition.index, builder.getInt64(tally_elements)),
                                      addition.atomic->getIterator(), &then, &otherwise);
  auto* copy = llvm::cast<llvm::AtomicRMWInst>(addition.atomic->clone());
  copy->insertBefore(then->getIterator());
  redirect(*copy, tally, addition.index);
  addition.atomic->moveBefore(otherwise);
}

}  // namespace

void keep_tallies(llvm::Function& prepared) {
  Accesses accesses(prepared);
  if (!accesses.collect()) return;
  const llvm::DataLayout& layout = prepared.getParent()->getDataLayout();
  for (llvm::Argument* array : accesses.arrays()) {
    llvm::IRBuilder<> builder(&*prepared.getEntryBlock().getFirstInsertionPt());
    llvm::Value* number = builder.getInt32(array->getArgNo());
    llvm::CallInst* tally = call_marker(builder, Marker::tally, builder.getPtrTy(), {number});
    tally->setDoesNotAccessMemory();
    for (const Addition& addition : accesses.additions())
      if (addition.array == array) add_to_tally(addition, tally);
    for (llvm::Instruction* access : accesses.others()) {
      builder.SetInsertPoint(access);
      llvm::Value* bytes = builder.getInt64(layout.getTypeStoreSize(llvm::getLoadStoreType(access)));
      call_marker(builder, Marker::settle, builder.getVoidTy(),
                  {number, array, llvm::getLoadStorePointerOperand(access), bytes});
    }
  }
}

void make_tallies(llvm::Function& run, const SourceKernel& kernel) {
  std::vector<llvm::CallInst*> settlements;
  std::map<std::uint64_t, llvm::Value*> tallies;  // by the number of the parameter
  auto number_of = [](const llvm::CallInst* call) {
    return llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
  };
  llvm::IRBuilder<> builder(&*run.getEntryBlock().getFirstInsertionPt());
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(run))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (marker(&instruction) == Marker::settle) settlements.push_back(call);
    if (marker(&instruction) != Marker::tally) continue;
    llvm::Value*& tally = tallies[number_of(call)];
    if (tally == nullptr) {
      llvm::AllocaInst* memory =
          builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), tally_bytes), nullptr, "tally");
      memory->setAlignment(llvm::Align(64));
      builder.CreateMemSet(memory, builder.getInt8(0), tally_bytes, memory->getAlign());
      // Processors foresee what is loaded from places relative to the stack pointer, wrongly for a table's.
      tally = hide_origin(builder, memory);
    }
    call->replaceAllUsesWith(tally);
    call->eraseFromParent();
  }
  llvm::Function* settle = run.getParent()->getFunction(settle_function);
  for (llvm::CallInst* call : settlements) {
    builder.SetInsertPoint(call);
    builder.CreateCall(settle, {call->getArgOperand(1), tallies.at(number_of(call))});
    call->eraseFromParent();
  }
  if (tallies.empty()) return;
  for (llvm::BasicBlock& block : run) {
    if (!llvm::isa<llvm::ReturnInst>(block.getTerminator())) continue;
    builder.SetInsertPoint(block.getTerminator());
    for (const auto& [number, tally] : tallies) {
      // The ThreadContext is the first parameter, and none of the launch's arguments.
      const AbiArgument& array = kernel.arguments[number - 1];
      llvm::Value* place = builder.CreateConstGEP1_64(builder.getPtrTy(), run.getArg(0), array.parameter);
      llvm::Value* argument =
          builder.CreateConstGEP1_64(builder.getInt8Ty(), builder.CreateLoad(builder.getPtrTy(), place), array.offset);
      builder.CreateCall(settle, {builder.CreateLoad(builder.getPtrTy(), argument), tally});
    }
  }
}

}  // namespace gpulua::cpu::simd
