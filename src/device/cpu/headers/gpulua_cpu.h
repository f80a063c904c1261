// Included ahead of every source that the CPU device compiles: CUDA C++'s built-in names, for x86-64.
#pragma once

#define __CUDACC__ 1
#define __CUDACC_RTC__ 1
#define __NVCC__ 1  // without it other people's headers take __host__ and __device__ away
// What kernels may ask for: the operations of sm_90, as far as the CPU device has them. GPULUA_CPU tells it from a GPU.
#undef __CUDA_ARCH__  // clang has set it to 1
#define __CUDA_ARCH__ 900
#define __CUDA_ARCH_LIST__ __CUDA_ARCH__
#define GPULUA_CPU 1
#define CUDART_VERSION 13000
#define CUDA_VERSION CUDART_VERSION
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __maxnreg__(...)
// A kernel for clusters of one block is any kernel. Others do not compile: the attribute wants a constant.
int gpulua_not_a_constant();
constexpr int this_device_has_clusters_of_one_block_alone(unsigned x, unsigned y = 1, unsigned z = 1) {
  return x * y * z == 1 ? 1 : gpulua_not_a_constant();
}
#define __cluster_dims__(...) __attribute__((aligned(this_device_has_clusters_of_one_block_alone(__VA_ARGS__))))
#define __nv_pure__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __align__(n)
#define __CUDA_ALIGN__(n) __align__(n)
#define CUDART_CB
#define CUDARTAPI
// Of a function: it is there already, and this declaration is never chosen.
#define __device_builtin__ __attribute__((enable_if(false, "")))

#include "gpulua_abi.h"

#include "gpulua/stddef.h"

#pragma clang force_cuda_host_device begin
#include "vector_types.h"
#include "gpulua_runtime_types.h"
#include "gpulua_thread.h"
#include "gpulua_libc.h"
#include "gpulua_math.h"
#include "gpulua_special.h"
#include "gpulua_conversions.h"
#include "gpulua_bits.h"
#include "gpulua_intrinsics.h"
#include "gpulua_atomics.h"
#include "gpulua_engine.h"
#include "gpulua_sync.h"
#pragma clang force_cuda_host_device end

#include "gpulua_rare.h"
#include "gpulua_textures.h"

#include "gpulua_new.h"
