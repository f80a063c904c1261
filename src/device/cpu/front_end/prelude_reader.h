#pragma once

// Starts a run of clang from the precompiled prelude.

#include <clang/Frontend/CompilerInstance.h>

#include "src/device/cpu/front_end/precompiled_prelude.h"

namespace gpulua::cpu {

/// Where clang is to find the prelude's `header`.
inline constexpr const char* precompiled_prelude_file = "/gpulua/prelude.pch";

/// To be called when there is an AST still without declarations. False where clang cannot read the prelude.
bool read_prelude(clang::CompilerInstance& compiler, const PrecompiledPrelude& prelude);

}  // namespace gpulua::cpu
