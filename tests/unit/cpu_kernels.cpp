// Kernels on the CPU device: what goes in, what comes out.

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <numeric>

#include "src/device/cpu/abi/compiler_plugin.h"
#include "tests/catch.h"
#include "tests/unit/cpu_test_device.h"

using namespace gpulua;

TEST_CASE("cpu: saxpy, mangled and extern C", "[cpu]") {
  CpuTestDevice device;
  const std::string body = R"(__global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
  })";
  for (const std::string& text : {body, "extern \"C\" " + body}) {
    auto module = device.compile(text);
    auto kernel = device.kernel(module, "saxpy");
    REQUIRE(to_string("saxpy", kernel->entry().signature).find("const") != std::string::npos);
    REQUIRE(kernel->entry().signature.parameters.size() == 5);
    CHECK_FALSE(kernel->entry().signature.parameters[1].writable);
    CHECK(kernel->entry().signature.parameters[3].writable);
    std::vector<float> x(10000), y(10000), out(10000);
    std::iota(x.begin(), x.end(), 0.0f);
    std::iota(y.begin(), y.end(), 5.0f);
    device.launch(*kernel, one_dimension(40, 256), 2.0f, x.data(), y.data(), out.data(), std::size_t{9999});
    bool right = true;
    for (std::size_t i = 0; i < 9999; ++i) right = right && out[i] == 2.0f * x[i] + y[i];
    CHECK(right);
    CHECK(out[9999] == 0.0f);
  }
}

TEST_CASE("cpu: built-in variables in three dimensions", "[cpu]") {
  CpuTestDevice device;
  LaunchConfig config;
  config.grid = {3, 2, 2};
  config.block = {4, 3, 2};
  std::vector<unsigned> seen(3 * 2 * 2 * 4 * 3 * 2, 0);
  device.run(R"(__device__ __noinline__ unsigned thread_number() {
      return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; }
    __global__ void k(unsigned* seen) {
      dim3 size = blockDim;
      unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      seen[block * (size.x * size.y * size.z) + thread_number()] += 1 + block; })",
             config, seen.data());
  for (unsigned i = 0; i < seen.size(); ++i) CHECK(seen[i] == 1 + i / 24);
}

TEST_CASE("cpu: templates by name expression", "[cpu]") {
  CpuTestDevice device;
  auto module =
      device.compile(R"(namespace ns { template <class T> __global__ void twice(T* x) { x[threadIdx.x] *= 2; } }
    __global__ void plain() {})",
                     {"ns::twice<float>", "ns::twice<int>"});
  float f[2] = {1.5f, 2.5f};
  int i[2] = {3, 4};
  device.launch(*device.kernel(module, "ns::twice<float>"), one_dimension(1, 2), &f[0]);
  device.launch(*device.kernel(module, "ns::twice<int>"), one_dimension(1, 2), &i[0]);
  CHECK(f[1] == 5.0f);
  CHECK(i[1] == 8);
  CHECK_THAT(message_of([&] { device.compile("__global__ void k() {}", {"missing<int>"}); }),
             Catch::Matchers::ContainsSubstring("[compile] cannot find the kernel \"missing<int>\"") &&
                 Catch::Matchers::EndsWith("the source has k"));
  CHECK_THAT(message_of([&] { device.compile("__device__ void helper() {}", {"helper"}); }),
             Catch::Matchers::ContainsSubstring(
                 "cannot find the kernel \"helper\": not a __global__ function; the source has none"));
}

namespace {
struct Small {
  float a;
  int b;
};
struct Mixed {
  double a;
  char b;
  float c[2];
};
struct Large {
  int values[9];
};
struct Triple {
  float x, y, z;
};
struct alignas(16) Quad {
  float x, y, z, w;
};
struct Empty {};
}  // namespace

