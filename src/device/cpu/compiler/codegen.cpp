#include "src/device/cpu/compiler/codegen.h"

#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/CodeGen/MachineModuleInfo.h>
#include <llvm/CodeGen/Passes.h>
#include <llvm/CodeGen/TargetPassConfig.h>
#include <llvm/IR/LegacyPassManager.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Passes/StandardInstrumentations.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/IPO/GlobalDCE.h>

#include <algorithm>

#include "src/base/error.h"
#include "src/device/cpu/compiler/minima.h"
#include "src/device/cpu/ir/analyses.h"
#include "src/device/cpu/ir/compilation.h"
#include "src/device/cpu/ir/scheduling_time.h"
#include "src/device/cpu/simd/simd_engine.h"

namespace gpulua::cpu {
namespace {

// GPU compilers inline nearly everything, and device functions are written for that.
constexpr int inline_threshold = 2000;

/// Keeps the pipeline's passes off functions that are optimised already.
class FinishedFunctions {
 public:
  explicit FinishedFunctions(llvm::Module& module) : module_(module) {
    for (llvm::Function& function : module) {
      if (!function.hasFnAttribute(simd::finished_attribute)) continue;
      function.addFnAttr(llvm::Attribute::OptimizeNone);
      function.addFnAttr(llvm::Attribute::NoInline);  // OptimizeNone requires it
    }
  }
  // Searches again: module passes may have replaced functions.
  ~FinishedFunctions() {
    for (llvm::Function& function : module_)
      if (function.hasFnAttribute(simd::finished_attribute)) function.removeFnAttr(llvm::Attribute::OptimizeNone);
  }

 private:
  llvm::Module& module_;
};

void optimize(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PipelineTuningOptions tuning;
  tuning.InlinerThreshold = inline_threshold;
  llvm::PassInstrumentationCallbacks callbacks;
  llvm::OptNoneInstrumentation skip_finished(/*DebugLogging=*/false);
  skip_finished.registerCallbacks(callbacks);
  skip_passes_when_abandoned(callbacks);
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  Analyses analyses(builder);
  llvm::ModulePassManager drop_unused;  // most of the prelude
  drop_unused.addPass(llvm::GlobalDCEPass());
  drop_unused.run(module, analyses.modules);
  const bool finished_all = std::all_of(module.begin(), module.end(), [](const llvm::Function& function) {
    return function.isDeclaration() || function.hasFnAttribute(simd::finished_attribute);
  });
  if (finished_all) return;
  const FinishedFunctions finished(module);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2).run(module, analyses.modules);
}

/// What TargetMachine::addPassesToEmitFile() adds, without the scheduler after register allocation where that takes
/// long. On processors that order instructions themselves it gains a few per cent at most.
bool add_object_passes(llvm::legacy::PassManager& passes, llvm::LLVMTargetMachine& machine, const llvm::Module& module,
                       llvm::raw_pwrite_stream& object) {
  auto* functions = new llvm::MachineModuleInfoWrapperPass(&machine);  // the pass manager owns it
  llvm::TargetPassConfig* config = machine.createPassConfig(passes);
  config->setDisableVerify(true);
  if (takes_long_to_schedule(module)) config->disablePass(&llvm::PostRASchedulerID);
  passes.add(config);
  passes.add(functions);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (machine.addAsmPrinter(passes, object, nullptr, llvm::CodeGenFileType::ObjectFile,
                            functions->getMMI().getContext()))
    return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

}  // namespace

std::unique_ptr<llvm::TargetMachine> make_machine(const llvm::Module& module) {
  static const bool initialized = [] {
    return !llvm::InitializeNativeTarget() && !llvm::InitializeNativeTargetAsmPrinter();
  }();
  std::string why;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(module.getTargetTriple(), why);
  if (!initialized || target == nullptr)
    throw Error(ErrorKind::unavailable, "[compile] LLVM has no target for this machine: {}", why);
  llvm::TargetOptions target_options;
  target_options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // the flags of each operation decide
  return std::unique_ptr<llvm::TargetMachine>(
      target->createTargetMachine(module.getTargetTriple(), "", "", target_options, llvm::Reloc::PIC_, std::nullopt,
                                  llvm::CodeGenOptLevel::Default));
}

std::string generate_object(llvm::Module& module, llvm::TargetMachine& machine) {
  optimize(module, machine);
  check_abandoned();
  order_zeros(module);
  llvm::SmallVector<char, 0> object;
  llvm::raw_svector_ostream stream(object);
  llvm::legacy::PassManager passes;
  if (!add_object_passes(passes, static_cast<llvm::LLVMTargetMachine&>(machine), module, stream))
    throw Error(ErrorKind::compile, "[compile] LLVM cannot write an object file for this machine");
  passes.run(module);
  return std::string(object.begin(), object.end());
}

}  // namespace gpulua::cpu
