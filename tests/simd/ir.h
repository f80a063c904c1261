#pragma once

// Functions as LLVM IR text.

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/catch.h"

namespace gpulua::cpu::simd {

struct Ir {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;

  explicit Ir(const std::string& text) {
    llvm::SMDiagnostic error;
    module = llvm::parseAssemblyString(text, error, *context);
    INFO(error.getLineNo() << ": " << error.getMessage().str());
    REQUIRE(module != nullptr);
  }

  llvm::Function& function(const char* name = "f") { return *module->getFunction(name); }

  llvm::BasicBlock* block(const std::string& name) {
    for (llvm::BasicBlock& block : function())
      if (block.getName() == name) return &block;
    FAIL("no block " << name);
    return nullptr;
  }
};

/// All instructions of that kind in a function.
template <class Kind>
std::vector<Kind*> all(llvm::Function& function) {
  std::vector<Kind*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* one = llvm::dyn_cast<Kind>(&instruction)) found.push_back(one);
  return found;
}

/// The calls of what has that name.
inline std::vector<llvm::CallInst*> calls(llvm::Function& function, llvm::StringRef callee) {
  std::vector<llvm::CallInst*> found = all<llvm::CallInst>(function);
  std::erase_if(found, [&](llvm::CallInst* call) {
    return call->getCalledFunction() == nullptr || call->getCalledFunction()->getName() != callee;
  });
  return found;
}

inline std::uint64_t number(const llvm::Value* value) {
  return llvm::cast<llvm::ConstantInt>(value)->getZExtValue();
}

}  // namespace gpulua::cpu::simd
