// The built-in variables. They are declared and never defined: the compiler's engine turns each into a place in the
// ThreadContext of the thread that asks.
#pragma once

extern __attribute__((device)) const gpulua::cpu::ThreadContext gpulua_thread_context;
extern __attribute__((device)) const uint3 threadIdx;
extern __attribute__((device)) const uint3 blockIdx;
extern __attribute__((device)) const dim3 blockDim;
extern __attribute__((device)) const dim3 gridDim;
constexpr int warpSize = 32;

/// Ends the launch with an error. Inlined, so that the context's address stays within the kernel and its fields are values.
[[noreturn]] __attribute__((device, always_inline)) inline void gpulua_fail(const char* message, const char* file,
                                                                            unsigned int line) {
  const gpulua::cpu::ThreadContext& context = gpulua_thread_context;
  context.launch->services->fail(message, file, line, context.block, context.thread);
}

__attribute__((device)) inline void __trap(const char* file = __builtin_FILE(), unsigned int line = __builtin_LINE()) {
  gpulua_fail("__trap() was called", file, line);
}
__attribute__((device)) inline void __brkpt() {}

#include "assert.h"
