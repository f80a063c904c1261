#include "src/device/cpu/simd/widen_warp_builtins.h"

#include <llvm/Analysis/VectorUtils.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/simd/barrier_splitting.h"
#include "src/device/cpu/simd/runtime_calls.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {

/// threadIdx of all lanes in blocks of any shape.
llvm::Value* WarpBuiltins::thread_index(unsigned axis) {
  if (thread_index_[axis] != nullptr) return thread_index_[axis];
  llvm::Type* i32 = warp_.entry().getInt32Ty();
  llvm::Value* context = warp_.context();
  auto size = [&](unsigned of) {
    return warp_.entry().CreateVectorSplat(
        lane_count(),
        context_field(warp_.entry(), context, offsetof(ThreadContext, block_size) + of * sizeof(unsigned), i32));
  };
  llvm::Value* first = context_field(warp_.entry(), context, offsetof(ThreadContext, linear), i32);
  llvm::Value* linear = warp_.entry().CreateAdd(warp_.entry().CreateVectorSplat(lane_count(), first),
                                                warp_.offsets(i32, LanePattern::affine(1)));
  // Both are below 2^24, so the truncated quotient of floats is exact.
  auto divide = [&](llvm::Value* a, llvm::Value* b) {
    llvm::Type* real = widened(warp_.entry().getFloatTy());
    return warp_.entry().CreateFPToSI(
        warp_.entry().CreateFDiv(warp_.entry().CreateUIToFP(a, real), warp_.entry().CreateUIToFP(b, real)),
        a->getType());
  };
  llvm::Value* row = divide(linear, size(0));
  thread_index_[0] = warp_.entry().CreateSub(linear, warp_.entry().CreateMul(row, size(0)), "thread.x");
  thread_index_[2] = divide(row, size(1));
  thread_index_[1] = warp_.entry().CreateSub(row, warp_.entry().CreateMul(thread_index_[2], size(1)), "thread.y");
  return thread_index_[axis];
}

llvm::Value* WarpBuiltins::emit_index(Marker marker) {
  auto field = [&](std::size_t offset) {
    return context_field(warp_.entry(), warp_.context(), offset, builder_.getInt32Ty());
  };
  switch (marker) {
    case Marker::thread_x:
    case Marker::thread_y:
    case Marker::thread_z: {
      const unsigned axis = marker == Marker::thread_x ? 0 : marker == Marker::thread_y ? 1 : 2;
      if (layout_ == WarpLayout::any) return thread_index(axis);
      if (layout_ == WarpLayout::half_rows && axis == 0) return builder_.getInt32(0);
      return field(offsetof(ThreadContext, thread) + axis * sizeof(unsigned));
    }
    case Marker::block_x:
      if (layout_ == WarpLayout::half_rows) return builder_.getInt32(half_warp);
      return field(offsetof(ThreadContext, block_size));
    default:
      return field(offsetof(ThreadContext, linear));
  }
}

llvm::Value* WarpBuiltins::emit_private_memory(const llvm::CallInst& call) {
  const auto bytes = llvm::cast<llvm::ConstantInt>(call.getArgOperand(0))->getZExtValue();
  llvm::AllocaInst* memory = warp_.local(llvm::ArrayType::get(builder_.getInt8Ty(), bytes * lane_count()), "private");
  memory->setAlignment(llvm::Align(64));
  return memory;
}

llvm::Value* WarpBuiltins::emit_fail(const llvm::CallInst& call) {
  llvm::Value* lane =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, warp_.bits_of(warp_.mask()), builder_.getFalse());
  std::vector<llvm::Value*> arguments{warp_.context(), lane};
  // Lanes may fail with different messages: the first lane's is reported.
  for (const llvm::Use& argument : call.args())
    arguments.push_back(warp_.is_varying(argument) ? builder_.CreateExtractElement(warp_.vector(argument), lane)
                                                   : warp_.scalar(argument));
  builder_.CreateCall(warp_.function().getParent()->getFunction(fail_function), arguments);
  return nullptr;
}

llvm::CallInst* WarpBuiltins::call_placeholder(const char* name, llvm::Type* result,
                                               const std::vector<llvm::Value*>& arguments) {
  std::vector<llvm::Type*> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  llvm::CallInst* call = builder_.CreateCall(
      warp_.function().getParent()->getOrInsertFunction(name, llvm::FunctionType::get(result, types, false)),
      arguments);
  call->setConvergent();
  return call;
}

