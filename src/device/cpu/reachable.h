#pragma once

#include <llvm/IR/Module.h>

#include <set>

namespace gpulua::cpu {

/// The functions and variables that a function refers to, itself among them, through constants and the bodies of
/// functions. A call through a pointer is covered by whoever took the address; only an address from elsewhere, such as
/// a table that another kernel fills, is not.
std::set<const llvm::Value*> reachable_from(const llvm::Function& function);

}  // namespace gpulua::cpu
