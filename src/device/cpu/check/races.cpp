#include "src/device/cpu/check/races.h"

#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <tuple>

namespace gpulua::cpu {
namespace {

constexpr unsigned most_granule = 8;
constexpr std::size_t most_epochs = std::size_t{1} << 25;
/// Stamps that stay for the next launch.
constexpr std::size_t most_kept_bytes = std::size_t{256} << 20;

/// Accesses to global memory that the hardware makes whole, in some order: two of them are no race.
constexpr unsigned strong = access::atomic | access::is_volatile;

/// What all stamps may take: a quarter of the machine's memory. Arrays beyond it are not checked.
std::size_t most_bytes() {
  static const std::size_t bytes =
      static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) / 4 * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

/// The exponent of the largest power of two that divides the number, at most that of most_granule.
unsigned granule_shift(std::size_t number) {
  return static_cast<unsigned>(std::countr_zero(number | most_granule));
}

constexpr unsigned warp_lanes = BlockCheck::warp_size - 1, lane_bits = std::countr_zero(BlockCheck::warp_size);

}  // namespace

// ---- shadows --------------------------------------------------------------------------------------------------------

Races::Shadow::Shadow(std::size_t bytes, unsigned element_bytes)
    : bytes_(bytes), shift_(granule_shift(element_bytes)) {}

Races::Shadow& Races::shadow(const char* first, std::size_t bytes, unsigned element_bytes) {
  auto [entry, is_new] = shadows_.try_emplace(first, bytes, element_bytes);
  if (entry->second.bytes_ != bytes) entry->second = Shadow(bytes, element_bytes);  // an array of an earlier launch
  return entry->second;
}

Races::Stamp* Races::allocate(std::size_t count) {
  if (bytes_ + count * sizeof(Stamp) > most_bytes()) return nullptr;
  // The system gives the memory as it is touched.
  auto* stamps = static_cast<Stamp*>(std::calloc(count, sizeof(Stamp)));
  if (stamps != nullptr) bytes_ += count * sizeof(Stamp);
  return stamps;
}

/// Gets the shadow ready to note the access. False where there is no memory for it.
bool Races::make_room(Shadow& shadow, const Access& access) {
  const bool writes = access.site.kind & access::write;
  const unsigned shift = granule_shift(access.offset | access.bytes);
  if (shift < shadow.shift_) {
    Shadow fine(shadow.bytes_, 1u << shift);
    for (const auto& [coarse, stamps, number] :
         {std::tuple(&shadow.writes_, &fine.writes_, 1u), std::tuple(&shadow.reads_, &fine.reads_, 2u)}) {
      if (!*coarse) continue;
      stamps->reset(allocate(fine.cells() * number));
      if (!*stamps) return false;
      for (std::size_t cell = 0; cell < fine.cells(); ++cell)
        std::copy_n(coarse->get() + (cell >> (shadow.shift_ - shift)) * number, number, stamps->get() + cell * number);
      bytes_ -= shadow.cells() * number * sizeof(Stamp);
    }
    shadow = std::move(fine);
  }
  Shadow::Stamps& needed = writes ? shadow.writes_ : shadow.reads_;
  if (!needed) needed.reset(allocate(shadow.cells() * (writes ? 1 : 2)));
  return needed != nullptr;
}

// ---- the order of accesses ------------------------------------------------------------------------------------------

void Races::begin() {
  end_epochs();
  time_ = 0;
  fences_.clear();
  sites_ = 0;
  if (bytes_ < most_kept_bytes && first_epoch_ < most_epochs * 16) return;
  shadows_.clear();
  bytes_ = 0;
  first_epoch_ = 1;
}

/// Makes all stamps void.
void Races::end_epochs() {
  first_epoch_ += static_cast<std::uint32_t>(epochs_.size());
  epochs_.clear();
}

std::uint32_t Races::epoch_of(BlockCheck& block, unsigned thread) {
  std::uint32_t& own = block.epochs[thread];
  if (own >= first_epoch_) return own;
  std::uint32_t& last = block.of_warps[thread / BlockCheck::warp_size];
  const Epoch now{block.ordinal(), thread / BlockCheck::warp_size, block.met(thread), block.fences};
  if (last < first_epoch_ || epochs_[last - first_epoch_] != now) {
    epochs_.push_back(now);
    last = first_epoch_ + static_cast<std::uint32_t>(epochs_.size() - 1);
  }
  return own = last;
}

Races::Stamp Races::stamp(const Access& access) {
  const auto site = reinterpret_cast<std::intptr_t>(&access.site);
  if (sites_ == 0) sites_ = site;
  const auto number = static_cast<std::uint32_t>((site - sites_) / static_cast<std::intptr_t>(alignof(CheckedSite)));
  return {epoch_of(access.block, access.thread), number << lane_bits | (access.thread & warp_lanes)};
}

const CheckedSite& Races::site(const Stamp& stamp) const {
  const std::intptr_t number = static_cast<std::int32_t>(stamp.place) >> lane_bits;
  return *reinterpret_cast<const CheckedSite*>(sites_ + number * static_cast<std::intptr_t>(alignof(CheckedSite)));
}

void Races::note_fence(BlockCheck& block, unsigned thread) {
  fences_[block.ordinal()].push_back(++time_);
  ++block.fences;
  block.epochs[thread] = 0;
}

bool Races::concurrent(const Stamp& earlier, const Stamp& now, const Access& access) const {
  if (earlier.epoch < first_epoch_) return false;
  if (earlier.epoch == now.epoch) return ((earlier.place ^ now.place) & warp_lanes) != 0;
  const Epoch& then = epoch(earlier);
  if (then.block == access.block.ordinal()) {
    const unsigned thread = then.warp * BlockCheck::warp_size + (earlier.place & warp_lanes);
    if (!access.block.apart(then.met, thread, access.thread)) return false;
  } else if (access.in_shared || then.met.grid != access.block.met(access.thread).grid) {
    return false;  // a block that has ended had this shared memory before
  }
  if (time_ == 0) return true;
  const auto fences = fences_.find(then.block);
  return fences == fences_.end() || then.fences >= fences->second.size() ||
         fences->second[then.fences] > access.block.acquired;
}

// ---- accesses -------------------------------------------------------------------------------------------------------

/// Keeps a read that a write of another thread may race with. Two concurrent threads' suffice: a third one's write races
/// with one of them.
void Races::keep_read(Stamp* reads, const Stamp& now, const Access& access) const {
  for (Stamp* read : {reads, reads + 1}) {
    if (concurrent(*read, now, access)) continue;
    *read = now;
    return;
  }
}

/// Whether accesses of these kinds, not both of them reads, are a race. Two writes of global memory are one unless both
/// are strong, a write and a read only if neither is: kernels that read what others change by atomic operations mostly
/// mean it, as before a compare-and-swap.
static bool clash(unsigned earlier, unsigned now, bool in_shared) {
  const unsigned whole = in_shared ? access::atomic : strong;
  const bool was_whole = earlier & whole, is_whole = now & whole;
  return in_shared || (earlier & now & access::write) ? !was_whole || !is_whole : !was_whole && !is_whole;
}

const Races::Stamp* Races::find_race(const Stamp* write, const Stamp* reads, const Stamp& now,
                                     const Access& access) const {
  const auto races = [&](const Stamp& earlier) {
    return concurrent(earlier, now, access) && clash(site(earlier).kind, access.site.kind, access.in_shared);
  };
  if (write != nullptr && races(*write)) return write;
  if (reads != nullptr && (access.site.kind & access::write))
    for (const Stamp* read : {reads, reads + 1})
      if (races(*read)) return read;
  return nullptr;
}

/// True for a write that changes nothing, which does no harm.
static bool keeps_value(const Races::Access& access) {
  if (access.site.kind & access::value) return std::memcmp(access.address, &access.value, access.bytes) == 0;
  return (access.site.kind & access::value_at) &&
         std::memcmp(access.address, reinterpret_cast<const void*>(access.value), access.bytes) == 0;
}

std::optional<Races::Earlier> Races::note(Shadow& shadow, const Access& access) {
  const bool writes = access.site.kind & access::write;
  const std::size_t first = access.offset, granule = std::size_t{1} << shadow.shift_;
  const bool is_ready = (writes ? shadow.writes_ : shadow.reads_) && ((first | access.bytes) & (granule - 1)) == 0;
  if (!is_ready && !make_room(shadow, access)) return {};
  if (epochs_.size() >= most_epochs) end_epochs();
  const Stamp now = stamp(access);
  for (std::size_t cell = first >> shadow.shift_; cell <= (first + access.bytes - 1) >> shadow.shift_; ++cell) {
    Stamp* write = shadow.writes_ ? shadow.writes_.get() + cell : nullptr;
    Stamp* reads = shadow.reads_ ? shadow.reads_.get() + 2 * cell : nullptr;
    if (const Stamp* race = find_race(write, reads, now, access); race != nullptr && !keeps_value(access)) {
      const Epoch& then = epoch(*race);
      return Earlier{&site(*race), then.block, then.warp * BlockCheck::warp_size + (race->place & warp_lanes)};
    }
    if (writes)
      *write = now;
    else
      keep_read(reads, now, access);
  }
  return {};
}

}  // namespace gpulua::cpu
