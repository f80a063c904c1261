#include "src/device/cpu/runtime/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <new>
#include <utility>

#include "src/device/cpu/runtime/end_pattern.h"
#include "src/device/cpu/runtime/sanitized_memory.h"

namespace gpulua::cpu {
namespace {

constexpr std::size_t page = 4096;
// Blocks below this size share mappings.
constexpr std::size_t worth_a_mapping = 64 << 10;
constexpr std::size_t window = 256 << 10;
// Arrays from this size on ask for huge pages: kernels stride through them, a page of 4 KB a step.
constexpr std::size_t huge_page = 2 << 20;
constexpr std::size_t worth_huge_pages = 2 * huge_page;

}  // namespace

MemoryPool::MemoryPool(std::size_t granule)
    : granule_(granule), pattern_bytes_(std::min(granule, most_pattern_bytes)) {}

/// Whether blocks of the size share mappings. A guard page lies before any other block.
bool MemoryPool::is_shared(const Size& size) {
  return size.stride < worth_a_mapping;
}

/// Small blocks are rounded up to granules, with the pattern behind them and the one before the next block. Sizes
/// beyond have eight steps between powers of two, so that at most an eighth is wasted, and room for the patterns.
MemoryPool::Size MemoryPool::size_of(std::size_t bytes) const {
  constexpr std::size_t steps = 8;
  const auto granule_bits = static_cast<std::size_t>(std::countr_zero(granule_));
  const std::size_t patterns = 2 * pattern_bytes_;
  if (bytes <= 2 * steps * granule_ - patterns) {
    const std::size_t granules = (bytes + patterns + granule_ - 1) >> granule_bits;
    return {granules, granules << granule_bits};
  }
  const std::size_t bits = std::max(granule_bits, static_cast<std::size_t>(std::bit_width(bytes / (2 * steps))));
  const std::size_t step = std::size_t{1} << bits;
  const std::size_t count = bytes / step + (bytes % step != 0);
  const std::size_t size = count << bits, stride = size + std::max(granule_, patterns);
  if (size < bytes || stride < size) return {0, 0};
  return {2 + steps * (bits - granule_bits) + count, stride};
}

void* MemoryPool::allocate(std::size_t bytes) noexcept {
  const Size size = size_of(bytes);
  if (size.stride == 0) return nullptr;
  try {
    Block block = take(size);
    if (block.memory == nullptr) {
      release_kept();
      block = take(size);
    }
    if (block.memory == nullptr) return nullptr;
    block.mapping->asked[block.place] = bytes;
    ++block.mapping->live;
    unpoison(block.memory, bytes);
    poison(block.memory + bytes, size.stride - bytes);
    write_pattern(block.memory + bytes, pattern_bytes_);
    if (is_shared(size)) write_pattern(block.memory - pattern_bytes_, pattern_bytes_);
    return block.memory;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

MemoryPool::Block MemoryPool::take(const Size& size) {
  if (size.place >= classes_.size()) classes_.resize(size.place + 1);
  Class& same = classes_[size.place];
  if (!same.kept.empty()) {
    const Block block = same.kept.back();
    same.kept.pop_back();
    kept_bytes_ -= size.stride;
    return block;
  }
  if (same.fresh == nullptr) same.fresh = map(size);
  if (same.fresh == nullptr) return {nullptr, nullptr, 0};
  Mapping& mapping = *same.fresh;
  const std::size_t place = mapping.handed++;
  const Block block{mapping.block(place), &mapping, place};
  if (mapping.handed == mapping.asked.size()) same.fresh = nullptr;
  return block;
}

MemoryPool::Mapping* MemoryPool::map(const Size& size) {
  const bool shared = is_shared(size), huge = size.stride >= worth_huge_pages;
  const std::size_t alignment = shared ? window : huge ? huge_page : page;
  auto mapping = std::make_unique<Mapping>(shared ? window : size.stride, alignment, shared ? granule_ : 0, size);
  char* memory = mapping->memory.data();
  if (memory == nullptr) return nullptr;
  if (huge) madvise(memory, size.stride, MADV_HUGEPAGE);  // a wish: a kernel without them says no
  return (mappings_[reinterpret_cast<std::uintptr_t>(memory)] = std::move(mapping)).get();
}

/// The mapping in which an allocated block may begin at the address; null: none.
MemoryPool::Mapping* MemoryPool::find(const void* memory) const {
  const auto address = reinterpret_cast<std::uintptr_t>(memory), of_window = address / window * window;
  if (last_ != nullptr && reinterpret_cast<std::uintptr_t>(last_->memory.data()) == of_window) return last_;
  if (const auto shared = mappings_.find(of_window); shared != mappings_.end()) return last_ = shared->second.get();
  const auto own = mappings_.find(address);
  return own == mappings_.end() ? nullptr : own->second.get();
}

MemoryPool::Freed MemoryPool::free(void* memory) noexcept {
  if (memory == nullptr) return Freed::whole;
  Mapping* mapping = find(memory);
  if (mapping == nullptr) return Freed::unknown;
  // Of an address before the first block it is a number that no block has.
  const auto from_start = static_cast<std::size_t>(static_cast<char*>(memory) - mapping->block(0));
  const Block block{static_cast<char*>(memory), mapping, from_start / mapping->size.stride};
  if (from_start % mapping->size.stride != 0 || block.place >= mapping->handed || mapping->asked[block.place] == 0)
    return Freed::unknown;
  const Overwrite found = find_overwrite(block.memory, std::exchange(mapping->asked[block.place], 0));
  --mapping->live;
  poison(block.memory, mapping->size.stride);
  try {
    classes_[mapping->size.place].kept.push_back(block);
    kept_bytes_ += mapping->size.stride;
  } catch (const std::bad_alloc&) {
    // It stays with its mapping.
  }
  if (found == Overwrite::none) return Freed::whole;
  return found == Overwrite::past_end ? Freed::written_past : Freed::written_before;
}

Overwrite MemoryPool::find_overwrite(void* memory, std::size_t bytes) const noexcept {
  const auto damaged = [this](char* place) {
    if (has_pattern(place, pattern_bytes_)) return false;
    write_pattern(place, pattern_bytes_);
    return true;
  };
  char* const start = static_cast<char*>(memory);
  if (damaged(start + bytes)) return Overwrite::past_end;
  return is_shared(size_of(bytes)) && damaged(start - pattern_bytes_) ? Overwrite::before_start : Overwrite::none;
}

std::size_t MemoryPool::kept_bytes() const {
  return kept_bytes_;
}

std::vector<std::pair<void*, std::size_t>> MemoryPool::handed_out() const {
  std::vector<std::pair<void*, std::size_t>> result;
  for (const auto& [number, mapping] : mappings_)
    for (std::size_t i = 0; i < mapping->handed; ++i)
      if (mapping->asked[i] != 0) result.emplace_back(mapping->block(i), mapping->asked[i]);
  return result;
}

void MemoryPool::trim() noexcept {
  release_kept();
}

void MemoryPool::release_kept() noexcept {
  for (Class& same : classes_) {
    std::erase_if(same.kept, [this](const Block& block) {
      if (block.mapping->live > 0) return false;
      kept_bytes_ -= block.mapping->size.stride;
      return true;
    });
    if (same.fresh != nullptr && same.fresh->live == 0) same.fresh = nullptr;
  }
  std::erase_if(mappings_, [](const auto& entry) { return entry.second->live == 0; });
  last_ = nullptr;
}

}  // namespace gpulua::cpu
