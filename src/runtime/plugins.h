#pragma once

#include <memory>
#include <vector>

#include "src/device/plugin.h"

namespace gpulua {

/// The device plugins in the folder of this program or library, or where an installation has them. CUDA comes before
/// the CPU: the first plugin with a device gives the default device. A plugin's library is loaded on first use. A
/// plugin that fails to load, or has another version, lists no device and gives the reason.
std::vector<std::unique_ptr<DevicePlugin>> load_plugins();

}  // namespace gpulua
