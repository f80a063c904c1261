// Loads and stores. A warp's addresses are one, a row, or each its own.

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// Gathers read whole words of this many bytes.
constexpr unsigned word_bytes = 4;

/// What the processor gathers by itself.
bool has_gather(const llvm::DataLayout& layout, llvm::Type* type) {
  const std::uint64_t bytes = layout.getTypeStoreSize(type).getFixedValue();
  return !type->isIntegerTy(1) && (bytes == 4 || bytes == 8) && layout.getTypeAllocSize(type) == bytes &&
         (!type->isIntegerTy() || type->getIntegerBitWidth() == bytes * 8);
}

/// True iff the type has vectors that lie in memory as arrays do, in registers that take them.
bool is_simple(llvm::Type* type) {
  if (type->isStructTy()) return false;
  const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 64;
  return bits == 8 || bits == 16 || bits == 32 || bits == 64;
}

// As many turns of a loop ahead as hide the latency of memory.
constexpr unsigned turns_ahead = 8;
// As far ahead in a stream, whose next page processors do not look for.
constexpr std::int64_t stream_ahead = 2048;
// The same for blocks of some 64 bytes a row.
constexpr std::int64_t blocks_ahead = 512;
constexpr unsigned nearest_cache = 3;  // as LLVM numbers them
constexpr std::int64_t line_bytes = 64;

}  // namespace

/// How much more an index is in each turn of the loop; null where that is not known before the loop.
llvm::Value* Widener::advance(const llvm::Value* index, const llvm::Loop& loop) {
  if (const auto* counter = llvm::dyn_cast<llvm::PHINode>(index)) {
    if (counter->getParent() != loop.getHeader()) return nullptr;
    const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(counter->getIncomingValueForBlock(loop.getLoopLatch()));
    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add) return nullptr;
    const llvm::Value* step = next->getOperand(next->getOperand(0) == counter ? 1 : 0);
    if ((next->getOperand(0) != counter && next->getOperand(1) != counter) || !is_fixed(step, loop)) return nullptr;
    return builder_.CreateSExt(scalar(step), builder_.getInt64Ty());
  }
  if (llvm::isa<llvm::SExtInst, llvm::ZExtInst, llvm::TruncInst>(index))
    return advance(llvm::cast<llvm::CastInst>(index)->getOperand(0), loop);
  const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(index);
  if (binary == nullptr) return nullptr;
  const bool is_product = binary->getOpcode() == llvm::Instruction::Mul;
  const bool is_sum = binary->getOpcode() == llvm::Instruction::Add || binary->getOpcode() == llvm::Instruction::Or;
  const unsigned fixed = is_fixed(binary->getOperand(0), loop) ? 0 : 1;
  if ((!is_product && !is_sum) || !is_fixed(binary->getOperand(fixed), loop)) return nullptr;
  llvm::Value* more = advance(binary->getOperand(1 - fixed), loop);
  if (more == nullptr || is_sum) return more;
  return builder_.CreateMul(more, builder_.CreateSExt(scalar(binary->getOperand(fixed)), more->getType()));
}

bool Widener::is_fixed(const llvm::Value* value, const llvm::Loop& loop) const {
  return loop.isLoopInvariant(value) && is_uniform(value);
}

/// A loop over a grid's stride, or down the columns of a matrix, reads another page in each turn, which processors do
/// not foresee; and one from row to row comes to another page in the end.
void Widener::emit_prefetch(const llvm::LoadInst& load, const AddressRow& row) {
  const llvm::Loop* loop = divergence_.loops().getLoopFor(block_);
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getPointerOperand());
  if (loop == nullptr) return emit_prefetch_of_blocks(load, row);
  if (address == nullptr || address->getNumIndices() != 1) return;
  if (marker(llvm::getUnderlyingObject(address)) == Marker::private_memory) return;  // small, and just written
  llvm::Value* step = advance(address->getOperand(1), *loop);
  if (step == nullptr) return;
  llvm::Type* type = address->getSourceElementType();
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  const auto row_bytes =
      static_cast<std::int64_t>(warp_size * layout_.getTypeAllocSize(load.getType()).getFixedValue());
  llvm::Value* ahead = builder_.CreateMul(step, builder_.getInt64(turns_ahead));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(step)) {
    if (row_bytes < line_bytes || known->getSExtValue() * bytes < row_bytes) return;
    ahead = builder_.getInt64(static_cast<std::uint64_t>(stream_ahead / bytes));
  }
  llvm::Value* place = builder_.CreateGEP(type, row.bases[0], ahead);
  for (std::int64_t line = 0; line < row_bytes; line += line_bytes) prefetch(place, line, nearest_cache);
}

