#pragma once

// Looks for races: accesses of two threads of a launch to the same bytes, one of them a write, that nothing orders.
//
// Each element has the stamps of its last write and of two reads by different threads. A stamp names the thread and how
// often it had met others by then (Epoch), so that a later access can tell whether a barrier lies in between. Threads of
// different blocks are ordered by barriers of the grid; and by a fence of the earlier one's block followed by an atomic
// operation, or a volatile or atomic read, of the later one's, of whatever element: that is a guess in favour of the
// kernel.

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "src/device/cpu/abi/check_record.h"
#include "src/device/cpu/check/block_check.h"

namespace gpulua::cpu {

class Races {
  struct Stamp {
    std::uint32_t epoch = 0;
    std::uint32_t place = 0;  // site and lane
  };

 public:
  /// The stamps of an array, a variable or a block's shared memory.
  class Shadow {
   public:
    /// `element_bytes`: of the accesses to expect.
    Shadow(std::size_t bytes, unsigned element_bytes);

   private:
    friend class Races;
    struct Free {
      void operator()(Stamp* stamps) const { std::free(stamps); }
    };
    using Stamps = std::unique_ptr<Stamp, Free>;
    std::size_t cells() const { return (bytes_ + (std::size_t{1} << shift_) - 1) >> shift_; }

    std::size_t bytes_;
    unsigned shift_;         // a cell has the stamps of 1 << shift_ bytes
    Stamps writes_, reads_;  // null: there were none. Two reads a cell
  };

  struct Access {
    BlockCheck& block;
    unsigned thread;
    const CheckedSite& site;
    std::size_t offset, bytes;  // in the shadow's object
    const char* address;
    unsigned long value;  // CheckHooks::access's
    bool in_shared;
  };
  /// The earlier access of a race.
  struct Earlier {
    const CheckedSite* site;
    std::uint32_t block;  // BlockCheck::ordinal()
    unsigned thread;
  };

  /// Starts with a new launch: all that was before is in order.
  void begin();
  /// The shadow of the object that begins at `first`. It is valid until begin().
  Shadow& shadow(const char* first, std::size_t bytes, unsigned element_bytes);
  /// Notes the access. Returns the earlier one if the two are a race.
  std::optional<Earlier> note(Shadow& shadow, const Access& access);
  /// A thread of the block makes its accesses visible.
  void note_fence(BlockCheck& block, unsigned thread);
  /// A thread of the block sees what others made visible.
  void note_acquire(BlockCheck& block) const { block.acquired = time_; }

 private:
  /// A warp's threads between two meetings with others.
  struct Epoch {
    std::uint32_t block, warp;
    Meetings met;
    std::uint32_t fences;  // of the block, by then
    bool operator==(const Epoch&) const = default;
  };

  std::uint32_t epoch_of(BlockCheck& block, unsigned thread);
  const Epoch& epoch(const Stamp& stamp) const { return epochs_[stamp.epoch - first_epoch_]; }
  const CheckedSite& site(const Stamp& stamp) const;
  Stamp stamp(const Access& access);
  /// True if the access that the stamp is of may happen at the same time as the present one.
  bool concurrent(const Stamp& earlier, const Stamp& now, const Access& access) const;
  const Stamp* find_race(const Stamp* write, const Stamp* reads, const Stamp& now, const Access& access) const;
  void keep_read(Stamp* reads, const Stamp& now, const Access& access) const;
  Stamp* allocate(std::size_t count);
  bool make_room(Shadow& shadow, const Access& access);
  void end_epochs();

  std::unordered_map<const char*, Shadow> shadows_;
  std::size_t bytes_ = 0;  // of all stamps
  std::vector<Epoch> epochs_;
  std::uint32_t first_epoch_ = 1;  // the number of epochs_[0]; stamps of earlier ones are void
  std::uint32_t time_ = 0;         // counts fences
  std::unordered_map<std::uint32_t, std::vector<std::uint32_t>> fences_;  // the times of each block's
  std::intptr_t sites_ = 0;  // the address of some site of the launch
};

}  // namespace gpulua::cpu
