#pragma once

#include <memory>

#include "bindings/lua.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A device as scripts hold it.
struct DeviceHandle {
  std::shared_ptr<OpenDevice> device;
};

template <>
struct LuaType<DeviceHandle> {
  static constexpr const char* name = "a device";
};

/// The device that the value at `index` means: a device or its name; the current one for nil or none. Never null.
std::shared_ptr<OpenDevice> check_device(lua_State* L, int index, const char* op);

}  // namespace gpulua
