-- gpu.integrate.solve_ivp with each = true, beside closed forms and laws of conservation.
local gpu = require "gpu"
local fails = require("support").fails

local solve = gpu.integrate.solve_ivp
local methods = { "RK45", "DOP853", "Tsit5" }

local function oscillator(_, y, dy)
  dy[1] = y[2]
  dy[2] = -y[1]
end

local function decay(_, y, dy, rate) dy[1] = -rate * y[1] end

local function greatest(x) return x:abs():max():item() end

describe("solve_ivp of each problem", function()
  it("follows decays at rates of their own to the tolerance", function()
    local rates = gpu.linspace(0.1, 30, 100, "float64")
    for _, method in ipairs(methods) do
      local y, info = solve(decay, { 0, 2 }, { 1 }, { each = true, args = { rates }, method = method, rtol = 1e-9, atol = 1e-12 })
      assert.is_true(greatest(y:reshape(100) - (-2 * rates):exp()) < 2e-9, method)
      assert.is_true(info.converged:all():item())
      assert.are.equal(0, greatest(info.reason))
      assert.are.equal(0, greatest(info.t - 2))
      -- The fast ones take more steps.
      assert.is_true(info.steps[100] > 2 * info.steps[1])
    end
  end)

  it("takes starts, spans and parameters that broadcast, backwards, too", function()
    local t1 = gpu.array({ -1, 0.5, 2 }, "float64")
    local y0 = gpu.array({ { { 1 } }, { { 3 } } }, "float64")
    local y, info = solve(decay, { 0, t1 }, y0, { each = true, args = { gpu.array({ 2 }, "int32") }, rtol = 1e-8, atol = 1e-10 })
    assert.are.same({ 2, 3, 1 }, { y.shape[1], y.shape[2], y.shape[3] })
    local expected = y0 * (-2 * t1):exp():reshape(3, 1)
    assert.is_true(greatest(y / expected - 1) < 1e-6)
    assert.is_true(gpu.array_equal(info.t, t1:broadcast_to(2, 3)))
    local none = solve(decay, { 1, gpu.array({ 1, 2 }, "float64") }, { 5 }, { each = true, args = { 1 }, t_eval = { 1 } })
    assert.are.same({ 5, 5 }, none:reshape(2):table())
  end)

  it("gives the dense output of each method at times of any distance", function()
    local times = gpu.linspace(0, 10, 101, "float64")
    for _, method in ipairs(methods) do
      local y, info = solve(oscillator, { 0, 10 }, { { 0, 1 }, { 0, 2 } }, { each = true, t_eval = times, method = method, rtol = 1e-8,
        atol = 1e-10 })
      assert.are.same({ 2, 101, 2 }, { y.shape[1], y.shape[2], y.shape[3] })
      local expected = gpu.stack({ times:sin(), times:cos() }, 2)
      assert.is_true(greatest(y[1] - expected) < 3e-8, method)
      assert.is_true(greatest(y[2] - 2 * expected) < 6e-8, method)
      assert.is_true(info.steps[1] < 150, method)
    end
    -- Towards smaller times.
    local back = solve(oscillator, { 3, -3 }, { math.sin(3), math.cos(3) }, { each = true, t_eval = { 3, 0, -2.5 }, rtol = 1e-9, atol = 1e-9 })
    assert.is_true(greatest(back("...", 1) - gpu.array({ 3, 0, -2.5 }, "float64"):sin()) < 1e-7)
  end)

  it("keeps the invariant of Lotka's and Volterra's system in both dtypes", function()
    local function predators(_, y, dy, a, b)
      dy[1] = y[1] * (a - y[2])
      dy[2] = y[2] * (y[1] - b)
    end
    for dtype, most in pairs { float64 = 1e-8, float32 = 2e-4 } do
      local rtol = dtype == "float64" and 1e-10 or 1e-6
      local a, y0 = gpu.linspace(0.5, 2, 40, dtype), gpu.array({ 1.5, 0.7 }, dtype)
      local y = solve(predators, { 0, 20 }, y0, { each = true, args = { a, 1 }, rtol = rtol, atol = rtol })
      assert.are.equal(dtype, y.dtype)
      local function invariant(prey, predator) return prey - gpu.log(prey) + predator - a * gpu.log(predator) end
      local first = 1.5 - math.log(1.5) + 0.7 - a * math.log(0.7)
      assert.is_true(greatest(invariant(y("...", 1), y("...", 2)) - first) < most, dtype)
    end
  end)

  it("integrates systems of more elements by loops", function()
    -- A chain of decays: the first element decays, each other is fed by the one before; at the rate 1 the elements are Poisson's.
    local function chain(_, y, dy)
      dy[1] = -y[1]
      for i = 2, #y do dy[i] = y[i - 1] - y[i] end
    end
    for _, n in ipairs { 8, 9, 32 } do
      for _, method in ipairs(methods) do
        local y0 = gpu.zeros({ 3, n }, "float64")
        y0("...", 1):fill_(1)
        local y = solve(chain, { 0, 3 }, y0, { each = true, method = method, rtol = 1e-9, atol = 1e-12 })
        local p, worst = math.exp(-3), 0
        local last = y[3]:table()
        for i = 1, n do
          worst = math.max(worst, math.abs(last[i] - p))
          p = p * 3 / i
        end
        assert.is_true(worst < 1e-8, method .. n)
      end
    end
  end)

  it("says why a run has failed, and gives the point it has reached", function()
    local function square(_, y, dy) dy[1] = y[1] ^ 2 end
    local y, info = solve(square, { 0, 2 }, { { 1 }, { 0.25 }, { 0 / 0 } }, { each = true })
    assert.are.same({ 3, 0, 4 }, info.reason:table())
    assert.are.same({ false, true, false }, info.converged:table())
    assert.is_true(math.abs(info.t[1] - 1) < 1e-2)
    assert.is_true(math.abs(y[2][1] - 0.5) < 1e-3)
    -- The root of a negative number: no step leads on from 0.
    local function root(t, y, dy) dy[1] = -1 - math.sqrt(1 - t) end
    local _, ended = solve(root, { 0, 2 }, { 1 }, { each = true })
    assert.are.equal(4, ended.reason:item())
    assert.is_true(math.abs(ended.t:item() - 1) < 1e-3)
    -- Stiff: 1e6 is no scale of the solution, but one of the steps.
    local function stiff(t, y, dy) dy[1] = -1e6 * (y[1] - math.cos(t)) end
    local _, tired = solve(stiff, { 0, 10 }, { 1 }, { each = true, max_steps = 1000 })
    assert.are.equal(2, tired.reason:item())
    assert.are.equal(1000, tired.steps:item() + tired.rejections:item())
    assert.is_false(tired.converged:item())
  end)

  it("counts the evaluations", function()
    for method, stages in pairs { RK45 = 6, Tsit5 = 6, DOP853 = 12 } do
      local _, info = solve(oscillator, { 0, 5 }, { 0, 1 }, { each = true, method = method })
      assert.are.equal(2 + stages * (info.steps:item() + info.rejections:item()), info.evaluations:item())
      local _, given = solve(oscillator, { 0, 5 }, { 0, 1 }, { each = true, method = method, first_step = 0.01 })
      assert.are.equal(1 + stages * (given.steps:item() + given.rejections:item()), given.evaluations:item())
    end
    local _, short = solve(oscillator, { 0, 5 }, { 0, 1 }, { each = true, max_step = 0.1 })
    assert.is_true(short.steps:item() >= 50)
  end)

  it("takes parameters of any real dtype, and keeps y0's", function()
    local function growth(t, y, dy, a, b) dy[1] = a * b * y[1] + 0 * t end
    local a, b = gpu.array({ 1, 2 }, "int16"), gpu.array({ 0.5, 0.25 }, "float64")
    local y, info = solve(growth, { 0, 2 }, gpu.ones({ 1 }), { each = true, args = { a, b }, rtol = 1e-5, atol = 1e-5,
      events = { function(_, v, p, q) return v[1] - 2 * p * q end, { function(t, _, _, q) return t - 1 + 0 * q end, terminal = 9 } } })
    assert.are.equal("float32", y.dtype)
    assert.is_true(greatest(y:reshape(2) - math.exp(1)) < 1e-3)
    assert.are.same({ 0, 0 }, info.event_counts[1]:table()) -- 0 at the start
    assert.is_true(greatest(info.t_events[2]("...", 1) - 1) < 1e-6)
  end)

  it("takes a tolerance for each element", function()
    local function apart(_, y, dy)
      dy[1] = -y[1]
      dy[2] = -50 * y[2]
    end
    local options = { each = true, rtol = 1e-6, atol = { 1e-9, 1e3 } }
    local _, loose = solve(apart, { 0, 0.5 }, { 1, 1 }, options)
    local _, tight = solve(apart, { 0, 0.5 }, { 1, 1 }, { each = true, rtol = 1e-6, atol = 1e-9 })
    assert.is_true(loose.steps:item() * 2 < tight.steps:item())
  end)

  it("takes no absolute tolerance where an element is 0 throughout", function()
    local function half(_, y, dy) dy[1], dy[2] = -y[1], 0 end
    for _, dtype in ipairs { "float32", "float64" } do
      local y, info = solve(half, { 0, 1 }, gpu.array({ 1, 0 }, dtype), { each = true, atol = 0 })
      assert.are.equal(0, info.reason:item())
      assert.is_true(y[2] == 0 and math.abs(y[1] - math.exp(-1)) < 1e-3)
      local z, report = solve(function(_, x) return -x end, { 0, 1 }, gpu.array({ 1, 0 }, dtype), { atol = 0 })
      assert.are.equal("converged", report.reason)
      assert.is_true(z[2] == 0 and math.abs(z[1] - math.exp(-1)) < 1e-3)
    end
  end)

  it("refuses to be differentiated", function()
    local function of(k) return (solve(decay, { 0, 1 }, gpu.ones(3, 1), { each = true, args = { k } })):sum() end
    for _, k in ipairs { gpu.ones(3), gpu.ones(1) } do
      fails("[integrate.solve_ivp] each = true has no derivative; the form without it has one", gpu.grad(of), k)
    end
    for _, captured in ipairs {
      function(k) return (solve(function(_, y, dy) dy[1] = -k[1] * y[1] end, { 0, 1 }, { 1 }, { each = true })):sum() + k:sum() end,
      function(k)
        local _, info = solve(function(_, _, dy) dy[1] = 1 end, { 0, 9 }, { 0 }, { each = true, events = { { function(_, y) return y[1] - k[1] end, terminal = true } } })
        return info.t:sum() + k:sum()
      end,
      function(k) return gpu.integrate.quad(function(x) return k[1] * x end, 0, 1, { each = true }) + k:sum() end,
    } do
      fails("each = true has no derivative", gpu.grad(captured), gpu.ones(1, "float64"))
    end
  end)

  it("gives the results of no problems", function()
    local y, info = solve(oscillator, { 0, 1 }, gpu.zeros({ 0, 2 }, "float64"), { each = true })
    assert.are.equal(0, y.size)
    assert.are.equal(0, info.steps.size)
  end)

  it("refuses what it does not take", function()
    local function refuses(text, ...) fails(text, solve, ...) end
    local each = { each = true }
    refuses("expected a function with 3 parameters", function(t, y) end, { 0, 1 }, { 1 }, each)
    refuses("expected a function with 4 parameters", oscillator, { 0, 1 }, { 1, 2 }, { each = true, args = { 1 } })
    refuses("expected a function that sets the elements of its arrays and returns nothing, got one that returns values; dy is such an array",
      function(t, y, dy)
        if t > 0 then return y[1] end
      end, { 0, 1 }, { 1 }, each)
    refuses("got one that returns values; dy is such an array", function(t, y, dy, k) return -k * y[1] end, { 0, 1 }, { 1 },
      { each = true, args = { 2 } })
    refuses("expected y0 (problems..., n) with n from 1 to 32 for each = true", oscillator, { 0, 1 }, gpu.zeros(33), each)
    refuses("expected y0: an array or a list of real numbers", oscillator, { 0, 1 }, gpu.zeros({ 2 }, "complex64"), each)
    refuses("expected a time span {t0, t1}", oscillator, 1, { 1, 2 }, each)
    refuses("t1: a finite number", oscillator, { 0, math.huge }, { 1, 2 }, each)
    refuses("expected rtol of 8.88e-16 or more, 4 roundings of float64, got 1e-17", oscillator, { 0, 1 }, { 1, 2 }, { each = true, rtol = 1e-17 })
    refuses("expected rtol of 4.77e-07 or more, 4 roundings of float32", oscillator, { 0, 1 }, gpu.ones(2), { each = true, rtol = 1e-8 })
    refuses("atol = a number of 0 or more", oscillator, { 0, 1 }, { 1, 2 }, { each = true, atol = -1 })
    refuses("expected atol = a number, or one for each of the 2 elements, got 3", oscillator, { 0, 1 }, { 1, 2 },
      { each = true, atol = { 1, 2, 3 } })
    refuses('method = "RK45", "DOP853" or "Tsit5"', oscillator, { 0, 1 }, { 1, 2 }, { each = true, method = "LSODA" })
    refuses("expected times t_eval between t0 = 0 and t1 = 1, got 2", oscillator, { 0, 1 }, { 1, 2 }, { each = true, t_eval = { 0, 2 } })
    refuses("expected times t_eval in the order from t0 to t1, got 0.25 after 0.5", oscillator, { 0, 1 }, { 1, 2 },
      { each = true, t_eval = { 0.5, 0.25 } })
    refuses("max_step = a number above 0", oscillator, { 0, 1 }, { 1, 2 }, { each = true, max_step = 0 })
    refuses("max_steps = an integer from 1", oscillator, { 0, 1 }, { 1, 2 }, { each = true, max_steps = 0.5 })
    refuses('did you mean "t_eval"', oscillator, { 0, 1 }, { 1, 2 }, { each = true, t_evals = { 1 } })
    refuses("args[1]: a number, or an array of real numbers", decay, { 0, 1 }, { 1 }, { each = true, args = { "1" } })
    fails("could not be broadcast", solve, decay, { 0, 1 }, gpu.zeros(2, 1), { each = true, args = { gpu.ones(3) } })
  end)

  it("names the line in the function that a device does not run", function()
    local function bad(t, y, dy)
      dy[1] = y[1] .. "a"
    end
    local line = debug.getinfo(bad, "S").linedefined + 1
    local ok, message = pcall(solve, bad, { 0, 1 }, { 1 }, { each = true })
    assert.is_false(ok)
    assert.is_truthy(message:find("[integrate.solve_ivp]", 1, true), message)
    assert.is_truthy(message:find("integrate_each_spec.lua:" .. line, 1, true), message)
  end)
end)
