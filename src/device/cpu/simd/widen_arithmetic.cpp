#include "src/device/cpu/simd/widen_arithmetic.h"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>

#include "src/device/cpu/simd/full_mask_loops.h"
#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {

void Arithmetic::emit_scalar(const llvm::Instruction& instruction) {
  warp_.set_scalar(&instruction, emit_base(instruction, 0));
  if (warp_.pattern(&instruction).is_half_affine()) warp_.set_second(&instruction, emit_base(instruction, 1));
}

/// The value in lane 0 (or 16). That lane may be inactive, so the computation may wrap where active lanes must not.
llvm::Value* Arithmetic::emit_base(const llvm::Instruction& instruction, unsigned half) {
  const bool uniform = std::all_of(instruction.op_begin(), instruction.op_end(),
                                   [&](const llvm::Use& use) { return warp_.is_uniform(use); });
  if (!uniform && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(instruction)) {
    const llvm::Value* operand = instruction.getOperand(0);
    const bool is_signed =
        llvm::isa<llvm::SExtInst>(instruction) || warp_.patterns().extended(operand, false).is_varying();
    return extended(operand, instruction.getType(), is_signed, half);
  }
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction);
  const auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction);
  if (!uniform && either != nullptr && either->isDisjoint())
    return builder_.CreateAdd(warp_.base(binary->getOperand(0), half), warp_.base(binary->getOperand(1), half));
  if (!uniform && binary != nullptr && binary->getOpcode() == llvm::Instruction::And) {
    // Masks off the bits that the base has as zeros: LLVM then sees constant lane numbers.
    const unsigned bits = binary->getType()->getIntegerBitWidth();
    const LanePattern pattern = warp_.pattern(binary->getOperand(0));
    const bool in_halves = warp_.pattern(&instruction).is_half_affine();
    const unsigned zeros = std::min(in_halves ? pattern.per_half().zeros : pattern.zeros, bits);
    llvm::Value* kept =
        builder_.CreateAnd(warp_.base(binary->getOperand(1), half),
                           llvm::ConstantInt::get(binary->getType(), llvm::APInt::getHighBitsSet(bits, bits - zeros)));
    return builder_.CreateAnd(warp_.base(binary->getOperand(0), half), kept);
  }
  llvm::Instruction* copy = instruction.clone();
  for (llvm::Use& operand : copy->operands()) operand.set(warp_.base(operand, half));
  if (!uniform && llvm::isa<llvm::GetElementPtrInst>(copy)) {
    for (unsigned i = 1; i < copy->getNumOperands(); ++i) {
      const llvm::Value* index = instruction.getOperand(i);
      if (!warp_.is_uniform(index) && index->getType()->getIntegerBitWidth() < 64)
        copy->setOperand(i, extended(index, builder_.getInt64Ty(), true, half));
    }
  }
  if (!uniform) copy->dropPoisonGeneratingFlags();
  copy->dropUnknownNonDebugMetadata();
  copy->setDebugLoc({});
  return builder_.Insert(copy, instruction.getName());
}

llvm::Value* Arithmetic::extended(const llvm::Value* value, llvm::Type* type, bool is_signed, unsigned half) {
  if (warp_.patterns().extends_at_base(value, is_signed))
    return is_signed ? builder_.CreateSExt(warp_.base(value, half), type)
                     : builder_.CreateZExt(warp_.base(value, half), type);
  const auto& binary = llvm::cast<llvm::BinaryOperator>(*value);
  llvm::Value* a = extended(binary.getOperand(0), type, is_signed, half);
  llvm::Value* b =
      extended(binary.getOperand(1), type, is_signed && binary.getOpcode() != llvm::Instruction::Shl, half);
  if (binary.getOpcode() == llvm::Instruction::Or) return builder_.CreateAdd(a, b);
  return builder_.CreateBinOp(binary.getOpcode(), a, b);
}

