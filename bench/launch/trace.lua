-- Host time of a launch, while no trace runs and while one does: of a kernel with five arguments and one block, batch by batch in turn.
-- The trace's file is written after the measured loop. Also the time of gpu.annotate around nothing.
--
--   LUA_PATH="bench/arrays/?.lua;bench/launch/?.lua;;" gpulua bench/launch/trace.lua

local gpu = require "gpu"
local timing = require "timing"

local saxpy = gpu.kernel([[
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
]], "saxpy")

local n = 128
local x, y, out = gpu.ones(n), gpu.ones(n), gpu.empty(n)
local launch = saxpy { grid = 1, block = n }
local path = os.tmpname()
-- Fewer than the driver queues before a launch waits for the device.
local calls, batches = 500, 201

local function per_call(work)
  gpu.sync()
  local start = timing.now()
  for _ = 1, calls do work() end
  return (timing.now() - start) * 1e3 / calls
end

local function median(values)
  table.sort(values)
  return values[math.ceil(#values / 2)]
end

local function launch_once() launch(2, x, y, out, n) end
local function nothing() end
local function annotate() gpu.annotate("step", nothing) end

local function compare(name, work)
  local plain, traced, ratios = {}, {}, {}
  for batch = 0, batches do -- the 0th warms up
    plain[batch] = per_call(work)
    traced[batch] = gpu.profiler.trace(path, per_call, work)
    ratios[batch] = traced[batch] / plain[batch]
  end
  print(("%s %.3f us, in a trace %.3f us, ratio %.3f (medians of %d batches of %d)"):format(name, median(plain), median(traced),
    median(ratios), batches, calls))
end

compare("launch", launch_once)
compare("annotate", annotate)
os.remove(path)
assert(out[n] == 3)
