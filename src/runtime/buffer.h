#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "src/device/device.h"
#include "src/runtime/buffer_ref.h"
#include "src/runtime/host.h"
#include "src/runtime/index_faults.h"
#include "src/runtime/open_device.h"

namespace gpulua {

/// One allocation of device memory, shared by the arrays that view it.
///
/// A buffer records the streams that use it and orders work on different streams: a read waits for the last write, a
/// write waits for every read and write, and so does a free. With one stream this costs two comparisons.
class Buffer {
 public:
  /// Takes ownership of `memory`, which was allocated on stream `home`.
  Buffer(OpenDevice& device, void* memory, std::size_t bytes, StreamRef home, Origin origin);
  /// Wraps memory that `owner` owns and keeps alive.
  Buffer(OpenDevice& device, void* memory, std::size_t bytes, std::shared_ptr<void> owner);
  /// Wraps memory that is borrowed from the host program. The owner is released when all work that uses it is done.
  struct Lent {
    std::shared_ptr<void> owner;
    bool read_only = false;
    std::size_t unused = 0;         // bytes at the beginning that are no element's
    SharedBlock* shared = nullptr;  // what the owner keeps, where it is a block of another process's
  };
  Buffer(OpenDevice& device, void* memory, std::size_t bytes, Lent lent);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  OpenDevice& device() const { return *device_; }
  std::size_t bytes() const { return bytes_; }
  const Origin& origin() const { return origin_; }
  /// Increases with the order of creation among the arrays and buffers of one context. A buffer is as old as the array
  /// that it was made for, which may have been pending for a while.
  std::uint64_t serial() const { return serial_; }
  void set_serial(std::uint64_t serial) { serial_ = serial; }
  bool freed() const { return freed_; }
  /// What has happened to the memory of a buffer that was freed: "the array was freed, ...", and where.
  std::string why_freed() const;
  /// Points to the buffer, and to null once the buffer is gone.
  std::shared_ptr<Buffer* const> watch();
  /// True of memory that the device has allocated for the buffer.
  bool has_own_memory() const { return memory_ != nullptr && !lent_ && !owner_; }
  /// The memory's address, without ordering any work. Null for an empty buffer.
  void* address() const { return memory_; }

  /// The memory, for work that is queued next on `stream` and only reads it. Null for an empty buffer. Throws Error
  /// when the buffer was freed, or when a check that its elements depend on has failed.
  void* read(const StreamRef& stream) {
    if (guarded_ || stream != writer_ || device_->buffer_observer()) [[unlikely]]
      order_read(stream);
    return memory_;
  }
  /// The same, for work that writes the memory.
  void* write(const StreamRef& stream) {
    ++writes_;
    if (guarded_ || stream != writer_ || !readers_.empty() || device_->buffer_observer()) [[unlikely]]
      order_write(stream);
    return memory_;
  }
  /// How often write() was called.
  std::uint64_t writes() const { return writes_; }
  /// Makes the elements valid only if the check passes; with `source`, only if the elements of `source` are valid, from
  /// which they were computed.
  void depend_on(CheckRef check);
  void depend_on(const Buffer& source);
  /// Drops the checks: all elements are about to be overwritten with values that do not depend on them.
  void forget_checks() {
    checks_.clear();
    guarded_ = freed_ || read_only_;
  }
  /// A write throws Error.
  bool read_only() const { return read_only_; }
  /// True when the buffer was freed or is read-only, or when it depends on checks that are not known to have passed.
  bool guarded() const { return guarded_; }

  /// The number of inputs of pending nodes that lie in this buffer. Those nodes are evaluated before a write.
  std::int64_t pending_reads() const { return pending_reads_; }
  void add_pending_reads(std::int64_t count) {
    pending_reads_ += count;
    if (exposed_) [[unlikely]]
      device_->exposed().add_reads(count);
  }
  /// The host program has the address from now on, and may write there between two calls.
  void expose();
  /// A script has the address from now on: what holds the buffer keeps it.
  void fix() { fixed_ = true; }
  /// Recorded work has the address: the recording keeps the buffer.
  void note_recorded() { recorded_ = true; }
  /// True when one holder alone knows the memory, so that it may take other memory instead.
  bool is_private() const { return handles_ == 1 && !owner_ && !fixed_ && !exposed_ && !read_only_ && !freed_; }
  /// Where several processes use the memory; else null.
  SharedBlock* shared() const { return shared_; }
  /// True when other processes can open the memory, which is ours.
  bool is_shared_by_us() const { return shared_ && !lent_; }
  /// Who keeps the buffer from taking other memory, for messages; null: nobody does.
  const char* find_address_holder() const;
  /// Copies the elements into the block, which is the buffer's memory from then on. What works on the elements next
  /// works on `stream`. Precondition: find_address_holder() is null, and the block has the buffer's bytes.
  void move_to(std::shared_ptr<SharedBlock> block, const StreamRef& stream);
  /// Frees the memory now. A later use of an array that views it throws Error: `why`, a literal, says what has
  /// happened.
  void free(const char* why = freed_by_script);

 private:
  friend class MemoryAccount;

  static constexpr const char* freed_by_script =
      "the array was freed, by free or at the end of a gpu.scope, which keeps what its function returns";

  void release() noexcept;

  /// Throws Error when the buffer was freed or a check has failed.
  void check_live();
  void order_read(const StreamRef& stream);
  void order_write(const StreamRef& stream);
  /// Makes `stream` wait for the work queued on `other` so far.
  void wait_for(const StreamRef& other, const StreamRef& stream) const;

  OpenDevice* device_;  // lives as long as its pool has blocks in use
  void* memory_;        // null when bytes_ is 0
  std::size_t bytes_;
  std::size_t unused_ = 0;  // Lent::unused
  const char* why_freed_ = freed_by_script;
  Origin freed_at_;
  bool freed_ = false;
  bool guarded_ = false;  // freed, read-only, or with checks: read() and write() take the slow path
  bool lent_ = false;
  bool exposed_ = false;   // the host program has the address; true of borrowed memory
  bool fixed_ = false;     // a script has the address
  bool recorded_ = false;  // recorded work has the address
  bool read_only_ = false;
  std::int64_t pending_reads_ = 0;
  std::uint64_t writes_ = 0;
  std::shared_ptr<void> owner_;     // set: the owner frees the memory
  SharedBlock* shared_ = nullptr;   // kept by owner_
  StreamRef writer_;                // the stream of the last write; at first, the stream of the allocation
  std::vector<StreamRef> readers_;  // streams other than writer_ with reads since the last write
  std::vector<CheckRef> checks_;
  Origin origin_;
  std::uint64_t serial_;
  Buffer* next_ = nullptr;  // in the account's list
  Buffer* previous_ = nullptr;
  std::uint32_t handles_ = 0;
  std::shared_ptr<Buffer*> watch_;

  friend void intrusive_ptr_add_ref(Buffer* buffer) noexcept { ++buffer->handles_; }
  friend void intrusive_ptr_release(Buffer* buffer) noexcept {
    if (--buffer->handles_ > 0) return;
    ObjectPool& pool = buffer->device_->buffers();
    buffer->~Buffer();
    pool.release(buffer);
  }
};

/// A buffer in the memory of its device's buffers, made with these arguments.
template <class... Arguments>
BufferRef make_buffer(OpenDevice& device, Arguments&&... arguments) {
  void* block = device.buffers().allocate(sizeof(Buffer), device);
  try {
    return new (block) Buffer(device, std::forward<Arguments>(arguments)...);
  } catch (...) {
    device.buffers().release(block);
    throw;
  }
}

}  // namespace gpulua
