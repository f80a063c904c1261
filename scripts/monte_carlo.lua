-- A European and an Asian call by Monte Carlo, with array expressions only. One kernel draws, prices and averages the paths,
-- and stores no array. S0 = K = 100, r = 0.02, volatility 0.30, one year; the European price is checked against the closed form.
--
--   gpulua scripts/monte_carlo.lua [paths] [steps]

local gpu = require "gpu"

local paths = tonumber(arg and arg[1]) or 16000000
local steps = tonumber(arg and arg[2]) or 12
local S0, K, rate, volatility, years = 100, 100, 0.02, 0.30, 1
local discount = math.exp(-rate * years)

--- The discounted mean of `payoff`'s values and its standard error, both from one kernel.
local function price(payoff)
  local value = payoff()
  local sum, squares = gpu.sum(value, { dtype = "float64" }), gpu.sum(value * value, { dtype = "float64" })
  gpu.eval(sum, squares)
  local mean = sum:item() / paths
  return discount * mean, discount * math.sqrt((squares:item() / paths - mean ^ 2) / paths)
end

local function european()
  local drift = (rate - 0.5 * volatility ^ 2) * years
  return gpu.maximum(S0 * gpu.exp(drift + volatility * math.sqrt(years) * gpu.randn(paths)) - K, 0)
end

local function asian() -- on the mean of the prices at the ends of the steps
  local dt = years / steps
  local drift, deviation = (rate - 0.5 * volatility ^ 2) * dt, volatility * math.sqrt(dt)
  local S, total = S0, 0
  for _ = 1, steps do
    S = S * gpu.exp(drift + deviation * gpu.randn(paths))
    total = total + S
  end
  return gpu.maximum(total / steps - K, 0)
end

local function timed(payoff)
  gpu.random.seed(1234)
  price(payoff) -- warm up
  gpu.sync()
  local start, stop = gpu.event(), gpu.event()
  start:record()
  local mean, deviation = price(payoff)
  stop:record()
  stop:sync()
  return mean, deviation, start:elapsed(stop)
end

-- The closed form of Black and Scholes, with the normal distribution by its series.
local function normal_cdf(d)
  local term, total = d, d
  for i = 1, 60 do
    term = -term * d * d / (2 * i)
    total = total + term / (2 * i + 1)
  end
  return 0.5 + total / math.sqrt(2 * math.pi)
end
local d1 = (math.log(S0 / K) + (rate + 0.5 * volatility ^ 2) * years) / (volatility * math.sqrt(years))
local d2 = d1 - volatility * math.sqrt(years)
local exact = S0 * normal_cdf(d1) - K * discount * normal_cdf(d2)

print(("Monte Carlo: %d paths in float32 on %s"):format(paths, tostring(gpu.device())))
local mean, deviation, milliseconds = timed(european)
print(("European call         %.4f +- %.4f, closed form %.4f"):format(mean, deviation, exact))
print(("time                  %.3f ms, %.1f million paths a second"):format(milliseconds, paths / milliseconds / 1e3))
assert(math.abs(mean - exact) < 4 * deviation, "the price is more than four standard errors from the closed form")

mean, deviation, milliseconds = timed(asian)
print(("Asian call            %.4f +- %.4f, %d steps"):format(mean, deviation, steps))
print(("time                  %.3f ms, %.1f million steps a second"):format(milliseconds, paths * steps / milliseconds / 1e3))
assert(mean < exact, "an average varies less than the price at the end")
