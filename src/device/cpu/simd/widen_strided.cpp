// Fields of small structures, and every second or third element: as rows of memory that are taken apart, or put
// together, in registers. Only the elements that lanes mean are touched.

#include <llvm/IR/IntrinsicsX86.h>

#include "src/device/cpu/simd/target.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// Elements that go together: as many as a mask has bits in a general register.
constexpr unsigned chunk = 64;
constexpr unsigned max_elements_apart = 4;
// Longer rows are no faster than gathers.
constexpr unsigned max_bytes = 512;

bool has_masked_bytes(const llvm::Function& function) {
  return has_feature(function, "+avx512bw") && has_feature(function, "+bmi2");
}

bool is_simple(llvm::Type* type) {
  return type->isFloatTy() || type->isDoubleTy() || type->isIntegerTy(8) || type->isIntegerTy(16) ||
         type->isIntegerTy(32) || type->isIntegerTy(64);
}

}  // namespace

/// How many elements the lanes' are apart, where they are close enough to go this way; else 0.
unsigned Widener::elements_apart(const llvm::Value* address, llvm::Type* type) const {
  const LanePattern pattern = patterns_(address);
  if (!pattern.is_consecutive(pattern.stride) || pattern.stride <= 0 || !is_simple(type) || !has_masked_bytes(from_))
    return 0;
  const auto bytes = static_cast<std::int64_t>(layout_.getTypeAllocSize(type).getFixedValue());
  const std::int64_t apart = pattern.stride / bytes;
  if (pattern.stride % bytes != 0 || apart < 2 || apart > max_elements_apart) return 0;
  return warp_size * pattern.stride <= max_bytes ? static_cast<unsigned>(apart) : 0;
}

/// The active lanes' elements among those from `first` on.
llvm::Value* Widener::mask_of_chunk(unsigned first, unsigned apart) {
  std::uint64_t elements = 0;
  unsigned lane = (first + apart - 1) / apart;
  const unsigned first_lane = lane;
  for (; lane < warp_size && lane * apart < first + chunk; ++lane) elements |= 1ull << (lane * apart - first);
  llvm::Value* bits = builder_.getInt64(elements);
  if (!mask_is_full()) {
    llvm::Value* lanes = builder_.CreateLShr(builder_.CreateZExt(bits_of(mask()), builder_.getInt64Ty()), first_lane);
    bits = builder_.CreateIntrinsic(llvm::Intrinsic::x86_bmi_pdep_64, {}, {lanes, bits});
  }
  return builder_.CreateBitCast(bits, llvm::FixedVectorType::get(builder_.getInt1Ty(), chunk));
}

llvm::Value* Widener::emit_strided_load(llvm::Type* type, const llvm::Value* address, unsigned apart) {
  auto* row = llvm::FixedVectorType::get(type, chunk);
  llvm::Value* chunks[2] = {llvm::PoisonValue::get(row), llvm::PoisonValue::get(row)};
  for (unsigned first = 0; first < warp_size * apart; first += chunk) {
    llvm::Value* place = builder_.CreateConstGEP1_64(type, scalar(address), first);
    chunks[first / chunk] =
        builder_.CreateMaskedLoad(row, place, layout_.getABITypeAlign(type), mask_of_chunk(first, apart));
  }
  llvm::SmallVector<int> order;
  for (unsigned lane = 0; lane < warp_size; ++lane) order.push_back(static_cast<int>(lane * apart));
  return builder_.CreateShuffleVector(chunks[0], chunks[1], order);
}

void Widener::emit_strided_store(llvm::Value* values, const llvm::Value* address, unsigned apart) {
  llvm::Type* type = values->getType()->getScalarType();
  for (unsigned first = 0; first < warp_size * apart; first += chunk) {
    llvm::SmallVector<int> order;
    for (unsigned i = first; i < first + chunk; ++i)
      order.push_back(i % apart == 0 && i / apart < warp_size ? static_cast<int>(i / apart) : llvm::PoisonMaskElem);
    llvm::Value* place = builder_.CreateConstGEP1_64(type, scalar(address), first);
    builder_.CreateMaskedStore(builder_.CreateShuffleVector(values, order), place, layout_.getABITypeAlign(type),
                               mask_of_chunk(first, apart));
  }
}

}  // namespace gpulua::cpu::simd
