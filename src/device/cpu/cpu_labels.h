#pragma once

#include <memory>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// Labels on all cores.
std::unique_ptr<Labeller> make_labeller();

}  // namespace gpulua::cpu
