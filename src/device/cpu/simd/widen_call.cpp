// Calls: the engine's builtins, intrinsics, mathematics, and others lane by lane.

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>

#include <cmath>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/barrier_splitting.h"
#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/target.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

bool says_nothing(const llvm::CallInst& call) {
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

void Widener::emit_call(const llvm::CallInst& call) {
  if (says_nothing(call)) return;
  if (marker(&call) != Marker::none) {
    llvm::Value* result = emit_marker(call);
    if (result == nullptr) return;
    (is_varying(&call) ? vectors_ : scalars_)[&call] = result;
    return;
  }
  if (call.getType()->isVoidTy()) {
    const bool same =
        llvm::isa<llvm::IntrinsicInst>(call) &&
        std::all_of(call.arg_begin(), call.arg_end(), [&](const llvm::Use& use) { return is_uniform(use); });
    if (same) return emit_scalar(call);
    emit_for_each_lane(call);
    return;
  }
  if (!is_varying(&call)) return emit_scalar(call);
  vectors_[&call] = emit_vector_call(call);
}

/// The limits of a float-to-integer conversion by comparisons: LLVM converts with saturation lane by lane.
llvm::Value* Widener::emit_saturated(llvm::Value* number, llvm::Type* type, bool is_signed) {
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
  // Lanes whose number does not fit convert to poison, which is not selected.
  llvm::Value* whole = is_signed ? builder_.CreateFPToSI(number, type) : builder_.CreateFPToUI(number, type);
  return builder_.CreateSelect(fits, whole, outside);
}

llvm::Value* Widener::emit_vector_call(const llvm::CallInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  if (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat)
    return emit_saturated(vector(call.getArgOperand(0)), widened(call.getType()), id == llvm::Intrinsic::fptosi_sat);
  if (options_.math->has(call)) {
    std::vector<llvm::Value*> arguments;
    for (const llvm::Use& argument : call.args()) arguments.push_back(vector(argument));
    return options_.math->call(builder_, call, arguments);
  }
  const bool overflow = llvm::isa<llvm::WithOverflowInst>(call);
  const bool is_function =
      !MathLibrary::function_name(call).empty();  // LLVM would call it for each lane, running or not
  if (id == llvm::Intrinsic::not_intrinsic || is_function || !(overflow || llvm::isTriviallyVectorizable(id)))
    return emit_for_each_lane(call);
  std::vector<llvm::Type*> overloads;
  std::vector<llvm::Value*> arguments;
  if (!overflow && llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, -1)) overloads.push_back(widened(call.getType()));
  for (unsigned i = 0; i < call.arg_size(); ++i) {
    const bool stays_scalar = llvm::isVectorIntrinsicWithScalarOpAtArg(id, i);
    arguments.push_back(stays_scalar ? scalar(call.getArgOperand(i)) : vector(call.getArgOperand(i)));
    if (overflow ? i == 0 : llvm::isVectorIntrinsicWithOverloadTypeAtArg(id, static_cast<int>(i)))
      overloads.push_back(arguments.back()->getType());
  }
  llvm::CallInst* result = builder_.CreateIntrinsic(id, overloads, arguments);
  result->copyIRFlags(&call);
  return result;
}

llvm::Value* call_service(llvm::IRBuilder<>& builder, std::size_t offset, llvm::Type* result,
                          const std::vector<llvm::Value*>& arguments) {
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Value* launch = context_field(builder, arguments.front(), offsetof(ThreadContext, launch), pointer);
  llvm::Value* services = context_field(builder, launch, offsetof(Launch, services), pointer);
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  return builder.CreateCall(llvm::FunctionType::get(result, types, false),
                            context_field(builder, services, offset, pointer), arguments);
}

llvm::CallInst* Widener::call_later(const char* name, llvm::Type* result, const std::vector<llvm::Value*>& arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* call = builder_.CreateCall(
      to_->getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)), arguments);
  call->setConvergent();
  return call;
}

