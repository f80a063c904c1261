// The SIMD engine of the CPU device against the scalar one: the same kernels, the same inputs, the same bits.

#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "tests/unit/cpu_device.h"

using namespace gpulua;

namespace {

constexpr unsigned elements = 4096;

struct Data {
  std::vector<int> ints = std::vector<int>(elements), ints_out = std::vector<int>(elements);
  std::vector<float> floats = std::vector<float>(elements), floats_out = std::vector<float>(elements);
};

Data random_data() {
  Data data;
  std::mt19937 random(7);
  for (unsigned i = 0; i < elements; ++i) {
    data.ints[i] = static_cast<int>(random() % 200) - 100;
    data.floats[i] = static_cast<float>(static_cast<int>(random() % 2000) - 1000) / 64.0f;
  }
  return data;
}

const Dim3 shapes[][2] = {{{4, 1, 1}, {256, 1, 1}}, {{3, 1, 1}, {100, 1, 1}}, {{2, 2, 1}, {16, 16, 1}},
                          {{2, 1, 3}, {7, 5, 3}},   {{1, 1, 1}, {1, 1, 1}},   {{2, 2, 1}, {32, 8, 1}},
                          {{1, 3, 1}, {64, 2, 2}},  {{2, 1, 1}, {16, 2, 2}},  {{1, 2, 2}, {16, 3, 1}},
                          {{3, 2, 1}, {8, 8, 1}},   {{2, 1, 1}, {48, 2, 1}},  {{2, 3, 1}, {1, 64, 1}},
                          {{1, 3, 1}, {16, 6, 3}},  {{9, 1, 1}, {33, 1, 1}},  {{3, 1, 1}, {16, 1, 1}}};

/// Bodies use `i`, the thread's number in the grid, `n`, `a` and `x` (inputs), `b` and `y` (outputs, an element a
/// thread).
void compare(const std::string& body, const std::string& before = "") {
  const std::string text = before + R"(
    __global__ void k(const int* a, const float* x, int* b, float* y, int n) {
      const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
      const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
      const int i = block * blockDim.x * blockDim.y * blockDim.z + thread;
      )" + body + "}";
  CpuTestDevice device;
  auto scalar = device.compile(text, {}, {"--engine=scalar"});
  auto simd = device.compile(text, {}, {"--engine=simd"});
  for (const auto& [grid, block] : shapes) {
    LaunchConfig config;
    config.grid = grid;
    config.block = block;
    Data expected = random_data(), got = expected;
    auto run = [&](const std::shared_ptr<Module>& module, Data& data) {
      device.launch(*device.kernel(module, "k"), config, data.ints.data(), data.floats.data(), data.ints_out.data(),
                    data.floats_out.data(), int{elements / 2});
    };
    run(scalar, expected);
    run(simd, got);
    INFO("block " << block.x << " x " << block.y << " x " << block.z << "\n" << body);
    CHECK(expected.ints_out == got.ints_out);
    CHECK(std::memcmp(expected.floats_out.data(), got.floats_out.data(), elements * sizeof(float)) == 0);
  }
}

}  // namespace

TEST_CASE("simd: lanes that part and meet", "[cpu][simd]") {
  compare(
      "if (a[i] > 0) { b[i] = a[i] * 3; if (a[i] % 2) y[i] = x[i] + 1; else return; } else if (i & 1) y[i] = -x[i]; "
      "b[i] += 7;");
  compare(
      "switch (a[i] & 7) { case 0: b[i] = 1; break; case 1: b[i] = 5; case 2: y[i] = 2; break; case 5: return; "
      "default: b[i] = 9; } y[i] += 1;");
  compare("if (i >= n / 3) return; if (n > 5) { b[i] = a[i] + n; if (a[i] > 50) return; } y[i] = x[i] * 2;");
  compare("int r = 0; if (a[i] > 0) goto one; r = 1; if (x[i] > 0) goto two; one: r += 2; two: b[i] = r;");
}

