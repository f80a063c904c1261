-- Features of public CUDA sources: names that nvcc accepts without an #include, standard headers, older spellings.
local gpu = require "gpu"

local function run(source, out, options, ...)
  local mod = gpu.module(source, options or {})
  mod[mod.kernels[1]] { grid = 1, block = 1 }(out, ...)
  return out:table()
end

local on_cpu = gpu.device().kind == "cpu"

describe("names without an #include", function()
  it("have the values of nvcc's own headers", function()
    local got = run([[
      __constant__ float top = INFINITY;
      __global__ void k(double* out, uint a, ushort b, ulong c) {
        int64_t v = -5000000000; uint8_t small = 300; uint64_t large = UINT64_MAX; intptr_t p = 3;
        out[0] = top > 1e38f; out[1] = NAN != NAN; out[2] = M_PI; out[3] = v; out[4] = small; out[5] = large == ~0ull;
        out[6] = INT_MAX; out[7] = (double)LLONG_MIN; out[8] = FLT_MAX; out[9] = DBL_EPSILON; out[10] = CHAR_BIT;
        out[11] = a + b + c; out[12] = sizeof(uint) + sizeof(ushort) + sizeof(ulong); out[13] = p; out[14] = SIZE_MAX == ~0ul;
        u_char byte = 257; u_int64_t wide = 1ull << 40; ssize_t less = -1; u_int32_t word = -1;
        out[10] += byte - 1 + (wide >> 40) - (less < 0) + (word == UINT32_MAX) - 1;
        out[15] = sqrt(9) + pow(2, 3) + fmax(1, 2.5f) + floor(7 / 2);
      }]], gpu.zeros(16, "float64"), nil, 1, 2, 3)
    assert.are.same({ 1, 1, math.pi, -5000000000, 44, 1, 2147483647, -2 ^ 63, 2 ^ 128 - 2 ^ 104, 2 ^ -52, 8, 6, 14, 3, 1,
      3 + 8 + 2.5 + 3 }, got)
  end)

  it("class numbers, and have 64 bits in a long long", function()
    local got = run([[
      #include <cmath>
      __device__ int which(long long*) { return 1; }
      __device__ int which(long*) { return 2; }
      __device__ int which(unsigned long long*) { return 3; }
      __global__ void k(int* out, float small, double large) {
        int64_t whole = INT64_C(5); uint64_t natural = 5;
        out[0] = which(&whole); out[1] = which(&natural); out[2] = std::fpclassify(small) == FP_SUBNORMAL;
        out[3] = fpclassify(large) == FP_NORMAL; out[4] = fpclassify(large * 1e308) == FP_INFINITE; out[5] = isnormal(small);
        out[6] = fpclassify(NAN) == FP_NAN; out[7] = std::isnormal(-large); out[8] = fpclassify(-0.0) == FP_ZERO;
      }]], gpu.zeros(9, "int32"), nil, 1e-40, 1e10)
    assert.are.same({ 1, 3, 1, 1, 1, 0, 1, 1, 1 }, got)
  end)

  it("of classes of numbers may be the source's own enumeration, as in sources for NVRTC", function()
    local got = run([[
      namespace own {
      enum {
        FP_NAN =
      #define FP_NAN 0
        FP_NAN,
        FP_ZERO =
      #define FP_ZERO 2
        FP_ZERO
      };
      __device__ int fpclassify(float x) { return x == 0 ? FP_ZERO : FP_NAN; }
      }
      __device__ int fpclassify(float x) { return 7; }
      __global__ void k(int* out, float x) { out[0] = own::fpclassify(x); out[1] = fpclassify(x); }]], gpu.zeros(2, "int32"), nil, 0)
    assert.are.same({ 2, 7 }, got)
  end)

  it("are the source's own where it declares them", function()
    local got = run([[
      typedef long long int64_t;
      typedef unsigned char uint;  // one byte
      using ulong = unsigned;
      template <class T, int n> struct Few { T values[n]; };
      typedef Few<uint8_t, 2> Bytes;  // a name that it uses stays ours
      static_assert(sizeof(Bytes) == 2 && sizeof(uint8_t) == 1, "");
      __constant__ const float INFINITY = 3;
      namespace std { template <class T> struct is_same { enum { v = 7 }; }; }
      __global__ void k(int* out, int64_t n) {
        long long* p = &n;
        out[0] = *p; out[1] = sizeof(uint); out[2] = sizeof(ulong); out[3] = INFINITY; out[4] = std::is_same<int>::v;
      }]], gpu.zeros(5, "int32"), nil, 9)
    assert.are.same({ 9, 1, 4, 3, 7 }, got)
  end)

  it("are there where the preprocessor leaves the source's declaration out", function()
    for _, case in ipairs {
      { "#if defined(_MSC_VER)\ntypedef long ssize_t;\n#endif", "ssize_t v = -5; out[0] = v;", -5 },
      { "#if 0\nusing uint32_t = char;\n#elif defined(_WIN32)\nstruct uint32_t {};\n#endif", "uint32_t v = -1; out[0] = v / 2;", 2 ^ 31 - 1 },
      { "#ifdef _WIN32\ntypedef signed char uint8_t;\n#else\n#include <stdint.h>\n#endif", "uint8_t v = 255; out[0] = v;", 255 },
      { "#ifdef _MSC_VER\nconst double M_PI = 3;\n#endif", "out[0] = 10 * M_PI;", 31 },
      { "#ifdef NO_STD\nnamespace std { template <class T> T max(T a, T b); }\n#endif", "out[0] = std::max(7, 8);", 8 },
      -- Beside one that it does not leave out.
      { "#if !SMALL\ntypedef signed char uint8_t;\n#endif\ntypedef signed char uint;", "uint v = 255; uint8_t w = 255; out[0] = v + w;", 254,
        { "-DSMALL=1" } },
      { "#define SMALL\n#ifndef SMALL\n#if 1\ntypedef int uint8_t;\n#endif\n#else\ntypedef signed char uint8_t;\n#endif\ntypedef uint ushort;",
        "uint8_t v = 255; ushort w = 65536; out[0] = v + w;", 65535 },
      { "#ifdef _WIN32\nnamespace std { int max(int); }\n#endif\nstruct uint { int v; };", "uint v = {6}; out[0] = std::max(v.v, 3);", 6 },
      { "#define OLD 0\n#if OLD\n#define NEVER\nconst float FLT_MAX = 1;\n#endif\nconst float INFINITY = 4; // FLT_MAX = 2",
        "out[0] = FLT_MAX > 1e38f && INFINITY == 4;", 1 },
      { 'const char* text = R"(\ntypedef int uint;\n)"; // \\\ntypedef int uint;\nusing ulong = char;', "out[0] = sizeof(uint) + sizeof(ulong);", 5 },
    } do
      local source = ("%s\n__global__ void k(int* out) { %s }"):format(case[1], case[2])
      assert.are.same({ case[3] }, run(source, gpu.zeros(1, "int32"), { options = case[4] }), source)
    end
  end)

  it("are functions with two underscores and addresses of shared memory", function()
    assert.are.same({ 1, 0, 1, 0, 1, 1, 1, 1, 0, 5, 7, 1000000 }, run([[
      __global__ void k(int* out, float inf) {
        __shared__ int s[4];
        __shared__ double large[2];
        out[0] = __isnanf(inf - inf) != 0; out[1] = __isnan(1.0); out[2] = __isinff(-inf) != 0; out[3] = __isinf(1.0);
        out[4] = __finitef(1.0f) != 0; out[5] = __finite(2.0) != 0; out[6] = __signbitf(-1.0f) != 0; out[7] = __signbit(-0.0) != 0;
        unsigned a = __cvta_generic_to_shared(s + 2), b = __cvta_generic_to_shared(large);
        out[8] = b % 8;
        *(int*)__cvta_shared_to_generic(a) = 5;
        *(int*)__cvta_shared_to_generic(b) = 7;
        out[9] = s[2]; out[10] = *(int*)large; out[11] = CLOCKS_PER_SEC;
      }]], gpu.zeros(12, "int32"), nil, math.huge))
  end)

  it("may be used by macros alone", function()
    assert.are.same({ 4 }, run("__global__ void k(int* out) { out[0] = MOST(4, 3); }", gpu.zeros(1, "int32"), { defines = { MOST = "std::max" } }))
  end)

  it("that a source has taken leave the lines of messages alone", function()
    local ok, message = pcall(gpu.module, '#ifdef A\ntypedef int uint8_t;\n#endif\nstruct uint { int v; };\n#line 70 "other.cu"\n' ..
      "typedef float ushort;\n__global__ void k(uint8_t* p) { *p = missing; }")
    assert.is_false(ok)
    assert.matches("other.cu:71: error: [^\n]*missing", message)
    assert.is_nil(message:find "gpulua_")
  end)

  it("leave the lines of messages alone", function()
    local ok, message = pcall(gpu.module, "__global__ void k(int64_t* x) {\n  x[0] = missing;\n}")
    assert.is_false(ok)
    assert.is_truthy(message:find(":2: error:", 1, true) or message:find(":48: error:", 1, true), message)
  end)

  it("tell the toolkit's version", function()
    local got = run("#include <cuda_runtime.h>\n__global__ void k(int* o) { o[0] = CUDART_VERSION; o[1] = __CUDACC_VER_MAJOR__; }",
      gpu.zeros(2, "int32"))
    assert.is_true(got[1] >= 12000 and math.floor(got[1] / 1000) == got[2])
  end)
end)

