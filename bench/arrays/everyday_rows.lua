-- Workloads of everyday work: steps of a simulation, a loss, an optimizer's step, loops of small steps, weighted draws.
local gpu = require "gpu"
local data = require "data"
local timing = require "timing"

local size, spread = data.size, data.spread

-- Lattice Boltzmann, D2Q9: each population's velocity along the second and the first axis, and its weight.
local velocities = {
  { 0, 0, 4 / 9 }, { 1, 0, 1 / 9 }, { 0, 1, 1 / 9 }, { -1, 0, 1 / 9 }, { 0, -1, 1 / 9 },
  { 1, 1, 1 / 36 }, { -1, 1, 1 / 36 }, { -1, -1, 1 / 36 }, { 1, -1, 1 / 36 },
}
local function collide_and_stream(f)
  local density = f[1] + f[2] + f[3] + f[4] + f[5] + f[6] + f[7] + f[8] + f[9]
  local ux = (f[2] + f[6] + f[9] - f[4] - f[7] - f[8]) / density
  local uy = (f[3] + f[6] + f[7] - f[5] - f[8] - f[9]) / density
  local rest, moved = 1 - 1.5 * (ux * ux + uy * uy), {}
  for i, velocity in ipairs(velocities) do
    local cx, cy, weight = unpack(velocity)
    local along = cx * ux + cy * uy
    local equilibrium = weight * density * (rest + 3 * along + 4.5 * along * along)
    moved[i] = (f[i] + 0.6 * (equilibrium - f[i])):roll(cx, 2):roll(cy, 1)
  end
  return moved
end

--- A step of Heston's model from logarithms x of prices and variances v: Euler's method with full truncation.
local function heston(x, v)
  local dt, rate, speed, mean, noise, correlation = 1 / 50, 0.02, 1.5, 0.09, 0.5, -0.7
  local z = gpu.randn(x.size)
  local w = correlation * z + math.sqrt(1 - correlation ^ 2) * gpu.randn(x.size)
  local variance = gpu.maximum(v, 0)
  local root = (variance * dt):sqrt()
  return x + (rate - 0.5 * variance) * dt + root * z, v + speed * (mean - variance) * dt + noise * root * w
end

