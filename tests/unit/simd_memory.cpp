// The SIMD engine of the CPU device against the scalar one: addresses, and memory of all kinds.

#include <sys/mman.h>

#include "tests/unit/simd_compare.h"

using namespace gpulua;

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
  compare(
      "const float4 v = ((const float4*)x)[i / 2]; y[i] = v.x + v.y * v.z - v.w; if (i & 1) ((int2*)b)[i / 2] = {i, i "
      "/ 2};");
}

// Complex numbers (widen_paired_access.h): n is 2048, the arrays have 4096 elements.
TEST_CASE("simd: neighbours that each lane loads and stores together", "[cpu][simd]") {
  const std::string point = "struct Point { float u, v; }; struct Wide { double u, v; };";
  compare(
      "const Point* from = (const Point*)x; const Point p = from[i], q = from[i + 7]; ((Point*)y)[i] = {p.u * q.u - "
      "p.v * q.v, p.u * q.v + p.v * q.u};",
      point);
  compare("if (i < 700) { const Point p = ((const Point*)x)[i]; ((Point*)y)[i] = {p.v, p.u}; }", point);
  compare("if (a[i] & 1) { y[2 * i + 1] = x[2 * i]; y[2 * i] = x[2 * i + 1]; }");
  compare("if (i > 3) { b[2 * i] = a[2 * i + 1] - a[2 * i]; b[2 * i + 1] = 9; }");
  // Two pairs, four in a row, and a store between.
  compare("if (i < 900) { b[2 * i] = i; b[2 * i + 1] = 2 * i; y[2 * i + 1] = 3; y[2 * i] = x[i]; }");
  compare("if (i < 900) { y[4 * i] = 1; y[4 * i + 1] = x[4 * i + 1] + x[4 * i]; y[4 * i + 2] = 3; y[4 * i + 3] = 4; }");
  compare("if (i < 900) { b[2 * i] = a[i]; y[i] = 4; b[2 * i + 1] = a[i + 1]; const int s = b[2 * i]; y[i] += s; }");
  compare("if (i < 900) { const int s = b[2 * i]; b[2 * i + 1] = 5; const int t = b[2 * i + 1]; b[2 * i] = s * t; }");
  compare(
      "if (i < 500) { const Wide w = ((const Wide*)x)[i]; Wide* to = (Wide*)y + (i + n - 2048); to->v = w.u == w.u ? "
      "1.5 : w.v; to->u = 2; }",
      point);
  compare("((unsigned char*)b)[2 * i] = a[i]; ((unsigned char*)b)[2 * i + 1] = a[i] >> 1;");
}

