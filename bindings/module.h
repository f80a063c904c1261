#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "bindings/lua.h"
#include "src/array/array.h"
#include "src/device/kernel.h"

namespace gpulua {

/// A module as scripts hold it, with its device. The kernels that a script has asked for are in the environment of its
/// userdata, by name: one Lua object for each.
struct BoundModule {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<Module> module;
  std::shared_ptr<const std::string> source;                  // the text that it was compiled from; null: none
  std::unordered_map<const GlobalEntry*, BufferRef> globals;  // those that a script has asked for
};

template <>
struct LuaType<BoundModule> {
  static constexpr const char* name = "a module";
};

/// A writable array over the memory of a `__constant__` or `__device__` variable, which keeps the module.
Array global_array(BoundModule& module, const GlobalEntry& entry);

}  // namespace gpulua
