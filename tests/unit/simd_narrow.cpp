// Large kernels, which the SIMD engine widens to fewer lanes than a warp has (choose_lanes.h), against the scalar
// engine.

#include <numeric>

#include "tests/unit/simd_compare.h"

using namespace gpulua;

namespace {

/// Statements that no thread runs: two instructions each.
std::string ballast(int statements) {
  std::string text = "if (n < 0) { float p = x[i]; ";
  for (int k = 0; k < statements; ++k) text += "p = p * p + " + std::to_string(k) + ".25f; ";
  return text + "y[i] = p; return; } ";
}

/// With 16 lanes. The body has no short loop.
void compare_straight(const std::string& body) {
  compare(ballast(60) + body);
}

/// With 8 lanes of AVX2 and 16 of AVX-512. The body has no short loop.
void compare_large(const std::string& body) {
  compare(ballast(250) + body);
}

/// With 16 lanes where short loops take most of the time, else as large ones.
void compare_very_large(const std::string& body) {
  compare(ballast(800) + body);
}

}  // namespace

TEST_CASE("simd: kernels of some hundred instructions without loops", "[cpu][simd]") {
  compare_straight("if (a[i] > 0) { b[i] = a[i] * 3; if (a[i] & 1) y[i] = x[i] + 1; else return; } else y[i] = -x[i];");
  compare_straight("y[i] = x[(a[i] & 63) + (i & 3)]; b[i] = a[n - 1 - i] + a[(i * 3) & 511];");
  compare_straight(
      "const unsigned char c = a[i]; const short s = a[i] * 3; b[i] = c + s; y[i] = (signed char)(c * s);");
  compare_straight(
      "if (threadIdx.x < 21) { atomicAdd(&b[0], a[i]); const double d = x[i]; y[i] = d * d + sqrt(fabs(d)); }");
}

TEST_CASE("simd: large kernels without loops", "[cpu][simd]") {
  compare_large(
      "if (a[i] > 0) { b[i] = a[i] * 3; if (a[i] % 2) y[i] = x[i] + 1; else return; } else y[i] = -x[i]; b[i] += 7;");
  compare_large(
      "if (i < n / 3) y[i] = x[i + 1] * 2; if (i % 8 == 3) b[i] = a[i / 8]; if (i > 5) b[i] += a[2 * i % n];");
  compare_large("y[i] = x[(a[i] & 63) + i % 3]; b[i] = a[n - 1 - i] + a[i * 3 % n];");
  compare_large(
      "y[i] = sqrtf(fabsf(x[i])) + floorf(x[i]) * fmaxf(x[i], 3); b[i] = __popc(a[i]) + (a[i] >> (i & 7)) / (i + 1);");
  compare_large("const double d = x[i]; const long long l = a[i]; y[i] = d * d / 3 + l * l * 5; b[i] = l * i % 7;");
  compare_large("const unsigned char c = a[i]; const short s = a[i] * 3; b[i] = c + s; y[i] = (signed char)(c * s);");
  compare_large(
      "atomicAdd(&b[0], a[i]); atomicMax(&b[1 + (a[i] & 15)], i); if (x[i] > 0) atomicAdd(&b[100 + (i & 3)], 1);");
  compare_large(
      "struct P { float u, v, w; }; const P p = ((const P*)x)[i]; y[i] = p.u * p.v - p.w; b[i] = threadIdx.x * 7 + "
      "blockIdx.x;");
  compare_large("if (blockIdx.x == 0) b[0] = a[i]; if (threadIdx.x < 5) y[i] = x[threadIdx.x * 4 + blockDim.x];");
}

TEST_CASE("simd: large kernels with barriers", "[cpu][simd]") {
  // The numbers of a warp's first thread are multiples of 8 or 16 here, not of 32.
  compare_large(
      "__shared__ int s[1024]; s[thread] = a[i] + threadIdx.x % 32 * 3 + threadIdx.x / 32 * 1000 + (threadIdx.x | 16); "
      "__syncthreads(); const int count = blockDim.x * blockDim.y * blockDim.z; b[i] = s[(thread ^ 16) % count]; "
      "y[i] = s[(thread + 9) % count] + (threadIdx.x & 16) * (threadIdx.x & 8);");
  compare_large(
      "__shared__ int s[1024]; s[thread] = a[i]; if (thread % 3 == 0) s[thread] *= 2; "
      "b[i] = __syncthreads_count(a[i] > 9) + __syncthreads_or(a[i] == 7); const int before = thread > 0 ? s[thread - "
      "1] : 5; __syncthreads(); s[thread] "
      "+= before; __syncthreads(); b[i] += s[thread] + s[0];");
  // Threads that exit before a barrier, and loops of barriers.
  compare_large(
      "__shared__ int s[1024]; s[thread] = 0; __syncthreads(); if (a[i] > 40) return; atomicAdd(&s[thread / 4], a[i]); "
      "__syncthreads(); for (int k = 1; k < 64; k *= 2) { const int o = s[thread / k]; __syncthreads(); "
      "s[thread] += o; __syncthreads(); } b[i] = s[thread];");
}

TEST_CASE("simd: warps of large kernels with volatile accesses run in step", "[cpu][simd]") {
  const std::string text =
      "__global__ void k(const int* a, float* x, float* y, int n, int* b) { const int i = threadIdx.x; " +
      ballast(250) + R"(
      volatile __shared__ int s[64];
      s[i] = a[i];
      const int lane = i % 32;
      for (int k = 16; k > 0; k /= 2)
        if (lane < k) s[i] = s[i] + s[i + k];
      if (lane == 0) b[i / 32] = s[i];
    })";
  for (const char* processor : {"", "x86-64-v3"}) {
    CpuTestDevice device({}, processor);
    const auto module = device.compile(text, {}, {"--engine=simd"});
    const SimdData data;
    int sums[2] = {};
    device.launch(*device.kernel(module, "k"), one_dimension(1, 64), data.ints.data(), nullptr, nullptr, 64, &sums[0]);
    CHECK(sums[0] == std::accumulate(&data.ints[0], &data.ints[32], 0));
    CHECK(sums[1] == std::accumulate(&data.ints[32], &data.ints[64], 0));
  }
}

TEST_CASE("simd: very large kernels", "[cpu][simd]") {
  compare_very_large("int s = 0; for (int k = 0; k < (a[i] & 31); ++k) s += k * a[(i + k) % n]; b[i] = s;");
  compare_very_large(
      "float q[9]; for (int k = 0; k < 9; ++k) q[k] = x[i] * k; for (int k = 0; k < 20; ++k) q[(a[i] + 100 + k) % 9] "
      "+= x[i + k]; "
      "y[i] = q[i % 9];");
  compare_very_large(
      "for (int k = 0; k < 20; ++k) { if (k * 7 + (i & 15) >= a[i]) break; const int v = b[i] + 1; for (int l = 0; l < "
      "n / 512; "
      "++l) y[i] += v * l; b[i] = v; }");
  compare_very_large("for (int k = i; k < n; k += gridDim.x * blockDim.x * 8) b[i] += a[k];");
  compare_very_large(
      "float s = 0; for (int k = 0; k < 16; ++k) { if (x[(i + k) % n] < 0) continue; s += x[i + k] * k; } y[i] = s;");
}