TEST_CASE("simd: loops that lanes leave in different turns", "[cpu][simd]") {
  compare("int s = 0; for (int k = 0; k < (a[i] & 31); ++k) s += k * a[(i + k) % n]; b[i] = s;");
  compare(
      "int s = 0, k = 0; while (true) { if (k > 40) break; k += 1 + (a[i] & 3); if (a[(i + k) % n] < -90) { s = -1; "
      "break; } if (k & 1) continue; s += k; } b[i] = s; y[i] = k;");
  compare(
      "for (int k = 0; k < 30; ++k) { for (int l = 0; l < 5; ++l) { if (a[(i * 3 + k * l) % n] > 95) { b[i] = k * 10 + "
      "l; return; } if (l > (i & 3)) break; } } y[i] = 1;");
  compare(
      "int last = -1; int k; for (k = i & 7; k < 100; k += 3) { last = k; if (a[(i + k) % n] > 60) break; } b[i] = "
      "last * 1000 + k;");
  compare(
      "unsigned u = i; int steps = 0; do { u = u & 1 ? 3 * u + 1 : u / 2; ++steps; } while (u > 1 && steps < 200); "
      "b[i] = steps;");
  compare("for (int k = i; k < n; k += gridDim.x * blockDim.x * 8) b[i] += a[k];");
  compare(
      "float s = 0; for (int k = 0; k < 16; ++k) { if (x[(i + k) % n] < 0) continue; s += x[(i + k) % n] * k; } y[i] = "
      "s;");
}

TEST_CASE("simd: bounds around where integers wrap", "[cpu][simd]") {
  for (const char* type : {"unsigned char", "short", "int", "unsigned", "long long", "unsigned long long"})
    compare(std::string("using T = ") + type + R"(;
      const long long at[] = {0, 1, 31, 32, 100, 127, 128, 250, 32767, 65535, 2147483647, 2147483648, 4294967290, -1, -5,
                              -31, -32, -100, -128, -32768, -2147483648, 9223372036854775807, -9223372036854775807};
      unsigned hash = 0;
      for (long long start : at)
        for (long long end : at) {
          const T k = (T)((T)start + (T)threadIdx.x), limit = (T)end;
          hash = hash * 31 + (k < limit) + (k >= limit) * 2 + (limit > k) * 4 + (limit <= k) * 8;
        }
      b[i] = (int)hash;)");
}

TEST_CASE("simd: addresses", "[cpu][simd]") {
  compare("const unsigned j = i - 1u; if (j < (unsigned)n) b[i] = a[j];");
  compare("const unsigned j = threadIdx.x - 5u; if (j < 20u) b[i] = a[j]; y[i] = x[i * 7 % n];");
  compare("const unsigned long long j = (unsigned)(i + 4294967290u); if (j < 2000) b[i] = a[j];");
  compare(
      "const unsigned char* c = (const unsigned char*)a; const short* s = (const short*)a; b[i] = c[i] + s[i] * 3 + "
      "c[i * 5 % n];");
  compare("((unsigned char*)b)[i] = a[i]; ((short*)y)[i * 2 % 4096] = (short)a[i];");
  compare("b[i] = p[i % 64].u + p[(i + 3) % 64].w; y[i] = p[a[i] & 63].v;",
          "struct P { int u; float v; short w; }; __device__ P p[64] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};");
  compare("const float4 v = ((const float4*)x)[i / 2]; y[i] = v.x + v.y * v.z - v.w; ((int2*)b)[i / 2] = {i, i / 2};");
}

