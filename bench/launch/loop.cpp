// libbench_launch_loop.so: the C++ loop over cuLaunchKernel that launch.lua is measured against, in the same process.

#include <cstddef>

#include "bench/launch/driver.h"

namespace {

constexpr unsigned block = 128;

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

struct Saxpy {
  CUfunction function = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr x = 0, y = 0, out = 0;

  Saxpy() {
    using bench::check;
    bench::start_device();
    CUmodule module = nullptr;
    check(DRIVER(cuModuleLoadData)(&module, saxpy_ptx), "cuModuleLoadData");
    check(DRIVER(cuModuleGetFunction)(&function, module, "saxpy"), "cuModuleGetFunction");
    check(DRIVER(cuStreamCreate)(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    for (CUdeviceptr* memory : {&x, &y, &out})
      check(DRIVER(cuMemAlloc_v2)(memory, block * sizeof(float)), "cuMemAlloc");
  }
};

}  // namespace

/// Host time of one of `launches` launches, in microseconds; the device is idle before and after.
extern "C" __attribute__((visibility("default"))) double bench_launch_loop(int launches) {
  static Saxpy saxpy;
  static const auto launch = DRIVER(cuLaunchKernel);
  float a = 2;
  std::size_t n = block;
  void* arguments[] = {&a, &saxpy.x, &saxpy.y, &saxpy.out, &n};
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < launches; ++i)
    bench::check(launch(saxpy.function, 1, 1, 1, block, 1, 1, 0, saxpy.stream, arguments, nullptr), "cuLaunchKernel");
  const double time = bench::microseconds_since(start) / launches;
  bench::check(DRIVER(cuStreamSynchronize)(saxpy.stream), "cuStreamSynchronize");
  return time;
}
