#pragma once

// The memory accesses of a function, as the checker sees them.

#include <llvm/IR/Instructions.h>

#include <vector>

namespace gpulua::cpu {

struct Access {
  llvm::Instruction* instruction;
  llvm::Value* pointer;
  llvm::Value* bytes;              // i64
  llvm::Value* written = nullptr;  // what a plain store writes, or the address of what a copy does
  unsigned kind;                   // of access:: (check_record.h)
  unsigned align;
};

/// In the order in which the checker is to look at them.
std::vector<Access> list_accesses(llvm::Function& function);

/// What the arithmetic that gives `pointer` starts at: a variable or a parameter through loops and branches, where all
/// of them start at one.
llvm::Value* find_base(llvm::Value* pointer);

}  // namespace gpulua::cpu
