#include "src/device/cpu/ir/reachable.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <map>
#include <vector>

namespace gpulua::cpu {
namespace {

/// The constants that a constant or a function's body refers to.
std::vector<const llvm::Constant*> references(const llvm::Constant& value) {
  std::vector<const llvm::Constant*> result;
  const auto add = [&](const llvm::User& user) {
    for (const llvm::Use& operand : user.operands())
      if (const auto* constant = llvm::dyn_cast<llvm::Constant>(operand)) result.push_back(constant);
  };
  add(value);
  if (const auto* body = llvm::dyn_cast<llvm::Function>(&value))
    for (const llvm::Instruction& instruction : llvm::instructions(*body)) add(instruction);
  return result;
}

/// The functions that a function calls directly.
std::vector<const llvm::Constant*> callees(const llvm::Constant& value) {
  std::vector<const llvm::Constant*> result;
  for (const llvm::Instruction& instruction : llvm::instructions(llvm::cast<llvm::Function>(value)))
    if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
      if (const llvm::Function* callee = call->getCalledFunction(); callee != nullptr) result.push_back(callee);
  return result;
}

class CircleSearch {
 public:
  using Next = std::vector<const llvm::Constant*> (*)(const llvm::Constant&);
  explicit CircleSearch(Next next) : next_(next) {}

  /// True if a cycle is reachable from the value.
  bool leads_into_one(const llvm::Constant& value) {
    const auto [entry, is_new] = open_.emplace(&value, true);
    if (!is_new) return entry->second;
    const bool found =
        std::ranges::any_of(next_(value), [this](const llvm::Constant* next) { return leads_into_one(*next); });
    entry->second = false;
    return found;
  }

 private:
  Next next_;
  std::map<const llvm::Constant*, bool> open_;  // false once its successors are searched
};

}  // namespace

std::set<const llvm::Value*> reachable_from(const llvm::Function& function) {
  std::set<const llvm::Value*> reached{&function};
  std::vector<const llvm::Constant*> pending{&function};
  while (!pending.empty()) {
    const llvm::Constant* value = pending.back();
    pending.pop_back();
    for (const llvm::Constant* next : references(*value))
      if (reached.insert(next).second) pending.push_back(next);
  }
  return reached;
}

bool may_recurse(const llvm::Function& function) {
  return CircleSearch(references).leads_into_one(function);
}

bool calls_in_a_circle(const llvm::Function& function) {
  return CircleSearch(callees).leads_into_one(function);
}

}  // namespace gpulua::cpu