TEST_CASE("simd: rows, halves of rows and columns", "[cpu][simd]") {
  // A matrix of 64 x 64, by the grid's coordinates.
  const std::string at =
      "const int c = (blockIdx.x * blockDim.x + threadIdx.x) & 63, r = (blockIdx.y * blockDim.y + threadIdx.y) & 63;"
      "const int m = n / 32;";
  compare(at + "b[i] = a[r * m + c] + a[r] * 3 + a[c] * 5; y[i] = x[c * m + r];");
  compare(at + "b[i] = a[threadIdx.y] + a[threadIdx.y * 16 + threadIdx.x] + a[threadIdx.y * 3 + threadIdx.x * 2];");
  compare(at + "if (c < r) { b[i] = a[r * m + c]; y[i] = x[r]; } else if (r & 1) b[i] = a[r + m] - a[threadIdx.z];");
  compare(at + "int s = 0; for (int k = 0; k < m; ++k) s += a[r * m + k] * a[k * 64 + c]; b[i] = s;");
  compare(at + "int s = 0; for (int k = r; k < m; k += 3) { if (a[k * m + c] > 60) continue; s += a[k]; } b[i] = s;");
  compare(
      "const unsigned char* p = (const unsigned char*)a; const double* d = (const double*)x;"
      "b[i] = p[threadIdx.y * 40 + threadIdx.x] + p[threadIdx.y]; y[i] = (float)(d[threadIdx.x] != d[threadIdx.y]);");
  compare("const int r = threadIdx.x / 16, c = threadIdx.x % 16; b[i] = a[r * n / 64 + c] + a[r] + a[c];");
  compare(
      "const int r = min(threadIdx.y, 5); int q = r * n % 1000; if (a[i] & 1) q = r / 2; b[i] = a[q + threadIdx.x];");
  // Stores that overlap: the later lane's stays.
  compare("if (i < 256) b[blockIdx.x * 0 + threadIdx.x] = 7; y[i] = threadIdx.y * 2.0f + threadIdx.z;");
}

TEST_CASE("simd: indices that wrap", "[cpu][simd]") {
  for (const char* start : {"0xfffffff0u", "0xffffffffu - 20u", "0x7ffffff3u", "0x80000000u - 8u", "0u - 100u"}) {
    const std::string from = std::string("const unsigned start = ") + start + " + (n - n);";
    compare(from + "unsigned j = start + threadIdx.x; if (j < 4096u) b[i] = a[j]; y[i] = (float)(j >> 4);");
    compare(from + "int j = (int)(start + threadIdx.x + threadIdx.y * 5); if (j >= 0 && j < 4096) b[i] = a[j];");
    compare(from + "const unsigned long long j = start + threadIdx.x; b[i] = a[j & 1023]; y[i] = (float)(j >> 3);");
    compare(from + "const long long j = (int)(start + threadIdx.y); b[i] = a[j & 1023] + (int)(j >> 32);");
    compare(from + "unsigned j = start + threadIdx.y * 16 + threadIdx.x; if (j < 4096u) b[j & 4095] = 1 + a[i] * 0;");
    compare(from + "unsigned j = start + i * 2; if (j < 2048u) { ((int2*)b)[j] = {1, 2}; y[j + 1] = x[j]; }");
  }
  compare("for (unsigned k = i; k < n; k += gridDim.x * blockDim.x * gridDim.y * blockDim.y) b[k] = a[k] + 1;");
  compare(
      "const unsigned char k = threadIdx.x * 3; b[i] = a[k] + (signed char)k; const short s = threadIdx.y * 2000; "
      "y[i] = x[(s + 70000) & 1023];");
}

TEST_CASE("simd: tiles in shared memory", "[cpu][simd]") {
  compare(R"(__shared__ int s[32][33]; const int tx = threadIdx.x & 31, ty = threadIdx.y & 31;
             if (threadIdx.x < 32 && threadIdx.y < 32 && threadIdx.z == 0) s[ty][tx] = a[i]; else s[0][32] = 0;
             __syncthreads(); int t = 0;
             for (int k = 0; k < 32 && k < (int)blockDim.x; ++k) t += s[k % min(32, (int)blockDim.y)][tx] * k + s[ty][k % min(32, (int)blockDim.x)];
             __syncthreads(); b[i] = t;)");
  compare(R"(__shared__ float s[16][16]; const bool in = threadIdx.x < 16 && threadIdx.y < 16 && threadIdx.z == 0;
             if (in) s[threadIdx.y][threadIdx.x] = x[i]; __syncthreads(); float t = 0;
             if (in) for (int k = 0; k < 16; ++k) if (k < blockDim.x && k < blockDim.y) t += s[threadIdx.y][k] * s[k][threadIdx.x];
             y[i] = t; b[i] = __popc(__ballot_sync(~0u, 1)) * 0 + __any_sync(~0u, in);)");
}

