-- gpu.optimize.least_squares and curve_fit, beside NIST's certified values (Statistical Reference Datasets, nonlinear regression) and
-- SciPy 1.17.
local gpu = require "gpu"
local support = require "support"

local fails, near = support.fails, support.near
local least_squares, curve_fit = gpu.optimize.least_squares, gpu.optimize.curve_fit

local function vector(t) return gpu.array(t, "float64") end

local misra = {
  x = vector {77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0},
  y = vector {10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78},
  f = function(x, a, b) return a * (1 - (-b * x):exp()) end,
  jacobian = function(x, a, b)
    local e = (-b * x):exp()
    return gpu.stack({1 - e, a * x * e}, 2)
  end,
  starts = {{500, 0.0001}, {250, 0.0005}},
  parameters = {2.3894212918E+02, 5.5015643181E-04},
  deviations = {2.7070075241E+00, 7.2668688436E-06},
  squares = 1.2455138894E-01,
}

local function thurber_parts(x, b)
  local top = b[1] + x * (b[2] + x * (b[3] + x * b[4]))
  return top, 1 + x * (b[5] + x * (b[6] + x * b[7]))
end

local thurber = {
  x = vector {-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481, -2.363, -2.322, -1.501, -1.460, -1.274,
    -1.212, -1.100, -1.046, -0.915, -0.714, -0.566, -0.545, -0.400, -0.309, -0.109, -0.103, 0.010, 0.119, 0.377, 0.790, 0.963, 1.006,
    1.115, 1.572, 1.841, 2.047, 2.200},
  y = vector {80.574, 84.248, 87.264, 87.195, 89.076, 89.608, 89.868, 90.101, 92.405, 95.854, 100.696, 101.060, 401.672, 390.724,
    567.534, 635.316, 733.054, 759.087, 894.206, 990.785, 1090.109, 1080.914, 1122.643, 1178.351, 1260.531, 1273.514, 1288.339,
    1327.543, 1353.863, 1414.509, 1425.208, 1421.384, 1442.962, 1464.350, 1468.705, 1447.894, 1457.628},
  f = function(x, ...)
    local top, bottom = thurber_parts(x, {...})
    return top / bottom
  end,
  jacobian = function(x, ...)
    local top, bottom = thurber_parts(x, {...})
    local u, v = 1 / bottom, -top / bottom:square()
    return gpu.stack({u, u * x, u * x ^ 2, u * x ^ 3, v * x, v * x ^ 2, v * x ^ 3}, 2)
  end,
  starts = {{1000, 1000, 400, 40, 0.7, 0.3, 0.03}, {1300, 1500, 500, 75, 1, 0.4, 0.05}},
  parameters = {1.2881396800E+03, 1.4910792535E+03, 5.8323836877E+02, 7.5416644291E+01, 9.6629502864E-01, 3.9797285797E-01,
    4.9727297349E-02},
  deviations = {4.6647963344E+00, 3.9571156086E+01, 2.8698696102E+01, 5.5675370270E+00, 3.1333340687E-02, 1.4984928198E-02,
    6.5842344623E-03},
  squares = 5.6427082397E+03,
}

--- Each number agrees with the expected one in `digits` digits.
local function agrees(expected, got, digits)
  for i, value in ipairs(expected) do
    if not (math.abs(got[i] / value - 1) < 10 ^ -digits) then
      error(("%d: expected %.11g, got %.11g"):format(i, value, got[i]), 2)
    end
  end
end

--- Rosenbrock's residuals.
local function rosen(x) return gpu.concat {10 * (x({2, 2}) - x({1, 1}):square()), 1 - x({1, 1})} end
local function rosen_jacobian(x) return vector {{-20 * x[1], 10}, {-1, 0}} end

