#pragma once

#include "src/cli/options.h"

namespace gpulua {

/// Runs the command line, without the option, in `count` processes, each a rank of one job. Passes on what they print,
/// with [rank] before each line. The first one that fails ends the others. Returns its exit status, or 0.
int run_ranks(const RanksOption& option, int argc, char** argv);

}  // namespace gpulua
