#pragma once

namespace llvm {
class CallInst;
}

namespace gpulua::cpu {

/// Replaces a call of inline assembly by code that does the same: LLVM's own instructions, and calls of the functions
/// in gpulua_ptx.h, whose definitions are in the module. Throws an Error of kind `compile` that quotes what the device
/// does not know.
void translate_ptx(llvm::CallInst& call);

}  // namespace gpulua::cpu
