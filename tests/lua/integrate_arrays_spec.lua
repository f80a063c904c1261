-- gpu.integrate.solve_ivp of one system as an array, beside closed forms, and its derivatives.
local gpu = require "gpu"
local fails = require("support").fails

local solve = gpu.integrate.solve_ivp
local methods = { "RK45", "DOP853", "Tsit5" }
local function greatest(x) return x:abs():max():item() end

--- y'' = -y of many oscillators, (2, n): the coordinates and the speeds.
local function oscillators(_, y) return gpu.stack({ y[2], -y[1] }, 1) end

describe("solve_ivp of an array", function()
  it("follows the solution in any shape", function()
    local phase = gpu.linspace(0, 6, 200, "float64")
    local y0 = gpu.stack({ phase:sin(), phase:cos() }, 1)
    for _, method in ipairs(methods) do
      local y, info = solve(oscillators, { 0, 3 }, y0, { method = method, rtol = 1e-9, atol = 1e-9 })
      assert.are.same({ 2, 200 }, { y.shape[1], y.shape[2] })
      assert.is_true(greatest(y[1] - (phase + 3):sin()) < 1e-8, method)
      assert.is_true(info.converged and info.reason == "converged" and info.t == 3)
      local stages = method == "DOP853" and 12 or 6
      assert.are.equal(2 + stages * (info.steps + info.rejections), info.evaluations)
    end
  end)

  it("has errors that fall as the order of the method says", function()
    for method, order in pairs { RK45 = 5, Tsit5 = 5, DOP853 = 8 } do
      local function error_of(step)
        local y = solve(oscillators, { 0, 4 }, gpu.array({ { 0 }, { 1 } }, "float64"), { method = method, first_step = step, max_step = step,
          rtol = 1, atol = 1e6 })
        return math.sqrt((y[1][1] - math.sin(4)) ^ 2 + (y[2][1] - math.cos(4)) ^ 2)
      end
      local step = order == 8 and 0.5 or 0.1
      local found = math.log(error_of(step) / error_of(step / 2)) / math.log(2)
      assert.is_true(math.abs(found - order) < 0.5, method .. found)
    end
  end)

  it("takes the steps that each = true takes", function()
    local function decay(t, y, dy, rate) dy[1] = -rate * y[1] + math.cos(t) end
    for _, method in ipairs(methods) do
      local options = { method = method, rtol = 1e-7, atol = 1e-9, t_eval = { 0, 0.3, 1.7, 5 }, args = { 2 } }
      local y, info = solve(function(t, x, rate) return -rate * x + math.cos(t) end, { 0, 5 }, gpu.array({ 1 }, "float64"), options)
      options.each = true
      local y_each, each = solve(decay, { 0, 5 }, { 1 }, options)
      assert.are.equal(info.steps, each.steps:item())
      assert.are.equal(info.rejections, each.rejections:item())
      assert.are.equal(info.evaluations, each.evaluations:item())
      assert.is_true(greatest(y - y_each) < 1e-9)
    end
  end)

  it("gives the points at t_eval, and NaN where it has not arrived", function()
    local times = gpu.linspace(-1, 1, 9, "float64")
    local y = solve(function(_, x) return x end, { -1, 1 }, gpu.array(math.exp(-1), "float64"), { t_eval = times, rtol = 1e-9, atol = 1e-12 })
    assert.are.equal(1, y.ndim)
    assert.is_true(greatest(y / times:exp() - 1) < 1e-8)
    local late, info = solve(function(_, x) return x * x end, { 0, 2 }, gpu.ones(1, "float64"), { t_eval = { 0.5, 1.5 } })
    assert.is_true(math.abs(late[1][1] - 2) < 0.01 and late[2][1] ~= late[2][1])
    assert.are.equal("step size", info.reason)
  end)

  it("says why a run has failed", function()
    local function reason_of(f, y0, options) return select(2, solve(f, { 0, 2 }, y0, options or {})).reason end
    assert.are.equal("not finite", reason_of(function(_, y) return y end, { 0 / 0 }))
    assert.are.equal("not finite", reason_of(function(_, y) return y / 0 end, { 1 }))
    assert.are.equal("not finite", reason_of(function(t, y) return 0 * y - 1 - (1 - t) ^ 0.5 end, { 1 }))
    assert.are.equal("step size", reason_of(function(_, y) return y * y end, { 1 }))
    assert.are.equal("max_steps", reason_of(function(t, y) return -1e6 * (y - math.cos(t)) end, { 1 }, { max_steps = 100 }))
    local y, info = solve(function(_, y) return y * y end, { 0, 2 }, { 1 })
    assert.is_true(not info.converged and math.abs(info.t - 1) < 1e-2 and y[1] > 100)
  end)

  it("computes in y0's dtype, float32 for 16 bits", function()
    for given, dtype in pairs { float16 = "float32", bfloat16 = "float32", float32 = "float32", float64 = "float64", int32 = "float64" } do
      local y = solve(function(_, x) return -x end, { 0, 1 }, gpu.ones(3, given))
      assert.are.equal(dtype, y.dtype)
      assert.is_true(math.abs(y[1] - math.exp(-1)) < 1e-3)
    end
  end)

  it("refuses what it does not take", function()
    local function refuses(text, ...) fails(text, solve, ...) end
    local function same(_, y) return y end
    refuses("expected a function of t and y that gives dy/dt", 3, { 0, 1 }, { 1 })
    refuses("expected a function f(t, y), the time first, that gives real numbers (2,) on", function() return gpu.ones(3) end, { 0, 1 }, { 1, 2 })
    refuses("expected a function f(t, y), the time first, that gives real numbers (2,) on", function(_, y) return y:astype "complex128" end, { 0, 1 }, { 1, 2 })
    refuses("t0: a finite number; {each = true} takes arrays", same, { gpu.ones(2), 1 }, { 1, 2 })
    refuses("expected rtol of 8.88e-16 or more", same, { 0, 1 }, { 1 }, { rtol = 0 })
    refuses("the event gives an array float64[2]; an event is a number that changes its sign at the root", same, { 0, 1 }, { 1, 2 }, { events = function(_, y) return y end })
    refuses("args = a list of the function's last arguments", same, { 0, 1 }, { 1, 2 }, { args = 3 })
  end)
end)

