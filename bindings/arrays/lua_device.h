#pragma once

#include <memory>

#include "bindings/lua/lua.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A script's device object.
struct DeviceHandle {
  std::shared_ptr<OpenDevice> device;
};

template <>
struct LuaType<DeviceHandle> {
  static constexpr const char* name = "a device";
};

/// Reads the device at `index`: a device or its name; nil or none: the current device. Never null. Throws Error for an
/// unknown name.
std::shared_ptr<OpenDevice> check_device(lua_State* L, int index, const char* op);

}  // namespace gpulua
