-- SAXPY with the steps of CUDA Python's tutorial for the driver API: compile, allocate, copy on a stream, launch, synchronise, check.
--
--   gpulua scripts/saxpy.lua [elements]

local gpu = require "gpu"
local ffi = require "ffi"

local source = [[
extern "C" __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
}
]]
local module = gpu.module(source, { options = { "--fmad=false" } })

local n, a = tonumber(arg and arg[1]) or 2 ^ 24, 2
local threads = 512
local blocks = math.ceil(n / threads)

-- Host data, and device memory without values.
local x_host, y_host = ffi.new("float[?]", n), ffi.new("float[?]", n)
for i = 0, n - 1 do
  x_host[i], y_host[i] = math.random(), math.random()
end
local x, y, out = gpu.empty(n), gpu.empty(n), gpu.empty(n)

-- One stream keeps the order of the copies, the launch and the copy back.
local stream = gpu.stream()
local start, stop = gpu.event(), gpu.event()
local out_host
gpu.with(stream, function()
  x:copy_from(x_host)
  y:copy_from(y_host)
  start:record(stream)
  module.saxpy { grid = blocks, block = threads }(a, x, y, out, n)
  stop:record(stream)
  out_host = out:host()
end)
stream:sync()

-- Without contraction to a fused multiply-add the device rounds twice, as C does: the results agree to the last bit.
local scaled = ffi.new "float[1]"
local sum = ffi.new "float[1]"
local wrong = 0
for i = 0, n - 1 do
  scaled[0] = a * x_host[i]
  sum[0] = scaled[0] + y_host[i]
  if sum[0] ~= out_host[i] then wrong = wrong + 1 end
end
print(("saxpy of %d elements on %s: %.3f ms in the kernel, %d wrong"):format(n, tostring(gpu.device()), start:elapsed(stop), wrong))
if module.ptx then print("PTX: " .. module.ptx:match "%.target %S+") end
assert(wrong == 0, "the device's results differ from the reference")
