#include "src/device/cpu/check/block_check.h"

#include "src/device/cpu/check/diagnostic_text.h"

namespace gpulua::cpu {
namespace {

constexpr unsigned warp_size = 32;

Index3 thread_index(unsigned linear, const Index3& block_size) {
  return {linear % block_size.x, linear / block_size.x % block_size.y, linear / block_size.x / block_size.y};
}

}  // namespace

void BlockCheck::begin(unsigned threads, std::size_t shared_bytes) {
  ++block_;
  threads_.assign(threads, Thread{});
  ahead_ = 0;
  ended_ = 0;
  ended_first_ = -1;
  if (bytes_.size() < shared_bytes) bytes_.resize(shared_bytes);
}

BlockCheck::Stamp BlockCheck::stamp(unsigned thread, const CheckedSite& site) const {
  return {&site, threads_[thread].barriers, threads_[thread].warp_barriers, threads_[thread].tile_barriers, thread};
}

bool BlockCheck::unordered(const Stamp& earlier, unsigned thread, const CheckedSite& site) const {
  if (earlier.site == nullptr || earlier.thread == thread || earlier.barriers != threads_[thread].barriers)
    return false;
  if ((earlier.site->kind & access::atomic) && (site.kind & access::atomic)) return false;
  // Threads of a warp or a tile that have not met equally often have met since, as far as can be told.
  const Thread& own = threads_[thread];
  const bool same_tile = earlier.thread / own.tile_size == thread / own.tile_size;
  if (same_tile && earlier.tile_barriers != own.tile_barriers) return false;
  const bool same_warp = earlier.thread / warp_size == thread / warp_size;
  return !same_warp || earlier.warp_barriers == threads_[thread].warp_barriers;
}

std::string BlockCheck::note_access(unsigned thread, std::size_t first, std::size_t bytes, const CheckedSite& site,
                                    bool same_value, const Index3& block_size) {
  const bool writes = site.kind & access::write;
  const auto complain = [&](const Stamp& earlier) {
    const bool wrote = earlier.site->kind & access::write;
    return "thread " + to_text(thread_index(earlier.thread, block_size)) + (wrote ? " wrote" : " read") + " at " +
           line_text(*earlier.site) + " with no barrier in between";
  };
  for (std::size_t i = first; i < first + bytes; ++i) {
    Byte& byte = bytes_[i];
    if (byte.block != block_) byte = Byte{block_, {}, {}};
    if (!(writes && same_value) && unordered(byte.write, thread, site)) return complain(byte.write);
    for (const Stamp& read : byte.reads)
      if (writes && !same_value && unordered(read, thread, site)) return complain(read);
    if (writes) {
      byte.write = stamp(thread, site);
    } else {
      const bool known = byte.reads[0].site == nullptr || byte.reads[0].thread == thread ||
                         byte.reads[0].barriers != threads_[thread].barriers;
      byte.reads[known ? 0 : 1] = stamp(thread, site);
    }
  }
  return {};
}

std::size_t BlockCheck::count_written(std::size_t first, std::size_t bytes) const {
  std::size_t count = 0;
  while (count < bytes && bytes_[first + count].block == block_ && bytes_[first + count].write.site != nullptr) ++count;
  return count;
}

std::string BlockCheck::note_barrier(unsigned thread, const CheckedSite& site, const Index3& block_size) {
  Thread& own = threads_[thread];
  ++own.barriers;
  own.waits = &site;
  if (own.barriers > threads_[ahead_].barriers) ahead_ = thread;
  if (ended_first_ < 0 || threads_[static_cast<unsigned>(ended_first_)].barriers >= own.barriers) return {};
  return "barrier that not all threads of the block reach: thread " +
         to_text(thread_index(static_cast<unsigned>(ended_first_), block_size)) + " has ended without it";
}

void BlockCheck::note_tile_barrier(unsigned thread, unsigned size) {
  Thread& own = threads_[thread];
  ++own.tile_barriers;
  own.tile_size = size;
}

std::string BlockCheck::note_end(unsigned thread, const Index3& block_size) {
  const Thread& own = threads_[thread];
  ++ended_;
  if (ended_first_ < 0 || own.barriers < threads_[static_cast<unsigned>(ended_first_)].barriers)
    ended_first_ = static_cast<int>(thread);
  if (threads_[ahead_].barriers <= own.barriers) return {};
  return "barrier that not all threads of the block reach: thread " + to_text(thread_index(ahead_, block_size)) +
         " waits there, this one has ended without it";
}

}  // namespace gpulua::cpu
