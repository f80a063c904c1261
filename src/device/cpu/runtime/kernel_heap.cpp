#include "src/device/cpu/runtime/kernel_heap.h"

#include <algorithm>

#include "src/device/cpu/abi/kernel_failure.h"

namespace gpulua::cpu {

void* KernelHeap::allocate(unsigned long bytes) {
  std::lock_guard lock(mutex_);
  return pool_.allocate(std::max(bytes, 1UL));
}

void KernelHeap::release(void* memory) {
  const auto freed = [&] {
    std::lock_guard lock(mutex_);
    return pool_.free(memory);
  }();
  expect_whole(freed);
}

void KernelHeap::expect_whole(MemoryPool::Freed freed) {
  switch (freed) {
    case MemoryPool::Freed::whole:
      return;
    case MemoryPool::Freed::written_before:
      throw KernelFailure{"free of memory that something has written before the start of"};
    case MemoryPool::Freed::written_past:
      throw KernelFailure{"free of memory that something has written past the end of"};
    case MemoryPool::Freed::unknown:
      throw KernelFailure{"free of a pointer that malloc did not give, or that was freed before"};
  }
}

}  // namespace gpulua::cpu
