#pragma once

// Work on a device that a function queues, recorded to be queued again as a whole: gpu.graph.

#include <array>
#include <functional>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "src/array/node.h"
#include "src/runtime/buffer_observer.h"

namespace gpulua {

/// The function runs twice. The first time its work is done as usual, on a stream of the capture's own: then kernels
/// are compiled and libraries are open. The second time its work is recorded.
///
/// Memory that is allocated during the recording belongs to the capture and keeps its addresses. A part that is freed
/// serves later allocations of the same recording.
class Capture final : private BufferObserver {
 public:
  /// The first run starts. All pending nodes of the device are evaluated.
  explicit Capture(OpenDevice& device);
  ~Capture();

  /// The first run has ended. Evaluates its results, and waits. The second run starts.
  void record(std::span<const Array> results);
  /// The second run has ended. Evaluates its results.
  void finish(std::span<const Array> results);
  /// True when the array lies in the capture's memory.
  bool owns(Node& array) const { return owns(*array.buffer()); }
  /// Ends a run that has failed.
  void abandon() noexcept;
  /// Queues the recorded work.
  void launch(const StreamRef& stream);
  std::size_t kernels() const { return work_->launches.size(); }

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
  void upload_words(const WordBlock& block, const StreamRef& stream) const;

  std::shared_ptr<OpenDevice> device_;
  StreamRef stream_, outer_stream_;
  bool running_ = true, recording_ = false, launched_ = false;
  std::vector<OpenDevice*> others_;

  std::shared_ptr<Blocks> blocks_ = std::make_shared<Blocks>();
  std::unordered_map<const Buffer*, std::shared_ptr<Buffer* const>> made_;  // in the blocks, watched
  std::unordered_map<Buffer*, BufferRef> read_, written_;                   // others
  std::vector<WordBlock> words_;
  std::vector<Array> kept_;  // what is written before each launch
  std::vector<std::function<void(const StreamRef&)>> before_;
  std::shared_ptr<RecordedWork> work_;
};

}  // namespace gpulua
