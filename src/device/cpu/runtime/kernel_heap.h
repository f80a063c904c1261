#pragma once

#include <mutex>

#include "src/device/cpu/runtime/memory_pool.h"

namespace gpulua::cpu {

/// The heap for malloc and free in the kernels of a device, as on a GPU. Memory that a kernel does not free stays for
/// later kernels, until the device is closed. Several threads use it at once.
class KernelHeap {
 public:
  /// Null when there is no room.
  void* allocate(unsigned long bytes);
  /// Throws KernelFailure as expect_whole() does.
  void release(void* memory);
  /// Throws KernelFailure for a pointer that allocate() did not give, and where a kernel wrote past the memory's end.
  static void expect_whole(MemoryPool::Freed freed);

  /// For who works with it while no kernel runs, or in the place of all kernels.
  MemoryPool& pool() { return pool_; }

 private:
  std::mutex mutex_;
  MemoryPool pool_{16};
};

}  // namespace gpulua::cpu
