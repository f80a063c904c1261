#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "src/device/shared_memory.h"
#include "src/runtime/buffer_ref.h"

namespace gpulua {

/// The live buffers of one device whose addresses the host program or another process has: these may write there
/// between two calls. No pending node would know of such a write.
class ExposedMemory {
 public:
  /// Called by Buffer.
  void add(Buffer& buffer);
  void remove(Buffer& buffer) noexcept;
  void add_reads(std::int64_t count) { reads_ += count; }

  /// True when a pending node reads one of them.
  bool is_read() const { return reads_ > 0; }
  /// Those that pending nodes read.
  std::vector<BufferRef> read() const;
  /// Those of them that several processes use.
  std::vector<BufferRef> read_and_shared() const;
  /// The one that lies in the block of that place; null: none does.
  BufferRef find(const SharedPlace& place) const;
  /// True when several processes use one of them.
  bool any_shared() const;
  /// Those that begin at the address.
  std::vector<BufferRef> find(const void* memory) const;

 private:
  std::multimap<const void*, Buffer*> buffers_;  // by first address
  std::int64_t reads_ = 0;                       // the sum of their pending_reads()
};

}  // namespace gpulua
