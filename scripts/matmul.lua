-- A matrix product four ways: a naive kernel, a kernel with tiles in shared memory, the vendor's library, and plain Lua on a
-- sample. In CuPy's tutorial, float64 arrays go to a kernel with float* parameters, and the time is taken without waiting. Here
-- the first is an error, and the times are the device's. On a GPU, try 10000.
--
--   gpulua scripts/matmul.lua [n]

local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 512
assert(n >= 1 and n <= 46000 and n % 1 == 0, "n: an integer from 1 to 46000, so that the kernels' int positions suffice")

gpu.random.seed(1)
local a, b = gpu.rand(n, n):eval(), gpu.rand(n, n):eval()

local naive_kernel = gpu.kernel([[
__global__ void matmul(const float* a, const float* b, float* c, int n) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= n || column >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[row * n + column] = sum;
}
]], "matmul")

-- Each block loads a tile of both matrices at a time, so that an element is read n / 32 times instead of n times.
local tiled_kernel = gpu.kernel([[
constexpr int side = 32;
__global__ void matmul_tiled(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[side][side], tile_b[side][side];
  const int x = threadIdx.x, y = threadIdx.y;
  const int column = blockIdx.x * side + x, row = blockIdx.y * side + y;
  float sum = 0;
  for (int start = 0; start < n; start += side) {
    tile_a[y][x] = row < n && start + x < n ? a[row * n + start + x] : 0;
    tile_b[y][x] = column < n && start + y < n ? b[(start + y) * n + column] : 0;
    __syncthreads();
    for (int k = 0; k < side; ++k) sum += tile_a[y][k] * tile_b[k][x];
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum;
}
]], "matmul_tiled")

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

local blocks = math.ceil(n / 32)
local shape = { grid = { blocks, blocks }, block = { 32, 32 } }
local launch, launch_tiled = naive_kernel(shape), tiled_kernel(shape)
local c, tiled, product = gpu.empty(n, n), gpu.empty(n, n), nil
local ways = {
  { "naive kernel", time(function() launch(a, b, c, n) end), c },
  { "shared memory", time(function() launch_tiled(a, b, tiled, n) end), tiled },
  { "library", time(function() product = gpu.matmul(a, b):eval() end) },
}
ways[3][3] = product

-- The reference: rows times columns in plain Lua, at some 100 places with the last row and column among them.
local places = {}
for p = 0, 9 do places[p + 1] = 1 + math.floor(p * (n - 1) / 9) end
local worst = {}
for _, row in ipairs(places) do
  local a_row, rows = a[row]:host(), {}
  for w, way in ipairs(ways) do rows[w] = way[3][row]:host() end
  for _, column in ipairs(places) do
    local b_column, sum = b(":", column):host(), 0
    for k = 0, n - 1 do sum = sum + a_row[k] * b_column[k] end
    for w in ipairs(ways) do worst[w] = math.max(worst[w] or 0, math.abs(rows[w][column - 1] - sum) / sum) end
  end
end
print(("%d x %d float32 on %s"):format(n, n, tostring(gpu.device())))
for w, way in ipairs(ways) do
  local name, milliseconds = way[1], way[2]
  local speed = 2 * n ^ 3 / milliseconds / 1e6
  print(("%-14s %9.3f ms  %9.1f Gflop/s  largest relative error %.1e"):format(name, milliseconds, speed, worst[w]))
  assert(worst[w] < 1e-5 * math.max(1, math.sqrt(n / 512)), "a product differs from the reference")
end

local ok, message = pcall(function() launch(a:astype "float64", b, c, n) end)
assert(not ok)
print("and with a float64 array: " .. message)
