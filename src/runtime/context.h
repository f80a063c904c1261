#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/config.h"
#include "src/base/default_arithmetic.h"
#include "src/base/error.h"
#include "src/device/plugin.h"
#include "src/device/shared/cache.h"
#include "src/runtime/host.h"
#include "src/runtime/late_releases.h"
#include "src/runtime/open_device.h"
#include "src/runtime/script_rights.h"
#include "src/runtime/stack_budget.h"
#include "src/timeline/ranges.h"
#include "src/timeline/timeline.h"

namespace gpulua {

class NodeObserver;
class TraceFile;

/// An entry of `gpu.devices()`.
struct DeviceListing {
  std::string name;
  std::string kind;
};

/// All state of one script (one Lua state). Contexts share no state, and the library keeps none outside of them.
class Context : public std::enable_shared_from_this<Context> {
 public:
  /// Creates the evaluator for the arrays of one device: `make_evaluator` of eval/pipeline.h.
  using MakeEvaluator = std::shared_ptr<Evaluator> (*)();
  /// set_host() can set a host later. Without a host, no garbage is collected.
  Context(Config config, MakeEvaluator make_evaluator);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Config& config() const { return config_; }
  KernelCache& cache() { return cache_; }
  /// Null: no host. The host outlives the context, or is reset to null first.
  void set_host(Host* host) { host_ = host; }
  Host* host() const { return host_; }

  /// The devices that the plugins beside the library report. Opens no device.
  std::vector<DeviceListing> list_devices();
  /// Opens the device "cuda:0", "cuda" (the first CUDA device) or "cpu", or returns the open device of that name.
  /// Throws ErrorKind::unavailable, with a list of the devices, for another name.
  std::shared_ptr<OpenDevice> device(std::string_view name);
  /// The device of new arrays. The first call opens it.
  const std::shared_ptr<OpenDevice>& current();
  void set_current(std::shared_ptr<OpenDevice> device) { current_ = std::move(device); }
  /// Throws Error for a configured device of an unknown kind, without looking for devices.
  void check_device_name() const;
  const std::vector<std::shared_ptr<OpenDevice>>& open_devices() const { return open_; }

  /// The serial number of the newest array or buffer, and a new one for the next.
  std::uint64_t last_serial() const { return last_serial_; }
  std::uint64_t next_serial() { return ++last_serial_; }

  /// Waits for all work on all devices.
  void synchronize();
  /// Waits for what kernels may still report about the work that was queued, and throws it.
  void settle();

  /// Receives warnings, each a line of text. The creator of the context sets it.
  std::function<void(const std::string& message)> on_warning;
  /// Passes `message` to on_warning, once for each distinct text.
  void warn(const std::string& message);
  /// The same, once for each key: for messages of one subject that differ by numbers.
  void warn(const std::string& message, const std::string& key);

  /// Called when the compiler may have to run for the source, with the script's line ("script.lua:12: "). What it
  /// returns is destroyed when the kernels are there, or cannot be had.
  std::function<std::shared_ptr<void>(const KernelSource& source, const std::string& where)> on_compile;

  /// gpu.progress shows its lines where the standard error is no terminal, too.
  bool shows_progress = false;

  /// Makes waits and long launches throw ErrorKind::interrupted. May be called from a signal handler or another thread.
  void interrupt() noexcept { interrupted_.store(true, std::memory_order_relaxed); }
  std::atomic<bool>& interrupted() { return interrupted_; }
  /// Is called about every 0.1 s of a wait for a device, and may throw, which ends the wait. Empty: nothing is called.
  std::function<void()> while_waiting;

  /// Takes the objects that other threads release.
  LateReleases& late_releases() { return late_releases_; }
  /// The script has ended: nobody calls the library for it any more. Waits for memory that is borrowed from the host
  /// program.
  void end_use() noexcept;

  /// The scope of a call from the host program into the library, on the thread that works with the context. Calls can
  /// nest. Floating-point arithmetic has C's default environment inside, whatever the program has set.
  class Call {
   public:
    explicit Call(Context& context) : calls_(context.calls_) {
      add(1);
      if (context.late_releases_.any()) context.late_releases_.drop();
    }
    ~Call() { add(-1); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    // One thread writes; a signal handler on that thread reads.
    void add(int more) { calls_.store(calls_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }

    std::atomic<int>& calls_;
    DefaultArithmetic arithmetic_;
  };
  /// True inside a Call. For signal handlers.
  bool in_call() const noexcept { return calls_.load(std::memory_order_relaxed) != 0; }

  /// Set before the first script runs.
  ScriptRights rights;
  Spending spending{rights};
  StackBudget stack;
  /// What is recorded for the traces that are being written.
  Timeline timeline;
  Ranges ranges{timeline, plugins_};
  /// The files of the script's traces that run, the innermost last.
  std::vector<std::unique_ptr<TraceFile>> traces;
  /// Synchronises after every launch, so that an error names its own call.
  bool debug = false;
  /// Evaluates each operation when it is built.
  bool eager = false;
  /// Follows how arrays are made, for derivatives (array/node_observer.h); null: nobody asks.
  NodeObserver* observer = nullptr;
  /// Makes implicit waits for the device errors.
  bool strict = false;
  /// The newest error that a script got from the library. Lua's errors are texts; a program that embeds the library
  /// finds the kind here.
  std::optional<Error> last_error;
  /// The dtype of real numbers where nothing says which: float32 or float64, at first the configured one.
  DType default_dtype;
  /// Allow matrix products of float32 by TF32, and of float64 by emulation in fixed-point numbers.
  bool tf32 = false, emulated_float64 = false;

 private:
  std::string default_device();
  std::shared_ptr<OpenDevice> open_device(std::string_view name);

  Config config_;
  MakeEvaluator make_evaluator_;
  KernelCache cache_;
  std::atomic<bool> interrupted_{false};
  std::atomic<int> calls_{0};
  DeviceEnvironment environment_{config_, cache_, interrupted_, while_waiting};
  Host* host_ = nullptr;
  LateReleases late_releases_;
  std::vector<std::unique_ptr<DevicePlugin>> plugins_;
  std::vector<std::shared_ptr<OpenDevice>> open_;
  std::shared_ptr<OpenDevice> current_;
  std::uint64_t last_serial_ = 0;
  std::set<std::string> warnings_;  // already passed to on_warning
};

}  // namespace gpulua