describe("headers of the standard", function()
  it("give device code what it uses of them", function()
    local got = run([[
      #include <algorithm>
      #include <array>
      #include <cinttypes>
      #include <functional>
      #include <iterator>
      #include <limits>
      #include <numeric>
      #include <tuple>
      #include <utility>
      template <int... i> __device__ int total(std::integer_sequence<int, i...>) { int s = 0; ((s += i), ...); return s; }
      static_assert(std::is_same_v<std::decay_t<const int (&)[3]>, const int*> && std::is_signed_v<char>, "");
      static_assert(std::is_same_v<std::common_type_t<int, double>, double> && std::is_convertible_v<int, float>, "");
      static_assert(std::numeric_limits<float>::max() == FLT_MAX && std::numeric_limits<unsigned>::digits == 32, "");
      static_assert(std::max({1, 5, 2}) == 5 && std::min(1, 2) == 1, "");
      static_assert(std::make_tuple(1, 5.f) < std::make_tuple(2, 1.f) && std::make_tuple(2, 1) >= std::make_tuple(2, 1), "");
      static_assert(std::make_tuple(1, 5) > std::make_tuple(1, 4) && !(std::make_tuple(1, 5) <= std::make_tuple(1, 4)), "");
      __global__ void k(float* out, int n) {
        std::array<int, 4> a = {{3, 1, 4, 1}};
        std::sort(a.begin(), a.end());
        for (int i = 0; i < 4; ++i) out[i] = a[i];
        auto [x, y] = std::make_tuple(5, 6.5f);
        int u; float v;
        std::tie(u, v) = std::make_pair(7, 8.5f).first > 0 ? std::make_tuple(x, y) : std::make_tuple(0, 0.f);
        out[4] = u; out[5] = v;
        out[6] = std::lower_bound(out, out + 4, 3.f) - out;
        out[7] = std::accumulate(a.begin(), a.end(), 0) + total(std::make_integer_sequence<int, 5>());
        std::swap(out[0], out[3]);
        out[8] = std::plus<float>()(1, 2) + std::greater<>()(1, 2) + std::clamp(n * 1.5f, 0.f, 4.f);
        out[9] = std::sqrt(16) + std::abs(-n) + std::pow(2, n);
        out[10] = std::max(1.f, NAN) + std::gcd(12, 18);
        out[11] = std::get<float>(std::tuple<int, float>(1, 2.f));
        float few[] = {1, 2, 3};
        const float* at = std::begin(few);
        std::advance(at, 1);
        out[12] = (std::end(few) - std::begin(few)) * 100 + *std::begin(a) * 10 + std::size(a) + *at + *std::next(few);
      }]], gpu.zeros(13), { options = { "--expt-relaxed-constexpr" } }, 3)
    assert.are.same({ 4, 1, 3, 1, 5, 6.5, 2, 19, 7, 4 + 3 + 8, 7, 2, 300 + 10 + 4 + 2 + 2 }, got)
  end)

  it("have iterators that go backwards", function()
    assert.are.same({ 4, 2, 4, 1, 3, 1, 24, 8 }, run([[
      #include <iterator>
      struct Steps : std::iterator<std::forward_iterator_tag, short> {};
      __global__ void k(float* out) {
        float x[4] = {1, 2, 3, 4};
        std::reverse_iterator<float*> at(x + 4), last = std::rend(x);
        out[0] = *at++; out[1] = at[1]; out[2] = last - std::rbegin(x); out[3] = at < last;
        out[4] = *(last - 3); out[5] = at != last && !(at == last) && at + 3 == last;
        for (out[6] = 4; at != last; ++at) out[6] *= *at;
        out[7] = sizeof(Steps::value_type) + 4 + (--at).base()[0];
      }]], gpu.zeros(8), { options = { "--expt-relaxed-constexpr" } }))
  end)

  it("have the scales of microscaling formats", function()
    assert.are.same({ 0x0040, 0x0080, 0x3f80, 0x7f00, 0x7fff }, run([[
      #include <cuda_fp8.h>
      __global__ void k(int* out) {
        const unsigned char scales[] = {0, 1, 127, 254, 255};
        for (int i = 0; i < 5; ++i) out[i] = __nv_cvt_e8m0_to_bf16raw(scales[i]).x;
      }]], gpu.zeros(5, "int32")))
  end)

  it("are cuComplex.h and cuda_fp8.h too", function()
    local got = run([[
      #include <cuComplex.h>
      #include <cuda_fp8.h>
      __global__ void k(float* out, cuFloatComplex z) {
        cuFloatComplex q = cuCdivf(cuCmulf(z, z), make_cuFloatComplex(0, 2));
        out[0] = cuCabsf(z); out[1] = cuCrealf(q); out[2] = cuCimagf(q);
        float in[] = {0.3f, 1e6f, -0.0019f, 17.0f, 448.0f, -1.0f};
        for (int i = 0; i < 6; ++i) {
          out[3 + i] = (float)__nv_fp8_e4m3(in[i]);
          out[9 + i] = (float)__nv_fp8_e5m2(in[i]);
        }
        float4 four = (float4)__nv_fp8x4_e4m3(__floats2half2_rn(1, 2), __floats2half2_rn(17, -1));
        float2 two = __half22float2((__half2)__nv_fp8x2_e5m2(__floats2bfloat162_rn(0.3f, 4)));
        out[15] = four.x + 10 * four.y + 100 * four.z + 1000 * four.w; out[16] = two.x + two.y;
      }]], gpu.zeros(17), nil, gpu.complex(3, 4))
    assert.are.same({ 5, 12, 3.5, 0.3125, 448, -0.001953125, 16, 448, -1, 0.3125, 57344, -0.001953125, 16, 448, -1,
      1 + 20 + 1600 - 1000, 4.3125 }, got)
  end)
end)

