// Rows of addresses: what the lanes of a warp, or of each half of it, read and write in one piece.

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>

#include <algorithm>

#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// Operations between what is a row anyway and the address.
constexpr unsigned max_depth = 8;
constexpr unsigned likely = 1000;

bool is_extension(const llvm::Value* value) {
  return llvm::isa<llvm::SExtInst, llvm::ZExtInst>(value);
}

}  // namespace

llvm::Type* moved_as(llvm::Type* type) {
  return type->isHalfTy() || type->isBFloatTy() ? llvm::Type::getInt16Ty(type->getContext()) : type;
}

/// What a choice is where no lane is out of bounds, as in `i < n ? i : 0` and min(i, n - 1): the one that not all lanes
/// share. Another value is itself.
const llvm::Value* Widener::expected_value(const llvm::Value* value) const {
  const llvm::Value* ways[2];
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(value);
      select != nullptr && !is_uniform(select->getCondition())) {
    ways[0] = select->getTrueValue();
    ways[1] = select->getFalseValue();
  } else if (const auto* least = llvm::dyn_cast<llvm::MinMaxIntrinsic>(value); least != nullptr && is_varying(least)) {
    ways[0] = least->getLHS();
    ways[1] = least->getRHS();
  } else {
    return value;
  }
  if (is_uniform(ways[0]) == is_uniform(ways[1])) return value;
  return ways[is_uniform(ways[0]) ? 1 : 0];
}

/// The lanes whose choice is expected_value(choice).
llvm::Value* Widener::chooses_expected(const llvm::Value* choice) {
  const llvm::Value* expected = expected_value(choice);
  if (const auto* least = llvm::dyn_cast<llvm::MinMaxIntrinsic>(choice)) {
    const llvm::Value* bound = expected == least->getLHS() ? least->getRHS() : least->getLHS();
    const auto predicate = llvm::ICmpInst::getNonStrictPredicate(least->getPredicate());
    return builder_.CreateICmp(predicate, vector(expected), vector(bound));
  }
  const auto& select = llvm::cast<llvm::SelectInst>(*choice);
  llvm::Value* lanes = vector(select.getCondition());
  return expected == select.getFalseValue() ? builder_.CreateNot(lanes) : lanes;
}

/// True if the active lanes, or those of the half, choose the usual.
llvm::Value* Widener::lanes_choose_expected(const llvm::Value* choice, unsigned half, bool alone) {
  llvm::Value* lanes = bits_of(chooses_expected(choice));
  if (!mask_is_full()) lanes = builder_.CreateOr(lanes, builder_.CreateNot(bits_of(mask())));
  llvm::Value* all = builder_.getInt32(!alone ? 0xffffffffu : half == 0 ? 0xffffu : 0xffff0000u);
  return builder_.CreateICmpEQ(builder_.CreateAnd(lanes, all), all);
}

/// The pattern that the value has where narrow progressions do not wrap and choices are the usual ones.
LanePattern Widener::assumed_pattern(const llvm::Value* value, unsigned depth) const {
  const LanePattern pattern = patterns_(value);
  if (!pattern.is_varying() || depth == max_depth) return pattern;
  auto assumed = [&](const llvm::Value* operand) { return assumed_pattern(operand, depth + 1); };
  if (const llvm::Value* chosen = expected_value(value); chosen != value) return assumed(chosen);
  if (is_extension(value)) {
    const llvm::Value* narrow = llvm::cast<llvm::CastInst>(value)->getOperand(0);
    return narrow->getType()->isIntegerTy(32) ? assumed(narrow) : pattern;
  }
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value);
      binary != nullptr && (binary->getType()->isIntegerTy(64) || binary->getType()->isIntegerTy(32)))
    return sum_or_product(*binary, assumed(binary->getOperand(0)), assumed(binary->getOperand(1)));
  const auto* address = llvm::dyn_cast<llvm::GetElementPtrInst>(value);
  if (address == nullptr) return pattern;
  LanePattern result = assumed(address->getPointerOperand());
  for (auto type = llvm::gep_type_begin(*address); type != llvm::gep_type_end(*address); ++type) {
    if (is_uniform(type.getOperand())) continue;
    if (!type.getOperand()->getType()->isIntegerTy(64)) return pattern;
    result = result + assumed(type.getOperand()) *
                          static_cast<std::int64_t>(type.getSequentialElementStride(layout_).getFixedValue());
  }
  return result;
}

