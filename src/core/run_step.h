#pragma once

#include <string>

#include "src/core/plan.h"

namespace gpulua {

/// Runs the step on the current stream of its device: outputs without a target get their elements.
void run(const Step& step, OpenDevice& device);

/// As run, for a step that compresses: waits, and gives the number of elements written.
std::int64_t compress(const Step& step, OpenDevice& device);

/// The source of the kernel that run() would launch; empty where it needs none.
std::string source(const Step& step, OpenDevice& device);

}  // namespace gpulua
