#include "src/device/cpu/codegen.h"

#include <llvm/Analysis/CGSCCPassManager.h>
#include <llvm/Analysis/LazyCallGraph.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/PassBuilder.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>

#include "src/core/error.h"
#include "src/device/cpu/simd/engine.h"

namespace gpulua::cpu {
namespace {

// GPU compilers inline nearly everything; the device functions of a kernel are written with that in mind.
constexpr int inline_threshold = 2000;

/// The function that a pass is about to run on; null for a module.
const llvm::Function* function_of(const llvm::Any& ir) {
  if (const auto* function = llvm::any_cast<const llvm::Function*>(&ir)) return *function;
  if (const auto* loop = llvm::any_cast<const llvm::Loop*>(&ir)) return (*loop)->getHeader()->getParent();
  if (const auto* component = llvm::any_cast<const llvm::LazyCallGraph::SCC*>(&ir))
    return &(*component)->begin()->getFunction();
  return nullptr;
}

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PipelineTuningOptions tuning;
  tuning.InlinerThreshold = inline_threshold;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback([](llvm::StringRef, llvm::Any ir) {
    const llvm::Function* function = function_of(ir);
    return function == nullptr || !function->hasFnAttribute(simd::finished_attribute);
  });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, modules);
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const llvm::Module& module) {
  static const bool initialized = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), why);
  if (!initialized || target == nullptr)
    throw Error(ErrorKind::unavailable, "[compile] LLVM has no target for this machine: " + why);
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion =
      llvm::FPOpFusion::Standard;  // each operation's own flags say whether it may be fused
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(module.getTargetTriple(), "", "", target_options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Default));
}

std::string generate_object(llvm::Module& module, llvm::TargetMachine& machine) {
  optimize(module, machine);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile))
    throw Error(ErrorKind::compile, "[compile] LLVM cannot write an object file for this machine");
  passes.run(module);
  return std::string(object.begin(), object.end());
}

}  // namespace gpulua::cpu
