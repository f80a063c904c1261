#pragma once

// A limit on unrolling: each barrier becomes a state of the kernel (barrier_splitting.h), with code of its own.

#include <llvm/IR/PassManager.h>

namespace gpulua::cpu::simd {

/// Keeps loops rolled, whatever `#pragma unroll` says, whose full unrolling would make more than 16 barriers. 64
/// barriers in code that branches take seconds to compile.
struct UnrollLimit : llvm::PassInfoMixin<UnrollLimit> {
  static llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace gpulua::cpu::simd
