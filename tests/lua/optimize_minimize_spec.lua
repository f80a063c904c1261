-- gpu.optimize.minimize, beside closed forms and SciPy 1.17.
local gpu = require "gpu"
local support = require "support"

local fails, near = support.fails, support.near
local minimize = gpu.optimize.minimize

--- Rosenbrock's function and its gradient.
local function rosen(x)
  local a, b = x({1, -2}), x({2, -1})
  return (100 * (b - a * a):square() + (1 - a):square()):sum()
end
local function rosen_gradient(x)
  local a, b, zero = x({1, -2}), x({2, -1}), gpu.zeros(1, x.dtype)
  local r = b - a * a
  return gpu.concat {-400 * a * r - 2 * (1 - a), zero} + gpu.concat {zero, 200 * r}
end

local function himmelblau(x)
  local a, b = x[1], x[2] -- numbers
  return (a * a + b - 11) ^ 2 + (a + b * b - 7) ^ 2
end
local function himmelblau_gradient(x)
  local a, b = x[1], x[2]
  local u, v = a * a + b - 11, a + b * b - 7
  return gpu.array({4 * a * u + 2 * v, 2 * u + 4 * b * v}, x.dtype)
end

local function start(n) return gpu.full({n}, -1.2, "float64") end

describe("gpu.optimize.minimize", function()
  it("finds the minimum of Rosenbrock's function", function()
    local x0 = gpu.array({-1.2, 1}, "float64")
    -- scipy.optimize.minimize(rosen, [-1.2, 1], jac=rosen_der, method=...).nit is 32, 36 and 86.
    for method, most in pairs {BFGS = 45, ["L-BFGS-B"] = 45, ["Newton-CG"] = 90} do
      local x, info = minimize(rosen, x0, {method = method, gradient = rosen_gradient})
      near({1, 1}, x:table(), 1e-5)
      assert(info.converged and info.reason == "converged" and info.iterations < most, method)
      assert(info.residual <= 1e-5 and info.value < 1e-10 and info.evaluations > info.iterations)
      near({-1.2, 1}, x0:table(), 0)
    end
    -- scipy.optimize.minimize(rosen, x0, jac=rosen_der).fun of 100 variables, x0 = -1.2 but for x0[1] = 1: a local minimum
    local many = start(100)
    many[2] = 1
    for _, method in ipairs {"BFGS", "L-BFGS-B", "Newton-CG"} do
      local _, info = minimize(rosen, many, {method = method, gradient = rosen_gradient})
      assert(info.converged, method)
      near(3.9866238543010515, info.value, 1e-8)
    end
  end)

  it("works in float32, and says where its precision ends the search", function()
    for _, method in ipairs {"BFGS", "L-BFGS-B", "Newton-CG"} do
      local x = minimize(rosen, gpu.array {-1.2, 1}, {method = method, gradient = rosen_gradient})
      near({1, 1}, x:table(), 1e-3)
      assert.equal("float32", x.dtype)
      local _, info = minimize(rosen, gpu.array {-1.2, 1, -1, 3}, {method = method, gradient = rosen_gradient, tol = 0, maxiter = 500})
      assert(info.reason == "stagnation" or info.reason == "line search" or info.reason == "converged", info.reason)
    end
    local half = minimize(function(x) return (x - 3):square():sum() end, gpu.zeros(3, "float16"), {gradient = function(x) return 2 * (x - 3) end})
    assert(half.dtype == "float16" and half:eq(3):all():item())
  end)

  it("solves quadratic problems", function()
    local n = 30
    local i = gpu.range(1, n, "float64")
    local A = gpu.diag(i) + 0.5 / (i:reshape(n, 1) + i)
    local b = i:cos():eval()
    local expected = gpu.linalg.solve(A, b)
    local function f(x) return 0.5 * (x * A:matmul(x)):sum() - (b * x):sum() end
    for _, method in ipairs {"BFGS", "L-BFGS-B", "Newton-CG"} do
      local x, info = minimize(f, gpu.zeros(n, "float64"), {method = method, tol = 1e-6, gradient = function(x) return A:matmul(x) - b end})
      assert(info.converged)
      near(expected:table(), x:table(), 1e-5)
    end
  end)

  it("takes tables of arrays", function()
    local function f(p) return (p.a - 1):square():sum() + (p.layers[1].b * 2 + p.n):square():sum() end
    local function gradient(p) return {a = 2 * (p.a - 1), layers = {{b = 4 * (p.layers[1].b * 2 + p.n)}}} end
    local p0 = {a = gpu.zeros(2, 3, "float64"), layers = {{b = gpu.ones(4)}}, n = 3}
    for _, method in ipairs {"BFGS", "L-BFGS-B"} do
      local p, info = minimize(f, p0, {method = method, gradient = gradient})
      assert(info.converged and p.n == 3 and p.layers[1].b.dtype == "float32" and p.a.shape == gpu.zeros(2, 3).shape)
      near({{1, 1, 1}, {1, 1, 1}}, p.a:table(), 1e-5)
      near({-1.5, -1.5, -1.5, -1.5}, p.layers[1].b:table(), 1e-5)
    end
  end)

  it("keeps to bounds", function()
    -- scipy.optimize.minimize(rosen, x0, jac=rosen_der, method="L-BFGS-B", bounds=..., options=dict(gtol=1e-10, ftol=1e-15))
    local x, info = minimize(rosen, start(8), {bounds = {-2, 0.8}, gradient = rosen_gradient, tol = 1e-8})
    assert(info.converged and x:le(0.8):all():item() and info.evaluations < 60)
    near(4.02122625168208, info.value, 1e-12)
    near({0.8, 0.665886052, 0.46033274, 0.224431773, 0.0609961448, 0.0138562962, 0.010091086, 0.000101830012}, x:table(), 1e-7)
    local low = gpu.array({-2, 0, 0, 0, 0.3, 0, 0, 0}, "float64")
    x, info = minimize(rosen, start(8), {bounds = {low, gpu.full({8}, 0.5)}, gradient = rosen_gradient, tol = 1e-8})
    assert(info.converged)
    near(13.885227074397797, info.value, 1e-12)
    assert(x[1] == 0.5 and x[5] == 0.3)
    x, info = minimize(rosen, gpu.full({25}, 3, "float64"), {bounds = {1, math.huge}, gradient = rosen_gradient})
    assert(info.converged and info.iterations < 110) -- SciPy: 76
    near(1, x:max():item(), 1e-4)
  end)

  it("needs no gradient for Nelder and Mead's method", function()
    for from, to in pairs {[{1, 1}] = {3, 2}, [{-1, 2}] = {-2.805118, 3.131312}, [{-3, -3}] = {-3.77931, -3.283186}} do
      local x, info = minimize(himmelblau, gpu.array(from, "float64"), {method = "Nelder-Mead"})
      near(to, x:table(), 1e-4)
      assert(info.converged)
      x = minimize(himmelblau, gpu.array(from, "float64"), {gradient = himmelblau_gradient})
      near(to, x:table(), 1e-5)
    end
    -- scipy.optimize.minimize(rosen, [-1.2, 1], method="Nelder-Mead"): nit 85, counted from 1, nfev 159, x [1.00002202, 1.00004222]
    local x, info = minimize(rosen, gpu.array({-1.2, 1}, "float64"), {method = "Nelder-Mead"})
    near({1.00002202, 1.00004222}, x:table(), 1e-8)
    assert(info.iterations == 84 and info.evaluations == 159)
    x = minimize(rosen, gpu.array({-1.2, 1}, "float64"), {method = "Nelder-Mead", bounds = {-2, 0.5}})
    near({0.5, 0.25}, x:table(), 1e-4)
    local _, adaptive = minimize(rosen, gpu.full({6}, 0.5, "float64"), {method = "Nelder-Mead", adaptive = true, maxiter = 5000})
    assert(adaptive.converged and adaptive.value < 1e-6)
  end)

  it("ends with a reason", function()
    local function reason(f, gradient, options)
      options.gradient = gradient
      return select(2, minimize(f, gpu.array({-1.2, 1}, "float64"), options)).reason
    end
    local nan = 0 / 0
    for _, method in ipairs {"BFGS", "L-BFGS-B", "Newton-CG"} do
      assert.equal("not finite", reason(function() return nan end, rosen_gradient, {method = method}))
      assert.equal("not finite", reason(rosen, function(x) return x * nan end, {method = method}))
      assert.equal("maxiter", reason(rosen, rosen_gradient, {method = method, maxiter = 3}))
      -- Without end downwards: each step is longer, until the value is not finite.
      assert(reason(function(x) return x:sum() end, gpu.ones_like, {method = method}) ~= "converged")
      -- The wrong gradient: no step along it helps.
      assert.equal("line search", reason(rosen, function(x) return -rosen_gradient(x) end, {method = method}))
      assert.equal("callback", reason(rosen, rosen_gradient, {method = method, callback = function() return true end}))
      -- A pole at 0.5, beyond which there are no values: the search stays on its side.
      local x, info = minimize(function(x) return (x - (0.5 - x):log()):sum() end, gpu.array({-3}, "float64"),
        {method = method, gradient = function(x) return 1 + 1 / (0.5 - x) end, maxiter = 50})
      assert(not info.converged and x[1] < 0.5)
    end
    assert.equal("not finite", reason(function() return nan end, nil, {method = "Nelder-Mead"}))
    assert.equal("not finite", reason(function(x) return x[1] < -1.2 and math.huge or 1 end, nil, {method = "Nelder-Mead"}))
    assert.equal("maxiter", reason(rosen, nil, {method = "Nelder-Mead", maxiter = 3}))
    local seen = {}
    minimize(rosen, start(2), {gradient = rosen_gradient, maxiter = 5, callback = function(x, value) seen[#seen + 1] = {rosen(x):item(), value} end})
    assert.equal(5, #seen)
    for _, pair in ipairs(seen) do near(pair[1], pair[2], 1e-14) end
  end)

  it("refuses what it does not understand", function()
    local x = gpu.zeros(3)
    local function f(y) return y:square():sum() end
    local function g(y) return 2 * y end
    fails('[optimize.minimize] expected method = "BFGS", "L-BFGS-B", "Newton-CG", "Nelder-Mead", got "CG"', minimize, f, x, {method = "CG"})
    fails('bounds with method = "L-BFGS-B" or "Nelder-Mead", got "BFGS"', minimize, f, x, {method = "BFGS", bounds = {0, 1}})
    fails("bounds = {low, high} with low <= high", minimize, f, x, {bounds = {1, 0}, gradient = g})
    -- SciPy's pairs, one for each variable.
    local form = ": bounds = {low = {low1, low2}, high = {high1, high2}}, got "
    local two = gpu.zeros(2)
    fails("with low <= high" .. form .. "low > high", minimize, f, two, {bounds = {low = {0, 3}, high = {-1, 5}}, gradient = g})
    fails("that leave x0 free" .. form .. "low = high", minimize, f, two, {bounds = {low = {-1, 3}, high = {-1, 3}}, gradient = g})
    for _, bounds in ipairs {{{0, 1}, {0.1, 1}}, {{1, -1}, {1, 2}}} do
      fails("arrays or lists" .. form .. "two lists of two, which may be pairs of low and high", minimize, f, two, {bounds = bounds, gradient = g})
    end
    fails("expected the fields low and high in bounds, got \"lower\"", minimize, f, two, {bounds = {lower = 0, high = 1}, gradient = g})
    fails("numbers, arrays or lists" .. form .. "a list of 3", minimize, f, x, {bounds = {{-1, 3}, {-1, 3}, {-1, 3}}, gradient = g})
    fails("numbers, arrays or lists" .. form .. "2 numbers as the low bound for x0 of shape (3,)", minimize, f, x, {bounds = {{-1, 3}, {-1, 3}}, gradient = g})
    fails("numbers, arrays or lists" .. form .. "a list of 1", minimize, f, gpu.zeros(1), {bounds = {{-1, 3}}, gradient = g})
    assert.are.same({1, 0}, minimize(f, two, {bounds = {low = {1, -1}, high = {1, 2}}, gradient = g}):table())
    assert.are.same({1, 0}, minimize(f, two, {bounds = {low = {1, -1}}, gradient = g}):table())
    assert.are.same({0, -1}, minimize(f, two, {bounds = {high = {2, -1}}, gradient = g}):table())
    fails("bounds = {low, high}, numbers, arrays or lists", minimize, f, x, {bounds = {1}, gradient = g})
    fails("bounds = {low, high}, numbers for tables, got an array float32[3]", minimize, f, {x}, {bounds = {x, 1}, gradient = g})
    fails("x0: a floating array, or tables with such arrays", minimize, f, gpu.arange(3), {gradient = g})
    fails("real numbers as x0.z", minimize, f, {z = gpu.zeros(2, "complex64")}, {gradient = g})
    fails("a function that gives one real number, got an array float32[3]", minimize, function(y) return y end, x, {gradient = g})
    fails("[optimize.minimize] expected the gradient of x0, real numbers (3,)", minimize, f, x, {gradient = function() return gpu.zeros(2) end})
    fails("the gradient of x0.a", minimize, function(p) return f(p.a) end, {a = x}, {gradient = function() return {} end})
    fails('no gradient with method = "Nelder-Mead"', minimize, f, x, {method = "Nelder-Mead", gradient = g})
    fails('got "BFGS"', minimize, f, x, {adaptive = true, gradient = g})
    fails('got "jac"', minimize, f, x, {jac = g})
    fails('at most 4096 elements for method = "BFGS"', minimize, f, gpu.zeros(5000), {method = "BFGS", gradient = g})
  end)
end)
