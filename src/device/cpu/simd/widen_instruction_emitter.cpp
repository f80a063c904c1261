#include "src/device/cpu/simd/widen_instruction_emitter.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>

#include <cmath>

#include "src/base/error.h"
#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

bool has_no_effect(const llvm::CallInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::assume:
    case llvm::Intrinsic::experimental_noalias_scope_decl:
    case llvm::Intrinsic::donothing:
    case llvm::Intrinsic::sideeffect:
    case llvm::Intrinsic::invariant_start:
    case llvm::Intrinsic::invariant_end:
    case llvm::Intrinsic::prefetch:
      return true;
    default:
      return false;
  }
}

}  // namespace

void InstructionEmitter::emit(const llvm::Instruction& instruction) {
  if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) return;
  if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) return emit_call(*call);
  if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    if (warp_.is_uniform(store->getPointerOperand()) && warp_.is_uniform(store->getValueOperand()))
      return arithmetic_.emit_scalar(instruction);
    return memory_.store(*store);
  }
  if (llvm::isa<llvm::FenceInst>(instruction)) {
    builder_.Insert(instruction.clone());
    return;
  }
  if (!warp_.is_varying(&instruction)) return arithmetic_.emit_scalar(instruction);
  warp_.set_vector(&instruction, emit_vector(instruction));
}

llvm::Value* InstructionEmitter::emit_vector(const llvm::Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return memory_.load(*load);
  if (const auto* atomic = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) return atomics_.emit(*atomic);
  if (llvm::isa<llvm::AtomicCmpXchgInst>(instruction)) return lanes_.emit(instruction);
  if (llvm::Value* result = arithmetic_.emit_vector(instruction)) return result;
  throw Error(ErrorKind::compile, "[compile] the SIMD engine took an instruction that it cannot widen: {}",
              instruction.getOpcodeName());
}

llvm::Value* InstructionEmitter::emit_marker(const llvm::CallInst& call) {
  switch (const Marker kind = marker(&call)) {
    case Marker::thread_x:
    case Marker::thread_y:
    case Marker::thread_z:
    case Marker::block_x:
    case Marker::linear:
      return builtins_.emit_index(kind);
    case Marker::private_memory:
      return builtins_.emit_private_memory(call);
    case Marker::private_histogram:
      return builder_.Insert(call.clone());
    case Marker::flush_histogram:
      atomics_.emit_flush(call);
      return nullptr;
    case Marker::all_lanes:
      return arithmetic_.emit_all_lanes(llvm::cast<llvm::ICmpInst>(*call.getArgOperand(0)));
    case Marker::whole_warp:
      return arithmetic_.emit_whole_warp(call);
    case Marker::first_lane:
      return warp_.is_varying(call.getArgOperand(0))
                 ? builder_.CreateExtractElement(warp_.vector(call.getArgOperand(0)), std::uint64_t{0})
                 : warp_.scalar(call.getArgOperand(0));
    case Marker::lane:
      return builder_.getInt32(0);
    case Marker::first_running:
      return builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, warp_.bits_of(warp_.mask()), builder_.getTrue());
    case Marker::consecutive:
      return builder_.getInt1(warp_.pattern(call.getArgOperand(0)).is_consecutive(1));
    case Marker::load_strip:
      strips_.load(call);
      return nullptr;
    case Marker::store_strip:
      strips_.store(call);
      return nullptr;
    case Marker::fail:
      return builtins_.emit_fail(call);
    case Marker::barrier:
    case Marker::barrier_count:
    case Marker::grid_barrier:
    case Marker::tile_barrier:
      return builtins_.emit_barrier(call);
    case Marker::shuffle:
      return builtins_.emit_shuffle(call);
    case Marker::ballot:
      return builtins_.emit_ballot(call);
    case Marker::activemask:
      return warp_.bits_of(warp_.mask());
    default:
      return nullptr;
  }
}

