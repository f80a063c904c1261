#pragma once

// Calls of the checker's hooks (check_record.h) in a module.

#include <llvm/IR/IRBuilder.h>

#include <vector>

#include "src/device/cpu/compiler/site_table.h"

namespace gpulua::cpu {

class HookCalls {
 public:
  explicit HookCalls(const SourceModule& source);

  llvm::IRBuilder<>& builder() { return builder_; }
  SiteTable& sites() { return sites_; }
  /// The ModuleChecks, without an initializer.
  llvm::GlobalVariable& checks() { return *checks_; }

  /// Calls go before `place` from now on, and are at its line.
  void go_to(llvm::Instruction& place);
  /// Calls the hook at that offset in CheckHooks with the launch, the thread's context and `arguments`.
  llvm::CallInst* call(std::size_t hook, std::vector<llvm::Value*> arguments, llvm::Type* result = nullptr);
  /// The same with the first `fixed` arguments alone in the function's type.
  llvm::CallInst* call_variadic(std::size_t hook, std::vector<llvm::Value*> arguments, std::size_t fixed,
                                llvm::Type* result);
  llvm::LoadInst* load(llvm::Value* from, std::size_t offset);

 private:
  llvm::Value* function(std::size_t hook, std::vector<llvm::Value*>& arguments);

  llvm::Module& module_;
  llvm::IRBuilder<> builder_;
  SiteTable sites_;
  llvm::GlobalVariable* checks_;
  llvm::GlobalVariable* context_;
};

}  // namespace gpulua::cpu
