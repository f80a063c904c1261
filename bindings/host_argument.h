#pragma once

// gpu.In, gpu.Out and gpu.InOut: host data that is on the device for the length of one launch.

#include "bindings/argument_rule.h"
#include "bindings/lua.h"
#include "src/array/array.h"

namespace gpulua {

/// What gpu.In(t), gpu.Out(t) and gpu.InOut(t) give. The table or FFI array itself hangs on the userdata's environment.
struct HostArgument {
  const char* name;  // "In", for messages
  bool copied_in, copied_out;
};

template <>
struct LuaType<HostArgument> {
  static constexpr const char* name = "a host argument (gpu.In, gpu.Out, gpu.InOut)";
};

/// A host argument's copy on the device, for one launch.
struct StagedArgument {
  Array array;
  int index;  // of the host argument on the Lua stack
};

/// Puts the host argument at `index` where a kernel on `device` can point to it, as elements that the rule takes.
StagedArgument stage(lua_State* L, int index, const HostArgument& argument, const ArgumentRule& rule,
                     OpenDevice& device);

/// Throws Error for gpu.Out of an empty table: it takes as many results as the table has items.
void check_room(lua_State* L, const StagedArgument& staged);

/// After the launch: fills the host data, where the script asked for that, and waits for it.
void copy_back(lua_State* L, const StagedArgument& staged);

/// Adds In, Out and InOut to the `gpu` table at the top of the stack.
void open_host_arguments(lua_State* L);

}  // namespace gpulua