void InstructionEmitter::emit_call(const llvm::CallInst& call) {
  if (has_no_effect(call)) return;
  if (marker(&call) != Marker::none) {
    llvm::Value* result = emit_marker(call);
    if (result == nullptr) return;
    if (warp_.is_varying(&call)) return warp_.set_vector(&call, result);
    return warp_.set_scalar(&call, result);
  }
  if (call.getType()->isVoidTy()) {
    const bool same =
        llvm::isa<llvm::IntrinsicInst>(call) &&
        std::all_of(call.arg_begin(), call.arg_end(), [&](const llvm::Use& use) { return warp_.is_uniform(use); });
    if (same) return arithmetic_.emit_scalar(call);
    lanes_.emit(call);
    return;
  }
  if (!warp_.is_varying(&call)) return arithmetic_.emit_scalar(call);
  warp_.set_vector(&call, emit_vector_call(call));
}

/// A saturating conversion to integers, by comparisons with the limits: LLVM would convert lane by lane.
llvm::Value* InstructionEmitter::emit_saturated(llvm::Value* number, llvm::Type* type, bool is_signed) {
  const unsigned bits = type->getScalarSizeInBits();
  if (number->getType()->getScalarSizeInBits() < 32)
    number = builder_.CreateFPExt(number, widened(builder_.getFloatTy()));
  llvm::Type* from = number->getType();
  // Powers of two are exact in every floating type.
  llvm::Value* end = llvm::ConstantFP::get(from, std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits)));
  llvm::Value* zero = llvm::Constant::getNullValue(from);
  llvm::Value* first = is_signed ? builder_.CreateFNeg(end) : zero;
  llvm::Value* fits = builder_.CreateAnd(builder_.CreateFCmpOGE(number, first), builder_.CreateFCmpOLT(number, end));
  auto limit = [&](const llvm::APInt& value) { return llvm::ConstantInt::get(type, value); };
  llvm::Value* most = limit(is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits));
  llvm::Value* least = limit(is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getMinValue(bits));
  llvm::Value* not_a_number = llvm::Constant::getNullValue(type);
  llvm::Value* outside = builder_.CreateSelect(builder_.CreateFCmpOLT(number, zero), least, not_a_number);
  outside = builder_.CreateSelect(builder_.CreateFCmpOGT(number, zero), most, outside);
  // Numbers that do not fit convert to poison, which is not selected.
  llvm::Value* whole = is_signed ? builder_.CreateFPToSI(number, type) : builder_.CreateFPToUI(number, type);
  return builder_.CreateSelect(fits, whole, outside);
}

llvm::Value* InstructionEmitter::emit_vector_call(const llvm::CallInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat)
    return emit_saturated(warp_.vector(call.getArgOperand(0)), widened(call.getType()),
                          id == llvm::Intrinsic::fptosi_sat);
  if (math_.has(call)) {
    std::vector<llvm::Value*> arguments;
    for (const llvm::Use& argument : call.args()) arguments.push_back(warp_.vector(argument));
    llvm::Value* result = math_.call(builder_, call, arguments);
    llvm::Value* lanes = MathLibrary::overflowed(builder_, call, arguments, result);
    if (lanes == nullptr) return result;
    lanes = builder_.CreateLogicalAnd(warp_.mask(), lanes);
    return warp_.either(
        builder_.CreateNot(warp_.any(lanes)), [&] { return result; },
        [&] { return builder_.CreateSelect(lanes, lanes_.emit(call), result); });
  }
  const bool overflow = llvm::isa<llvm::WithOverflowInst>(call);
  const bool is_function = !MathLibrary::function_name(call).empty();  // LLVM would call it for inactive lanes, too
  if (id == llvm::Intrinsic::not_intrinsic || is_function || !(overflow || llvm::isTriviallyVectorizable(id)))
    return lanes_.emit(call);
  std::vector<llvm::Type*> overloads;
  std::vector<llvm::Value*> arguments;
  if (!overflow && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) overloads.push_back(widened(call.getType()));
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const bool stays_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
    arguments.push_back(stays_scalar ? warp_.scalar(call.getArgOperand(i)) : warp_.vector(call.getArgOperand(i)));
    if (overflow ? i == 0 : llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i)))
      overloads.push_back(arguments.back()->getType());
  }
  llvm::CallInst* result = builder_.CreateIntrinsic(id, overloads, arguments);
  result->copyIRFlags(&call);
  return result;
}

}  // namespace gpulua::cpu::simd
