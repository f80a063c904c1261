-- Loops of users, as they write them: no gpu.eval, states that build on themselves. An elementwise loop runs in a world of arrays
-- and, one element at a time, in a world of numbers. The others check their own results.
local gpu = require "gpu"

local samples = {elementwise = {}, others = {}}
local elementwise, others = samples.elementwise, samples.others

--- What an elementwise loop works with: arrays of `n` elements.
function samples.arrays(n)
  gpu.random.seed(7)
  return {
    full = function(value) return gpu.full(n, value) end,
    range = function(first, last) return gpu.linspace(first, last, n) end,
    normal = function() return gpu.random.normal(n) end,
    look = function(x) return x:mean():item() end,
    sqrt = gpu.sqrt, exp = gpu.exp, sin = gpu.sin, maximum = gpu.maximum,
  }
end

--- The same for element `i` of them, in plain Lua: the random numbers of each step come from an array of their own.
function samples.numbers(n, i)
  gpu.random.seed(7)
  return {
    full = function(value) return value end,
    range = function(first, last) return first + (last - first) * (i - 1) / (n - 1) end,
    normal = function() return gpu.random.normal(n)[i] end,
    look = function() end,
    sqrt = math.sqrt, exp = math.exp, sin = math.sin, maximum = math.max,
  }
end

function elementwise.heston(w, steps)
  local S, v = w.full(100), w.full(0.04)
  local dt = 0.01
  for _ = 1, steps do
    local z1 = w.normal()
    local z2 = -0.7 * z1 + math.sqrt(0.51) * w.normal()
    local vp = w.maximum(v, 0)
    local root = w.sqrt(vp * dt)
    S = S * w.exp((0.02 - 0.5 * vp) * dt + root * z1)
    v = v + 1.5 * (0.04 - vp) * dt + 0.3 * root * z2
  end
  return S, v
end

--- One step costs more than a kernel may have before a loop is seen.
function elementwise.stochastic_rates(w, steps)
  local S, v, r = w.full(100), w.full(0.04), w.full(0.02)
  for _ = 1, steps do
    local z1, z2, z3, z4 = w.normal(), w.normal(), w.normal(), w.normal()
    local s = w.sqrt(w.maximum(v, 0) * 0.01)
    S = S * w.exp((r - 0.5 * v) * 0.01 + s * z1)
    v = v + 0.1 * (0.04 - v) + s * z2
    r = r + 0.1 * (0.02 - r) + 0.001 * (z3 + z4)
  end
  return S, v, r
end

function elementwise.running_mean(w, steps)
  local mean = w.full(0)
  for k = 1, steps do
    mean = mean + (w.normal() - mean) / k
    if k % 10 == 0 then w.look(mean) end
  end
  return mean
end

function elementwise.random_walk(w, steps)
  local x = w.full(0)
  for _ = 1, steps do x = x + w.normal() end
  return x
end

function elementwise.kalman_filter(w, steps)
  local truth, x, P = w.range(0, 1), w.full(0), w.full(1)
  for _ = 1, steps do
    local z = truth + 0.1 * w.normal()
    P = P + 1e-4
    local K = P / (P + 0.01)
    x = x + K * (z - x)
    P = (1 - K) * P
  end
  return x, P
end

function elementwise.adam(w, steps)
  local target = w.range(-1, 1)
  local x, m, v = w.full(0), w.full(0), w.full(0)
  for k = 1, steps do
    local g = 2 * (x - target)
    m = 0.9 * m + 0.1 * g
    v = 0.999 * v + 0.001 * g * g
    x = x - 0.01 * (m / (1 - 0.9 ^ k)) / (w.sqrt(v / (1 - 0.999 ^ k)) + 1e-6)
  end
  return x, m, v
end

function elementwise.newton(w, steps)
  local a = w.range(1, 100)
  local x = a * 1
  for _ = 1, steps do x = x - (x * x - a) / (2 * x) end
  return x
end

function elementwise.leapfrog(w, steps)
  local q, p, dt = w.range(0, 1), w.full(0), 0.01
  for _ = 1, steps do
    p = p - 0.5 * dt * w.sin(q)
    q = q + dt * p
    p = p - 0.5 * dt * w.sin(q)
  end
  return q, p
end

