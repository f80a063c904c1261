// The SIMD engine of the CPU device against the scalar one: control flow, numbers and threads together.

#include "tests/unit/simd_compare.h"

using namespace gpulua;

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

// LLVM 19 selects instructions for ever where it meets `or` of two words that are masks too (mask_words.h).
TEST_CASE("simd: bounds that are or'ed", "[cpu][simd]") {
  const std::string start =
      "const int t = blockIdx.x * blockDim.x + threadIdx.x, r = a[t]; const float p = x[t], q = x[t + n / 2]; const "
      "bool c = t < n / 15, d = t < n / 9; y[t] = c ? p : q; b[t] = d ? r : 5; ";
  compare(start + "y[t + n] = c | d ? q : p * 2;");
  compare(start + "y[t + n] = c || d ? q : p * 2;");
  compare(start + "y[t + n] = t % 32 < 7 || d ? q : p * 2;");
}

// The rows of neighbouring blocks are one row (flat_rows.h), but for the last two.
TEST_CASE("simd: threads numbered along the grid", "[cpu][simd]") {
  const std::string number =
      "const int t = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y; ";
  compare(number + "if (t < 60 && r < 60) y[r * 64 + t] = x[r * 64 + t] * 2 - t;");
  compare(number + "if (t > 0 && t < 60 && r < 60) b[r * 64 + t] += a[r * 64 + t - 1] * r;");
  compare(number + "for (int k = t; k < 4000; k += gridDim.x * blockDim.x) atomicAdd(&b[k], a[k]);");
  compare(
      "const unsigned long t = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x; if (threadIdx.y == 0 && "
      "blockIdx.y "
      "== 0 && threadIdx.z == 0 && blockIdx.z == 0) y[t] = x[t] + t;");
  compare(number + "if (t < 60 && r < 60) y[r * 64 + t] = x[r * 64 + t] * threadIdx.x;");
  compare(number + "if (t < 60 && r < 60) y[r * 64 + t] = x[r * 64 + t] * blockIdx.x;");
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
      "for (int k = 0; k < 20; ++k) { if (k * 7 + (i & 15) >= a[i]) break; const int v = b[i] + 1; for (int l = 0; l < "
      "n / "
      "512; ++l) y[i] += v * l; b[i] = v; }");
  compare(
      "for (int k = 0; k < 9; ++k) { if (a[(i + k) % n] > 40) continue; const float v = x[(i + k) % n]; for (int l = "
      "0; l "
      "< 3; ++l) { if (a[(i * l + k) % n] > 80) break; const int w = b[i]; for (int m = 0; m < n / 1024; ++m) y[i] += "
      "v; "
      "b[i] = w + l; } y[i] *= v; }");
  compare(
      "unsigned u = i; int steps = 0; do { u = u & 1 ? 3 * u + 1 : u / 2; ++steps; } while (u > 1 && steps < 200); "
      "b[i] = steps;");
  compare("for (int k = i; k < n; k += gridDim.x * blockDim.x * 8) b[i] += a[k];");
  compare(
      "float s = 0; for (int k = 0; k < 16; ++k) { if (x[(i + k) % n] < 0) continue; s += x[(i + k) % n] * k; } y[i] = "
      "s;");
}