TEST_CASE("simd: fields, and every few elements", "[cpu][simd]") {
  for (const char* type : {"unsigned char", "short", "int", "float", "double"})
    for (const char* apart : {"2", "3", "4"})
      for (const char* condition : {"true", "a[i] > 0", "i < n / 5"}) {
        const std::string start = std::string("using T = ") + type + "; if (" + condition + ") { ";
        const std::string place = std::string("[(i & 255) * ") + apart + " + 1]";
        compare(start + "y[i] = (float)((const T*)a)" + place + "; }");
        compare(start + "if (i < 512) ((T*)b)[i * " + apart + "] = (T)a[i]; }");
      }
  compare("const float4 v = ((const float4*)x)[i & 255]; ((float4*)y)[i & 255] = {v.w, v.x + 1, v.z, v.y};");
  compare("const uchar3 v = ((const uchar3*)a)[i]; b[i] = v.x + 2 * v.y + 3 * v.z; ((uchar3*)y)[i] = {v.z, v.x, v.y};");
}

TEST_CASE("simd: arrays of a thread's own", "[cpu][simd]") {
  compare(
      "int t[8]; for (int k = 0; k < 8; ++k) t[k] = a[(i + k) % n]; int s = 0; for (int k = 0; k < 20; ++k) s += "
      "t[(a[i] + k) & 7] * k; b[i] = s;");
  compare(
      "int t[37] = {}; for (int k = 0; k < n / 64; ++k) t[(a[(i + k) % n] + 100) % 37] += k; int s = 0; for (int k = "
      "0; k < 37; ++k) s = s * 3 + t[k]; b[i] = s;");
  compare(
      "struct { float f; short s[5]; } t[4] = {{1, {1, 2, 3}}, {2}, {3}}; t[i & 3].s[a[i] & 3] += 4; t[a[i] & 3].f += "
      "x[i]; b[i] = t[1].s[2] + t[i & 3].s[a[i] & 3]; y[i] = t[a[i] & 3].f;");
}

TEST_CASE("simd: integers of all sizes", "[cpu][simd]") {
  for (const char* type : {"signed char", "unsigned char", "short", "unsigned short", "int", "unsigned", "long long",
                           "unsigned long long"})
    compare(std::string("using T = ") + type + R"(;
      T u = (T)(a[i] * 77), v = (T)(a[(i + 1) % n] - 3);
      T r = u * v + (u / (v == 0 ? 1 : v)) - (u % (v == 0 ? (T)7 : v)) + (u >> (i & 3)) + (u << (i & 3)) ^ (u & v);
      b[i] = (int)r + (u < v) * 1000; y[i] = (float)r;)");
  compare(
      "b[i] = a[i] / (a[(i + 1) % n]) + a[i] % (a[(i + 2) % n]); y[i] = (float)((unsigned)a[i] / (unsigned)(a[(i + 3) "
      "% n] & 15));");
  compare(
      "b[i] = __popc(a[i]) + __clz(a[i]) * 32 + __ffs(a[i]) * 1000 + (int)__brev(a[i]); y[i] = (float)__umulhi(a[i], "
      "1234567);");
  compare(
      "b[i] = (int)(x[i] * 1e9f) ^ (int)(unsigned)x[i]; y[i] = fminf(x[i], 1.0f) + fmaxf(x[i], (float)a[i]) + "
      "floorf(x[i]) * rintf(x[i]);");
}

TEST_CASE("simd: atomics", "[cpu][simd]") {
  compare(
      "atomicAdd(&b[a[i] & 15], a[i]); atomicMax(&b[20], a[i]); atomicMin(&b[21], a[i]); atomicOr(&b[22], a[i]); "
      "atomicAnd(&b[23], a[i]); atomicXor(&b[24], a[i]); atomicSub(&b[25], 2);");
  compare(
      "if (a[i] > 10) atomicAdd(&b[0], 3); int old = b[100], seen; do { seen = old; old = atomicCAS(&b[100], seen, "
      "seen + (a[i] & 7)); } while (old != seen);");
}

