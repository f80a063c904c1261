#pragma once

#include "bindings/kernels/module.h"

namespace gpulua {

/// A writable array over the memory of a `__constant__` or `__device__` variable. It keeps the module alive.
Array global_array(BoundModule& module, const GlobalEntry& entry);

}  // namespace gpulua
