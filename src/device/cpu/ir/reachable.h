#pragma once

#include <llvm/IR/Module.h>

#include <set>

namespace gpulua::cpu {

/// The functions and variables that a function refers to, itself among them, through constants and the bodies of
/// functions. A call through a pointer is covered by whoever took the address; only an address from elsewhere, such as
/// a table that another kernel fills, is not.
std::set<const llvm::Value*> reachable_from(const llvm::Function& function);

/// True where functions refer to each other in a circle, by the same rules: a thread may then be in one of them several
/// times at once.
bool may_recurse(const llvm::Function& function);

/// True where functions call each other in a circle, other than through pointers, or one calls itself: inlining their
/// calls would never end.
bool calls_in_a_circle(const llvm::Function& function);

}  // namespace gpulua::cpu