/// `alone`: for the lanes of the base's half only.
llvm::Value* Widener::wraps_nowhere(llvm::Value* base, const LanePattern& pattern, bool alone, bool is_signed) {
  std::int64_t low = 0, high = 0;
  for (unsigned lane = 0; lane < (alone ? half_warp : warp_size); ++lane) {
    low = std::min(low, pattern.offset(lane));
    high = std::max(high, pattern.offset(lane));
  }
  constexpr std::int64_t most = std::int64_t{1} << 31;
  if (low < -most || high >= most) return builder_.getFalse();
  auto number = [&](std::int64_t value) { return builder_.getInt32(static_cast<std::uint32_t>(value)); };
  llvm::Value* result = builder_.getTrue();
  if (is_signed) {
    if (high > 0) result = builder_.CreateICmpSLE(base, number(most - 1 - high));
    if (low < 0) result = builder_.CreateAnd(result, builder_.CreateICmpSGE(base, number(-most - low)));
  } else {
    if (high > 0) result = builder_.CreateICmpULE(base, number(2 * most - 1 - high));
    if (low < 0) result = builder_.CreateAnd(result, builder_.CreateICmpUGE(base, number(-low)));
  }
  return result;
}

/// The base of assumed_pattern(); adds to `holds` what is assumed.
llvm::Value* Widener::assumed_base(const llvm::Value* value, unsigned half, bool alone, llvm::Value*& holds) {
  if (!is_varying(value)) return base(value, half);
  auto assumed = [&](const llvm::Value* operand) { return assumed_base(operand, half, alone, holds); };
  if (const llvm::Value* expected = expected_value(value); expected != value) {
    holds = builder_.CreateAnd(holds, lanes_choose_expected(value, half, alone));
    return assumed(expected);
  }
  if (is_extension(value)) {
    const llvm::Value* narrow = llvm::cast<llvm::CastInst>(value)->getOperand(0);
    const bool is_signed = llvm::isa<llvm::SExtInst>(value);
    llvm::Value* first = assumed(narrow);
    holds = builder_.CreateAnd(holds, wraps_nowhere(first, assumed_pattern(narrow, 0), alone, is_signed));
    return is_signed ? builder_.CreateSExt(first, value->getType()) : builder_.CreateZExt(first, value->getType());
  }
  if (const auto* binary = llvm::dyn_cast<llvm::BinaryOperator>(value)) {
    const bool is_or = binary->getOpcode() == llvm::Instruction::Or;
    llvm::Value* a = assumed(binary->getOperand(0));
    return builder_.CreateBinOp(is_or ? llvm::Instruction::Add : binary->getOpcode(), a,
                                assumed(binary->getOperand(1)));
  }
  const auto& address = llvm::cast<llvm::GetElementPtrInst>(*value);
  llvm::Value* pointer = assumed(address.getPointerOperand());
  std::vector<llvm::Value*> indices;
  for (const llvm::Use& index : address.indices()) indices.push_back(assumed(index));
  return builder_.CreateGEP(address.getSourceElementType(), pointer, indices);
}

std::optional<Widener::AddressRow> Widener::find_row(const llvm::Value* address, std::int64_t bytes) {
  AddressRow row{assumed_pattern(address, 0)};
  const bool fits = (row.pattern.is_affine() || row.pattern.is_half_affine()) &&
                    (row.pattern.stride == bytes || row.pattern.stride == 0);
  if (!fits) return std::nullopt;
  const bool whole = row.pattern.is_consecutive(bytes);
  llvm::Value* holds = builder_.getTrue();
  for (unsigned half = 0; half < (whole ? 1 : 2); ++half) row.bases[half] = assumed_base(address, half, !whole, holds);
  if (is_varying(address)) row.holds = builder_.CreateFreeze(holds);
  return row;
}

