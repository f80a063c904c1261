#pragma once

#include <memory>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// OpenBLAS's LAPACK, loaded here. Throws ErrorKind::unavailable, saying what to install, when it is not found.
std::unique_ptr<Solver> open_solver();

}  // namespace gpulua::cpu
