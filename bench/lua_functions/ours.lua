-- gpulua bench/lua_functions/ours.lua [tiny] [workload...]: Lua functions as device code, beside the same in CUDA C++ from a
-- string, in turn. Prints a line for each workload: name, milliseconds of the Lua function, those of the string, and a number that
-- all sides must agree on. The times are first quartiles, which other work on the machine disturbs less than medians.
local gpu = require "gpu"
local timing = require "timing"
local data = require "data"

local tiny = timing.tiny
local size, spread = data.size, data.spread

local function first_quartile(values)
  table.sort(values)
  return values[math.floor(#values / 4) + 1]
end

--- Runs both in turn. `runs`: how often one measurement runs it.
local function compare(name, lua, source, check, runs)
  if not timing.wanted(name) then return end
  runs = runs or 1
  local function measure(run)
    local start = timing.now()
    for _ = 1, runs do run() end
    gpu.sync()
    return (timing.now() - start) / runs
  end
  local function results()
    lua()
    local first = check()
    source()
    assert(math.abs(first - check()) <= 1e-3 * math.max(1, math.abs(first)), name .. ": the sides differ")
    return first
  end
  local number = results()
  for _ = 1, 3 do measure(lua) measure(source) end
  local ours, theirs = {}, {}
  local begin = timing.now()
  while #ours < 11 or (timing.now() - begin < 2000 and #ours < 301) and not tiny do
    -- Each goes first in every other round.
    local first = #ours % 2 == 0
    local a = first and measure(lua)
    local b = measure(source)
    a = a or measure(lua)
    ours[#ours + 1], theirs[#theirs + 1] = a, b
  end
  print(("%s %.6g %.6g %.9g"):format(name, first_quartile(ours), first_quartile(theirs), number))
end

-- ---- gpu.vectorize beside gpu.elementwise -------------------------------------------------------------------------------------

local rate, volatility = 0.02, 0.30

local function cnd(d)
  local k = 1 / (1 + 0.2316419 * math.abs(d))
  local tail = 0.39894228040143267793994605993438 * math.exp(-0.5 * d * d)
    * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
  return d > 0 and 1 - tail or tail
end

local call_price = gpu.vectorize(function(s, x, t)
  local root = math.sqrt(t)
  local d1 = (math.log(s / x) + (rate + 0.5 * volatility ^ 2) * t) / (volatility * root)
  local d2 = d1 - volatility * root
  return s * cnd(d1) - x * math.exp(-rate * t) * cnd(d2)
end, {name = "call_price"})

local source_price = gpu.elementwise {
  name = "call_price", inputs = "T s, T x, T t", outputs = "T c", preamble = [[
template <class T> __device__ T cnd(T d) {
  const T k = T(1) / (T(1) + T(0.2316419) * fabs(d));
  const T tail = T(0.39894228040143267793994605993438) * exp(T(-0.5) * d * d) *
      (k * (T(0.31938153) + k * (T(-0.356563782) + k * (T(1.781477937) + k * (T(-1.821255978) + k * T(1.330274429))))));
  return d > T(0) ? T(1) - tail : tail;
}]], body = [[
  const T root = sqrt(t);
  const T d1 = (log(s / x) + T(0.02 + 0.5 * 0.30 * 0.30) * t) / (T(0.30) * root);
  const T d2 = d1 - T(0.30) * root;
  c = s * cnd(d1) - x * exp(T(-0.02) * t) * cnd(d2);]],
}

for name, dtype in pairs {black_scholes32 = "float32", black_scholes64 = "float64"} do
  if timing.wanted(name) then
    local n, result = size(64e6, 4e6, 1000), nil
    local S, X, T = spread(n, 5, 30, dtype), spread(n, 1, 100, dtype)("::-1"):copy(), spread(n, 0.25, 10, dtype)
    compare(name, function() result = call_price(S, X, T):eval() end, function() result = source_price(S, X, T):eval() end,
      function() return result:astype("float64"):mean():item() end)
  end
end

-- The bound is a constant on both sides: a captured number would be an argument of the kernel.
local escape = gpu.vectorize(function(cx, cy)
  local x, y = 0, 0
  for n = 1, 200 do
    x, y = x * x - y * y + cx, 2 * x * y + cy
    if x * x + y * y > 4 then return gpu.int32(n) end
  end
  return gpu.int32(200)
end, {name = "escape"})
local source_escape = gpu.elementwise {
  name = "escape", inputs = "T cx, T cy", outputs = "int32 steps", body = [[
  T x = 0, y = 0;
  steps = 200;
  for (int n = 1; n <= 200; ++n) {
    const T next = x * x - y * y + cx;
    y = 2 * x * y + cy;
    x = next;
    if (x * x + y * y > 4) { steps = n; break; }
  }]],
}
if timing.wanted "mandelbrot" then
  local width, height = size(4096, 1024, 64), size(4096, 1024, 64)
  local cx = gpu.linspace(-2, 1, width, "float32"):reshape(1, width):broadcast_to(height, width):copy()
  local cy = gpu.linspace(-1.5, 1.5, height, "float32"):reshape(height, 1):broadcast_to(height, width):copy()
  local steps
  compare("mandelbrot", function() steps = escape(cx, cy):eval() end, function() steps = source_escape(cx, cy):eval() end,
    function() return steps:astype("float64"):mean():item() end)
end

-- ---- gpu.jit beside a kernel from a string ------------------------------------------------------------------------------------

local product = gpu.jit(function(a, b, c)
  local ta, tb = gpu.shared(16, 16, "float32"), gpu.shared(16, 16, "float32")
  local tx, ty = gpu.thread(2)
  local column, row = gpu.grid(2)
  local sum = 0
  for t = 0, a.shape[2] - 1, 16 do
    ta[ty][tx] = row <= #a and t + tx <= a.shape[2] and a[row][t + tx] or 0
    tb[ty][tx] = t + ty <= #b and column <= b.shape[2] and b[t + ty][column] or 0
    gpu.barrier()
    for k = 1, 16 do sum = sum + ta[ty][k] * tb[k][tx] end
    gpu.barrier()
  end
  if row <= #c and column <= c.shape[2] then c[row][column] = sum end
end, {name = "product"})
local source_product = gpu.kernel([[
__global__ void product(const float* a, const float* b, float* c, int rows, int inner, int columns) {
  __shared__ float ta[16][16], tb[16][16];
  const int tx = threadIdx.x, ty = threadIdx.y, column = blockIdx.x * 16 + tx, row = blockIdx.y * 16 + ty;
  float sum = 0;
  for (int t = 0; t < inner; t += 16) {
    ta[ty][tx] = row < rows && t + tx < inner ? a[row * inner + t + tx] : 0;
    tb[ty][tx] = t + ty < inner && column < columns ? b[(t + ty) * columns + column] : 0;
    __syncthreads();
    for (int k = 0; k < 16; ++k) sum += ta[ty][k] * tb[k][tx];
    __syncthreads();
  }
  if (row < rows && column < columns) c[row * columns + column] = sum;
}]], "product")
if timing.wanted "matmul" then
  local n = size(4096, 1024, 64)
  local a, b, c = spread(n * n, 0, 1, "float32"):reshape(n, n), spread(n * n, -1, 1, "float32"):reshape(n, n), gpu.zeros(n, n)
  local shape = {grid = {n / 16, n / 16}, block = {16, 16}}
  local launch, source = product(shape), source_product(shape)
  compare("matmul", function() launch(a, b, c) end, function() source(a, b, c, n, n, n) end,
    function() return c:abs():mean():item() end)
end

-- The host's time of a launch: a kernel of one block; nothing waits for it within a measurement.
if timing.wanted "call" then
  local scale = gpu.jit(function(f, x, y, out)
    local i = gpu.grid()
    if i <= #out then out[i] = f * x[i] + y[i] end
  end, {name = "scale"})
  local source = gpu.kernel([[__global__ void scale(float f, const float* x, const float* y, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = f * x[i] + y[i];
  }]], "scale")
  local x, y, out = gpu.ones(128), gpu.ones(128), gpu.zeros(128)
  local launch, source_launch = scale {grid = 1, block = 128}, source {grid = 1, block = 128}
  compare("call", function() launch(2, x, y, out) end, function() source_launch(2, x, y, out, 128) end,
    function() return out:sum():item() end, 500)
end
