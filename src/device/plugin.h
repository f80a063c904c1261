#pragma once

// How the library finds a device: a shared object libgpulua-<kind>.so beside it that exports `gpulua_device_plugin`.

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "src/base/config.h"
#include "src/device/cache.h"
#include "src/device/device.h"

namespace gpulua {

/// What a device is given by the context that opens it; all of it outlives the device.
struct DeviceEnvironment {
  const Config& config;
  KernelCache& cache;
  /// Raised by Context::interrupt(), from a signal handler too. Waits look at it, lower it and throw
  /// ErrorKind::interrupted.
  std::atomic<bool>& interrupted;
};

class DevicePlugin {
 public:
  virtual ~DevicePlugin() = default;
  /// "cuda" or "cpu".
  virtual std::string kind() const = 0;
  /// Names of the devices there are, without starting any. Empty where the hardware or its driver is missing;
  /// `why`, then, says what was looked for.
  virtual std::vector<std::string> list(std::string& why) = 0;
  virtual std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) = 0;
};

/// Bumped when anything that crosses the seam changes: a library refuses a plugin of another version.
inline constexpr int plugin_version = 3;

struct DevicePluginEntry {
  int version;
  DevicePlugin* (*create)();  // the caller owns the result
};

}  // namespace gpulua

/// Each plugin defines this one: `extern "C" GPULUA_PLUGIN_EXPORT const gpulua::DevicePluginEntry
/// gpulua_device_plugin`.
#define GPULUA_PLUGIN_EXPORT __attribute__((visibility("default")))
