local gpu = require "gpu"
local side = require "side"

local stencil = gpu.kernel([[
__global__ void stencil(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.25f * x[max(i - 1, 0)] + 0.5f * x[i] + 0.25f * x[min(i + 1, n - 1)];
}
]], "stencil")

local n = side.size
local x, y = side.input("x", "float32"), gpu.empty(n)
local launch = stencil:over(n)
local function work() launch(x, y, n) end

work()
side.check("y", y, 1e-6)
side.time(work)
