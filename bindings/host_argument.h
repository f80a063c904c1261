#pragma once

// gpu.In, gpu.Out and gpu.InOut: host data that is on the device for the length of one launch.

#include "bindings/lua.h"
#include "src/core/array.h"
#include "src/device/signature.h"

namespace gpulua {

/// What gpu.In(t), gpu.Out(t) and gpu.InOut(t) give. The table or FFI array itself hangs on the userdata's environment.
struct HostArgument {
  bool copied_in = false, copied_out = false;
};

template <>
struct LuaType<HostArgument> {
  static constexpr const char* name = "a host argument (gpu.In, gpu.Out, gpu.InOut)";
};

/// A host argument's copy on the device, for one launch.
struct StagedArgument {
  Array array;
  int index;  // of the host argument on the Lua stack
  bool copied_out;
};

/// Puts the host argument at `index` where the kernel's parameter can point to it, as elements of the parameter's type.
StagedArgument stage(lua_State* L, int index, const HostArgument& argument, const Parameter& parameter,
                     OpenDevice& device, const char* op);

/// After the launch: fills the host data where it is to be, and waits for it.
void copy_back(lua_State* L, const StagedArgument& staged, const char* op);

/// Adds In, Out and InOut to the `gpu` table at the top of the stack.
void open_host_arguments(lua_State* L);

}  // namespace gpulua
