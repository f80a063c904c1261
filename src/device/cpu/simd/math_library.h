#pragma once

// Vector versions of the mathematical functions, from SLEEF where it is installed.

#include <llvm/IR/IRBuilder.h>

#include <string>

namespace gpulua::cpu::simd {

class MathLibrary {
 public:
  /// The library for the processor of `function` (target-features). Empty where SLEEF is not installed.
  explicit MathLibrary(const llvm::Function& function);

  /// The name of the C function, "expf", that a call or an intrinsic stands for; empty for others.
  static std::string function_name(const llvm::CallInst& call);
  bool has(const llvm::CallInst& call) const;
  /// Calls the function on vectors of 32.
  llvm::Value* call(llvm::IRBuilder<>& builder, const llvm::CallInst& scalar,
                    const std::vector<llvm::Value*>& arguments) const;
  /// The lanes in which `result`, of call(), is infinite and may have had to be finite; null for a function that does not
  /// overflow early.
  static llvm::Value* overflowed(llvm::IRBuilder<>& builder, const llvm::CallInst& scalar,
                                 const std::vector<llvm::Value*>& arguments, llvm::Value* result);

 private:
  unsigned vector_bits_ = 0;  // width of a register; 0: no library
};

/// True iff libsleef can be loaded.
bool has_sleef();

}  // namespace gpulua::cpu::simd
