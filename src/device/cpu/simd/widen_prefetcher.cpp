#include "src/device/cpu/simd/widen_prefetcher.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IntrinsicInst.h>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

// Iterations ahead: enough to hide the latency of memory.
constexpr unsigned turns_ahead = 8;
// Bytes ahead in a stream. Processors do not prefetch from its next page.
constexpr std::int64_t stream_ahead = 2048;
// The same for blocks with rows of about 64 bytes.
constexpr std::int64_t blocks_ahead = 512;
constexpr unsigned nearest_cache = 3;  // as LLVM numbers them
constexpr std::int64_t line_bytes = 64;

}  // namespace

/// Loops that stride by the whole grid, or down the columns of a matrix, load from another page in each iteration, and
/// loops over a row reach another page in the end. Processors predict neither.
void Prefetcher::emit(const llvm::LoadInst& load, const AddressRow& row) {
  const llvm::Loop* loop = loops_.getLoopFor(load.getParent());
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(load.getPointerOperand());
  if (loop == nullptr) return emit_for_blocks(load, row);
  if (address == nullptr || address->getNumIndices() != 1) return;
  if (marker(llvm::getUnderlyingObject(address)) == Marker::private_memory) return;  // small, and just written
  llvm::Value* step = advance(address->getOperand(1), *loop);
  if (step == nullptr) return;
  llvm::Type* type = address->getSourceElementType();
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(type).getFixedValue());
  const auto row_bytes =
      static_cast<std::int64_t>(lane_count() * warp_.layout().getTypeAllocSize(load.getType()).getFixedValue());
  llvm::Value* ahead = builder_.CreateMul(step, builder_.getInt64(turns_ahead));
  if (const auto* known = llvm::dyn_cast<llvm::ConstantInt>(step)) {
    if (row_bytes < line_bytes || known->getSExtValue() * bytes < row_bytes) return;
    ahead = builder_.getInt64(static_cast<std::uint64_t>(stream_ahead / bytes));
  }
  llvm::Value* place = builder_.CreateGEP(type, row.bases[0], ahead);
  for (std::int64_t line = 0; line < row_bytes; line += line_bytes) prefetch(place, line, nearest_cache);
}

/// Consecutive blocks that read a few lines of many rows are more streams than processors track.
void Prefetcher::emit_for_blocks(const llvm::LoadInst& load, const AddressRow& row) {
  if (row.bases[1] == nullptr || row.pattern.stride == 0) return;
  if (!llvm::isa<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()))) return;  // a block's own memory
  for (llvm::Value* base : row.bases) prefetch(base, blocks_ahead, nearest_cache - 1);
}

/// The increment of an index in each iteration of the loop; null where it is not known before the loop.
llvm::Value* Prefetcher::advance(const llvm::Value* index, const llvm::Loop& loop) {
  if (const auto* counter = llvm::dyn_cast<llvm::PHINode>(index)) {
    if (counter->getParent() != loop.getHeader()) return nullptr;
    const auto* next = llvm::dyn_cast<llvm::BinaryOperator>(counter->getIncomingValueForBlock(loop.getLoopLatch()));
    if (next == nullptr || next->getOpcode() != llvm::Instruction::Add) return nullptr;
    const llvm::Value* step = next->getOperand(next->getOperand(0) == counter ? 1 : 0);
    if ((next->getOperand(0) != counter && next->getOperand(1) != counter) || !is_fixed(step, loop)) return nullptr;
    return builder_.CreateSExt(warp_.scalar(step), builder_.getInt64Ty());
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
  return builder_.CreateMul(more, builder_.CreateSExt(warp_.scalar(binary->getOperand(fixed)), more->getType()));
}

bool Prefetcher::is_fixed(const llvm::Value* value, const llvm::Loop& loop) const {
  return loop.isLoopInvariant(value) && warp_.is_uniform(value);
}

void Prefetcher::prefetch(llvm::Value* base, std::int64_t offset, unsigned cache) {
  builder_.CreateIntrinsic(llvm::Intrinsic::prefetch, {base->getType()},
                           {builder_.CreateConstGEP1_64(builder_.getInt8Ty(), base, static_cast<std::uint64_t>(offset)),
                            builder_.getInt32(0), builder_.getInt32(cache), builder_.getInt32(1)});
}

}  // namespace gpulua::cpu::simd
