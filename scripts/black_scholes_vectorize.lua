-- Black-Scholes prices of European calls and puts by a Lua function of one option, beside its twin: the same formula as array
-- arithmetic. Both are one kernel.
--
--   gpulua scripts/black_scholes_vectorize.lua [options] [dtype]
local gpu = require "gpu"

local n, dtype = tonumber(arg and arg[1]) or 4000000, arg and arg[2] or "float32"
local rate, volatility = 0.02, 0.30

-- The polynomial 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical Functions, whose error is below 7.5e-8.
local function cnd(d)
  local k = 1 / (1 + 0.2316419 * math.abs(d))
  local tail = 0.39894228040143267793994605993438 * math.exp(-0.5 * d * d)
    * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
  return d > 0 and 1 - tail or tail
end

local function price(s, x, t)
  local root = math.sqrt(t)
  local d1 = (math.log(s / x) + (rate + 0.5 * volatility ^ 2) * t) / (volatility * root)
  local d2 = d1 - volatility * root
  local discounted = x * math.exp(-rate * t)
  return s * cnd(d1) - discounted * cnd(d2), discounted * (1 - cnd(d2)) - s * (1 - cnd(d1))
end
local prices = gpu.vectorize(price, {name = "prices"})

gpu.random.seed(5347)
local S = gpu.random.uniform(n, 5, 30, dtype)
local X = gpu.random.uniform(n, 1, 100, dtype)
local T = gpu.random.uniform(n, 0.25, 10, dtype)
gpu.eval(S, X, T)

-- ---- the twin ---------------------------------------------------------------------------------------------------------------

local function array_cnd(d)
  local k = 1 / (1 + 0.2316419 * gpu.abs(d))
  local tail = 0.39894228040143267793994605993438 * gpu.exp(-0.5 * d * d)
    * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
  return gpu.where(d:gt(0), 1 - tail, tail)
end

local function array_prices()
  local root = gpu.sqrt(T)
  local d1 = (gpu.log(S / X) + (rate + 0.5 * volatility ^ 2) * T) / (volatility * root)
  local d2 = d1 - volatility * root
  local discounted = X * gpu.exp(-rate * T)
  return S * array_cnd(d1) - discounted * array_cnd(d2), discounted * (1 - array_cnd(d2)) - S * (1 - array_cnd(d1))
end

local call, put = prices(S, X, T)
assert(gpu.explain(call, put):match "^1 kernel\n", "the function was to be one kernel")
gpu.eval(call, put)
local twin_call, twin_put = gpu.eval(array_prices())
local worst = math.max((call - twin_call):abs():max():item(), (put - twin_put):abs():max():item())

-- Lua itself prices some of them.
local some = {1, n, math.max(1, math.floor(n / 1000))}
local s, x, t, c = S(some):table(), X(some):table(), T(some):table(), call(some):table()
local off = 0
for i = 1, #s do off = math.max(off, math.abs(price(s[i], x[i], t[i]) - c[i])) end

local function milliseconds(fn) return gpu.benchmark(fn, {repeats = 10}).device.median end
local time = milliseconds(function() gpu.eval(prices(S, X, T)) end)
local twin_time = milliseconds(function() gpu.eval(array_prices()) end)
print(("Black-Scholes by gpu.vectorize: %d options in %s on %s"):format(n, dtype, tostring(gpu.device())))
print(("largest difference from the arrays' prices %.3g, from Lua's %.3g"):format(worst, off))
print(("time %.3f ms, of the arrays %.3f ms"):format(time, twin_time))
local most = dtype == "float64" and 1e-12 or 2e-4
assert(worst < most and off < most, "the prices differ")
