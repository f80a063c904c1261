-- Greeks of an arithmetic Asian call by Monte Carlo: the derivative of each path's payoff, averaged over the paths. The same paths give
-- the value and the Greeks. A digital option, whose payoff has no useful derivative, takes the likelihood ratio instead. Checked against
-- differences with common random numbers, and the digital option against its closed form.
--
--   gpulua scripts/pathwise_greeks.lua [paths]

local gpu = require "gpu"

local paths = tonumber(arg and arg[1]) or 400000
local S0, K, rate, volatility, years, dates = 100, 100, 0.02, 0.3, 1, 12
local dt = years / dates

--- The discounted payoff of a call on the mean of the prices at the dates.
local function asian(S0, v)
  local x, sum = gpu.log(S0), 0
  for _ = 1, dates do
    x = x + (rate - 0.5 * v * v) * dt + v * math.sqrt(dt) * gpu.randn(paths, {dtype = "float64"})
    sum = sum + gpu.exp(x)
  end
  return math.exp(-rate * years) * gpu.maximum(sum / dates - K, 0)
end

local function value_of(S0, v)
  gpu.random.seed(7)
  return asian(S0, v):mean()
end

local value, delta, vega = gpu.eval(gpu.value_and_grad(value_of, {1, 2})(S0, volatility))
gpu.random.seed(7)
local payoffs = asian(gpu.array({S0}, "float64"), volatility)
local error_of_value = (payoffs:std() / math.sqrt(paths)):item()
print(("Asian call, %d paths on %s"):format(paths, tostring(gpu.device())))
print(("value %9.5f +- %.5f   delta %8.5f   vega %8.4f"):format(value:item(), error_of_value, delta:item(), vega:item()))

-- The same paths with other parameters: differences have the same noise, and an error of the second order in h.
local function difference(of, h) return (of(h) - of(-h)):item() / (2 * h) end
local function at(S0, v) return value_of(gpu.array({S0}, "float64"), gpu.array({v}, "float64")) end
local delta_by_differences = difference(function(h) return at(S0 + h, volatility) end, 0.01)
local vega_by_differences = difference(function(h) return at(S0, volatility + h) end, 1e-4)
print(("by differences                 delta %8.5f   vega %8.4f"):format(delta_by_differences, vega_by_differences))
assert(math.abs(delta:item() - delta_by_differences) < 2e-3, "delta was to be that of differences")
assert(math.abs(vega:item() - vega_by_differences) < 0.2, "vega was to be that of differences")

-- A digital option pays 1 above K. Its payoff's derivative is 0 wherever there is one, so the derivative goes to the density of the
-- prices instead: the mean of payoff * d log(density), with draws and payoffs that are constants.
local function digital(S0, v)
  gpu.random.seed(11)
  local z = gpu.randn(paths, {dtype = "float64"})
  local drift, deviation = (rate - 0.5 * v * v) * years, v * math.sqrt(years)
  local x = gpu.detach(gpu.log(S0) + drift + deviation * z) -- the logarithms of the drawn prices
  local payoff = math.exp(-rate * years) * gpu.where(x:gt(math.log(K)), 1, 0)
  local log_density = -0.5 * ((x - gpu.log(S0) - drift) / deviation) ^ 2 - gpu.log(deviation)
  return (payoff * log_density):mean(), payoff:mean()
end
local _, digital_delta, digital_value = gpu.value_and_grad(digital)(S0, gpu.array({volatility}, "float64"):reshape {})
local deviation = volatility * math.sqrt(years)
local d2 = (math.log(S0 / K) + (rate - 0.5 * volatility ^ 2) * years) / deviation
local exact = math.exp(-rate * years) * math.exp(-0.5 * d2 ^ 2) / math.sqrt(2 * math.pi) / (S0 * deviation)
print(("digital: value %.5f, delta %.6f, closed form %.6f"):format(digital_value:item(), digital_delta:item(), exact))
assert(math.abs(digital_delta:item() - exact) < 8e-4 * math.sqrt(400000 / paths), "the delta of the digital option was to be that of its closed form")
