#pragma once

#include <llvm/IR/Module.h>

#include <set>

namespace gpulua::cpu {

/// The functions and variables that a function refers to, itself among them, through constants and the bodies of
/// functions. They include the targets of calls through pointers whose address the function takes. Addresses from
/// elsewhere, such as a table that another kernel fills, are not followed.
std::set<const llvm::Value*> reachable_from(const llvm::Function& function);

/// True if the references form a cycle, by the same rules: then a function may be active in a thread more than once.
bool may_recurse(const llvm::Function& function);

/// True if direct calls form a cycle: inlining them would not end.
bool calls_in_a_circle(const llvm::Function& function);

}  // namespace gpulua::cpu
