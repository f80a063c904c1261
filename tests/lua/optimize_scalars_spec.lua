-- gpu.optimize: roots and least values of functions of one number, beside closed forms.
local gpu = require "gpu"
local support = require "support"

local fails, near = support.fails, support.near
local optimize = gpu.optimize

local roots = {
  -- {f, f', a, b, the root}
  {function(x) return x ^ 3 - 2 end, function(x) return 3 * x * x end, 0, 2, 2 ^ (1 / 3)},
  {function(x) return math.cos(x) - x end, function(x) return -math.sin(x) - 1 end, 0, 1, 0.73908513321516064166},
  {function(x) return math.exp(x) - 1e3 end, math.exp, 0, 30, math.log(1e3)},
  {function(x) return x - 1e-9 end, function() return 1 end, -1, 1, 1e-9},
  {function(x) return 1 / x - 0.25 end, function(x) return -1 / x ^ 2 end, 0.5, 60, 4},
}

describe("gpu.optimize.root_scalar", function()
  it("finds roots in brackets", function()
    for _, case in ipairs(roots) do
      local x, info = optimize.root_scalar(case[1], {bracket = {case[3], case[4]}})
      near(case[5], x, 4e-12)
      assert(info.converged and info.reason == "converged" and info.evaluations <= info.iterations + 2)
      assert.equal(math.abs(case[1](x)), info.residual)
    end
  end)

  it("needs few steps where a function is smooth, and some bisections where it is not", function()
    local _, smooth = optimize.root_scalar(function(x) return math.cos(x) - x end, {bracket = {0, 1}})
    assert(smooth.evaluations <= 9)
    local _, flat = optimize.root_scalar(function(x) return (x - 0.3) ^ 9 end, {bracket = {-1, 4}, xtol = 1e-6})
    assert(flat.converged and flat.evaluations < 70)
    local jump, info = optimize.root_scalar(function(x) return x < 1 / 3 and -1 or 1 end, {bracket = {0, 1}})
    assert(info.converged and info.evaluations < 50)
    near(1 / 3, jump, 2e-12)
  end)

  it("finds them by Newton's method and by secants", function()
    for i, case in ipairs(roots) do
      local x0 = i == 3 and 8 or i == 5 and 3 or 0.9
      local x, info = optimize.root_scalar(case[1], {x0 = x0, derivative = case[2]})
      near(case[5], x, 1e-12)
      assert(info.converged and info.iterations <= 10)
      x, info = optimize.root_scalar(case[1], {x0 = x0})
      near(case[5], x, 1e-12)
      assert(info.converged and info.iterations <= 12)
    end
    assert.equal(2, (optimize.root_scalar(function(x) return x - 2 end, {x0 = 0, x1 = 2, method = "secant"})))
  end)

  it("takes arrays of one element", function()
    local a = gpu.array({2}, "float64")
    near(math.sqrt(2), (optimize.root_scalar(function(x) return x * x - a end, {bracket = {0, 2}})), 1e-12)
    near(3, (optimize.root_scalar(function(x) return gpu.full({}, 3 - x, "float64") end, {bracket = {0, 7}})), 1e-12)
  end)

  it("ends with a reason", function()
    local function reason(f, options)
      local ok, message = pcall(optimize.root_scalar, f, options)
      assert(not ok)
      return message:match '%[optimize.root_scalar%] expected a search that finds a root, got reason "([^"]*)" after %d+ iterations; f%('
    end
    local nan = 0 / 0
    assert.equal("not finite", reason(function(x) return x == 1 and nan or x - 0.7 end, {bracket = {0, 1}}))
    assert.equal("not finite", reason(function(x) return x > 0 and x < 1 and nan or x - 0.7 end, {bracket = {0, 1}}))
    assert.equal("not finite", reason(function() return nan end, {x0 = 1}))
    assert.equal("not finite", reason(function(x) return x == 1 and 1 or math.huge end, {x0 = 1, derivative = function() return 1 end}))
    assert.equal("zero slope", reason(function() return 1 end, {x0 = 1, derivative = function() return 0 end}))
    assert.equal("zero slope", reason(function() return 1 end, {x0 = 1}))
    assert.equal("maxiter", reason(function(x) return x ^ 3 - 2 end, {bracket = {0, 2}, maxiter = 2}))
    assert.equal("maxiter", reason(function(x) return x * x + 1 end, {x0 = 0.3, derivative = function(x) return 2 * x end}))
    -- A volatility at which no price is so high: the steps go far away.
    fails("; bracket = {a, b}, at whose ends f has different signs, keeps the search between", optimize.root_scalar,
      function(v) return math.exp(-v * v) + 0.5 end, {x0 = 0.2})
    fails("f(0.5) = -1.875; f has to be finite in the bracket, and maxiter large enough", optimize.root_scalar,
      function(x) return x ^ 3 - 2 end, {bracket = {0, 2}, maxiter = 1})
  end)

  it("refuses what it does not understand", function()
    local root = optimize.root_scalar
    local function f(x) return x * x + 1 end
    fails("[optimize.root_scalar] expected a bracket at whose ends f has different signs, got f(0) = 1 and f(2) = 5", root, f,
      {bracket = {0, 2}})
    fails("bracket = {a, b} with a < b, got a = 2 and b = 1", root, f, {bracket = {2, 1}})
    fails("bracket = {a, b}", root, f, {bracket = 3})
    fails("expected bracket = {a, b} or x0 = a number, got neither", root, f)
    fails('options of method = "brentq": bracket, got x0', root, f, {bracket = {0, 1}, x0 = 1})
    fails('method = "brentq", "newton", "secant", got "halley"', root, f, {x0 = 1, method = "halley"})
    fails('derivative = a function, for method = "newton"', root, f, {x0 = 1, method = "newton"})
    fails("a function's value: one real number; each = true solves for each element, got", root, function() return gpu.ones(2) end, {x0 = 1})
    fails("a function's value: one real number", root, function() end, {x0 = 1})
    fails('got "tol"', root, f, {x0 = 1, tol = 1})
    fails("xtol = a number of 0 or more, got -1", root, f, {x0 = 1, xtol = -1})
  end)
end)

describe("gpu.optimize.minimize_scalar", function()
  local minimize = optimize.minimize_scalar

  it("finds minima between bounds", function()
    local cases = {
      {function(x) return (x - 2) ^ 2 end, {0, 10}, 2},
      {function(x) return -math.sin(x) end, {0, math.pi}, math.pi / 2},
      {function(x) return x ^ 4 - 3 * x end, {-2, 3}, (3 / 4) ^ (1 / 3)},
      {function(x) return math.abs(x - 0.2) end, {-1, 1}, 0.2},
      {function(x) return gpu.array {x} end, {1, 5}, 1},
    }
    for _, case in ipairs(cases) do
      local x, info = minimize(case[1], {bounds = case[2]})
      near(case[3], x, 1e-7)
      assert(info.converged and info.evaluations == info.iterations + 1)
      near(gpu.array(case[1](x), "float64"):reshape(1)[1], info.value, 1e-12)
      assert(x > case[2][1] and x < case[2][2])
    end
    -- scipy.optimize.minimize_scalar(lambda x: (x - 2) ** 2, bounds=(0, 10), method="bounded").nfev is 6 for a parabola
    assert(select(2, minimize(cases[1][1], {bounds = {0, 10}})).evaluations <= 8)
  end)

  it("ends with a reason, and refuses what it does not understand", function()
    local _, info = minimize(function(x) return x > 3 and 0 / 0 or -x end, {bounds = {0, 10}})
    assert(not info.converged and info.reason == "not finite")
    assert.equal("maxiter", select(2, minimize(math.sin, {bounds = {3, 6}, maxiter = 3})).reason)
    fails("[optimize.minimize_scalar] expected bounds = {a, b}", minimize, math.sin, {})
    fails("bounds = {a, b} with a < b", minimize, math.sin, {bounds = {1, 1}})
    fails("bounds = {a, b} of finite numbers", minimize, math.sin, {bounds = {0, math.huge}})
  end)
end)
