#pragma once

#include <string>
#include <vector>

#include "src/device/cpu/ptx/ptx_text.h"

namespace gpulua::cpu {

/// The symbol of gpulua_ptx.h's function for an instruction or a special register (`bfe_u32`, `special_laneid`).
std::string ptx_symbol(const std::string& name);

/// The function's name for a special register, "%tid.x".
std::string special_function(const std::string& name);

/// The function's name for an instruction; for cp.async without its size. Empty for those that need none.
std::string function_of(const PtxInstruction& instruction);

bool has_word(const PtxInstruction& instruction, const std::string& word);
/// True where the instruction's addresses are those of shared memory.
bool is_shared(const PtxInstruction& instruction);
/// True for a float32 result that is held to 0 to 1.
bool is_saturated(const PtxInstruction& instruction);
/// True for an instruction that does nothing on this device: a prefetch, a wait for a copy, which is made at once.
bool is_without_effect(const PtxInstruction& instruction);

/// The symbols of all functions that the assembly needs.
std::vector<std::string> ptx_symbols(const std::string& assembly);

}  // namespace gpulua::cpu
