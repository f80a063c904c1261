#include "src/device/cpu/simd/own_rows.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {

bool is_own_row(const llvm::Value* address, std::int64_t bytes, const LanePatterns& patterns) {
  const llvm::Value* array = llvm::getUnderlyingObject(address);
  return marker(array) == Marker::private_memory && patterns(address).is_consecutive(bytes) &&
         !has_feature(*llvm::cast<llvm::CallInst>(array)->getFunction(), "+avx512f");
}

bool is_row_in_bounds(const llvm::Value* address, std::int64_t bytes) {
  llvm::APInt offset(64, 0);
  const auto* array = llvm::cast<llvm::CallInst>(llvm::getUnderlyingObject(address));
  const llvm::DataLayout& layout = array->getModule()->getDataLayout();
  if (address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true) != array) return false;
  const std::uint64_t size = llvm::cast<llvm::ConstantInt>(array->getArgOperand(0))->getZExtValue() * lane_count();
  const std::uint64_t row = static_cast<std::uint64_t>(bytes) * lane_count();
  return row <= size && offset.ule(size - row);
}

}  // namespace gpulua::cpu::simd
