#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "src/device/device.h"
#include "src/runtime/index_faults.h"
#include "src/runtime/launch_log.h"
#include "src/runtime/memory_account.h"
#include "src/runtime/profile.h"

namespace gpulua {

class Buffer;
class Context;
class Evaluator;
class PinnedMemory;

/// A device in use by one context: the device itself, its current stream, and the books kept on it.
class OpenDevice : public std::enable_shared_from_this<OpenDevice> {
 public:
  /// `evaluator` evaluates the arrays of this device.
  OpenDevice(Context& context, std::unique_ptr<Device> device, std::shared_ptr<Evaluator> evaluator);
  ~OpenDevice();

  Device& device() const { return *device_; }
  const DeviceInfo& info() const { return device_->info(); }
  const std::string& name() const { return device_->info().name; }
  Context& context() const { return context_; }
  MemoryAccount& memory() { return memory_; }
  LaunchLog& launches() { return launches_; }
  IndexFaults& index_faults() { return index_faults_; }
  /// array/evaluator.h declares it. This room only keeps it with the device.
  Evaluator& evaluator() const { return *evaluator_; }

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
  /// The library's own kernel with that key, or null when it was not compiled yet.
  std::shared_ptr<Kernel> find_kernel(const std::string& key) const;
  /// Compiles the kernel in `text` and keeps it under the key.
  std::shared_ptr<Kernel> compile_kernel(const std::string& key, std::string text);
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
  std::shared_ptr<Evaluator> evaluator_;
  StreamRef first_stream_;
  StreamRef stream_;
  std::vector<std::weak_ptr<Stream>> streams_;  // beside the first
  MemoryAccount memory_;
  LaunchLog launches_;
  std::vector<Profile> profiles_;  // under way, each within those before it
  std::string damage_;
  IndexFaults index_faults_;
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels_;
  std::map<const void*, PinnedMemory*, std::less<>> pinned_;  // all there is, by its first byte
};

}  // namespace gpulua
