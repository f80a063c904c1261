#include "src/device/cpu/simd/engine.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "src/device/cpu/instantiate.h"
#include "src/device/cpu/simd/gather_addresses.h"
#include "src/device/cpu/simd/pipeline.h"
#include "src/device/cpu/simd/prepare.h"
#include "src/device/cpu/simd/widen.h"

namespace gpulua::cpu::simd {
namespace {

// kernels/cpu/gpulua_warps.h.
constexpr const char* run_warps_template = "gpulua_run_warps";
constexpr const char* run_strand_template = "gpulua_run_warp_strand";
constexpr const char* run_full_warp = "gpulua_run_full_warp";
constexpr const char* run_warp = "gpulua_run_warp";
constexpr const char* helpers[] = {run_warps_template, run_strand_template, "gpulua_fail_in_lane"};

// Registers are spilt; SLEEF's functions and the runtime's services have frames of their own.
constexpr std::uint64_t frame_bytes = 64 << 10;

void inline_calls(llvm::Function& function, const std::set<llvm::Function*>& callees) {
  std::vector<llvm::CallInst*> calls;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call != nullptr && callees.contains(call->getCalledFunction()))
      calls.push_back(call);
  for (llvm::CallInst* call : calls) {
    llvm::InlineFunctionInfo info;
    llvm::InlineFunction(*call, info);
  }
}

std::uint64_t count_local_bytes(const llvm::Function& function) {
  std::uint64_t bytes = frame_bytes;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      bytes += variable->getAllocationSize(function.getParent()->getDataLayout())->getFixedValue();
  return bytes;
}

void allow_unwinding(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoUnwind);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
        call != nullptr && call->getCalledFunction() == nullptr)
      call->removeFnAttr(llvm::Attribute::NoUnwind);
}

}  // namespace

Engine::Engine(SourceModule& source, const SharedLayout& layout, llvm::TargetMachine& machine)
    : source_(source), layout_(layout), machine_(machine) {
  for (const char* name : helpers) {
    llvm::Function* helper = source.module->getFunction(name);
    llvm::Function* unflatten = source.module->getFunction("_Z16gpulua_unflattenmN6gpulua3cpu6Index3E");
    inline_calls(*helper, {unflatten});
    allow_unwinding(*helper);
    finished_.insert(helper);
  }
}

std::optional<KernelCode> Engine::build(const SourceKernel& kernel, std::string& why_not) {
  Pipeline pipeline(machine_);
  llvm::Module& module = *source_.module;
  llvm::Function* scalar = prepare(*module.getFunction(kernel.symbol), layout_, pipeline, why_not);
  if (scalar == nullptr) return std::nullopt;
  why_not = simd::why_not(*scalar);
  if (!why_not.empty()) {
    scalar->eraseFromParent();
    return std::nullopt;
  }
  const MathLibrary math(*scalar);
  llvm::Function* full = widen(*scalar, {true, &math});
  llvm::Function* any = widen(*scalar, {false, &math});
  Structure structure(*scalar);
  const bool has_barriers = Barriers(*scalar, Shapes(*scalar, structure, false)).any();

  llvm::Function* pattern = module.getFunction(has_barriers ? run_strand_template : run_warps_template);
  llvm::Function* run =
      instantiate(*pattern, kernel, kernel.symbol + ".warps", {{run_full_warp, full}, {run_warp, any}});
  for (llvm::Attribute attribute : scalar->getAttributes().getFnAttrs()) run->addFnAttr(attribute);
  allow_unwinding(*run);
  scalar->eraseFromParent();
  const bool broken = llvm::verifyFunction(*full) || llvm::verifyFunction(*any);
  if (!broken) inline_calls(*run, {full, any});
  if (broken) run->eraseFromParent();
  full->eraseFromParent();
  any->eraseFromParent();
  if (broken) {
    why_not = "the widened code is not valid";
    return std::nullopt;
  }
  pipeline.finish(*run);
  sink_gather_addresses(*run);
  run->addFnAttr(finished_attribute);
  finished_.insert(run);

  KernelCode code;
  code.symbol = kernel.symbol;
  (has_barriers ? code.run_strand : code.run) = run;
  code.strand_threads = warp_size;
  code.shared_bytes = layout_.kernel_bytes.at(kernel.symbol);
  code.local_bytes = count_local_bytes(*run);
  code.max_threads = kernel.max_threads;
  return code;
}

std::set<const llvm::Function*> Engine::finish() {
  for (const char* name : {run_warps_template, run_strand_template}) {
    llvm::Function* pattern = source_.module->getFunction(name);
    finished_.erase(pattern);
    pattern->eraseFromParent();
  }
  return std::move(finished_);
}

}  // namespace gpulua::cpu::simd
