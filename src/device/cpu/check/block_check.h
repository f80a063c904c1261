#pragma once

// How far the threads of one block have come: the barriers that order their accesses, and those that some threads do not
// reach.

#include <cstdint>
#include <string>
#include <vector>

#include "src/device/cpu/abi/check_record.h"

namespace gpulua::cpu {

/// How often a thread has been at barriers.
struct Meetings {
  std::uint32_t block = 0, warp = 0, tile = 0, grid = 0;
  bool operator==(const Meetings&) const = default;
};

class BlockCheck {
 public:
  static constexpr unsigned warp_size = 32;

  /// Starts with a new block. Its threads are numbered with x running fastest. `ordinal`: counts the blocks of a launch.
  void begin(std::uint32_t ordinal, unsigned threads, std::size_t shared_bytes);

  std::uint32_t ordinal() const { return ordinal_; }

  /// Bytes of the block's shared memory, static and dynamic: notes that they are written; and the number of them,
  /// counted up to one that the block has not written.
  void mark_written(std::size_t first, std::size_t bytes);
  std::size_t count_written(std::size_t first, std::size_t bytes) const;

  /// The thread arrives at a barrier of its block or grid, of its warp, or of its tile of `size` threads, or at its end.
  /// Return a message if that is a mistake, else "".
  std::string note_barrier(unsigned thread, const CheckedSite& site, const Index3& block_size);
  void note_grid_barrier(unsigned thread) { ++threads_[thread].met.grid; }
  void note_warp_barrier(unsigned thread);
  /// The thread is about to read a lane's value in a shuffle. Returns a message if that lane takes no part, else "".
  std::string note_shuffle(unsigned thread, unsigned mask, unsigned source, const CheckedSite& site,
                           const Index3& block_size);
  void note_tile_barrier(unsigned thread, unsigned size);
  std::string note_end(unsigned thread, const Index3& block_size);
  /// The shuffle that waits for a lane which ends without it; null: none does.
  const CheckedSite* missed_shuffle(unsigned thread) const;
  /// All of the block's threads have ended.
  bool done() const { return ended_ == threads_.size(); }
  /// The barrier at which the thread that has passed the most barriers waits; null: it has met none.
  const CheckedSite* last_barrier() const { return threads_[ahead_].waits; }

  const Meetings& met(unsigned thread) const { return threads_[thread].met; }
  /// True if no barrier lies between the other thread's access, `then`, and what the thread does now.
  bool apart(const Meetings& then, unsigned other, unsigned thread) const;

  // ---- GlobalRaces' ----
  std::uint32_t fences = 0;             // that the block's threads have executed
  std::uint32_t acquired = 0;           // the time at which one of them last saw what others had made visible
  std::vector<std::uint32_t> epochs;    // of each thread; 0: not known
  std::vector<std::uint32_t> of_warps;  // the last one of each warp

 private:
  struct Thread {
    Meetings met;
    std::uint32_t tile_size = 1;         // of the last tile whose barrier it was at
    const CheckedSite* waits = nullptr;  // the last barrier
    const CheckedSite* shuffle = nullptr;  // the one that it waits at; null: it has met others since
    std::uint32_t mask = 0, with_mask = 0;  // of the last shuffles: their number since the mask changed
    std::uint32_t source = 0;               // the lane that the last one reads
    bool ended = false;
  };

  std::uint32_t block_ = 0;
  std::uint32_t ordinal_ = 0;
  std::vector<Thread> threads_;
  unsigned ahead_ = 0;    // the thread that has passed the most barriers
  unsigned ended_ = 0;    // threads that have ended
  bool shuffles_ = false;
  int ended_first_ = -1;  // the one of them that has passed the fewest barriers
  std::vector<std::uint32_t> written_;  // for each byte of shared memory, the last block that wrote it
};

/// The thread of that number in its block.
Index3 thread_index(unsigned linear, const Index3& block_size);

}  // namespace gpulua::cpu
