// Loads and stores. A warp's addresses are one, a row, or each its own.

#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// Gathers read whole words of this many bytes.
constexpr unsigned word_bytes = 4;

bool is_half(llvm::Type* type) {
  return type->isHalfTy() || type->isBFloatTy();
}

/// How the type is moved: halves as integers of their size.
llvm::Type* moved_as(llvm::Type* type) {
  return is_half(type) ? llvm::Type::getInt16Ty(type->getContext()) : type;
}

/// What the processor gathers by itself.
bool has_gather(const llvm::DataLayout& layout, llvm::Type* type) {
  const std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  return !type->isIntegerTy(1) && (bytes == 4 || bytes == 8) && layout.getTypeAllocSize(type) == bytes &&
         (!type->isIntegerTy() || type->getIntegerBitWidth() == bytes * 8);
}

bool is_whole_integer(llvm::Type* type) {
  return !type->isIntegerTy() ||
         (type->getIntegerBitWidth() % 8 == 0 && llvm::isPowerOf2_32(type->getIntegerBitWidth()));
}

}  // namespace

llvm::Value* Widener::emit_load(const llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  const Shape address = shapes_(load.getPointerOperand());
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  if (!load.isSimple() || type->isStructTy() || !is_whole_integer(type)) return emit_for_each_lane(load);
  if (address.is_varying() || address.stride != bytes || !type->isSingleValueType())
    return emit_gather(type, load.getPointerOperand(), load.getAlign());
  llvm::Type* moved = widened(moved_as(type));
  llvm::Value* pointer = scalar(load.getPointerOperand());
  llvm::Value* result = mask_is_full()
                            ? static_cast<llvm::Value*>(builder_.CreateAlignedLoad(moved, pointer, load.getAlign()))
                            : builder_.CreateMaskedLoad(moved, pointer, load.getAlign(), mask());
  return builder_.CreateBitCast(result, widened(type), load.getName());
}

llvm::Value* Widener::emit_gather(llvm::Type* type, const llvm::Value* address, llvm::Align align) {
  llvm::Value* addresses = vector(address);
  // A lane's part of interleaved memory is aligned to an element only.
  align = std::min(align, llvm::Align(layout_.getABITypeAlign(type)));
  if (has_gather(layout_, type)) return builder_.CreateMaskedGather(widened(type), addresses, align, mask());
  return builder_.CreateBitCast(emit_narrow_gather(moved_as(type), addresses), widened(type));
}

/// Bytes and halves are cut out of the aligned words that they are in, which are as readable as they are.
llvm::Value* Widener::emit_narrow_gather(llvm::Type* type, llvm::Value* addresses) {
  llvm::Type* i64 = widened(builder_.getInt64Ty());
  llvm::Value* bytes = builder_.CreatePtrToInt(addresses, i64);
  llvm::Value* word = builder_.CreateAnd(bytes, llvm::ConstantInt::getSigned(i64, -static_cast<int>(word_bytes)));
  llvm::Value* words =
      builder_.CreateMaskedGather(widened(builder_.getInt32Ty()), builder_.CreateIntToPtr(word, addresses->getType()),
                                  llvm::Align(word_bytes), mask());
  llvm::Value* offset =
      builder_.CreateTrunc(builder_.CreateAnd(bytes, llvm::ConstantInt::get(i64, word_bytes - 1)), words->getType());
  llvm::Value* shift = builder_.CreateShl(offset, llvm::ConstantInt::get(words->getType(), 3));
  return builder_.CreateTrunc(builder_.CreateLShr(words, shift), widened(type));
}

void Widener::emit_store(const llvm::StoreInst& store) {
  const llvm::Value* value = store.getValueOperand();
  const llvm::Value* address = store.getPointerOperand();
  const Shape shape = shapes_(address);
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(value->getType()).getFixedValue());
  if (shape.is_uniform() && is_uniform(value)) return emit_scalar(store);
  if (!store.isSimple() || value->getType()->isStructTy() || !is_whole_integer(value->getType())) {
    emit_for_each_lane(store);
    return;
  }
  if (shape.is_uniform()) {
    // All lanes write one place: the last one's value stays.
    llvm::Value* leading = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits_of(mask()), builder_.getFalse());
    llvm::Value* last = builder_.CreateSub(builder_.getInt32(warp_size - 1), leading);
    builder_.CreateAlignedStore(builder_.CreateExtractElement(vector(value), last), scalar(address), store.getAlign());
    return;
  }
  if (!shape.is_varying() && shape.stride == bytes) {
    llvm::Value* values = builder_.CreateBitCast(vector(value), widened(moved_as(value->getType())));
    if (mask_is_full())
      builder_.CreateAlignedStore(values, scalar(address), store.getAlign());
    else
      builder_.CreateMaskedStore(values, scalar(address), store.getAlign(), mask());
    return;
  }
  if (has_gather(layout_, value->getType())) {
    builder_.CreateMaskedScatter(vector(value), vector(address), store.getAlign(), mask());
    return;
  }
  emit_for_each_lane(store);
}

}  // namespace gpulua::cpu::simd
