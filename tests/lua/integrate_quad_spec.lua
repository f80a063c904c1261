-- gpu.integrate.quad and fixed_quad, beside closed forms and special functions.
local gpu = require "gpu"
local fails = require("support").fails

local quad, fixed_quad = gpu.integrate.quad, gpu.integrate.fixed_quad
local pi, huge, exp = math.pi, math.huge, math.exp
local function greatest(x) return x:abs():max():item() end

local folder = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local rules = assert(loadfile(folder .. "/../../library/integrate/quadrature.lua"))()

-- f for arrays and for the device, the ends and the integral.
local cases = {
  { "a bell", function(x) return gpu.exp(-x * x) end, -huge, huge, math.sqrt(pi) },
  { "half a bell", function(x) return gpu.exp(-x * x) end, -huge, 0, math.sqrt(pi) / 2 },
  { "a decay", function(x) return gpu.exp(-x) end, 2, huge, exp(-2) },
  { "backwards", function(x) return gpu.exp(-x) end, huge, 2, -exp(-2) },
  { "a pole at the end", function(x) return 1 / gpu.sqrt(x) end, 0, 4, 4 },
  { "a pole at both ends", function(x) return 1 / gpu.sqrt(x * (1 - x)) end, 0, 1, pi },
  { "a logarithm", function(x) return gpu.log(x) end, 0, 1, -1 },
  { "a kink", function(x) return gpu.abs(x - 0.3) end, 0, 1, 0.29 },
  { "a jump", function(x) return gpu.heaviside(x - 0.3, 0) end, 0, 1, 0.7 },
  { "a peak", function(x) return 1 / (1e-4 + (x - 0.3) ^ 2) end, 0, 1, 100 * (math.atan(70) + math.atan(30)) },
  { "waves", function(x) return gpu.cos(40 * x) end, 0, 2, math.sin(80) / 40 },
  { "a wide tail", function(x) return 1 / (1 + x * x) end, -huge, huge, pi },
  { "no width", function(x) return 1 / x end, 3, 3, 0 },
}

