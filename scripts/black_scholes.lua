-- Black-Scholes prices of European calls and puts, by a CUDA C++ kernel given as a string.
-- 4,000,000 options in float64, 10 iterations, checked against plain Lua on a sample.
--
--   gpulua scripts/black_scholes.lua [options] [iterations]
--
-- The cumulative normal distribution is the polynomial 26.2.17 of Abramowitz and Stegun, Handbook of Mathematical Functions.

local gpu = require "gpu"
local ffi = require "ffi"

local n = tonumber(arg and arg[1]) or 4000000
local iterations = tonumber(arg and arg[2]) or 10
local rate, volatility = 0.02, 0.30

local module = gpu.module [[
__device__ double cnd(double d) {
  const double k = 1.0 / (1.0 + 0.2316419 * fabs(d));
  const double tail = 0.39894228040143267793994605993438 * exp(-0.5 * d * d) *
      (k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429)))));
  return d > 0 ? 1.0 - tail : tail;
}

__global__ void black_scholes(double* call, double* put, const double* S, const double* X, const double* T,
                              double r, double v, size_t n) {
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i >= n) return;
  const double root = sqrt(T[i]);
  const double d1 = (log(S[i] / X[i]) + (r + 0.5 * v * v) * T[i]) / (v * root);
  const double d2 = d1 - v * root;
  const double discounted = X[i] * exp(-r * T[i]);
  call[i] = S[i] * cnd(d1) - discounted * cnd(d2);
  put[i] = discounted * (1.0 - cnd(d2)) - S[i] * (1.0 - cnd(d1));
}
]]

-- ---- inputs, on the host ------------------------------------------------------------------------------------------------------

local function uniform(low, high)
  local values = ffi.new("double[?]", n)
  for i = 0, n - 1 do values[i] = low + (high - low) * math.random() end
  return values
end

math.randomseed(5347)
local S_host, X_host, T_host = uniform(5, 30), uniform(1, 100), uniform(0.25, 10)

-- ---- on the device --------------------------------------------------------------------------------------------------------------

local S, X, T = gpu.array(S_host), gpu.array(X_host), gpu.array(T_host)
local call, put = gpu.empty(n, "float64"), gpu.empty(n, "float64")

local stream = gpu.stream()
local block = 1024
local launch = module.black_scholes { grid = math.ceil(n / block), block = block, stream = stream }
launch(call, put, S, X, T, rate, volatility, n) -- warm up
stream:sync()

local start, stop = gpu.event(), gpu.event()
start:record(stream)
for _ = 1, iterations do launch(call, put, S, X, T, rate, volatility, n) end
stop:record(stream)
stop:sync()
local milliseconds = start:elapsed(stop) / iterations

-- ---- the reference: plain Lua on every 1000th option ------------------------------------------------------------------------------

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

local call_host, put_host = call:host(), put:host()
local difference, total, worst = 0, 0, 0
for i = 0, n - 1, 1000 do
  local c, p = price(S_host[i], X_host[i], T_host[i])
  local call_error, put_error = math.abs(c - call_host[i]), math.abs(p - put_host[i])
  difference = difference + call_error + put_error
  total = total + math.abs(c) + math.abs(p)
  worst = math.max(worst, call_error, put_error)
end

print(("Black-Scholes: %d options in float64 on %s"):format(n, tostring(gpu.device())))
for i = 0, 2 do
  print(("  S %7.4f  X %7.4f  T %6.4f   call %9.6f  put %9.6f"):format(S_host[i], X_host[i], T_host[i], call_host[i], put_host[i]))
end
print(("L1 norm of the error  %.3e"):format(difference / total))
print(("maximum error         %.3e"):format(worst))
print(("time                  %.3f ms an iteration, %.1f million options a second"):format(milliseconds, n / milliseconds / 1e3))
assert(difference / total < 1e-13 and worst < 1e-11, "the device's prices differ from the reference")
