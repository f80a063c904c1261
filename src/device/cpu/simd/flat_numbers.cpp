#include "src/device/cpu/simd/flat_numbers.h"

#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/recompute.h"
#include "src/device/cpu/simd/regions.h"
#include "src/device/cpu/simd/row_ends.h"

namespace gpulua::cpu::simd {
namespace {

using namespace llvm::PatternMatch;

// Instructions of a region. There are two copies of it.
constexpr unsigned max_region = 160;
constexpr unsigned most_divisions = 4;
// Of a function.
constexpr unsigned most_regions = 2;
// A warp in rows of less runs faster as it is.
constexpr unsigned least_width = 16;
// Warps end with the rows of a region that is at least 1 / least_part of its function: the rest runs more often then.
constexpr unsigned least_part = 2;

/// `i / n` or `i % n`, also as a shift or mask.
struct Division {
  llvm::Value* dividend;
  llvm::Value* divisor;
  bool is_quotient;
};

std::optional<Division> division_of(llvm::Instruction& instruction) {
  llvm::Value* dividend = nullptr;
  const llvm::APInt* constant = nullptr;
  if (instruction.isIntDivRem()) {
    const unsigned opcode = instruction.getOpcode();
    return Division{instruction.getOperand(0), instruction.getOperand(1),
                    opcode == llvm::Instruction::SDiv || opcode == llvm::Instruction::UDiv};
  }
  const bool is_shift = match(&instruction, m_LShr(m_Value(dividend), m_APInt(constant)));
  const unsigned bits = instruction.getType()->getScalarSizeInBits();
  if (is_shift && constant->ult(bits - 1))
    return Division{
        dividend,
        llvm::ConstantInt::get(dividend->getType(),
                               llvm::APInt::getOneBitSet(bits, static_cast<unsigned>(constant->getZExtValue()))),
        true};
  if (match(&instruction, m_And(m_Value(dividend), m_APInt(constant))) && constant->isMask() && !constant->isAllOnes())
    return Division{dividend, llvm::ConstantInt::get(dividend->getType(), *constant + 1), false};
  return std::nullopt;
}

/// A division of neighbours.
struct Known {
  Division division;
  llvm::Value *dividend = nullptr, *divisor = nullptr;                       // before the region
  llvm::Value* first = nullptr;                                              // lane 0's dividend
  llvm::Value *quotient = nullptr, *remainder = nullptr, *column = nullptr;  // of a copy; lane 0's remainder
};

/// The value at the builder's place, or null.
llvm::Value* value_at(llvm::IRBuilder<>& builder, llvm::Value* value, const llvm::DominatorTree& dominators) {
  return recompute(builder, value, [&](llvm::Instruction& made) -> llvm::Value* {
    return dominators.dominates(made.getParent(), builder.GetInsertBlock()) ? &made : nullptr;
  });
}

/// An operation that stands for a division: its result is the quotient or the remainder of one of those that are known.
struct Result {
  llvm::Instruction* instruction;
  unsigned known;
  bool is_quotient;
};

/// Where a region may start: at `head`, whose one predecessor is `from`.
struct Start {
  llvm::BasicBlock *from, *head;
  llvm::BasicBlock* end;  // of its loop
};

class FlatNumbers {
 public:
  FlatNumbers(llvm::Function& function, WarpLayout layout)
      : function_(function), divergence_(function), patterns_(function, divergence_, layout), layout_(layout) {}

  /// Splits blocks where regions may start and where they end.
  std::vector<Start> split_blocks();
  /// Copies the regions. Returns whether there are any. Expects an object that has been made after the blocks were
  /// split.
  bool copy_regions(const std::vector<Start>& starts);

 private:
  bool is_flat(llvm::Instruction& instruction) const;
  llvm::Instruction* find_start(llvm::BasicBlock& block) const;
  bool accesses_rows(const Region& region) const;
  void find_divisions(const Region& region, llvm::IRBuilder<>& builder);
  void keep_outside(const Region& region, llvm::IRBuilder<>& builder) const;
  void find_remainders(llvm::IRBuilder<>& builder, llvm::Value* lane, bool is_first);
  void replace(RegionCopy& copy) const;
  void copy(const Region& region, llvm::BasicBlock* from);

