#include "src/device/cpu/compiler/scalar_engine.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>

#include "src/device/cpu/abi/call_stack.h"
#include "src/device/cpu/ir/instantiate.h"
#include "src/device/cpu/ir/reachable.h"
#include "src/device/cpu/ir/run_templates.h"
#include "src/device/cpu/ir/thread_context.h"

namespace gpulua::cpu {
namespace {

// src/device/cpu/headers/gpulua_run.h has, as C++, the loops over blocks and threads and the entry of a single thread;
// each kernel gets a copy of one of them in which the call to `run_thread` is the call to the kernel.
constexpr const char* run_blocks_template = "gpulua_run_blocks";
constexpr const char* run_fiber_template = "gpulua_run_fiber";
constexpr const char* run_thread = "gpulua_run_thread";

/// Removes `nounwind`, which clang sets for all device code: a failed assertion unwinds through the kernel.
void allow_unwinding(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    function.removeFnAttr(llvm::Attribute::NoUnwind);
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) call->removeFnAttr(llvm::Attribute::NoUnwind);
  }
}

// The builtins that may let other threads run before they return: a kernel that reaches one runs as fibers.
constexpr const char* switching_builtins[] = {"gpulua_barrier",      "gpulua_barrier_count", "gpulua_grid_barrier",
                                              "gpulua_tile_barrier", "gpulua_warp_barrier",  "gpulua_shuffle",
                                              "gpulua_ballot",       "gpulua_yield"};

bool switches_threads(const llvm::Module& module, const std::set<const llvm::Value*>& reachable) {
  return std::ranges::any_of(switching_builtins, [&](const char* name) {
    const llvm::Function* builtin = module.getFunction(name);
    return builtin != nullptr && reachable.contains(builtin);
  });
}

// The depth of recursion is unknown. A thread of a GPU has up to 512 KB for all its variables.
constexpr std::uint64_t recursion_bytes = 1 << 20;

/// The size of the variables of all reachable functions, each counted once.
std::uint64_t count_local_bytes(const llvm::DataLayout& data, const std::set<const llvm::Value*>& reachable) {
  std::uint64_t bytes = call_stack_bytes;
  for (const llvm::Value* value : reachable)
    if (const auto* function = llvm::dyn_cast<llvm::Function>(value))
      for (const llvm::Instruction& instruction : llvm::instructions(*function))
        if (const auto* variable = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
          bytes += variable->getAllocationSize(data).value_or(llvm::TypeSize::getFixed(0)).getFixedValue();
  return bytes;
}

}  // namespace

std::vector<KernelCode> build_scalar_kernels(SourceModule& source, const SharedLayout& layout,
                                             const std::vector<const SourceKernel*>& kernels,
                                             const std::set<const llvm::Function*>& finished) {
  llvm::Module& module = *source.module;
  // The templates make contexts, or are given one.
  std::set<const llvm::Function*> outside = finished;
  llvm::Function *run_blocks = nullptr, *run_fiber = nullptr;
  if (!kernels.empty()) {
    const llvm::Function& like = *module.getFunction(kernels.front()->symbol);
    outside.insert(run_blocks = &add_template(module, run_blocks_template, like));
    outside.insert(run_fiber = &add_template(module, run_fiber_template, like));
  }
  allow_unwinding(module);
  pass_thread_context(module, layout, outside);

  std::vector<KernelCode> result;
  for (const SourceKernel* kernel : kernels) {
    llvm::Function& function = *module.getFunction(kernel->symbol);
    const auto reachable = reachable_from(function);
    function.removeFnAttr(llvm::Attribute::NoInline);
    const std::string name = kernel->symbol + ".scalar";
    KernelCode code;
    code.symbol = kernel->symbol;
    if (switches_threads(module, reachable))
      code.run_fiber = instantiate(*run_fiber, *kernel, name, {{run_thread, &function}});
    else
      code.run = instantiate(*run_blocks, *kernel, name, {{run_thread, &function}});
    code.local_bytes = count_local_bytes(module.getDataLayout(), reachable);
    if (may_recurse(function)) code.local_bytes += recursion_bytes;
    code.shared_bytes = layout.kernel_bytes.at(kernel->symbol);
    code.max_threads = kernel->max_threads;
    result.push_back(std::move(code));
  }
  for (llvm::Function* pattern : {run_blocks, run_fiber})
    if (pattern != nullptr) pattern->eraseFromParent();
  return result;
}

}  // namespace gpulua::cpu
