#include "src/device/cpu/simd/widen_address_rows.h"

#include <llvm/IR/GetElementPtrTypeIterator.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <algorithm>
#include <numeric>

#include "src/device/cpu/simd/own_rows.h"
#include "src/device/cpu/simd/target.h"

namespace gpulua::cpu::simd {
namespace {

// Operations between a value with a pattern and the address.
constexpr unsigned max_depth = 8;
// Of a masked store with AVX2.
constexpr unsigned lanes_in_group = 8;
constexpr std::ptrdiff_t most_stores_in_groups = 64;

bool is_extension(const llvm::Value* value) {
  return llvm::isa<llvm::SExtInst, llvm::ZExtInst>(value);
}

/// True when the processor loads and stores the active lanes of a row of such elements by an instruction. LLVM would
/// write a branch for each lane.
bool has_masked_access(const llvm::Function& function, std::int64_t bytes) {
  return has_feature(function, bytes < 4 ? "+avx512bw" : "+avx");
}

}  // namespace

AddressRows::AddressRows(WarpBuilder& warp)
    : warp_(warp),
      builder_(warp.builder()),
      stores_(std::count_if(
          llvm::inst_begin(warp.scalar_function()), llvm::inst_end(warp.scalar_function()),
          [](const llvm::Instruction& instruction) { return llvm::isa<llvm::StoreInst>(instruction); })) {}

const llvm::Value* AddressRows::expected_value(const llvm::Value* value) const {
  const llvm::Value* ways[2];
  if (const auto* select = llvm::dyn_cast<llvm::SelectInst>(value);
      select != nullptr && !warp_.is_uniform(select->getCondition())) {
    ways[0] = select->getTrueValue();
    ways[1] = select->getFalseValue();
  } else if (const auto* least = llvm::dyn_cast<llvm::MinMaxIntrinsic>(value);
             least != nullptr && warp_.is_varying(least)) {
    ways[0] = least->getLHS();
    ways[1] = least->getRHS();
  } else {
    return value;
  }
  if (warp_.is_uniform(ways[0]) == warp_.is_uniform(ways[1])) return value;
  return ways[warp_.is_uniform(ways[0]) ? 1 : 0];
}

/// A mask: the lanes whose choice is expected_value(choice).
llvm::Value* AddressRows::chooses_expected(const llvm::Value* choice) {
  const llvm::Value* expected = expected_value(choice);
  if (const auto* least = llvm::dyn_cast<llvm::MinMaxIntrinsic>(choice)) {
    const llvm::Value* bound = expected == least->getLHS() ? least->getRHS() : least->getLHS();
    const auto predicate = llvm::ICmpInst::getNonStrictPredicate(least->getPredicate());
    return builder_.CreateICmp(predicate, warp_.vector(expected), warp_.vector(bound));
  }
  const auto& select = llvm::cast<llvm::SelectInst>(*choice);
  llvm::Value* lanes = warp_.vector(select.getCondition());
  return expected == select.getFalseValue() ? builder_.CreateNot(lanes) : lanes;
}

/// True if the active lanes, or with `alone` those of the half, choose the expected value.
llvm::Value* AddressRows::lanes_choose_expected(const llvm::Value* choice, unsigned half, bool alone) {
  llvm::Value* lanes = warp_.bits_of(chooses_expected(choice));
  if (!warp_.mask_is_full()) lanes = builder_.CreateOr(lanes, builder_.CreateNot(warp_.bits_of(warp_.mask())));
  llvm::Value* all = builder_.getInt32(!alone ? all_lanes() : half == 0 ? 0xffffu : 0xffff0000u);
  return builder_.CreateICmpEQ(builder_.CreateAnd(lanes, all), all);
}

/// The pattern of the value if narrow integers do not wrap and choices yield their expected values.
LanePattern AddressRows::assumed_pattern(const llvm::Value* value, unsigned depth) const {
  const LanePattern pattern = warp_.pattern(value);
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
    if (warp_.is_uniform(type.getOperand())) continue;
    if (!type.getOperand()->getType()->isIntegerTy(64)) return pattern;
    result = result + assumed(type.getOperand()) *
                          static_cast<std::int64_t>(type.getSequentialElementStride(warp_.layout()).getFixedValue());
  }
  return result;
}

