#include "src/device/cpu/simd/widen_warp_builder.h"

#include <llvm/IR/MDBuilder.h>
#include <llvm/IR/Module.h>

#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

constexpr unsigned likely = 1000;  // a branch weight

}  // namespace

llvm::Type* widened(llvm::Type* type) {
  if (auto* record = llvm::dyn_cast<llvm::StructType>(type)) {
    std::vector<llvm::Type*> fields;
    for (llvm::Type* field : record->elements()) fields.push_back(widened(field));
    return llvm::StructType::get(type->getContext(), fields);
  }
  return llvm::FixedVectorType::get(type, lane_count());
}

llvm::Type* moved_as(llvm::Type* type) {
  return type->isHalfTy() || type->isBFloatTy() ? llvm::Type::getInt16Ty(type->getContext()) : type;
}

WarpBuilder::WarpBuilder(const llvm::Function& from, llvm::Function& to, const LanePatterns& patterns)
    : from_(from),
      to_(to),
      patterns_(patterns),
      layout_(to.getParent()->getDataLayout()),
      builder_(to.getContext()),
      entry_(to.getContext()) {
  for (unsigned i = 0; i < from.arg_size(); ++i) scalars_[from.getArg(i)] = to.getArg(i);
  entry_.SetInsertPoint(new_block("entry"));
}

void WarpBuilder::set_mask(llvm::Value* mask, bool is_full) {
  mask_ = mask;
  mask_is_full_ = is_full;
}

llvm::AllocaInst* WarpBuilder::local(llvm::Type* type, const llvm::Twine& name) {
  llvm::BasicBlock& first = to_.getEntryBlock();
  Builder builder(&first, first.begin());
  return builder.CreateAlloca(type, nullptr, name);
}

llvm::BasicBlock* WarpBuilder::new_block(const llvm::Twine& name) {
  return llvm::BasicBlock::Create(to_.getContext(), name, &to_);
}

llvm::Value* WarpBuilder::bits_of(llvm::Value* mask) {
  llvm::Value* bits = builder_.CreateBitCast(mask, builder_.getIntNTy(lane_count()));
  return builder_.CreateZExt(bits, builder_.getInt32Ty());
}

llvm::Value* WarpBuilder::any(llvm::Value* mask) {
  return builder_.CreateICmpNE(bits_of(mask), builder_.getInt32(0));
}

llvm::Value* WarpBuilder::count(llvm::Value* mask) {
  return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits_of(mask));
}

llvm::Value* WarpBuilder::half_of(llvm::Value* whole, unsigned half) {
  llvm::SmallVector<int> order;
  for (unsigned lane = 0; lane < half_warp; ++lane) order.push_back(static_cast<int>(half * half_warp + lane));
  return builder_.CreateShuffleVector(whole, order);
}

llvm::Value* WarpBuilder::either(llvm::Value* condition, llvm::function_ref<llvm::Value*()> fast,
                                 llvm::function_ref<llvm::Value*()> slow) {
  if (condition == nullptr) return fast();
  llvm::BasicBlock* paths[] = {new_block("fast"), new_block("slow")};
  llvm::BasicBlock* done = new_block("either");
  builder_.CreateCondBr(condition, paths[0], paths[1],
                        llvm::MDBuilder(builder_.getContext()).createBranchWeights(likely, 1));
  llvm::Value* values[2];
  for (int i = 0; i < 2; ++i) {
    builder_.SetInsertPoint(paths[i]);
    values[i] = i == 0 ? fast() : slow();
    builder_.CreateBr(done);
    paths[i] = builder_.GetInsertBlock();
  }
  builder_.SetInsertPoint(done);
  if (values[0] == nullptr) return nullptr;
  llvm::PHINode* result = builder_.CreatePHI(values[0]->getType(), 2);
  for (int i = 0; i < 2; ++i) result->addIncoming(values[i], paths[i]);
  return result;
}

llvm::Value* WarpBuilder::offsets(llvm::Type* element, const LanePattern& pattern) {
  std::vector<llvm::Constant*> lanes;
  for (unsigned lane = 0; lane < lane_count(); ++lane)
    lanes.push_back(
        llvm::ConstantInt::get(element, static_cast<std::uint64_t>(pattern.offset(lane)), /*IsSigned=*/true));
  return llvm::ConstantVector::get(lanes);
}