TEST_CASE("cpu: structs, vectors, small integers and bools by value", "[cpu]") {
  CpuTestDevice device;
  double out[12] = {};
  device.run(R"(struct Small { float a; int b; };
    struct Mixed { double a; char b; float c[2]; };
    struct Large { int values[9]; };
    struct Empty {};
    __global__ void k(double* out, Small s, bool yes, Mixed m, Empty, signed char c, Large l, float3 t, float4 q, char3 tiny) {
      l.values[0] += threadIdx.x;
      out[0] = s.a; out[1] = s.b; out[2] = yes; out[3] = m.a; out[4] = m.b; out[5] = m.c[1]; out[6] = c;
      out[7] = l.values[8] + l.values[0]; out[8] = t.x + 10 * t.y + 100 * t.z; out[9] = q.w; out[10] = tiny.z;
    })",
             one_dimension(2, 3), &out[0], Small{1.5f, -2}, true, Mixed{2.5, 'x', {3, 4}}, Empty{},
             static_cast<signed char>(-7), Large{{100, 0, 0, 0, 0, 0, 0, 0, 9}}, Triple{1, 2, 3}, Quad{1, 2, 3, 4},
             std::array<signed char, 3>{1, 2, 3});
  const double expected[12] = {1.5, -2, 1, 2.5, 'x', 4, -7, 111, 321, 4, 3, 0};
  for (int i = 0; i < 12; ++i) CHECK(out[i] == expected[i]);
}

TEST_CASE("cpu: globals", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(__constant__ float coef[4] = {1, 2, 3, 4};
    namespace ns { __device__ unsigned counter; }
    __global__ void k(float* out) { for (int i = 0; i < 4; ++i) out[i] = coef[i]; ns::counter += 1; })");
  const GlobalEntry& coef = find_global(module->compiled(), "coef");
  CHECK(coef.type == "float [4]");
  CHECK(coef.bytes == 16);
  float values[4] = {5, 6, 7, 8}, out[4];
  auto kernel = device.kernel(module, "k");
  device.launch(*kernel, one_dimension(1, 1), &out[0]);
  CHECK(out[2] == 3.0f);
  std::memcpy(module->address(coef), values, sizeof values);
  device.launch(*kernel, one_dimension(1, 1), &out[0]);
  CHECK(out[2] == 7.0f);
  CHECK(*static_cast<unsigned*>(module->address(find_global(module->compiled(), "ns::counter"))) == 2);
}

TEST_CASE("cpu: static and dynamic shared memory", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(
    template <int n> __device__ int* scratch() { __shared__ int memory[n]; return memory; }
    __device__ __noinline__ void put(int i, int v) { scratch<64>()[i] = v; }
    __global__ void k(int* out, int n) {
      extern __shared__ double dynamic[];
      __shared__ int fixed[100];
      __shared__ struct { float a, b; } pair;
      pair.a = 1; pair.b = 2;
      for (int i = 0; i < 64; ++i) { put(i, i); fixed[i] = 1000; }
      for (int i = 0; i < n; ++i) dynamic[i] = 0.5;
      int sum = 0;
      for (int i = 0; i < 64; ++i) sum += scratch<64>()[i] + fixed[i];
      double total = 0;
      for (int i = 0; i < n; ++i) total += dynamic[i];
      out[blockIdx.x] = sum + (int)total + (int)(pair.a + pair.b);
    }
    __global__ void other(int* out) { __shared__ char bytes[5000]; bytes[*out] = 1; *out = bytes[*out]; })");
  auto kernel = device.kernel(module, "k");
  CHECK(kernel->attributes().shared_bytes >= 664);
  CHECK(kernel->attributes().shared_bytes < 1024);
  CHECK(device.kernel(module, "other")->attributes().shared_bytes >= 5000);
  std::vector<int> out(1000);
  device.launch(*kernel, one_dimension(1000, 1, 20000 * sizeof(double)), out.data(), 20000);
  bool right = true;
  for (int value : out) right = right && value == 64 * 63 / 2 + 64000 + 10000 + 3;
  CHECK(right);
}

TEST_CASE("cpu: atomics across blocks", "[cpu]") {
  CpuTestDevice device;
  auto module =
      device.compile(R"(__global__ void histogram(const unsigned char* x, unsigned* bins, float* sum, double* dsum,
        unsigned long long* most, int n) {
      int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      atomicAdd(&bins[x[i]], 1);
      atomicAdd(sum, 1.0f);
      atomicAdd_block(dsum, 0.5);
      atomicMax(most, (unsigned long long)i);
    })");
  const int n = 1 << 20;
  std::vector<unsigned char> x(n);
  for (int i = 0; i < n; ++i) x[i] = static_cast<unsigned char>(i * 7);
  std::vector<unsigned> bins(256);
  float sum = 0;
  double dsum = 0;
  unsigned long long most = 0;
  device.launch(*device.kernel(module, "histogram"), one_dimension(n / 256, 256), x.data(), bins.data(), &sum, &dsum,
                &most, n);
  for (unsigned bin : bins) CHECK(bin == n / 256);
  CHECK(sum == static_cast<float>(n));
  CHECK(dsum == n * 0.5);
  CHECK(most == n - 1);
}

