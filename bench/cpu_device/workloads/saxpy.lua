local gpu = require "gpu"
local side = require "side"

local saxpy = gpu.kernel([[
__global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
]], "saxpy")

local n = side.size
local x, y, out = side.input("x", "float32"), side.input("y", "float32"), gpu.empty(n)
local launch = saxpy { grid = math.ceil(n / 256), block = 256 }
local function work() launch(2.5, x, y, out, n) end

work()
side.check("out", out, 1e-6)
side.time(work)
