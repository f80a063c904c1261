#pragma once

namespace gpulua::cpu {

/// What each kernel's stack has, of KernelRecord::local_bytes, for spilt registers and the frames of functions that it
/// calls. Kernels with more have variables in memory, or recurse.
inline constexpr unsigned long call_stack_bytes = 64 << 10;

}  // namespace gpulua::cpu
