#pragma once

#include <string_view>
#include <vector>

#include "src/device/cuda/compiler/ptx.h"

namespace gpulua::cuda {

/// Throws Error for a cubin or fatbin that is cut off: the driver, which is given no length, would read past its end.
void check_binary(std::string_view image);

/// True for a cubin that is linked already: it has no symbols for others.
bool is_linked_cubin(std::string_view image);

/// The `__constant__` and `__device__` variables in a cubin's symbol table, which no function of the driver lists.
/// Empty for a fatbin, and for bytes that are no well-formed cubin.
std::vector<PtxGlobal> read_cubin_globals(std::string_view cubin);
/// What other modules can see of a relocatable cubin, or are to define. Empty for other bytes.
std::vector<LinkSymbol> read_cubin_symbols(std::string_view cubin);

}  // namespace gpulua::cuda
