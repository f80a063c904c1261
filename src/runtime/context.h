#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "src/array/pending_nodes.h"
#include "src/base/config.h"
#include "src/base/default_arithmetic.h"
#include "src/base/pool_allocator.h"
#include "src/device/cache.h"
#include "src/device/device.h"
#include "src/device/plugin.h"
#include "src/runtime/buffer.h"
#include "src/runtime/host.h"
#include "src/runtime/index_faults.h"
#include "src/runtime/launch_log.h"
#include "src/runtime/memory_account.h"
#include "src/runtime/pinned.h"
#include "src/runtime/profile.h"

namespace gpulua {

class Context;
class PlanCache;

/// A device in use by one context: the device itself, its current stream, and the books kept on it.
class OpenDevice : public std::enable_shared_from_this<OpenDevice> {
 public:
  OpenDevice(Context& context, std::unique_ptr<Device> device);
  ~OpenDevice();

  Device& device() const { return *device_; }
  const DeviceInfo& info() const { return device_->info(); }
  const std::string& name() const { return device_->info().name; }
  Context& context() const { return context_; }
  MemoryAccount& memory() { return memory_; }
  LaunchLog& launches() { return launches_; }
  PendingNodes& pending() { return pending_; }
  IndexFaults& index_faults() { return index_faults_; }
  PlanCache& plans() { return *plans_; }
  BlockPool& nodes() { return *nodes_; }

  /// The stream that work goes to unless it names another.
  const StreamRef& stream() const { return stream_; }
  /// Null: the device's first stream again.
  void set_stream(StreamRef stream) { stream_ = stream ? std::move(stream) : first_stream_; }

  /// `bytes` of device memory on the current stream. Collects and retries when there is no room, then throws
  /// ErrorKind::memory with the live bytes and who holds most of them.
  void* allocate(std::size_t bytes);
  /// One more stream of the device, that Context::synchronize() waits for too.
  StreamRef create_stream();

  /// Waits for `stream`; a failure of its work is thrown with the launches that it can come from.
  void synchronize(Stream& stream);
  void synchronize(Event& event);
  /// Waits for all streams.
  void synchronize();
  /// Device memory to host memory, once what is queued on the current stream is done. Fails as synchronize() does.
  void download(void* host, const void* memory, std::size_t bytes);
  /// The pinned memory of this device that `memory` lies in, or null.
  PinnedMemory* find_pinned(const void* memory) const;
  /// The library's own kernel of that key: the one in the text that `emit` gives, compiled when it is first asked for.
  const std::shared_ptr<Kernel>& kernel(const std::string& key, const std::function<std::string()>& emit);
  /// Queues the kernel on `stream` and notes it; in debug mode waits for it. `bytes`: what it must move at least, for
  /// profiles.
  void launch(const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, void** arguments,
              const StreamRef& stream, double bytes = 0);
  /// Where something has written past the end of the buffer's memory, the next launch or wait is an error that says so.
  void check_end(const Buffer& buffer) noexcept;
  /// Passes the kernel's warning on, with the script's line.
  void warn_of(const KernelEntry& kernel);
  /// Launches are recorded from now on. Recordings nest.
  void start_profile() { profiles_.emplace_back(*device_); }
  /// Waits, ends the recording started last and gives what ran; nothing when there is none.
  std::vector<Profile::Row> finish_profile();

 private:
  friend class PinnedMemory;

  void* try_allocate(std::size_t bytes);
  /// Runs `wait`, which waits for all of `stream` if it is not null and finds out about failed work; the error then
  /// names the launches that it can come from. Then indices that the work found out of range are an error.
  void checked(const Stream* stream, const std::function<void()>& wait);
  /// Throws what check_end() has found.
  void throw_damage();
  /// check_end() for all live buffers, and throws.
  void check_all_ends();

  Context& context_;
  std::unique_ptr<Device> device_;
  StreamRef first_stream_;
  StreamRef stream_;
  std::vector<std::weak_ptr<Stream>> streams_;  // beside the first
  MemoryAccount memory_;
  LaunchLog launches_;
  std::vector<Profile> profiles_;  // under way, each within those before it
  PendingNodes pending_;
  std::string damage_;
  IndexFaults index_faults_;
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels_;
  std::unique_ptr<PlanCache> plans_;
  BlockPool::Owner nodes_ = BlockPool::make();
  std::map<const void*, PinnedMemory*, std::less<>> pinned_;  // all there is, by its first byte
};

/// What `gpu.devices()` lists.
struct DeviceListing {
  std::string name;
  std::string kind;
};

/// Everything one script (one Lua state) works with. No state is shared between contexts, and there is none outside of
/// them.
class Context {
 public:
  /// `host` may be set later, by set_host; until then nothing collects.
  explicit Context(Config config);
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
