#pragma once

#include <memory>

#include "bindings/lua.h"
#include "src/device/device.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A stream as scripts hold it, with the device it belongs to.
struct StreamHandle {
  std::shared_ptr<OpenDevice> device;
  StreamRef stream;
};

template <>
struct LuaType<StreamHandle> {
  static constexpr const char* name = "a stream";
};

/// An event as scripts hold it.
struct EventHandle {
  std::shared_ptr<OpenDevice> device;
  EventRef event;
  bool recorded = false;
};

template <>
struct LuaType<EventHandle> {
  static constexpr const char* name = "an event";
};

}  // namespace gpulua