// Warps run for one row after the other (flat_numbers.h).
TEST_CASE("simd: flat numbers taken apart", "[cpu][simd]") {
  const std::string width = "const int width = n / 2048 * ";  // n is 2048
  for (const char* columns : {"56; ", "28; ", "33; ", "16; ", "3; ", "1; ", "0; ", "-40; "}) {
    const std::string start = width + columns;
    compare(start +
            "if (i < 900) { const int row = i / width, column = i % width; y[i] = x[row * 40 + column & 4095]; }");
    compare(start +
            "for (int k = i; k < 3000; k += gridDim.x * blockDim.x * 256) { const int q = k / width, r = k % "
            "width; if (r > 4) b[k & 4095] += a[(q * 41 + r) & 4095]; y[k & 4095] = q * 2 + r; }");
  }
  compare(
      "const unsigned width = n / 40; const unsigned q = i / width, r = i % width; if (r & 1) return; b[i] = a[r] + "
      "q;");
  compare("const long long k = i + n, width = n / 30; b[i] = a[k % width] * 7 + k / width;");
  compare("const int q = i / 24, r = i % 24, s = i / 72, t = i % 72; b[i] = a[r * 3 + q] - a[t + s];");
  compare(
      "int sum = 0, last = 0; for (int k = i; k < 2500; k += 1024) { sum += a[k % (n / 38)] * (k / (n / 38)); last = "
      "k; } b[i] = sum * 3 + last;");
  compare("const int k = i - 700, width = n / 51; b[i] = k / width * 1000 + k % width; y[i] = x[(k % width + 100)];");
  compare("const int k = i + 0x7ffffe80, width = n / 51; b[i] = k / width + a[k % width & 255];");
}

// They run lane by lane (range_loops.h).
TEST_CASE("simd: loops over a range of the lane's own", "[cpu][simd]") {
  const std::string range = "const int first = (a[i] & 63) + i, last = first + (a[i + 1] & 31); ";
  compare(range + "float sum = 0; for (int k = first; k < last; ++k) sum += x[k] * x[a[k] & 1023]; y[i] = sum;");
  compare(range + "int most = -5, k = first; for (; k < last; ++k) most = max(most, a[k]); b[i] = most * 100 + k;");
  compare(range + "float sum = 1; for (int k = last; k > first; k -= 2) if (a[k] > 0) sum += x[k]; y[i] = sum;");
  compare(range +
          "if (a[i] > 20) return; double sum = 0; bool any = false; for (unsigned k = first; k < last; ++k) { sum -= "
          "x[k]; any |= a[k] == 7; } y[i] = sum; b[i] = any;");
}

