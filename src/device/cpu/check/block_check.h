#pragma once

// Checks the threads of one block against each other: accesses to shared memory that no barrier orders, and barriers
// that some threads do not reach.

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/cpu/abi/check_record.h"

namespace gpulua::cpu {

class BlockCheck {
 public:
  /// Starts with a new block. Its threads are numbered with x running fastest.
  void begin(unsigned threads, std::size_t shared_bytes);

  /// Notes an access to the bytes [first, first + bytes) of the block's shared memory, static and dynamic. Returns a
  /// message if the access is a race, else "". `same_value`: a write that changes nothing.
  std::string note_access(unsigned thread, std::size_t first, std::size_t bytes, const CheckedSite& site,
                          bool same_value, const Index3& block_size);
  /// The number of bytes, counted from the first up to one that the block has not written.
  std::size_t count_written(std::size_t first, std::size_t bytes) const;

  /// The thread arrives at a barrier of its block, warp, or tile of `size` threads, or at its end. Return a message if
  /// that is a mistake, else "".
  std::string note_barrier(unsigned thread, const CheckedSite& site, const Index3& block_size);
  void note_warp_barrier(unsigned thread) { ++threads_[thread].warp_barriers; }
  void note_tile_barrier(unsigned thread, unsigned size);
  std::string note_end(unsigned thread, const Index3& block_size);
  /// All of the block's threads have ended.
  bool done() const { return ended_ == threads_.size(); }
  /// The barrier at which the thread that has passed the most barriers waits; null: it has met none.
  const CheckedSite* last_barrier() const { return threads_[ahead_].waits; }

 private:
  struct Thread {
    std::uint32_t barriers = 0, warp_barriers = 0, tile_barriers = 0;
    std::uint32_t tile_size = 1;         // of the last tile whose barrier it was at
    const CheckedSite* waits = nullptr;  // the last barrier
  };
  /// An access of one thread, between two of its barriers.
  struct Stamp {
    const CheckedSite* site = nullptr;  // null: none
    std::uint32_t barriers = 0, warp_barriers = 0, tile_barriers = 0;
    std::uint32_t thread = 0;
  };
  struct Byte {
    std::uint32_t block = 0;  // that made these accesses; void if it is not the present one
    Stamp write;
    Stamp reads[2];  // the last ones of two different threads
  };

  bool unordered(const Stamp& earlier, unsigned thread, const CheckedSite& site) const;
  Stamp stamp(unsigned thread, const CheckedSite& site) const;

  std::uint32_t block_ = 0;
  std::vector<Thread> threads_;
  unsigned ahead_ = 0;    // the thread that has passed the most barriers
  unsigned ended_ = 0;    // threads that have ended
  int ended_first_ = -1;  // the one of them that has passed the fewest barriers
  std::vector<Byte> bytes_;
};

}  // namespace gpulua::cpu
