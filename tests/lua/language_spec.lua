-- The language of kernels: CUDA C++ without its functions, which tests/golden/kernels covers.
local gpu = require "gpu"
local support = require "support"
local on_cpu = gpu.device() == "cpu" or tostring(gpu.device()):find "cpu" ~= nil

--- The values that a kernel's body stores at out[0], out[1], ...
local function values(n, dtype, body, before)
  local out = gpu.zeros(n, dtype)
  local ctype = ({ float32 = "float", int32 = "int", float64 = "double" })[dtype]
  gpu.kernel((before or "") .. "\n__global__ void k(" .. ctype .. "* out) {" .. body .. "}", "k") { grid = 1, block = 1 }(out)
  return out:table()
end

describe("the language", function()
  it("has vector types with CUDA's sizes and alignments", function()
    assert.are.same(
      { 12, 16, 16, 16, 3, 4, 16, 24 },
      values(8, "int32", [[
        out[0] = sizeof(float3); out[1] = alignof(float4); out[2] = alignof(double2); out[3] = alignof(longlong2);
        out[4] = sizeof(uchar3); out[5] = alignof(uchar4); out[6] = sizeof(make_int4(1, 2, 3, 4)); out[7] = sizeof(double3);
      ]])
    )
  end)

  it("has no Bessel functions of negative order, and whole numbers that saturate", function()
    assert.are.same(
      { 1, 1, 1, 1, 1, 1 },
      values(6, "int32", [[
        volatile double x = 1.5, big = 1e30;
        out[0] = isnan(jn(-1, x)) && isnan(jnf(-2, x)); out[1] = isnan(yn(-1, x)) && isnan(ynf(-2, x));
        out[2] = fabs(jn(2, x) - 0.2320876721442147) < 1e-12; out[3] = fabsf(ynf(2, x) + 0.932193760) < 1e-5f;
        out[4] = lrint(big) == 0x7fffffffffffffff && lroundf(big) == 0x7fffffffffffffff;
        out[5] = llrint(-big) == -0x7fffffffffffffff - 1 && llroundf(-big) == -0x7fffffffffffffff - 1;
      ]])
    )
  end)

  it("has -0 below 0 in minima and maxima, and a NaN in neither", function()
    assert.are.same(
      { 4, 4, 4, 4, 8, 8, 8, 8 },
      values(8, "int32", [[
        volatile float zeros[2] = {0.0f, -0.0f}, none = nanf("");
        for (int i = 0; i < 2; ++i)
          for (int j = 0; j < 2; ++j) {
            const float x = zeros[i], y = zeros[j];
            out[0] += (signbit(fminf(x, y)) != 0) == (i || j); out[1] += (signbit(fmaxf(x, y)) != 0) == (i && j);
            out[2] += (signbit(fmin((double)x, (double)y)) != 0) == (i || j);
            out[3] += (signbit(fmax((double)x, (double)y)) != 0) == (i && j);
          }
        for (int i = 0; i < 2; ++i) {
          const float x = zeros[i];
          out[4] += (1 / fmaxf(x, 0.0f) > 0) + (1 / fmaxf(0.0f, x) > 0) + (1 / fminf(x, -0.0f) < 0) + (1 / fminf(-0.0f, x) < 0);
          out[5] += (1 / fmaxf(x, -0.0f) > 0) == !i; out[5] += (1 / fmaxf(-0.0f, x) > 0) == !i;
          out[5] += (1 / fminf(x, 0.0f) > 0) == !i; out[5] += (1 / fminf(0.0f, x) > 0) == !i;
          out[6] += (1 / max(x, 0.0f) > 0) + (1 / max(0.0, (double)x) > 0) + (1 / min(x, -0.0f) < 0) + (1 / min((double)x, -0.0) < 0);
        }
        const float no = none;
        out[7] = (fminf(no, 2.0f) == 2) + (fminf(2.0f, no) == 2) + (fmaxf(no, -2.0f) == -2) + (fmaxf(-2.0f, no) == -2) +
                 isnan(fminf(no, no)) + isnan(fmaxf(no, no)) + (fmin((double)no, 2.0) == 2) + (fmax(2.0, (double)no) == 2);
      ]])
    )
  end)

  it("has limits, constants, templates, lambdas and structures", function()
    -- NVRTC brings none of the standard headers; the CPU device does.
    if gpu.device().kind ~= "cpu" then return end
    assert.are.same(
      { 2147483647, 127, 42, 6, 1 },
      values(
        5,
        "int32",
        [[
          auto twice = [](auto x) { return x + x; };
          out[0] = INT_MAX; out[1] = std::numeric_limits<signed char>::max(); out[2] = twice(20) + (int)(CUDART_PI_F > 3) * 2;
          out[3] = sum(1, 2, 3); out[4] = std::is_same<int, decltype(twice(1))>::value;
        ]],
        [[
          #include <climits>
          #include <limits>
          #include <math_constants.h>
          #include <type_traits>
          template <class... Ts> __device__ auto sum(Ts... xs) { return (xs + ...); }
        ]]
      )
    )
  end)

  it("takes the attributes of kernels", function()
    local out = gpu.zeros(1)
    gpu.kernel("__global__ void __launch_bounds__(64, 2) k(float* __restrict__ out, const __grid_constant__ int x) { *out = x; }", "k") {
      grid = 1,
      block = 64,
    }(out, 7)
    assert.are.equal(7, out[1])
  end)

  it("has memory from the heap and operator new", function()
    assert.are.same(
      { 499500 },
      values(1, "int32", [[
        int* p = (int*)malloc(4000); int* q = new int[1000]; int sum = 0;
        for (int i = 0; i < 1000; ++i) { p[i] = i; q[i] = p[i]; }
        for (int i = 0; i < 1000; ++i) sum += q[i];
        free(p); delete[] q; out[0] = sum;
      ]])
    )
  end)

  it("has fences, clocks and a barrier for the compiler", function()
    assert.are.same(
      { 1 },
      values(1, "int32", [[
        long long before = clock64(); __threadfence(); __threadfence_block(); __threadfence_system();
        asm volatile("" ::: "memory"); __nanosleep(1); out[0] = clock64() >= before;
      ]])
    )
  end)

  it("has a printf that gives the number of its arguments", function()
    for _, engine in ipairs { "", "--engine=scalar" } do
      local mod = gpu.module([[
        __global__ void k(int* out) {
          int* mine = out + 5 * threadIdx.x;
          mine[0] = printf("");
          mine[1] = printf("%s", "");
          mine[2] = printf((const char*)0);
          mine[3] = printf("%.0s%.0s%.0s", "abc", "de", "f");
          if (printf("%s%s", "", "") == 2) mine[4] = 7;
        }]], { options = on_cpu and engine ~= "" and { engine } or {} })
      local out = gpu.zeros(2, 5, "int32")
      mod.k { grid = 1, block = 2 }(out)
      assert.are.same({ { 0, 1, -1, 3, 7 }, { 0, 1, -1, 3, 7 } }, out:table())
    end
  end)

  it("exchanges 16-bit numbers between lanes", function()
    local out = gpu.zeros(32)
    local k = gpu.kernel([[
      #include <cuda_fp16.h>
      __global__ void k(float* out) {
        __half2 v = __floats2half2_rn(threadIdx.x, 0.5f);
        out[threadIdx.x] = __low2float(__shfl_xor_sync(0xffffffffu, v, 1)) + __half2float(__shfl_sync(0xffffffffu, __high2half(v), 0));
      }]], "k")
    k { grid = 1, block = 32 }(out)
    if on_cpu then assert.are.equal("simd", k.engine) end
    assert.are.same({ 1.5, 0.5, 3.5, 2.5 }, out({ 1, 4 }):table())
  end)

  it("leaves out the code of hosts, with types and headers that are not here", function()
    assert.are.same({ 6, 3, 8, 5, 4 }, values(5, "int32",
      "out[0] = twice(3); out[1] = shape().n; out[2] = marked(4); out[3] = numbers[1]; out[4] = biased<>(3);", [[
      #include <fstream>
      #include <unistd.h>
      #define HOST_DEVICE __host__ __device__
      struct Shape { int n; __device__ int size() { return n; } };
      static std::map<std::string, int> read_names(const std::string& path, int most = 3) {
        std::ifstream file(path);
        return {{"a", 1}};
      }
      void check(cublasStatus_t status, const char* what = "}") { if (status) std::cout << what << std::endl; }
      template <class T = int> void launch(T* x, cudaMemPool_t pool) { cudaMalloc(&x, 4); kernel<<<1, 2>>>(x); }
      __constant__ int numbers[] = {4, 5};
      __device__ int twice(int x) { return 2 * x; }
      HOST_DEVICE int marked(int x) { return 2 * x; }
      template <int by = 1> __device__ int biased(int x) { return x + by; }
      constexpr Shape shape() { return {3}; }
      namespace tools {
      void print(cudaMemPool_t pool);
      std::vector<std::thread> workers() { return {}; }
      }
      int main(int argc, char** argv) { std::ifstream file(argv[1]); launch((int*)0); return undeclared; }
    ]]))
    support.fails("undeclared", gpu.module, "__device__ int f() { return undeclared; }\n__global__ void k(int* x) { *x = f(); }")
    local message = support.fails(":5: error", gpu.module,
      "#include <map>\nstd::map<int, int> names() {\n  return {};\n}\n__global__ void k(int* x) { *x = missing; }")
    assert.is_truthy(message:find("missing", 1, true))
  end)

  it("calls no function of the host from a kernel", function()
    if not on_cpu then return end -- NVRTC takes it as the device's
    support.fails("__host__ function", gpu.module, "int f() { return 1; }\n__global__ void k(int* x) { *x = f(); }")
  end)

  it("says which headers there are", function()
    if not on_cpu then return end
    local message = support.fails("headers there are: ", gpu.module, "#include <missing.h>")
    assert.is_truthy(message:find("curand_kernel.h", 1, true))
    assert.is_nil(message:find("gpulua_", 1, true))
    assert.is_nil(message:find("/details/", 1, true))
  end)
end)