llvm::Value* Widener::emit_barrier(const llvm::CallInst& call) {
  const Marker kind = marker(&call);
  const bool counts = kind == Marker::barrier_count;
  const unsigned place = counts || kind == Marker::tile_barrier ? 1 : 0;  // of the file and the line
  llvm::Value* file = scalar(call.getArgOperand(place));
  llvm::Value* line = scalar(call.getArgOperand(place + 1));
  if (kind == Marker::grid_barrier) {
    call_service(builder_, offsetof(Services, grid_barrier), builder_.getVoidTy(),
                 {to_->getArg(0), count(mask()), file, line});
    return nullptr;
  }
  if (kind == Marker::tile_barrier) {
    call_service(builder_, offsetof(Services, tile_barrier), builder_.getVoidTy(),
                 {to_->getArg(0), count(mask()), scalar(call.getArgOperand(0)), file, line});
    return nullptr;
  }
  llvm::Value* predicates = builder_.getInt32(0);
  if (counts) {
    llvm::Value* given = vector(call.getArgOperand(0));
    predicates = count(builder_.CreateLogicalAnd(
        mask(), builder_.CreateICmpNE(given, llvm::Constant::getNullValue(given->getType()))));
  }
  llvm::Value* sum = call_later(arrive_function, builder_.getInt32Ty(), {count(mask()), predicates, file, line});
  return counts ? sum : nullptr;
}

llvm::Value* Widener::emit_fail(const llvm::CallInst& call) {
  llvm::Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, bits_of(mask()), builder_.getFalse());
  std::vector<llvm::Value*> arguments{to_->getArg(0), lane};
  // Lanes may fail with different messages: the first one's is told.
  for (const llvm::Use& argument : call.args())
    arguments.push_back(is_varying(argument) ? builder_.CreateExtractElement(vector(argument), lane)
                                             : scalar(argument));
  builder_.CreateCall(to_->getParent()->getFunction(fail_function), arguments);
  return nullptr;
}

llvm::Value* Widener::emit_shuffle(const llvm::CallInst& call) {
  const llvm::Value* value = call.getArgOperand(1);
  const llvm::Value* source = call.getArgOperand(2);
  if (is_uniform(value)) return scalar(value);
  // A lane that does not run has no value of its own.
  llvm::Value* values = builder_.CreateFreeze(vector(value));
  if (is_uniform(source))
    return builder_.CreateExtractElement(values, builder_.CreateAnd(scalar(source), warp_size - 1));
  llvm::Value* lanes =
      builder_.CreateAnd(vector(source), llvm::ConstantInt::get(widened(builder_.getInt32Ty()), warp_size - 1));
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(lanes)) {
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      auto* from = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
      order.push_back(from == nullptr ? 0 : static_cast<int>(from->getZExtValue()));
    }
    return builder_.CreateShuffleVector(values, order);
  }
  lanes = builder_.CreateFreeze(lanes);
  if (has_feature(from_, "+avx512f")) {
    auto half = [&](llvm::Value* whole, unsigned first) {
      llvm::SmallVector<int> order;
      for (unsigned i = 0; i < warp_size / 2; ++i) order.push_back(static_cast<int>(first + i));
      return builder_.CreateShuffleVector(whole, order);
    };
    llvm::Value* low = half(values, 0);
    llvm::Value* high = half(values, warp_size / 2);
    auto permuted = [&](unsigned first) {
      return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                      {low, half(lanes, first), high});
    };
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < warp_size; ++lane) order.push_back(static_cast<int>(lane));
    return builder_.CreateShuffleVector(permuted(0), permuted(warp_size / 2), order);
  }
  llvm::AllocaInst* memory = local(values->getType(), "shuffle");
  builder_.CreateStore(values, memory);
  llvm::Value* places = builder_.CreateGEP(builder_.getInt32Ty(), memory, lanes);
  return builder_.CreateMaskedGather(values->getType(), places, llvm::Align(4));
}