TEST_CASE("simd: atomics on shared memory", "[cpu][simd]") {
  // Both engines start with thread 0 and go on in order, until there is a barrier.
  const std::string start = "__shared__ int s[16]; if (thread == 0) for (int k = 0; k < 16; ++k) s[k] = 0; ";
  const std::string end = "__syncthreads(); if (thread < 16) b[1024 + block * 16 + thread] = s[thread];";
  for (const char* operation : {"Add", "Sub", "Min", "Max", "And", "Or", "Xor", "Exch"})
    for (const char* place : {"3", "a[i] & 15"})
      for (const char* condition : {"true", "a[i] > 0", "a[i] > 95", "thread % 32 != 31"}) {
        const std::string call = std::string("atomic") + operation + "(&s[" + place + "], a[i]);";
        compare(start + "if (" + condition + ") " + call + end);
        compare(start + "if (" + condition + ") b[i] = " + call + end);
      }
  compare(start + "if (a[i] > 0) b[i] = atomicInc((unsigned*)&s[a[i] & 3], 5); " + end);
  compare(start + "b[i] = atomicCAS(&s[a[i] & 7], 0, a[i]); " + end);
  compare("extern __shared__ int d[]; b[i] = atomicAdd(&d[0], 0) * 0;");
}

TEST_CASE("simd: atomics on one place or another", "[cpu][simd]") {
  const std::string start =
      "__shared__ int s[16], t[16]; if (thread < 16) s[thread] = t[thread] = 0; __syncthreads(); ";
  const std::string end =
      "__syncthreads(); if (thread < 16) { b[1024 + block * 16 + thread] = s[thread]; b[2048 + block * 16 + thread] = "
      "t[thread]; }";
  compare(start + "atomicAdd((a[i] & 1 ? s : t) + (a[i] & 14), a[i]); " + end);
  compare(start + "atomicAdd((a[i] & 1 ? s : b + 3000) + (a[i] & 14), a[i]); " + end);
  compare(start + "int* p = n > 5 ? s : b; for (int k = 0; k < 5; ++k) atomicAdd(p++, k + a[i]); " + end);
}

TEST_CASE("simd: atomics of other types", "[cpu][simd]") {
  for (const char* type : {"unsigned long long", "float", "double"}) {
    const std::string start = std::string("__shared__ ") + type +
                              " s[16]; if (thread == 0) for (int k = 0; k < 16; ++k) s[k] = 0; " + type + " own = (" +
                              type + ")x[i]; ";
    const std::string end = "__syncthreads(); if (thread < 16) y[1024 + block * 16 + thread] = s[thread];";
    for (const char* place : {"3", "a[i] & 15"}) {
      compare(start + "atomicAdd(&s[" + place + "], own); " + end);
      compare(start + "if (a[i] & 1) y[i] = atomicAdd(&s[" + place + "], own); " + end);
    }
  }
  compare(
      "__shared__ unsigned short s[16]; if (thread == 0) for (int k = 0; k < 16; ++k) s[k] = 7; b[i] = "
      "atomicCAS(&s[a[i] & "
      "15], (unsigned short)7, (unsigned short)a[i]); __syncthreads(); if (thread < 16) b[1024 + block * 16 + thread] "
      "= s[thread];");
}

TEST_CASE("simd: atomics of many blocks at once", "[cpu][simd]") {
  CpuTestDevice device;
  auto module = device.compile(R"(
    __global__ void k(int* next, int* taken, int* counts, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      taken[atomicAdd(next, 1)] += 1;
      atomicAdd(&counts[i % 7], 1);
      if (i % 3 == 0) atomicAdd(&counts[7], i % 5);
      if (i % 2 == 0) taken[n + atomicSub(next + 1, i % 4 + 1)] += 1;
    })",
                               {}, {"--engine=simd"});
  constexpr int n = 100'000;
  int sum = 0, threes = 0;
  for (int i = 0; i < n; i += 2) sum += i % 4 + 1;
  for (int i = 0; i < n; i += 3) threes += i % 5;
  std::vector<int> next{0, sum}, taken(n + sum + 1), counts(8);
  LaunchConfig config;
  config.grid = {n / 96 + 1, 1, 1};
  config.block = {96, 1, 1};
  device.launch(*device.kernel(module, "k"), config, next.data(), taken.data(), counts.data(), int{n});
  CHECK(next == std::vector<int>{n, 0});
  CHECK(std::count(taken.begin(), taken.begin() + n, 1) == n);
  CHECK(*std::max_element(taken.begin() + n, taken.end()) == 1);
  CHECK(std::count(taken.begin() + n, taken.end(), 1) == n / 2);
  for (int i = 0; i < 7; ++i) CHECK(counts[i] == n / 7 + (i < n % 7));
  CHECK(counts[7] == threes);
}

