#pragma once

// The third stage of the compiler: optimise, and make machine code.

#include <memory>
#include <string>

#include "src/device/cpu/ir/source_module.h"

namespace llvm {
class TargetMachine;
}

namespace gpulua::cpu {

/// The machine that the front end wrote into the functions' attributes.
std::unique_ptr<llvm::TargetMachine> make_machine(const llvm::Module& module);

/// A relocatable object file. Functions that the SIMD engine has finished are not optimised again.
std::string generate_object(llvm::Module& module, llvm::TargetMachine& machine);

}  // namespace gpulua::cpu