/// True if base + offset wraps in no lane; with `alone`, in no lane of the base's half.
llvm::Value* AddressRows::wraps_nowhere(llvm::Value* base, const LanePattern& pattern, bool alone, bool is_signed) {
  std::int64_t low = 0, high = 0;
  for (unsigned lane = 0; lane < (alone ? half_warp : lane_count()); ++lane) {
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

/// The base of assumed_pattern(). Adds the assumptions to `holds`.
llvm::Value* AddressRows::assumed_base(const llvm::Value* value, unsigned half, bool alone, llvm::Value*& holds) {
  if (!warp_.is_varying(value)) return warp_.base(value, half);
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

std::optional<AddressRow> AddressRows::find(const llvm::Value* address, std::int64_t bytes) {
  AddressRow row{assumed_pattern(address, 0)};
  const bool fits = (row.pattern.is_affine() || row.pattern.is_half_affine()) &&
                    (row.pattern.stride == bytes || row.pattern.stride == 0);
  if (!fits) return std::nullopt;
  // Up to 16 lanes are one half: if their addresses are a row, it is whole. One address for all stays a gather.
  const bool halves = lane_count() > half_warp;
  if (!halves && row.pattern.stride == 0) return std::nullopt;
  const bool whole = !halves || row.pattern.is_consecutive(bytes);
  llvm::Value* holds = builder_.getTrue();
  for (unsigned half = 0; half < (whole ? 1 : 2); ++half) row.bases[half] = assumed_base(address, half, !whole, holds);
  row.all_lanes = warp_.mask_is_full();
  row.own = is_own_row(address, bytes, warp_.patterns());
  const bool masked = !row.all_lanes && row.pattern.stride != 0;
  if (masked && !row.own && !has_masked_access(warp_.scalar_function(), bytes)) {
    row.all_lanes = true;
    holds =
        builder_.CreateAnd(holds, builder_.CreateICmpEQ(warp_.bits_of(warp_.mask()), builder_.getInt32(all_lanes())));
  }
  if (warp_.is_varying(address) || !llvm::isa<llvm::Constant>(holds)) row.holds = builder_.CreateFreeze(holds);
  return row;
}

/// The block has an active lane (find_guards), but perhaps none in this half.
llvm::Value* AddressRows::load_half(llvm::Type* type, const AddressRow& row, llvm::Align align, unsigned half) {
  llvm::Value* place = row.bases[half];
  llvm::Type* half_type = llvm::FixedVectorType::get(type, half_warp);
  if (row.pattern.stride != 0) {
    if (row.all_lanes) return builder_.CreateAlignedLoad(half_type, place, align);
    return builder_.CreateMaskedLoad(half_type, place, align, warp_.half_of(warp_.mask(), half));
  }
  if (!row.all_lanes) {
    llvm::Value* lanes = builder_.CreateAnd(warp_.bits_of(warp_.mask()), half == 0 ? 0xffffu : 0xffff0000u);
    place = builder_.CreateSelect(builder_.CreateICmpNE(lanes, builder_.getInt32(0)), place, row.bases[1 - half]);
  }
  return builder_.CreateAlignedLoad(type, place, align);
}

llvm::Value* AddressRows::load(llvm::Type* type, const AddressRow& row, llvm::Align align) {
  llvm::Type* moved = moved_as(type);
  llvm::Value* result;
  if (row.bases[1] != nullptr && row.pattern.is_affine() && row.pattern.stride != 0 && row.pattern.half_stride == 0) {
    llvm::Value* half = row.all_lanes
                            ? load_half(moved, row, align, 0)
                            : builder_.CreateMaskedLoad(
                                  llvm::FixedVectorType::get(moved, half_warp), row.bases[0], align,
                                  builder_.CreateOr(warp_.half_of(warp_.mask(), 0), warp_.half_of(warp_.mask(), 1)));
    llvm::SmallVector<int> order;
    for (unsigned lane = 0; lane < lane_count(); ++lane) order.push_back(static_cast<int>(lane % half_warp));
    result = builder_.CreateShuffleVector(half, order);
  } else if (row.bases[1] != nullptr)
    result = warp_.join_halves(builder_, load_half(moved, row, align, 0), load_half(moved, row, align, 1));
  else if (row.all_lanes || row.own)
    result = builder_.CreateAlignedLoad(widened(moved), row.bases[0], align);
  else
    result = builder_.CreateMaskedLoad(widened(moved), row.bases[0], align, warp_.mask());
  return builder_.CreateBitCast(result, widened(type));
}

/// Masked stores of AVX2 are slow on many processors. A group whose lanes all run gets a whole store, one without a
/// lane that runs gets none; only a group that runs in part gets a masked store.
void AddressRows::store_groups(llvm::Value* values, llvm::Value* place, llvm::Align align, llvm::Value* lanes) {
  auto* type = llvm::cast<llvm::FixedVectorType>(values->getType());
  // Groups are branches, which take their time to compile: the lanes of a kernel with many stores are one group.
  const unsigned group = stores_ <= most_stores_in_groups ? lanes_in_group : type->getNumElements();
  llvm::Type* word = builder_.getIntNTy(group);
  const std::uint64_t bytes = warp_.layout().getTypeAllocSize(type->getElementType()).getFixedValue();
  llvm::Value* bits = builder_.CreateBitCast(lanes, builder_.getIntNTy(type->getNumElements()));
  for (unsigned first = 0; first < type->getNumElements(); first += group) {
    llvm::SmallVector<int> order(group);
    std::iota(order.begin(), order.end(), static_cast<int>(first));
    llvm::Value* some = builder_.CreateTrunc(builder_.CreateLShr(bits, first), word);
    llvm::Value* part = builder_.CreateShuffleVector(values, order);
    llvm::Value* at = builder_.CreateGEP(builder_.getInt8Ty(), place, builder_.getInt64(first * bytes));
    const llvm::Align own = llvm::commonAlignment(align, first * bytes);
    warp_.either(
        builder_.CreateICmpEQ(some, llvm::Constant::getAllOnesValue(word)),
        [&]() -> llvm::Value* {
          builder_.CreateAlignedStore(part, at, own);
          return nullptr;
        },
        [&]() -> llvm::Value* {
          warp_.either(
              builder_.CreateICmpEQ(some, llvm::Constant::getNullValue(word)), []() -> llvm::Value* { return nullptr; },
              [&]() -> llvm::Value* {
                builder_.CreateMaskedStore(part, at, own, builder_.CreateShuffleVector(lanes, order));
                return nullptr;
              });
          return nullptr;
        });
  }
}

/// Where the halves overlap, the second one's values win, since its lanes come later.
void AddressRows::store(llvm::Value* values, const AddressRow& row, llvm::Align align) {
  auto* type = llvm::cast<llvm::VectorType>(values->getType())->getElementType();
  values = builder_.CreateBitCast(values, widened(moved_as(type)));
  auto store = [&](llvm::Value* part, llvm::Value* place, llvm::Value* lanes) {
    if (row.own && !row.all_lanes)
      part = builder_.CreateSelect(lanes, part, builder_.CreateAlignedLoad(part->getType(), place, align));
    if (row.own || row.all_lanes)
      builder_.CreateAlignedStore(part, place, align);
    else if (has_feature(warp_.scalar_function(), "+avx512f"))
      builder_.CreateMaskedStore(part, place, align, lanes);
    else
      store_groups(part, place, align, lanes);
  };
  if (row.bases[1] == nullptr) return store(values, row.bases[0], warp_.mask());
  for (unsigned half = 0; half < 2; ++half)
    store(warp_.half_of(values, half), row.bases[half], warp_.half_of(warp_.mask(), half));
}

}  // namespace gpulua::cpu::simd