TEST_CASE("cpu: integer division and casts as on a GPU", "[cpu]") {
  CpuTestDevice device;
  int out[8] = {};
  unsigned uout[2] = {};
  device.run(
      R"(__global__ void k(int* out, unsigned* uout, int zero, int minus_one, int smallest, float huge, float nan) {
      out[0] = 7 / zero; out[1] = 7 % zero; out[2] = smallest / minus_one; out[3] = smallest % minus_one; out[4] = 7 / minus_one;
      out[5] = (int)huge; out[6] = (int)nan; out[7] = __float2int_rn(-2.5f);
      uout[0] = 7u / (unsigned)zero; uout[1] = (unsigned)-huge; })",
      one_dimension(1, 1), &out[0], &uout[0], 0, -1, std::numeric_limits<int>::min(), 1e20f,
      std::numeric_limits<float>::quiet_NaN());
  CHECK(out[0] == -1);
  CHECK(out[1] == 7);
  CHECK(out[2] == std::numeric_limits<int>::min());
  CHECK(out[3] == 0);
  CHECK(out[4] == -7);
  CHECK(out[5] == std::numeric_limits<int>::max());
  CHECK(out[6] == 0);
  CHECK(out[7] == -2);
  CHECK(uout[0] == 0xffffffffu);
  CHECK(uout[1] == 0);
}

TEST_CASE("cpu: mathematical functions", "[cpu]") {
  CpuTestDevice device;
  double out[16] = {};
  device.run(R"(#include <cmath>
    #include <cstdint>
    #include <limits>
    #include <type_traits>
    #include <cassert>
    #include <stdio.h>
    #include <math_constants.h>
    __global__ void k(double* out, double x) {
      static_assert(std::is_same<decltype(sin(1.0f)), float>::value && std::is_same_v<decltype(sin(1)), double>);
      static_assert(std::numeric_limits<float>::max() > 1e38f && sizeof(std::int64_t) == 8);
      out[0] = normcdf(x); out[1] = erfinv(x); out[2] = normcdfinv(x); out[3] = erfcinv(1e-20); out[4] = std::sin(x);
      out[5] = rsqrtf((float)x); out[6] = min(CUDART_NAN_F, 2.0f); out[7] = pow(x, 2); out[8] = sinpi(1.0); out[9] = cospi(0.5);
      out[10] = max(3, 4u); out[11] = __popc(255) + __clz(1) + __ffs(8) + (int)__brev(1u << 31);
      out[12] = __byte_perm(0x11223344, 0x55667788, 0x0167) == 0x44336655; out[13] = __umulhi(1u << 31, 6);
      out[14] = __int_as_float(0x40490fdb); out[15] = erfcx(30.0);
    })",
             one_dimension(1, 1), &out[0], 0.25);
  CHECK(out[0] == Approx(0.5987063256829237).epsilon(1e-15));
  CHECK(std::erf(out[1]) == Approx(0.25).epsilon(1e-15));
  CHECK(0.5 * std::erfc(-out[2] / std::sqrt(2.0)) == Approx(0.25).epsilon(1e-15));
  CHECK(std::erfc(out[3]) == Approx(1e-20).epsilon(1e-13));
  CHECK(out[4] == std::sin(0.25));
  CHECK(out[5] == 2.0);
  CHECK(out[6] == 2.0);
  CHECK(out[7] == 0.0625);
  CHECK(out[8] == 0.0);
  CHECK(out[9] == 0.0);
  CHECK(out[10] == 4.0);
  CHECK(out[11] == 8 + 31 + 4 + 1);
  CHECK(out[12] == 1.0);
  CHECK(out[13] == 3.0);
  CHECK(out[14] == Approx(3.14159274).epsilon(1e-8));
  CHECK(out[15] == Approx(0.01879587394).epsilon(1e-4));
}

TEST_CASE("cpu: recursion, function pointers, virtual calls", "[cpu]") {
  CpuTestDevice device;
  int out[3] = {};
  device.run(R"(__device__ int fib(int n) { return n < 2 ? n + (int)threadIdx.x * 0 : fib(n - 1) + fib(n - 2); }
    __device__ int plus(int x) { return x + (int)blockDim.x; }
    __device__ int times(int x) { return x * (int)blockDim.x; }
    struct Shape { __device__ virtual int area() const = 0; };
    struct Square : Shape { int side; __device__ Square(int s) : side(s) {} __device__ int area() const override { return side * side; } };
    __device__ int (*table[2])(int) = {plus, times};
    __device__ __noinline__ int area(const Shape* shape) { return shape->area(); }
    __global__ void k(int* out, int which) {
      Square square(which + 2);
      out[0] = fib(15); out[1] = table[which](10); out[2] = area(&square); })",
             one_dimension(1, 3), &out[0], 1);
  CHECK(out[0] == 610);
  CHECK(out[1] == 30);
  CHECK(out[2] == 9);
}

