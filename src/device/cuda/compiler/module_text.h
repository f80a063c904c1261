#pragma once

// Describes a module from the declarations in its PTX: names as in the source, and C++ types.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/device/cuda/compiler/ptx.h"
#include "src/device/kernel.h"

namespace gpulua::cuda {

/// A template that is instantiated with `decltype` of a symbol. The instance's mangled name has the symbol's C++ type.
inline constexpr const char* signature_template = "gpulua_signature";

/// C++ types, by symbol, of the symbols that carry none themselves: "void (int, float*)", "float [4]".
using SymbolTypes = std::map<std::string, std::string>;

/// Name expressions, by symbol, for the symbols whose types the PTX does not tell; empty for ordinary C++ kernels.
std::map<std::string, std::string> untyped_names(const PtxModule& ptx);

/// `spellings`: names that the user gave, with their symbols. A kernel gets an entry for each other spelling of its
/// name.
void describe_module(const PtxModule& ptx, const SymbolTypes& types,
                     const std::vector<std::pair<std::string, std::string>>& spellings, CompiledModule& module);

}  // namespace gpulua::cuda
