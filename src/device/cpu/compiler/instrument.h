#pragma once

#include "src/device/cpu/ir/source_module.h"

namespace gpulua::cpu {

/// Makes the module a checked one (record.h): every access to memory that is not plainly right calls the checker first,
/// and so does every barrier. Comes before the engine. The scalar engine is the one that runs what comes of it.
void instrument(SourceModule& source);

/// After the engine, which hides all but its own record.
void export_checks(llvm::Module& module);

}  // namespace gpulua::cpu
