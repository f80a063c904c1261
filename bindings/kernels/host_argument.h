#pragma once

// gpu.In, gpu.Out and gpu.InOut: host data that is copied to the device for one launch.

#include "bindings/kernels/argument_rule.h"
#include "bindings/lua/lua.h"
#include "src/array/array.h"

namespace gpulua {

/// The result of gpu.In(t), gpu.Out(t) and gpu.InOut(t). The userdata's environment holds the table or FFI array.
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

/// Makes an array on `device` for the host argument at `index`, with elements that the rule accepts. Throws Error for
/// host data that the rule does not accept.
StagedArgument stage(lua_State* L, int index, const HostArgument& argument, const ArgumentRule& rule,
                     OpenDevice& device);

/// Throws Error for gpu.Out of an empty table, which has room for no results.
void check_room(lua_State* L, const StagedArgument& staged);

/// Copies the results of an Out or InOut argument to the host data after the launch. Waits.
void copy_back(lua_State* L, const StagedArgument& staged);

/// Adds In, Out and InOut to the `gpu` table at the top of the stack.
void open_host_arguments(lua_State* L);

}  // namespace gpulua
