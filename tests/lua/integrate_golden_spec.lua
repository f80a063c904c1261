-- gpu.integrate beside mpmath's solutions of equations that have no closed form: points, times of events, integrals.
local gpu = require "gpu"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local golden = dofile(folder .. "/../golden/arrays/differential.lua")
local solve = gpu.integrate.solve_ivp

-- Each right-hand side as a function for the device and as one of arrays; how much errors of steps grow until the end.
local problems = {
  lorenz = {
    each = function(_, y, dy)
      dy[1] = 10 * (y[2] - y[1])
      dy[2] = y[1] * (28 - y[3]) - y[2]
      dy[3] = y[1] * y[2] - 8 / 3 * y[3]
    end,
    together = function(_, y)
      local a, b, c = y[{ 1 }], y[{ 2 }], y[{ 3 }]
      return gpu.stack({ 10 * (b - a), a * (28 - c) - b, a * b - 8 / 3 * c }, 1)
    end,
    growth = 400,
  },
  van_der_pol = {
    each = function(_, y, dy)
      dy[1] = y[2]
      dy[2] = 5 * (1 - y[1] ^ 2) * y[2] - y[1]
    end,
    together = function(_, y) return gpu.stack({ y[{ 2 }], 5 * (1 - y[{ 1 }] ^ 2) * y[{ 2 }] - y[{ 1 }] }, 1) end,
    growth = 100,
  },
  driven_pendulum = {
    each = function(t, y, dy)
      dy[1] = y[2]
      dy[2] = -math.sin(y[1]) - y[2] / 4 + 1.5 * math.cos(2 * t)
    end,
    together = function(t, y) return gpu.stack({ y[{ 2 }], -gpu.sin(y[{ 1 }]) - y[{ 2 }] / 4 + 1.5 * math.cos(2 * t) }, 1) end,
    growth = 10,
  },
}

local function first(_, y) return y[1] end

--- The greatest errors of the points and of the times of events, and the number of these.
local function errors_of(name, problem, form, method, dtype, tolerance)
  local expected = golden[name]
  local start = gpu.array(expected.start, dtype)
  local y, info = solve(problem[form], { 0, expected.times[#expected.times] }, start, { method = method, rtol = tolerance, atol = tolerance,
    t_eval = expected.times, events = { { first, max_events = #expected.roots } }, each = form == "each" })
  local t_events = info.t_events[1]
  if form == "each" then t_events = t_events:table() end
  local times = 0
  for i, root in ipairs(expected.roots) do times = math.max(times, math.abs(t_events[i] - root)) end
  local count = info.event_counts[1]
  local points = (y - gpu.array(expected.points, dtype)):abs():max():item()
  return points, times, form == "each" and count:item() or count
end

for name, problem in pairs(problems) do
  describe(name, function()
    for _, form in ipairs { "each", "together" } do
      it("is followed to the tolerance, " .. form, function()
        for _, method in ipairs { "RK45", "DOP853", "Tsit5" } do
          for _, tolerance in ipairs(form == "each" and { 1e-6, 1e-9, 1e-12 } or { 1e-9 }) do
            local points, times, count = errors_of(name, problem, form, method, "float64", tolerance)
            local most = problem.growth * tolerance
            assert.is_true(points < most, method .. points)
            assert.is_true(times < most, method .. times)
            assert.are.equal(#golden[name].roots, count)
          end
        end
      end)
    end

    it("is followed in float32", function()
      local points, times, count = errors_of(name, problem, "each", "RK45", "float32", 1e-5)
      assert.is_true(points < problem.growth * 1e-5 and times < problem.growth * 1e-5, points)
      assert.are.equal(#golden[name].roots, count)
    end)
  end)
end

describe("quad", function()
  it("finds integrals without a closed form", function()
    for _, case in ipairs {
      { function(x) return gpu.sin(gpu.exp(x)) end, 0, 3, golden.sin_exp },
      { function(x) return gpu.exp(-x * x) / gpu.sqrt(x + x ^ 3) end, 0, math.huge, golden.bell_root },
    } do
      local f, a, b, expected = unpack(case)
      for _, tolerance in ipairs { 1e-6, 1e-12 } do
        local options = { epsabs = tolerance, epsrel = tolerance }
        assert.is_true(math.abs(gpu.integrate.quad(f, a, b, options) - expected) < tolerance)
        options.each = true
        local value = gpu.integrate.quad(f, a, b, options)
        assert.is_true(math.abs(value:item() - expected) < tolerance)
      end
    end
  end)
end)