describe("host code beside kernels", function()
  it("may use files and other functions of the C library", function()
    assert.are.same({ 1 }, run([[
      #include <cstdlib>
      #include <cstdio>
      #include <ctime>
      extern "C" int save(FILE* f);
      struct Log { FILE* file; Log(const char* name) : file(fopen(name, "w")) {} void close() { std::fclose(file); } };
      static void complain(int status) { fprintf(stderr, "no\n"); srand(time(0)); if (rand() > atoi("3")) exit(status); }
      __host__ void launch() { complain(EXIT_FAILURE); }
      __global__ void k(int* out) { out[0] = 1; }
      int main() { launch(); Log("x").close(); }]], gpu.zeros(1, "int32")))
  end)

  it("has functions that kernels cannot call", function()
    local ok, message = pcall(gpu.module, "#include <stdio.h>\n__global__ void k(int* out) { fprintf(stderr, \"%d\", out[0]); }")
    assert.is_false(ok)
    assert.matches("\nhint: fprintf is for host programs: kernels have printf", message)
  end)

  it("may use std::vector and std::string", function()
    assert.are.same({ 1 }, run([[
      #include <algorithm>
      #include <string>
      #include <vector>
      static std::vector<float> kept;
      struct Host { std::vector<std::string> names; std::string path = "p"; Host(int n) : names(n) {} };
      std::vector<float> ones(int n) {
        std::vector<float> v(n, 1.f), w{1, 2};
        v.push_back(2); v.emplace_back(3); v.resize(n); v.reserve(2 * n);
        for (float& x : v) x += w[0] + w.front();
        std::sort(v.begin(), v.end());
        kept = v; w.insert(w.end(), v.begin(), v.end()); v.clear();
        return v.empty() ? w : std::vector<float>(v.data(), v.data() + v.size());
      }
      std::string name(const std::string& a) { return a == "b" ? "c" + a + std::to_string(3) + '4' : a.substr(1).c_str(); }
      __global__ void k(int* out) { out[0] = 1; }
      int main() { std::vector<std::vector<int>> rows(3, std::vector<int>(4)); rows[0].at(1) = ones(3).back(); Host h(name("x").size()); }]],
      gpu.zeros(1, "int32")))
  end)

  it("has containers that kernels cannot call", function()
    for use, container in pairs { ["out[0] = v->size();"] = "vector", ["v->push_back(1);"] = "vector", ["out[0] = (*v)[1];"] = "vector",
      ["std::vector<int> w(3); out[0] = w.data()[0];"] = "vector", ['std::string s("a"); out[0] = s.size();'] = "string" } do
      local ok, message = pcall(gpu.module, ("#include <string>\n#include <vector>\n__global__ void k(int* out, std::vector<int>* v) { %s }"):format(use))
      assert.is_false(ok, use)
      assert.matches("\nhint: std::" .. container .. " is for host programs: kernels have pointers", message)
    end
  end)

  it("is register and compound literals too", function()
    assert.are.same({ 1, 2, 5, 5, 7 }, run([[
      struct V { int x, y; __device__ V operator-(V v) const { return (V) {x - v.x, y - v.y}; } };
      #define BOTH(a) (struct V) {a, a}
      struct Host { Host(int n); void invert(); };
      static int count = 3;
      __global__ void k(int* out) {
        register V a = (V) {1, 2}, b = BOTH(5);
        out[0] = a.x; out[1] = a.y; out[2] = b.x; out[3] = b.y; out[4] = ((V) {9, 9} - (V) {2, 1}).x;
      }]], gpu.zeros(5, "int32")))
  end)
end)

