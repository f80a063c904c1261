-- A matrix product three ways: a naive kernel, the vendor's library, and plain Lua on a sample. In CuPy's tutorial,
-- float64 arrays go to a kernel with float* parameters, and the time is taken without waiting. Here the first is an error, and the
-- times are the device's.
--
--   gpulua scripts/matmul.lua [n]

local gpu = require "gpu"
local ffi = require "ffi"

local n = tonumber(arg and arg[1]) or 512

local function random_matrix()
  local values = ffi.new("float[?]", n * n)
  for i = 0, n * n - 1 do values[i] = math.random() end
  return gpu.array(values):reshape(n, n)
end
local a, b = random_matrix(), random_matrix()

local kernel = gpu.kernel([[
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
]], "matmul")

--- Milliseconds that fn's work takes on the device, after one run to warm up.
local function time(fn)
  fn()
  local start, stop = gpu.event(), gpu.event()
  start:record()
  fn()
  stop:record()
  stop:sync()
  return start:elapsed(stop)
end

local c = gpu.empty(n, n)
local blocks = math.ceil(n / 32)
local launch = kernel { grid = { blocks, blocks }, block = { 32, 32 } }
local naive = time(function() launch(a, b, c, n) end)
local product
local library = time(function() product = gpu.matmul(a, b) end)

local ah, bh, ch, ph = a:host(), b:host(), c:host(), product:host()
local worst = 0
for i = 0, n - 1, 37 do
  for j = 0, n - 1, 41 do
    local sum = 0
    for k = 0, n - 1 do sum = sum + ah[i * n + k] * bh[k * n + j] end
    worst = math.max(worst, math.abs(ch[i * n + j] - sum) / sum, math.abs(ph[i * n + j] - sum) / sum)
  end
end
print(("%d x %d float32 on %s: naive kernel %.3f ms, library %.3f ms, largest relative error %.1e"):format(n, n,
  tostring(gpu.device()), naive, library, worst))
assert(worst < 1e-5, "a product differs from the reference")

local ok, message = pcall(function() launch(a:astype "float64", b, c, n) end)
assert(not ok)
print("and with a float64 array: " .. message)
