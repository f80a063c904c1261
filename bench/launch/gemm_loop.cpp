// libbench_gemm_loop.so: the C++ loop over cublasSgemm that gemm.lua is measured against, in the same process, with the
// cuBLAS that is loaded there.

#include <cublas_v2.h>

#include "bench/launch/driver.h"

namespace {

constexpr int n = 16;

void* cublas_symbol(const char* name) {
  static void* const library = [] {
    void* const newest = dlopen("libcublas.so.13", RTLD_NOW | RTLD_NOLOAD);
    return newest ? newest : dlopen("libcublas.so.12", RTLD_NOW | RTLD_NOLOAD);
  }();
  void* const address = library ? dlsym(library, name) : nullptr;
  if (address) return address;
  std::fprintf(stderr, "no libcublas with %s is loaded\n", name);
  std::exit(1);
}

#define CUBLAS(name) reinterpret_cast<decltype(&name)>(cublas_symbol(#name))

void check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "%s failed: cuBLAS error %d\n", what, static_cast<int>(status));
  std::exit(1);
}

struct Product {
  cublasHandle_t handle = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr a = 0, b = 0, c = 0;

  Product() {
    bench::start_device();
    bench::check(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUdeviceptr* memory : {&a, &b, &c})
      bench::check(DRIVER(cuMemAlloc_v2)(memory, n * n * sizeof(float)), "cuMemAlloc");
    check(CUBLAS(cublasCreate_v2)(&handle), "cublasCreate");
    check(CUBLAS(cublasSetStream_v2)(handle, stream), "cublasSetStream");
  }
};

}  // namespace

/// Host time of one of `calls` products of 16 x 16, in microseconds; the device is idle before and after.
extern "C" __attribute__((visibility("default"))) double bench_gemm_loop(int calls) {
  static const Product product;
  static const auto gemm = CUBLAS(cublasSgemm_v2);
  const float one = 1, zero = 0;
  const auto* const a = reinterpret_cast<const float*>(product.a);
  const auto* const b = reinterpret_cast<const float*>(product.b);
  auto* const c = reinterpret_cast<float*>(product.c);
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < calls; ++i)
    check(gemm(product.handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n), "cublasSgemm");
  const double time = bench::microseconds_since(start) / calls;
  bench::check(DRIVER(cuStreamSynchronize)(product.stream), "cuStreamSynchronize");
  return time;
}