describe("what newer toolkits have", function()
  it("are atomic functions with an order and a scope", function()
    local got = run([[
      __global__ void k(unsigned* o, float* f) {
        unsigned* x = o + 10;
        *x = 5;
        o[0] = __nv_atomic_load_n(x, __NV_ATOMIC_RELAXED);
        o[1] = __nv_atomic_fetch_add(x, 2, __NV_ATOMIC_ACQ_REL, __NV_THREAD_SCOPE_DEVICE);
        o[2] = __nv_atomic_fetch_max(x, 9u, __NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_SYSTEM);
        o[3] = __nv_atomic_exchange_n(x, 12u, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_BLOCK);
        unsigned expected = 11, other = 4;
        o[4] = __nv_atomic_compare_exchange_n(x, &expected, 20u, false, __NV_ATOMIC_RELAXED, __NV_ATOMIC_RELAXED);
        o[5] = expected;
        __nv_atomic_store(x, &other, __NV_ATOMIC_RELEASE, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_or(x, 3u, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_load(x, &other, __NV_ATOMIC_ACQUIRE, __NV_THREAD_SCOPE_DEVICE);
        o[6] = other;
        __nv_atomic_add(f, 2.5f, __NV_ATOMIC_RELAXED, __NV_THREAD_SCOPE_DEVICE);
        __nv_atomic_thread_fence(__NV_ATOMIC_SEQ_CST, __NV_THREAD_SCOPE_DEVICE);
        o[7] = 2 * *f;
      }]], gpu.zeros(11, "uint32"), nil, gpu.zeros(1))
    assert.are.same({ 5, 5, 7, 9, 0, 12, 7, 5, 0, 0, 7 }, got)
  end)

  it("are the functions for dynamic programming", function()
    local a, b, c = -7, 2147483640, 100
    local got = run([[
      // The compiler of CUDA 13.0 is wrong about the flags of pairs that it knows when it compiles; `z` is 0.
      __global__ void k(int* o, int a, int b, int c, int z) {
        bool p, q;
        o[0] = __viaddmax_s32(a, c, 5); o[1] = __viaddmin_s32(a, c, 5); o[2] = __viaddmax_s32(b, c, 5);  // wraps
        o[3] = __viaddmin_s32_relu(a, a, c); o[4] = __viaddmax_u32(a, 8, 0); o[5] = __vimax3_s32(a, b, c);
        o[6] = __vimin3_s32(a, b, c); o[7] = __vimin3_s32_relu(a, b, c); o[8] = __vimax_s32_relu(a, a);
        o[9] = __vibmax_s32(a, c, &p); o[9] += 10 * p; o[10] = __vibmin_s32(a, c, &p); o[10] += 100 * p;
        o[11] = __viaddmax_s16x2(0x7fff0001, 0x00010002, 0x00050000);  // the high half wraps to the least number
        o[12] = __viaddmin_u16x2(0xffff0001, 0x00010002, 0x00050001);
        o[13] = __vimax3_s16x2_relu(0xffffffff, 0xfffe0003, 0xfff00002);
        o[14] = __vibmax_u16x2(0x00050001 + z, 0x00050002, &p, &q); o[15] = 10 * p + q;
        o[16] = __vibmin_s16x2(0xffff0001 + z, 0x00010001, &p, &q) == (int)0xffff0001; o[17] = 10 * p + q;
        o[18] = __vimin_s16x2_relu(0x0005ffff, 0x00030004);
      }]], gpu.zeros(19, "int32"), nil, a, b, c, 0)
    assert.are.same({ 93, 5, 5, 0, 1, b, a, 0, 0, c, a + 100, 0x00050003, 0x00000001, 0x00000003, 0x00050002, 10, 1, 11,
      0x00030000 }, got)
  end)
end)

describe("spellings that nvcc takes", function()
  it("are the byte order mark that editors put first, and headers of host programs", function()
    local got = run("\239\187\191#include <cuda.h>\n#include <cuda_runtime.h>\n#include <cuda_profiler_api.h>\n" ..
      "#include <device_launch_parameters.h>\n__global__ void k(int* o) { o[0] = CUDA_VERSION / 1000; o[1] = __CUDACC_VER_MAJOR__; }",
      gpu.zeros(2, "int32"))
    assert.is_true(got[1] == got[2] and got[1] >= 12)
  end)

  it("are files of a folder with code for hosts, and the types of CUDA's libraries and the system", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert.are.equal(0, os.execute("mkdir -p " .. folder .. "/parts"))
    local function write(name, text)
      local file = assert(io.open(folder .. "/" .. name, "w"))
      file:write(text)
      file:close()
    end
    write("common.h", [[
      #include <cublas_v2.h>
      #include <sys/time.h>
      #include "parts/scale.h"
      void blas_check(cublasStatus_t status, Unheard of) { if (status != CUBLAS_STATUS_SUCCESS) exit(1); }
      static cublasHandle_t handle;
      struct Timer { struct timeval start; void stop() { gettimeofday(&start, 0); } };]])
    write("parts/scale.h", '#include "factor.h"\nNowhere plan();\n__device__ float scale(float x) { return FACTOR * x; }')
    write("parts/factor.h", "#define FACTOR 3")
    local source = '#include "common.h"\n__global__ void k(float* x) { x[0] = scale(2); }\nint main() { cublasCreate(&handle); }'
    local x = gpu.zeros(1)
    gpu.kernel(source, "k", { include = { folder } }){ grid = 1, block = 1 }(x)
    os.execute("rm -r " .. folder)
    assert.are.equal(6, x[1])
  end)

  it("are shared memory that is extern and has a size", function()
    local mod = gpu.module [[
      struct Cells { float v[64]; };
      extern __shared__ int whole[64];
      template <int n> __device__ float* cells() { extern __shared__ Cells every; return every.v + n; }
      __global__ void rows(float* x) {
        extern __shared__ float s[2][32];
        int t = threadIdx.x;
        s[t / 32][t % 32] = t; __syncthreads(); x[t] = s[1 - t / 32][31 - t % 32];
      }
      __global__ void again(float* x) {
        extern __shared__ float s[2][32];
        s[0][threadIdx.x] = threadIdx.x; __syncthreads(); x[threadIdx.x] = s[0][63 - threadIdx.x];
      }
      __global__ void file(float* x) { whole[threadIdx.x] = threadIdx.x; __syncthreads(); x[threadIdx.x] = whole[63 - threadIdx.x]; }
      __global__ void record(float* x) {
        cells<0>()[threadIdx.x] = threadIdx.x; __syncthreads(); x[threadIdx.x] = cells<63>()[-(int)threadIdx.x];
      }
      __global__ void both(float* x) {
        extern __shared__ float open[];
        open[threadIdx.x] = threadIdx.x; whole[threadIdx.x] = 1000; __syncthreads(); x[threadIdx.x] = open[63 - threadIdx.x];
      }]]
    for name, bytes in pairs { rows = 256, again = 256, file = 256, record = 256, both = 256 } do
      local x = gpu.zeros(64)
      mod[name] { grid = 1, block = 64, shared = name == "both" and 256 or nil }(x)
      assert.are.same(gpu.arange(63, -1, -1):table(), x:table(), name)
      assert.are.equal(bytes, mod[name].shared_bytes)
    end
  end)

  it("are kernels that are static or in a namespace without a name", function()
    local mod = gpu.module [[
      static __constant__ float scale[2] = {2, 3};
      static __global__ void twice(float* x) { x[0] *= scale[0]; }
      namespace { __global__ void thrice(float* x) { x[0] *= scale[1]; } }]]
    local x = gpu.ones(1)
    mod.twice { grid = 1, block = 1 }(x)
    mod.thrice { grid = 1, block = 1 }(x)
    assert.are.equal(6, x[1])
  end)

  it("are narrowing in braces, and register", function()
    assert.are.same({ 5, 6 }, run("__global__ void k(float* out, int n) { float v[2] = {n, n + 1}; out[0] = v[0]; out[1] = v[1]; }",
      gpu.zeros(2), nil, 5))
    -- NVRTC refuses the keyword.
    local ok, message = pcall(run, "__global__ void k(int* out) { register int v = 4; out[0] = v; }", gpu.zeros(1, "int32"))
    assert.is_true(ok and message[1] == 4 or not ok and message:find "register" ~= nil, message)
  end)

  it("are enumerations as parameters", function()
    local got = run([[
      enum Mode { ADD, MULTIPLY = 5 };
      enum class Small : unsigned char { OFF, ON };
      __global__ void k(int* out, Mode mode, Small on) { out[0] = mode == MULTIPLY; out[1] = on == Small::ON; }]],
      gpu.zeros(2, "int32"), nil, 5, 1)
    assert.are.same({ 1, 1 }, got)
  end)

  it("are overloads that a cast tells apart", function()
    local as_int, as_float = "(void(*)(int*, int))store", "(void(*)(float*, float))store"
    local mod = gpu.module([[
      __global__ void store(int* out, int value) { out[0] = value; }
      __global__ void store(float* out, float value) { out[0] = value; }]], { names = { as_int, as_float } })
    local ints, floats = gpu.zeros(1, "int32"), gpu.zeros(1)
    mod[as_int] { grid = 1, block = 1 }(ints, 10)
    mod[as_float] { grid = 1, block = 1 }(floats, 0.5)
    assert.are.same({ 10, 0.5 }, { ints[1], floats[1] })
  end)

  it("are virtual functions, pure ones among them", function()
    local got = run([[
      struct Shape { __device__ virtual float area() const = 0; };
      struct Square : Shape {
        float s;
        __device__ Square(float side) : s(side) {}
        __device__ float area() const override { return s * s; }
      };
      __global__ void k(float* out) {
        Shape* shape = new Square(3);
        out[0] = shape->area();
        delete shape;
      }]], gpu.zeros(1))
    assert.are.same({ 9 }, got)
  end)
end)

if on_cpu then
  describe("a source on the cpu device", function()
    it("sees no files but those in directories that it names", function()
      local file = os.tmpname()
      local handle = assert(io.open(file, "w"))
      handle:write "1"
      handle:close()
      for _, line in ipairs { '#include "%s"', '#embed "%s"', '#if !__has_include("%s")\n#error none\n#endif',
        '#if !__has_embed("%s")\n#error none\n#endif', '#pragma GCC dependency "%s"\n#error none' } do
        local ok, message = pcall(gpu.module, line:format(file) .. "\n__global__ void k(int* x) { x[0] = 1; }")
        assert.is_false(ok, line)
        assert.is_truthy(message:find "not found" or message:find "none", message)
      end
      os.remove(file)
    end)

    it("cannot ask the compiler to crash", function()
      for _, what in ipairs { "crash", "parser_crash", "llvm_fatal_error", "overflow_stack", "dump k" } do
        local ok, message = pcall(gpu.module, "#pragma clang __debug " .. what .. "\n__global__ void k(int* x) {}")
        assert.is_false(ok)
        assert.is_truthy(message:find("is not for kernels", 1, true), message)
      end
    end)
  end)
end
