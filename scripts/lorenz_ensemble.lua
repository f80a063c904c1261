-- An ensemble of Lorenz's system, one trajectory a thread with steps of its own: how far do starts that differ by a millionth go apart?
--
--   gpulua scripts/lorenz_ensemble.lua [trajectories]

local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 1000000

local function lorenz(_, y, dy, rho)
  dy[1] = 10 * (y[2] - y[1])
  dy[2] = y[1] * (rho - y[3]) - y[2]
  dy[3] = y[1] * y[2] - 8 / 3 * y[3]
end

-- Around each of n parameters from 20 to 30, and around a point near the attractor.
local rho = gpu.linspace(20, 30, n, "float64")
local start = gpu.array({1, 1, 1}, "float64") + gpu.stack({gpu.zeros(n, "float64"), gpu.linspace(-1, 1, n, "float64"):flip(), rho - 1}, 2)

local function run(from, options)
  options.each, options.args = true, {rho}
  local y, info = gpu.integrate.solve_ivp(lorenz, {0, 1}, from, options)
  gpu.eval(y, info.steps)
  gpu.sync()
  return y, info
end

local wanted = {rtol = 1e-6, atol = 1e-6}
run(start, wanted) -- compiles the kernel
local before = gpu.clock()
local y, info = run(start, wanted)
local took = gpu.clock() - before
assert(info.converged:all():item())

local steps = info.steps:astype "float64"
print(("%d trajectories to t = 1 in %.2f ms on %s"):format(n, took, tostring(gpu.device())))
print(("steps of a trajectory  %d to %d, %.1f on average, and %.1f rejected"):format(steps:min():item(), steps:max():item(),
  steps:mean():item(), info.rejections:astype("float64"):mean():item()))

-- The same to a tolerance of 1e-13 by another method: what differs is the error of the first run.
local exact = run(start, {method = "DOP853", rtol = 1e-13, atol = 1e-13})
local error = (y - exact):abs():max():item()
print(("greatest error         %.1e"):format(error))

-- Starts that are a millionth away go apart by the factor e^(L t). The volume of a set of starts shrinks by e^-(10 + 1 + 8/3) for each.
local near = run(start + gpu.array({1e-6, 0, 0}, "float64"), {method = "DOP853", rtol = 1e-13, atol = 1e-13})
local apart = (near - exact):square():sum(2):sqrt() / 1e-6
print(("distances of starts    grow %.3g-fold on average, %.3g-fold at most"):format(apart:mean():item(), apart:max():item()))
assert(error < 1e-3, "errors of single steps are to grow no more than distances of starts do")
