// bench_launch_baseline           prints the median host time of cuLaunchKernel, in microseconds
// bench_launch_baseline --init    prints the time of cuInit and of retaining the primary context, in milliseconds
//
// The kernel has five arguments and one block, as in the script that it is compared with. It is given as PTX, so that
// no compiler is part of the measurement.

#include <cuda.h>
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int batches = 20;
constexpr int launches_per_batch = 2000;
constexpr unsigned block = 256;
constexpr std::size_t items = 256;

// saxpy(float a, const float* x, const float* y, float* out, size_t n): out[i] = a * x[i] + y[i]
constexpr const char* saxpy_ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.visible .entry saxpy(.param .f32 a, .param .u64 x, .param .u64 y, .param .u64 out, .param .u64 n)
{
  .reg .pred %p;
  .reg .b32 %r<4>;
  .reg .f32 %f<5>;
  .reg .b64 %rd<10>;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ntid.x;
  mov.u32 %r2, %tid.x;
  mad.wide.u32 %rd0, %r0, %r1, 0;
  cvt.u64.u32 %rd1, %r2;
  add.u64 %rd0, %rd0, %rd1;
  ld.param.u64 %rd2, [n];
  setp.ge.u64 %p, %rd0, %rd2;
  @%p bra done;
  ld.param.f32 %f0, [a];
  ld.param.u64 %rd3, [x];
  ld.param.u64 %rd4, [y];
  ld.param.u64 %rd5, [out];
  cvta.to.global.u64 %rd3, %rd3;
  cvta.to.global.u64 %rd4, %rd4;
  cvta.to.global.u64 %rd5, %rd5;
  shl.b64 %rd6, %rd0, 2;
  add.u64 %rd7, %rd3, %rd6;
  add.u64 %rd8, %rd4, %rd6;
  add.u64 %rd9, %rd5, %rd6;
  ld.global.f32 %f1, [%rd7];
  ld.global.f32 %f2, [%rd8];
  fma.rn.f32 %f3, %f0, %f1, %f2;
  st.global.f32 [%rd9], %f3;
done:
  ret;
}
)";

void* library = nullptr;

template <class Function>
Function symbol(const char* name) {
  void* address = dlsym(library, name);
  if (address == nullptr) {
    std::fprintf(stderr, "libcuda.so.1 has no %s\n", name);
    std::exit(1);
  }
  return reinterpret_cast<Function>(address);
}

// The exported name is spelled out where cuda.h maps the plain one to it by a macro.
#define DRIVER(name) symbol<decltype(&name)>(#name)

void check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s failed: CUDA error %d\n", what, static_cast<int>(result));
  std::exit(1);
}

double microseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
}

double median_launch_time() {
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  check(DRIVER(cuModuleLoadData)(&module, saxpy_ptx), "cuModuleLoadData");
  check(DRIVER(cuModuleGetFunction)(&function, module, "saxpy"), "cuModuleGetFunction");
  check(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");

  CUdeviceptr x = 0, y = 0, out = 0;
  for (CUdeviceptr* memory : {&x, &y, &out}) check(DRIVER(cuMemAlloc_v2)(memory, items * sizeof(float)), "cuMemAlloc");
  float a = 2;
  std::size_t n = items;
  void* arguments[] = {&a, &x, &y, &out, &n};

  const auto launch = DRIVER(cuLaunchKernel);
  const auto synchronize = DRIVER(cuStreamSynchronize);
  const auto run_batch = [&] {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < launches_per_batch; ++i)
      check(launch(function, 1, 1, 1, block, 1, 1, 0, stream, arguments, nullptr), "cuLaunchKernel");
    const double time = microseconds_since(start) / launches_per_batch;
    check(synchronize(stream), "cuStreamSynchronize");
    return time;
  };
  run_batch();  // loads the kernel and warms up
  std::array<double, batches> times;
  std::ranges::generate(times, run_batch);
  std::ranges::nth_element(times, times.begin() + batches / 2);
  return times[batches / 2];
}

}  // namespace

int main(int count, char** arguments) {
  const bool only_init = count > 1 && std::string_view(arguments[1]) == "--init";
  library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  const auto start = std::chrono::steady_clock::now();
  CUdevice device = 0;
  CUcontext context = nullptr;
  check(DRIVER(cuInit)(0), "cuInit");
  check(DRIVER(cuDeviceGet)(&device, 0), "cuDeviceGet");
  check(DRIVER(cuDevicePrimaryCtxRetain)(&context, device), "cuDevicePrimaryCtxRetain");
  check(DRIVER(cuCtxSetCurrent)(context), "cuCtxSetCurrent");
  if (only_init)
    std::printf("%.2f\n", microseconds_since(start) / 1000);
  else
    std::printf("%.3f\n", median_launch_time());
  return 0;
}
