#include "src/device/cpu/simd/whole_warps.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

using namespace llvm::PatternMatch;

// Instructions of all copies together. A call of a function counts as function_instructions.
constexpr unsigned max_copied_instructions = 320;
constexpr unsigned function_instructions = 30;
// A region that is a smaller part of its kernel than 1 / least_part gains little, but for numbers and addresses.
constexpr unsigned least_part = 4;
constexpr unsigned numbers_and_addresses = 20;
constexpr unsigned most_divisions = 4;

/// Code with one entry, `head`, that goes on at `join`.
struct Region {
  llvm::BasicBlock* head;
  llvm::BasicBlock* join;
  bool when;  // the value of the branch's condition with which it goes to `head`
  std::vector<llvm::BasicBlock*> blocks;
  unsigned size = 0;
};

/// True for a bound on numbers of lanes, or for several: comparisons that do not depend on data.
bool is_bound(const llvm::Value* condition, const LanePatterns& patterns) {
  const llvm::Value *a = nullptr, *b = nullptr;
  if (match(condition, m_LogicalAnd(m_Value(a), m_Value(b))) || match(condition, m_LogicalOr(m_Value(a), m_Value(b))))
    return is_bound(a, patterns) && is_bound(b, patterns);
  if (patterns(condition).is_uniform()) return true;
  const auto* compare = llvm::dyn_cast<llvm::ICmpInst>(condition);
  return compare != nullptr && !patterns(compare->getOperand(0)).is_varying() &&
         !patterns(compare->getOperand(1)).is_varying();
}

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

/// True for markers that may not be copied: two calls do not do what one does.
bool is_fixed(const llvm::Instruction& instruction) {
  switch (marker(&instruction)) {
    case Marker::none:
    case Marker::thread_x:
    case Marker::thread_y:
    case Marker::thread_z:
    case Marker::block_x:
    case Marker::linear:
    case Marker::all_lanes:
      return false;
    default:
      return true;
  }
}

class WarpSplitter {
 public:
  WarpSplitter(llvm::Function& function, WarpLayout layout)
      : function_(function), divergence_(function), patterns_(function, divergence_, layout), layout_(layout) {}

  bool run();

 private:
  std::optional<Region> region(llvm::BasicBlock* head, const llvm::BasicBlock* from, bool when) const;
  std::optional<Region> guarded_by(llvm::BasicBlock* block) const;
  bool accesses_rows(const llvm::BasicBlock& block) const;
  bool body_accesses_rows() const;
  llvm::Value* divide_together(const Region& region, llvm::IRBuilder<>& builder, llvm::ValueToValueMapTy& copies) const;
  void copy(const Region& region, llvm::BasicBlock* from, llvm::BasicBlock* rest, llvm::Value* condition);

  llvm::Function& function_;
  Divergence divergence_;
  LanePatterns patterns_;
  WarpLayout layout_;
};

bool WarpSplitter::accesses_rows(const llvm::BasicBlock& block) const {
  for (const llvm::Instruction& instruction : block)
    if (const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
        address != nullptr && !patterns_(address).is_uniform())
      return true;
  return false;
}

/// True if lanes without a bound access rows.
bool WarpSplitter::body_accesses_rows() const {
  for (const llvm::BasicBlock* block : divergence_.order())
    if (divergence_.mask_owner(block) == divergence_.order().front() && accesses_rows(*block)) return true;
  return false;
}

std::optional<Region> WarpSplitter::region(llvm::BasicBlock* head, const llvm::BasicBlock* from, bool when) const {
  Region region{head, nullptr, when, {}};
  bool worth_it = false;
  for (llvm::BasicBlock& block : function_) {
    if (!divergence_.dominators().dominates(head, &block) || llvm::isa<llvm::ReturnInst>(block.getTerminator()))
      continue;
    if (llvm::isa<llvm::UnreachableInst>(block.getTerminator())) return std::nullopt;
    worth_it = worth_it || accesses_rows(block);
    for (const llvm::Instruction& instruction : block) {
      if (is_fixed(instruction)) return std::nullopt;
      region.size +=
          llvm::isa<llvm::CallInst>(instruction) && marker(&instruction) == Marker::none ? function_instructions : 1;
    }
    region.blocks.push_back(&block);
  }
  if (!worth_it || region.size > max_copied_instructions ||
      region.size * least_part + numbers_and_addresses < function_.getInstructionCount())
    return std::nullopt;
  for (llvm::BasicBlock* block : region.blocks)
    for (llvm::BasicBlock* next : llvm::successors(block)) {
      if (llvm::is_contained(region.blocks, next)) continue;
      if (region.join != nullptr && region.join != next) return std::nullopt;
      region.join = next;
    }
  const llvm::LoopInfo& loops = divergence_.loops();
  const bool same_loop = region.join != nullptr && loops.getLoopFor(from) == loops.getLoopFor(region.join) &&
                         loops.getLoopFor(from) == loops.getLoopFor(head) && !loops.isLoopHeader(region.join);
  return same_loop ? std::optional(region) : std::nullopt;
}

