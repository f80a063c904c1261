#include "src/device/cpu/simd/llvm_passes.h"

#include <llvm/Support/Error.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>

#include "src/device/cpu/ir/analyses.h"
#include "src/device/cpu/ir/compilation.h"
#include "src/device/cpu/simd/lane_tests.h"
#include "src/device/cpu/simd/unroll_limit.h"

namespace gpulua::cpu::simd {
namespace {

// No vectoriser: the warp is the vector. Small loops of constant length are unrolled, so that small arrays become
// registers. GVN without PRE: it would turn a value that both paths compute into a phi, which varies where lanes take
// both paths.
constexpr const char* simplify_passes =
    "sroa<modify-cfg>,early-cse<memssa>,simplifycfg,instcombine<no-verify-fixpoint>,"
    "correlated-propagation,jump-threading,simplifycfg,"
    "loop-mssa(loop-instsimplify,loop-rotate,licm),"
    "correlated-propagation,simplifycfg,instcombine<no-verify-fixpoint>,loop(indvars)";
constexpr const char* simplify_unrolled_passes =
    "loop(loop-deletion,loop-unroll-full),"
    "sroa<modify-cfg>,instcombine<no-verify-fixpoint>,gvn<no-pre>,sccp,correlated-propagation,jump-threading,"
    "instcombine<no-verify-fixpoint>,dse,loop-mssa(licm),adce,simplifycfg<bonus-inst-threshold=8>,"
    "instcombine<no-verify-fixpoint>";
constexpr const char* order_passes = "lower-switch,mergereturn,loop-simplify,lcssa";
constexpr const char* finish_passes = "early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,sroa<modify-cfg>";
constexpr const char* finish_more_passes = "loop-mssa(licm),gvn,instcombine<no-verify-fixpoint>,adce,simplifycfg";

}  // namespace

struct Pipeline::Passes {
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::PassBuilder builder;
  Analyses analyses;

  explicit Passes(llvm::TargetMachine& machine)
      : builder(&machine, llvm::PipelineTuningOptions(), std::nullopt, &callbacks), analyses(builder) {
    skip_passes_when_abandoned(callbacks);
  }

  void run(llvm::Function& function, const char* text, llvm::FunctionPassManager passes = llvm::FunctionPassManager()) {
    llvm::cantFail(builder.parsePassPipeline(passes, text));
    analyses.functions.clear(function, function.getName());
    passes.run(function, analyses.functions);
    analyses.functions.clear(function, function.getName());
    check_abandoned();  // skipped passes leave code that later stages do not expect
  }
};

Pipeline::Pipeline(llvm::TargetMachine& machine) : passes_(std::make_unique<Passes>(machine)) {}
Pipeline::~Pipeline() = default;

std::string Pipeline::simplify(llvm::Function& function) {
  std::string kept_rolled;
  llvm::FunctionPassManager limit;
  limit.addPass(UnrollLimit(kept_rolled));
  passes_->run(function, simplify_passes);
  passes_->run(function, simplify_unrolled_passes, std::move(limit));
  return kept_rolled;
}

void Pipeline::canonicalize(llvm::Function& function) {
  // Splits short vectors, as of float4, into scalars.
  llvm::ScalarizerPassOptions whole;
  whole.ScalarizeLoadStore = true;
  llvm::FunctionPassManager passes;
  passes.addPass(llvm::ScalarizerPass(whole));
  passes_->run(function, "instcombine<no-verify-fixpoint>", std::move(passes));
  order(function);
}

void Pipeline::order(llvm::Function& function) {
  passes_->run(function, order_passes);
}

void Pipeline::finish(llvm::Function& function) {
  passes_->run(function, finish_passes);
  simplify_lane_tests(function);
  passes_->run(function, finish_more_passes);
}

}  // namespace gpulua::cpu::simd
