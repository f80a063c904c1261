#pragma once

#include "src/device/cpu/abi/abi.h"
#include "src/device/cpu/runtime/memory_pool.h"

namespace gpulua::cpu {

/// The heap for malloc and free in the kernels of a device, as on a GPU. Memory that a kernel does not free stays for
/// later kernels, until the device is closed. Several threads use it at once.
class KernelHeap {
 public:
  /// The record that modules get. It is valid while this object lives.
  Heap record() { return {this, &KernelHeap::allocate, &KernelHeap::release}; }

 private:
  static void* allocate(void* self, unsigned long bytes);
  /// Throws KernelFailure for a pointer that allocate() did not give, and where a kernel wrote past the memory's end.
  static void release(void* self, void* memory);

  MemoryPool pool_{16};
};

}  // namespace gpulua::cpu
