#pragma once

// What nvcc takes and clang does not, as clang reads it for this machine.

#include <string>

namespace gpulua::cpu {

/// Of inline assembly: constraints of PTX's registers ("=h", "f"), which this machine has others for; "%laneid" with one
/// percent sign; operands without a comma between them. And `__shared__ alignas(16)`. Lines keep their numbers.
void rewrite_for_clang(std::string& text);

}  // namespace gpulua::cpu
