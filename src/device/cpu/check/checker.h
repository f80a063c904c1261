#pragma once

// Kernels that are checked while they run: gpu.check(true).

#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <vector>

#include "src/device/cpu/check/checked_memory.h"
#include "src/device/cpu/check/races.h"
#include "src/device/cpu/runtime/cpu_module.h"
#include "src/device/cpu/runtime/kernel_heap.h"

namespace gpulua::cpu {

class Checker {
 public:
  Checker(MemoryPool& pool, KernelHeap& heap)
      : memory_(pool, array_guard), heap_(heap), heap_memory_(heap.pool(), heap_guard) {}

  bool on() const { return on_; }
  void set(bool on);
  CheckedMemory& memory() { return memory_; }
  const CheckedMemory& memory() const { return memory_; }
  /// malloc and free of all of the device's kernels. It is valid while this object lives.
  Heap heap() { return {this, &Checker::allocate, &Checker::release}; }

  /// Memory of the host program's that arrays use, and that they use no longer.
  void note_lent(const void* first, std::size_t bytes);
  void forget_lent(const void* first, std::size_t bytes) noexcept;

  using Compile = std::function<std::shared_ptr<CpuModule>(const KernelSource&)>;

  /// Compiles the module's checked variant, unless it has one.
  void prepare(CpuModule& module, const Compile& compile) const;
  /// Calls `run` with the checked variant of `kernel`, on one thread, so that the first diagnostic is the same each
  /// time. Throws Diagnostic. Loops of the kernel end, by ErrorKind::interrupted, once `stop` is set. Precondition:
  /// prepare() was called for its module.
  void launch(CpuKernel& kernel, const LaunchConfig& config, void** arguments, const std::atomic<bool>& stop,
              const std::function<void(CpuKernel&)>& run);

 private:
  static constexpr std::size_t array_guard = 1024, heap_guard = 64;

  static void* allocate(void* self, unsigned long bytes);
  static void release(void* self, void* memory);

  bool on_ = false;
  CheckedMemory memory_;
  std::vector<std::span<const char>> lent_;
  KernelHeap& heap_;
  CheckedMemory heap_memory_;
  Races races_;
  bool heap_is_checked_ = false;  // or was, and may have memory from then
  std::mutex heap_mutex_;         // of heap_memory_: kernels that are not checked run on several threads
};

}  // namespace gpulua::cpu
