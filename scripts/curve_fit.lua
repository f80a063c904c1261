-- Fits of measured curves with derivatives that nobody writes: a damped oscillation with noise, the parameters' errors, and a fit where
-- outliers would pull, with Huber's loss. Checked against the parameters that made the data.
--
--   gpulua scripts/curve_fit.lua [samples]

local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 2000
gpu.random.seed(9)
local t = gpu.linspace(0, 10, n, "float64")

local function oscillation(t, amplitude, decay, frequency, phase)
  return amplitude * gpu.exp(-decay * t) * gpu.cos(frequency * t + phase)
end

local names, truth, sigma = {"amplitude", "decay", "frequency", "phase"}, {2, 0.3, 3, 0.5}, 0.05
local y = (oscillation(t, unpack(truth)) + sigma * gpu.randn(n, {dtype = "float64"})):eval()

local p, covariance, info = gpu.optimize.curve_fit(oscillation, t, y, {1, 0.1, 2.9, 0}, {sigma = sigma, absolute_sigma = true})
assert(info.converged, info.reason)
print(("%d samples on %s: %d iterations, chi square %.3f a sample"):format(n, tostring(gpu.device()), info.iterations, 2 * info.value / n))
for i, name in ipairs(names) do
  local error = math.sqrt(covariance[i][i])
  print(("%-10s %9.5f +- %.5f, made with %g"):format(name, p[i], error, truth[i]))
  assert(math.abs(p[i] - truth[i]) < 5 * error, name .. " was to be within its error")
end

-- The curvature of half of the sum of squares is the inverse of the covariances, but for second derivatives of the curve.
local function half_sum(q) return 0.5 * (((oscillation(t, q[1], q[2], q[3], q[4]) - y) / sigma) ^ 2):sum() end
local H = gpu.hessian(function(q)
  local parts = {}
  for i = 1, 4 do parts[i] = q {i, i}:reshape {} end
  return half_sum(parts)
end)(p)
local curvature = gpu.linalg.inv(H)
for i = 1, 4 do
  assert(math.abs(curvature[i][i] / covariance[i][i] - 1) < 0.1, "both ways were to give the same errors")
end

-- One sample in twenty is far off. The sum of squares follows them; Huber's loss grows as |r| beyond d, and does not.
local off = gpu.rand(n, {dtype = "float64"}):lt(0.05)
local spoiled = gpu.where(off, y + 3, y):eval()
local function robust(q)
  local r = gpu.abs(oscillation(t, q[1], q[2], q[3], q[4]) - spoiled) / sigma
  return gpu.where(r:lt(1.5), 0.5 * r * r, 1.5 * (r - 0.75)):mean()
end
local start = {}
for i = 1, 4 do start[i] = gpu.full({}, p[i], "float64") end
local q, report = gpu.optimize.minimize(robust, start, {method = "BFGS", tol = 1e-7})
local plain = gpu.optimize.curve_fit(oscillation, t, spoiled, p)
print(("with outliers: amplitude %.4f by Huber's loss, %.4f by least squares; %s"):format(q[1]:item(), plain[1], report.reason))
assert(math.abs(q[1]:item() - truth[1]) < 0.03 and math.abs(q[3]:item() - truth[3]) < 0.01)