llvm::Value* Arithmetic::emit_vector(const llvm::Instruction& instruction) {
  auto operand = [&](unsigned i) { return warp_.vector(instruction.getOperand(i)); };
  llvm::Value* result = nullptr;
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    result = emit_binary(*binary);
  } else if (const auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) {
    result = builder_.CreateCast(cast->getOpcode(), operand(0), widened(cast->getType()));
  } else if (const auto* compare = llvm::dyn_cast<llvm::CmpInst>(&instruction)) {
    if (llvm::Value* lanes = emit_bound(*compare)) return lanes;
    result = builder_.CreateCmp(compare->getPredicate(), operand(0), operand(1));
  } else if (llvm::isa<llvm::SelectInst>(instruction)) {
    llvm::Value* condition = warp_.is_uniform(instruction.getOperand(0)) && !instruction.getType()->isStructTy()
                                 ? warp_.scalar(instruction.getOperand(0))
                                 : operand(0);
    result = builder_.CreateSelect(condition, operand(1), operand(2));
  } else if (instruction.getOpcode() == llvm::Instruction::FNeg) {
    result = builder_.CreateFNeg(operand(0));
  } else if (llvm::isa<llvm::FreezeInst>(instruction)) {
    result = builder_.CreateFreeze(operand(0));
  } else if (const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    return emit_address(*address);
  } else if (const auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction)) {
    return builder_.CreateExtractValue(operand(0), extract->getIndices());
  } else if (const auto* insert = llvm::dyn_cast<llvm::InsertValueInst>(&instruction)) {
    return builder_.CreateInsertValue(operand(0), operand(1), insert->getIndices());
  } else {
    return nullptr;
  }
  if (auto* made = llvm::dyn_cast<llvm::Instruction>(result);
      made != nullptr && made->getOpcode() == instruction.getOpcode()) {
    made->copyIRFlags(&instruction);
    made->setName(instruction.getName());
  }
  return result;
}

/// `i < n` where the lanes' i are consecutive: the first n - i lanes, without a vector of i. Null for other
/// comparisons.
llvm::Value* Arithmetic::emit_bound(const llvm::CmpInst& compare) {
  const bool swapped = warp_.is_uniform(compare.getOperand(0));
  const llvm::Value* index = compare.getOperand(swapped);
  const llvm::Value* bound = compare.getOperand(!swapped);
  if (!llvm::isa<llvm::ICmpInst>(compare) || !index->getType()->isIntegerTy() ||
      !warp_.pattern(index).is_consecutive(1) || !warp_.is_uniform(bound))
    return nullptr;
  auto predicate = swapped ? compare.getSwappedPredicate() : compare.getPredicate();
  const bool negated = predicate == llvm::CmpInst::ICMP_UGE || predicate == llvm::CmpInst::ICMP_SGE;
  if (negated) predicate = llvm::CmpInst::getInversePredicate(predicate);
  if (predicate != llvm::CmpInst::ICMP_ULT && predicate != llvm::CmpInst::ICMP_SLT) return nullptr;
  llvm::Type* type = index->getType();
  llvm::Value* size = llvm::ConstantInt::get(type, lane_count());
  llvm::Value* zero = llvm::Constant::getNullValue(type);
  llvm::Value* all = builder_.getInt64(~0ull);
  auto wide = [&](llvm::Value* lanes) { return builder_.CreateZExtOrTrunc(lanes, builder_.getInt64Ty()); };
  auto first_lanes = [&](llvm::Value* number) {
    llvm::Value* lanes = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::umin, size, number);
    return builder_.CreateNot(builder_.CreateShl(all, wide(lanes)));
  };
  llvm::Value* base = warp_.scalar(index);
  llvm::Value* end = warp_.scalar(bound);
  llvm::Value* bits = first_lanes(
      builder_.CreateSelect(builder_.CreateICmp(predicate, base, end), builder_.CreateSub(end, base), zero));
  if (const bool is_signed = predicate == llvm::CmpInst::ICMP_SLT;
      !warp_.patterns().extends_at_base(index, is_signed)) {
    // Lanes that wrap, which are rare, continue at the least number.
    llvm::Value* least =
        is_signed ? builder_.CreateShl(llvm::ConstantInt::get(type, 1), type->getIntegerBitWidth() - 1) : zero;
    llvm::Value* last = builder_.CreateSub(least, llvm::ConstantInt::get(type, 1));
    llvm::Value* before_last = builder_.CreateSub(last, base);
    bits = warp_.either(
        builder_.CreateICmpUGE(before_last, llvm::ConstantInt::get(type, lane_count() - 1)), [&] { return bits; },
        [&] {
          llvm::Value* before = builder_.CreateSub(least, base);
          return builder_.CreateOr(bits, builder_.CreateShl(first_lanes(builder_.CreateSub(end, least)), wide(before)));
        });
  }
  if (negated) bits = builder_.CreateNot(bits);
  return builder_.CreateBitCast(builder_.CreateTrunc(bits, builder_.getIntNTy(lane_count())),
                                widened(builder_.getInt1Ty()));
}