describe("gpu.optimize.curve_fit", function()
  it("finds NIST's certified values", function()
    for name, case in pairs {misra = misra, thurber = thurber} do
      for _, p0 in ipairs(case.starts) do
        local p, covariance, info = curve_fit(case.f, case.x, case.y, p0, {jacobian = case.jacobian, xtol = 1e-11, ftol = 0, gtol = 0})
        assert(info.converged, name .. ": " .. info.reason)
        agrees(case.parameters, p, 7)
        agrees(case.deviations, gpu.diagonal(covariance):sqrt(), 6)
        agrees({case.squares}, {2 * info.value}, 9)
        near(math.sqrt(2 * info.value), info.residual, 1e-12)
      end
    end
  end)

  it("weighs by sigma", function()
    local x = gpu.range(1, 6, "float64")
    local y = vector {2.1, 3.9, 6.2, 7.8, 10.1, 12.2}
    local sigma = vector {0.1, 0.2, 0.1, 0.3, 0.2, 0.1}
    local function line(t, a, b) return a * t + b end
    local options = {sigma = sigma, absolute_sigma = true, jacobian = function(t) return gpu.stack({t, gpu.ones_like(t)}, 2) end}
    local p, covariance = curve_fit(line, x, y, {1, 1}, options)
    -- The normal equations of a weighted line.
    local A = gpu.stack({x, gpu.ones_like(x)}, 2) / sigma:reshape(6, 1)
    local inverse = gpu.linalg.inv(A.T:matmul(A))
    near(inverse:matmul(A.T:matmul(y / sigma)):table(), p:table(), 1e-10)
    near(inverse:table(), covariance:table(), 1e-12)
    options.absolute_sigma = nil
    local q, scaled, info = curve_fit(line, x, y, {1, 1}, options)
    near(p:table(), q:table(), 1e-12)
    near((inverse * (2 * info.value / 4)):table(), scaled:table(), 1e-12)
  end)

  it("keeps to bounds", function()
    -- scipy.optimize.minimize_scalar of the sum of squares for the other one, at 200
    local p, _, info = curve_fit(misra.f, misra.x, misra.y, {100, 1e-3}, {jacobian = misra.jacobian, bounds = {0, vector {200, 1}}})
    assert(info.converged and p[1] == 200)
    agrees({0.00067905938065}, {p[2]}, 6)
  end)

  it("gives infinities where the parameters are not determined", function()
    local x = gpu.range(1, 4, "float64")
    local _, covariance = curve_fit(function(t, a, b) return (a + b) * t end, x, 3 * x, {1, 1},
      {jacobian = function(t) return gpu.stack({t, t}, 2) end})
    assert(covariance:isinf():all():item())
  end)

  it("refuses what it does not understand", function()
    local x = gpu.range(1, 4, "float64")
    local function f(t, a) return a * t end
    local function J(t) return t:reshape(4, 1) end
    fails("[optimize.curve_fit] expected sigma = a number above 0 or an array (4,), as y", curve_fit, f, x, x, {1}, {sigma = gpu.ones(3), jacobian = J})
    fails("f(x, ...) of the shape (4,), as y", curve_fit, function(_, a) return gpu.ones(3) * a end, x, x, {1}, {jacobian = J})
    fails("p0: an array or a list of numbers", curve_fit, f, x, x, 1, {jacobian = J})
    fails("a Jacobian of 4 values by 1 parameters", curve_fit, f, x, x, {1}, {jacobian = function() return gpu.ones(3) end})
    fails('bounds with method = "trf", got "lm"', curve_fit, f, x, x, {1}, {method = "lm", bounds = {0, 1}, jacobian = J})
  end)
end)

