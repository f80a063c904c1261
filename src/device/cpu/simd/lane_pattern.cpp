#include "src/device/cpu/simd/lane_pattern.h"

#include <llvm/ADT/STLFunctionalExtras.h>
#include <llvm/ADT/bit.h>
#include <llvm/IR/Constants.h>

#include <algorithm>

namespace gpulua::cpu::simd {
namespace {

thread_local unsigned lanes_at_hand = warp_size;

constexpr unsigned max_zeros = 64;
constexpr std::int64_t max_stride = std::int64_t{1} << 40;

std::int64_t wrapping_product(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
}

std::int64_t wrapping_sum(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

unsigned trailing_zeros(std::int64_t number) {
  return number == 0 ? max_zeros : static_cast<unsigned>(llvm::countr_zero(static_cast<std::uint64_t>(number)));
}

/// The pattern of change(base + offset), where that equals change(base) + change(offset).
LanePattern change_offsets(const LanePattern& pattern, unsigned zeros,
                           llvm::function_ref<std::uint64_t(std::uint64_t)> change) {
  auto at = [&](unsigned lane) {
    return static_cast<std::int64_t>(change(static_cast<std::uint64_t>(pattern.offset(lane))));
  };
  LanePattern result = pattern;
  result.stride = at(1);
  result.half_stride = pattern.is_half_affine() ? 0 : at(half_warp);
  result.zeros = zeros;
  for (unsigned lane = 0; lane < lane_count(); ++lane)
    if (at(lane) != result.offset(lane)) return LanePattern::varying();
  return result;
}

/// Both operands are uniform.
LanePattern uniform_result(const llvm::BinaryOperator& binary, LanePattern a, LanePattern b) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
    case llvm::Instruction::Sub:
    case llvm::Instruction::Or:
      return LanePattern::uniform(std::min(a.zeros, b.zeros));
    case llvm::Instruction::Mul:
      return LanePattern::uniform(std::min(a.zeros + b.zeros, max_zeros));
    case llvm::Instruction::Shl:
      if (constant == nullptr || constant->getValue().uge(max_zeros)) return LanePattern::uniform();
      return LanePattern::uniform(std::min(a.zeros + static_cast<unsigned>(constant->getZExtValue()), max_zeros));
    case llvm::Instruction::And:
      return LanePattern::uniform(std::max(a.zeros, b.zeros));
    default:
      return LanePattern::uniform();
  }
}

/// True iff the quotient of `a` and the uniform `b` depends on the bases alone and the remainder keeps the offsets.
bool divides_bases_only(const LanePattern& a, const LanePattern& b, unsigned bits) {
  LanePattern offsets = a;
  offsets.zeros = std::min(a.zeros, b.zeros);
  return offsets.offsets_fit_below(bits);
}

}  // namespace

unsigned lane_count() {
  return lanes_at_hand;
}

std::uint32_t all_lanes() {
  return ~0u >> (warp_size - lanes_at_hand);
}

LaneCount::LaneCount() : before_(lanes_at_hand) {}

LaneCount::~LaneCount() {
  lanes_at_hand = before_;
}

void LaneCount::set(unsigned lanes) {
  lanes_at_hand = lanes;
}

unsigned trailing_zeros(const llvm::Constant& constant) {
  const auto* integer = llvm::dyn_cast<llvm::ConstantInt>(&constant);
  if (integer == nullptr) return 0;
  return integer->isZero() ? max_zeros : std::min(integer->getValue().countr_zero(), max_zeros);
}

bool LanePattern::offsets_fit_below(unsigned bits) const {
  if (!is_known() || is_varying()) return false;
  if (stride < 0 || stride > max_stride || half_stride < 0 || half_stride > max_stride) return false;
  return static_cast<std::uint64_t>(offset(lane_count() - 1)) < std::uint64_t{1} << std::min({zeros, bits, 63u});
}

LanePattern LanePattern::per_half() const {
  if (!is_affine()) return *this;
  return {Kind::half_affine, stride, 0, std::min(zeros, trailing_zeros(half_stride))};
}