/// threadIdx of all lanes in a block of any pattern.
llvm::Value* Widener::thread_index(unsigned axis) {
  if (thread_index_[axis] != nullptr) return thread_index_[axis];
  llvm::Type* i32 = entry_.getInt32Ty();
  llvm::Value* context = to_->getArg(0);
  auto size = [&](unsigned of) {
    return entry_.CreateVectorSplat(
        warp_size, context_field(entry_, context, offsetof(ThreadContext, block_size) + of * sizeof(unsigned), i32));
  };
  llvm::Value* first = context_field(entry_, context, offsetof(ThreadContext, linear), i32);
  llvm::Value* linear =
      entry_.CreateAdd(entry_.CreateVectorSplat(warp_size, first), offsets(i32, LanePattern::affine(1)));
  // Both are below 2^24, so the quotient in float, cut to an integer, is exact.
  auto divide = [&](llvm::Value* a, llvm::Value* b) {
    llvm::Type* real = widened(entry_.getFloatTy());
    return entry_.CreateFPToSI(entry_.CreateFDiv(entry_.CreateUIToFP(a, real), entry_.CreateUIToFP(b, real)),
                               a->getType());
  };
  llvm::Value* row = divide(linear, size(0));
  thread_index_[0] = entry_.CreateSub(linear, entry_.CreateMul(row, size(0)), "thread.x");
  thread_index_[2] = divide(row, size(1));
  thread_index_[1] = entry_.CreateSub(row, entry_.CreateMul(thread_index_[2], size(1)), "thread.y");
  return thread_index_[axis];
}

llvm::Value* Widener::emit_marker(const llvm::CallInst& call) {
  auto field = [&](std::size_t offset) { return context_field(entry_, to_->getArg(0), offset, entry_.getInt32Ty()); };
  switch (const Marker kind = marker(&call)) {
    case Marker::thread_x:
    case Marker::thread_y:
    case Marker::thread_z: {
      const unsigned axis = kind == Marker::thread_x ? 0 : kind == Marker::thread_y ? 1 : 2;
      if (options_.layout == WarpLayout::any) return thread_index(axis);
      if (options_.layout == WarpLayout::half_rows && axis == 0) return entry_.getInt32(0);
      return field(offsetof(ThreadContext, thread) + axis * sizeof(unsigned));
    }
    case Marker::block_x:
      if (options_.layout == WarpLayout::half_rows) return entry_.getInt32(half_warp);
      return field(offsetof(ThreadContext, block_size));
    case Marker::linear:
      return field(offsetof(ThreadContext, linear));
    case Marker::private_memory: {
      const auto bytes = llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
      llvm::AllocaInst* memory = local(llvm::ArrayType::get(builder_.getInt8Ty(), bytes * warp_size), "private");
      memory->setAlignment(llvm::Align(64));
      return memory;
    }
    case Marker::private_histogram:
      return builder_.Insert(call.clone());
    case Marker::flush_histogram:
      return emit_flush(call);
    case Marker::all_lanes:
      return emit_all(llvm::cast<llvm::ICmpInst>(*call.getArgOperand(0)));
    case Marker::load_strip:
      emit_load_strip(call);
      return nullptr;
    case Marker::store_strip:
      emit_store_strip(call);
      return nullptr;
    case Marker::fail:
      return emit_fail(call);
    case Marker::barrier:
    case Marker::barrier_count:
    case Marker::grid_barrier:
    case Marker::tile_barrier:
      return emit_barrier(call);
    case Marker::shuffle:
      return emit_shuffle(call);
    case Marker::ballot: {
      llvm::Value* given = vector(call.getArgOperand(1));
      llvm::Value* votes = bits_of(builder_.CreateLogicalAnd(
          mask(), builder_.CreateICmpNE(given, llvm::Constant::getNullValue(given->getType()))));
      const llvm::Value* lanes = call.getArgOperand(0);
      if (is_uniform(lanes)) return builder_.CreateAnd(votes, scalar(lanes));
      return builder_.CreateAnd(builder_.CreateVectorSplat(warp_size, votes), vector(lanes));
    }
    case Marker::activemask:
      return bits_of(mask());
    default:
      return nullptr;
  }
}

}  // namespace gpulua::cpu::simd
