#pragma once

#include "src/eval/iteration.h"

namespace gpulua {

/// Chooses tiles for an elementwise kernel with blocks of `threads` threads where they pay: where some operands are
/// consecutive along another axis than the innermost. That axis becomes the axis before the innermost. The accesses of
/// `spec` belong to the iteration.
void choose_tiles(KernelSpec& spec, Iteration& iteration, unsigned threads);

}  // namespace gpulua
