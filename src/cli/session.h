#pragma once

#include "src/base/config.h"
#include "src/cli/environment.h"
#include "src/cli/options.h"

namespace gpulua {

/// Runs what the command line asks for in a new Lua state. The result is the exit code: 0, 1 after an error, 130 when
/// Ctrl-C stopped it.
int run_session(const Options& options, const Environment& environment, Config config, int argc, char** argv);

}  // namespace gpulua