describe("derivatives of solve_ivp", function()
  it("of the end are those of the closed form", function()
    -- y' = -k y, y(0) = a: dy/dk = -t a e^(-k t), dy/da = e^(-k t), by the discrete steps.
    for _, method in ipairs(methods) do
      local k, a = gpu.linspace(0.5, 2, 4, "float64"), gpu.linspace(1, 2, 4, "float64")
      local function sum_at_end(rate, start)
        return (solve(function(_, y) return -rate * y end, { 0, 1.5 }, start, { method = method, rtol = 1e-10, atol = 1e-12 })):sum()
      end
      local dk, da = gpu.grad(sum_at_end, { 1, 2 })(k, a)
      assert.is_true(greatest(dk + 1.5 * a * (-1.5 * k):exp()) < 1e-8, method)
      assert.is_true(greatest(da - (-1.5 * k):exp()) < 1e-8, method)
    end
  end)

  it("go forwards, and have derivatives themselves", function()
    local k = gpu.array({ 0.5, 1, 2 }, "float64")
    local function at_end(rate) -- a step
      return (solve(function(_, y) return -rate * y end, { 0, 0.3 }, gpu.ones(3, "float64"), { method = "DOP853", first_step = 0.3, rtol = 1,
        atol = 1 }))
    end
    local first, second = -0.3 * (-0.3 * k):exp(), 0.09 * (-0.3 * k):exp()
    local _, dy = gpu.jvp(at_end, { k }, { gpu.ones_like(k) })
    assert.is_true(greatest(dy - first) < 1e-8)
    assert.is_true(greatest(gpu.jacobian(at_end)(k) - gpu.diag(first)) < 1e-8)
    assert.is_true(greatest(gpu.hessian(function(rate) return at_end(rate):sum() end)(k) - gpu.diag(second)) < 1e-8)
  end)

  it("go through args and t_eval, and refuse events", function()
    local times = gpu.array({ 0.5, 1 }, "float64")
    local function at_times(k)
      local y = solve(function(_, y, rate) return -rate * y end, { 0, 1 }, gpu.ones(1, "float64"), { args = { k }, t_eval = times, rtol = 1e-9,
        atol = 1e-12 })
      return y:sum()
    end
    local k = gpu.array({ 0.7 }, "float64")
    assert.is_true(greatest(gpu.grad(at_times)(k) + (times * (-0.7 * times):exp()):sum()) < 1e-7)
    local function at_event(rate)
      local _, info = solve(function(_, y) return -rate * y end, { 0, 3 }, gpu.ones(1, "float64"), { rtol = 1e-9, atol = 1e-12,
        events = { { function(t, _) return t - 2 end, terminal = true } } })
      return info.y_events[1]:sum()
    end
    fails("[integrate.solve_ivp] has no derivative with events", gpu.grad(at_event), k)
    fails("expected a function f(t, y, ...) with 2 parameters, got one with 3; function(t, y) return {y[2], -y[1]} end gives dy/dt, and {each = true} takes function(t, y, dy)", solve,
      function(_, y, dy) dy[1] = y[1] end, { 0, 1 }, k)
    -- A slope that depends on no variable.
    local fall = gpu.grad(function(y0) return (solve(function() return gpu.array({ -9.81 }, "float64") end, { 0, 1 }, y0)):sum() end)(k)
    assert.is_true(greatest(fall - 1) < 1e-12)
  end)

  it("of a parameter of Lotka's and Volterra's system are its differences", function()
    local function prey(p)
      local function f(_, y) return gpu.stack({ y[{ 1 }] * (p[{ 1 }] - y[{ 2 }]), y[{ 2 }] * (y[{ 1 }] - p[{ 2 }]) }, 1) end
      -- Steps of one size: those that a tolerance chooses change with p.
      return solve(f, { 0, 2 }, gpu.array({ 1.5, 0.7 }, "float64"), { first_step = 0.1, max_step = 0.1, rtol = 1, atol = 1e6 })[{ 1 }]
    end
    assert.is_true(gpu.check_grad(prey, gpu.array({ 1.2, 0.9 }, "float64")) < 1e-6)
  end)
end)
