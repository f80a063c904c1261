-- PyCUDA's two first programs: host tables as arguments, copied in and out around one launch.
--
--   gpulua scripts/vector_add.lua

local gpu = require "gpu"
local ffi = require "ffi"

-- Multiply two vectors of 400 normal numbers in one block; the difference to the host's product is exactly 0.
local function normal()
  return math.sqrt(-2 * math.log(1 - math.random())) * math.cos(2 * math.pi * math.random())
end

local multiply = gpu.kernel([[
__global__ void multiply_them(float* dest, const float* a, const float* b) {
  const int i = threadIdx.x;
  dest[i] = a[i] * b[i];
}
]], "multiply_them")

local count = 400
local a, b, dest = ffi.new("float[?]", count), ffi.new("float[?]", count), ffi.new("float[?]", count)
for i = 0, count - 1 do
  a[i], b[i] = normal(), normal()
end
multiply { grid = 1, block = { 400, 1, 1 } }(gpu.Out(dest), gpu.In(a), gpu.In(b))

local product = ffi.new "float[1]"
local difference = 0
for i = 0, count - 1 do
  product[0] = a[i] * b[i]
  difference = math.max(difference, math.abs(dest[i] - product[0]))
end
print(("multiply_them on %s: largest difference %g"):format(tostring(gpu.device()), difference))
assert(difference == 0)

-- Add two arrays of 1024 x 1024, with 256 threads in a block and a bounds check.
local add = gpu.kernel([[
__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
]], "add")

local n = 1024 * 1024
local x, y, sum = {}, {}, {}
for i = 1, n do
  x[i], y[i], sum[i] = math.random(), math.random(), 0
end
add { grid = math.ceil(n / 256), block = 256 }(gpu.In(x), gpu.In(y), gpu.Out(sum), n)

local worst = 0
for i = 1, n do worst = math.max(worst, math.abs(sum[i] - (x[i] + y[i]))) end
print(("add of %d elements: largest difference %.2e"):format(n, worst))
assert(worst < 4e-7, "the device's sums differ from the reference")
