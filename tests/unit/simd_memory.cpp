// The SIMD engine of the CPU device against the scalar one: addresses, and memory of all kinds.

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
