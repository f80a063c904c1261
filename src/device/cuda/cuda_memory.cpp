#include "src/device/cuda/cuda_memory.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "src/device/cuda/context_guard.h"

namespace gpulua::cuda {
namespace {

CUdeviceptr device_address(const void* memory) {
  return reinterpret_cast<CUdeviceptr>(memory);
}

}  // namespace

Allocator::Allocator(std::shared_ptr<Context> context) : context_(std::move(context)) {
  if (context_->attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 0) return;
  const ContextGuard guard(*context_);
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.handleTypes = CU_MEM_HANDLE_TYPE_NONE;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = context_->device();
  context_->check(context_->driver().pool_create(&pool_, &properties), "device");
  cuuint64_t keep_all = UINT64_MAX;
  context_->driver().pool_set_attribute(pool_, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep_all);
}

Allocator::~Allocator() {
  if (pool_ == nullptr || context_->lost()) return;
  context_->retire([pool = pool_, kept = std::move(kept_)](const Driver& driver) {
    for (const auto& blocks : kept)
      for (void* block : blocks) driver.memory_free(device_address(block));
    driver.pool_destroy(pool);
  });
}

void* Allocator::allocate(std::size_t bytes, CUstream stream) {
  const std::size_t size_class = bytes <= smallest ? 0 : std::bit_width((bytes - 1) / smallest);
  const bool is_kept = pool_ != nullptr && stream == home_ && size_class < classes;
  if (!is_kept) return allocate_new(bytes, stream);
  std::vector<void*>& kept = kept_[size_class];
  void* block = nullptr;
  if (kept.empty()) {
    block = allocate_new(smallest << size_class, stream);
  } else {
    block = kept.back();
    kept.pop_back();
    kept_bytes_ -= smallest << size_class;
  }
  if (block != nullptr) classes_.emplace(block, size_class);
  return block;
}

void* Allocator::allocate_new(std::size_t bytes, CUstream stream) {
  const ContextGuard guard(*context_);
  const Driver& driver = context_->driver();
  CUdeviceptr memory = 0;
  const CUresult result = pool_ != nullptr ? driver.memory_allocate_from_pool(&memory, bytes, pool_, stream)
                                           : driver.memory_allocate(&memory, bytes);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  context_->check(result, "allocate");
  return reinterpret_cast<void*>(memory);
}

void Allocator::free(void* memory, CUstream stream) noexcept {
  if (memory == nullptr || context_->lost()) return;
  if (const auto found = classes_.find(memory); found != classes_.end()) {
    const std::size_t size_class = found->second, bytes = smallest << size_class;
    classes_.erase(found);
    if (stream == home_ && kept_bytes_ + bytes <= most_kept) {
      kept_[size_class].push_back(memory);
      kept_bytes_ += bytes;
      return;
    }
  }
  const ContextGuard guard(*context_);
  if (pool_ != nullptr)
    context_->driver().memory_free_async(device_address(memory), stream);
  else
    context_->driver().memory_free(device_address(memory));
}

std::size_t Allocator::pooled_bytes() const {
  if (pool_ == nullptr || context_->lost()) return 0;
  const ContextGuard guard(*context_);
  cuuint64_t reserved = 0;
  cuuint64_t used = 0;
  context_->check(context_->driver().pool_get_attribute(pool_, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &reserved),
                  "memory");
  context_->check(context_->driver().pool_get_attribute(pool_, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used), "memory");
  return (reserved > used ? reserved - used : 0) + kept_bytes_;
}

void Allocator::trim() {
  if (pool_ == nullptr) return;
  const ContextGuard guard(*context_);
  for (std::vector<void*>& blocks : kept_) {
    for (void* block : blocks) context_->driver().memory_free(device_address(block));
    blocks.clear();
  }
  kept_bytes_ = 0;
  context_->check(context_->driver().pool_trim(pool_, 0), "trim");
}

void Allocator::allow_access(const Context& other) {
  const bool done = std::ranges::find(allowed_, other.device()) != allowed_.end();
  if (pool_ == nullptr || done || !other.can_access(*context_)) return;
  const ContextGuard guard(*context_);
  CUmemAccessDesc access{};
  access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  access.location.id = other.device();
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  context_->check(context_->driver().pool_set_access(pool_, &access, 1), "to");
  allowed_.push_back(other.device());
}

void* Allocator::allocate_pinned(std::size_t bytes) {
  const ContextGuard guard(*context_);
  void* memory = nullptr;
  const CUresult result = context_->driver().host_allocate(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE);
  if (result == CUDA_ERROR_OUT_OF_MEMORY) return nullptr;
  context_->check(result, "pinned");
  return memory;
}

void Allocator::free_pinned(void* memory) noexcept {
  if (memory == nullptr || context_->lost()) return;
  // Freeing waits for the device, and a copy in flight may still use the memory.
  context_->retire([memory](const Driver& driver) { driver.host_free(memory); });
}

bool Allocator::reaches(const void* memory) const {
  if (context_->attribute(CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS) != 0) return true;
  const ContextGuard guard(*context_);
  unsigned type = 0;
  int ordinal = -1;
  CUpointer_attribute attributes[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* values[] = {&type, &ordinal};
  if (context_->driver().pointer_get_attributes(2, attributes, values, device_address(memory)) != CUDA_SUCCESS)
    return false;
  return type == CU_MEMORYTYPE_HOST || (type != 0 && ordinal == context_->device());
}

bool Allocator::is_pinned(const void* host) const {
  const ContextGuard guard(*context_);
  // The plural form answers 0 for memory that the driver does not know; the other calls that an error, and checkers
  // report it.
  unsigned type = 0;
  CUpointer_attribute attribute = CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
  void* values[] = {&type};
  return context_->driver().pointer_get_attributes(1, &attribute, values, device_address(host)) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

}  // namespace gpulua::cuda
