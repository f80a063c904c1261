// What the widened function has of a value of the scalar one: its lane 0, or that of each half, or a vector.

#include <llvm/IR/Module.h>

#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {

/// What each lane has more than the base.
llvm::Value* Widener::offsets(llvm::Type* element, const LanePattern& pattern) {
  std::vector<llvm::Constant*> lanes;
  for (unsigned lane = 0; lane < warp_size; ++lane)
    lanes.push_back(
        llvm::ConstantInt::get(element, static_cast<std::uint64_t>(pattern.offset(lane)), /*IsSigned=*/true));
  return llvm::ConstantVector::get(lanes);
}

/// Of two vectors of 16, or of two scalars for all lanes of their halves.
llvm::Value* Widener::join_halves(Builder& builder, llvm::Value* first, llvm::Value* second) {
  if (first->getType()->isIntegerTy(1)) {
    // Of the words 0xffff and 0xffff0000, or'ed, LLVM 19's selection makes vectors and words without end.
    llvm::Type* half = llvm::FixedVectorType::get(first->getType(), half_warp);
    const auto spread = [&](llvm::Value* condition) {
      return builder.CreateSelect(condition, llvm::Constant::getAllOnesValue(half), llvm::Constant::getNullValue(half));
    };
    return join_halves(builder, spread(first), spread(second));
  }
  llvm::SmallVector<int> order;
  if (first->getType()->isVectorTy()) {
    for (unsigned lane = 0; lane < warp_size; ++lane) order.push_back(static_cast<int>(lane));
    return builder.CreateShuffleVector(first, second, order);
  }
  llvm::Value* both = llvm::PoisonValue::get(llvm::FixedVectorType::get(first->getType(), 2));
  both = builder.CreateInsertElement(both, first, std::uint64_t{0});
  both = builder.CreateInsertElement(both, second, std::uint64_t{1});
  for (unsigned lane = 0; lane < warp_size; ++lane) order.push_back(static_cast<int>(lane / half_warp));
  return builder.CreateShuffleVector(both, order);
}

llvm::Value* Widener::scalar(const llvm::Value* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return const_cast<llvm::Constant*>(constant);
  return scalars_.at(value);
}

/// To where a value is made that is then there wherever the given one is.
void Widener::insert_after(Builder& builder, llvm::Value* made) {
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(made); instruction != nullptr)
    builder.SetInsertPoint(instruction->getParent(), std::next(instruction->getIterator()));
  else
    builder.SetInsertPoint(entry_.GetInsertBlock(), entry_.GetInsertPoint());
}

llvm::Value* Widener::second(const llvm::Value* value) {
  if (auto found = seconds_.find(value); found != seconds_.end()) return found->second;
  llvm::Value* first = scalar(value);
  const std::int64_t step = patterns_(value).half_stride;
  if (step == 0) return first;
  Builder builder(to_->getContext());
  insert_after(builder, first);
  return seconds_[value] =
             value->getType()->isPointerTy()
                 ? builder.CreateGEP(builder.getInt8Ty(), first, builder.getInt64(static_cast<std::uint64_t>(step)))
                 : builder.CreateAdd(first, llvm::ConstantInt::getSigned(value->getType(), step));
}

llvm::Value* Widener::vector(const llvm::Value* value) {
  if (auto found = vectors_.find(value); found != vectors_.end()) return found->second;
  if (llvm::isa<llvm::UndefValue>(value)) return llvm::UndefValue::get(widened(value->getType()));
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
      constant != nullptr && !value->getType()->isStructTy())
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(warp_size),
                                          const_cast<llvm::Constant*>(constant));
  llvm::Value* first = scalar(value);
  const LanePattern pattern = patterns_(value);
  // Of two bases the second is made behind the first, if it is made at all.
  llvm::Value* last = pattern.is_half_affine() && llvm::isa<llvm::Instruction>(second(value)) ? second(value) : first;
  Builder builder(to_->getContext());
  insert_after(builder, last);
  llvm::Value* result;
  if (value->getType()->isStructTy()) {
    result = llvm::PoisonValue::get(widened(value->getType()));
    for (unsigned i = 0; i < value->getType()->getStructNumElements(); ++i)
      result = builder.CreateInsertValue(result,
                                         builder.CreateVectorSplat(warp_size, builder.CreateExtractValue(first, i)), i);
  } else {
    const bool two_bases = pattern.is_half_affine();
    const bool no_offsets = two_bases ? pattern.stride == 0 : pattern.is_uniform();
    llvm::Value* bases =
        two_bases ? join_halves(builder, first, second(value)) : builder.CreateVectorSplat(warp_size, first);
    if (no_offsets || !pattern.is_known())
      result = bases;
    else if (value->getType()->isPointerTy())
      result =
          builder.CreateGEP(builder.getInt8Ty(), two_bases ? bases : first, offsets(builder.getInt64Ty(), pattern));
    else
      result = builder.CreateAdd(bases, offsets(value->getType(), pattern));
  }
  return vectors_[value] = result;
}

}  // namespace gpulua::cpu::simd
