#include "src/device/cpu/simd/widen_memory_access.h"

#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// Gathers read whole words of this many bytes.
constexpr unsigned word_bytes = 4;

/// True for types that the processor has gathers for.
bool has_gather(const llvm::DataLayout& layout, llvm::Type* type) {
  const std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  return !type->isIntegerTy(1) && (bytes == 4 || bytes == 8) && layout.getTypeAllocSize(type) == bytes &&
         (!type->isIntegerTy() || type->getIntegerBitWidth() == bytes * 8);
}

/// True for types whose vectors are stored like arrays and fit registers.
bool is_simple(llvm::Type* type) {
  if (type->isStructTy()) return false;
  const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

}  // namespace

llvm::Value* MemoryAccess::load(const llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(type).getFixedValue());
  if (!load.isSimple() || !is_simple(type)) return lanes_.emit(load);
  if (llvm::Value* loaded = pairs_.load(load)) return loaded;
  if (const unsigned stride = strided_.stride(load.getPointerOperand(), moved_as(type), true); stride != 0)
    return builder_.CreateBitCast(strided_.load(moved_as(type), load.getPointerOperand(), stride), widened(type));
  std::optional<AddressRow> row = rows_.find(load.getPointerOperand(), bytes);
  if (!row) return gather(load);
  prefetcher_.emit(load, *row);
  return warp_.either(
      row->holds, [&] { return rows_.load(type, *row, load.getAlign()); }, [&] { return gather(load); });
}

llvm::Value* MemoryAccess::gather(const llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  // Interleaved memory aligns a lane's elements to their size only.
  const llvm::Align element = warp_.layout().getABITypeAlign(type), align = std::min(load.getAlign(), element);
  if (llvm::Value* loaded = inductions_.load(load)) return loaded;
  const bool whole_words = has_gather(warp_.layout(), type);
  if (!whole_words && align < element) return lanes_.emit(load);  // it may span two words
  llvm::Value* addresses = warp_.vector(load.getPointerOperand());
  auto gather = [&](llvm::Value* mask) -> llvm::Value* {
    if (whole_words) return builder_.CreateMaskedGather(widened(type), addresses, align, mask);
    return builder_.CreateBitCast(gather_narrow(moved_as(type), addresses, mask), widened(type));
  };
  if (warp_.mask_is_full() || has_feature(warp_.scalar_function(), "+avx512f")) return gather(warp_.mask());
  // LLVM takes the gathers of many processors for slow and loads lane by lane: of some lanes by a branch for each,
  // which takes most of the time of a compilation. So all lanes load, those that do not run from memory of the frame.
  llvm::Value* elsewhere = warp_.local(builder_.getInt64Ty(), "elsewhere");
  addresses = builder_.CreateSelect(warp_.mask(), addresses, builder_.CreateVectorSplat(lane_count(), elsewhere));
  return gather(llvm::Constant::getAllOnesValue(warp_.mask()->getType()));
}

/// Extracts elements of 8 and 16 bits from the aligned words around them, which are readable wherever the elements are.
llvm::Value* MemoryAccess::gather_narrow(llvm::Type* type, llvm::Value* addresses, llvm::Value* mask) {
  llvm::Type* i64 = widened(builder_.getInt64Ty());
  llvm::Value* bytes = builder_.CreatePtrToInt(addresses, i64);
  llvm::Value* word = builder_.CreateAnd(bytes, llvm::ConstantInt::getSigned(i64, -static_cast<int>(word_bytes)));
  llvm::Value* words =
      builder_.CreateMaskedGather(widened(builder_.getInt32Ty()), builder_.CreateIntToPtr(word, addresses->getType()),
                                  llvm::Align(word_bytes), mask);
  llvm::Value* offset =
      builder_.CreateTrunc(builder_.CreateAnd(bytes, llvm::ConstantInt::get(i64, word_bytes - 1)), words->getType());
  llvm::Value* shift = builder_.CreateShl(offset, llvm::ConstantInt::get(words->getType(), 3));
  return builder_.CreateTrunc(builder_.CreateLShr(words, shift), widened(type));
}

void MemoryAccess::store(const llvm::StoreInst& store) {
  const llvm::Value* value = store.getValueOperand();
  const llvm::Value* address = store.getPointerOperand();
  const LanePattern pattern = warp_.pattern(address);
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(value->getType()).getFixedValue());
  if (!store.isSimple() || !is_simple(value->getType())) {
    lanes_.emit(store);
    return;
  }
  if (pairs_.store(store)) return;
  llvm::Value* values = warp_.vector(value);
  if (pattern.is_uniform()) return store_last(values, store);
  if (const unsigned stride = strided_.stride(address, moved_as(value->getType()), false); stride != 0) {
    strided_.store(builder_.CreateBitCast(values, widened(moved_as(value->getType()))), address, stride);
    return;
  }
  auto scatter = [&]() -> llvm::Value* {
    if (!has_feature(warp_.scalar_function(), "+avx512f") || !has_gather(warp_.layout(), value->getType()))
      return lanes_.emit(store);
    builder_.CreateMaskedScatter(values, warp_.vector(address), store.getAlign(), warp_.mask());
    return nullptr;
  };
  auto store_row = [&](const AddressRow& row) -> llvm::Value* {
    rows_.store(values, row, store.getAlign());
    return nullptr;
  };
  std::optional<AddressRow> row = rows_.find(address, bytes);
  if (row && row->pattern.stride != 0)
    warp_.either(
        row->holds, [&] { return store_row(*row); }, scatter);
  else
    scatter();
}

/// All lanes store to one address: the value of the last one stays.
void MemoryAccess::store_last(llvm::Value* values, const llvm::StoreInst& store) {
  llvm::Value* leading =
      builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, warp_.bits_of(warp_.mask()), builder_.getFalse());
  llvm::Value* last = builder_.CreateSub(builder_.getInt32(warp_size - 1), leading);
  builder_.CreateAlignedStore(builder_.CreateExtractElement(values, last), warp_.scalar(store.getPointerOperand()),
                              store.getAlign());
}

}  // namespace gpulua::cpu::simd
