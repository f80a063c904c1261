#include "src/device/cpu/simd/private_memory.h"

#include <llvm/ADT/MapVector.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Operator.h>

#include <numeric>
#include <optional>
#include <vector>

#include "src/device/cpu/simd/lane_pattern.h"
#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

constexpr std::uint64_t max_elements_copied = 64;

/// The uses of an array that can be interleaved.
struct Uses {
  std::vector<llvm::GetElementPtrInst*> addresses;  // each after those that it builds on
  std::vector<llvm::MemIntrinsic*> fills;           // memset, and memcpy into the array
  std::vector<llvm::Instruction*> markers;          // lifetime
  std::uint64_t element = 0;                        // size of every load and store, in bytes
};

class Collector {
 public:
  explicit Collector(const llvm::DataLayout& layout) : layout_(layout) {}

  std::optional<Uses> collect(llvm::AllocaInst& array) {
    if (!follow(array) || uses_.element == 0 || uses_.element > 8 || !llvm::isPowerOf2_64(uses_.element))
      return std::nullopt;
    const std::uint64_t element = uses_.element;
    for (llvm::GetElementPtrInst* address : uses_.addresses) {
      llvm::MapVector<llvm::Value*, llvm::APInt> variable;
      llvm::APInt constant(64, 0);
      if (!address->collectOffset(layout_, 64, variable, constant) || constant.urem(element) != 0) return std::nullopt;
      for (const auto& [index, scale] : variable)
        if (scale.urem(element) != 0) return std::nullopt;
    }
    for (llvm::MemIntrinsic* fill : uses_.fills) {
      const auto* length = llvm::dyn_cast<llvm::ConstantInt>(fill->getLength());
      if (length == nullptr || length->getZExtValue() % element != 0 ||
          length->getZExtValue() / element > max_elements_copied)
        return std::nullopt;
    }
    return uses_;
  }

 private:
  bool follow(llvm::Value& pointer) {
    for (llvm::Use& use : pointer.uses()) {
      auto* user = llvm::cast<llvm::Instruction>(use.getUser());
      if (auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
        if (address->getType()->isVectorTy()) return false;
        uses_.addresses.push_back(address);
        if (!follow(*address)) return false;
      } else if (llvm::isa<llvm::LoadInst>(user)) {
        if (!same_size(user->getType())) return false;
      } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
        if (use.getOperandNo() != llvm::StoreInst::getPointerOperandIndex() ||
            !same_size(store->getValueOperand()->getType()))
          return false;
      } else if (user->isLifetimeStartOrEnd()) {
        uses_.markers.push_back(user);
      } else if (auto* fill = llvm::dyn_cast<llvm::MemIntrinsic>(user)) {
        if (use.getOperandNo() != 0 || fill->isVolatile()) return false;
        uses_.fills.push_back(fill);
      } else {
        return false;
      }
    }
    return true;
  }

  bool same_size(llvm::Type* type) {
    if (!type->isSingleValueType() || type->isVectorTy()) return false;
    const std::uint64_t bytes = layout_.getTypeStoreSize(type).getFixedValue();
    if (uses_.element == 0) uses_.element = bytes;
    return uses_.element == bytes;
  }

  const llvm::DataLayout& layout_;
  Uses uses_;
};

/// Replaces the fill by a store of each element, which can be interleaved as other stores are.
void expand(llvm::MemIntrinsic& fill, std::uint64_t element, Uses& uses) {
  llvm::IRBuilder<> builder(&fill);
  llvm::Type* type = builder.getIntNTy(static_cast<unsigned>(element * 8));
  const std::uint64_t count = llvm::cast<llvm::ConstantInt>(fill.getLength())->getZExtValue() / element;
  for (std::uint64_t i = 0; i < count; ++i) {
    llvm::Value* value;
    if (auto* set = llvm::dyn_cast<llvm::MemSetInst>(&fill)) {
      value = builder.CreateZExtOrTrunc(set->getValue(), type);
      for (std::uint64_t filled = 1; filled < element; filled *= 2)
        value = builder.CreateOr(value, builder.CreateShl(value, filled * 8));
    } else {
      auto& copy = llvm::cast<llvm::MemTransferInst>(fill);
      llvm::Value* from = builder.CreateConstGEP1_64(builder.getInt8Ty(), copy.getSource(), i * element);
      value =
          builder.CreateAlignedLoad(type, from, llvm::commonAlignment(copy.getSourceAlign().valueOrOne(), i * element));
    }
    auto* to = llvm::GetElementPtrInst::Create(builder.getInt8Ty(), fill.getRawDest(), {builder.getInt64(i * element)},
                                               "", fill.getIterator());
    uses.addresses.push_back(to);
    builder.CreateAlignedStore(value, to, llvm::Align(1));
  }
  fill.eraseFromParent();
}

void interleave(llvm::AllocaInst& array, Uses& uses, std::uint64_t bytes, const llvm::DataLayout& layout) {
  for (llvm::MemIntrinsic* fill : uses.fills) expand(*fill, uses.element, uses);
  for (llvm::Instruction* marker : uses.markers) marker->eraseFromParent();
  for (llvm::GetElementPtrInst* address : uses.addresses) {
    llvm::MapVector<llvm::Value*, llvm::APInt> variable;
    llvm::APInt constant(64, 0);
    address->collectOffset(layout, 64, variable, constant);
    llvm::IRBuilder<> builder(address);
    llvm::Value* offset = builder.getInt64(constant.getZExtValue() * lane_count());
    for (const auto& [index, scale] : variable) {
      llvm::Value* wide = builder.CreateSExtOrTrunc(index, builder.getInt64Ty());
      offset =
          builder.CreateAdd(offset, builder.CreateMul(wide, builder.getInt64(scale.getZExtValue() * lane_count())));
    }
    llvm::Value* scaled =
        builder.CreateGEP(builder.getInt8Ty(), address->getPointerOperand(), offset, address->getName());
    address->replaceAllUsesWith(scaled);
    address->eraseFromParent();
  }
  llvm::IRBuilder<> builder(&array);
  array.replaceAllUsesWith(call_private_memory(builder, bytes, uses.element, array.getName()));
}

}  // namespace

void lay_out_private_memory(llvm::Function& function) {
  const llvm::DataLayout& layout = function.getParent()->getDataLayout();
  std::vector<llvm::AllocaInst*> arrays;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction); array != nullptr && array->isStaticAlloca())
      arrays.push_back(array);
  for (llvm::AllocaInst* array : arrays) {
    const std::uint64_t bytes = llvm::alignTo(array->getAllocationSize(layout)->getFixedValue(), array->getAlign());
    if (std::optional<Uses> uses = Collector(layout).collect(*array)) {
      interleave(*array, *uses, llvm::alignTo(bytes, uses->element), layout);
    } else {
      llvm::IRBuilder<> builder(array);
      array->replaceAllUsesWith(call_private_memory(builder, bytes, bytes, array->getName()));
    }
    array->eraseFromParent();
  }
}

}  // namespace gpulua::cpu::simd
