#pragma once

// The second stage of the compiler: from kernels, as the front end gives them, to functions that the runtime calls.
// There are two engines. Each kernel goes to the SIMD engine, which runs a warp at a time, if that accepts it, and else
// to the scalar engine, which runs a thread at a time and accepts every kernel.

#include <set>

#include "src/device/cpu/front_end/compile_options.h"
#include "src/device/cpu/ir/module_record.h"
#include "src/device/cpu/ir/shared_layout.h"

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu {

/// Turns the kernels into the functions of abi.h and adds the ModuleRecord, which is all that stays visible. Says of
/// each kernel what runs it.
/// Throws ErrorKind::compile for what no engine can run.
void build_kernels(SourceModule& source, EngineChoice choice, llvm::TargetMachine& machine);

/// The scalar engine. `kernels` are those to build, `finished` the functions that other engines have made: they take no
/// part any more. Every other function of the module gets the thread's context as a parameter (thread_context.h), so
/// this is the last engine to run.
std::vector<KernelCode> build_scalar_kernels(SourceModule& source, const SharedLayout& layout,
                                             const std::vector<const SourceKernel*>& kernels,
                                             const std::set<const llvm::Function*>& finished);

}  // namespace gpulua::cpu
