#pragma once

#include <memory>

#include "bindings/lua/lua.h"
#include "src/device/device.h"
#include "src/runtime/context.h"

namespace gpulua {

/// A script's stream object: the stream and its device.
struct StreamHandle {
  std::shared_ptr<OpenDevice> device;
  StreamRef stream;
};

template <>
struct LuaType<StreamHandle> {
  static constexpr const char* name = "a stream";
};

/// A script's event object.
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
