-- Derivatives: Greeks of options, pathwise Greeks, steps of a network's training, a loss of many small operations.
local gpu = require "gpu"
local data = require "data"
local timing = require "timing"

local size, spread = data.size, data.spread

--- Calls by the formula of Black and Scholes.
local function call_price(S, K, T, r, v)
  local deviation = v * T:sqrt()
  local d1 = (gpu.log(S / K) + (r + 0.5 * v * v) * T) / deviation
  return S * gpu.normcdf(d1) - K * gpu.exp(-r * T) * gpu.normcdf(d1 - deviation)
end

local function options()
  local n = size(64e6, 4e6, 1000)
  return spread(n, 80, 120, "float32"), spread(n + 1, 90, 110, "float32") { 2, -1 }:copy(), spread(n + 2, 0.25, 2, "float32") { 3, -1 }:copy()
end

--- The number to agree on: the sum of the results' means.
local function sum_of_means(results)
  local sum = 0
  for _, y in ipairs(results) do sum = sum + y:mean { dtype = "float64" }:item() end
  return sum
end

local function payoff(n)
  return function(S, v)
    return (gpu.maximum(S * gpu.exp((0.02 - 0.5 * v * v) + v * gpu.randn(n)) - 100, 0)):mean() * math.exp(-0.02)
  end
end

--- Parameters of a network from 784 inputs to 10 classes, with two layers of 1024 between.
local function network()
  local function layer(inputs, outputs)
    local bound = 1 / math.sqrt(inputs)
    return spread(inputs * outputs, -bound, bound, "float32"):reshape(inputs, outputs), gpu.zeros(outputs, { dtype = "float32" })
  end
  local w1, b1 = layer(784, 1024)
  local w2, b2 = layer(1024, 1024)
  local w3, b3 = layer(1024, 10)
  return { w1 = w1, b1 = b1, w2 = w2, b2 = b2, w3 = w3, b3 = b3 }
end

local function network_loss(p, x, label)
  local h = gpu.maximum(x:matmul(p.w1) + p.b1, 0)
  h = gpu.maximum(h:matmul(p.w2) + p.b2, 0)
  local z = h:matmul(p.w3) + p.b3
  return (gpu.logsumexp(z, 2) - z[{ gpu.range(1, x.shape[1]), label }]):mean()
end

--- A step of training by Adam, and the loss after five steps from the start.
local function training(batch, as_graph)
  return function()
    local n = timing.tiny and 16 or batch
    local x, label = spread(n * 784, 0, 1, "float32"):reshape(n, 784), spread(n, 0, 10, "int64") + 1
    gpu.eval(x, label)
    local loss_and_gradient = gpu.value_and_grad(network_loss)
    local function trainer()
      local p = network()
      local optimizer = gpu.optimize.adam(p, { learning_rate = 1e-3 })
      return function()
        local loss, g = loss_and_gradient(p, x, label)
        optimizer:step(g)
        return loss:eval()
      end
    end
    local step = trainer()
    if as_graph then
      step()
      local graph = gpu.graph(step)
      return function() graph:launch() end, function() return 1 end
    end
    return step, function()
      local again, loss = trainer(), nil
      for _ = 1, 5 do loss = again() end
      return loss:item()
    end
  end
end

local function small_loss(x, b)
  for _ = 1, 50 do x = gpu.sin(x * 0.99 + b) end
  return (x * x):mean()
end

--- Adds them by workload(name, make).
return function(workload)
  workload("price", function()
    local S, K, T = options()
    local y
    return function() y = call_price(S, K, T, 0.02, 0.3):eval() end, function() return y:mean { dtype = "float64" }:item() end
  end)
  workload("greeks", function()
    local S, K, T = options()
    local of, results = gpu.value_and_grad(call_price, { 1, 2, 3, 4, 5 }, { each = true }), nil
    return function() results = { gpu.eval(of(S, K, T, 0.02, 0.3)) } end,
      function() return sum_of_means(results) end
  end)
  workload("greeks_vectorize", function()
    local S, K, T = options()
    local price = gpu.vectorize(function(S, K, T, r, v)
      local deviation = v * math.sqrt(T)
      local d1 = (math.log(S / K) + (r + 0.5 * v * v) * T) / deviation
      return S * gpu.normcdf(d1) - K * math.exp(-r * T) * gpu.normcdf(d1 - deviation)
    end)
    local of, results = gpu.value_and_grad(price, { 1, 2, 3, 4, 5 }, { each = true }), nil
    return function() results = { gpu.eval(of(S, K, T, 0.02, 0.3)) } end,
      function() return sum_of_means(results) end
  end)
  -- Volatilities from prices, by Newton's method in a bracket: scripts/implied_volatility.lua has a better start.
  workload("implied", function()
    local n = size(1e6, 1e5, 1000)
    local S, K = spread(n, 80, 120, "float64"), spread(n + 1, 90, 110, "float64") { 2, -1 }:copy()
    local T, v = spread(n + 2, 0.25, 2, "float64") { 3, -1 }:copy(), spread(n + 3, 0.1, 0.6, "float64") { 4, -1 }:copy()
    local price = call_price(S, K, T, 0.02, v):eval()
    local function difference(v, price, S, K, T)
      local deviation = v * math.sqrt(T)
      local d1 = (math.log(S / K) + (0.02 + 0.5 * v * v) * T) / deviation
      return S * gpu.normcdf(d1) - K * math.exp(-0.02 * T) * gpu.normcdf(d1 - deviation) - price
    end
    local found
    return function()
      found = gpu.optimize.root_scalar(difference, { each = true, x0 = 0.3, bracket = { 0.01, 3 }, args = { price, S, K, T } }):eval()
    end, function() return found:mean():item() end
  end)
  workload("payoff", function()
    local f, y = payoff(size(256e6, 4e6, 1000)), nil
    local v = gpu.array({ 0.3 }, "float32"):reshape {}
    local S = gpu.array({ 100 }, "float32"):reshape {}
    return function() y = f(S, v):eval() end, function() return math.floor(y:item() / (timing.tiny and 10 or 0.5) + 0.5) end
  end)
  workload("pathwise", function()
    local f, y, delta, vega = gpu.value_and_grad(payoff(size(256e6, 4e6, 1000)), { 1, 2 }), nil, nil, nil
    local v = gpu.array({ 0.3 }, "float32"):reshape {}
    local S = gpu.array({ 100 }, "float32"):reshape {}
    return function() y, delta, vega = gpu.eval(f(S, v)) end,
      function() return math.floor((y + vega):item() / (timing.tiny and 100 or 2) + 0.5) end
  end)
  workload("mlp4096", training(4096))
  workload("mlp4096_graph", training(4096, true))
  workload("mlp128", training(128))
  workload("mlp128_graph", training(128, true))
  workload("smallloss", function()
    local a, b = spread(1000, 0, 1, "float32"), spread(1000, 1, 2, "float32")
    local of, g = gpu.grad(small_loss), nil
    return function() g = of(a, b):eval() end, function() return 1e6 * g[17] end
  end)
  workload("smallloss_fuse", function()
    local a, b = spread(1000, 0, 1, "float32"), spread(1000, 1, 2, "float32")
    local of, g = gpu.fuse(gpu.grad(small_loss)), nil
    return function() g = of(a, b):eval() end, function() return 1e6 * g[17] end
  end)
  workload("smallvalue", function()
    local a, b = spread(1000, 0, 1, "float32"), spread(1000, 1, 2, "float32")
    local y
    return function() y = small_loss(a, b):eval() end, function() return y:item() end
  end)
end
