#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "src/device/device.h"
#include "src/runtime/buffer_observer.h"
#include "src/runtime/exposed_memory.h"
#include "src/runtime/index_faults.h"
#include "src/runtime/launch_log.h"
#include "src/runtime/lent_memory.h"
#include "src/runtime/memory_account.h"
#include "src/runtime/object_pool.h"
#include "src/timeline/device_recorder.h"

namespace gpulua {

class Buffer;
class Context;
class Evaluator;
class PinnedMemory;

/// Recorded work of a device, and what is kept about it.
struct RecordedWork {
  struct Launch {
    std::shared_ptr<Kernel> kernel;
    Origin origin;
  };
  const char* op;                // the function that records, by its name in errors
  std::vector<Launch> launches;  // the graph's kernels live as long
  double bytes = 0;              // of memory traffic
  std::string kernels;           // how often each is launched, a line for each
  std::shared_ptr<Graph> graph;
};

/// A device that one context uses: the device itself, its streams, and the records kept about it (memory, launches,
/// profiles).
class OpenDevice : public std::enable_shared_from_this<OpenDevice> {
 public:
  /// `evaluator` evaluates the arrays of this device.
  OpenDevice(Context& context, std::unique_ptr<Device> device, std::shared_ptr<Evaluator> evaluator);
  ~OpenDevice();

  Device& device() const { return *device_; }
  const DeviceInfo& info() const { return device_->info(); }
  const std::string& name() const { return device_->info().name; }
  Context& context() const { return context_; }
  /// "limit 8 GB", of the device's memory, and what has chosen it where it is not the device's own.
  std::string limit_text() const;
  MemoryAccount& memory() { return memory_; }
  /// Memory for the buffers, not for their elements.
  ObjectPool& buffers() { return buffers_; }
  LaunchLog& launches() { return launches_; }
  IndexFaults& index_faults() { return index_faults_; }
  LentMemory& lent() { return lent_; }
  ExposedMemory& exposed() { return exposed_; }
  const ExposedMemory& exposed() const { return exposed_; }
  /// Declared in array/evaluator.h. This folder only stores it with the device.
  Evaluator& evaluator() const { return *evaluator_; }

  /// The current stream, which takes all work that names no other stream.
  const StreamRef& stream() const { return stream_; }
  /// Makes `stream` the current one; null: the device's first stream.
  void set_stream(StreamRef stream) { stream_ = stream ? std::move(stream) : first_stream_; }

  /// Is told of each use of the device's buffers; null: nobody is.
  BufferObserver* buffer_observer() const { return buffer_observer_; }
  void set_buffer_observer(BufferObserver* observer) { buffer_observer_ = observer; }

  /// Allocates `bytes` of device memory on the current stream. When memory is short, it collects garbage and tries
  /// again, then throws ErrorKind::memory with the live bytes and the arrays that hold most of them.
  void* allocate(std::size_t bytes);
  /// The same for memory that other processes can open. The caller has made room in the account. Precondition: the
  /// device has such memory.
  std::shared_ptr<SharedBlock> allocate_shared(std::size_t bytes);
  /// Before `bytes` that the account is to count and another part allocates. Collects garbage when they do not fit into
  /// the limit, then throws as allocate() does.
  void make_room(std::size_t bytes);
  /// Releases the handles that are no longer reachable, if there is a host.
  void collect();
  /// Before one more node, where there are many. Collects garbage when they fill the memory limit, then throws
  /// ErrorKind::memory.
  void make_room_for_node();
  /// Creates a stream. Context::synchronize() waits for it too.
  StreamRef create_stream();

