// The SIMD engine of the CPU device against the scalar one: atomics.

#include "tests/unit/simd_compare.h"

using namespace gpulua;

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
  // `read` may be the array that counts, or overlap with it by one element, before or after.
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
