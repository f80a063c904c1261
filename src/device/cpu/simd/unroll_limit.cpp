#include "src/device/cpu/simd/unroll_limit.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "src/device/cpu/simd/markers.h"

namespace gpulua::cpu::simd {
namespace {

constexpr std::uint64_t most_barriers = 16;

/// The barriers that the loop would become if it and the loops in it were unrolled.
std::uint64_t count_barriers(llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  std::uint64_t barriers = 0;
  for (const llvm::BasicBlock* block : loop.blocks())
    for (const llvm::Instruction& instruction : *block) {
      if (!is_barrier(instruction)) continue;
      std::uint64_t copies = 1;
      for (const llvm::Loop* inner : loop.getLoopsInPreorder())
        if (inner->contains(block)) copies *= std::max(1u, evolution.getSmallConstantMaxTripCount(inner));
      barriers += copies;
    }
  return barriers;
}

}  // namespace

llvm::PreservedAnalyses UnrollLimit::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    if (count_barriers(*loop, evolution) <= most_barriers) continue;
    if (llvm::hasUnrollTransformation(loop) == llvm::TM_ForcedByUser)
      *kept_rolled_ = "a loop with '#pragma unroll' stays a loop: unrolled, it would have more than " +
                      std::to_string(most_barriers) + " barriers";
    loop->setLoopAlreadyUnrolled();
  }
  return llvm::PreservedAnalyses::all();
}

}  // namespace gpulua::cpu::simd
