#pragma once

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// Sparse::count_pair and Sparse::multiply_pair, on all cores.
void count_pair(const SparsePair& pair);
void multiply_pair(const SparsePair& pair);

}  // namespace gpulua::cpu