describe("quad", function()
  it("finds integrals to the tolerance, of both forms", function()
    for _, case in ipairs(cases) do
      local name, f, a, b, expected = unpack(case)
      for _, tolerance in ipairs { 1e-6, 1e-10 } do
        local options = { epsabs = tolerance, epsrel = tolerance }
        local value, info = quad(f, a, b, options)
        local allowed = tolerance * math.max(1, math.abs(expected))
        assert.is_true(info.converged and info.reason == "converged", name)
        assert.is_true(math.abs(value - expected) <= allowed and info.error <= allowed, name)
        options.each = true
        local each, report = quad(f, a, b, options)
        assert.are.equal(0, each.ndim)
        assert.are.equal(0, report.reason:item(), name)
        assert.is_true(math.abs(each:item() - expected) <= allowed and report.error:item() <= allowed, name)
      end
    end
  end)

  it("integrates many functions at once, with ends and parameters of their own", function()
    local s = gpu.linspace(0.6, 6, 300, "float64")
    local values, info = quad(function(x, power) return x ^ (power - 1) * gpu.exp(-x) end, 0, huge, { each = true, args = { s }, epsrel = 1e-11,
      epsabs = 0 })
    assert.is_true(greatest(values / gpu.gamma(s) - 1) < 1e-11)
    assert.is_true(info.converged:all():item())
    local to = gpu.array({ { -1 }, { 0.5 }, { huge } }, "float64")
    local scale = gpu.array({ 1, 2 }, "float64")
    local tails = quad(function(x, k) return k * gpu.exp(-(k * x) ^ 2) end, 0, to, { each = true, args = { scale } })
    assert.are.same({ 3, 2 }, { tails.shape[1], tails.shape[2] })
    assert.is_true(greatest(tails - math.sqrt(pi) / 2 * gpu.erf(scale * to)) < 1e-9)
  end)

  it("keeps to the tolerance for families of functions", function()
    -- One rule over the whole range is right by accident for some of the parameters, with an error of 40 tolerances.
    local k = gpu.linspace(0.1, 60, 5000, "float64")
    for _, tolerance in ipairs { 1e-2, 1e-4, 1e-6 } do
      local waves = quad(function(x, rate) return math.cos(rate * x) end, 0, 1, { each = true, args = { k }, epsabs = tolerance, epsrel = 0 })
      assert.is_true(greatest(waves - gpu.sin(k) / k) < tolerance)
    end
  end)

  it("computes in the arrays' dtype", function()
    local k = gpu.linspace(1, 2, 5, "float32")
    local values, info = quad(function(x, rate) return math.exp(-rate * x) end, 0, huge, { each = true, args = { k } })
    assert.are.equal("float32", values.dtype)
    assert.is_true(info.converged:all():item())
    assert.is_true(greatest(values * k - 1) < 4e-4)
  end)

  it("says why it has failed", function()
    local function pole(x) return 1 / x end
    local function nan(x) return gpu.sqrt(x - 0.5) end
    for reason, case in pairs { limit = { pole, 1 }, ["not finite"] = { nan, 3 } } do
      local _, info = quad(case[1], 0, 1)
      assert.are.equal(reason, info.reason)
      assert.is_false(info.converged)
      local _, each = quad(case[1], 0, 1, { each = true })
      assert.are.equal(case[2], each.reason:item())
      assert.is_false(each.converged:item())
    end
    local _, info = quad(pole, 0, 1, { limit = 7 })
    assert.are.equal(7, info.intervals)
    local _, each = quad(pole, 0, 1, { limit = 7, each = true })
    assert.are.equal(7, each.intervals:item())
    assert.are.equal(12 * 21, each.evaluations:item())
    -- A sum that is 0 in large terms: rounding is above the tolerance.
    local function odd(x) return 1e6 * gpu.sin(x) end
    local value, rounded = quad(odd, -1, 1, { epsabs = 1e-12 })
    assert.are.equal("rounding", rounded.reason)
    assert.is_true(math.abs(value) < 1e-9)
    assert.are.equal(2, select(2, quad(odd, -1, 1, { epsabs = 1e-12, each = true })).reason:item())
  end)

  it("counts the evaluations, and takes arguments", function()
    local calls, points = 0, 0
    local value, info = quad(function(x, a, b)
      calls, points = calls + 1, points + x.size
      return a * x ^ 3 + b
    end, 0, 2, { args = { 2, gpu.array(3, "float64") } })
    assert.is_true(math.abs(value - 14) < 1e-12)
    assert.are.equal(points, info.evaluations)
    assert.are.equal(1, calls)
    assert.are.equal(10, info.intervals)
  end)

  it("has rules that are exact for polynomials of their degrees", function()
    local function integral(weights, center, power)
      local sum = power == 0 and center or 0
      for j = 1, 10 do sum = sum + weights[j] * rules.points[j] ^ power * 2 end
      return sum
    end
    for power = 0, 30, 2 do
      assert.is_true(math.abs(integral(rules.kronrod, rules.kronrod_center, power) * (power + 1) / 2 - 1) < 2e-15, power)
      if power < 20 then assert.is_true(math.abs(integral(rules.gauss, 0, power) * (power + 1) / 2 - 1) < 2e-15, power) end
    end
    assert.is_true(math.abs(integral(rules.kronrod, rules.kronrod_center, 32) * 33 / 2 - 1) > 1e-13)
    assert.is_true(math.abs(integral(rules.gauss, 0, 20) * 21 / 2 - 1) > 1e-8)
  end)

  it("refuses what it does not take", function()
    local function f(x) return x end
    local function refuses(text, ...) fails(text, quad, ...) end
    refuses("expected a function of an array of points", 3, 0, 1)
    refuses("a: a number, or an array of real numbers", f, "0", 1)
    refuses("b: a number; {each = true} takes arrays", f, 0, gpu.ones(2))
    refuses("a: a number that is not NaN", f, 0 / 0, 1)
    refuses("a function that gives real numbers (10,21) for points of this shape", function() return gpu.ones(3) end, 0, 1)
    refuses("a function that gives real numbers (10,21)", function(x) return x:astype "complex128" end, 0, 1)
    refuses("expected epsabs above 0, or epsrel of 1.11e-14 or more, 50 roundings, got 0 and 1e-15", f, 0, 1, { epsabs = 0, epsrel = 1e-15 })
    refuses("epsrel = a number of 0 or more", f, 0, 1, { epsrel = -1 })
    refuses("limit = an integer from 1 to 4096", f, 0, 1, { limit = 0 })
    refuses("limit = an integer from 2 to 1024", f, 0, 1, { limit = 2000, each = true })
    refuses('did you mean "epsrel"', f, 0, 1, { epsrell = 1 })
    refuses("expected a function with 2 parameters", f, 0, 1, { each = true, args = { 1 } })
    refuses("could not be broadcast", function(x, a) return a * x end, gpu.ones(2), 1, { each = true, args = { gpu.ones(3) } })
    fails("integrate_quad_spec.lua", quad, function(x) return x .. "a" end, 0, 1, { each = true })
  end)
end)