llvm::Value* Widener::emit_either(llvm::Value* holds, const std::function<llvm::Value*()>& together,
                                  const std::function<llvm::Value*()>& apart) {
  if (holds == nullptr) return together();
  llvm::BasicBlock* ways[] = {new_block("together"), new_block("apart")};
  llvm::BasicBlock* done = new_block("accessed");
  builder_.CreateCondBr(holds, ways[0], ways[1], llvm::MDBuilder(builder_.getContext()).createBranchWeights(likely, 1));
  llvm::Value* values[2];
  for (int i = 0; i < 2; ++i) {
    builder_.SetInsertPoint(ways[i]);
    values[i] = i == 0 ? together() : apart();
    builder_.CreateBr(done);
    ways[i] = builder_.GetInsertBlock();
  }
  builder_.SetInsertPoint(done);
  if (values[0] == nullptr) return nullptr;
  llvm::PHINode* result = builder_.CreatePHI(values[0]->getType(), 2);
  for (int i = 0; i < 2; ++i) result->addIncoming(values[i], ways[i]);
  return result;
}

llvm::Value* Widener::half_of(llvm::Value* whole, unsigned half) {
  llvm::SmallVector<int> order;
  for (unsigned lane = 0; lane < half_warp; ++lane) order.push_back(static_cast<int>(half * half_warp + lane));
  return builder_.CreateShuffleVector(whole, order);
}

/// The block has a lane that runs (find_guards), but maybe none in this half.
llvm::Value* Widener::emit_half_load(llvm::Type* type, const AddressRow& row, llvm::Align align, unsigned half) {
  llvm::Value* place = row.bases[half];
  llvm::Type* half_type = llvm::FixedVectorType::get(type, half_warp);
  if (row.pattern.stride != 0) {
    if (mask_is_full()) return builder_.CreateAlignedLoad(half_type, place, align);
    return builder_.CreateMaskedLoad(half_type, place, align, half_of(mask(), half));
  }
  if (!mask_is_full()) {
    llvm::Value* lanes = builder_.CreateAnd(bits_of(mask()), half == 0 ? 0xffffu : 0xffff0000u);
    place = builder_.CreateSelect(builder_.CreateICmpNE(lanes, builder_.getInt32(0)), place, row.bases[1 - half]);
  }
  return builder_.CreateAlignedLoad(type, place, align);
}

llvm::Value* Widener::emit_row_load(llvm::Type* type, const AddressRow& row, llvm::Align align) {
  llvm::Type* moved = moved_as(type);
  llvm::Value* result;
  if (row.bases[1] != nullptr && row.pattern.is_affine() && row.pattern.stride != 0 && row.pattern.half_stride == 0) {
    llvm::Value* half =
        mask_is_full() ? emit_half_load(moved, row, align, 0)
                       : builder_.CreateMaskedLoad(llvm::FixedVectorType::get(moved, half_warp), row.bases[0], align,
                                                   builder_.CreateOr(half_of(mask(), 0), half_of(mask(), 1)));
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < warp_size; ++lane) order.push_back(static_cast<int>(lane % half_warp));
    result = builder_.CreateShuffleVector(half, order);
  } else if (row.bases[1] != nullptr)
    result = join_halves(builder_, emit_half_load(moved, row, align, 0), emit_half_load(moved, row, align, 1));
  else if (mask_is_full())
    result = builder_.CreateAlignedLoad(widened(moved), row.bases[0], align);
  else
    result = builder_.CreateMaskedLoad(widened(moved), row.bases[0], align, mask());
  return builder_.CreateBitCast(result, widened(type));
}

/// Where the halves overlap, the second one's values stay, as its lanes come later.
void Widener::emit_row_store(llvm::Value* values, const AddressRow& row, llvm::Align align) {
  auto* type = llvm::cast<llvm::VectorType>(values->getType())->getElementType();
  values = builder_.CreateBitCast(values, widened(moved_as(type)));
  auto store = [&](llvm::Value* part, llvm::Value* place, llvm::Value* lanes) {
    if (mask_is_full())
      builder_.CreateAlignedStore(part, place, align);
    else
      builder_.CreateMaskedStore(part, place, align, lanes);
  };
  if (row.bases[1] == nullptr) return store(values, row.bases[0], mask());
  for (unsigned half = 0; half < 2; ++half) store(half_of(values, half), row.bases[half], half_of(mask(), half));
}

}  // namespace gpulua::cpu::simd
