#pragma once

// A limit on unrolling: each barrier becomes a state of the kernel (barrier_splitting.h), with code of its own.

#include <llvm/IR/PassManager.h>

#include <string>

namespace gpulua::cpu::simd {

/// Keeps loops rolled, whatever `#pragma unroll` says, whose full unrolling would make more than 16 barriers. 64
/// barriers in code that branches take seconds to compile.
class UnrollLimit : public llvm::PassInfoMixin<UnrollLimit> {
 public:
  /// `kept_rolled` gets a sentence about it if a loop stays rolled that `#pragma unroll` names.
  explicit UnrollLimit(std::string& kept_rolled) : kept_rolled_(&kept_rolled) {}
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);

 private:
  std::string* kept_rolled_;
};

}  // namespace gpulua::cpu::simd
