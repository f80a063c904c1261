-- Host time of a launch: from Lua, and by a C++ loop over cuLaunchKernel (loop.cpp), in one process, batch by batch in turn.
-- A kernel with five arguments and one block; nothing waits for it within a batch.
--
--   gpulua bench/launch/launch.lua path/to/libbench_launch_loop.so

local gpu = require "gpu"
local ffi = require "ffi"

ffi.cdef [[
  double bench_launch_loop(int launches);
  typedef struct { long seconds, nanoseconds; } bench_time;
  int clock_gettime(int clock, bench_time* time);
]]
local baseline = ffi.load(arg[1])

local time = ffi.new "bench_time"
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

-- Fewer than the driver queues before a launch waits for the device.
local launches, batches = 500, 201
local ours, theirs, ratios = {}, {}, {}
for batch = 0, batches do -- the 0th warms up
  gpu.sync()
  local start = now()
  for _ = 1, launches do launch(2, x, y, out, n) end
  ours[batch] = (now() - start) / launches
  gpu.sync()
  theirs[batch] = baseline.bench_launch_loop(launches)
  ratios[batch] = ours[batch] / theirs[batch]
end
assert(out[n] == 3)

local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end
print(("Lua %.3f us, C++ %.3f us, ratio %.3f (medians of %d batches of %d)"):format(median(ours), median(theirs), median(ratios),
  batches, launches))