llvm::Value* WarpBuiltins::emit_barrier(const llvm::CallInst& call) {
  const Marker kind = marker(&call);
  const bool counts = kind == Marker::barrier_count;
  const unsigned place = counts || kind == Marker::tile_barrier ? 1 : 0;  // where file and line are
  llvm::Value* file = warp_.scalar(call.getArgOperand(place));
  llvm::Value* line = warp_.scalar(call.getArgOperand(place + 1));
  if (kind == Marker::grid_barrier) {
    call_service(builder_, offsetof(Services, grid_barrier), builder_.getVoidTy(),
                 {warp_.context(), warp_.count(warp_.mask()), file, line});
    return nullptr;
  }
  if (kind == Marker::tile_barrier) {
    call_service(builder_, offsetof(Services, tile_barrier), builder_.getVoidTy(),
                 {warp_.context(), warp_.count(warp_.mask()), warp_.scalar(call.getArgOperand(0)), file, line});
    return nullptr;
  }
  llvm::Value* predicates = builder_.getInt32(0);
  if (counts) {
    llvm::Value* given = warp_.vector(call.getArgOperand(0));
    predicates = warp_.count(builder_.CreateLogicalAnd(
        warp_.mask(), builder_.CreateICmpNE(given, llvm::Constant::getNullValue(given->getType()))));
  }
  llvm::Value* sum =
      call_placeholder(arrive_function, builder_.getInt32Ty(), {warp_.count(warp_.mask()), predicates, file, line});
  return counts ? sum : nullptr;
}

/// Elements [first, first + count) of a vector.
llvm::Value* WarpBuiltins::part(llvm::Value* vector, unsigned first, unsigned count) {
  return builder_.CreateShuffleVector(vector, llvm::createSequentialMask(first, count, 0));
}

llvm::Value* WarpBuiltins::permute_avx512(llvm::Value* values, llvm::Value* lanes) {
  constexpr unsigned half = warp_size / 2;
  std::vector<llvm::Value*> results;
  for (unsigned first = 0; first < warp_size; first += half)
    results.push_back(
        builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                 {part(values, 0, half), part(lanes, first, half), part(values, half, half)}));
  return llvm::concatenateVectors(builder_, results);
}

llvm::Value* WarpBuiltins::permute_avx2(llvm::Value* values, llvm::Value* lanes) {
  constexpr unsigned quarter = warp_size / 4;
  std::vector<llvm::Value*> results;
  for (unsigned first = 0; first < warp_size; first += quarter) {
    llvm::Value* from = part(lanes, first, quarter);
    auto permuted = [&](unsigned of) {  // by the low three bits of `from`
      return builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx2_permd, {}, {part(values, of * quarter, quarter), from});
    };
    auto choose = [&](unsigned bit, llvm::Value* set, llvm::Value* clear) {
      llvm::Value* sign = builder_.CreateShl(from, 31 - bit);
      return builder_.CreateSelect(builder_.CreateICmpSLT(sign, llvm::Constant::getNullValue(sign->getType())), set,
                                   clear);
    };
    results.push_back(choose(4, choose(3, permuted(3), permuted(2)), choose(3, permuted(1), permuted(0))));
  }
  return llvm::concatenateVectors(builder_, results);
}

llvm::Value* WarpBuiltins::emit_shuffle(const llvm::CallInst& call) {
  const llvm::Value* value = call.getArgOperand(1);
  const llvm::Value* source = call.getArgOperand(2);
  if (warp_.is_uniform(value)) return warp_.scalar(value);
  // The values of inactive lanes may be poison.
  llvm::Value* values = builder_.CreateFreeze(warp_.vector(value));
  if (warp_.is_uniform(source))
    return builder_.CreateExtractElement(values, builder_.CreateAnd(warp_.scalar(source), warp_size - 1));
  llvm::Value* lanes =
      builder_.CreateAnd(warp_.vector(source), llvm::ConstantInt::get(widened(builder_.getInt32Ty()), warp_size - 1));
  if (auto* constant = llvm::dyn_cast<llvm::Constant>(lanes)) {
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      auto* from = llvm::dyn_cast_or_null<llvm::ConstantInt>(constant->getAggregateElement(lane));
      order.push_back(from == nullptr ? 0 : static_cast<int>(from->getZExtValue()));
    }
    return builder_.CreateShuffleVector(values, order);
  }
  lanes = builder_.CreateFreeze(lanes);
  if (has_feature(warp_.scalar_function(), "+avx512f")) return permute_avx512(values, lanes);
  if (has_feature(warp_.scalar_function(), "+avx2")) return permute_avx2(values, lanes);
  llvm::AllocaInst* memory = warp_.local(values->getType(), "shuffle");
  builder_.CreateStore(values, memory);
  llvm::Value* places = builder_.CreateGEP(builder_.getInt32Ty(), memory, lanes);
  return builder_.CreateMaskedGather(values->getType(), places, llvm::Align(4));
}

void WarpBuiltins::emit_leave(llvm::Value* lanes) {
  call_placeholder(leave_function, builder_.getVoidTy(), {warp_.count(lanes)});
}

llvm::Value* WarpBuiltins::emit_ballot(const llvm::CallInst& call) {
  llvm::Value* given = warp_.vector(call.getArgOperand(1));
  llvm::Value* votes = warp_.bits_of(builder_.CreateLogicalAnd(
      warp_.mask(), builder_.CreateICmpNE(given, llvm::Constant::getNullValue(given->getType()))));
  const llvm::Value* lanes = call.getArgOperand(0);
  if (warp_.is_uniform(lanes)) return builder_.CreateAnd(votes, warp_.scalar(lanes));
  return builder_.CreateAnd(builder_.CreateVectorSplat(warp_size, votes), warp_.vector(lanes));
}

}  // namespace gpulua::cpu::simd
