#include "src/device/cpu/check/block_check.h"

#include <algorithm>
#include <cstdio>

#include "src/device/cpu/check/diagnostic_text.h"

namespace gpulua::cpu {

Index3 thread_index(unsigned linear, const Index3& block_size) {
  return {linear % block_size.x, linear / block_size.x % block_size.y, linear / block_size.x / block_size.y};
}

void BlockCheck::begin(std::uint32_t ordinal, unsigned threads, std::size_t shared_bytes) {
  ++block_;
  ordinal_ = ordinal;
  threads_.assign(threads, Thread{});
  epochs.assign(threads, 0);
  of_warps.assign((threads + warp_size - 1) / warp_size, 0);
  fences = acquired = 0;
  ahead_ = 0;
  ended_ = 0;
  shuffles_ = false;
  ended_first_ = -1;
  if (written_.size() < shared_bytes) written_.resize(shared_bytes);
}

bool BlockCheck::apart(const Meetings& then, unsigned other, unsigned thread) const {
  const Thread& own = threads_[thread];
  if (other == thread || then.block != own.met.block) return false;
  // Threads of a warp or a tile that have not met equally often have met since, as far as can be told.
  const bool same_tile = other / own.tile_size == thread / own.tile_size;
  if (same_tile && then.tile != own.met.tile) return false;
  const bool same_warp = other / warp_size == thread / warp_size;
  return !same_warp || then.warp == own.met.warp;
}

void BlockCheck::mark_written(std::size_t first, std::size_t bytes) {
  std::fill_n(written_.begin() + static_cast<std::ptrdiff_t>(first), bytes, block_);
}

std::size_t BlockCheck::count_written(std::size_t first, std::size_t bytes) const {
  std::size_t count = 0;
  while (count < bytes && written_[first + count] == block_) ++count;
  return count;
}

std::string BlockCheck::note_barrier(unsigned thread, const CheckedSite& site, const Index3& block_size) {
  Thread& own = threads_[thread];
  epochs[thread] = 0;
  own.waits = &site;
  own.shuffle = nullptr;
  constexpr const char* complaint = "barrier that not all threads of the block reach: thread ";
  const Thread& ahead = threads_[ahead_];
  if (++own.met.block > ahead.met.block) {
    ahead_ = thread;
  } else if (own.met.block == ahead.met.block && ahead.waits != &site) {
    return std::string(complaint) + to_text(thread_index(ahead_, block_size)) + " waits at another one" +
           place_text(*ahead.waits);
  }
  if (ended_first_ < 0 || threads_[static_cast<unsigned>(ended_first_)].met.block >= own.met.block) return {};
  return std::string(complaint) + to_text(thread_index(static_cast<unsigned>(ended_first_), block_size)) +
         " has ended without it";
}

void BlockCheck::note_warp_barrier(unsigned thread) {
  ++threads_[thread].met.warp;
  threads_[thread].shuffle = nullptr;
  epochs[thread] = 0;
}

std::string BlockCheck::note_shuffle(unsigned thread, unsigned mask, unsigned source, const CheckedSite& site,
                                     const Index3& block_size) {
  note_warp_barrier(thread);
  Thread& own = threads_[thread];
  own.with_mask = own.mask == mask ? own.with_mask + 1 : 1;
  own.shuffle = &site;
  shuffles_ = true;
  own.mask = mask;
  own.source = source;
  const unsigned other = thread / warp_size * warp_size + source;
  if ((mask >> source & 1) == 0) {
    char text[32];
    std::snprintf(text, sizeof text, "0x%08x", mask);
    return "shuffle from lane " + std::to_string(source) + ", which is not in its mask " + text;
  }
  if (other >= threads_.size())
    return "shuffle from lane " + std::to_string(source) + ", which the block does not have";
  if (threads_[other].ended)
    return "shuffle from lane " + std::to_string(source) + ": thread " + to_text(thread_index(other, block_size)) +
           " has ended without it";
  return {};
}

const CheckedSite* BlockCheck::missed_shuffle(unsigned thread) const {
  if (!shuffles_) return nullptr;
  const Thread& own = threads_[thread];
  const unsigned first = thread / warp_size * warp_size;
  const unsigned end = std::min<unsigned>(first + warp_size, static_cast<unsigned>(threads_.size()));
  for (unsigned other = first; other < end; ++other) {
    const Thread& lane = threads_[other];
    if (lane.shuffle == nullptr || lane.ended || lane.source != thread - first) continue;
    // Lanes that have met by the same mask equally often have met there, as far as can be told.
    if (own.met.warp < lane.met.warp && (own.mask != lane.mask || own.with_mask < lane.with_mask)) return lane.shuffle;
  }
  return nullptr;
}

void BlockCheck::note_tile_barrier(unsigned thread, unsigned size) {
  Thread& own = threads_[thread];
  ++own.met.tile;
  own.tile_size = size;
  epochs[thread] = 0;
}

std::string BlockCheck::note_end(unsigned thread, const Index3& block_size) {
  Thread& own = threads_[thread];
  own.ended = true;
  ++ended_;
  if (ended_first_ < 0 || own.met.block < threads_[static_cast<unsigned>(ended_first_)].met.block)
    ended_first_ = static_cast<int>(thread);
  if (threads_[ahead_].met.block <= own.met.block) return {};
  return "barrier that not all threads of the block reach: thread " + to_text(thread_index(ahead_, block_size)) +
         " waits there, this one has ended without it";
}

}  // namespace gpulua::cpu