--- Adds them by workload(name, make).
return function(workload)
  workload("adam", function()
    local n = size(64e6, 4e6, 1000)
    local function start() return spread(n, -1, 1, "float32"), spread(n, 0, 0.1, "float32"), spread(n, 0.1, 1, "float32") end
    local g = spread(n + 7, 0, 1, "float32") { 8, -1 }:copy()
    local function step(p, m, v)
      m:copy_(m * 0.9 + g * 0.1)
      v:copy_(v * 0.999 + g * g * 0.001)
      p:copy_(p - 0.1 * m / (v:sqrt() + 1e-8))
      return p
    end
    local p, m, v = start()
    return function() step(p, m, v) end, function() return 100 * step(start()):mean { dtype = "float64" }:item() end
  end)
  workload("xent", function()
    local n = size(65536, 4096, 32)
    local x, label, y = spread(n * 1000, -4, 4, "float32"):reshape(n, 1000), spread(n, 0, 1000, "int64") + 1, nil
    local rows = gpu.range(1, n)
    gpu.eval(label, rows)
    return function() y = (gpu.logsumexp(x, 2) - x[{ rows, label }]):mean():eval() end, function() return y:item() end
  end)
  workload("lbm", function()
    local n, f, y = size(2048, 512, 32), {}, nil
    for i, velocity in ipairs(velocities) do
      f[i] = (velocity[3] * spread(n * n, 0.9, 1 + i / 50, "float32")):reshape(n, n):eval()
    end
    return function()
      y = collide_and_stream(f)
      gpu.eval(unpack(y))
    end, function() return 1000 * y[6][2][3] end
  end)
  workload("nbody", function()
    local n, y = size(16384, 2048, 64), nil
    local x = spread(n * 3, 0, 1, "float32"):reshape(n, 3)
    return function()
      local apart = x(gpu.newaxis) - x(":", gpu.newaxis)
      local squares = (apart * apart):sum(3, { keepdims = true }) + 0.01
      y = (apart / squares ^ 1.5):sum(2):eval()
    end, function() return y:abs():mean { dtype = "float64" }:item() / n end
  end)
  workload("kde", function()
    local points, samples, y = spread(size(1000, 100, 10), 0, 1, "float32"), spread(size(1e6, 1e5, 1000), 0, 1, "float32"), nil
    local width = 0.05
    return function()
      local distances = (points(":", gpu.newaxis) - samples) / width
      y = (gpu.exp(-0.5 * distances ^ 2):mean(2) / (width * math.sqrt(2 * math.pi))):eval()
    end, function() return y[3] end
  end)
  workload("groupsum", function()
    local n = size(64e6, 4e6, 20000)
    local keys, weights, y = spread(n, 0, 1000, "int32"), spread(n + 1, 0, 1, "float32") { 2, -1 }:copy(), nil
    return function() y = gpu.bincount(keys, { weights = weights }):eval() end, function() return y[10] end
  end)
  workload("conv5", function()
    local n, y = size(4096, 1024, 32), nil
    local x, weights = spread(n * n, 0, 1, "float32"):reshape(n, n), spread(25, 0, 0.1, "float32"):reshape(5, 5)
    return function() y = gpu.ndimage.convolve(x, weights):eval() end, function() return y[10][11] end
  end)
  -- Gradient descent of least squares, as the time of one step: each step computed, the loop as a graph, and on the device.
  for _, name in ipairs { "tinyloop", "tinygraph", "tinydevice" } do
    workload(name, function()
      local A, b, start, w = spread(64 * 8, 0, 1, "float32"):reshape(64, 8), spread(64, 0, 1, "float32"), gpu.zeros(8), nil
      local function step(v) return v - 0.01 * A.T:matmul(A:matmul(v) - b) end
      local function descend()
        w = start
        for _ = 1, 1000 do w = step(w) end
        return w:eval()
      end
      local function check() return 10 * w[3] end
      if name == "tinyloop" then return descend, check, 1 / 1000 end
      if name == "tinydevice" then return function() w = gpu.loop(1000, step, start) end, check, 1 / 1000 end
      local graph = gpu.graph(descend)
      return function() graph:launch() end, check, 1 / 1000
    end)
  end
  -- An option's price from 50 steps of Heston's model: in a loop of Lua, and on the device.
  for _, name in ipairs { "heston", "hestondevice" } do
    workload(name, function()
      local n, price = size(1e6, 1e5, 1000), nil
      local start, variance = gpu.zeros(n), gpu.full(n, 0.09)
      local function walk()
        if name == "hestondevice" then return (gpu.loop(50, heston, start, variance)) end
        local x, v = start, variance
        for _ = 1, 50 do x, v = heston(x, v) end
        return x
      end
      return function() price = gpu.maximum(100 * gpu.exp(walk()) - 101, 0):mean():eval() end,
        function() return math.floor(price:item() / (timing.tiny and 10 or 1) + 0.5) end
    end)
  end
  workload("wave", function()
    local n, y = size(4096, 1024, 32), nil
    local u, before = spread(n * n, 0, 1, "float32"):reshape(n, n), spread(n * n, 1, 2, "float32"):reshape(n, n)
    return function()
      local around = u:roll(1, 1) + u:roll(-1, 1) + u:roll(1, 2) + u:roll(-1, 2)
      y = (2 * u - before + 0.25 * (around - 4 * u)):eval()
    end, function() return y[2][3] end
  end)
  workload("gemv100", function()
    local n, x = size(4096, 1024, 32), nil
    local A, start = spread(n * n, 0, 1, "float32"):reshape(n, n), spread(n, 0, 1, "float32")
    return function()
      x = start
      for _ = 1, 100 do
        local y = A:matmul(x)
        x = y / gpu.norm(y)
      end
      x:eval()
    end, function() return x[3] * math.sqrt(n) end
  end)
  workload("choice", function()
    local n, count, y = size(1e6, 1e5, 1000), size(16e6, 1e6, 1000), nil
    local p = gpu.range(1, n):astype "float64"
    p = (p / p:sum()):eval()
    return function() y = gpu.random.choice(n, count, { p = p }):eval() end,
      function() return math.floor(y:mean { dtype = "float64" }:item() / n * (timing.tiny and 10 or 100) + 0.5) end
  end)
end
