#pragma once

// The files that a source includes from its own folders.

#include "src/device/kernel.h"

namespace gpulua {

/// Adds to the source's headers, which are text, the files that it includes by name from its folders, and those that
/// these include. Not found are names that a macro gives.
void read_included_headers(KernelSource& source);

}  // namespace gpulua