llvm::Value* Arithmetic::emit_all_lanes(const llvm::ICmpInst& compare) {
  if (llvm::Value* all = emit_ends(compare, compare.getPredicate())) return all;
  return builder_.CreateNot(
      warp_.any(builder_.CreateLogicalAnd(warp_.mask(), builder_.CreateNot(warp_.vector(&compare)))));
}

/// True if `predicate` holds for the operands of the comparison in all lanes, active or not: lane 0 has the least i and
/// lane 31 the greatest, unless it wraps. Null where the lanes' numbers do not ascend.
llvm::Value* Arithmetic::emit_ends(const llvm::ICmpInst& compare, llvm::CmpInst::Predicate predicate) {
  const bool swapped = warp_.is_uniform(compare.getOperand(0));
  const llvm::Value* index = compare.getOperand(swapped ? 1 : 0);
  const llvm::Value* bound = compare.getOperand(swapped ? 0 : 1);
  if (!is_ascending(index->getType(), warp_.pattern(index)) || !warp_.is_uniform(bound) ||
      llvm::ICmpInst::isEquality(predicate))
    return nullptr;
  if (swapped) predicate = llvm::CmpInst::getSwappedPredicate(predicate);
  const bool is_signed = llvm::CmpInst::isSigned(predicate);
  llvm::Type* type = index->getType();
  llvm::Value* first = warp_.scalar(index);
  const std::int64_t span = warp_.pattern(index).offset(lane_count() - 1);
  if (llvm::ICmpInst::isGT(predicate) || llvm::ICmpInst::isGE(predicate)) {
    const unsigned bits = type->getIntegerBitWidth();
    const llvm::APInt most = (is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits)) -
                             static_cast<std::uint64_t>(span);
    return builder_.CreateAnd(builder_.CreateICmp(predicate, first, warp_.scalar(bound)),
                              builder_.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SLE : llvm::CmpInst::ICMP_ULE, first,
                                                  llvm::ConstantInt::get(type, most)));
  }
  const std::int64_t beyond = llvm::CmpInst::isStrictPredicate(predicate) ? 0 : 1;
  // Lane 0's i must be below `end`. Nothing is below the least number.
  llvm::Value* end =
      builder_.CreateBinaryIntrinsic(is_signed ? llvm::Intrinsic::ssub_sat : llvm::Intrinsic::usub_sat,
                                     warp_.scalar(bound), llvm::ConstantInt::getSigned(type, span - beyond));
  return builder_.CreateICmp(is_signed ? llvm::CmpInst::ICMP_SLT : llvm::CmpInst::ICMP_ULT, first, end);
}

/// True if the condition has this value in all lanes, active or not.
llvm::Value* Arithmetic::emit_everywhere(const llvm::Value* condition, bool value) {
  using namespace llvm::PatternMatch;
  const llvm::Value *a = nullptr, *b = nullptr;
  if (warp_.is_uniform(condition)) return builder_.CreateICmpEQ(warp_.scalar(condition), builder_.getInt1(value));
  const bool both = value ? match(condition, m_LogicalAnd(m_Value(a), m_Value(b)))
                          : match(condition, m_LogicalOr(m_Value(a), m_Value(b)));
  // Frozen: `b` may be poison where `a` decides.
  if (both) return builder_.CreateAnd(emit_everywhere(a, value), builder_.CreateFreeze(emit_everywhere(b, value)));
  if (const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition))
    if (llvm::Value* all = emit_ends(*compare, value ? compare->getPredicate() : compare->getInversePredicate()))
      return all;
  return builder_.CreateICmpEQ(warp_.bits_of(warp_.vector(condition)), builder_.getInt32(value ? all_lanes() : 0));
}

llvm::Value* Arithmetic::emit_whole_warp(const llvm::CallInst& call) {
  llvm::Value* all =
      emit_everywhere(call.getArgOperand(0), llvm::cast<llvm::ConstantInt>(call.getArgOperand(1))->isOne());
  all = builder_.CreateAnd(all, warp_.scalar(call.getArgOperand(2)));
  if (warp_.mask_is_full()) return all;
  return builder_.CreateAnd(builder_.CreateICmpEQ(warp_.bits_of(warp_.mask()), builder_.getInt32(all_lanes())), all);
}

