-- Implied volatilities: those at which the formula of Black and Scholes gives the prices of European calls. One kernel, a thread an option.
-- The first guess has a closed form. Steps of Householder's method of third order follow: each multiplies the number of right digits by
-- four. Two steps are enough for almost all options.
--
--   gpulua scripts/implied_volatility.lua [options]
--
-- The guess is that of D. Stefanica and R. Radoicic, "An explicit implied volatility formula", 2017, which inverts the price with Polya's
-- approximation of the normal distribution. That prices are normalised, and the logarithm of low ones is inverted, are ideas of
-- P. Jaeckel, "Let's be rational", 2015.
local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 1000000
local rate = 0.02

--- The deviation s, volatility times the root of time, at which a call out of the money costs `price`, undiscounted and divided by the
--- root of forward and strike. `half`: the root of `ratio`, forward / strike, at most 1; x: the logarithm of `ratio`.
local function deviation(price, ratio, half, x)
  if not (price > 0 and price < half) then return 0 / 0 end -- no deviation gives it
  local power = math.exp(2 / math.pi * x)
  local power_below, ratio_below, half_below = 1 / power, 1 / ratio, 1 / half
  local other, other_below = ratio * power_below, power * ratio_below
  local alpha = price * half
  local R = 2 * alpha + (1 - ratio)
  local a = (other - other_below) * (other - other_below)
  local b = 4 * (power + power_below) - 2 * ratio_below * (other + other_below) * (ratio * ratio + 1 - R * R)
  local c = 16 * ratio_below * ratio_below * alpha * (alpha + (1 - ratio)) * (ratio - alpha) * (1 + alpha)
  local g = math.max(-math.pi / 2 * math.log(2 * c / (b + math.sqrt(b * b + 4 * a * c))), -x)
  -- The price has its inflection where s is the root of -2 x.
  local is_low = alpha < 0.5 * (ratio - 1 + math.sqrt(1 - power * power))
  local sum = math.sqrt(g - x) + math.sqrt(g + x)
  local s = is_low and -2 * x / sum or sum
  for _ = 1, 12 do
    local s_below = 1 / s
    local h = x * s_below
    local value = half * gpu.normcdf(h + 0.5 * s) - half_below * gpu.normcdf(h - 0.5 * s)
    local slope = 0.3989422804014327 * math.exp(-0.5 * (h * h + 0.25 * s * s))
    -- What is inverted is the price, or its logarithm; `second` and `third` are its derivatives relative to the first.
    local newton, u = (price - value) / slope, 0 * s
    if is_low then
      local value_below = 1 / value
      u = slope * value_below
      newton = math.log(price * value_below) * value / slope
    end
    local second = h * h * s_below - 0.25 * s - u
    local third = second * (second - u) - 3 * (h * s_below) * (h * s_below) - 0.25
    local step = newton * (1 + 0.5 * newton * second) / (1 + newton * (second + newton * third / 6))
    step = math.min(math.max(step, -0.5 * s), s)
    s = s + step
    if not (math.abs(step) > 2e-4 * s) then break end -- the next step would be of the order of the fourth power
  end
  return s
end

local implied = gpu.vectorize(function(price, S, K, T)
  local forward = S * math.exp(rate * T)
  -- A call in the money is worth one out of the money, with forward and strike exchanged, and their difference.
  local greater = math.max(forward, K)
  local ratio = math.min(forward, K) / greater
  local half = math.sqrt(ratio)
  local undiscounted = price * math.exp(rate * T) - math.max(forward - K, 0)
  return deviation(undiscounted / (greater * half), ratio, half, math.log(ratio)) / math.sqrt(T)
end, {name = "implied"})

-- ---- the closed form --------------------------------------------------------------------------------------------------------------

local function call(S, K, T, sigma)
  local d = (gpu.log(S / K) + (rate + 0.5 * sigma ^ 2) * T) / (sigma * gpu.sqrt(T))
  return S * gpu.normcdf(d) - K * gpu.exp(-rate * T) * gpu.normcdf(d - sigma * gpu.sqrt(T))
end

gpu.random.seed(5347)
local S = gpu.random.uniform({n}, 50, 150, "float64")
local K = gpu.random.uniform({n}, 50, 150, "float64")
local T = gpu.random.uniform({n}, 0.1, 3, "float64")
local sigma = gpu.random.uniform({n}, 0.05, 0.9, "float64")
local price, vega = gpu.value_and_grad(call, 4, {each = true})(S, K, T, sigma)
gpu.eval(S, K, T, sigma, price, vega)
local found = gpu.eval(implied(price, S, K, T))

-- The rounding error of a price becomes an error of its volatility, divided by vega. Where this error is below 1e-12, the volatility must be
-- right to 1e-12.
local rounding = 2 ^ -50 * gpu.maximum(S, K) / vega
local is_open = gpu.logical_not(vega:gt(0):logical_and(rounding:lt(1e-12)))
local off = gpu.where(is_open, 0, (found - sigma):abs()):max():item()
-- Elsewhere the price has to be the same, as long as there is a volatility for it.
local again = (call(S, K, T, found) - price):abs() / gpu.maximum(S, K)
local price_off = gpu.where(gpu.isnan(found), 0, again):max():item()
local asked = n - is_open:count_nonzero():item()

local time = gpu.benchmark(function() gpu.eval(implied(price, S, K, T)) end, {repeats = 10}).device.median
print(("%d implied volatilities in float64 on %s"):format(n, tostring(gpu.device())))
print(("largest error %.3g, of the %d that the price determines to 1e-12"):format(off, asked))
print(("largest difference of a price, relative to spot and strike, %.3g"):format(price_off))
print(("time %.3f ms"):format(time))
assert(off <= 1e-12 and price_off < 1e-14 and asked > 0.85 * n, "the volatilities are not those of the prices")
