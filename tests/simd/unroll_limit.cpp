// Loops with barriers that stay loops.

#include "src/device/cpu/simd/unroll_limit.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/Passes/PassBuilder.h>

#include <algorithm>

#include "src/device/cpu/simd/markers.h"
#include "tests/simd/ir.h"

namespace gpulua::cpu::simd {
namespace {

/// The barriers of `for (i = 0; i < turns; ++i) __syncthreads();` after full unrolling, as `#pragma unroll` asks.
long barriers_of(int turns, const std::string& call, bool says_so = false) {
  Ir ir(R"(
    declare void @gpulua_barrier()
    declare void @work()
    define void @f() {
    entry:
      br label %loop
    loop:
      %i = phi i32 [ 0, %entry ], [ %next, %loop ]
      call void @)" +
        call + R"(()
      %next = add nuw nsw i32 %i, 1
      %stays = icmp ult i32 %next, )" +
        std::to_string(turns) + R"(
      br i1 %stays, label %loop, label %done, !llvm.loop !0
    done:
      ret void
    }
    !0 = distinct !{!0, !1}
    !1 = !{!"llvm.loop.unroll.full"})");
  llvm::PassBuilder builder;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  llvm::FunctionPassManager passes;
  std::string kept_rolled;
  passes.addPass(UnrollLimit(kept_rolled));
  llvm::cantFail(builder.parsePassPipeline(passes, "loop(loop-unroll-full)"));
  passes.run(ir.function(), functions);
  CHECK((kept_rolled.find("more than 16 barriers") != std::string::npos) == says_so);
  return std::count_if(llvm::inst_begin(ir.function()), llvm::inst_end(ir.function()),
                       [](const llvm::Instruction& instruction) { return llvm::isa<llvm::CallInst>(instruction); });
}

}  // namespace

TEST_CASE("unroll limit: at most 16 barriers", "[simd]") {
  CHECK(barriers_of(16, "gpulua_barrier") == 16);
  CHECK(barriers_of(17, "gpulua_barrier", true) == 1);
  CHECK(barriers_of(64, "gpulua_barrier", true) == 1);
  CHECK(barriers_of(64, "work") == 64);
}

}  // namespace gpulua::cpu::simd