/// What the bound at the block's end guards.
std::optional<Region> WarpSplitter::guarded_by(llvm::BasicBlock* block) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (branch == nullptr || !branch->isConditional() || !divergence_.diverges(block) ||
      !is_bound(branch->getCondition(), patterns_))
    return std::nullopt;
  std::optional<Region> found;
  for (unsigned i = 0; i < 2; ++i) {
    llvm::BasicBlock* head = branch->getSuccessor(i);
    if (head->getSinglePredecessor() != block || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    std::optional<Region> other = region(head, block, i == 0);
    if (other && (!found || other->size > found->size)) found = std::move(other);
  }
  return found;
}

/// A division of neighbours, by lane 0's.
struct Known {
  Division division;
  llvm::Value *quotient = nullptr, *remainder = nullptr;
};

/// Emits lane 0's quotient and each lane's remainder, and whether all lanes have that quotient. Below half the type's
/// range both kinds of division agree, and nothing wraps. Frozen: where the bound does not hold, both numbers may be
/// poison.
llvm::Value* divide_by_first(llvm::IRBuilder<>& builder, llvm::Value* dividend, llvm::Value* divisor, Known& known) {
  llvm::Type* type = dividend->getType();
  llvm::Value* span = llvm::ConstantInt::get(type, warp_size - 1);
  llvm::Value* most =
      llvm::ConstantInt::get(type, llvm::APInt::getSignedMaxValue(type->getIntegerBitWidth()) - (warp_size - 1));
  llvm::Value* first = builder.CreateFreeze(call_marker(builder, Marker::first_lane, type, {dividend}));
  divisor = builder.CreateFreeze(divisor);
  llvm::Value* divides = builder.CreateAnd(builder.CreateICmpSGT(divisor, span), builder.CreateICmpULE(first, most));
  divisor = builder.CreateSelect(divides, divisor, llvm::ConstantInt::get(type, 1));
  known.quotient = builder.CreateUDiv(first, divisor);
  llvm::Value* product = builder.CreateMul(known.quotient, divisor);
  known.remainder = builder.CreateSub(dividend, product, "", /*HasNUW=*/true, /*HasNSW=*/true);
  llvm::Value* last = builder.CreateAdd(builder.CreateSub(first, product), span);
  llvm::Value* neighbours = call_marker(builder, Marker::consecutive, builder.getInt1Ty(), {dividend});
  return builder.CreateAnd(builder.CreateAnd(neighbours, divides), builder.CreateICmpULT(last, divisor));
}

/// The value at the builder's place. Null where that is not sure to be possible, or takes more than a few instructions.
llvm::Value* value_at(llvm::IRBuilder<>& builder, llvm::Value* value, const llvm::DominatorTree& dominators,
                      unsigned depth = 0) {
  constexpr unsigned max_depth = 4;
  auto* made = llvm::dyn_cast<llvm::Instruction>(value);
  if (made == nullptr || dominators.dominates(made->getParent(), builder.GetInsertBlock())) return value;
  if (depth == max_depth || llvm::isa<llvm::PHINode>(made) || made->mayReadOrWriteMemory() ||
      !llvm::isSafeToSpeculativelyExecute(made))
    return nullptr;
  llvm::Instruction* copy = made->clone();
  for (llvm::Use& operand : copy->operands()) {
    llvm::Value* there = value_at(builder, operand, dominators, depth + 1);
    if (there == nullptr) {
      copy->deleteValue();
      return nullptr;
    }
    operand.set(there);
  }
  return builder.Insert(copy);
}

