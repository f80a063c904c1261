#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "bindings/lua/lua.h"
#include "src/array/array.h"
#include "src/device/kernel.h"

namespace gpulua {

/// A script's module object. The userdata's environment holds the kernel objects that the script has used, by name, so
/// that a name always gives the same object.
struct BoundModule {
  std::shared_ptr<OpenDevice> device;
  std::shared_ptr<Module> module;
  std::shared_ptr<const std::string> source;                    // its source text; null: loaded from compiled code
  bool is_library = false;                                      // the source is the library's own
  std::unordered_map<const GlobalEntry*, BufferRef> globals{};  // buffers of the variables that the script has used
};

template <>
struct LuaType<BoundModule> {
  static constexpr const char* name = "a module";
};

}  // namespace gpulua
