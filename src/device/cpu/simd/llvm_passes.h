#pragma once

// LLVM's passes, run on one function before and after it is widened.

#include <llvm/IR/Function.h>

#include <memory>
#include <string>

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu::simd {

class Pipeline {
 public:
  explicit Pipeline(llvm::TargetMachine& machine);
  ~Pipeline();

  /// Moves variables into registers and simplifies. Returns what UnrollLimit kept rolled.
  std::string simplify(llvm::Function& function);
  /// Brings the control flow into the form that Divergence expects.
  void canonicalize(llvm::Function& function);
  /// The same for a widened function.
  void order(llvm::Function& function);
  /// Cleans up widened code.
  void finish(llvm::Function& function);

 private:
  struct Passes;
  std::unique_ptr<Passes> passes_;
};

}  // namespace gpulua::cpu::simd