TEST_CASE("simd: quotients that a whole warp has", "[cpu][simd]") {
  // n is 2048; the divisors are 16, 0, -1 and more than a warp's lanes.
  for (const char* type : {"int", "unsigned", "long long", "size_t"})
    for (const char* divisor : {"n / 128", "n - 2048", "n - 2049", "64", "n / 40", "a[0]"}) {
      const std::string at = std::string("const ") + type + " d = " + divisor + ", j = i; ";
      compare(at + "if (i < n) { const " + type +
              " x = j % d, y = j / d; b[i] = a[(unsigned)(y * 3 + x) % n] + a[i]; }");
    }
  compare("const int u = i % 40, v = i / 40; if (i < n && u > 0 && v > 0) b[i] = u * v + a[i - 1];");
  compare("const int w = n / 100; if (i < n - 5) b[i] = w == 0 ? 7 : i / w + (a[0] == 0 ? 5 : i % w);");
  compare("const int c = i & 63, r = i >> 6; if (r < 63) b[i] = a[r * 64 + c] + a[c * 64 + r] + a[(r + 1) * 64 + c];");
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

TEST_CASE("simd: bits of variables that loops set one after the other", "[cpu][simd]") {
  // Before the first turn the other bits are undefined.
  compare(
      "unsigned long long v; for (int k = 0; k < 5; ++k) { v = (v & 0xffffffff00000000) | (unsigned)a[(i + k) % n]; "
      "b[i % 4096] += (int)v; v = (v & 0xffffffff) | ((unsigned long long)k << 32); }");
  // clang returns such a struct in two registers, whose padding goes from turn to turn.
  const std::string place =
      "struct Place { int first, second, weight; bool has_first, has_second; }; "
      "template <class T> __device__ Place find(int mode, T at, int n) { "
      "if (mode & 1) at -= T(0.5); const T whole = floor(at); Place p{(int)whole, (int)whole, 0, true, true}; "
      "if (mode & 1) { ++p.second; p.weight = (int)((at - whole) * 256); } "
      "if (mode & 2) { p.has_first = (unsigned)p.first < (unsigned)n; p.has_second = (unsigned)p.second < (unsigned)n; "
      "} "
      "return p; } "
      "__device__ Place find_place(int mode, float at, int n) { return mode & 4 ? find(mode, (double)at * n, n) : "
      "find(mode, at, n); }";
  compare(
      "for (int k = 0; k < a[0] + 104; ++k) { const Place p = find_place(a[1] & 7, x[i % n] + k, 40); "
      "y[i % 4096] += (p.has_first ? p.first : 9) + (p.has_second ? p.second * p.weight : 5); }",
      place);
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

TEST_CASE("simd: indices that are others out of bounds", "[cpu][simd]") {
  const std::string at = "const int most = n / 3; const unsigned c = threadIdx.x, r = threadIdx.y;";
  compare(at + "b[i] = a[i < most ? i : 0]; y[i] = x[i >= most ? 5 : i];");
  compare(at +
          "b[i] = a[c < 20u ? c : 7u] + a[(long long)(a[i] & 1 ? i : 3)]; y[i] = x[r * n / 64 + (c < 11u ? c : r)];");
  compare(at + "if (a[i] & 2) b[i] = a[i < most ? i : 0]; else y[i] = x[i < most ? (unsigned)i * 2 : 1u];");
  compare(at +
          "if (i < most + 40) b[i < most ? i : most] = 3 + 0 * a[i]; y[i] = x[(i < most ? i : n - 1 - most) + most];");
  compare(at +
          "int s = 0; const int* from = a + (i < most ? i : 0); for (int k = 0; k < n / 8; k += n / 64) s += from[k];"
          "b[i] = s;");
  compare(at +
          "float s = 0; for (int k = 0; k < 9; ++k) { if (x[i] > k) continue; s += x[(c < 50u ? c : 1u) * 2 + n / 16 * "
          "k]; }"
          "y[i] = s;");
}

TEST_CASE("simd: indices that are cut at bounds", "[cpu][simd]") {
  const std::string at = "const int most = n / 3, zero = n - n; const int c = threadIdx.x, r = threadIdx.y;";
  compare(at + "b[i] = a[min(i, most)] + a[max(i - 9, 0)]; y[i] = x[min(max(i - 3, 0), most)];");
  compare(at + "b[i] = a[min(max(r - 1, 0), 9) * 64 + min(max(c + 2, 5), 40)]; y[i] = x[(i < 7 ? 7 : i) + most];");
  compare(at + "if (i <= most) b[min(i, most)] = a[i] + 1; y[i] = x[min((unsigned)c * 2, 63u)] + x[min(c, 11) * 3];");
  compare(at + "const long long j = (long long)i - 20; b[i] = a[min(max(j, 0ll), (long long)most)];");
  compare(
      at +
      "if (a[i] & 1) b[max(i, 40 + zero)] = 5; int s = 0; for (int k = -3; k < n / 512; ++k) s += a[min(max(i + k, 0), "
      "most)] * k; y[i] = s;");
  // Where they wrap.
  compare(at + "b[i] = a[min(0xfffffff0u + zero + c, 100u)]; y[i] = x[max((int)(0x7ffffff0u + zero + c), 5) & 1023];");
  compare(at +
          "b[i] = a[max((int)(0x7ffffff0u + zero + c), 9) % 4096]; y[i] = x[min((int)(0x7ffffff8u + c + zero), 77) & "
          "255];");
  compare(at +
          "const int j = (int)(0x7ffffff0u + zero + c); const int* p = a - 0x7fffffe0ll; if (j > 0) b[i] = p[min(j, "
          "0x7ffffff9)];");
  // By the thread's row alone.
  compare(
      at +
      "const int q = r > 3 ? 3 : r, p = r < 2 ? r * n / 64 : q; b[i] = a[p + c] + (r >= 2 ? 7 : q); y[i] = x[min(r, n "
      "/ 512) * 16 + c];");
  compare(
      at +
      "if (r >= 1 && r <= most % 7 && c < 9) b[i] = a[max(r, 2) * 16 + c]; else if (r > 4) y[i] = r > most ? 1 : 2;");
}

TEST_CASE("simd: elements that are not aligned", "[cpu][simd]") {
  const std::string packed = "struct __attribute__((packed)) P { char c; short s; int t; double d; };";
  compare("short s; memcpy(&s, (const char*)a + (a[i] & 255) * 5, 2); b[i] = s;");
  compare("const P& p = ((const P*)a)[a[i] & 255]; b[i] = p.s + p.c + p.t; y[i] = p.d > 0;", packed);
  compare("const P& p = ((const P*)a)[i & 255]; b[i] = p.s + p.c + p.t; y[i] = p.d > 0;", packed);
  compare("P* p = (P*)b + (i & 255); p->s = a[i & 255]; p->t = 7; ((P*)y)[i * 7 & 255].s = 3;", packed);
  compare(
      "char t[64]; for (int k = 0; k < 64; ++k) t[k] = a[(i + k) % n]; short s; memcpy(&s, t + (a[i] & 31), 2); "
      "b[i] = s;");
}

TEST_CASE("simd: elements of odd sizes", "[cpu][simd]") {
  const std::string fields =
      "struct P { unsigned v : 17; unsigned char c; }; struct __attribute__((packed)) Q { unsigned v : 24; };";
  compare("const P p = ((const P*)a)[i], q = ((const P*)a)[a[i] & 63]; b[i] = p.v + p.c + q.v;", fields);
  compare("b[i] = ((const Q*)a)[i].v + ((const Q*)a)[a[i] & 63].v;", fields);
  compare("((P*)b)[i].v = a[i]; ((Q*)y)[i].v = a[i] * 3;", fields);
  compare(
      "__shared__ int s[16]; if (thread < 16) s[thread] = 0; __syncthreads(); atomicAdd(&s[i & 15], ((const "
      "Q*)a)[(a[i] + i) & 63].v); __syncthreads(); if (thread < 16) b[1024 + block * 16 + thread] = s[thread];",
      fields);
  compare("b[i] = (int)(((const __int128*)a)[a[i] & 63] >> 70) + (int)(((const __int128*)a)[i & 63] >> 65);");
  compare("if (i < 1000) ((__int128*)b)[i] = (__int128)a[i] << 33; if (a[i] & 1) ((__int128*)y)[i * 7 % 1000] = 7;");
}

TEST_CASE("simd: differences of numbers that wrap", "[cpu][simd]") {
  for (const char* start : {"0xfffffff0u", "0x7ffffff3u", "100u"})
    for (const char* type : {"int", "unsigned"})
      compare(std::string("using T = ") + type + "; const unsigned start = " + start +
              " + (n - n); const long long d = (long long)(T)(threadIdx.x + start) - (long long)(T)(threadIdx.x + "
              "(unsigned)n) + n + 16; if (d >= 0 && d < n) { b[i] = a[d]; y[d] = 1; }");
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

TEST_CASE("simd: arrays of a thread's own that only some lanes write", "[cpu][simd]") {
  for (const char* type : {"signed char", "short", "int", "float", "double"})
    compare(
        std::string(type) +
        " p[40], q[3]; for (int k = 0; k < 40; ++k) p[k] = k + a[i] % 7; q[0] = q[1] = q[2] = 1;"
        "if (a[i] > 20) { q[1] = 5; p[n / 512] = 9; } else if (a[i] < -20) p[n / 256] = q[n / 1024];"
        // Far outside, where no lane runs.
        "if (a[i] == 12345) p[n * 100000] = 3;"
        "for (int k = 0; k < (a[i] & 15); ++k) { p[k + n / 1024] += 2; if (k == 3) q[2] = p[k]; }"
        "for (int k = 0; k < 40; ++k) b[i] = b[i] * 3 + (int)p[k]; y[i] = (float)q[n / 2048] + q[1] * 2 + q[2] * 4;");
}

TEST_CASE("simd: kernels without code for lines of threads", "[cpu][simd]") {
  std::string body = "__shared__ int s[1024]; int v = a[i]; float f = x[i]; s[thread] = v; __syncthreads();";
  for (int turn = 0; turn < 80; ++turn)
    body += "v = v * 3 + a[(i + " + std::to_string(turn * 7) + ") % n]; f = f * 0.5f + x[(v & 1023)]; if (v & " +
            std::to_string(1 << turn % 8) + ") f += s[(v + thread) & 7 & thread];";
  compare(body + "b[i] = v; y[i] = f;");
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

TEST_CASE("simd: rows that threads walk along", "[cpu][simd]") {
  for (const char* turns : {"0", "1", "15", "16", "17", "32", "45"}) {
    const std::string at = std::string("const int m = n - n + ") + turns +
                           "; const float* p = x + (i * 37 & 63) * 60; float* q = y + i * 50; int* r = b + i * 50;";
    compare(
        at +
        "float s = 0, most = -1e9f, last = 1; for (int j = 0; j < m; ++j) { s += p[j] * last; if (p[j] > most) most = "
        "p[j]; last = p[j]; } y[i] = s + last; b[i] = (int)most;");
    compare(
        at +
        "if (i < 80) { int s = 7; for (int j = 0; j < m; ++j) { q[j] = p[j] * 2 + x[j]; r[j] = s; s = s * 3 + a[0]; } "
        "for (int j = 0; j < m; ++j) q[j] *= r[j] + j; }");
  }
  const std::string at = "const int m = n / 64 + 9; const float* p = x + (i * 37 & 63) * 60; float* q = y + i * 50;";
  // What a turn stores and a later one loads, near it or not, and in memory that all lanes read.
  for (const char* apart : {"1", "-1", "3", "15", "16", "-15", "-16"})
    compare(at + "if (i > 0 && i < 80) for (int j = 0; j < 64 - n / 64; ++j) q[j + 16] = q[j + 16 + (n - n) + " +
            apart + "] + p[j];");
  compare(at + "if (i < 80) { for (int j = 0; j < m; ++j) { q[j] += 1; q[j + 1] = q[j] + p[j]; } }");
  compare(at + "if (i < 80) { for (int j = 0; j < m; ++j) { q[j] = p[j]; if (a[j] > 0) q[j] = 3; } }");
  compare(at + "if (i == 5) for (int j = 0; j < m; ++j) q[j] = y[253 + j / 64] + 1;");
  compare(at + "if (i == 5) for (int j = 0; j < m; ++j) q[j] = q[7] + y[250 + j] + ((const double*)y)[130] + 1;");
  compare(at +
          "if (a[i] & 1) { int s = 0; const int* c = a + (i & 31) * 100; for (unsigned k = 3; k < m; ++k) s = s * 5 + "
          "c[k]; b[i] = s; }");
  compare(at +
          "float s = 0; for (int j = m - 1; j >= 0; --j) s = s * 2 + p[j]; for (int j = 0; j < m; j += 2) s += p[j]; "
          "y[i] = s;");
  compare(at +
          "float s = 0; for (int k = 0; k < 3; ++k) for (int j = 0; j < m + k; ++j) s += p[j + k] * (p[0] + k); y[i] = "
          "s;");
  compare(
      at +
      R"(__shared__ float s[1024]; for (int j = thread; j < 1024; j += blockDim.x * blockDim.y * blockDim.z) s[j] = x[i];
             __syncthreads(); s[thread] = x[i]; __syncthreads(); float t = 0;
             for (int j = 0; j < m; ++j) t += p[j] * s[(thread & ~63) + j / 8]; __syncthreads(); s[thread] = t; __syncthreads();
             if (i < 80) for (int j = 0; j < m; ++j) q[j] = s[thread] + p[j];)");
}

TEST_CASE("simd: shared memory between writes elsewhere and by others", "[cpu][simd]") {
  compare(R"(__shared__ int s[1024], t[2]; const int count = blockDim.x * blockDim.y * blockDim.z; s[thread] = a[i];
             if (thread < 2) t[thread] = n; __syncthreads();
             for (int k = 0; k < 3; ++k) { b[i] += s[(thread + 1) % count] * k; y[i] += s[(thread + 1) % count] + t[k & 1]; }
             __syncthreads(); if (thread == count - 1) t[0] = 3; s[count - 1 - thread] = 3 * a[i]; __syncthreads();
             b[i] += s[thread] + t[0]; y[i] -= s[(thread + 1) % count];)");
}

TEST_CASE("simd: arrays of a thread's own, of every type", "[cpu][simd]") {
  for (const char* type : {"char", "unsigned short", "int", "long long", "double", "bool"}) {
    const std::string t = std::string("using T = ") + type + "; ";
    compare(t +
            "T t[16]; memset(t, 3, sizeof t); for (int k = 0; k < 16; ++k) if (a[(i + k) % n] & 1) t[k] = (T)a[(i "
            "+ k) % n]; T* p = t + 8; for (int k = -8; k < 8; ++k) b[i] += (int)p[(k ^ a[i]) & 7] * k + "
            "(int)p[-((a[i] + k) & 7) - 1];");
    compare(t +
            "T t[12], u[12]; for (int k = 0; k < 12; ++k) t[k] = (T)a[(i * k) % n]; memcpy(u + (a[i] & 3), t + 2, "
            "5 * sizeof(T)); for (int k = 0; k < 5; ++k) b[i] += (int)u[(a[i] & 3) + (k + i) % 5] * k;");
    compare(t +
            "T t[33]; T* q = t; for (int k = 0; k < 33; ++k) *q++ = (T)(a[i] * k); for (T* r = t + (a[i] & 15); r "
            "< t + 33; r += 3) b[i] += (int)*r;");
  }
  compare(
      "union { double d[4]; int w[8]; short s[16]; } u; for (int k = 0; k < 4; ++k) u.d[k] = x[(i + k) % n]; b[i] "
      "= u.w[a[i] & 7] + u.s[(a[i] + 3) & 15];");
  compare("short t[8]; memcpy(t, (const char*)a + i, sizeof t); b[i] = t[a[i] & 7];");
  // Whole structs, to places of each lane's own.
  const std::string structs =
      "struct P { int u; float v; short w, z; }; struct Q { P p[2]; double d; }; __device__ P make(int k, float f) { "
      "return "
      "{k, f, (short)(k * 3), 5}; }";
  compare("((P*)b)[a[i] & 63] = {7, 2.5f, 3, 4}; if (i < 200) ((P*)y)[i * 5] = make(a[i], x[i]);", structs);
  compare(
      "P t[5]; for (int k = 0; k < 5; ++k) t[(k + i) % 5] = make(a[(i + k) % n], x[i]); if (a[i] & 1) t[a[i] & 3] = "
      "t[4]; if (i < 1000) ((P*)b)[i] = t[(a[i] + 100) % 5]; y[i] = t[2].v + t[i & 3].w;",
      structs);
  compare(
      "Q q = {{make(a[i], x[i]), make(i, 1)}, x[i] * 0.5}, r = q; if (a[i] > 0) r.p[i & 1] = q.p[a[i] & 1]; Q* at "
      "= (Q*)b + (i * 3 & 255); if (i < 256) *at = r; y[i] = (float)r.d + r.p[1].v;",
      structs);
}

TEST_CASE("simd: volatile memory", "[cpu][simd]") {
  compare("volatile int* p = b + i; *p = a[i]; *p += 1; if (a[i] & 1) *p = *p * 2; y[i] = *p;");
  compare("volatile short* p = (volatile short*)b + 2 * i; p[0] = a[i]; p[1] += 3; y[i] = p[0];");
  compare("volatile float w[4] = {1, 2, 3, 4}; w[a[i] & 3] += x[i]; y[i] = w[i & 3] + w[a[i] & 3];");
}

TEST_CASE("simd: lanes that walk through ranges of their own", "[cpu][simd]") {
  for (const char* start : {"i / 8", "(i & 15) * 2", "i * 37 % 1000", "a[i] & 63", "i % 40 * 3"})
    for (const char* turns : {"a[i] & 15", "i % 3 == 0 ? 100 : 3", "a[i]"}) {
      const std::string from = std::string("const int first = ") + start + ", last = first + (" + turns + "); ";
      compare(from + "for (int k = first; k < last; ++k) { b[i] += a[k] * (k & 3); y[i] += x[k]; }");
      compare(from + "for (int k = last; k > first; --k) b[i] = b[i] * 3 + a[k];");
      compare(from +
              "for (long long k = first; k < last; k += 3) { if (a[k] > 90) break; if (a[k] & 1) y[i] += x[k]; }");
      compare(from +
              "for (int j = 0; j < 3; ++j) for (unsigned k = first; (int)k < last + j; ++k) b[i] += a[k + j] - a[k];");
    }
  compare(
      "__shared__ int s[64]; if (thread == 0) for (int k = 0; k < 64; ++k) s[k] = a[k + block]; __syncthreads(); "
      "for (int k = thread / 8; k < 64 && s[k] < 80; ++k) b[i] += s[k];");
}

TEST_CASE("simd: nothing is touched beside the elements that lanes mean", "[cpu][simd]") {
  // Two arrays, each between pages that are not there.
  const std::size_t page = 4096, bytes = 8 * page;
  char* arrays[2];
  for (char*& array : arrays) {
    array = static_cast<char*>(mmap(nullptr, bytes + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) + page;
    REQUIRE(mprotect(array, bytes, PROT_READ | PROT_WRITE) == 0);
  }
  CpuTestDevice device;
  const std::pair<const char*, std::size_t> types[] = {{"char", 1},  {"short", 2},   {"int", 4},     {"double", 8},
                                                       {"char3", 3}, {"float3", 12}, {"float4", 16}, {"short2", 4}};
  for (const auto& [type, size] : types) {
    auto module = device.compile(std::string("using T = ") + type + R"(;
      __global__ void k(const T* a, T* b, int n, int m) {
        const int i = blockIdx.x * blockDim.x + threadIdx.x + blockDim.x * gridDim.x * threadIdx.y;
        if (i < n) b[i] = a[n - 1 - i];
        if (i * 2 < n) b[i * 2] = a[i * 2];
        if (i * 3 < n) b[i * 3] = a[i * 3];
        if (i * 4 < n) b[i * 4] = a[i * 4];
        if (threadIdx.y < n) b[threadIdx.y] = a[threadIdx.y];
        if (threadIdx.x < n) b[threadIdx.x] = a[threadIdx.x];
        for (int k = i; k < n; k += gridDim.x * blockDim.x * blockDim.y) b[k] = a[n - 1 - k];
        const int r = threadIdx.x + 16 * threadIdx.y;
        if (threadIdx.x < m && r < n) b[r] = a[r];
        const unsigned j = threadIdx.x - 5u, q = threadIdx.y - 5u + threadIdx.x;
        if (j < (unsigned)n) b[j] = a[j];
        if (q < (unsigned)n) b[q] = a[q];
        for (int k = n - 1 - j % 20u; k >= 0 && k < n; ++k) if (i < n || k & 1) b[k] = a[k];
        for (int k = j % 20u; k >= 0 && k < n; --k) if (i < n || k & 1) b[k] = a[k];
      })",
                                 {}, {"--engine=simd"});
    for (std::size_t n : {1, 15, 17, 33, 100})
      for (Dim3 block : {Dim3{32, 1, 1}, Dim3{16, 8, 1}, Dim3{100, 1, 1}, Dim3{24, 3, 1}})
        for (std::size_t from : {std::size_t{0}, bytes - n * size}) {
          INFO(type << ": " << n << " from " << from << ", block " << block.x << " x " << block.y);
          LaunchConfig config;
          config.grid = {2, 1, 1};
          config.block = block;
          CHECK(message_of([&] {
                  device.launch(*device.kernel(module, "k"), config, arrays[0] + from, arrays[1] + from,
                                static_cast<int>(n), int{3});
                }) == "(nothing thrown)");
        }
  }
  for (char* array : arrays) munmap(array - page, bytes + 2 * page);
}