describe("derivatives", function()
  it("of quad are refused", function()
    fails("[integrate.quad] an integral to a tolerance has no derivative; gpu.integrate.fixed_quad has one",
      gpu.grad(function(k) return quad(function(x) return k * x end, 0, 1) end), gpu.ones(1))
    fails("[integrate.quad] each = true has no derivative",
      gpu.grad(function(k) return quad(function(x, a) return a * x end, 0, 1, { each = true, args = { k } }):sum() end), gpu.ones(2))
  end)
end)

describe("fixed_quad", function()
  it("is exact for polynomials of degree 2 n - 1, and for no more", function()
    for _, n in ipairs { 1, 2, 3, 5, 8, 20, 101 } do
      local function error_of(power) return fixed_quad(function(x) return x ^ power end, 0, 1, { n = n }):item() * (power + 1) - 1 end
      assert.is_true(math.abs(error_of(2 * n - 1)) < 1e-15 * (2 * n + 4), n)
      if n <= 8 then assert.is_true(math.abs(error_of(2 * n)) > 1e-11, n) end
    end
    local weights = select(2, rules.gauss_legendre(1000))
    local sum = 0
    for _, w in ipairs(weights) do sum = sum + w end
    assert.is_true(math.abs(sum - 2) < 1e-13)
  end)

  it("takes arrays as ends, and arguments", function()
    local a, b = gpu.array({ 0, 1, 2 }, "float64"), gpu.array({ { 1 }, { 4 } }, "float64")
    local y = fixed_quad(function(x, k) return (k * x):exp() end, a, b, { n = 12, args = { 0.5 } })
    assert.are.same({ 2, 3 }, { y.shape[1], y.shape[2] })
    assert.is_true(greatest(y - 2 * ((0.5 * b):exp() - (0.5 * a):exp())) < 1e-12)
    assert.are.equal("float32", fixed_quad(gpu.exp, gpu.zeros(3), 1).dtype)
    assert.are.equal("float64", fixed_quad(gpu.exp, 0, 1).dtype)
  end)

  it("has derivatives by its ends and by what f reads", function()
    local k = gpu.array({ 0.5, 2 }, "float64")
    local b = gpu.array({ 1, 3 }, "float64")
    local function area(rate, to) return fixed_quad(function(x) return (-rate:expand_dims(-1) * x):exp() end, 0, to, { n = 24 }):sum() end
    local dk, db = gpu.grad(area, { 1, 2 })(k, b)
    local decay = (-k * b):exp()
    assert.is_true(greatest(db - decay) < 1e-12)
    assert.is_true(greatest(dk - (b * decay / k - (1 - decay) / (k * k))) < 1e-12)
    assert.is_true(gpu.check_grad(function(to) return area(k, to) end, b, { order = 2 }) < 1e-6)
  end)

  it("refuses what it does not take", function()
    fails("expected a function of an array of points", fixed_quad, nil, 0, 1)
    fails("b: a finite number", fixed_quad, gpu.exp, 0, huge)
    fails("n = an integer from 1 to 10000", fixed_quad, gpu.exp, 0, 1, { n = 0 })
    fails("a function that gives 5 numbers along its last axis", fixed_quad, function() return gpu.ones(3) end, 0, 1)
  end)
end)
