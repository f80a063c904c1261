#pragma once

// The driver as a plain C++ program calls it. It takes nothing from gpulua, so that a change there cannot move the line
// that it is measured against.

#include <cuda.h>
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace bench {

/// Address of a driver function; ends the program when there is none.
template <class Function>
Function symbol(const char* name) {
  static void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  void* address = library ? dlsym(library, name) : nullptr;
  if (!address) {
    std::fprintf(stderr, "libcuda.so.1 has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(address);
}

// The exported name is spelled out where cuda.h maps the plain one to it by a macro.
#define DRIVER(name) bench::symbol<decltype(&name)>(#name)

inline void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: CUDA error %d\n", what, static_cast<int>(result));
  std::exit(1);
}

/// cuInit and the primary context of a device, made current.
inline void start_device(int ordinal = 0) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(DRIVER(cuInit)(0), "cuInit");
  check(DRIVER(cuDeviceGet)(&device, ordinal), "cuDeviceGet");
  check(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
  check(DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
}

inline double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace bench