  /// Waits for `stream`. Throws the failure of its work, with a list of the launches that can have caused it.
  void synchronize(Stream& stream);
  void synchronize(Event& event);
  /// Waits for all streams.
  void synchronize();
  /// Copies device memory to host memory after the work queued on the current stream. Waits, and throws as
  /// synchronize() does.
  void download(void* host, const void* memory, std::size_t bytes);
  /// The pinned memory of this device that contains the address `memory`, or null.
  PinnedMemory* find_pinned(const void* memory) const;
  /// The library's own kernel with the key, or null when it has not been compiled yet.
  std::shared_ptr<Kernel> find_kernel(const std::string& key) const;
  /// Device::compile, as the context counts it and tells the program.
  std::shared_ptr<Module> compile(const KernelSource& source);
  /// Compiles the kernel in `text` and stores it under the key.
  std::shared_ptr<Kernel> compile_kernel(const std::string& key, std::string text);
  /// Queues the kernel on `stream` and logs the launch; in debug mode waits for it. `bytes`: the least memory traffic
  /// of the kernel, for profiles; 0: not known.
  void launch(const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, void** arguments,
              const StreamRef& stream, double bytes = 0);
  /// The same for a kernel of a script's, which may write beside the buffers that it is given to write. Where the
  /// device has done the work by now and can tell, that is an error. `advice`: what the error adds about a write before
  /// a buffer's start.
  void launch(const std::shared_ptr<Kernel>& kernel, const LaunchConfig& config, void** arguments,
              const StreamRef& stream, const std::vector<const Buffer*>& written, const char* advice);
  /// Runs `work`, which queues a collective's work on `stream`, and logs it under that name.
  void run_collective(const char* name, const StreamRef& stream, double bytes, const std::function<void()>& work);
  /// Runs work(), which the host does itself, and adds it to the timeline.
  template <class Work>
  void run_on_host(TimelineEntry::Kind kind, const char* name, double bytes, const Work& work) {
    Timeline& timeline = recorder_.timeline();
    if (!timeline.on()) [[likely]] {
      work();
      return;
    }
    TimelineEntry entry = entry_of(kind, timeline.name(name), bytes, origin());
    entry.host_begin = host_now();
    work();
    entry.host_end = host_now();
    timeline.add(std::move(entry));
  }
  /// Runs work(), in which a library of the device's queues work on `stream`, under that name in traces.
  template <class Work>
  void run_library(const char* name, Stream& stream, const Work& work) {
    run_recorded(TimelineEntry::Kind::library, name, 0, stream, work);
  }
  /// Device's methods of these names, and their traces.
  void upload(void* to, const void* host, std::size_t bytes, Stream& stream);
  void queue_download(void* host, const void* from, std::size_t bytes, Stream& stream);
  void copy(void* to, const void* from, std::size_t bytes, Stream& stream);
  void copy_rows(const RowsToCopy& rows, Stream& stream);
  void fill(void* memory, const void* value, std::size_t item_bytes, std::size_t count, Stream& stream);
  bool copy_from(void* to, Stream& stream, OpenDevice& source, const void* from, Stream& source_stream,
                 std::size_t bytes);
  void wait(Stream& stream, Event& event);
  /// From now on the current stream records its work for `op` and does none of it. It has no work left. Until
  /// end_capture, waits and downloads throw Error.
  void begin_capture(const char* op);
  std::shared_ptr<RecordedWork> end_capture();
  bool captures() const { return recorded_ != nullptr; }
  /// Queues the recorded work on `stream`, and logs its launches. With `go_on`: as often as Device::launch_while does;
  /// false where the device cannot.
  bool launch(const RecordedWork& work, const StreamRef& stream, const void* go_on = nullptr);
  /// Throws Error while the current stream records its work: `what` cannot be recorded.
  void check_not_captured(const char* what) const;
  /// Checks the memory beside the buffer. After an overwrite, the next launch or wait throws an error about it.
  void check_ends(const Buffer& buffer) noexcept;
  /// Passes the kernel's warning to the context, with the script's line.
  void warn_of(const KernelEntry& kernel);
  /// The program's wait for a stream on the way to something else: nobody learns what its work has reported.
  void wait_for(Stream& stream);
  DeviceRecorder& recorder() { return recorder_; }
  /// The ends of all work are measured. Called at a trace's end.
  void measure_ends();
  /// Starts to record launches. Recordings nest.
  void start_profile();
  /// Waits, ends the innermost recording and returns its kernels; returns no rows when nothing is recorded.
  std::vector<Profile::Row> finish_profile();