TEST_CASE("cpu: fused multiply-add by default, not with --fmad=false", "[cpu]") {
  CpuTestDevice device;
  const float a = 1.0f + 0x1p-12f, c = -(1.0f + 0x1p-11f);
  for (bool fused : {true, false}) {
    KernelSource source;
    source.text =
        "__global__ void k(float* out, float a, float b, float c) { out[0] = a * a + c; out[1] = __fmul_rn(b, b) + c; "
        "}";
    if (!fused) source.options = {"--fmad=false"};
    auto module = device->compile(source);
    float out[2];
    device.launch(*device.kernel(module, "k"), one_dimension(1, 1), &out[0], a, a, c);
    CHECK(out[0] == (fused ? 0x1p-24f : 0.0f));
    CHECK(out[1] == 0.0f);
  }
}

TEST_CASE("cpu: memory allocated in a kernel, printf, and assertions that hold", "[cpu]") {
  CpuTestDevice device;
  std::fflush(stdout);
  int saved = dup(1), pipe_ends[2];
  REQUIRE(pipe(pipe_ends) == 0);
  dup2(pipe_ends[1], 1);
  device.run(R"(__global__ void k(int n) {
      int* x = new int[n];
      x[n - 1] = 42;
      assert(x[n - 1] == 42);
      printf("%s %d %.2f %lld\n", "value", x[n - 1], 1.5f, 1ll << 40);
      delete[] x; })",
             one_dimension(1, 1), 10);
  std::fflush(stdout);
  dup2(saved, 1);
  close(saved);
  close(pipe_ends[1]);
  char text[100] = {};
  REQUIRE(read(pipe_ends[0], text, sizeof text - 1) > 0);
  close(pipe_ends[0]);
  CHECK(std::string(text) == "value 42 1.50 1099511627776\n");
}

TEST_CASE("cpu: half and bfloat16", "[cpu]") {
  CpuTestDevice device;
  auto module = device.compile(R"(#include <cuda_fp16.h>
    #include <cuda_bf16.h>
    __global__ void k(__half* h, __nv_bfloat16* b, float* out, double x) {
      out[0] = __half2float(h[0] * h[1] + __half(1)); out[1] = b[0] + b[1]; out[2] = __hfma(h[0], h[1], h[1]);
      out[3] = __half_as_ushort(__double2half(x)); out[4] = h[0] < h[1]; out[5] = __half22float2(__floats2half2_rn(1.5f, 2.5f)).y;
    })");
  auto kernel = device.kernel(module, "k");
  CHECK(kernel->entry().signature.parameters[0].dtype == DType::float16);
  CHECK(kernel->entry().signature.parameters[1].dtype == DType::bfloat16);
  std::uint16_t h[2] = {to_half(1.5f), to_half(2.0f)}, b[2] = {to_bfloat16(256.0f), to_bfloat16(1.0f)};
  float out[6] = {};
  device.launch(*kernel, one_dimension(1, 1), &h[0], &b[0], &out[0], 0.1);
  const float expected[6] = {4, 256, 5, float(to_half(0.1f)), 1, 2.5f};
  for (int i = 0; i < 6; ++i) CHECK(out[i] == expected[i]);
}

TEST_CASE("cpu: the compiler compiles for other processors", "[cpu]") {
  auto path = CpuTestDevice::plugin_path().parent_path() / "libgpulua-cpu-compiler.so";
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  REQUIRE(library != nullptr);
  const auto* compiler = static_cast<const cpu::CompilerEntry*>(dlsym(library, "gpulua_cpu_compiler"));
  KernelSource source;
  source.text =
      "__global__ void k(_Float16* h, double* x, __int128* i) { *h = *x; *i = *i / (__int128)*x; atomicAdd(x, 1.0); }";
  for (const char* processor : {"x86-64", "x86-64-v3", "znver3", "skylake-avx512"}) {
    CompiledModule module = compiler->compile(source, cpu::CompileTarget{processor, {}}, nullptr);
    CHECK(module.image.substr(1, 3) == "ELF");
  }
}