describe("shifts", function()
  it("by the width or more give nothing, or the sign", function()
    local got = support.run_kernel([[__global__ void k(int* out, const int* by) {
        int t = threadIdx.x;
        out[t] = (1 << by[t]) | 0;
        out[4 + t] = -5 >> by[t];
        out[8 + t] = 0xf0000000u >> by[t];
        out[12 + t] = (int)((0x8000000000000000ull >> (by[t] * 2)) >> 32);
        out[16 + t] = (int)((0xffffffffffffffffull << (by[t] * 2)) >> 32);
      }]], { grid = 1, block = 4 }, gpu.zeros(20, "int32"), gpu.array({ 0, 31, 32, 100 }, "int32"))
    assert.are.same({
      1, -2147483648, 0, 0,
      -5, -1, -1, -1,
      -268435456, 1, 0, 0,
      -2147483648, 0, 0, 0,
      -1, -1073741824, 0, 0,
    }, got)
  end)
end)

describe("rows of a block", function()
  it("take the ways of a switch, each with an array of its own", function()
    local out = support.run_kernel([[__global__ void k(float* out, const float* p) {
        int y = threadIdx.y, z = threadIdx.x;
        float b[3] = {0, 0, 0};
        switch (y) {
          case 0: for (int j = 0; j < 3; ++j) b[j] = p[z + j * 16] * 4; break;
          case 1: for (int j = 0; j < 3; ++j) b[j] = p[z + 48 + j * 16] * 4; break;
          case 2: for (int j = 0; j < 3; ++j) b[j] = p[z + 96 + j * 16] * 4; break;
        }
        for (int i = 0; i < 3; ++i) out[(y * 3 + i) * 16 + z] = b[i];
      }]], { grid = 1, block = { 16, 4 } }, gpu.full(192, -1), gpu.arange(144, "float32"))
    for i = 1, 192 do assert.are.equal(i <= 144 and 4 * (i - 1) or 0, out[i]) end
  end)
end)