describe("gpu.optimize.least_squares", function()
  it("finds least squares of residuals", function()
    local x, info = least_squares(rosen, vector {-1.2, 1}, {jacobian = rosen_jacobian})
    near({1, 1}, x:table(), 1e-8)
    assert(info.converged and info.value < 1e-16 and info.iterations < 40)
    -- Powell's singular function, whose Jacobian has rank 2 at the minimum
    local function powell(y)
      local a, b, c, d = y[1], y[2], y[3], y[4]
      return vector {a + 10 * b, math.sqrt(5) * (c - d), (b - 2 * c) ^ 2, math.sqrt(10) * (a - d) ^ 2}
    end
    local function jacobian(y)
      local a, b, c, d = y[1], y[2], y[3], y[4]
      local s, t, u = math.sqrt(5), 2 * (b - 2 * c), 2 * math.sqrt(10) * (a - d)
      return vector {{1, 10, 0, 0}, {0, 0, s, -s}, {0, t, -2 * t, 0}, {u, 0, 0, -u}}
    end
    local y, report = least_squares(powell, vector {3, -1, 0, 1}, {jacobian = jacobian})
    assert(report.value < 1e-9 and y:abs():max():item() < 0.02)
  end)

  it("solves linear problems as lstsq does, also with more parameters than residuals", function()
    for _, shape in ipairs {{50, 7}, {4, 9}} do
      local A = gpu.random.generator("philox", {seed = 5}):normal(shape, 0, 1, "float64"):eval()
      local b = gpu.range(1, shape[1], "float64"):cos():eval()
      local x, info = least_squares(function(v) return A:matmul(v) - b end, gpu.zeros(shape[2], "float64"), {jacobian = function() return A end})
      assert(info.converged)
      if shape[1] > shape[2] then
        near((gpu.linalg.lstsq(A, b)):table(), x:table(), 1e-6)
      else
        near(0, info.residual, 1e-6)
      end
    end
  end)

  it("keeps to bounds", function()
    -- scipy.optimize.least_squares(rosen, [-2, 0.5], jac, bounds=(-inf, [0.5, 1])): x [0.5, 0.25], cost 0.125
    local x, info = least_squares(rosen, vector {-2, 0.5}, {jacobian = rosen_jacobian, bounds = {-math.huge, {0.5, 1}}})
    near({0.5, 0.25}, x:table(), 1e-7)
    near(0.125, info.value, 1e-12)
    assert(info.converged)
  end)

  it("never ends above its start, whatever steps the bounds cut", function()
    -- An arm of three links of 0.3 cannot reach 2: stretched out it misses by 1.1, 0.605 in half squares.
    local function arm(q)
      local reach, height, angle = 0, 0, 0
      for k = 1, 3 do
        angle = angle + q[{k}]
        reach, height = reach + 0.3 * gpu.cos(angle), height + 0.3 * gpu.sin(angle)
      end
      return gpu.stack {reach - 2, height, angle}
    end
    for _, limit in ipairs {math.pi, 1, 0.3} do
      local q, info = least_squares(arm, vector {0.1, -0.1, 0.1}, {bounds = {low = -limit, high = limit}})
      assert(info.converged)
      near(0.605, info.value, 1e-8)
      near({0, 0, 0}, q:table(), 1e-3)
    end
    local random = gpu.random.generator("philox", {seed = 8})
    for i = 1, 40 do
      local n, m = 1 + i % 4, 1 + i % 6
      local A, B, c = random:normal({m, n}, 0, 1, "float64"), random:normal({m, n}, 0, 0.3, "float64"), random:normal(m, 0, 3, "float64")
      local function f(v) return A:matmul(gpu.sin(v * 1.5)) + B:matmul(v) - c end
      local low = random:uniform(n, -2, 0, "float64")
      local high = low + random:uniform(n, 0, 3, "float64")
      local start = low + (high - low) * random:uniform(n, 0, 1, "float64")
      local v, info = least_squares(f, start, {bounds = {low = low, high = high}})
      assert(info.value <= 0.5 * f(start):square():sum():item() * (1 + 1e-12), "problem " .. i)
      assert(gpu.all(v:ge(low):logical_and(v:le(high))):item())
      -- The gradient that is left points out of the bounds.
      local slope = gpu.grad(function(u) return 0.5 * f(u):square():sum() end)(v)
      local held = v:le(low):logical_and(slope:gt(0)):logical_or(v:ge(high):logical_and(slope:lt(0)))
      assert(gpu.where(held, 0, slope):abs():max():item() < 0.02 * (1 + info.value), "problem " .. i)
    end
  end)

  it("takes float32, and residuals of any shape", function()
    local x, info = least_squares(function(v) return (v - 2):reshape(2, 2) end, gpu.zeros(4), {jacobian = function() return gpu.eye(4):reshape(2, 2, 4) end})
    assert(info.converged and x.dtype == "float32")
    near({2, 2, 2, 2}, x:table(), 1e-5)
  end)

  it("ends with a reason", function()
    local function reason(f, jacobian, options)
      options.jacobian = jacobian
      return select(2, least_squares(f, vector {-1.2, 1}, options)).reason
    end
    assert.equal("maxiter", reason(rosen, rosen_jacobian, {maxiter = 2}))
    assert.equal("callback", reason(rosen, rosen_jacobian, {callback = function() return true end}))
    assert.equal("not finite", reason(function(x) return x / 0 end, rosen_jacobian, {}))
    assert.equal("not finite", reason(rosen, function(x) return rosen_jacobian(x) * (0 / 0) end, {}))
    -- Wrong by its sign: no step helps.
    assert.equal("stagnation", reason(rosen, function(x) return -rosen_jacobian(x) end, {}))
    -- A fit that is none is no result.
    fails('[optimize.curve_fit] expected a search that finds the parameters, got reason "maxiter" after 2 iterations; the sum of squares is ',
      curve_fit, function(x, a) return (a * x):exp() end, vector {1, 2}, vector {1, 2}, {5}, {maxiter = 2})
    assert(not select(3, curve_fit(function(x, a) return (a * x):exp() end, vector {1, 2}, vector {1, 2}, {5}, {callback = function() return true end})).converged)
    -- Values end at 0.9: steps beyond are shortened.
    local x, info = least_squares(function(v) return (0.9 - v):log() - math.log(0.4) end, vector {-3}, {jacobian = function(v) return -1 / (0.9 - v) end})
    near(0.5, x[1], 1e-7)
    assert(info.converged)
  end)

  it("refuses what it does not understand", function()
    local x = gpu.zeros(2)
    fails("[optimize.least_squares] expected a function that gives an array of real residuals, got nil", least_squares, function() end, x, {jacobian = rosen_jacobian})
    fails("a Jacobian of 2 residuals by 2 parameters", least_squares, rosen, vector {0, 0}, {jacobian = function() return gpu.ones(3) end})
    fails('method = "lm", "trf", got "dogbox"', least_squares, rosen, x, {method = "dogbox"})
    fails('bounds with method = "trf"', least_squares, rosen, x, {method = "lm", bounds = {0, 1}})
    fails('got "jac"', least_squares, rosen, x, {jac = rosen_jacobian})
  end)
end)

