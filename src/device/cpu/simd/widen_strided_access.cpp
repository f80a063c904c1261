#include "src/device/cpu/simd/widen_strided_access.h"

#include <llvm/IR/IntrinsicsX86.h>

#include <algorithm>
#include <bit>

#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// Elements in one vector, at most: as many as a mask in a general register has bits.
constexpr unsigned max_chunk = 64;
constexpr unsigned max_stride = 4;
// Longer rows are no faster than gathers.
constexpr unsigned max_bytes = 512;

bool is_number(llvm::Type* type) {
  return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
         type->isIntegerTy(32) || type->isIntegerTy(64);
}

unsigned chunk_of(unsigned stride) {
  return std::min(max_chunk, std::bit_ceil(lane_count() * stride));
}

}  // namespace

unsigned StridedAccess::stride(const llvm::Value* address, llvm::Type* type, bool loads) const {
  const LanePattern pattern = warp_.pattern(address);
  const bool possible = has_masked_bytes(warp_.scalar_function()) || (loads && warp_.mask_is_full());
  if (!possible || !pattern.is_consecutive(pattern.stride) || pattern.stride <= 0 || !is_number(type)) return 0;
  const auto bytes = static_cast<std::int64_t>(warp_.layout().getTypeAllocSize(type).getFixedValue());
  const std::int64_t stride = pattern.stride / bytes;
  if (pattern.stride % bytes != 0 || stride < 2 || stride > max_stride) return 0;
  return lane_count() * pattern.stride <= max_bytes ? static_cast<unsigned>(stride) : 0;
}

/// A mask of a chunk of elements that starts at `first`: the elements of active lanes.
llvm::Value* StridedAccess::mask_of_chunk(unsigned first, unsigned stride) {
  const unsigned chunk = chunk_of(stride);
  std::uint64_t elements = 0;
  unsigned lane = (first + stride - 1) / stride;
  const unsigned first_lane = lane;
  for (; lane < lane_count() && lane * stride < first + chunk; ++lane) elements |= 1ull << (lane * stride - first);
  llvm::Value* bits = builder_.getInt64(elements);
  if (!warp_.mask_is_full()) {
    llvm::Value* lanes =
        builder_.CreateLShr(builder_.CreateZExt(warp_.bits_of(warp_.mask()), builder_.getInt64Ty()), first_lane);
    bits = builder_.CreateIntrinsic(llvm::Intrinsic::x86_bmi_pdep_64, {}, {lanes, bits});
  }
  return builder_.CreateBitCast(builder_.CreateTrunc(bits, builder_.getIntNTy(chunk)),
                                llvm::FixedVectorType::get(builder_.getInt1Ty(), chunk));
}

/// Loads all from the first lane's element to the last one's. What lies between is in their pages: rows are short.
llvm::Value* StridedAccess::load_whole(llvm::Type* type, const llvm::Value* address, unsigned stride) {
  const unsigned elements = (lane_count() - 1) * stride + 1;
  llvm::Value* result = nullptr;
  for (unsigned lane = 0; lane < lane_count();) {
    const unsigned first = std::min(lane * stride, elements - lane_count());
    llvm::Value* place = builder_.CreateConstGEP1_64(type, warp_.scalar(address), first);
    llvm::Value* part = builder_.CreateAlignedLoad(llvm::FixedVectorType::get(type, lane_count()), place,
                                                   warp_.layout().getABITypeAlign(type));
    // The lanes that this part has, behind those of the earlier parts.
    llvm::SmallVector<int> lanes(lane_count(), llvm::PoisonMaskElem);
    for (unsigned i = 0; i < lane; ++i) lanes[i] = static_cast<int>(i);
    for (; lane < lane_count() && lane * stride < first + lane_count(); ++lane)
      lanes[lane] = static_cast<int>(lane_count() + lane * stride - first);
    result = builder_.CreateShuffleVector(result == nullptr ? part : result, part, lanes);
  }
  return result;
}

llvm::Value* StridedAccess::load(llvm::Type* type, const llvm::Value* address, unsigned stride) {
  if (!has_masked_bytes(warp_.scalar_function())) return load_whole(type, address, stride);
  const unsigned chunk = chunk_of(stride);
  auto* row = llvm::FixedVectorType::get(type, chunk);
  llvm::Value* chunks[2] = {llvm::PoisonValue::get(row), llvm::PoisonValue::get(row)};
  for (unsigned first = 0; first < lane_count() * stride; first += chunk) {
    llvm::Value* place = builder_.CreateConstGEP1_64(type, warp_.scalar(address), first);
    chunks[first / chunk] =
        builder_.CreateMaskedLoad(row, place, warp_.layout().getABITypeAlign(type), mask_of_chunk(first, stride));
  }
  llvm::SmallVector<int> order;
  for (unsigned lane = 0; lane < lane_count(); ++lane) order.push_back(static_cast<int>(lane * stride));
  return builder_.CreateShuffleVector(chunks[0], chunks[1], order);
}

void StridedAccess::store(llvm::Value* values, const llvm::Value* address, unsigned stride) {
  llvm::Type* type = values->getType()->getScalarType();
  const unsigned chunk = chunk_of(stride);
  for (unsigned first = 0; first < lane_count() * stride; first += chunk) {
    llvm::SmallVector<int> order;
    for (unsigned i = first; i < first + chunk; ++i)
      order.push_back(i % stride == 0 && i / stride < lane_count() ? static_cast<int>(i / stride)
                                                                   : llvm::PoisonMaskElem);
    llvm::Value* place = builder_.CreateConstGEP1_64(type, warp_.scalar(address), first);
    builder_.CreateMaskedStore(builder_.CreateShuffleVector(values, order), place, warp_.layout().getABITypeAlign(type),
                               mask_of_chunk(first, stride));
  }
}

}  // namespace gpulua::cpu::simd
