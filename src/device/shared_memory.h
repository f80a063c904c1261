#pragma once

// Memory of a device that several processes of one machine use: an optional part of the contract (device.h).

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/device/overwrite.h"

namespace gpulua {

/// Where other processes find a block: by a file in memory, which the process that has allocated the block keeps open.
struct SharedPlace {
  std::int64_t process = 0;
  std::int64_t descriptor = -1;
  std::uint64_t file = 0;  // the file's own number: a descriptor may be another file later

  bool operator==(const SharedPlace&) const = default;
};

/// A block of memory that several processes use, as this process has it. Its destructor gives it up. Precondition: no
/// work of this process uses the block any more. The memory stays as long as a process has the block, at least while
/// the process lives that has allocated it.
class SharedBlock {
 public:
  virtual ~SharedBlock() = default;
  SharedBlock(const SharedBlock&) = delete;
  SharedBlock& operator=(const SharedBlock&) = delete;

  /// Aligned to 256 bytes.
  void* address() const { return address_; }
  const SharedPlace& place() const { return place_; }
  /// What has written beside a block that this process has allocated, since the last call. A device that cannot tell
  /// returns none.
  virtual Overwrite find_overwrite() noexcept { return Overwrite::none; }

 protected:
  SharedBlock() = default;

  void* address_ = nullptr;
  SharedPlace place_;
};

class SharedMemory {
 public:
  virtual ~SharedMemory() = default;
  /// A new block of `bytes` > 0, which any stream may use. Null when there is no room.
  virtual std::shared_ptr<SharedBlock> allocate(std::size_t bytes) = 0;
  /// The block of `bytes` that another process has allocated on the same device. Throws Error where it is there no
  /// longer. `read_only`: this process does not write it.
  virtual std::shared_ptr<SharedBlock> open(const SharedPlace& place, std::size_t bytes, bool read_only) = 0;
};

}  // namespace gpulua
