#pragma once

// The second stage of the compiler: how the threads of a block run on a core.

#include "src/device/cpu/source_module.h"

namespace gpulua::cpu {

/// Turns the kernels into functions that run blocks (abi.h: RunBlocks) and adds the ModuleRecord, which is all that
/// stays visible. Throws ErrorKind::compile for what this engine cannot run.
///
/// This engine runs a block's threads one after another, so it refuses operations between threads.
void build_serial_engine(SourceModule& source);

}  // namespace gpulua::cpu