llvm::Value* WarpBuilder::join_halves(Builder& builder, llvm::Value* first, llvm::Value* second) {
  if (first->getType()->isIntegerTy(1)) {
    if (has_feature(*builder.GetInsertBlock()->getParent(), "+avx512bw")) {
      // A word, for mask_words.h: LLVM 19 does not end for some masks that are made of halves.
      const auto bits = [&](llvm::Value* condition, unsigned lanes) {
        return builder.CreateSelect(condition, builder.getInt32(lanes), builder.getInt32(0));
      };
      return builder.CreateBitCast(builder.CreateOr(bits(first, 0xffff), bits(second, 0xffff0000)),
                                   llvm::FixedVectorType::get(builder.getInt1Ty(), lane_count()));
    }
    // x86 shuffles the bits of a mask by way of a vector, but joins halves of one.
    llvm::Type* half = llvm::FixedVectorType::get(first->getType(), half_warp);
    const auto spread = [&](llvm::Value* condition) {
      return builder.CreateSelect(condition, llvm::Constant::getAllOnesValue(half), llvm::Constant::getNullValue(half));
    };
    return join_halves(builder, spread(first), spread(second));
  }
  llvm::SmallVector<int> order;
  if (first->getType()->isVectorTy()) {
    for (unsigned lane = 0; lane < lane_count(); ++lane) order.push_back(static_cast<int>(lane));
    return builder.CreateShuffleVector(first, second, order);
  }
  llvm::Value* both = llvm::PoisonValue::get(llvm::FixedVectorType::get(first->getType(), 2));
  both = builder.CreateInsertElement(both, first, std::uint64_t{0});
  both = builder.CreateInsertElement(both, second, std::uint64_t{1});
  for (unsigned lane = 0; lane < lane_count(); ++lane) order.push_back(static_cast<int>(lane / half_warp));
  return builder.CreateShuffleVector(both, order);
}

llvm::Value* WarpBuilder::scalar(const llvm::Value* value) {
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value)) return const_cast<llvm::Constant*>(constant);
  return scalars_.at(value);
}

/// Moves the builder to where code is available wherever `made` is.
void WarpBuilder::insert_after(Builder& builder, llvm::Value* made) {
  if (auto* instruction = llvm::dyn_cast<llvm::Instruction>(made); instruction != nullptr)
    builder.SetInsertPoint(instruction->getParent(), std::next(instruction->getIterator()));
  else
    builder.SetInsertPoint(entry_.GetInsertBlock(), entry_.GetInsertPoint());
}

llvm::Value* WarpBuilder::second(const llvm::Value* value) {
  if (auto found = seconds_.find(value); found != seconds_.end()) return found->second;
  llvm::Value* first = scalar(value);
  const std::int64_t step = patterns_(value).half_stride;
  if (step == 0) return first;
  Builder builder(to_.getContext());
  insert_after(builder, first);
  return seconds_[value] =
             value->getType()->isPointerTy()
                 ? builder.CreateGEP(builder.getInt8Ty(), first, builder.getInt64(static_cast<std::uint64_t>(step)))
                 : builder.CreateAdd(first, llvm::ConstantInt::getSigned(value->getType(), step));
}

llvm::Value* WarpBuilder::vector(const llvm::Value* value) {
  if (auto found = vectors_.find(value); found != vectors_.end()) return found->second;
  if (llvm::isa<llvm::UndefValue>(value)) return llvm::UndefValue::get(widened(value->getType()));
  if (const auto* constant = llvm::dyn_cast<llvm::Constant>(value);
      constant != nullptr && !value->getType()->isStructTy())
    return llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lane_count()),
                                          const_cast<llvm::Constant*>(constant));
  llvm::Value* first = scalar(value);
  const LanePattern pattern = patterns_(value);
  // The second base, if it is an instruction, comes after the first.
  llvm::Value* last = pattern.is_half_affine() && llvm::isa<llvm::Instruction>(second(value)) ? second(value) : first;
  Builder builder(to_.getContext());
  insert_after(builder, last);
  llvm::Value* result;
  if (value->getType()->isStructTy()) {
    result = llvm::PoisonValue::get(widened(value->getType()));
    for (unsigned i = 0; i < value->getType()->getStructNumElements(); ++i)
      result = builder.CreateInsertValue(
          result, builder.CreateVectorSplat(lane_count(), builder.CreateExtractValue(first, i)), i);
  } else {
    const bool two_bases = pattern.is_half_affine();
    const bool no_offsets = two_bases ? pattern.stride == 0 : pattern.is_uniform();
    llvm::Value* bases =
        two_bases ? join_halves(builder, first, second(value)) : builder.CreateVectorSplat(lane_count(), first);
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
