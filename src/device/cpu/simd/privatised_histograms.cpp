#include "src/device/cpu/simd/privatised_histograms.h"

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

// Each flush costs a comparison.
constexpr std::size_t max_flushes = 4;

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

/// The memory accesses of a kernel that can have private histograms.
class Accesses {
 public:
  explicit Accesses(llvm::Function& prepared) : prepared_(prepared) {}

  /// False for a kernel that cannot have any.
  bool collect() {
    for (llvm::Instruction& instruction : llvm::instructions(prepared_))
      if (!add(instruction)) return false;
    std::erase_if(others_, [&](llvm::Instruction* access) { return is_elsewhere(*access); });
    return !additions_.empty() && others_.size() * arrays_.size() <= max_flushes;
  }
  const std::vector<Addition>& additions() const { return additions_; }
  const std::vector<llvm::Argument*>& arrays() const { return arrays_; }
  /// Loads and stores that may access the arrays.
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

void redirect(llvm::AtomicRMWInst& atomic, llvm::Value* histogram, llvm::Value* index) {
  llvm::IRBuilder<> builder(&atomic);
  atomic.setOperand(0, builder.CreateInBoundsGEP(builder.getInt32Ty(), histogram, index));
  atomic.setSyncScopeID(llvm::SyncScope::SingleThread);
}

void add_privately(const Addition& addition, llvm::Value* histogram) {
  const llvm::DataLayout& layout = addition.atomic->getModule()->getDataLayout();
  if (llvm::computeKnownBits(addition.index, layout).getMaxValue().ult(histogram_elements))
    return redirect(*addition.atomic, histogram, addition.index);
  llvm::IRBuilder<> builder(addition.atomic);
  llvm::Instruction *then, *otherwise;
  llvm::SplitBlockAndInsertIfThenElse(builder.CreateICmpULT(addition.index, builder.getInt64(histogram_elements)),
                                      addition.atomic->getIterator(), &then, &otherwise);
  auto* copy = llvm::cast<llvm::AtomicRMWInst>(addition.atomic->clone());
  copy->insertBefore(then->getIterator());
  redirect(*copy, histogram, addition.index);
  addition.atomic->moveBefore(otherwise);
}

}  // namespace

void privatise_histograms(llvm::Function& prepared) {
  Accesses accesses(prepared);
  if (!accesses.collect()) return;
  const llvm::DataLayout& layout = prepared.getParent()->getDataLayout();
  for (llvm::Argument* array : accesses.arrays()) {
    llvm::IRBuilder<> builder(&*prepared.getEntryBlock().getFirstInsertionPt());
    llvm::Value* number = builder.getInt32(array->getArgNo());
    llvm::CallInst* histogram = call_marker(builder, Marker::private_histogram, builder.getPtrTy(), {number});
    histogram->setDoesNotAccessMemory();
    for (const Addition& addition : accesses.additions())
      if (addition.array == array) add_privately(addition, histogram);
    for (llvm::Instruction* access : accesses.others()) {
      builder.SetInsertPoint(access);
      llvm::Value* bytes = builder.getInt64(layout.getTypeStoreSize(llvm::getLoadStoreType(access)));
      call_marker(builder, Marker::flush_histogram, builder.getVoidTy(),
                  {number, array, llvm::getLoadStorePointerOperand(access), bytes});
    }
  }
}

void make_private_histograms(llvm::Function& run, const SourceKernel& kernel) {
  std::vector<llvm::CallInst*> flushes;
  std::map<std::uint64_t, llvm::Value*> histograms;  // by the number of the parameter
  auto number_of = [](const llvm::CallInst* call) {
    return llvm::cast<llvm::ConstantInt>(call->getArgOperand(0))->getZExtValue();
  };
  llvm::IRBuilder<> builder(&*run.getEntryBlock().getFirstInsertionPt());
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(run))) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    if (marker(&instruction) == Marker::flush_histogram) flushes.push_back(call);
    if (marker(&instruction) != Marker::private_histogram) continue;
    llvm::Value*& histogram = histograms[number_of(call)];
    if (histogram == nullptr) {
      llvm::AllocaInst* memory =
          builder.CreateAlloca(llvm::ArrayType::get(builder.getInt8Ty(), histogram_bytes), nullptr, "histogram");
      memory->setAlignment(llvm::Align(64));
      builder.CreateMemSet(memory, builder.getInt8(0), histogram_bytes, memory->getAlign());
      // Processors predict loads relative to the stack pointer from earlier stores, and predict a table's wrongly.
      histogram = hide_origin(builder, memory);
    }
    call->replaceAllUsesWith(histogram);
    call->eraseFromParent();
  }
  llvm::Function* flush = run.getParent()->getFunction(flush_function);
  for (llvm::CallInst* call : flushes) {
    builder.SetInsertPoint(call);
    builder.CreateCall(flush, {call->getArgOperand(1), histograms.at(number_of(call))});
    call->eraseFromParent();
  }
  if (histograms.empty()) return;
  for (llvm::BasicBlock& block : run) {
    if (!llvm::isa<llvm::ReturnInst>(block.getTerminator())) continue;
    builder.SetInsertPoint(block.getTerminator());
    for (const auto& [number, histogram] : histograms) {
      // The ThreadContext is the first parameter, and none of the launch's arguments.
      const AbiArgument& array = kernel.arguments[number - 1];
      llvm::Value* place = builder.CreateConstGEP1_64(builder.getPtrTy(), run.getArg(0), array.parameter);
      llvm::Value* argument =
          builder.CreateConstGEP1_64(builder.getInt8Ty(), builder.CreateLoad(builder.getPtrTy(), place), array.offset);
      builder.CreateCall(flush, {builder.CreateLoad(builder.getPtrTy(), argument), histogram});
    }
  }
}

}  // namespace gpulua::cpu::simd
