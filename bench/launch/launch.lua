-- Host time of a launch: from Lua, and by a C++ loop over cuLaunchKernel (loop.cpp). A kernel with five arguments and
-- one block.
--
--   LUA_PATH="bench/arrays/?.lua;bench/launch/?.lua;;" gpulua bench/launch/launch.lua path/to/libbench_launch_loop.so

local gpu = require "gpu"
local ffi = require "ffi"
local compare = require "batches"

ffi.cdef "double bench_launch_loop(int launches);"
local baseline = ffi.load(arg[1])

local saxpy = gpu.kernel([[
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
]], "saxpy")

local n = 128
local x, y, out = gpu.ones(n), gpu.ones(n), gpu.empty(n)
local launch = saxpy { grid = 1, block = n }
compare("Lua", function() launch(2, x, y, out, n) end, baseline.bench_launch_loop)
assert(out[n] == 3)
