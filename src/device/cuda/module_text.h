#pragma once

// From what a module's PTX declares to what the library says about it: names as in the source, and C++ types.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "src/device/cuda/ptx.h"
#include "src/device/kernel.h"

namespace gpulua::cuda {

/// The template that `decltype` of a symbol is given to, so that the symbol's C++ type can be read off the result's
/// name.
inline constexpr const char* signature_template = "gpulua_signature";

/// C++ types, by symbol, of what carries none in its symbol: "void (int, float*)", "float [4]".
using SymbolTypes = std::map<std::string, std::string>;

/// Expressions naming the symbols whose types the PTX does not tell, by symbol; empty for the usual C++ kernels.
std::map<std::string, std::string> untyped_names(const PtxModule& ptx);

/// `spellings`: a name that the user gave, and the symbol it stands for. A kernel found by another spelling than its
/// own is listed under that one too.
void describe_module(const PtxModule& ptx, const SymbolTypes& types,
                     const std::vector<std::pair<std::string, std::string>>& spellings, CompiledModule& module);

}  // namespace gpulua::cuda
