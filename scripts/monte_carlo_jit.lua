-- An Asian call, whose payoff depends on the mean of the prices at 64 dates: a kernel that is written in Lua follows a path in each
-- thread, with random numbers of its own. The geometric mean's call has a closed form; its twin is array arithmetic of other paths.
--
--   gpulua scripts/monte_carlo_jit.lua [paths]
local gpu = require "gpu"

local paths = tonumber(arg and arg[1]) or 1000000
local S0, K, rate, volatility, years, dates = 100, 100, 0.02, 0.30, 1, 64
local dt = years / dates
local drift, deviation, discount = (rate - volatility ^ 2 / 2) * dt, volatility * math.sqrt(dt), math.exp(-rate * years)

local follow = gpu.jit(function(arithmetic, geometric, seed)
  local i = gpu.grid()
  if i > #arithmetic then return end
  local r = gpu.random.at(seed, i)
  local log_price, sum, log_sum = math.log(S0), 0, 0
  for _ = 1, dates do
    log_price = log_price + drift + deviation * r:normal()
    sum = sum + math.exp(log_price)
    log_sum = log_sum + log_price
  end
  arithmetic[i] = discount * math.max(sum / dates - K, 0)
  geometric[i] = discount * math.max(math.exp(log_sum / dates) - K, 0)
end, {name = "follow"})

local arithmetic, geometric = gpu.empty(paths), gpu.empty(paths)
local launch = follow:over(paths)
launch(arithmetic, geometric, 1234)

--- The mean and its standard error.
local function estimate(values)
  values = values:astype "float64"
  return values:mean():item(), (values:std() / math.sqrt(values.size)):item()
end
local price, off = estimate(arithmetic)
local geometric_price, geometric_off = estimate(geometric)

-- ---- the closed form of the geometric mean ----------------------------------------------------------------------------------

local mean = math.log(S0) + (rate - volatility ^ 2 / 2) * dt * (dates + 1) / 2
local variance = volatility ^ 2 * dt * (dates + 1) * (2 * dates + 1) / (6 * dates)
local d = (mean - math.log(K) + variance) / math.sqrt(variance)
local function normal_cdf(x) return gpu.normcdf(gpu.full({}, x, "float64")):item() end
local exact = discount * (math.exp(mean + variance / 2) * normal_cdf(d) - K * normal_cdf(d - math.sqrt(variance)))

-- ---- the twin ---------------------------------------------------------------------------------------------------------------

gpu.random.seed(99)
local log_price, sum = gpu.full({paths}, math.log(S0)), 0
for _ = 1, dates do
  log_price = log_price + drift + deviation * gpu.randn(paths)
  sum = sum + gpu.exp(log_price)
end
local twin_price, twin_off = estimate(discount * gpu.maximum(sum / dates - K, 0))

-- The same seed gives the same paths, however many there are.
local some, others = gpu.empty(100), gpu.empty(100)
follow:over(100)(some, others, 1234)
assert(some:equal(arithmetic {1, 100}), "a path was to depend on its number alone")

local time = gpu.benchmark(function() launch(arithmetic, geometric, 1234) end, {repeats = 5}).device.median
print(("Asian call on %s: %d paths of %d dates, %.4f +- %.4f, the arrays' %.4f +- %.4f"):format(tostring(gpu.device()), paths,
  dates, price, off, twin_price, twin_off))
print(("of the geometric mean: %.4f +- %.4f, closed form %.4f"):format(geometric_price, geometric_off, exact))
print(("time %.3f ms"):format(time))
assert(math.abs(geometric_price - exact) < 5 * geometric_off, "the price is more than five standard errors from the closed form")
assert(math.abs(price - twin_price) < 5 * math.sqrt(off ^ 2 + twin_off ^ 2), "the prices of the two programs differ")
