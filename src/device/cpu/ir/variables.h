#pragma once

// A module's variables, where its kernels' code is in several shared objects. One of them has the variables.

#include <llvm/IR/GlobalVariable.h>

#include <set>
#include <vector>

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// The variables that keep a value from one launch to the next, and constants that refer to them.
std::vector<llvm::GlobalVariable*> list_variables(const SourceModule& source);

/// The functions and variables that its initial value refers to.
std::set<llvm::GlobalValue*> references_of(const llvm::GlobalVariable& variable);

/// True unless one of them is initialised with a function's address, which code elsewhere may compare with its own.
bool can_be_shared(const std::vector<llvm::GlobalVariable*>& variables);

/// Lets all functions read the variable's address at run time. The result is where from; it has no initial value yet.
llvm::GlobalVariable* add_place(llvm::GlobalVariable& variable);

}  // namespace gpulua::cpu
