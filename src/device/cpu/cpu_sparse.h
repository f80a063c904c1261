#pragma once

#include <memory>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// Multiplies on all cores.
std::unique_ptr<Sparse> make_sparse();

}  // namespace gpulua::cpu
