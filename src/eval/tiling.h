#pragma once

#include "src/eval/iteration.h"

namespace gpulua {

/// Makes a tiled kernel with blocks of `threads` threads of an elementwise one where that pays: where some operands are
/// consecutive along another axis than the innermost. That axis becomes the axis before the innermost. The accesses of
/// `spec` belong to the iteration.
void choose_tiles(KernelSpec& spec, Iteration& iteration, unsigned threads);

}  // namespace gpulua
