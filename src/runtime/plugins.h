#pragma once

#include <memory>
#include <vector>

#include "src/device/plugin.h"

namespace gpulua {

/// The device plugins that stand beside this library (or in ../lib/gpulua, when installed), in the order in which a
/// default device is chosen: CUDA before the CPU. Each is loaded when it is first asked; one that does not load, or is
/// of another version, lists no device and says why.
std::vector<std::unique_ptr<DevicePlugin>> load_plugins();

}  // namespace gpulua
