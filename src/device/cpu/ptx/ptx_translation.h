#pragma once

namespace llvm {
class CallInst;
}

namespace gpulua::cpu {

/// How the names of variables begin that the assembly declares in shared memory.
inline constexpr const char* ptx_shared_prefix = "ptx.shared.";

/// Replaces a call of inline assembly by code that does the same: LLVM's own instructions, and calls of the functions
/// in gpulua_ptx.h, whose definitions are in the module. Throws an Error of kind `compile` that quotes what the device
/// does not know.
void translate_ptx(llvm::CallInst& call);

}  // namespace gpulua::cpu
