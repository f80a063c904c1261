-- Orbits around a mass: passages of the nearest point as events, beside Kepler's third law; energy and angular momentum are kept.
--
--   gpulua scripts/kepler.lua [orbits]

local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 100000
local periods = 10

-- Positions y[1], y[2] and speeds y[3], y[4]; the mass and the constant of gravitation are 1.
local function orbit(_, y, dy)
  local r = math.sqrt(y[1] * y[1] + y[2] * y[2])
  local pull = -1 / (r * r * r)
  dy[1] = y[3]
  dy[2] = y[4]
  dy[3] = pull * y[1]
  dy[4] = pull * y[2]
end

--- Falls to 0 at the farthest point, and rises through 0 at the nearest one.
local function outwards(_, y) return y[1] * y[3] + y[2] * y[4] end

-- Ellipses of all eccentricities from 0.01 to 0.9 with the great axis 1, from the nearest point on: there the event is 0 and does not fire.
local e = gpu.linspace(0.01, 0.9, n, "float64")
local zero = gpu.zeros(n, "float64")
local start = gpu.stack({1 - e, zero, zero, gpu.sqrt((1 + e) / (1 - e))}, 2)

local before = gpu.clock()
local y, info = gpu.integrate.solve_ivp(orbit, {0, 2 * math.pi * (periods + 0.5)}, start, {each = true, method = "DOP853", rtol = 1e-12,
  atol = 1e-12, events = {{outwards, direction = 1, max_events = periods}}})
local passages = info.t_events[1]:eval()
gpu.sync()
local took = gpu.clock() - before

local function column(k) return y(":", k) end
local r = (column(1):square() + column(2):square()):sqrt()
local energy = 0.5 * (column(3):square() + column(4):square()) - 1 / r
local momentum = column(1) * column(4) - column(2) * column(3)

local function greatest(x) return x:abs():max():item() end
local steps = info.steps:astype "float64"
local period_error = greatest(passages / (2 * math.pi * gpu.range(1, periods, "float64")) - 1)
local energy_error, momentum_error = greatest(energy + 0.5), greatest(momentum - gpu.sqrt(1 - e * e))
print(("%d orbits of %d periods in %.1f ms with the compilation on %s"):format(n, periods, took, tostring(gpu.device())))
print(("steps of an orbit      %d to %d"):format(steps:min():item(), steps:max():item()))
print(("passages               %d each; their times differ from Kepler's law by %.1e of them"):format(info.event_counts[1]:min():item(),
  period_error))
print(("energy, momentum       kept to %.1e and %.1e"):format(energy_error, momentum_error))
assert(info.converged:all():item())
assert(info.event_counts[1]:eq(periods):all():item(), "each orbit was to pass its nearest point once in a period")
assert(period_error < 1e-8 and energy_error < 1e-9 and momentum_error < 1e-9)
