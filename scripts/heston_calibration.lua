-- Calibrates Heston's model to a surface of option quotes: five parameters by least squares, with exact derivatives of the prices.
-- Prices are integrals of the characteristic function, all quotes and all nodes in one kernel. Checked: quotes that a model made give
-- back its parameters.
--
-- S. L. Heston, A closed-form solution for options with stochastic volatility (1993). The characteristic function is written as by
-- H. Albrecher et al., The little Heston trap (2007), whose logarithm has no jumps; the price is one integral, A. L. Lewis (2001).
--
--   gpulua scripts/heston_calibration.lua [quotes a maturity] [repeats]

local gpu = require "gpu"

local strikes, repeats = tonumber(arg and arg[1]) or 50, tonumber(arg and arg[2]) or 3
local S0, rate = 100, 0.02
local years = {0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 5, 0.15, 0.35, 0.6, 0.9, 1.25, 1.75, 2.5, 3.5, 4.5, 6}

-- Nodes of Gauss and Legendre on (0, 1), moved to (0, infinity) by u = c s / (1 - s).
-- The nodes are eigenvalues of a symmetric matrix: G. H. Golub and J. H. Welsch (1969).
local count = 96
local k = gpu.range(1, count - 1, {dtype = "float64"})
local side = k / gpu.sqrt(4 * k * k - 1)
local nodes, vectors = gpu.linalg.eigh(gpu.diag(side, 1) + gpu.diag(side, -1))
local weights = 2 * vectors[1] ^ 2
local s = 0.5 * (nodes + 1)
local u = (12 * s / (1 - s)):eval()
local du = (0.5 * weights * 12 / (1 - s) ^ 2):eval()

-- Quotes are rows, nodes are columns.
local K, T = {}, {}
for _, year in ipairs(years) do
  for i = 1, strikes do
    K[#K + 1] = S0 * math.exp((2 * (i - 0.5) / strikes - 1) * 0.5 * math.sqrt(year))
    T[#T + 1] = year
  end
end
local quotes = #K
K, T = gpu.array(K, "float64"):expand_dims(2), gpu.array(T, "float64"):expand_dims(2)
local moneyness = (gpu.log(S0 / K) + rate * T):eval()

--- Prices of calls. p: the variance at the start, its speed of return, its mean, its volatility, and the correlation.
local function prices(p)
  local v0, speed, mean, noise, correlation = p {1, 1}, p {2, 2}, p {3, 3}, p {4, 4}, p {5, 5}
  local i = gpu.complex(0, 1)
  local z = u - 0.5 * i
  local b = speed - correlation * noise * (i * z)
  local d = gpu.sqrt(b * b + noise ^ 2 * (z * z + i * z))
  local g = (b - d) / (b + d)
  local e = gpu.exp(-d * T)
  local c = speed * mean / noise ^ 2 * ((b - d) * T - 2 * gpu.log((1 - g * e) / (1 - g)))
  local variance = v0 / noise ^ 2 * (b - d) * (1 - e) / (1 - g * e)
  local integrand = gpu.real(gpu.exp(c + variance + i * u * moneyness)) / (u * u + 0.25)
  local integral = (integrand * du):sum(2)
  return S0 - gpu.sqrt(S0 * K:squeeze(2)) * gpu.exp(-0.5 * rate * T:squeeze(2)) * integral / math.pi
end

local truth = gpu.array({0.04, 1.5, 0.06, 0.5, -0.7}, "float64")
local market = prices(truth):eval()

-- Recorded by gpu.fuse, and so are its derivatives: a step costs the host little.
local residuals = gpu.fuse(function(p) return prices(p) - market end)
local function calibrate()
  return gpu.optimize.least_squares(residuals, {0.08, 1, 0.1, 0.3, -0.3}, {
    bounds = {{1e-4, 1e-2, 1e-4, 1e-2, -0.99}, {1, 10, 1, 3, 0.99}}, xtol = 1e-10, ftol = 1e-14, gtol = 1e-12,
  })
end

local p, info
for i = 1, repeats do
  local elapsed = gpu.timer()
  p, info = calibrate()
  print(("run %d: %d iterations, %.1f ms, %s"):format(i, info.iterations, elapsed(), info.reason))
end
print(("%d quotes on %s, root of the sum of squares %.1e"):format(quotes, tostring(gpu.device()), info.residual))
for i, name in ipairs {"variance", "speed", "mean", "noise", "correlation"} do
  print(("%-12s %10.7f, made with %g"):format(name, p[i], truth[i]))
  assert(math.abs(p[i] - truth[i]) < 1e-5, name .. " was to be the model's")
end
