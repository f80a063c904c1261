#pragma once

#include <utility>

#include "bindings/kernels/kernel_argument.h"
#include "bindings/kernels/lua_kernel.h"

namespace gpulua {

/// Warns through the context, when it is destroyed, that a launch was made and never called, because the script forgot
/// the call with arguments.
class CallReminder {
 public:
  CallReminder(Context& context, std::string kernel);
  CallReminder(CallReminder&& other) noexcept
      : context_(std::exchange(other.context_, nullptr)), origin_(other.origin_), kernel_(std::move(other.kernel_)) {}
  CallReminder& operator=(CallReminder&&) = delete;
  ~CallReminder();

  /// The launch was called: no warning is needed.
  void called() { context_ = nullptr; }
  /// The host program has dropped the launch. Warns now of one that it has made itself; Lua may still have a script's.
  void dropped_by_host() noexcept {
    if (!origin_.chunk) remind();
  }

 private:
  void remind() noexcept;

  Context* context_;
  Origin origin_;  // the line that made the launch
  std::string kernel_;
};

/// The result of kernel{grid=, block=}: a checked configuration that can be called with arguments repeatedly. A call
/// makes no garbage, because its argument values overwrite those of the previous call.
class Launch {
 public:
  /// `config` has passed check_launch. If its grid is empty, a call launches nothing. Null `stream`: each call uses the
  /// device's current stream.
  Launch(KernelRef kernel, const LaunchConfig& config, StreamRef stream);

  /// Each call begins with this, whether or not its arguments turn out to fit.
  void expect_run() {
    reminder_.called();
    written_.clear();
  }

  void dropped_by_host() noexcept { reminder_.dropped_by_host(); }

  /// Launches with the arguments at stack index 2 and above. Throws Error for arguments that do not fit the signature.
  void run(lua_State* L);

  /// For callers that know the arguments' values: writes those into the block, then starts the launch on the stream.
  ArgumentBlock& arguments() { return arguments_; }
  StreamRef stream() const { return stream_ ? stream_ : kernel_->device->stream(); }
  bool is_empty() const { return config_.grid.x == 0; }
  void start(const StreamRef& stream);
  /// The address of an array that the kernel is given to write, which lives until start() has returned.
  void* write(Node& array, const StreamRef& stream) {
    void* const address = array.write(stream);
    written_.push_back(array.buffer().get());
    return address;
  }

  const BoundKernel& kernel() const { return *kernel_; }
  const LaunchConfig& config() const { return config_; }

 private:
  KernelRef kernel_;
  LaunchConfig config_;
  StreamRef stream_;
  ArgumentBlock arguments_;
  std::vector<const Buffer*> written_;  // what the call's kernel is given to write
  CallReminder reminder_;
};

template <>
struct LuaType<Launch> {
  static constexpr const char* name = "a launch";
};

/// Throws Error for a kernel with an `extern __shared__` array, whose launch must give the number of bytes.
void check_dynamic_shared(const BoundKernel& kernel);

/// Reads {grid=, block=, shared=, stream=, cooperative=, cluster=} and checks it against the device's limits.
Launch check_launch_options(lua_State* L, int table, const KernelRef& kernel);

/// The argument of kernel:over(n) at `index`, for the kernel of that name.
std::int64_t check_items(lua_State* L, int index, const std::string& kernel);
/// A launch with a thread for each item, in blocks of the size that the kernel's occupancy suggests.
Launch launch_over(const KernelRef& kernel, std::int64_t items);

/// Whether it is the call of a launch.
bool is_call_of_launch(lua_CFunction function);

/// Creates the metatable of launches.
void open_launch_type(lua_State* L);

}  // namespace gpulua