LanePattern meet(LanePattern a, LanePattern b) {
  if (!a.is_known()) return b;
  if (!b.is_known()) return a;
  if (a.is_varying() || b.is_varying() || a.stride != b.stride) return LanePattern::varying();
  if (a.is_half_affine() || b.is_half_affine() || a.half_stride != b.half_stride) {
    a = a.per_half();
    b = b.per_half();
  }
  a.zeros = std::min(a.zeros, b.zeros);
  return a;
}

LanePattern operator+(LanePattern a, LanePattern b) {
  if (!a.is_known() || !b.is_known()) return {};
  if (a.is_varying() || b.is_varying()) return LanePattern::varying();
  if (a.kind != b.kind) {
    a = a.per_half();
    b = b.per_half();
  }
  return {a.kind, wrapping_sum(a.stride, b.stride), wrapping_sum(a.half_stride, b.half_stride),
          std::min(a.zeros, b.zeros)};
}

LanePattern operator*(LanePattern a, std::int64_t factor) {
  if (!a.is_known() || a.is_varying()) return a;
  return {a.kind, wrapping_product(a.stride, factor), wrapping_product(a.half_stride, factor),
          std::min(a.zeros + trailing_zeros(factor), max_zeros)};
}

LanePattern sum_or_product(const llvm::BinaryOperator& binary, LanePattern a, LanePattern b) {
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  const bool known = constant != nullptr && constant->getValue().getSignificantBits() <= 64;
  switch (binary.getOpcode()) {
    case llvm::Instruction::Add:
      return a + b;
    case llvm::Instruction::Sub:
      return a + b * -1;
    case llvm::Instruction::Or:
      return llvm::cast<llvm::PossiblyDisjointInst>(binary).isDisjoint() ? a + b : LanePattern::varying();
    case llvm::Instruction::Mul:
      if (known) return a * constant->getSExtValue();
      if (!a.is_uniform_per_half() || !b.is_uniform_per_half()) return LanePattern::varying();
      return LanePattern::half_uniform(std::min(a.per_half().zeros + b.per_half().zeros, max_zeros));
    case llvm::Instruction::Shl:
      if (!known || constant->getValue().uge(63)) return LanePattern::varying();
      return a * (std::int64_t{1} << constant->getZExtValue());
    default:
      return LanePattern::varying();
  }
}

LanePattern binary_result(const llvm::BinaryOperator& binary, LanePattern a, LanePattern b) {
  if (a.is_varying() || b.is_varying()) return LanePattern::varying();
  const bool uniform = a.is_uniform() && b.is_uniform();
  if (!binary.getType()->isIntegerTy() || binary.getType()->isIntegerTy(1))
    return uniform ? LanePattern::uniform() : LanePattern::varying();
  if (uniform) return uniform_result(binary, a, b);
  if (LanePattern sum = sum_or_product(binary, a, b); !sum.is_varying()) return sum;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(binary.getOperand(1));
  const unsigned bits = binary.getType()->getIntegerBitWidth();
  LanePattern result = LanePattern::varying();
  if (constant != nullptr && bits <= 64) {
    const std::uint64_t number = constant->getZExtValue();
    switch (binary.getOpcode()) {
      case llvm::Instruction::And:
        if (a.offsets_fit_below(bits))
          result = change_offsets(a, std::max(a.zeros, b.zeros), [&](std::uint64_t offset) { return offset & number; });
        break;
      case llvm::Instruction::LShr:
      case llvm::Instruction::AShr:
        if (number < bits && a.offsets_fit_below(binary.getOpcode() == llvm::Instruction::LShr ? bits : bits - 1))
          result = change_offsets(a, a.zeros - std::min(a.zeros, static_cast<unsigned>(number)),
                                  [&](std::uint64_t offset) { return offset >> number; });
        break;
      case llvm::Instruction::UDiv:
        if (a.is_affine() && divides_bases_only(a, b, bits)) result = LanePattern::uniform();
        break;
      default:
        break;
    }
  }
  if (binary.getOpcode() == llvm::Instruction::URem && b.is_uniform() && divides_bases_only(a, b, bits)) {
    result = a;
    result.zeros = std::min(a.zeros, b.zeros);
  }
  if (result.is_varying() && a.is_uniform_per_half() && b.is_uniform_per_half() && !binary.isIntDivRem())
    return LanePattern::half_uniform();
  return result;
}

}  // namespace gpulua::cpu::simd
