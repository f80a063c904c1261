#pragma once

#include "src/eval/iteration.h"

namespace gpulua {

/// Has an elementwise kernel's blocks, of `threads` threads, work on tiles where that pays: some operands, read along
/// the innermost axis, would be read across memory, and follow another axis. That axis becomes the one before the
/// innermost. `spec`'s accesses are the iteration's.
void choose_tiles(KernelSpec& spec, Iteration& iteration, unsigned threads);

}  // namespace gpulua
