#pragma once

// Starts a run of clang from the precompiled prelude.

#include <clang/Frontend/CompilerInstance.h>

#include "src/device/cpu/front_end/precompiled_prelude.h"

namespace gpulua::cpu {

/// The name by which clang finds the prelude's `header`.
inline constexpr const char* precompiled_prelude_file = "/gpulua/prelude.pch";

/// Call it while the AST has no declarations. Returns false if clang cannot read the prelude.
bool read_prelude(clang::CompilerInstance& compiler, const PrecompiledPrelude& prelude);

}  // namespace gpulua::cpu