/// Where the lanes' numbers are neighbours, as `i / width` and `i % width` of a flat number, most warps have one
/// quotient. Gives the region's copy lane 0's, and remainders that count up, and returns whether all lanes have it.
llvm::Value* WarpSplitter::divide_together(const Region& region, llvm::IRBuilder<>& builder,
                                           llvm::ValueToValueMapTy& copies) const {
  const auto is_inside = [&](const llvm::BasicBlock* place) { return llvm::is_contained(region.blocks, place); };
  const auto is_used = [&](const llvm::Instruction& instruction) {
    return is_inside(instruction.getParent()) || llvm::any_of(instruction.users(), [&](const llvm::User* user) {
             return is_inside(llvm::cast<llvm::Instruction>(user)->getParent());
           });
  };
  std::vector<Known> known;
  std::map<const llvm::Value*, const llvm::Value*> replaced;  // and the divisors, as the source has them
  llvm::Value* together = builder.getTrue();
  const auto replace = [&](llvm::Instruction& instruction, llvm::Value* value, const llvm::Value* divisor) {
    copies[&instruction] = value;
    replaced[&instruction] = divisor;
  };
  for (const llvm::BasicBlock* block : divergence_.order())
    for (const llvm::Instruction& each : *block) {
      auto& instruction = const_cast<llvm::Instruction&>(each);
      if (!patterns_(&instruction).is_varying() || !is_used(instruction)) continue;
      // What stands for a division by 0 or -1 (compiler/checks.h).
      llvm::Value *otherwise = nullptr, *tested = nullptr;
      if (match(&instruction,
                m_Select(m_SpecificICmp(llvm::CmpInst::ICMP_EQ, m_Value(tested), m_CombineOr(m_Zero(), m_AllOnes())),
                         m_Value(), m_Value(otherwise))))
        if (auto divides = replaced.find(otherwise); divides != replaced.end() && divides->second == tested) {
          replace(instruction, copies[otherwise], tested);
          continue;
        }
      std::optional<Division> division = division_of(instruction);
      if (!division || !patterns_(division->dividend).is_consecutive(1) || !patterns_(division->divisor).is_uniform())
        continue;
      auto found = std::find_if(known.begin(), known.end(), [&](const Known& other) {
        return other.division.dividend == division->dividend && other.division.divisor == division->divisor;
      });
      if (found == known.end()) {
        if (known.size() == most_divisions) continue;
        llvm::Value* dividend = value_at(builder, division->dividend, divergence_.dominators());
        llvm::Value* divisor = value_at(builder, division->divisor, divergence_.dominators());
        if (dividend == nullptr || divisor == nullptr) continue;
        known.push_back({*division});
        together = builder.CreateAnd(together, divide_by_first(builder, dividend, divisor, known.back()));
        found = std::prev(known.end());
      }
      llvm::Value* divisor = division->divisor;
      match(division->divisor, m_Select(m_Value(), m_One(), m_Value(divisor)));
      replace(instruction, division->is_quotient ? found->quotient : found->remainder, divisor);
    }
  return together;
}

/// Puts a copy of the region behind `from`, for whole warps; the others go to `rest`.
void WarpSplitter::copy(const Region& region, llvm::BasicBlock* from, llvm::BasicBlock* rest, llvm::Value* condition) {
  llvm::ValueToValueMapTy copies;
  llvm::SmallVector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock* block : region.blocks) {
    llvm::BasicBlock* made = llvm::CloneBasicBlock(block, copies, ".whole", &function_);
    copies[block] = made;
    blocks.push_back(made);
  }
  llvm::IRBuilder<> builder(from->getTerminator());
  llvm::Value* also = divide_together(region, builder, copies);
  llvm::remapInstructionsInBlocks(blocks, copies);
  auto* head = llvm::cast<llvm::BasicBlock>(copies[region.head]);
  head->replacePhiUsesWith(rest, from);
  for (llvm::PHINode& phi : region.join->phis())
    for (llvm::BasicBlock* block : region.blocks)
      if (const int index = phi.getBasicBlockIndex(block); index >= 0) {
        llvm::Value* value = phi.getIncomingValue(static_cast<unsigned>(index));
        auto mapped = copies.find(value);
        phi.addIncoming(mapped == copies.end() ? value : static_cast<llvm::Value*>(mapped->second),
                        llvm::cast<llvm::BasicBlock>(copies[block]));
      }
  llvm::Value* whole =
      call_marker(builder, Marker::whole_warp, builder.getInt1Ty(), {condition, builder.getInt1(region.when), also});
  builder.CreateCondBr(whole, head, rest);
  from->getTerminator()->eraseFromParent();
}

bool WarpSplitter::run() {
  llvm::BasicBlock* entry = &function_.getEntryBlock();
  if (!is_whole(layout_) && body_accesses_rows()) {
    llvm::BasicBlock* body = entry->splitBasicBlock(entry->getFirstNonPHIOrDbgOrAlloca(), "body");
    for (llvm::BasicBlock& block : function_)
      if (llvm::isa<llvm::ReturnInst>(block.getTerminator()) && block.size() > 1)
        block.splitBasicBlock(block.getTerminator(), "done");
    WarpSplitter again(function_, layout_);
    std::optional<Region> found = again.region(body, entry, true);
    if (found) again.copy(*found, entry, body, llvm::ConstantInt::getTrue(function_.getContext()));
    return found.has_value();
  }
  unsigned left = max_copied_instructions;
  std::vector<std::pair<llvm::BasicBlock*, Region>> found;
  std::set<const llvm::BasicBlock*> copied;
  for (const llvm::BasicBlock* block : divergence_.order()) {
    if (copied.contains(block)) continue;
    auto* from = const_cast<llvm::BasicBlock*>(block);
    std::optional<Region> region = guarded_by(from);
    if (!region || region->size > left) continue;
    left -= region->size;
    copied.insert(region->blocks.begin(), region->blocks.end());
    found.emplace_back(from, std::move(*region));
  }
  for (auto& [from, region] : found) {
    llvm::BasicBlock* rest = from->splitBasicBlock(from->getTerminator(), "part");
    copy(region, from, rest, llvm::cast<llvm::BranchInst>(rest->getTerminator())->getCondition());
  }
  return !found.empty();
}

}  // namespace

bool split_whole_warps(llvm::Function& function, WarpLayout layout) {
  return WarpSplitter(function, layout).run();
}

}  // namespace gpulua::cpu::simd