function elementwise.lorenz_rk4(w, steps)
  local x, y, z = w.range(0, 1), w.full(1), w.full(1)
  local h = 0.002
  local function f(x, y, z) return 10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z end
  for _ = 1, steps do
    local a1, b1, c1 = f(x, y, z)
    local a2, b2, c2 = f(x + h / 2 * a1, y + h / 2 * b1, z + h / 2 * c1)
    local a3, b3, c3 = f(x + h / 2 * a2, y + h / 2 * b2, z + h / 2 * c2)
    local a4, b4, c4 = f(x + h * a3, y + h * b3, z + h * c3)
    x = x + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    y = y + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
    z = z + h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
  end
  return x, y, z
end

--- Momentum descent to the solution (1, 2, ..., 8) of a linear system; the gradient is a matrix product.
function others.momentum(steps)
  local n, d = 200, 8
  gpu.random.seed(1)
  local X = gpu.random.normal({n, d})
  local solution = gpu.arange(d, "float32"):reshape(d, 1) + 1
  local y = X:matmul(solution)
  local w, v = gpu.zeros(d, 1), gpu.zeros(d, 1)
  for _ = 1, steps do
    local g = X.T:matmul(X:matmul(w) - y) / n
    v = 0.8 * v - 0.1 * g
    w = w + v
  end
  return (w - solution):abs():max():item() < (steps >= 200 and 1e-3 or 10)
end

function others.logistic_regression(steps)
  local n, d = 500, 4
  gpu.random.seed(2)
  local X = gpu.random.normal({n, d}):eval()
  local y = X(":", 1):gt(0):astype "float32"
  local w, b = gpu.zeros(d), gpu.zeros(1)
  for _ = 1, steps do
    local p = 1 / (1 + gpu.exp(-((X * w):sum(2) + b)))
    local e = p - y
    w = w - 0.5 * (X * e:reshape(n, 1)):mean(1)
    b = b - 0.5 * e:mean()
  end
  return w[1] > 1 and math.abs(w[2]) < 1 and math.abs(b[1]) < 1
end

function others.heat_by_slices(steps)
  local u = gpu.zeros(100)
  u[50] = 1
  for _ = 1, steps do u["2:99"] = u "2:99" + 0.1 * (u "1:98" - 2 * u "2:99" + u "3:100") end
  return math.abs(u:sum():item() - 1) < 1e-3 and u[50] < 0.5 and math.abs(u[49] - u[51]) < 1e-6
end

function others.power_iteration(steps)
  local n = 50
  gpu.random.seed(3)
  local A = gpu.random.uniform({n, n})
  A = A + A.T
  local x, eigenvalue = gpu.ones(n, 1), nil
  for _ = 1, steps do
    local y = A:matmul(x)
    eigenvalue = gpu.sqrt((y * y):sum())
    x = y / eigenvalue
  end
  return (A:matmul(x) - eigenvalue * x):abs():max():item() < 1e-3
end

function others.pagerank(steps)
  local n = 60
  gpu.random.seed(4)
  local links = gpu.random.uniform({n, n}):gt(0.8):astype "float32"
  local M = links / gpu.maximum(links:sum(1, {keepdims = true}), 1)
  local rank = gpu.full({n, 1}, 1 / n)
  for _ = 1, steps do
    rank = 0.15 / n + 0.85 * M:matmul(rank)
    rank = rank / rank:sum()
  end
  local another = 0.15 / n + 0.85 * M:matmul(rank)
  return (another / another:sum() - rank):abs():max():item() < 1e-6
end

--- The means of two clusters.
function others.expectation_maximisation(steps)
  local n = 1000
  gpu.random.seed(5)
  local x = gpu.concat {gpu.random.normal(n) - 3, gpu.random.normal(n) + 3}
  local m1, m2, s = gpu.full({}, -1), gpu.full({}, 1), gpu.full({}, 1)
  for _ = 1, steps do
    local a, b = gpu.exp(-0.5 * ((x - m1) / s) ^ 2), gpu.exp(-0.5 * ((x - m2) / s) ^ 2)
    local r = a / (a + b)
    m1 = (r * x):sum() / r:sum()
    m2 = ((1 - r) * x):sum() / (1 - r):sum()
    s = gpu.sqrt((r * (x - m1) ^ 2 + (1 - r) * (x - m2) ^ 2):mean())
  end
  return math.abs(m1:item() + 3) < 0.2 and math.abs(m2:item() - 3) < 0.2 and math.abs(s:item() - 1) < 0.1
end

return samples