TEST_CASE("simd: counts that a core keeps for itself", "[cpu][simd]") {
  compare("atomicAdd(&b[a[i] & 15], a[i]); if (a[i] & 1) atomicAdd(&b[a[i] + 1000], 3);");
  compare("for (int k = 0; k < 9; ++k) atomicAdd(&b[(i * k) % 3000], a[(i + k) % n]);");
  compare("atomicAdd(&b[((const unsigned char*)a)[i]], 1); atomicAdd(&b[1023], 1); atomicAdd(&b[1024], 1);");
  // What a lane reads, or writes over, it has counted before.
  compare("atomicAdd(&b[i], a[i]); y[i] = b[i];");
  compare("atomicAdd(&b[i], a[i]); b[2048 + i] = b[i]; b[i] = 5; atomicAdd(&b[i], 2);");
  compare("for (int k = 0; k < 5; ++k) { atomicAdd(&b[i], k); if (a[i] & 1) b[i] *= 2; }");
  compare("atomicAdd(&b[i ^ 1], a[i]); y[i] = b[i ^ 1] + ((short*)b)[2 * (i ^ 1) + 1] * 3;");
  compare("atomicAdd(&b[i], a[i]); y[i] = ((unsigned char*)(b + i))[-1] * 0;");
  compare("atomicAdd((int*)y + i, a[i]); b[i] = ((int*)y)[i];");
}

TEST_CASE("simd: counts at the edges of what a core keeps", "[cpu][simd]") {
  CpuTestDevice device;
  auto module = device.compile(R"(
    __global__ void k(int* counts, int* seen, const int* read, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i >= n) return;
      atomicAdd(&counts[i % 2048], 1);
      seen[i] = read[i % 2048];
    })",
                               {}, {"--engine=simd"});
  // `read` may be the array that counts, or overlap with it by one element, before or behind.
  for (int shift : {0, 1, -1, 1023, -1023, 5000}) {
    constexpr int n = 2048;
    std::vector<int> memory(12000), seen(n);
    int* counts = memory.data() + 4000;
    LaunchConfig config;
    config.grid = {n / 64, 1, 1};
    config.block = {64, 1, 1};
    device.launch(*device.kernel(module, "k"), config, counts, seen.data(), counts + shift, int{n});
    for (int i = 0; i < n; ++i) CHECK(counts[i] == 1);
    if (shift == 0) CHECK(std::count(seen.begin(), seen.end(), 1) == n);
  }
}

TEST_CASE("simd: counts of many blocks at once", "[cpu][simd]") {
  CpuTestDevice device;
  auto module = device.compile(R"(
    __global__ void k(const unsigned char* values, unsigned* bins, const int* wide, unsigned* far, int n) {
      for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&bins[values[i]], 1u);
        if (i & 1) atomicAdd(&far[wide[i]], (unsigned)i);
      }
    })",
                               {}, {"--engine=simd"});
  constexpr int n = 300'000;
  std::mt19937 random(3);
  std::vector<unsigned char> values(n);
  std::vector<int> wide(n);
  std::vector<unsigned> bins(256), far(5000), expected_bins(256), expected_far(5000);
  for (int i = 0; i < n; ++i) {
    ++expected_bins[values[i] = static_cast<unsigned char>(random())];
    wide[i] = static_cast<int>(random() % 5000);
    if (i & 1) expected_far[wide[i]] += static_cast<unsigned>(i);
  }
  for (unsigned block : {256u, 100u}) {
    std::fill(bins.begin(), bins.end(), 0u);
    std::fill(far.begin(), far.end(), 0u);
    LaunchConfig config;
    config.grid = {97, 1, 1};
    config.block = {block, 1, 1};
    device.launch(*device.kernel(module, "k"), config, values.data(), bins.data(), wide.data(), far.data(), int{n});
    CHECK(bins == expected_bins);
    CHECK(far == expected_far);
  }
}

