#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "src/device/device.h"
#include "src/runtime/host.h"
#include "src/runtime/index_faults.h"

namespace gpulua {

class OpenDevice;

/// A run of device memory, shared by the arrays that view it.
///
/// It knows which streams use it, so that work queued on different streams keeps its order: a read waits for the last
/// write, a write for every use, a free for both. With one stream this costs two comparisons.
class Buffer {
 public:
  /// Takes over `memory`, allocated on `home`.
  Buffer(std::shared_ptr<OpenDevice> device, void* memory, std::size_t bytes, StreamRef home, Origin origin);
  /// Memory of someone else, kept by `owner`.
  Buffer(std::shared_ptr<OpenDevice> device, void* memory, std::size_t bytes, std::shared_ptr<void> owner);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  OpenDevice& device() const { return *device_; }
  const std::shared_ptr<OpenDevice>& device_ref() const { return device_; }
  std::size_t bytes() const { return bytes_; }
  const Origin& origin() const { return origin_; }
  /// Greater for a buffer made later, among those of one context.
  std::uint64_t serial() const { return serial_; }
  bool freed() const { return freed_; }
  /// Where the memory is; no work on it is put in order. Null for an empty buffer.
  void* address() const { return memory_; }

  /// The memory, for work about to be queued on `stream` that only reads it. Null for an empty buffer.
  /// Throws Error when it was freed, and when a check that its elements depend on has failed.
  void* read(const StreamRef& stream) {
    if (guarded_ || stream != writer_) [[unlikely]]
      order_read(stream);
    return memory_;
  }
  /// The same, for work that writes it.
  void* write(const StreamRef& stream) {
    if (guarded_ || stream != writer_ || !readers_.empty()) [[unlikely]]
      order_write(stream);
    return memory_;
  }
  /// Its elements are right if the check passes; or those of `source` are, which they were computed from.
  void depend_on(CheckRef check);
  void depend_on(const Buffer& source);
  /// All elements are about to be written, from what does not depend on them.
  void forget_checks() {
    checks_.clear();
    guarded_ = freed_;
  }
  /// True when it was freed, or depends on checks of which some have not passed, as far as was looked.
  bool guarded() const { return guarded_; }

  /// How many inputs of pending nodes are in this buffer: they are to be evaluated before it is written.
  std::int64_t pending_reads() const { return pending_reads_; }
  void add_pending_reads(std::int64_t count) { pending_reads_ += count; }
  /// Gives the memory back now; arrays that still view it raise when they are used.
  void free() noexcept;

 private:
  friend class MemoryAccount;

  /// Throws Error when there is nothing to read.
  void check_live();
  void order_read(const StreamRef& stream);
  void order_write(const StreamRef& stream);
  /// `stream` waits for what is queued on `other` so far.
  void wait_for(const StreamRef& other, const StreamRef& stream) const;

  std::shared_ptr<OpenDevice> device_;
  void* memory_;  // null when bytes_ is 0
  std::size_t bytes_;
  bool freed_ = false;
  bool guarded_ = false;  // freed, or there are checks: uses take a closer look
  std::int64_t pending_reads_ = 0;
  std::shared_ptr<void> owner_;     // set: the memory is not ours to free
  StreamRef writer_;                // the stream of the last write; at first, the one it was allocated on
  std::vector<StreamRef> readers_;  // streams other than writer_ that read since the last write
  std::vector<CheckRef> checks_;
  Origin origin_;
  std::uint64_t serial_;
  Buffer* next_ = nullptr;  // in the account's list
  Buffer* previous_ = nullptr;
};
using BufferRef = std::shared_ptr<Buffer>;

}  // namespace gpulua
