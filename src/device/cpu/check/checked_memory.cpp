#include "src/device/cpu/check/checked_memory.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <new>
#include <set>

namespace gpulua::cpu {
namespace {

/// How much freed memory is kept from being handed out again.
constexpr std::size_t most_freed = std::size_t{64} << 20;
/// Fresh memory holds this: a library that is not checked writes without telling, and a word that has changed since was
/// written. As float a NaN, as integer nothing that anyone computes.
constexpr std::uint32_t unwritten_word = 0xffa5c3d2;

unsigned char unwritten_byte(const char* address) {
  const auto shift = 8 * (reinterpret_cast<std::uintptr_t>(address) % sizeof unwritten_word);
  return static_cast<unsigned char>(unwritten_word >> shift);
}

}  // namespace

CheckedMemory::~CheckedMemory() {
  release_freed(0);
}

void CheckedMemory::start() {
  on_ = true;
  std::set<const void*> ours;
  for (auto& [first, allocation] : allocations_) {
    allocation.written.reset();
    ours.insert(allocation.block);
  }
  for (const auto& [block, bytes] : pool_.handed_out()) {
    if (ours.contains(block)) continue;
    char* first = static_cast<char*>(block);
    allocations_.emplace(first, Allocation{first, bytes, true, block, nullptr});
  }
}

void CheckedMemory::stop() noexcept {
  on_ = false;
  release_freed(0);
}

void* CheckedMemory::allocate(std::size_t bytes) noexcept {
  if (!on_) return pool_.allocate(bytes);
  if (bytes > SIZE_MAX - 2 * guard_) return nullptr;
  void* block = pool_.allocate(bytes + 2 * guard_);
  auto* written = static_cast<unsigned char*>(std::calloc(bytes, 1));
  if (block == nullptr || written == nullptr) {
    std::free(written);
    pool_.free(block);
    return nullptr;
  }
  char* first = static_cast<char*>(block) + guard_;
  auto* words = reinterpret_cast<std::uint32_t*>(first);  // the guard after them has room for the last one
  std::fill_n(words, (bytes + sizeof *words - 1) / sizeof *words, unwritten_word);
  Allocation allocation{first, bytes, true, block, {}};
  allocation.written.reset(written);
  try {
    allocations_.emplace(first, std::move(allocation));
  } catch (const std::bad_alloc&) {
    pool_.free(block);
    return nullptr;
  }
  return first;
}

MemoryPool::Freed CheckedMemory::free(void* memory) noexcept {
  auto entry = allocations_.find(static_cast<const char*>(memory));
  if (entry == allocations_.end()) return pool_.free(memory);
  Allocation& allocation = entry->second;
  if (!allocation.live) return MemoryPool::Freed::unknown;
  allocation.live = false;
  allocation.written.reset();
  if (!on_) return forget(entry);
  try {
    freed_.push_back(allocation.first);
    freed_bytes_ += allocation.bytes + 2 * guard_;
  } catch (const std::bad_alloc&) {
    return forget(entry);
  }
  release_freed(most_freed);
  return MemoryPool::Freed::whole;
}

MemoryPool::Freed CheckedMemory::forget(std::map<const char*, Allocation>::iterator entry) noexcept {
  const MemoryPool::Freed freed = pool_.free(entry->second.block);
  allocations_.erase(entry);
  ++forgotten_;
  return freed;
}

void CheckedMemory::release_freed(std::size_t most) noexcept {
  while (!freed_.empty() && freed_bytes_ > most) {
    auto entry = allocations_.find(freed_.front());
    freed_bytes_ -= entry->second.bytes + 2 * guard_;
    freed_.pop_front();
    forget(entry);
  }
}

const CheckedMemory::Allocation* CheckedMemory::find(const void* place) const {
  const char* address = static_cast<const char*>(place);
  auto next = allocations_.upper_bound(address);
  if (next != allocations_.begin()) {
    const Allocation& before = std::prev(next)->second;
    if (address < before.end() + guard_) return &before;
  }
  if (next != allocations_.end() && address >= next->first - guard_) return &next->second;
  return nullptr;
}

void CheckedMemory::mark_written(const void* memory, std::size_t bytes) {
  const char* address = static_cast<const char*>(memory);
  const Allocation* allocation = find(memory);
  if (allocation != nullptr && allocation->contains(address)) mark_written(*allocation, address, bytes);
}

void CheckedMemory::mark_written(const Allocation& allocation, const char* address, std::size_t bytes) const {
  if (!allocation.written) return;
  const auto offset = static_cast<std::size_t>(address - allocation.first);
  std::memset(allocation.written.get() + offset, 1, std::min(bytes, allocation.bytes - offset));
}

void CheckedMemory::copy_marks(const void* to, const void* from, std::size_t bytes) {
  const Allocation* source = find(from);
  const Allocation* target = find(to);
  if (source == nullptr || !source->written) return mark_written(to, bytes);
  if (target == nullptr || !target->written) return;
  std::memcpy(target->written.get() + (static_cast<const char*>(to) - target->first),
              source->written.get() + (static_cast<const char*>(from) - source->first), bytes);
}

std::size_t CheckedMemory::count_written(const Allocation& allocation, const char* address, std::size_t bytes) {
  if (!allocation.written) return bytes;
  unsigned char* marks = allocation.written.get();
  const auto offset = static_cast<std::size_t>(address - allocation.first);
  constexpr std::uint32_t all_marked = 0x01010101;
  if (std::uint32_t four; bytes == sizeof four) {
    std::memcpy(&four, marks + offset, sizeof four);
    if (four == all_marked) return bytes;
  }
  for (std::size_t i = 0; i < bytes; ++i) {
    if (marks[offset + i]) continue;
    const std::size_t word = (offset + i) / sizeof unwritten_word * sizeof unwritten_word;
    const std::size_t end = std::min(word + sizeof unwritten_word, allocation.bytes);
    bool changed = false;
    for (std::size_t at = word; at < end; ++at)
      changed = changed || (!marks[at] &&
                            static_cast<unsigned char>(allocation.first[at]) != unwritten_byte(allocation.first + at));
    if (!changed) return i;
    std::memset(marks + word, 1, end - word);
  }
  return bytes;
}

}  // namespace gpulua::cpu
