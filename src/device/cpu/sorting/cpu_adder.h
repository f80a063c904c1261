#pragma once

#include <memory>

#include "src/device/libraries.h"

namespace gpulua::cpu {

/// Adds on all cores.
std::unique_ptr<Adder> make_adder();

}  // namespace gpulua::cpu
