#pragma once

// Memory faults of kernels. A kernel that is not checked may touch memory that is not there; this makes an error of it.

namespace gpulua::cpu {

/// While one lives, a segmentation fault or bus error on its thread throws KernelFailure out of the instruction. On
/// other threads, and when none lives, the handler that the process had before takes the signal.
class FaultGuard {
 public:
  FaultGuard();
  ~FaultGuard();
  FaultGuard(const FaultGuard&) = delete;
  FaultGuard& operator=(const FaultGuard&) = delete;
};

}  // namespace gpulua::cpu
