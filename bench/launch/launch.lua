-- Host time of a launch from Lua: a kernel with five arguments, on a small array, without waiting for it.
-- Prints the median of the batches in microseconds, as baseline.cpp does for a C++ loop over cuLaunchKernel.
local gpu = require "gpu"
local ffi = require "ffi"

ffi.cdef "typedef struct { long seconds, nanoseconds; } gpulua_time; int clock_gettime(int, gpulua_time*);"
local time = ffi.new "gpulua_time"
local function now()
  ffi.C.clock_gettime(1, time)
  return tonumber(time.seconds) * 1e6 + tonumber(time.nanoseconds) * 1e-3
end

local saxpy = gpu.kernel([[
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
]], "saxpy")

local n = 128
local x, y, out = gpu.ones(n), gpu.ones(n), gpu.empty(n)
local launch = saxpy { grid = 1, block = n }

local batches, launches = 20, 2000
local medians = {}
for batch = 0, batches do
  gpu.sync()
  local start = now()
  for _ = 1, launches do launch(2, x, y, out, n) end
  medians[batch] = (now() - start) / launches -- the 0th warms up
end
gpu.sync()
assert(out[n] == 3)
table.sort(medians)
print(("%.4f"):format(medians[math.floor(batches / 2)]))
