#pragma once

#include <memory>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// OpenBLAS, loaded here. Throws ErrorKind::unavailable, saying what to install, when it is not found.
std::unique_ptr<Blas> open_blas();

}  // namespace gpulua::cpu
