#pragma once

// A thread's second stack, for kernels with variables in memory, or recursion, that run without fibers. A kernel that
// writes past a local array destroys this stack and not the thread's own.

#include <cstddef>
#include <exception>
#include <memory>

#include "src/device/cpu/runtime/fault.h"
#include "src/device/cpu/runtime/fiber.h"

namespace gpulua::cpu {

class KernelStack final : private KernelFrames {
 public:
  static KernelStack& of_thread();

  /// Calls `kernel` on the stack. Throws what the kernel throws, KernelFailure for a fault, and std::bad_alloc.
  /// `local_bytes`: for the kernel's variables.
  template <class Kernel>
  void run(std::size_t local_bytes, Kernel kernel) {
    call_ = [](void* self) { (*static_cast<Kernel*>(self))(); };
    kernel_ = &kernel;
    run(local_bytes);
  }

 private:
  void run(std::size_t local_bytes);
  void body() noexcept;
  const void* first() const override { return frame_; }

  std::size_t bytes_ = 0;
  std::unique_ptr<Fiber> fiber_;
  Fiber thread_;
  void (*call_)(void* kernel) = nullptr;
  void* kernel_ = nullptr;
  const void* frame_ = nullptr;
  std::exception_ptr failure_;
};

}  // namespace gpulua::cpu