TEST_CASE("simd: loops whose last turn is for some lanes only", "[cpu][simd]") {
  const std::string most = "const int step = blockDim.x; ";
  compare(most +
          "int s = 0, last = -1; int k; for (k = threadIdx.x; k < 1000; k += step) { s += a[k]; last = k; } "
          "b[i] = s + last * 7 + k;");
  compare(most + "for (int k = threadIdx.x; k <= 100; k += step) { if (a[k] > 0) atomicAdd(&b[k], a[k]); }");
  compare(most +
          "float s = 0; if (a[i] > 0) for (long long k = threadIdx.x; k < n; k += step) s += x[k] * x[k]; "
          "else s = 1; y[i] = s;");
  compare(most +
          "for (int l = 0; l < 3; ++l) { int s = 0; for (unsigned k = threadIdx.x * 2; k < 900u + l; k += step) "
          "s = s * 5 + a[k]; b[i] += s; }");
  compare(
      "int turns = 0; for (int k = threadIdx.x - 40; k < (int)(blockDim.x & 7) - 20; k += 16) ++turns; b[i] = turns;");
  // Bounds and numbers near the ends of their types.
  compare("int turns = 0; for (int k = threadIdx.x, end = 200; k < end; k += 3, --end) turns += a[k]; b[i] = turns;");
  compare(
      "int turns = 0; for (int k = 0x7ffffe00 + (int)threadIdx.x / 32 + threadIdx.x % 32; k < 0x7fffffd0; k += 32) "
      "++turns; b[i] = turns;");
  compare(
      "int turns = 0; for (unsigned k = 0xfffffe00u + threadIdx.x % 32; k < 0xfffffff0u && turns < 50; k += 32) "
      "++turns; b[i] = turns;");
  compare(
      "int turns = 0; unsigned k = 0xfffffe00u + threadIdx.x % 32; do { ++turns; k += 32; } while (k < 0xfffffff0u && "
      "turns < 50); b[i] = turns;");
  compare(
      "int turns = 0; int k = -0x7fffff80 - 128 + (int)(threadIdx.x % 32); do { ++turns; k += 32; } "
      "while (k < -0x7fffffe0 + 10); b[i] = turns;");
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

TEST_CASE("simd: bits of a thread's row", "[cpu][simd]") {
  for (const char* operation : {"&", "|", "^", "<<", ">>", "*", "%"}) {
    const std::string row = std::string("const int m = n / 400, r = threadIdx.y ") + operation + " m; ";
    compare(row + "b[i] = r * 10 + threadIdx.x; y[i] = x[r * 16 + threadIdx.x & 4095];");
  }
  compare("const int m = n / 400; b[i] = (m & threadIdx.y) + a[(threadIdx.y + 6 | m) * 16 + threadIdx.x];");
}

TEST_CASE("simd: integers of 128 bits", "[cpu][simd]") {
  compare("const auto v = (unsigned __int128)threadIdx.x * 0x4000000000000001ull; b[i] = (int)(v >> 64) + (int)v;");
  compare("const auto v = (__int128)(int)threadIdx.x * -0x4000000000000001ll; b[i] = (int)(v >> 64) + (int)v;");
  compare("const auto v = (unsigned __int128)(threadIdx.x * 0x4000000000000001ull) << 3; b[i] = (int)(v >> 64);");
  compare("b[i] = (int)(threadIdx.x * 0x9e3779b97f4a7c15ull >> 40) + (int)__umul64hi(threadIdx.y, ~0ull - i);");
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

TEST_CASE("simd: warps that come to the same barriers, and such that do not", "[cpu][simd]") {
  const std::string start =
      "__shared__ int s[1024]; const unsigned count = blockDim.x * blockDim.y * blockDim.z, next = (thread + 1) % "
      "count; "
      "s[thread] = a[i]; __syncthreads(); ";
  compare(
      start +
      "int u = 1, v = n; for (int k = 0; k < 5; ++k) { s[thread] = a[i] + u * k; __syncthreads(); b[i] += s[next] * v; "
      "const int t = u; u = v + t; v = t * k; __syncthreads(); } b[i] += u - v;");
  compare(start +
          "for (unsigned half = 512; half; half /= 2) { if (thread < half && thread + half < count) s[thread] += "
          "s[thread + half]; __syncthreads(); } b[i] = s[0];");
  compare(
      start +
      "int v = a[i], turns = 0; while (__syncthreads_count(v > 0)) { v -= 20 + thread % 7; ++turns; } b[i] = turns * "
      "100 + v;");
  compare(start +
          "int c = __syncthreads_count(s[next] > 0), d = __syncthreads_or(a[i] > c), e = __syncthreads_and(a[i] > -d); "
          "b[i] = c + d * 1000 + e * 2000;");
  // What differs between warps although its operands do not.
  compare(start + "int k = 0; while (k < (int)(thread / 32) + 1) ++k; __syncthreads(); b[i] = k; y[i] = s[next];");
  compare(start +
          "int u = 0; if (thread / 32 == 0) u = n * 3; __syncthreads(); if (thread / 32 == 0) b[i] = u + s[next];");
  compare(start + "int u = thread / 32 == 1 ? n : 7; __syncthreads(); b[i] = u; __syncthreads(); y[i] = u + s[next];");
  compare(start +
          "for (int k = 0; k < s[0] % 5 + 6; ++k) { __syncthreads(); if (thread == 0 && k == 2) s[0] -= 1; "
          "__syncthreads(); b[i] += k; }");
  // Some leave.
  compare(start + "if (thread >= 32) return; b[i] = s[next]; __syncthreads(); y[i] = s[thread] + n;");
  compare(start +
          "if (blockIdx.x > 0) { b[i] = s[next]; __syncthreads(); s[thread] = n; __syncthreads(); } y[i] = s[next];");
  compare(start +
          "for (int k = 0; k < 3; ++k) { for (int l = 0; l <= k; ++l) { s[thread] += l * n; __syncthreads(); b[i] += "
          "s[next]; __syncthreads(); } if (blockIdx.x + k == 2) return; } y[i] = s[thread];");
  // Out of a loop of as many turns for all: after it are those that have not left.
  compare(start +
          "for (int k = 0; k < 4; ++k) { if (x[i] < k) { for (int l = 0; l < (a[i] & 7); ++l) b[i] += l * k; if (x[i] "
          "!= y[i]) { b[i] = k; return; } } b[i] += s[next]; __syncthreads(); s[thread] += k; __syncthreads(); } y[i] "
          "= s[next]; __syncthreads(); s[thread] = n; __syncthreads(); b[i] += s[next];");
  compare(start +
          "int v = 0, u = a[i]; for (int k = 0; k < 4; ++k) { for (int w = 0; w++ < 6 && (int)thread > u; v += w) for "
          "(int l = 0; l++ < 6 && x[i] <= w;) u += l; if (i == v) { y[i] = 2; b[i] = u; return; } u ^= s[next]; "
          "__syncthreads(); s[thread] += k; __syncthreads(); if (x[i] < v) u += 5; else switch (u & 3) { case 0: v = "
          "9; break; case 1: v += 3; } } y[i] = s[next]; __syncthreads(); s[thread] = n; __syncthreads(); b[i] += "
          "s[next] + u + v;");
}

// Kernels that do not use threadIdx.y have a variant for lines of threads whose last warp is no whole one.
TEST_CASE("simd: barriers of blocks in a line", "[cpu][simd]") {
  const std::string start =
      "__shared__ float s[1024], r[1024]; const unsigned me = threadIdx.x, t = blockIdx.x * blockDim.x + me; s[me] = "
      "x[t]; __syncthreads(); ";
  compare(start +
          "r[me] = me + 5 < blockDim.x ? s[me] + s[me + 5] : -1; __syncthreads(); if (t < n / 9) y[t] = "
          "r[blockDim.x - 1 - me];");
  compare(start + "float sum = 0; for (unsigned k = me % 3; k < blockDim.x; k += 3) sum += s[k]; y[t] = sum;");
  compare(start + "if (me >= 32) return; __syncthreads(); b[t] = a[t] + (me + 1 < blockDim.x ? (int)s[me + 1] : n);");
  compare(start + "if (me < 7 || t > n / 10) y[t] = s[(me ^ 1) < blockDim.x ? me ^ 1 : me];");
}

TEST_CASE("simd: what the engine leaves to the scalar one", "[cpu][simd]") {
  CpuTestDevice device;
  auto reason = [&](const std::string& text) {
    return message_of([&] { device.compile(text, {}, {"--engine=simd"}); });
  };
  CHECK_THAT(reason("__device__ __noinline__ int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }"
                    "__global__ void k(int* x) { x[threadIdx.x] = fib(x[threadIdx.x]); }"),
             Catch::Matchers::ContainsSubstring("cannot run the kernel 'k': recursion"));
  CHECK_THAT(reason("__device__ int g(int n); __device__ int f(int n) { return n < 9 ? g(n + 1) + 1 : n; }"
                    "__device__ int g(int n) { return f(n + 1) * 2; }"
                    "__global__ void k(int* x) { x[threadIdx.x] = f(x[threadIdx.x]); }"),
             Catch::Matchers::EndsWith("cannot run the kernel 'k': recursion"));
  CHECK_THAT(reason("__device__ int f(int x) { return x + 1; } __device__ int (*table[2])(int) = {f, f};"
                    "__global__ void k(int* x) { x[threadIdx.x] = table[x[threadIdx.x]](1); }"),
             Catch::Matchers::ContainsSubstring("a call through a pointer"));
  CHECK_THAT(
      reason("__global__ void k(int* x) { if (x[threadIdx.x]) __syncthreads(); else x[0] = 1; __syncthreads(); }"),
      Catch::Matchers::ContainsSubstring("a barrier where lanes of a warp have parted"));
  CHECK(reason("__global__ void k(int* x) { x[threadIdx.x] = 1; }") == "(nothing thrown)");
}
