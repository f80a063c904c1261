#pragma once

// The symbols by which the parts of a linked module use each other, and what is wrong with them. Linkers name one part
// at best, and NVIDIA's gives a module without a word when two parts define a symbol or see it with different types.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace gpulua {

/// A function or variable that other parts can see.
struct LinkSymbol {
  std::string name;
  bool is_defined = true;   // in this part, or else used by it
  bool is_shared = false;   // several parts may define it, as instances of templates; the linker keeps one
  std::string type = {};    // of a function, as the part sees it; empty: not known
  std::uint64_t bytes = 0;  // of a variable; 0: not known
};

struct LinkPart {
  std::string name;  // "part 2 (script.lua:12)"
  std::vector<LinkSymbol> symbols = {};
};

/// Throws ErrorKind::compile, which names the symbol and both parts, for a symbol that two parts define, or that has
/// another type or size in one part than in another.
void check_link(std::span<const LinkPart> parts);

/// Throws ErrorKind::compile with the symbols that parts use and none defines, and the parts, as far as `is_missing`
/// names them.
void refuse_missing(std::span<const LinkPart> parts, std::string_view log);

}  // namespace gpulua