  /// True while launches are recorded, or another stream than the first is the current one.
  bool is_in_bracket() const { return recorder_.profiles() || stream_ != first_stream_; }
  /// Ends both: nobody will ask for the rows.
  void end_brackets() noexcept {
    recorder_.drop_profiles();
    stream_ = first_stream_;
  }

 private:
  friend class PinnedMemory;

  /// The script's current line.
  Origin origin() const;
  /// Counts the kernels that the library compiles for each line, and warns once of a line with many.
  void count_kernel();
  void* try_allocate(std::size_t bytes);
  [[noreturn]] void refuse_memory(std::size_t bytes) const;
  bool records() const { return recorder_.on() && !recorded_; }
  static TimelineEntry entry_of(TimelineEntry::Kind kind, NameRef name, double bytes, const Origin& origin);
  /// Runs work(), which queues work on `stream`, and records it where somebody wants that.
  template <class Work>
  void run_recorded(TimelineEntry::Kind kind, const char* name, double bytes, Stream& stream, const Work& work) {
    if (!records()) [[likely]] {
      work();
      return;
    }
    DeviceRecorder::Work recording{entry_of(kind, recorder_.timeline().name(name), bytes, origin())};
    recorder_.begin(recording, stream);
    work();
    recorder_.end(recording, stream);
  }
  /// Runs wait(), which waits for `stream` if it is not null, and adds it to the timeline.
  template <class Wait>
  void run_wait(const char* name, Stream* stream, const Wait& wait) {
    if (stream && records()) recorder_.measure_end(*stream);
    run_on_host(TimelineEntry::Kind::wait, name, 0, wait);
    if (recorder_.timeline().on() && !recorded_) [[unlikely]]
      recorder_.calibrate_again();
  }
  /// Adds what the compiler has done since `compilations` was the cache's number of compilations. Returns when it was
  /// done; 0: it has done nothing.
  std::int64_t note_late_compilation(std::uint64_t compilations, const std::string& kernel);
  /// Runs `wait`, which waits for all work of `stream` if it is not null, and adds to its error the launches that can
  /// have caused it. Afterwards reads what the work has reported.
  void read_after(const Stream* stream, const std::function<void()>& wait);
  /// The same, and throws Error for what was reported, as indices out of range.
  void checked(const Stream* stream, const std::function<void()>& wait);
  /// Throws Error for the overwrite that check_ends() has found, if there was one.
  void throw_damage();
  /// "past the end of an array of 4000 bytes", for the first of the buffers beside which something has written since the last
  /// call; empty where nothing has.
  std::string text_of_overwrites(const std::vector<const Buffer*>& buffers, const char* advice);
  /// What has written beside the buffer since the last call.
  Overwrite overwrite_of(const Buffer& buffer) noexcept;
  /// Runs check_ends() for all live buffers and throws Error for an overwrite.
  void check_all_ends();

  Context& context_;
  std::unique_ptr<Device> device_;
  std::shared_ptr<Evaluator> evaluator_;
  StreamRef first_stream_;
  StreamRef stream_;
  BufferObserver* buffer_observer_ = nullptr;
  std::vector<std::weak_ptr<Stream>> streams_;  // without the first
  MemoryAccount memory_;
  ObjectPool buffers_;
  LaunchLog launches_;
  DeviceRecorder recorder_;
  std::shared_ptr<RecordedWork> recorded_;  // null: the current stream records nothing
  std::string damage_;
  IndexFaults index_faults_;
  LentMemory lent_;
  ExposedMemory exposed_;
  std::unordered_map<std::string, std::shared_ptr<Kernel>> kernels_;
  std::map<std::pair<const char*, int>, int> kernels_of_lines_;
  bool has_warned_ = false;                                   // of a line with many kernels
  std::map<const void*, PinnedMemory*, std::less<>> pinned_;  // all pinned memory, by first address
};

}  // namespace gpulua
