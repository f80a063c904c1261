#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "src/runtime/buffer_ref.h"

namespace gpulua {

/// The live buffers of one device whose addresses the host program has: it may write there between two calls, of which
/// no pending node would know.
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
  /// Those that begin at the address.
  std::vector<BufferRef> find(const void* memory) const;

 private:
  std::multimap<const void*, Buffer*> buffers_;  // by first address
  std::int64_t reads_ = 0;                       // the sum of their pending_reads()
};

}  // namespace gpulua
