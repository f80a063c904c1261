#pragma once

// The third stage of the compiler: optimisation and machine code.

#include <memory>
#include <string>

#include "src/device/cpu/ir/source_module.h"

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu {

/// The target machine for the module's triple. The functions' attributes name the processor.
std::unique_ptr<llvm::TargetMachine> make_machine(const llvm::Module& module);

/// Returns a relocatable object file. Functions that the SIMD engine has finished are not optimised again.
std::string generate_object(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace gpulua::cpu
