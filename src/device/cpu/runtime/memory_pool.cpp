#include "src/device/cpu/runtime/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <new>

#include "src/device/cpu/runtime/sanitized_memory.h"

// The pattern is in what a sanitizer takes for nobody's memory.
#define GPULUA_READS_POISONED __attribute__((no_sanitize("address")))

namespace gpulua::cpu {
namespace {

constexpr std::size_t page = 4096;
// Blocks below this size share mappings of about `shared_mapping` bytes.
constexpr std::size_t worth_a_mapping = 64 << 10;
constexpr std::size_t shared_mapping = 256 << 10;
// Arrays from this size on ask for huge pages: kernels stride through them, a page of 4 KB a step.
constexpr std::size_t huge_page = 2 << 20;
constexpr std::size_t worth_huge_pages = 2 * huge_page;

constexpr std::size_t most_pattern_bytes = 64;

/// The next of eight steps between powers of two: at most an eighth is wasted. 0 when there is no such size.
std::size_t class_size(std::size_t bytes, std::size_t granule) {
  std::size_t step = std::max(granule, std::bit_floor(bytes) / 8);
  std::size_t rounded = (bytes + step - 1) / step * step;
  return rounded < bytes ? 0 : rounded;
}

// The pattern by words, which begin at any address.
using Word [[gnu::may_alias, gnu::aligned(1)]] = std::uint64_t;
constexpr auto pattern = [] {
  std::array<std::uint64_t, most_pattern_bytes / sizeof(Word)> words{};
  for (std::size_t i = 0; i < most_pattern_bytes; ++i)
    words[i / sizeof(Word)] |= std::uint64_t{(0xA7 ^ (i * 29)) & 0xff} << i % sizeof(Word) * 8;
  return words;
}();

GPULUA_READS_POISONED void write_pattern(char* end, std::size_t bytes) {
  volatile Word* const at = reinterpret_cast<volatile Word*>(end);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i) at[i] = pattern[i];
}

GPULUA_READS_POISONED bool has_pattern(const char* end, std::size_t bytes) {
  const volatile Word* const at = reinterpret_cast<const volatile Word*>(end);
  for (std::size_t i = 0; i < bytes / sizeof(Word); ++i)
    if (at[i] != pattern[i]) return false;
  return true;
}

}  // namespace

std::size_t MemoryPool::pattern_bytes() const {
  return std::min(granule_, most_pattern_bytes);
}

void* MemoryPool::allocate(std::size_t bytes) noexcept {
  const std::size_t size = class_size(bytes, granule_);
  if (size == 0 || stride(size) < size) return nullptr;
  std::lock_guard lock(mutex_);
  try {
    Block block = take(size);
    if (block.memory == nullptr) {
      release_kept();
      block = take(size);
    }
    if (block.memory == nullptr) return nullptr;
    used_.emplace(block.memory, Used{block, size, bytes});
    ++block.mapping->live;
    unpoison(block.memory, bytes);
    poison(block.memory + bytes, stride(size) - bytes);
    write_pattern(block.memory + bytes, pattern_bytes());
    return block.memory;
  } catch (const std::bad_alloc&) {
    return nullptr;  // for the books: a block that was taken stays with its mapping
  }
}

MemoryPool::Block MemoryPool::take(std::size_t size) {
  Class& same = classes_[size];
  if (!same.kept.empty()) {
    const Block block = same.kept.back();
    same.kept.pop_back();
    kept_bytes_ -= size;
    return block;
  }
  if (same.fresh == nullptr) same.fresh = map(size);
  if (same.fresh == nullptr) return {nullptr, nullptr};
  Mapping& mapping = *same.fresh;
  const Block block{mapping.memory.data() + stride(size) * mapping.handed++, &mapping};
  if (--mapping.fresh == 0) same.fresh = nullptr;
  return block;
}

MemoryPool::Mapping* MemoryPool::map(std::size_t size) {
  const std::size_t count = size < worth_a_mapping ? std::max<std::size_t>(1, shared_mapping / stride(size)) : 1;
  const bool huge = size >= worth_huge_pages;
  auto mapping = std::make_unique<Mapping>(count * stride(size), huge ? huge_page : page);
  if (mapping->memory.data() == nullptr) return nullptr;
  if (huge) madvise(mapping->memory.data(), size, MADV_HUGEPAGE);  // a wish: a kernel without them says no
  mapping->fresh = count;
  Mapping* result = mapping.get();
  mappings_.emplace(result, std::move(mapping));
  return result;
}

MemoryPool::Freed MemoryPool::free(void* memory) noexcept {
  if (memory == nullptr) return Freed::whole;
  std::lock_guard lock(mutex_);
  const auto found = used_.find(memory);
  if (found == used_.end()) return Freed::unknown;
  const auto [block, size, bytes] = found->second;
  const bool whole = has_pattern(block.memory + bytes, pattern_bytes());
  used_.erase(found);
  --block.mapping->live;
  poison(block.memory, stride(size));
  try {
    classes_[size].kept.push_back(block);
    kept_bytes_ += size;
  } catch (const std::bad_alloc&) {
    // It stays with its mapping.
  }
  return whole ? Freed::whole : Freed::damaged;
}

bool MemoryPool::check_end(void* memory, std::size_t bytes) const noexcept {
  char* end = static_cast<char*>(memory) + bytes;
  if (has_pattern(end, pattern_bytes())) return true;
  write_pattern(end, pattern_bytes());
  return false;
}

std::size_t MemoryPool::kept_bytes() const {
  std::lock_guard lock(mutex_);
  return kept_bytes_;
}

std::vector<std::pair<void*, std::size_t>> MemoryPool::handed_out() const {
  std::lock_guard lock(mutex_);
  std::vector<std::pair<void*, std::size_t>> result;
  for (const auto& [memory, used] : used_) result.emplace_back(memory, used.bytes);
  return result;
}

void MemoryPool::trim() noexcept {
  std::lock_guard lock(mutex_);
  release_kept();
}

void MemoryPool::release_kept() noexcept {
  for (auto& [size, same] : classes_) {
    const std::size_t gone = std::erase_if(same.kept, [](const Block& block) { return block.mapping->live == 0; });
    kept_bytes_ -= gone * size;
    if (same.fresh != nullptr && same.fresh->live == 0) same.fresh = nullptr;
  }
  std::erase_if(mappings_, [](const auto& entry) { return entry.second->live == 0; });
}

}  // namespace gpulua::cpu
