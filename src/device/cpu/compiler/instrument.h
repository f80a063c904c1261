#pragma once

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// Instruments the module for the checker (check_record.h): every memory access that is not proven right calls it
/// first, and so does every barrier. Call it before the engine; only the scalar engine accepts the result.
void instrument(SourceModule& source);

/// Exports the checker's record. Call it after the engine, which hides all symbols but its own record.
void export_checks(llvm::Module& module);

}  // namespace gpulua::cpu
