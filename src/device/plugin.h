#pragma once

// How the library finds devices: a shared object libgpulua-<kind>.so is in its folder and exports
// `gpulua_device_plugin`.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/base/config.h"
#include "src/device/device.h"

namespace gpulua {

class KernelCache;

/// Parts of the context that opens a device. They outlive the device.
struct DeviceEnvironment {
  const Config& config;
  KernelCache& cache;
  /// Context::interrupt() raises it, also from a signal handler. A wait that sees it lowers it and throws
  /// ErrorKind::interrupted.
  std::atomic<bool>& interrupted;
  /// Is called about every 0.1 s of a wait, and may throw; empty: nothing is.
  const std::function<void()>& while_waiting;
};

class DevicePlugin {
 public:
  virtual ~DevicePlugin() = default;
  /// "cuda" or "cpu".
  virtual std::string kind() const = 0;
  /// The names of the devices that are present; starts none. Empty where the hardware or its driver is missing: `why`
  /// then says what is missing.
  virtual std::vector<std::string> list(std::string& why) = 0;
  /// The name of the device that a context of the driver belongs to, the host program's; empty where it is none of this
  /// kind.
  virtual std::string device_of(void* /*native_context*/) { return {}; }
  virtual std::unique_ptr<Device> open(int ordinal, const DeviceEnvironment& environment) = 0;
};

/// Increased with every change of what crosses the seam: the library refuses a plugin of another version.
inline constexpr int plugin_version = 9;

struct DevicePluginEntry {
  int version;
  DevicePlugin* (*create)();  // the caller owns the result
};

}  // namespace gpulua

/// Each plugin defines this one: `extern "C" GPULUA_PLUGIN_EXPORT const gpulua::DevicePluginEntry
/// gpulua_device_plugin`.
#define GPULUA_PLUGIN_EXPORT __attribute__((visibility("default")))
