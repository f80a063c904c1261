#pragma once

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Module.h>

#include <vector>

namespace gpulua::cpu {

/// The instructions of a class, Kind, that satisfy `wanted`. Collected first, so that the caller may replace them.
template <class Kind, class Wanted>
std::vector<Kind*> collect(llvm::Function& function, Wanted wanted) {
  std::vector<Kind*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* one = llvm::dyn_cast<Kind>(&instruction); one != nullptr && wanted(*one)) found.push_back(one);
  return found;
}

template <class Kind, class Wanted>
std::vector<Kind*> collect(llvm::Module& module, Wanted wanted) {
  std::vector<Kind*> found;
  for (llvm::Function& function : module) {
    const std::vector<Kind*> more = collect<Kind>(function, wanted);
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

}  // namespace gpulua::cpu
