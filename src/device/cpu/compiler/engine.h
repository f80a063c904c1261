#pragma once

// The second stage of the compiler: from kernels, as the front end gives them, to functions that the runtime calls.
// There are two engines. Each kernel goes to the SIMD engine, which runs a warp at a time, if that accepts it, and else
// to the scalar engine, which runs a thread at a time and accepts every kernel.

#include "src/device/cpu/ir/source_module.h"

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu {

/// Prepares the module for both engines: local variables are in registers, and operations that are undefined in C++
/// have a GPU's results. Throws ErrorKind::compile if a kernel needs something that the device does not have.
void prepare_module(SourceModule& source);

/// Turns the kernels into the functions of abi.h and adds the ModuleRecord, the only symbol that stays visible. Records
/// for each kernel which engine runs it. Throws ErrorKind::compile for kernels that no engine can run.
/// Returns whether code was left out (CodeChoice). Precondition: prepare_module() was called.
bool build_kernels(SourceModule& source, llvm::TargetMachine& machine);

}  // namespace gpulua::cpu