  llvm::Function& function_;
  Divergence divergence_;
  LanePatterns patterns_;
  WarpLayout layout_;
  // Of one region.
  std::vector<Known> known_;
  std::vector<Result> results_;
};

bool FlatNumbers::is_flat(llvm::Instruction& instruction) const {
  if (!patterns_(&instruction).is_varying()) return false;
  const std::optional<Division> division = division_of(instruction);
  if (!division || !patterns_(division->dividend).is_consecutive(1) || !patterns_(division->divisor).is_uniform())
    return false;
  const auto* constant = llvm::dyn_cast<llvm::ConstantInt>(division->divisor);
  return constant == nullptr || constant->getValue().uge(least_width);
}

/// The first division of the block, or an access before it. Null where there is none.
llvm::Instruction* FlatNumbers::find_start(llvm::BasicBlock& block) const {
  llvm::Instruction* start = nullptr;
  for (llvm::Instruction& instruction : block) {
    if (start == nullptr && patterns_.accesses_row(instruction)) start = &instruction;
    if (!is_flat(instruction)) continue;
    const auto is_before = [&](const llvm::Value* operand) {
      const auto* made = llvm::dyn_cast<llvm::Instruction>(operand);
      return made == nullptr || made->getParent() != &block || made->comesBefore(start);
    };
    return start != nullptr && llvm::all_of(instruction.operands(), is_before) ? start : &instruction;
  }
  return nullptr;
}

bool FlatNumbers::accesses_rows(const Region& region) const {
  for (const llvm::BasicBlock* block : region.blocks)
    for (const llvm::Instruction& instruction : *block)
      if (patterns_.accesses_row(instruction)) return true;
  return false;
}

/// Finds the divisions whose results the region uses. Their operands are frozen: where a bound does not hold, they may
/// be poison.
void FlatNumbers::find_divisions(const Region& region, llvm::IRBuilder<>& builder) {
  const auto is_inside = [&](const llvm::Instruction* made) {
    return llvm::is_contained(region.blocks, made->getParent());
  };
  std::map<const llvm::Value*, std::pair<Result, const llvm::Value*>> found;  // and the divisor, as the source has it
  const auto add = [&](llvm::Instruction& instruction, unsigned known, bool is_quotient, const llvm::Value* divisor) {
    results_.push_back({&instruction, known, is_quotient});
    found[&instruction] = {results_.back(), divisor};
  };
  for (const llvm::BasicBlock* block : divergence_.order())
    for (const llvm::Instruction& each : *block) {
      auto& instruction = const_cast<llvm::Instruction&>(each);
      if (!patterns_(&instruction).is_varying() ||
          (!is_inside(&instruction) && llvm::none_of(instruction.users(), [&](const llvm::User* user) {
            return is_inside(llvm::cast<llvm::Instruction>(user));
          })))
        continue;
      // What stands for a division by 0 or -1 (compiler/checks.h).
      llvm::Value *otherwise = nullptr, *tested = nullptr;
      if (match(&instruction,
                m_Select(m_SpecificICmp(llvm::CmpInst::ICMP_EQ, m_Value(tested), m_CombineOr(m_Zero(), m_AllOnes())),
                         m_Value(), m_Value(otherwise))))
        if (auto divides = found.find(otherwise); divides != found.end() && divides->second.second == tested) {
          const Result& result = divides->second.first;
          add(instruction, result.known, result.is_quotient, tested);
          continue;
        }
      if (!is_flat(instruction)) continue;
      const Division division = *division_of(instruction);
      unsigned known = 0;
      while (known < known_.size() && (known_[known].division.dividend != division.dividend ||
                                       known_[known].division.divisor != division.divisor))
        ++known;
      if (known == known_.size()) {
        if (known == most_divisions) continue;
        llvm::Value* dividend = value_at(builder, division.dividend, divergence_.dominators());
        llvm::Value* divisor = value_at(builder, division.divisor, divergence_.dominators());
        if (dividend == nullptr || divisor == nullptr) continue;
        known_.push_back({division, dividend, builder.CreateFreeze(divisor)});
      }
      llvm::Value* divisor = division.divisor;
      match(division.divisor, m_Select(m_Value(), m_One(), m_Value(divisor)));
      add(instruction, known, division.is_quotient, divisor);
    }
}

/// Computes before the region, where that is possible, numbers that count up through a loop and what is compared with
/// them; the other values that are used behind the region go through phis of its join.
void FlatNumbers::keep_outside(const Region& region, llvm::IRBuilder<>& builder) const {
  const auto is_outside = [&](const llvm::Use& use) {
    const auto* user = llvm::cast<llvm::Instruction>(use.getUser());
    const auto* phi = llvm::dyn_cast<llvm::PHINode>(user);
    return !llvm::is_contained(region.blocks, phi != nullptr ? phi->getIncomingBlock(use) : user->getParent());
  };
  const auto counts = [&](const llvm::Value* value) { return !patterns_(value).is_varying(); };
  for (llvm::BasicBlock* block : region.blocks)
    for (llvm::Instruction& instruction : *block) {
      const bool is_known = counts(&instruction) ||
                            (llvm::isa<llvm::ICmpInst>(instruction) && llvm::all_of(instruction.operands(), counts));
      const bool is_at_join = llvm::any_of(instruction.users(), [&](const llvm::User* user) {
        return llvm::isa<llvm::PHINode>(user) && llvm::cast<llvm::Instruction>(user)->getParent() == region.join;
      });
      if (!is_at_join && llvm::none_of(instruction.uses(), is_outside)) continue;
      llvm::Value* other = is_known ? value_at(builder, &instruction, divergence_.dominators()) : nullptr;
      if (other != nullptr) {
        instruction.replaceUsesWithIf(other, [&](llvm::Use& use) {
          return is_outside(use) || llvm::cast<llvm::Instruction>(use.getUser())->getParent() == region.join;
        });
        continue;
      }
      if (llvm::none_of(instruction.uses(), is_outside)) continue;
      auto* phi = llvm::PHINode::Create(instruction.getType(), 2, instruction.getName());
      phi->insertInto(region.join, region.join->begin());
      for (llvm::BasicBlock* before : llvm::predecessors(region.join)) phi->addIncoming(&instruction, before);
      instruction.replaceUsesWithIf(phi, [&](llvm::Use& use) { return use.getUser() != phi && is_outside(use); });
    }
}

/// Computes the remainders of the row that the quotients tell. `lane`: each lane's number; `is_first`: the row is
/// lane 0's.
void FlatNumbers::find_remainders(llvm::IRBuilder<>& builder, llvm::Value* lane, bool is_first) {
  for (Known& known : known_) {
    // Negative where lane 0 lies in an earlier row.
    known.column = builder.CreateSub(known.first, builder.CreateMul(known.quotient, known.divisor));
    // The lanes' dividends are neighbours. As a sum, a remainder is known not to wrap.
    known.remainder = builder.CreateAdd(known.column, builder.CreateZExtOrTrunc(lane, known.dividend->getType()), "",
                                        /*HasNUW=*/is_first, /*HasNSW=*/true);
  }
}

void FlatNumbers::replace(RegionCopy& copy) const {
  for (const Result& result : results_)
    copy.values()[result.instruction] =
        result.is_quotient ? known_[result.known].quotient : known_[result.known].remainder;
}

/// Puts the copies between `from` and the region.
void FlatNumbers::copy(const Region& region, llvm::BasicBlock* from) {
  llvm::LLVMContext& context = function_.getContext();
  llvm::IRBuilder<> builder(from->getTerminator());
  llvm::Value* wide = builder.getTrue();  // rows are, and no number wraps or is negative
  for (Known& known : known_) {
    llvm::Type* type = known.dividend->getType();
    const llvm::APInt most = llvm::APInt::getSignedMaxValue(type->getIntegerBitWidth()) - (lane_count() - 1);
    known.first = builder.CreateFreeze(call_marker(builder, Marker::first_lane, type, {known.dividend}));
    llvm::Value* fits =
        builder.CreateAnd(builder.CreateICmpSGE(known.divisor, llvm::ConstantInt::get(type, least_width)),
                          builder.CreateICmpULE(known.first, llvm::ConstantInt::get(type, most)));
    wide = builder.CreateAnd(wide, fits);
    wide = builder.CreateAnd(wide, call_marker(builder, Marker::consecutive, builder.getInt1Ty(), {known.dividend}));
    known.divisor =
        builder.CreateBinaryIntrinsic(llvm::Intrinsic::umax, known.divisor, llvm::ConstantInt::get(type, least_width));
  }

  llvm::Value* lane = call_marker(builder, Marker::lane, builder.getInt32Ty(), {});
  for (Known& known : known_) known.quotient = builder.CreateUDiv(known.first, known.divisor);
  find_remainders(builder, lane, true);
  llvm::Value* one_row = wide;
  for (const Known& known : known_) {
    llvm::Value* last =
        builder.CreateAdd(known.column, llvm::ConstantInt::get(known.column->getType(), lane_count() - 1));
    one_row = builder.CreateAnd(one_row, builder.CreateICmpULT(last, known.divisor));
  }
  RegionCopy whole(region, ".whole");
  replace(whole);
  whole.connect(from);
  auto* others = llvm::BasicBlock::Create(context, "rows", &function_, region.head);
  builder.CreateCondBr(
      call_marker(builder, Marker::whole_warp, builder.getInt1Ty(), {builder.getTrue(), builder.getTrue(), one_row}),
      whole.head(), others);
  from->getTerminator()->eraseFromParent();

  auto* row = llvm::BasicBlock::Create(context, "row", &function_, region.head);
  auto* next = llvm::BasicBlock::Create(context, "row.next", &function_, region.head);
  auto* again = llvm::BasicBlock::Create(context, "row.again", &function_, region.head);
  auto* done = llvm::BasicBlock::Create(context, "rows.done", &function_, region.head);
  builder.SetInsertPoint(others);
  auto* before = llvm::BasicBlock::Create(context, "rows.first", &function_, row);
  builder.CreateCondBr(wide, before, region.head);
  region.head->replacePhiUsesWith(from, others);

  builder.SetInsertPoint(before);
  builder.CreateBr(row);

  // The row of lane 0, then that of the first lane that is left.
  builder.SetInsertPoint(again);
  llvm::Value* leading = call_marker(builder, Marker::first_running, builder.getInt32Ty(), {});
  for (Known& known : known_) {
    llvm::Type* type = known.dividend->getType();
    auto* quotient = llvm::PHINode::Create(type, 2, "row", row);
    quotient->addIncoming(known.quotient, before);
    llvm::Value* dividend = builder.CreateAdd(known.first, builder.CreateZExtOrTrunc(leading, type));
    quotient->addIncoming(builder.CreateUDiv(dividend, known.divisor), again);
    known.quotient = quotient;
  }
  builder.CreateBr(row);
  builder.SetInsertPoint(row);
  find_remainders(builder, lane, false);
  llvm::Value* in_row = builder.getTrue();
  for (const Known& known : known_)
    in_row = builder.CreateAnd(in_row, builder.CreateICmpULT(known.remainder, known.divisor));
  RegionCopy part(region, ".row");
  replace(part);
  const std::vector<llvm::PHINode*> results = part.connect(row, next);
  builder.CreateCondBr(in_row, part.head(), next);
  for (llvm::PHINode* result : results) result->addIncoming(llvm::PoisonValue::get(result->getType()), row);
  builder.SetInsertPoint(next);
  builder.CreateCondBr(in_row, done, again);
  builder.SetInsertPoint(done);
  builder.CreateBr(region.join);
  auto result = results.begin();
  for (llvm::PHINode& phi : region.join->phis()) {
    auto* kept = llvm::PHINode::Create(phi.getType(), 1, phi.getName());
    kept->insertInto(done, done->begin());
    kept->addIncoming(*result++, next);
    phi.addIncoming(kept, done);
  }
}

std::vector<Start> FlatNumbers::split_blocks() {
  std::vector<std::pair<llvm::Instruction*, const llvm::Loop*>> found;
  for (const llvm::BasicBlock* block : divergence_.order())
    if (llvm::Instruction* start = find_start(const_cast<llvm::BasicBlock&>(*block)))
      found.emplace_back(start, divergence_.loops().getLoopFor(block));
  std::map<const llvm::Loop*, llvm::BasicBlock*> ends;
  std::vector<Start> starts;
  for (auto [instruction, loop] : found) {
    llvm::BasicBlock*& end = ends[loop];
    if (loop != nullptr && end == nullptr)
      end = loop->getLoopLatch()->splitBasicBlock(loop->getLoopLatch()->getTerminator(), "latch");
    llvm::BasicBlock* from = instruction->getParent();
    starts.push_back({from, from->splitBasicBlock(instruction, "flat"), end});
  }
  if (starts.empty()) return {};
  for (llvm::BasicBlock& block : function_)
    if (llvm::isa<llvm::ReturnInst>(block.getTerminator()) && block.size() > 1)
      block.splitBasicBlock(block.getTerminator(), "done");
  return starts;
}

bool FlatNumbers::copy_regions(const std::vector<Start>& starts) {
  std::set<const llvm::BasicBlock*> copied;
  std::vector<RowNumber> rows;
  const unsigned size = function_.getInstructionCount();
  unsigned regions = 0;
  for (const Start& start : starts) {
    if (copied.contains(start.head) || regions == most_regions) continue;
    const std::optional<Region> region = find_region(function_, divergence_, start.head, start.from, start.end);
    if (!region || region->size > max_region || !accesses_rows(*region)) continue;
    known_.clear();
    results_.clear();
    llvm::IRBuilder<> builder(start.from->getTerminator());
    find_divisions(*region, builder);
    if (known_.empty()) continue;
    if (layout_ == WarpLayout::row_chunk && region->size * least_part >= size)
      for (const Known& known : known_) rows.push_back({known.division.dividend, known.division.divisor});
    keep_outside(*region, builder);
    copy(*region, start.from);
    copied.insert(region->blocks.begin(), region->blocks.end());
    ++regions;
  }
  end_warps_with_rows(function_, rows, least_width);
  return regions > 0;
}

}  // namespace

bool split_flat_numbers(llvm::Function& function, WarpLayout layout) {
  const auto divides = [](llvm::Instruction& instruction) { return division_of(instruction).has_value(); };
  if (llvm::none_of(llvm::instructions(function), divides)) return false;
  const std::vector<Start> starts = FlatNumbers(function, layout).split_blocks();
  return !starts.empty() && FlatNumbers(function, layout).copy_regions(starts);
}

}  // namespace gpulua::cpu::simd
