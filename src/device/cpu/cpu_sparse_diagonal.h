#pragma once

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// As Sparse::take_diagonal, at once.
void take_diagonal(const SparseDiagonal& problem);

}  // namespace gpulua::cpu
