-- gpulua bench/arrays/ours.lua [tiny] [workload...]: the workloads of bench/arrays as gpulua's array expressions on the current device.
-- Prints a line for each: name, median milliseconds, a number that all sides must agree on.
local gpu = require "gpu"
local timing = require "timing"
local data = require "data"

local tiny = timing.tiny
local size, spread, on_gpu = data.size, data.spread, data.on_gpu

local function cnd(d)
  local k = 1 / (1 + 0.2316419 * d:abs())
  local tail = 0.39894228040143267793994605993438 * gpu.exp(-0.5 * d * d) *
    (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
  return gpu.where(d:gt(0), 1 - tail, tail)
end

local function black_scholes(S, X, T)
  local R, V = 0.02, 0.30
  local root = T:sqrt()
  local d1 = (gpu.log(S / X) + (R + 0.5 * V * V) * T) / (V * root)
  local d2 = d1 - V * root
  local c1, c2 = cnd(d1), cnd(d2)
  local discounted = X * gpu.exp(-R * T)
  return gpu.eval(S * c1 - discounted * c2, discounted * (1 - c2) - S * (1 - c1))
end

local function price_options(n, dtype)
  local S, X, T = spread(n, 5, 30, dtype), spread(n + 1, 1, 100, dtype) { 2, -1 }, spread(n + 2, 0.25, 10, dtype) { 3, -1 }
  X, T = X:copy(), T:copy()
  local call, put
  return function()
    call, put = black_scholes(S, X, T)
  end, function() return (call:astype("float64"):mean() + put:astype("float64"):mean()):item() end
end

local workloads = {}
local function workload(name, make)
  if timing.wanted(name) then workloads[#workloads + 1] = { name = name, make = make } end
end

workload("small", function()
  local a, b, c = spread(16, 0, 1, "float32"), spread(16, 0, 1, "float32"), nil
  return function()
    for _ = 1, 1000 do c = (a + b):eval() end
  end, function() return c:sum():item() end, 1 / 1000
end)
-- 1 GB from one GPU to the next.
workload("peercopy", function()
  if not on_gpu or #gpu.devices() < 3 then return end -- the CPU device and two GPUs
  local x = spread(size(256e6, 0, 1000), 0, 1, "float32")
  local y = x:to "cuda:1"
  return function() y:copy_(x) end, function() return y[10] end
end)
workload("bs64", function()
  local price, check = price_options(size(4e6, 4e6, 1000), "float64")
  return function() for _ = 1, 10 do price() end end, check, 1 / 10
end)
workload("bs32", function() return price_options(size(64e6, 4e6, 1000), "float32") end)
workload("mc", function()
  if not gpu.randn then return end
  local n, price = size(256e6, 16e6, 100000), nil
  local S0, K, r, v = 100, 100, 0.02, 0.30
  return function()
    local payoff = gpu.maximum(S0 * gpu.exp((r - 0.5 * v * v) + v * gpu.randn(n)) - K, 0)
    price = (payoff:mean { dtype = "float64" } * math.exp(-r)):eval()
  end, function() return math.floor(price:item() / (tiny and 10 or 0.5) + 0.5) end
end)
for _, name in ipairs { "rand", "randn" } do
  workload(name, function()
    local n, y = size(256e6, 16e6, 1000), nil
    return function() y = gpu[name](n):eval() end, function() return math.floor(2 * (y * y):mean():item() + 0.5) end
  end)
end
workload("chain", function()
  local x, y = spread(size(256e6, 16e6, 1000), 0, 1, "float32"), nil
  return function() y = gpu.sqrt(x * 2 + 1):eval() end, function() return y:mean { dtype = "float64" }:item() end
end)
workload("sum", function()
  local x, y = spread(size(256e6, 64e6, 1000), 0, 1, "float32"), nil
  return function() y = x:sum():eval() end, function() return y:item() end
end)
local function matrix() return spread(size(16384 ^ 2, 4096 ^ 2, 32 ^ 2), 0, 1, "float32"):reshape(size(16384, 4096, 32), size(16384, 4096, 32)) end
workload("sum1", function()
  local x, y = matrix(), nil
  return function() y = x:sum(1):eval() end, function() return y[3] end
end)
workload("sum2", function()
  local x, y = matrix(), nil
  return function() y = x:sum(2):eval() end, function() return y[3] end
end)
workload("center", function()
  local x, y = matrix(), nil
  return function() y = (x - x:mean(2, { keepdims = true })):eval() end, function() return y[2][3] end
end)
local function rows() return spread(size(65536, 4096, 32) * 1024, -4, 4, "float32"):reshape(size(65536, 4096, 32), 1024) end
workload("softmax", function()
  local x, y = rows(), nil
  return function() y = gpu.softmax(x, 2):eval() end, function() return y[2][3] end
end)
workload("layernorm", function()
  local x, weight, bias, y = rows(), spread(1024, 0, 1, "float32"), spread(1024, 1, 2, "float32"), nil
  return function()
    local centred = x - x:mean(2, { keepdims = true })
    y = (centred / ((centred * centred):mean(2, { keepdims = true }) + 1e-5):sqrt() * weight + bias):eval()
  end, function() return y[2][3] end
end)
workload("var", function()
  local x, y = matrix(), nil
  return function() y = x:var(2):eval() end, function() return y[3] end
end)
workload("var1", function()
  local x, y = matrix(), nil
  return function() y = x:var(1):eval() end, function() return y[3] end
end)
workload("stencil", function()
  local n, y = size(8192, 2048, 32), nil
  local x = spread(n * n, 0, 1, "float32"):reshape(n, n)
  return function()
    local inner = { 2, n - 1 }
    y = (0.2 * (x(inner, inner) + x({ 1, n - 2 }, inner) + x({ 3, n }, inner) + x(inner, { 1, n - 2 }) + x(inner, { 3, n }))):eval()
  end, function() return y[2][3] end
end)
workload("life", function()
  local n, y = size(4096, 512, 32), nil
  local x = spread(n * n, 0, 1, "float32"):reshape(n, n):lt(0.4):astype("uint8"):eval()
  return function()
    local neighbours = -x
    for i = -1, 1 do
      for j = -1, 1 do neighbours = neighbours + x:roll({ i, j }, { 1, 2 }) end
    end
    y = neighbours:eq(3):logical_or(neighbours:eq(2):logical_and(x:eq(1))):astype("uint8"):eval()
  end, function() return y:sum():item() end
end)
workload("floordiv", function()
  local x, y = spread(size(256e6, 16e6, 1000), -1e9, 1e9, "int32"), nil
  return function() y = (x:floor_divide(7) + x % 13):eval() end, function() return y[1000] end
end)
-- Squared distances of points to 64 centres, and the nearest centre of each.
workload("distances", function()
  local n = size(1e6, 1e5, 300)
  local points, centres, y = spread(n * 16, 0, 1, "float32"):reshape(n, 16), spread(64 * 16, 0, 1, "float64"), nil
  centres = (centres * 7.3 % 1):astype "float32":reshape(64, 16):eval()
  return function() y = ((points(":", gpu.newaxis) - centres) ^ 2):sum(3):argmin(2):eval() end,
    function() return y:mean():item() end
end)
local function short_rows() return spread(size(16e6, 1e6, 100) * 16, 0, 1, "float32"):reshape(size(16e6, 1e6, 100), 16) end
workload("shortsum", function()
  local x, y = short_rows(), nil
  return function() y = x:sum(2):eval() end, function() return y[3] end
end)
workload("shortargmax", function()
  local x, y = short_rows(), nil
  return function() y = x:argmax(2):eval() end, function() return y:mean():item() end
end)
-- Products of matrices, and the call of a small one.
local function square(n, dtype)
  return spread(n * n, 0, dtype == "int32" and 8 or 1, "float32"):reshape(n, n):astype(dtype):eval()
end
local function product(name, dtype, n)
  workload(name, function()
    local x, y = square(n, dtype), nil
    return function() y = x:matmul(x) end, function() return y:astype("float64"):mean():item() / n end
  end)
end
product("gemm", "float32", size(4096, 2048, 32))
product("gemm64", "float64", size(4096, 1024, 32))
product("gemm16", "float16", size(4096, 256, 32))
product("gemmint", "int32", size(4096, 512, 32))
workload("gemmcall", function()
  local x, y = square(16, "float32"), nil
  return function()
    for _ = 1, 1000 do y = x:matmul(x) end
  end, function() return y:mean():item() end, 1 / 1000
end)
workload("batched", function()
  local n = size(10000, 10000, 10)
  local x, y = spread(n * 32 * 32, 0, 1, "float32"):reshape(n, 32, 32), nil
  return function() y = x:matmul(x) end, function() return y:mean():item() end
end)
-- The scores of attention: a batch of 8, 16 heads.
workload("einsum", function()
  local n = size(512, 128, 8)
  local x, y = spread(8 * n * 16 * 64, 0, 1, "float32"):reshape(8, n, 16, 64), nil
  return function() y = gpu.einsum("bqhd,bkhd->bhqk", x, x):eval() end, function() return y:mean():item() end
end)
-- Fourier transforms of complex64: one long row, a picture, rows whose length is a prime.
for _, kind in ipairs {
  { name = "fft16m", rows = function() return 1, size(2 ^ 24, 2 ^ 20, 1024) end },
  { name = "fft2_4096", rows = function() local n = size(4096, 1024, 32) return n, n end, transform = "fft2" },
  { name = "fft1009", rows = function() return size(10000, 1000, 3), 1009 end },
} do
  workload(kind.name, function()
    local rows, n = kind.rows()
    local parts = spread(2 * rows * n, -1, 1, "float32"):reshape(rows, n, 2)
    local x, y = (parts(":", ":", 1) + parts(":", ":", 2) * gpu.complex(0, 1)):eval(), nil
    local transform = gpu.fft[kind.transform or "fft"]
    return function() y = transform(x) end, function() return (y:abs():mean { dtype = "float64" } / math.sqrt(n)):item() end
  end)
end
workload("cumsum", function()
  if not gpu.cumsum then return end
  local x, y = spread(size(256e6, 16e6, 1000), 0, 1, "float32"), nil
  return function() y = gpu.cumsum(x):eval() end, function() return y[1000] end
end)
workload("select", function()
  local x, y = spread(size(256e6, 16e6, 1000), 0, 1, "float32"), nil
  if not pcall(function() return x[x:gt(0.5)] end) then return end
  return function() y = x[x:gt(0.5)] end, function() return y.size end
end)
workload("sort", function()
  if not gpu.sort then return end
  local x, y = spread(size(64e6, 4e6, 1000), 0, 1, "float32"), nil
  return function() y = gpu.sort(x):eval() end, function() return y[10] end
end)
workload("median", function()
  if not gpu.median then return end
  local x, y = spread(size(64e6, 4e6, 1000), 0, 1, "float32"), nil
  return function() y = gpu.median(x):eval() end, function() return y:item() end
end)
workload("medians", function()
  if not gpu.median then return end
  local x, y = rows(), nil
  return function() y = gpu.median(x, 2):eval() end, function() return y[3] end
end)
workload("permutation", function()
  if not gpu.random then return end
  local n, y = size(16e6, 1e6, 1000), nil
  return function() y = gpu.random.permutation(n):eval() end, function() return y:sum { dtype = "float64" }:item() - n end
end)
workload("scatter", function()
  local n = size(16e6, 500000, 1000)
  local x, at, values = gpu.zeros(n, "float64"), (spread(n, 0, n, "int64") + 1):eval(), spread(n, 0, 1, "float64")
  return function() gpu.scatter_add(x, at, values) end, function()
    x:fill_(0)
    return gpu.scatter_add(x, at, values):sum():item()
  end
end)
--- The five-point Laplacian of a grid, and a matrix whose rows have as many entries as a power of their number says.
local function laplacian(n)
  local line, unit = gpu.sparse.diags({ -1, 2, -1 }, { -1, 0, 1 }, { n, n }), gpu.sparse.eye(n)
  return gpu.sparse.kron(line, unit) + gpu.sparse.kron(unit, line)
end
local function power_law(n, count)
  local k = gpu.arange(count, "float64")
  local row = (((k * 0.6180339887498949) % 1) ^ 3 * n):floor():astype "int64"
  local column = (((k * 0.7548776662466927) % 1) * n):floor():astype "int64"
  return gpu.sparse.coo(row + 1, column + 1, gpu.ones(count), { n, n }):tocsr()
end
local function product(A)
  local x, y = spread(A.shape[2], 0, 1, "float32"), nil
  return function() y = A:matmul(x) end, function() return y:abs():mean({ dtype = "float64" }):item() end
end
workload("spmv", function() return product(laplacian(size(2048, 1024, 20))) end)
workload("spmv_power", function() return product(power_law(size(1e6, 250000, 1000), size(16e6, 4e6, 5000))) end)
workload("spgemm", function()
  local A, C = laplacian(size(2048, 512, 20)), nil
  return function() C = A:matmul(A) end, function() return C.data:astype("float64"):abs():mean():item() end
end)
--- n values over [0, 1) without a pattern.
local function scattered(n, dtype)
  local k = gpu.arange(n, "float64")
  return ((k * k * 0.6180339887498949) % 1):astype(dtype):eval()
end
local function mean(y) return y:mean({ dtype = "float64" }):item() end
--- Parts of a picture and their distances, filters of rows, peaks.
local sections = gpu.signal.butter(6, 0.1, { output = "sos" }):table()
local function picture() return scattered(size(4096, 1024, 32) ^ 2, "float32"):reshape(size(4096, 1024, 32), -1) end
for _, row in ipairs {
  { "label", function() return picture():gt(0.55) end, gpu.ndimage.label, function(y) return mean(y) / size(4096, 1024, 32) end },
  { "edt", function() return picture():le(0.98) end, gpu.ndimage.distance_transform_edt, mean },
  { "opening", function() return picture():gt(0.02) end, function(x) return gpu.ndimage.binary_opening(x, { iterations = 3 }) end,
    function(y) return mean(y) + 1 end },
  { "sosfilt", function() return scattered(size(16e6, 1e6, 1000), "float64") end,
    function(x) return gpu.signal.sosfilt(sections, x) end, mean },
  { "sosfilt1000", function() return scattered(1000 * size(16384, 4096, 64), "float64"):reshape(1000, -1) end,
    function(x) return gpu.signal.sosfilt(sections, x) end, mean },
  { "resample32", function() return scattered(size(16e6, 1e6, 1000), "float64") end,
    function(x) return gpu.signal.resample_poly(x, 3, 2) end, mean },
  { "peaks", function() return scattered(size(4e6, 1e6, 1000), "float64") end,
    function(x) return gpu.signal.find_peaks(x, { prominence = 0.5, distance = 5 }) end, function(y) return mean(y - 1) / 1e6 end },
} do
  workload(row[1], function()
    local x, y = row[2]():eval(), nil
    return function() y = row[3](x):eval() end, function() return row[4](y) end
  end)
end
workload("histogram", function()
  if not gpu.histogram then return end
  local x, y = spread(size(256e6, 16e6, 1000), 0, 1, "float32"), nil
  return function() y = gpu.histogram(x, 256, { range = { 0, 1 } }):eval() end, function() return y[10] end
end)
workload("topk", function()
  if not gpu.topk then return end
  local x, y = spread(size(64e6, 4e6, 1000), 0, 1, "float32"), nil
  return function() y = gpu.topk(x, 100):eval() end, function() return y[100] end
end)
workload("argmax", function()
  local x, y = spread(size(256e6, 64e6, 1000), 0, 1, "float32"), nil
  return function() y = x:argmax():eval() end, function() return y:item() end
end)
workload("transpose", function()
  local x, y = matrix(), nil
  return function() y = x.T:copy() end, function() return y[2][5] end
end)

workload("masked", function()
  local x = spread(size(256e6, 16e6, 1000), 0, 1, "float32")
  return function() x[x:gt(0.5)] = 0.25 end, function() return x:sum { dtype = "float64" }:item() end
end)

-- A thousand small updates of a million elements: lazy, computed one by one, and as a graph.
for _, way in ipairs {
  { name = "chain1000", prepare = function(steps)
    return function() steps(function(a) return a end):eval() end
  end },
  { name = "chain1000_eval", prepare = function(steps)
    return function() steps(gpu.eval) end
  end },
  { name = "chain1000_graph", prepare = function(steps)
    local graph = gpu.graph(function() return steps(gpu.eval) end)
    return function() graph:launch() end
  end },
} do
  workload(way.name, function()
    local a, b, last = spread(size(1e6, 1e6, 1000), 0, 1, "float32"), spread(1 + size(1e6, 1e6, 1000), 0, 1, "float32") { 2, -1 }, nil
    b = b:copy()
    return way.prepare(function(each)
      local x = a
      for _ = 1, 1000 do x = each(x * 0.99 + b) end
      last = x
      return x
    end), function() return last[17] end
  end)
end

-- Lorenz's system for 1000 points, 200 steps by the method of Runge and Kutta: each step computed, fused, and as a graph.
local function lorenz(x, y, z) return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z end
local function runge_kutta(x, y, z)
  local h = 0.01
  local a1, b1, c1 = lorenz(x, y, z)
  local a2, b2, c2 = lorenz(x + 0.5 * h * a1, y + 0.5 * h * b1, z + 0.5 * h * c1)
  local a3, b3, c3 = lorenz(x + 0.5 * h * a2, y + 0.5 * h * b2, z + 0.5 * h * c2)
  local a4, b4, c4 = lorenz(x + h * a3, y + h * b3, z + h * c3)
  local s = h / 6
  return x + s * (a1 + 2 * a2 + 2 * a3 + a4), y + s * (b1 + 2 * b2 + 2 * b3 + b4), z + s * (c1 + 2 * c2 + 2 * c3 + c4)
end
local function orbit(step)
  local x, y, z = spread(1000, 1, 2, "float32"), spread(1000, 1, 2, "float32"), spread(1000, 20, 21, "float32")
  local last
  return function()
    local a, b, c = x, y, z
    for _ = 1, 200 do a, b, c = step(a, b, c) end
    last = a
    return a, b, c
  end, function() return math.floor(last:mean():item() * 4 + 0.5) end
end
workload("lorenz", function() return orbit(function(x, y, z) return gpu.eval(runge_kutta(x, y, z)) end) end)
workload("lorenz_fused", function() return orbit(gpu.fuse(runge_kutta)) end)
workload("lorenz_graph", function()
  local run, check = orbit(function(x, y, z) return gpu.eval(runge_kutta(x, y, z)) end)
  local graph = gpu.graph(run)
  return function() graph:launch() end, check
end)

for _, rows in ipairs { "linear_algebra_rows", "element_rows", "everyday_rows", "gradient_rows", "solver_rows" } do require(rows)(workload) end

for _, work in ipairs(workloads) do
  local ok, message = pcall(function()
    local run, check, scale = work.make()
    if not run then return end
    local milliseconds = timing.median(run, gpu.sync)
    print(("%s %.6g %.9g"):format(work.name, milliseconds * (scale or 1), check()))
  end)
  if not ok then io.stderr:write(work.name, ": ", tostring(message), "\n") end
  collectgarbage()
  collectgarbage()
  io.stdout:flush()
end
