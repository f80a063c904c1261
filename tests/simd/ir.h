#pragma once

// Functions as LLVM IR text.

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>

#include <catch2/catch.hpp>
#include <memory>
#include <string>

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

}  // namespace gpulua::cpu::simd
