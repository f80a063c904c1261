#pragma once

#include "bindings/kernel_argument.h"
#include "bindings/lua_kernel.h"

namespace gpulua {

/// What kernel{grid=, block=} gives: a checked configuration, to be called with arguments as often as one likes.
/// A call makes no garbage: the arguments' values are written over those of the call before.
class Launch {
 public:
  /// `config` has passed check_launch; its grid may be empty, and then a call launches nothing.
  /// Null stream: the device's current one at each call.
  Launch(KernelRef kernel, const LaunchConfig& config, StreamRef stream);
  /// Warns through the context if the launch was never called: the script has forgotten the second call.
  ~Launch();
  Launch(Launch&&) = default;
  Launch& operator=(Launch&&) = delete;

  /// Launches with the arguments that stand at 2 and above.
  void run(lua_State* L);

  const BoundKernel& kernel() const { return *kernel_; }
  const LaunchConfig& config() const { return config_; }

 private:
  KernelRef kernel_;
  LaunchConfig config_;
  StreamRef stream_;
  ArgumentBlock arguments_;
  bool called_ = false;
};

template <>
struct LuaType<Launch> {
  static constexpr const char* name = "a launch";
};

/// Throws Error for a kernel with an `extern __shared__` array: its launch says how many bytes that has.
void check_dynamic_shared(const BoundKernel& kernel);

/// Reads {grid=, block=, shared=, stream=, cooperative=, cluster=} and checks it against the device's limits.
Launch check_launch_options(lua_State* L, int table, const KernelRef& kernel);

/// Makes the metatable of launches.
void open_launch_type(lua_State* L);

}  // namespace gpulua
