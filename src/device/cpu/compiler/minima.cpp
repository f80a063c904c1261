#include "src/device/cpu/compiler/minima.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "src/device/cpu/ir/collect.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu {
namespace {

constexpr unsigned least_bits = 128, max_bits = 512;  // of vrange's operands

unsigned count_lanes(llvm::Type* type) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

/// Replaces one call by other instructions.
class Extremum {
 public:
  explicit Extremum(llvm::IntrinsicInst& call)
      : call_(call), builder_(&call), is_max_(call.getIntrinsicID() == llvm::Intrinsic::maxnum) {}

  void replace() {
    llvm::Value *x = call_.getArgOperand(0), *y = call_.getArgOperand(1);
    if (beats_its_equals(x)) std::swap(x, y);
    const bool any_will_do = call_.hasNoNaNs() && call_.hasNoSignedZeros();
    llvm::Value* result = nullptr;
    if (any_will_do || beats_its_equals(y))
      result = first_if_beyond(x, y);
    else if (has_range_instruction())
      result = range(x, y);
    else
      result = compare(x, y);
    call_.replaceAllUsesWith(result);
    call_.eraseFromParent();
  }

 private:
  /// True for a constant that may be the result where the other operand equals it or is a NaN.
  bool beats_its_equals(llvm::Value* value) const {
    const llvm::APFloat* constant = nullptr;
    return llvm::PatternMatch::match(value, llvm::PatternMatch::m_APFloat(constant)) && !constant->isNaN() &&
           !(constant->isZero() && constant->isNegative() == is_max_);
  }

  /// As the processor's instruction: y where the operands are equal or one is a NaN.
  llvm::Value* first_if_beyond(llvm::Value* x, llvm::Value* y) {
    return builder_.CreateSelect(is_max_ ? builder_.CreateFCmpOGT(x, y) : builder_.CreateFCmpOLT(x, y), x, y);
  }

  llvm::Value* compare(llvm::Value* x, llvm::Value* y) {
    // Equal operands differ in the sign bit at most.
    llvm::Type* bits = call_.getType()->getWithNewType(builder_.getIntNTy(call_.getType()->getScalarSizeInBits()));
    llvm::Value *x_bits = builder_.CreateBitCast(x, bits), *y_bits = builder_.CreateBitCast(y, bits);
    llvm::Value* equal = is_max_ ? builder_.CreateAnd(x_bits, y_bits) : builder_.CreateOr(x_bits, y_bits);
    llvm::Value* number = builder_.CreateSelect(builder_.CreateFCmpOEQ(x, y),
                                                builder_.CreateBitCast(equal, call_.getType()), first_if_beyond(x, y));
    return builder_.CreateSelect(builder_.CreateFCmpUNO(y, y), x, number);
  }

  bool has_range_instruction() const {
    const llvm::Function& function = *call_.getFunction();
    return simd::has_feature(function, "+avx512dq") && simd::has_feature(function, "+avx512vl") &&
           std::has_single_bit(count_lanes(call_.getType()));
  }

  llvm::Value* lanes(llvm::Value* x, unsigned first, unsigned count) {
    llvm::SmallVector<int> order;
    for (unsigned lane = first; lane < first + count; ++lane)
      order.push_back(lane < count_lanes(x->getType()) ? static_cast<int>(lane) : -1);
    return builder_.CreateShuffleVector(x, order);
  }

  llvm::Value* range(llvm::Value* x, llvm::Value* y) {
    llvm::Type* type = x->getType();
    llvm::Type* element = type->getScalarType();
    const unsigned count = count_lanes(type), bits = count * element->getScalarSizeInBits();
    if (count == 1) {
      llvm::Value* none = llvm::PoisonValue::get(llvm::FixedVectorType::get(element, 2));
      llvm::Value* result = range(builder_.CreateInsertElement(none, x, std::uint64_t{0}),
                                  builder_.CreateInsertElement(none, y, std::uint64_t{0}));
      return builder_.CreateExtractElement(result, std::uint64_t{0});
    }
    if (bits < least_bits) {
      const unsigned wider = least_bits / element->getScalarSizeInBits();
      return lanes(range(lanes(x, 0, wider), lanes(y, 0, wider)), 0, count);
    }
    if (bits <= max_bits) return range_instruction(x, y, bits);
    const unsigned half = count / 2;
    llvm::Value* low = range(lanes(x, 0, half), lanes(y, 0, half));
    llvm::Value* high = range(lanes(x, half, half), lanes(y, half, half));
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < count; ++lane) order.push_back(static_cast<int>(lane));
    return builder_.CreateShuffleVector(low, high, order);
  }

  llvm::Value* range_instruction(llvm::Value* x, llvm::Value* y, unsigned bits) {
    using namespace llvm::Intrinsic;
    static constexpr ID of_float[] = {x86_avx512_mask_range_ps_128, x86_avx512_mask_range_ps_256,
                                      x86_avx512_mask_range_ps_512};
    static constexpr ID of_double[] = {x86_avx512_mask_range_pd_128, x86_avx512_mask_range_pd_256,
                                       x86_avx512_mask_range_pd_512};
    const unsigned size = static_cast<unsigned>(std::countr_zero(bits / least_bits));
    const unsigned count = count_lanes(x->getType());
    llvm::Value* all = llvm::Constant::getAllOnesValue(builder_.getIntNTy(std::max(count, 8u)));
    // Minimum or maximum, with the sign of the result.
    std::vector<llvm::Value*> arguments = {x, y, builder_.getInt32(is_max_ ? 5 : 4), x, all};
    if (bits == max_bits) arguments.push_back(builder_.getInt32(4));  // the current rounding mode
    return builder_.CreateIntrinsic((x->getType()->getScalarType()->isFloatTy() ? of_float : of_double)[size], {},
                                    arguments);
  }

  llvm::IntrinsicInst& call_;
  llvm::IRBuilder<> builder_;
  const bool is_max_;
};

bool is_extremum(const llvm::IntrinsicInst& call) {
  const bool of_two =
      call.getIntrinsicID() == llvm::Intrinsic::minnum || call.getIntrinsicID() == llvm::Intrinsic::maxnum;
  llvm::Type* element = call.getType()->getScalarType();
  return of_two && (element->isFloatTy() || element->isDoubleTy());
}

}  // namespace

void order_zeros(llvm::Module& module) {
  for (llvm::IntrinsicInst* call : collect<llvm::IntrinsicInst>(module, is_extremum)) Extremum(*call).replace();
}

}  // namespace gpulua::cpu
