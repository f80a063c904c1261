#pragma once

// LLVM's own passes, run on single functions before and after they are widened.

#include <llvm/IR/Function.h>

#include <memory>

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu::simd {

class Pipeline {
 public:
  explicit Pipeline(llvm::TargetMachine& machine);
  ~Pipeline();

  /// Makes registers of variables and simplifies.
  void simplify(llvm::Function& function);
  /// Brings the control flow into the form that Structure wants.
  void canonicalize(llvm::Function& function);
  /// The same for a widened function.
  void order(llvm::Function& function);
  /// Cleans up what widening has put together.
  void finish(llvm::Function& function);

 private:
  struct Passes;
  std::unique_ptr<Passes> passes_;
};

}  // namespace gpulua::cpu::simd
