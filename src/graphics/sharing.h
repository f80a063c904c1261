#pragma once

#include "src/runtime/open_device.h"

namespace gpulua {

/// Throws Error, with `op` in brackets, for a device that shares no memory with the current OpenGL context.
void check_shares(OpenDevice& device, const char* op);

}  // namespace gpulua
