-- Events of gpu.integrate.solve_ivp, of both forms, beside closed forms.
local gpu = require "gpu"
local fails = require("support").fails

local solve = gpu.integrate.solve_ivp
local methods = { "RK45", "DOP853", "Tsit5" }
local pi = math.pi

--- y'' = -y in both forms: the options, and the functions of an event that is given as one of y[1], y[2] and t.
local forms = {
  each = {
    f = function(_, y, dy)
      dy[1] = y[2]
      dy[2] = -y[1]
    end,
    options = { each = true },
    times = function(info, e) return info.t_events[e]:table() end,
    count = function(info, e) return info.event_counts[e]:item() end,
    reason = function(info) return info.reason:item() end,
    t = function(info) return info.t:item() end,
  },
  arrays = {
    f = function(_, y) return gpu.stack({ y[{ 2 }], -y[{ 1 }] }, 1) end,
    options = {},
    times = function(info, e) return info.t_events[e] end,
    count = function(info, e) return info.event_counts[e] end,
    reason = function(info) return ({ converged = 0, event = 1 })[info.reason] end,
    t = function(info) return info.t end,
  },
}

local function with(form, options)
  for name, value in pairs(form.options) do options[name] = value end
  return options
end

for name, form in pairs(forms) do
  local function position(_, y) return y[1] end
  local start = gpu.array({ 0, 1 }, "float64") -- the sine

  describe("events of solve_ivp, " .. name, function()
    it("are found on the dense output of every method, in the directions asked for", function()
      for _, method in ipairs(methods) do
        local _, info = solve(form.f, { 0, 10 }, start, with(form, { method = method, rtol = 1e-9, atol = 1e-9, events = { position,
          { position, direction = 1 }, { position, direction = -1, max_events = 1 } } }))
        local all, up, down = form.times(info, 1), form.times(info, 2), form.times(info, 3)
        assert.are.equal(16, #all)
        for k = 1, 3 do assert.is_true(math.abs(all[k] - k * pi) < 1e-7, method) end
        assert.is_true(all[4] ~= all[4]) -- NaN
        assert.is_true(math.abs(up[1] - 2 * pi) < 1e-7 and up[2] ~= up[2])
        assert.are.equal(1, #down)
        assert.is_true(math.abs(down[1] - pi) < 1e-7)
        assert.are.same({ 3, 1, 2 }, { form.count(info, 1), form.count(info, 2), form.count(info, 3) })
        local point = info.y_events[1]
        assert.is_true(math.abs(point[1][2] + 1) < 1e-6 and math.abs(point[2][2] - 1) < 1e-6)
        assert.are.equal(0, form.reason(info))
      end
    end)

    it("end the run where they are terminal, at the first root or a later one", function()
      local y, info = solve(form.f, { 0, 100 }, start, with(form, { rtol = 1e-9, atol = 1e-9, events = { position,
        { function(_, v) return v[2] end, terminal = 3 }, { function(t, _) return t - 50 end, terminal = true } },
        t_eval = { 1, 7, 8, 50 } }))
      local stop = 2.5 * pi
      assert.are.equal(1, form.reason(info))
      assert.is_true(math.abs(form.t(info) - stop) < 1e-7)
      assert.are.same({ 2, 3, 0 }, { form.count(info, 1), form.count(info, 2), form.count(info, 3) })
      assert.is_true(math.abs(y[2][1] - math.sin(7)) < 1e-7)
      local never = y[3][1]
      assert.is_true(never ~= never) -- 8 > 2.5 pi
      local last = solve(form.f, { 0, 100 }, start, with(form, { rtol = 1e-9, atol = 1e-9, events = { { position, terminal = true } } }))
      assert.is_true(math.abs(last[1]) < 1e-8 and math.abs(last[2] + 1) < 1e-7)
    end)

    it("do not fire where they are zero at the start, and once where a step ends at a root", function()
      local steps = { first_step = pi / 4, max_step = pi / 4, rtol = 1e-3, atol = 1e3 }
      for _, first in ipairs { 0, 1 } do
        steps.events = function(t, _) return t - first * pi / 4 end
        local _, info = solve(form.f, { 0, pi }, start, with(form, steps))
        assert.are.equal(first, form.count(info, 1))
      end
    end)

    it("are found where the sign changes twice in a step", function()
      -- One step spans both roots of (t - 0.3) (t - 0.6).
      local _, info = solve(form.f, { 0, 1 }, start, with(form, { first_step = 1, rtol = 1e-3, atol = 1e3,
        events = function(t, _) return (t - 0.3) * (t - 0.6) end }))
      local times = form.times(info, 1)
      assert.is_true(math.abs(times[1] - 0.3) < 1e-14 and math.abs(times[2] - 0.6) < 1e-14)
    end)

    it("are found backwards in time", function()
      local y, info = solve(form.f, { 4, -4 }, gpu.array({ math.sin(4), math.cos(4) }, "float64"),
        with(form, { rtol = 1e-9, atol = 1e-9, events = position, t_eval = { 4, 0 } }))
      local times = form.times(info, 1)
      assert.is_true(math.abs(times[1] - pi) < 1e-7 and math.abs(times[2]) < 1e-7 and math.abs(times[3] + pi) < 1e-7)
      assert.is_true(math.abs(y[2][1]) < 1e-7)
    end)

    it("refuse what they do not take", function()
      local function refuses(text, events) fails(text, solve, form.f, { 0, 1 }, start, with(form, { events = events })) end
      refuses("events = a function, or a list of functions and tables", 3)
      refuses("events[2]: a function, or {function, terminal =, direction =, max_events =}", { position, 3 })
      refuses("expected the fields terminal, direction and max_events of events, got \"terminate\"", { position, terminate = true })
      refuses("events: direction = -1, 0 or 1", { position, direction = 2 })
      refuses("events: terminal = true, or a number of roots from 1", { position, terminal = 0 })
      refuses("events[1]: max_events = an integer from 1", { { position, max_events = 0 } })
    end)
  end)
end

describe("events of each problem", function()
  it("end each trajectory at its own time", function()
    local function fall(_, y, dy, gravity)
      dy[1] = y[2]
      dy[2] = -gravity
    end
    local function ground(_, y, gravity) return y[1] + 0 * gravity end
    local gravity, height = gpu.linspace(1, 20, 50, "float64"), gpu.linspace(1, 100, 50, "float64")
    for dtype, most in pairs { float64 = 1e-12, float32 = 1e-5 } do
      local y0 = gpu.stack({ height, gpu.zeros(50, "float64") }, 2):astype(dtype)
      local y, info = solve(fall, { 0, 1000 }, y0, { each = true, args = { gravity:astype(dtype) }, events = { { ground, terminal = true } } })
      local expected = (2 * height / gravity):sqrt()
      assert.is_true((info.t / expected - 1):abs():max():item() < most, dtype)
      assert.is_true((y("...", 2) / (-gravity * expected) - 1):abs():max():item() < most)
      assert.is_true(gpu.array_equal(info.t_events[1]:reshape(50), info.t))
      assert.is_true(gpu.array_equal(info.y_events[1]:reshape(50, 2), y))
      assert.is_true(info.reason:eq(1):all():item() and info.converged:all():item())
    end
  end)

  it("refuse functions with other parameters than f's", function()
    fails("expected a function with 3 parameters", solve, function(t, y, dy, a) dy[1] = a end, { 0, 1 }, { 1 },
      { each = true, args = { 1 }, events = function(t, y) return y[1] end })
  end)

  it("give a report that knows its fields", function()
    local _, info = solve(function(t, y, dy) dy[1] = 1 end, { 0, 1 }, { 1 }, { each = true })
    fails("the option events", function() return info.t_events end)
  end)
end)