llvm::Value* Arithmetic::emit_binary(const llvm::BinaryOperator& binary) {
  llvm::Value* a = warp_.vector(binary.getOperand(0));
  llvm::Value* b = warp_.vector(binary.getOperand(1));
  const bool constant_divisor = llvm::isa<llvm::Constant>(binary.getOperand(1));
  if (binary.isIntDivRem() && !constant_divisor) return emit_division(binary.getOpcode(), a, b);
  return builder_.CreateBinOp(binary.getOpcode(), a, b);
}

/// Processors have no vector division of integers. The truncated quotient of doubles is exact for up to 32 bits. In
/// active lanes the divisor is neither 0 nor, where that overflows, -1 (checks.h); in others it may be anything, and an
/// integer division would trap.
llvm::Value* Arithmetic::emit_division(llvm::Instruction::BinaryOps opcode, llvm::Value* a, llvm::Value* b) {
  auto* type = llvm::cast<llvm::VectorType>(a->getType());
  if (type->getScalarSizeInBits() > 32) {
    llvm::Value* one = llvm::ConstantInt::get(type, 1);
    return builder_.CreateBinOp(opcode, a, warp_.mask_is_full() ? b : builder_.CreateSelect(warp_.mask(), b, one));
  }
  const bool is_signed = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::SRem;
  const bool is_quotient = opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::UDiv;
  llvm::Type* real = widened(builder_.getDoubleTy());
  auto to_real = [&](llvm::Value* x) {
    return is_signed ? builder_.CreateSIToFP(x, real) : builder_.CreateUIToFP(x, real);
  };
  llvm::Value* exact = builder_.CreateFDiv(to_real(a), to_real(b));
  llvm::Value* quotient = is_signed ? builder_.CreateFPToSI(exact, type) : builder_.CreateFPToUI(exact, type);
  return is_quotient ? quotient : builder_.CreateSub(a, builder_.CreateMul(quotient, b));
}

/// The scalar base plus offsets in bytes, with `narrow` of 32 bits: private memory is small.
llvm::Value* Arithmetic::emit_offsets(const llvm::GetElementPtrInst& address, bool narrow) {
  const llvm::Value* base = address.getPointerOperand();
  llvm::Type* element = narrow ? builder_.getInt32Ty() : builder_.getInt64Ty();
  llvm::Value* total = warp_.offsets(element, warp_.pattern(base));
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    llvm::Value* part;
    if (llvm::StructType* record = type.getStructTypeOrNull()) {
      const auto field = llvm::cast<llvm::ConstantInt>(type.getOperand())->getZExtValue();
      const std::uint64_t offset =
          warp_.layout().getStructLayout(record)->getElementOffset(static_cast<unsigned>(field));
      part = llvm::ConstantInt::get(widened(element), offset);
    } else {
      const std::uint64_t bytes = type.getSequentialElementStride(warp_.layout()).getFixedValue();
      part = builder_.CreateMul(builder_.CreateSExtOrTrunc(warp_.vector(type.getOperand()), widened(element)),
                                llvm::ConstantInt::get(widened(element), bytes));
    }
    total = builder_.CreateAdd(total, part);
  }
  return builder_.CreateGEP(builder_.getInt8Ty(), warp_.scalar(base), total, address.getName());
}

/// Keeps scalar bases scalar: gathers take a scalar base and narrow offsets.
llvm::Value* Arithmetic::emit_address(const llvm::GetElementPtrInst& address) {
  const llvm::Value* base = address.getPointerOperand();
  const llvm::Value* object = base;
  while (const auto* inner = llvm::dyn_cast<llvm::GetElementPtrInst>(object)) object = inner->getPointerOperand();
  const bool own = marker(object) == Marker::private_memory;
  if (warp_.pattern(base).is_affine() && (own || !warp_.is_uniform(base) || address.getNumIndices() > 1))
    return emit_offsets(address, own);
  bool any_vector = !warp_.is_uniform(base);
  std::vector<llvm::Value*> indices;
  for (auto type = llvm::gep_type_begin(address); type != llvm::gep_type_end(address); ++type) {
    const llvm::Value* index = type.getOperand();
    const bool lanes_differ = !type.isStruct() && !warp_.is_uniform(index);
    any_vector = any_vector || lanes_differ;
    indices.push_back(lanes_differ ? warp_.vector(index) : warp_.scalar(index));
  }
  llvm::Value* result =
      builder_.CreateGEP(address.getSourceElementType(),
                         warp_.is_uniform(base) ? warp_.scalar(base) : warp_.vector(base), indices, address.getName());
  return any_vector ? result : builder_.CreateVectorSplat(lane_count(), result);
}

}  // namespace gpulua::cpu::simd
