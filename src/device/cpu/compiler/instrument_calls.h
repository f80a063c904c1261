#pragma once

#include "src/device/cpu/compiler/hook_calls.h"

namespace gpulua::cpu {

/// The calls of a function. Throws ErrorKind::compile for those that the checker cannot follow.
std::vector<llvm::CallInst*> list_calls(llvm::Function& function);

/// Instruments calls that leave the source: through pointers, and of what the device has of the C library. Throws
/// ErrorKind::compile, with the line, for other functions and for operations of the processor whose accesses the
/// checker would not see.
void instrument_calls(const std::vector<llvm::CallInst*>& calls, HookCalls& hooks);

}  // namespace gpulua::cpu
