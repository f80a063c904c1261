-- gpulua bench/arrays/hand.lua [tiny] [workload...]: the kernels that one would write by hand, straightforward CUDA C++, and copies as a floor.
-- Prints lines as ours.lua does.
local gpu = require "gpu"
local timing = require "timing"

local tiny = timing.tiny
local spread = require "data".spread
local function size(large, least) return tiny and least or large end

local options = { options = { "--std=c++17" } }
local mod = gpu.module([[
#include <curand_kernel.h>
template <class Real>
__device__ Real cnd(Real d) {
  const Real k = Real(1) / (Real(1) + Real(0.2316419) * fabs(d));
  const Real tail = Real(0.39894228040143267793994605993438) * exp(Real(-0.5) * d * d) *
      (k * (Real(0.31938153) + k * (Real(-0.356563782) + k * (Real(1.781477937) + k * (Real(-1.821255978) + k * Real(1.330274429))))));
  return d > 0 ? Real(1) - tail : tail;
}
template <class Real>
__device__ void price(Real* call, Real* put, const Real* S, const Real* X, const Real* T, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Real r = Real(0.02), v = Real(0.30);
  const Real root = sqrt(T[i]);
  const Real d1 = (log(S[i] / X[i]) + (r + Real(0.5) * v * v) * T[i]) / (v * root);
  const Real d2 = d1 - v * root;
  const Real discounted = X[i] * exp(-r * T[i]);
  call[i] = S[i] * cnd(d1) - discounted * cnd(d2);
  put[i] = discounted * (Real(1) - cnd(d2)) - S[i] * (Real(1) - cnd(d1));
}
__global__ void bs64(double* call, double* put, const double* S, const double* X, const double* T, size_t n) { price(call, put, S, X, T, n); }
__global__ void bs32(float* call, float* put, const float* S, const float* X, const float* T, size_t n) { price(call, put, S, X, T, n); }
__global__ void chain(float* y, const float* x, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = sqrtf(x[i] * 2 + 1);
}
__global__ void add(float* c, const float* a, const float* b, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
// Each thread draws from a stream of its own; sum: zero at first.
__global__ void mc(double* sum, float S0, float K, float drift, float volatility, size_t n, unsigned long long seed) {
  const size_t first = blockIdx.x * (size_t)blockDim.x + threadIdx.x, threads = gridDim.x * (size_t)blockDim.x;
  curandStatePhilox4_32_10_t state;
  curand_init(seed, first, 0, &state);
  double mine = 0;
  for (size_t i = first * 4; i < n; i += threads * 4) {
    const float4 z = curand_normal4(&state);
    mine += fmaxf(S0 * expf(drift + volatility * z.x) - K, 0.0f);
    mine += fmaxf(S0 * expf(drift + volatility * z.y) - K, 0.0f);
    mine += fmaxf(S0 * expf(drift + volatility * z.z) - K, 0.0f);
    mine += fmaxf(S0 * expf(drift + volatility * z.w) - K, 0.0f);
  }
  for (int distance = 16; distance > 0; distance /= 2) mine += __shfl_xor_sync(0xffffffffu, mine, distance);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}
]], options)

local function report(name, run, check, scale)
  print(("%s %.6g %.9g"):format(name, timing.median(run, gpu.sync) * (scale or 1), check()))
  collectgarbage()
  collectgarbage()
  io.stdout:flush()
end

if timing.wanted "small" then
  local a, c = spread(16, 0, 1, "float32"), gpu.empty(16)
  local launch = mod.add { grid = 1, block = 256 }
  report("small", function() for _ = 1, 1000 do launch(c, a, a, 16) end end, function() return c:sum():item() end, 1 / 1000)
end
for _, case in ipairs { { "bs64", 4e6, "float64" }, { "bs32", 64e6, "float32" } } do
  local name, n, dtype = case[1], size(case[2], 1000), case[3]
  if timing.wanted(name) then
    local S, X, T = spread(n, 5, 30, dtype), spread(n + 1, 1, 100, dtype) { 2, -1 }:copy(), spread(n + 2, 0.25, 10, dtype) { 3, -1 }:copy()
    local call, put = gpu.empty(n, dtype), gpu.empty(n, dtype)
    local launch = mod[name]:over(n)
    local times = name == "bs64" and 10 or 1
    report(name, function() for _ = 1, times do launch(call, put, S, X, T, n) end end,
      function() return (call:mean { dtype = "float64" } + put:mean { dtype = "float64" }):item() end, 1 / times)
  end
end
if timing.wanted "mc" then
  local n, sum, seed = size(256e6, 1000), gpu.empty(1, "float64"), 0
  local launch = mod.mc { grid = 8 * 132, block = 256 }
  report("mc", function()
    seed = seed + 1
    sum:fill_(0)
    launch(sum, 100, 100, 0.02 - 0.5 * 0.3 ^ 2, 0.3, n, seed)
  end, function() return math.floor(sum:item() / n * math.exp(-0.02) / (tiny and 10 or 0.5) + 0.5) end)
end
if timing.wanted "chain" or timing.wanted "copy" then
  local n = size(256e6, 1000)
  local x, y = spread(n, 0, 1, "float32"), gpu.empty(n)
  if timing.wanted "chain" then
    local launch = mod.chain:over(n)
    report("chain", function() launch(y, x, n) end, function() return y:mean { dtype = "float64" }:item() end)
  end
  if timing.wanted "copy" then report("copy", function() y:copy_(x) end, function() return 0 end) end
end
