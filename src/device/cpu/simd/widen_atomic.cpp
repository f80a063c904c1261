// Atomics: one operation for all lanes where they mean one place, and else one after the other.

#include <llvm/Transforms/Utils/LowerAtomic.h>

#include <algorithm>

#include "src/device/cpu/simd/privatised_histograms.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

using Operation = llvm::AtomicRMWInst::BinOp;

/// What adds nothing to a reduction; none for what cannot be reduced.
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

/// For each lane, the values of the lanes ahead of it together.
llvm::Value* scan(llvm::IRBuilder<>& builder, Operation operation, llvm::Value* values, llvm::Value* neutral) {
  auto shift = [&](llvm::Value* vector, unsigned lanes) {
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < warp_size; ++lane)
      order.push_back(static_cast<int>(lane < lanes ? warp_size : lane - lanes));
    return builder.CreateShuffleVector(vector, neutral, order);
  };
  values = shift(values, 1);
  for (unsigned lanes = 1; lanes < warp_size; lanes *= 2)
    values = llvm::buildAtomicRMWValue(operation, builder, values, shift(values, lanes));
  return values;
}

}  // namespace

/// For lanes that mean one place: the operation with what they give together. Each finds there what it would have found
/// had they come one after the other.
llvm::Value* Widener::emit_together(const llvm::AtomicRMWInst& atomic) {
  const Operation operation = atomic.getOperation();
  // What is taken away adds up.
  const Operation gathering = operation == Operation::Sub    ? Operation::Add
                              : operation == Operation::FSub ? Operation::FAdd
                                                             : operation;
  llvm::Value* neutral =
      llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(warp_size), identity(gathering, atomic.getType()));
  llvm::Value* values = builder_.CreateSelect(mask(), vector(atomic.getValOperand()), neutral);
  llvm::Value* total = reduce(builder_, gathering, values);
  auto* copy = llvm::cast<llvm::AtomicRMWInst>(builder_.Insert(atomic.clone()));
  copy->setOperand(0, scalar(atomic.getPointerOperand()));
  copy->setOperand(1, total);
  copy->setDebugLoc({});
  if (atomic.use_empty()) return llvm::PoisonValue::get(values->getType());
  return llvm::buildAtomicRMWValue(operation, builder_, builder_.CreateVectorSplat(warp_size, copy),
                                   scan(builder_, gathering, values, neutral));
}

llvm::Value* Widener::emit_atomic(const llvm::AtomicRMWInst& atomic) {
  const bool is_number = atomic.isFloatingPointOperation();  // which round in the lanes' order
  const bool together = is_uniform(atomic.getPointerOperand()) && !atomic.isVolatile() &&
                        identity(atomic.getOperation(), atomic.getType()) != nullptr &&
                        (atomic.use_empty() || !is_number);
  return together ? emit_together(atomic) : emit_for_each_lane(atomic);
}

/// Where lanes go near what the histogram is for.
llvm::Value* Widener::emit_flush(const llvm::CallInst& call) {
  const llvm::Value* address = call.getArgOperand(2);
  const auto bytes = llvm::cast<llvm::ConstantInt>(call.getArgOperand(3))->getZExtValue();
  llvm::Type* i64 = builder_.getInt64Ty();
  llvm::Value* array = scalar(call.getArgOperand(1));
  llvm::Value* start = builder_.CreatePtrToInt(array, i64);
  llvm::Value* near;
  // With as many bytes ahead of the histogram's as an access may begin there and still reach them.
  if (const LanePattern pattern = patterns_(address); !pattern.is_affine()) {
    llvm::Value* offsets = builder_.CreateSub(builder_.CreatePtrToInt(vector(address), widened(i64)),
                                              builder_.CreateVectorSplat(warp_size, start));
    offsets = builder_.CreateAdd(offsets, llvm::ConstantInt::get(widened(i64), bytes - 1));
    llvm::Value* limit = llvm::ConstantInt::get(widened(i64), histogram_bytes + bytes - 1);
    near = any(builder_.CreateLogicalAnd(mask(), builder_.CreateICmpULT(offsets, limit)));
  } else {
    std::int64_t first = 0, last = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      first = std::min(first, pattern.offset(lane));
      last = std::max(last, pattern.offset(lane));
    }
    const std::uint64_t all = static_cast<std::uint64_t>(last) - static_cast<std::uint64_t>(first) + bytes;
    llvm::Value* offset = builder_.CreateSub(builder_.CreatePtrToInt(scalar(address), i64), start);
    offset = builder_.CreateAdd(offset, builder_.getInt64(static_cast<std::uint64_t>(first) + all - 1));
    near = builder_.CreateICmpULT(offset, builder_.getInt64(histogram_bytes + all - 1));
  }
  llvm::BasicBlock* flush = new_block("flush");
  llvm::BasicBlock* flushed = new_block("flushed");
  builder_.CreateCondBr(near, flush, flushed);
  builder_.SetInsertPoint(flush);
  llvm::Instruction* copy = builder_.Insert(call.clone());
  copy->setOperand(1, array);
  copy->setOperand(2, array);
  builder_.CreateBr(flushed);
  builder_.SetInsertPoint(flushed);
  return nullptr;
}

}  // namespace gpulua::cpu::simd
