#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/base/config.h"
#include "src/base/default_arithmetic.h"
#include "src/device/cache.h"
#include "src/device/plugin.h"
#include "src/runtime/host.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// What `gpu.devices()` lists.
struct DeviceListing {
  std::string name;
  std::string kind;
};

/// Everything one script (one Lua state) works with. No state is shared between contexts, and there is none outside of
/// them.
class Context {
 public:
  /// Makes the evaluator of one device's arrays: `make_evaluator` of eval/pipeline.h.
  using MakeEvaluator = std::shared_ptr<Evaluator> (*)();
  /// A host may be set later by set_host. Until then nothing collects.
  Context(Config config, MakeEvaluator make_evaluator);
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  const Config& config() const { return config_; }
  KernelCache& cache() { return cache_; }
  /// Null: none. The host outlives the context's use of it.
  void set_host(Host* host) { host_ = host; }
  Host* host() const { return host_; }

  /// The devices that the plugins found beside the library report. Starts none.
  std::vector<DeviceListing> list_devices();
  /// Opens "cuda:0", "cuda" (its first) or "cpu", or gives the one already open.
  /// Throws ErrorKind::unavailable, with the devices there are, for another name.
  std::shared_ptr<OpenDevice> device(std::string_view name);
  /// The device that new arrays go to; opens it when it is first asked for.
  const std::shared_ptr<OpenDevice>& current();
  void set_current(std::shared_ptr<OpenDevice> device) { current_ = std::move(device); }
  const std::vector<std::shared_ptr<OpenDevice>>& open_devices() const { return open_; }

  /// The serial number of the buffer made last, and of the one made now.
  std::uint64_t last_buffer() const { return last_buffer_; }
  std::uint64_t next_buffer() { return ++last_buffer_; }

  /// Waits for all work on all devices.
  void synchronize();

  /// Is told what a user should know of though nothing failed, a line of text; set by who made the context.
  std::function<void(const std::string& message)> on_warning;
  /// Tells it, each message once.
  void warn(const std::string& message);

  /// Makes waits and long launches throw ErrorKind::interrupted. May be called from a signal handler or another thread.
  void interrupt() noexcept { interrupted_.store(true, std::memory_order_relaxed); }
  std::atomic<bool>& interrupted() { return interrupted_; }

  /// A call from outside into the library, on the thread that works with the context. Calls may nest. Whatever the
  /// program has set for its own arithmetic, the library's is C's default.
  class Call {
   public:
    explicit Call(Context& context) : calls_(context.calls_) { add(1); }
    ~Call() { add(-1); }
    Call(const Call&) = delete;
    Call& operator=(const Call&) = delete;

   private:
    // One thread writes; a signal handler on it reads.
    void add(int more) { calls_.store(calls_.load(std::memory_order_relaxed) + more, std::memory_order_relaxed); }

    std::atomic<int>& calls_;
    DefaultArithmetic arithmetic_;
  };
  /// True inside a Call. For signal handlers.
  bool in_call() const noexcept { return calls_.load(std::memory_order_relaxed) != 0; }

  /// Synchronise after every launch, so that an error names its own call.
  bool debug = false;
  /// Evaluate each operation as it is built.
  bool eager = false;
  /// Refuse to wait for the device where a script does not ask for it.
  bool strict = false;

 private:
  std::string default_device();

  Config config_;
  MakeEvaluator make_evaluator_;
  KernelCache cache_;
  std::atomic<bool> interrupted_{false};
  std::atomic<int> calls_{0};
  DeviceEnvironment environment_{config_, cache_, interrupted_};
  Host* host_ = nullptr;
  std::vector<std::unique_ptr<DevicePlugin>> plugins_;
  std::vector<std::shared_ptr<OpenDevice>> open_;
  std::shared_ptr<OpenDevice> current_;
  std::uint64_t last_buffer_ = 0;
  std::set<std::string> warnings_;  // told
};

}  // namespace gpulua
