#include "src/device/cpu/memory_pool.h"

#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>

namespace gpulua::cpu {
namespace {

constexpr std::size_t alignment = 256;
// Arrays from this size on ask for huge pages: kernels stride through them, a page of 4 KB a step.
constexpr std::size_t huge_page = 2 << 20;
constexpr std::size_t worth_huge_pages = 2 * huge_page;

/// The next of eight steps between powers of two: at most an eighth is wasted. 0 when there is no such size.
std::size_t class_size(std::size_t bytes) {
  std::size_t step = std::max(alignment, std::bit_floor(bytes) / 8);
  std::size_t rounded = (bytes + step - 1) / step * step;
  return rounded < bytes ? 0 : rounded;
}

void* allocate_from_system(std::size_t size) {
  if (size < worth_huge_pages) return std::aligned_alloc(alignment, size);
  void* memory = nullptr;
  if (posix_memalign(&memory, huge_page, size) != 0) return nullptr;
  madvise(memory, size, MADV_HUGEPAGE);  // a wish: a kernel without them says no
  return memory;
}

}  // namespace

MemoryPool::~MemoryPool() {
  release_kept();
}

void* MemoryPool::allocate(std::size_t bytes) noexcept {
  std::size_t size = class_size(bytes);
  if (size == 0) return nullptr;
  std::lock_guard lock(mutex_);
  void* memory = nullptr;
  auto found = kept_.find(size);
  if (found != kept_.end() && !found->second.empty()) {
    memory = found->second.back();
    found->second.pop_back();
    kept_bytes_ -= size;
  } else {
    memory = allocate_from_system(size);
    if (memory == nullptr) {
      release_kept();
      memory = allocate_from_system(size);
    }
  }
  if (memory == nullptr) return nullptr;
  try {
    used_.emplace(memory, Used{size, bytes});
  } catch (const std::bad_alloc&) {
    std::free(memory);
    return nullptr;
  }
  return memory;
}

void MemoryPool::free(void* memory) noexcept {
  if (memory == nullptr) return;
  std::lock_guard lock(mutex_);
  auto found = used_.find(memory);
  if (found == used_.end()) return;
  std::size_t size = found->second.size;
  used_.erase(found);
  try {
    kept_[size].push_back(memory);
    kept_bytes_ += size;
  } catch (const std::bad_alloc&) {
    std::free(memory);
  }
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
  for (auto& [size, blocks] : kept_)
    for (void* block : blocks) std::free(block);
  kept_.clear();
  kept_bytes_ = 0;
}

}  // namespace gpulua::cpu