/// Blocks that read some lines of many rows, each a bit further on than the block before, are more streams than
/// processors follow.
void Widener::emit_prefetch_of_blocks(const llvm::LoadInst& load, const AddressRow& row) {
  if (row.bases[1] == nullptr || row.pattern.stride == 0) return;
  if (!llvm::isa<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()))) return;  // a block's own memory
  for (llvm::Value* base : row.bases) prefetch(base, blocks_ahead, nearest_cache - 1);
}

void Widener::prefetch(llvm::Value* base, std::int64_t offset, unsigned cache) {
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {base->getType()},
                           {builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, static_cast<std::uint64_t>(offset)),
                            builder_.getInt32(0), builder_.getInt32(cache), builder_.getInt32(1)});
}

llvm::Value* Widener::emit_load(const llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  if (!load.isSimple() || !is_simple(type)) return emit_for_each_lane(load);
  if (const unsigned apart = elements_apart(load.getPointerOperand(), moved_as(type)); apart != 0)
    return builder_.CreateBitCast(emit_strided_load(moved_as(type), load.getPointerOperand(), apart), widened(type));
  std::optional<AddressRow> row = find_row(load.getPointerOperand(), bytes);
  if (!row) return emit_gather(load);
  emit_prefetch(load, *row);
  return emit_either(
      row->holds, [&] { return emit_row_load(type, *row, load.getAlign()); }, [&] { return emit_gather(load); });
}

llvm::Value* Widener::emit_gather(const llvm::LoadInst& load) {
  llvm::Type* type = load.getType();
  // A lane's part of interleaved memory is aligned to an element only.
  const llvm::Align element = layout_.getABITypeAlign(type), align = std::min(load.getAlign(), element);
  if (const llvm::PHINode* counter = find_induction(load)) return emit_induction_load(load, inductions_.at(counter));
  llvm::Value* addresses = vector(load.getPointerOperand());
  if (has_gather(layout_, type)) return builder_.CreateMaskedGather(widened(type), addresses, align, mask());
  if (align < element) return emit_for_each_lane(load);  // it may be in two words
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
  const LanePattern pattern = patterns_(address);
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(value->getType()).getFixedValue());
  if (pattern.is_uniform() && is_uniform(value)) return emit_scalar(store);
  if (!store.isSimple() || !is_simple(value->getType())) {
    emit_for_each_lane(store);
    return;
  }
  llvm::Value* values = vector(value);
  if (pattern.is_uniform()) {
    // All lanes write one place: the last one's value stays.
    llvm::Value* leading = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::ctlz, bits_of(mask()), builder_.getFalse());
    llvm::Value* last = builder_.CreateSub(builder_.getInt32(warp_size - 1), leading);
    builder_.CreateAlignedStore(builder_.CreateExtractElement(values, last), scalar(address), store.getAlign());
    return;
  }
  if (const unsigned apart = elements_apart(address, moved_as(value->getType())); apart != 0) {
    emit_strided_store(builder_.CreateBitCast(values, widened(moved_as(value->getType()))), address, apart);
    return;
  }
  auto scatter = [&]() -> llvm::Value* {
    if (!has_gather(layout_, value->getType())) return emit_for_each_lane(store);
    builder_.CreateMaskedScatter(values, vector(address), store.getAlign(), mask());
    return nullptr;
  };
  auto store_row = [&](const AddressRow& row) -> llvm::Value* {
    emit_row_store(values, row, store.getAlign());
    return nullptr;
  };
  std::optional<AddressRow> row = find_row(address, bytes);
  if (row && row->pattern.stride != 0)
    emit_either(
        row->holds, [&] { return store_row(*row); }, scatter);
  else
    scatter();
}

}  // namespace gpulua::cpu::simd
