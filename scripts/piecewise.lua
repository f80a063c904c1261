-- A module with several kernels that share a device function and a constant, as in CuPy's RawModule tutorial: a piecewise
-- scale over linspace(-2, 3, 100000), 0.5 below 0, 2 below 1, else 0.1.
--
--   gpulua scripts/piecewise.lua

local gpu = require "gpu"

local module = gpu.module [[
__constant__ float slopes[3];

__device__ int piece(float x) { return x < 0 ? 0 : x < 1 ? 1 : 2; }

__global__ void piecewise(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = slopes[piece(x[i])] * x[i];
}

__global__ void count_pieces(const float* x, int* counts, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&counts[piece(x[i])], 1);
}
]]

local n = 100000
local x, y = gpu.linspace(-2, 3, n), gpu.empty(n)
module:constant("slopes"):copy_ { 0.5, 2, 0.1 }
module.piecewise:over(n)(x, y, n)

local counts = gpu.zeros(3, "int32")
module.count_pieces:over(n)(x, counts, n)

local xs, ys = x:host(), y:host()
local worst, expected = 0, { 0, 0, 0 }
for i = 0, n - 1 do
  local piece = xs[i] < 0 and 1 or xs[i] < 1 and 2 or 3
  expected[piece] = expected[piece] + 1
  worst = math.max(worst, math.abs(ys[i] - ({ 0.5, 2, 0.1 })[piece] * xs[i]))
end
local counted = counts:table()
print(("piecewise over %d points on %s: largest error %.2e"):format(n, tostring(gpu.device()), worst))
print(("points below 0, below 1, above: %d %d %d"):format(unpack(counted)))
assert(worst < 1e-6, "the device's results differ from the reference")
for i = 1, 3 do assert(counted[i] == expected[i], "the device's counts differ from the reference") end
