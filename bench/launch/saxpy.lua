-- A launch of a kernel with five arguments and one block, {run, out}: what queues it, and the array to which it writes 3.
local gpu = require "gpu"

local saxpy = gpu.kernel([[
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
]], "saxpy")

local n = 128
local x, y, out = gpu.ones(n), gpu.ones(n), gpu.empty(n)
local launch = saxpy { grid = 1, block = n }
return {run = function() launch(2, x, y, out, n) end, out = out}