describe("a recorded function", function()
  it("is searched as the function is", function()
    local t = gpu.linspace(0, 2, 40, "float64")
    local y = (2 * (-0.7 * t):exp()):eval()
    local function model(z, a, b) return a * (-b * z):exp() end
    local function residuals(p) return model(t, p(1), p(2)) - y end
    local function half_sum(p) return 0.5 * residuals(p):square():sum() end
    local swapped = gpu.array({2, 1}, "int32"):eval()
    local ways = {
      function(as) return least_squares(as(residuals), {1, 1}) end,
      function(as) return (curve_fit(as(model), t, y, {1, 1})) end,
      function(as) return (gpu.optimize.minimize(as(half_sum), vector {1, 1}, {tol = 1e-9})) end,
      -- The reverse pass of positions is more than expressions.
      function(as) return least_squares(as(function(p) return residuals(p:take(swapped, 1)) end), {1, 1}):flip(1) end,
    }
    for _, way in ipairs(ways) do
      local plain = way(function(f) return f end)
      near(plain:table(), way(gpu.fuse):table(), 1e-12)
      near({2, 0.7}, plain:table(), 1e-6)
    end
    local fused = gpu.fuse(residuals)
    near(least_squares(fused, {1, 1}):table(), least_squares(fused, {1.5, 1}):table(), 1e-6)
    y = (3 * (-0.7 * t):exp()):eval()
    near({3, 0.7}, least_squares(fused, {1, 1}):table(), 1e-6) -- what the function reads is looked at
  end)
end)
