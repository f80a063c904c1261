#pragma once

// Reads a module's PTX text: its kernels with the layout of their parameters, and its variables. Reads declarations at
// module level and skips code.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "src/device/shared/link_symbols.h"

namespace gpulua::cuda {

struct PtxParameter {
  std::string type;        // ".f32"; ".b8" for values that are passed as bytes
  std::uint32_t size = 0;  // bytes
  std::uint32_t alignment = 0;
  bool array = false;  // declared as `name[n]`: a struct or union
};

/// A `.entry`.
struct PtxEntry {
  std::string symbol;
  std::vector<PtxParameter> parameters;
};

enum class PtxSpace : std::uint8_t { global, constant };

/// A variable of the module's own; `.extern` ones are left out.
struct PtxGlobal {
  PtxSpace space = PtxSpace::global;
  std::string symbol;
  std::size_t bytes = 0;
};

struct PtxModule {
  std::vector<PtxEntry> entries;
  std::vector<PtxGlobal> globals;
  std::vector<LinkSymbol> symbols = {};  // what other modules can see, or are to define
};

/// Throws Error for text that ends in the middle of a declaration.
PtxModule parse_ptx(std::string_view text);

}  // namespace gpulua::cuda
