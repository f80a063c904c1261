-- Black-Scholes prices of European calls and puts, as plain array arithmetic. The whole formula, for calls and puts together, is one
-- kernel, which stores no intermediate array. Checked against the closed form in double precision on a sample.
--
--   gpulua scripts/black_scholes_arrays.lua [options] [iterations] [dtype]
--
-- The cumulative normal distribution is the polynomial 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical Functions, whose
-- error is below 7.5e-8.

local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 4000000
local iterations = tonumber(arg and arg[2]) or 10
local dtype = arg and arg[3] or "float64"
local rate, volatility = 0.02, 0.30

gpu.random.seed(5347)
local S = gpu.random.uniform(n, 5, 30, dtype)
local X = gpu.random.uniform(n, 1, 100, dtype)
local T = gpu.random.uniform(n, 0.25, 10, dtype)
gpu.eval(S, X, T)

local function cnd(d)
  local k = 1 / (1 + 0.2316419 * gpu.abs(d))
  local tail = 0.39894228040143267793994605993438 * gpu.exp(-0.5 * d * d)
    * (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))))
  return gpu.where(d:gt(0), 1 - tail, tail)
end

local function prices()
  local root = gpu.sqrt(T)
  local d1 = (gpu.log(S / X) + (rate + 0.5 * volatility ^ 2) * T) / (volatility * root)
  local d2 = d1 - volatility * root
  local discounted = X * gpu.exp(-rate * T)
  local call = S * cnd(d1) - discounted * cnd(d2)
  local put = discounted * (1 - cnd(d2)) - S * (1 - cnd(d1))
  return call, put
end

local kernels = gpu.explain(prices()):match "^[^\n]*"
local call, put = gpu.eval(prices()) -- warm up
gpu.sync()
local start, stop = gpu.event(), gpu.event()
start:record()
for _ = 1, iterations do call, put = gpu.eval(prices()) end
stop:record()
stop:sync()
local milliseconds = start:elapsed(stop) / iterations

-- ---- the reference: the normal distribution itself, in double precision, on up to 4000 of the options ----------------------------

--- Computed by its power series, and beyond 3 by the continued fraction of its tail.
local function normal_cdf(x)
  if x < 0 then return 1 - normal_cdf(-x) end
  local density = math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)
  if x > 3 then
    local fraction = x
    for k = 60, 1, -1 do fraction = x + k / fraction end
    return 1 - density / fraction
  end
  local term, sum = x, x
  for k = 3, 121, 2 do
    term = term * x * x / k
    sum = sum + term
  end
  return 0.5 + density * sum
end

local function price(s, x, t)
  local root = math.sqrt(t)
  local d1 = (math.log(s / x) + (rate + 0.5 * volatility ^ 2) * t) / (volatility * root)
  local d2 = d1 - volatility * root
  local discounted = x * math.exp(-rate * t)
  return s * normal_cdf(d1) - discounted * normal_cdf(d2), discounted * normal_cdf(-d2) - s * normal_cdf(-d1)
end

local every = { 1, n, math.max(1, math.floor(n / 4000)) }
local s, x, t = S(every):table(), X(every):table(), T(every):table()
local calls, puts = call(every):table(), put(every):table()
local difference, total, worst = 0, 0, 0
for i = 1, #s do
  local c, p = price(s[i], x[i], t[i])
  local call_error, put_error = math.abs(c - calls[i]), math.abs(p - puts[i])
  difference, total = difference + call_error + put_error, total + math.abs(c) + math.abs(p)
  worst = math.max(worst, call_error, put_error)
end

print(("Black-Scholes by array arithmetic: %d options in %s on %s, calls and puts in %s"):format(n, dtype, tostring(gpu.device()), kernels))
for i = 1, 3 do
  print(("  S %7.4f  X %7.4f  T %6.4f   call %9.6f  put %9.6f"):format(s[i], x[i], t[i], calls[i], puts[i]))
end
print(("L1 norm of the error  %.3e"):format(difference / total))
print(("maximum error         %.3e"):format(worst))
print(("time                  %.3f ms an iteration, %.1f million options a second"):format(milliseconds, n / milliseconds / 1e3))
assert(kernels == "1 kernel", "the formula was to be one kernel")
-- The polynomial's error times S and X, and the rounding of float32.
assert(difference / total < (dtype == "float64" and 1e-6 or 2e-6) and worst < (dtype == "float64" and 2e-5 or 1e-4),
  "the prices differ from the closed form")
