#include "src/device/cpu/simd/widen_atomics.h"

#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <algorithm>

#include "src/device/cpu/simd/privatised_histograms.h"

namespace gpulua::cpu::simd {
namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

/// The neutral element of a reduction; null for operations that cannot be reduced.
llvm::Constant* identity(Operation operation, llvm::Type* type) {
  const unsigned bits = type->getScalarSizeInBits();
  switch (operation) {
    case Operation::Add:
    case Operation::Sub:
    case Operation::Or:
    case Operation::Xor:
    case Operation::UMax:
      return llvm::ConstantInt::get(type, 0);
    case Operation::And:
    case Operation::UMin:
      return llvm::Constant::getAllOnesValue(type);
    case Operation::Max:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMinValue(bits));
    case Operation::Min:
      return llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(bits));
    case Operation::FAdd:
    case Operation::FSub:
      return llvm::ConstantFP::getZero(type, /*Negative=*/true);
    default:
      return nullptr;
  }
}

llvm::Value* reduce(llvm::IRBuilder<>& builder, Operation operation, llvm::Value* values) {
  switch (operation) {
    case Operation::Or:
      return builder.CreateOrReduce(values);
    case Operation::Xor:
      return builder.CreateXorReduce(values);
    case Operation::And:
      return builder.CreateAndReduce(values);
    case Operation::Max:
    case Operation::UMax:
      return builder.CreateIntMaxReduce(values, operation == Operation::Max);
    case Operation::Min:
    case Operation::UMin:
      return builder.CreateIntMinReduce(values, operation == Operation::Min);
    case Operation::FAdd:
    case Operation::FSub: {
      auto* type = llvm::cast<llvm::VectorType>(values->getType())->getElementType();
      llvm::CallInst* sum = builder.CreateFAddReduce(llvm::ConstantFP::getZero(type, true), values);
      sum->setHasAllowReassoc(true);  // atomics come in any order
      return sum;
    }
    default:
      return builder.CreateAddReduce(values);
  }
}

/// An exclusive scan: for each lane, the reduction of the lanes before it.
llvm::Value* scan(llvm::IRBuilder<>& builder, Operation operation, llvm::Value* values, llvm::Value* neutral) {
  auto shift = [&](llvm::Value* vector, unsigned lanes) {
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < lane_count(); ++lane)
      order.push_back(static_cast<int>(lane < lanes ? lane_count() : lane - lanes));
    return builder.CreateShuffleVector(vector, neutral, order);
  };
  values = shift(values, 1);
  for (unsigned lanes = 1; lanes < lane_count(); lanes *= 2)
    values = llvm::buildAtomicRMWValue(operation, builder, values, shift(values, lanes));
  return values;
}

}  // namespace

/// All lanes have one address: one operation with the reduction of their values. Each lane gets the old value that it
/// would get if they ran one after the other.
llvm::Value* Atomics::emit_combined(const llvm::AtomicRMWInst& atomic) {
  const Operation operation = atomic.getOperation();
  // Subtractions: the values are added, and subtracted at once.
  const Operation gathering = operation == Operation::Sub    ? Operation::Add
                              : operation == Operation::FSub ? Operation::FAdd
                                                             : operation;
  llvm::Value* neutral =
      llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lane_count()), identity(gathering, atomic.getType()));
  llvm::Value* values = builder_.CreateSelect(warp_.mask(), warp_.vector(atomic.getValOperand()), neutral);
  llvm::Value* total = reduce(builder_, gathering, values);
  auto* copy = llvm::cast<llvm::AtomicRMWInst>(builder_.Insert(atomic.clone()));
  copy->setOperand(0, warp_.scalar(atomic.getPointerOperand()));
  copy->setOperand(1, total);
  copy->setDebugLoc({});
  if (atomic.use_empty()) return llvm::PoisonValue::get(values->getType());
  return llvm::buildAtomicRMWValue(operation, builder_, builder_.CreateVectorSplat(lane_count(), copy),
                                   scan(builder_, gathering, values, neutral));
}

llvm::Value* Atomics::emit(const llvm::AtomicRMWInst& atomic) {
  const bool is_float = atomic.isFloatingPointOperation();  // sums round in the order of the lanes
  const bool combines = warp_.is_uniform(atomic.getPointerOperand()) && !atomic.isVolatile() &&
                        identity(atomic.getOperation(), atomic.getType()) != nullptr &&
                        (atomic.use_empty() || !is_float);
  return combines ? emit_combined(atomic) : lanes_.emit(atomic);
}

/// True if an active lane accesses the first histogram_bytes of the array that begins at `start`.
llvm::Value* Atomics::overlaps(const llvm::Value* address, llvm::Value* start, std::uint64_t bytes) {
  llvm::Type* i64 = builder_.getInt64Ty();
  const LanePattern pattern = warp_.pattern(address);
  // An access that begins up to bytes - 1 before the histogram's elements still overlaps them.
  if (!pattern.is_affine()) {
    llvm::Value* offsets = builder_.CreateSub(builder_.CreatePtrToInt(warp_.vector(address), widened(i64)),
                                              builder_.CreateVectorSplat(lane_count(), start));
    offsets = builder_.CreateAdd(offsets, llvm::ConstantInt::get(widened(i64), bytes - 1));
    llvm::Value* limit = llvm::ConstantInt::get(widened(i64), histogram_bytes + bytes - 1);
    return warp_.any(builder_.CreateLogicalAnd(warp_.mask(), builder_.CreateICmpULT(offsets, limit)));
  }
  std::int64_t first = 0, last = 0;
  for (unsigned lane = 0; lane < lane_count(); ++lane) {
    first = std::min(first, pattern.offset(lane));
    last = std::max(last, pattern.offset(lane));
  }
  const std::uint64_t all = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + bytes;
  llvm::Value* offset = builder_.CreateSub(builder_.CreatePtrToInt(warp_.scalar(address), i64), start);
  offset = builder_.CreateAdd(offset, builder_.getInt64(static_cast<std::uint64_t>(first) + all - 1));
  return builder_.CreateICmpULT(offset, builder_.getInt64(histogram_bytes + all - 1));
}

void Atomics::emit_flush(const llvm::CallInst& call) {
  const auto bytes = llvm::cast<llvm::ConstantInt>(call.getArgOperand(3))->getZExtValue();
  llvm::Value* array = warp_.scalar(call.getArgOperand(1));
  llvm::Value* start = builder_.CreatePtrToInt(array, builder_.getInt64Ty());
  llvm::Value* condition = overlaps(call.getArgOperand(2), start, bytes);
  llvm::BasicBlock* flush = warp_.new_block("flush");
  llvm::BasicBlock* flushed = warp_.new_block("flushed");
  builder_.CreateCondBr(condition, flush, flushed);
  builder_.SetInsertPoint(flush);
  llvm::Instruction* copy = builder_.Insert(call.clone());
  copy->setOperand(1, array);
  copy->setOperand(2, array);
  builder_.CreateBr(flushed);
  builder_.SetInsertPoint(flushed);
}

}  // namespace gpulua::cpu::simd
