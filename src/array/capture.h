#pragma once

// Work on a device that a function queues, recorded to be queued again as a whole: gpu.graph and gpu.loop.

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "src/array/node.h"
#include "src/base/scalar.h"
#include "src/runtime/buffer_observer.h"

namespace gpulua {

/// The function runs twice. The first time its work is done as usual, on a stream of the capture's own: then kernels
/// are compiled and libraries are open. The second time its work is recorded.
///
/// Memory that is allocated during the recording belongs to the capture and keeps its addresses. A part that is freed
/// serves later allocations of the same recording.
class Capture final : private BufferObserver {
 public:
  /// The first run starts. `op`: the function that records, by its name in errors. `stream`: for both runs; a new one,
  /// or that of an earlier capture which was launched on the current stream.
  Capture(OpenDevice& device, const char* op, StreamRef stream);
  ~Capture();

  /// The serial number of the newest array at the start of the first run.
  std::uint64_t start() const { return start_; }
  /// The first run has ended. Evaluates its results, and waits. The second run starts.
  void record(std::span<const Array> results);
  /// The second run has ended. Evaluates its results, which each launch writes. Of the run's other arrays, those that
  /// the script keeps have no elements, as `why` says, before the first launch.
  void finish(std::span<const Array> results, const char* why);
  /// The second run has ended, and no array of it has elements, as `why` says: its work writes to shared() arrays
  /// alone.
  void finish(const char* why);
  /// Lua has given a number to the work.
  void note_number(const Scalar& value);
  /// A call of the function has ended. Where it has done what the call before did, with another number, the place of
  /// that number and both: a launch would repeat the last one. Empty otherwise.
  std::string find_changed_number();
  /// True when the array lies in the capture's memory.
  bool owns(Node& array) const { return owns(*array.buffer()); }
  /// Ends a run that has failed.
  void abandon() noexcept;
  /// Queues the recorded work. With `go_on`: as often as Device::launch_while does; false where the device cannot.
  bool launch(const StreamRef& stream, const void* go_on = nullptr);
  /// True when the host writes something before each launch.
  bool has_host_work() const { return !words_.empty() || !before_.empty(); }
  std::size_t kernels() const { return work_->launches.size(); }

  /// The memory of the row-major array, which each launch writes, as an array of the second run.
  Array shared(const Array& array);
  /// True when the second run has read the shared() array.
  bool has_read(Node& array) const { return read_own_.contains(array.buffer().get()); }

  /// Memory of the capture during the second run, else an ordinary buffer.
  BufferRef new_buffer(std::size_t bytes);
  /// Two numbers, uint64[2], that `next` gives: now, and in each launch those of that time.
  Array words(std::function<std::array<std::uint64_t, 2>()> next);
  /// Calls `work` now, and before the recorded work of each launch. It writes to `target` on the stream that it gets.
  void before_launch(const Array& target, std::function<void(const StreamRef&)> work);

 private:
  /// A part of the capture's memory.
  struct Block {
    BufferRef memory;
    bool used;
  };
  using Blocks = std::vector<Block>;
  /// A number that Lua has given to the work.
  struct Number {
    Origin origin;
    Scalar value;
  };
  /// Words of launches that are uploaded together.
  struct WordBlock {
    Array array;
    std::vector<std::function<std::array<std::uint64_t, 2>()>> next;
  };

  bool reads(Buffer& buffer) override;
  bool writes(Buffer& buffer) override;
  void frees(Buffer& buffer) override;
  bool owns(const Buffer& buffer) const;
  void end();
  void fail_others(std::span<const Array> results, const char* why);
  void upload_words(const WordBlock& block, const StreamRef& stream) const;

  std::shared_ptr<OpenDevice> device_;
  const char* op_;
  std::uint64_t start_;
  StreamRef stream_, outer_stream_;
  StreamRef launched_on_;  // null before the first launch
  bool running_ = true, recording_ = false;
  std::vector<OpenDevice*> others_;

  std::shared_ptr<Blocks> blocks_ = std::make_shared<Blocks>();
  std::unordered_map<const Buffer*, std::shared_ptr<Buffer* const>> made_;  // in the blocks, watched
  std::unordered_set<const Buffer*> read_own_;                              // in the blocks, or shared
  std::unordered_map<Buffer*, BufferRef> read_, written_;                   // others
  std::vector<WordBlock> words_;
  // Of the running call of the function, and of the call before.
  std::vector<Number> numbers_, last_numbers_;
  std::vector<Array> kept_;  // what is written before each launch
  std::vector<std::function<void(const StreamRef&)>> before_;
  std::shared_ptr<RecordedWork> work_;
};

}  // namespace gpulua
