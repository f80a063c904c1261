#include "src/device/cpu/simd/whole_warps.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/PatternMatch.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "src/device/cpu/simd/markers.h"
#include "src/device/cpu/simd/regions.h"

namespace gpulua::cpu::simd {
namespace {

using namespace llvm::PatternMatch;

// Instructions of all copies together.
constexpr unsigned max_copied_instructions = 320;
// A region that is a smaller part of its kernel than 1 / least_part gains little, but for numbers and addresses.
constexpr unsigned least_part = 4;
constexpr unsigned numbers_and_addresses = 20;

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

/// What a branch's condition guards, and the value with which it does.
struct Guarded {
  Region region;
  bool when;
};

class WarpSplitter {
 public:
  WarpSplitter(llvm::Function& function, WarpLayout layout)
      : function_(function), divergence_(function), patterns_(function, divergence_, layout), layout_(layout) {}

  bool run();

 private:
  std::optional<Region> region(llvm::BasicBlock* head, const llvm::BasicBlock* from) const;
  std::optional<Guarded> guarded_by(llvm::BasicBlock* block) const;
  bool accesses_rows(const llvm::BasicBlock& block) const;
  bool body_accesses_rows() const;

  llvm::Function& function_;
  Divergence divergence_;
  LanePatterns patterns_;
  WarpLayout layout_;
};

bool WarpSplitter::accesses_rows(const llvm::BasicBlock& block) const {
  return llvm::any_of(block, [&](const llvm::Instruction& instruction) { return patterns_.accesses_row(instruction); });
}

/// True if lanes without a bound access rows.
bool WarpSplitter::body_accesses_rows() const {
  for (const llvm::BasicBlock* block : divergence_.order())
    if (divergence_.mask_owner(block) == divergence_.order().front() && accesses_rows(*block)) return true;
  return false;
}

std::optional<Region> WarpSplitter::region(llvm::BasicBlock* head, const llvm::BasicBlock* from) const {
  std::optional<Region> region = find_region(function_, divergence_, head, from);
  const auto is_worth_it = [&](const llvm::BasicBlock* block) { return accesses_rows(*block); };
  if (!region || llvm::none_of(region->blocks, is_worth_it) || region->size > max_copied_instructions ||
      region->size * least_part + numbers_and_addresses < function_.getInstructionCount())
    return std::nullopt;
  return region;
}

/// What the bound at the block's end guards.
std::optional<Guarded> WarpSplitter::guarded_by(llvm::BasicBlock* block) const {
  const auto* branch = llvm::dyn_cast<llvm::BranchInst>(block->getTerminator());
  if (branch == nullptr || !branch->isConditional() || !divergence_.diverges(block) ||
      !is_bound(branch->getCondition(), patterns_))
    return std::nullopt;
  std::optional<Guarded> found;
  for (unsigned i = 0; i < 2; ++i) {
    llvm::BasicBlock* head = branch->getSuccessor(i);
    if (head->getSinglePredecessor() != block || branch->getSuccessor(0) == branch->getSuccessor(1)) continue;
    std::optional<Region> other = region(head, block);
    if (other && (!found || other->size > found->region.size)) found = Guarded{std::move(*other), i == 0};
  }
  return found;
}

/// Puts a copy of the region behind `from`, for whole warps; the others go to `rest`.
void copy(const Guarded& guarded, llvm::BasicBlock* from, llvm::BasicBlock* rest, llvm::Value* condition) {
  RegionCopy copy(guarded.region, ".whole");
  copy.connect(from);
  llvm::IRBuilder<> builder(from->getTerminator());
  llvm::Value* whole = call_marker(builder, Marker::whole_warp, builder.getInt1Ty(),
                                   {condition, builder.getInt1(guarded.when), builder.getTrue()});
  builder.CreateCondBr(whole, copy.head(), rest);
  from->getTerminator()->eraseFromParent();
}

/// Behind Marker::end_lanes, which decides which lanes run.
llvm::Instruction* start_of_body(llvm::BasicBlock& entry) {
  for (llvm::Instruction& instruction : entry)
    if (marker(&instruction) == Marker::end_lanes) return instruction.getNextNode();
  return &*entry.getFirstNonPHIOrDbgOrAlloca();
}

bool WarpSplitter::run() {
  llvm::BasicBlock* entry = &function_.getEntryBlock();
  if (!is_whole(layout_) && body_accesses_rows()) {
    llvm::BasicBlock* body = entry->splitBasicBlock(start_of_body(*entry), "body");
    for (llvm::BasicBlock& block : function_)
      if (llvm::isa<llvm::ReturnInst>(block.getTerminator()) && block.size() > 1)
        block.splitBasicBlock(block.getTerminator(), "done");
    WarpSplitter again(function_, layout_);
    std::optional<Region> found = again.region(body, entry);
    if (found) copy({*found, true}, entry, body, llvm::ConstantInt::getTrue(function_.getContext()));
    return found.has_value();
  }
  unsigned left = max_copied_instructions;
  std::vector<std::pair<llvm::BasicBlock*, Guarded>> found;
  std::set<const llvm::BasicBlock*> copied;
  for (const llvm::BasicBlock* block : divergence_.order()) {
    if (copied.contains(block)) continue;
    auto* from = const_cast<llvm::BasicBlock*>(block);
    std::optional<Guarded> guarded = guarded_by(from);
    if (!guarded || guarded->region.size > left) continue;
    left -= guarded->region.size;
    copied.insert(guarded->region.blocks.begin(), guarded->region.blocks.end());
    found.emplace_back(from, std::move(*guarded));
  }
  for (auto& [from, guarded] : found) {
    llvm::BasicBlock* rest = from->splitBasicBlock(from->getTerminator(), "part");
    copy(guarded, from, rest, llvm::cast<llvm::BranchInst>(rest->getTerminator())->getCondition());
  }
  return !found.empty();
}

}  // namespace

bool split_whole_warps(llvm::Function& function, WarpLayout layout) {
  return WarpSplitter(function, layout).run();
}

}  // namespace gpulua::cpu::simd