TEST_CASE("simd: threads of a block together", "[cpu][simd]") {
  compare(
      "__shared__ int s[1024]; s[thread] = a[i]; __syncthreads(); for (unsigned h = 1; h < 512; h *= 2) { int t = "
      "thread >= h ? s[thread - h] : 0; __syncthreads(); s[thread] += t; __syncthreads(); } b[i] = s[thread];");
  compare(
      "__shared__ int s[1024]; s[thread] = a[i]; if (a[i] > 90) return; b[i] = __syncthreads_count(a[i] & 1); b[i] += "
      "s[thread ^ 1] * 0;");
  compare(
      "const unsigned m = __activemask() * 0 + __ballot_sync(~0u, 1); b[i] = __popc(__ballot_sync(m, a[i] > 0)) + "
      "__any_sync(m, a[i] > 98) * 100;");
  compare(
      "const unsigned m = __ballot_sync(~0u, 1); if (m != ~0u) return; int v = a[i]; for (int d = 16; d; d /= 2) v += "
      "__shfl_down_sync(m, v, d); b[i] = v; y[i] = __shfl_sync(m, x[i], 3) + __shfl_xor_sync(m, x[i], 5) + "
      "__shfl_up_sync(m, x[i], 2) + __shfl_sync(m, x[i], a[i] & 31);");
}

TEST_CASE("simd: counts come to the array that was named, whatever stands before it", "[cpu][simd]") {
  struct Pair {
    long long a, b;
  };
  CpuTestDevice device;
  auto module = device.compile(R"(
    struct Pair { long long a, b; };
    __global__ void k(Pair p, unsigned* __restrict__ bins, const unsigned* __restrict__ v, int n) {
      const int i = blockIdx.x * blockDim.x + threadIdx.x;
      if (i < n) atomicAdd(&bins[(v[i] + p.a + p.b) & 15], 1u);
    })",
                               {}, {"--engine=simd"});
  std::vector<unsigned> bins(16), values(1000);
  LaunchConfig config;
  config.grid = {4, 1, 1};
  config.block = {256, 1, 1};
  device.launch(*device.kernel(module, "k"), config, Pair{1, 2}, bins.data(), values.data(), int{1000});
  std::vector<unsigned> expected(16);
  expected[3] = 1000;
  CHECK(bins == expected);
  CHECK(values == std::vector<unsigned>(1000));
}

TEST_CASE("simd: what the engine leaves to the scalar one", "[cpu][simd]") {
  CpuTestDevice device;
  auto reason = [&](const std::string& text) {
    return message_of([&] { device.compile(text, {}, {"--engine=simd"}); });
  };
  CHECK_THAT(reason("__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }"
                    "__global__ void k(int* x) { x[threadIdx.x] = fib(x[threadIdx.x]); }"),
             Catch::Contains("cannot run the kernel 'k': recursion"));
  CHECK_THAT(reason("__device__ int f(int x) { return x + 1; } __device__ int (*table[2])(int) = {f, f};"
                    "__global__ void k(int* x) { x[threadIdx.x] = table[x[threadIdx.x]](1); }"),
             Catch::Contains("a call through a pointer"));
  CHECK_THAT(
      reason("__global__ void k(int* x) { if (x[threadIdx.x]) __syncthreads(); else x[0] = 1; __syncthreads(); }"),
      Catch::Contains("a barrier where lanes of a warp have parted"));
  CHECK(reason("__global__ void k(int* x) { x[threadIdx.x] = 1; }") == "(nothing thrown)");
}
