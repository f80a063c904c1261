#pragma once

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/runtime/memory_pool.h"

namespace gpulua::cpu {

/// What malloc and free are in kernels of a device: a heap of their own, as on a GPU. What a kernel does not free stays
/// for later kernels, until the device is closed. Used by several threads at once.
class KernelHeap {
 public:
  /// For modules, which keep it. They are used no longer than this object.
  Heap record() { return {this, &KernelHeap::allocate, &KernelHeap::release}; }

 private:
  static void* allocate(void* self, unsigned long bytes);
  /// Throws KernelFailure for a pointer that allocate() did not give, and where a kernel wrote past the memory's end.
  static void release(void* self, void* memory);

  MemoryPool pool_{16};
};

}  // namespace gpulua::cpu
