-- gpu.optimize: nonlinear least squares by the method of Levenberg and Marquardt, with the damping of H. B. Nielsen (1999) and the
-- scales of J. J. Moré (1978). Residuals and the Jacobian are on the device, which reduces them to a triangle; the host takes the steps.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, kinds, numbers = import "checks", import "kinds", import "numbers"
local each, matrices, space = import "each_least_squares", import "host_matrices", import "spaces"
local made_of = import("fuse").made_of

local optimize = gpu.optimize
local is_finite = numbers.is_finite

local function sum_of_products(x, y)
  local sum = 0
  for i = 1, #x do sum = sum + x[i] * y[i] end
  return sum
end

--- The residuals at a vector, float64, and half of their sum of squares. With the residuals of before, also by how much that is less:
--- the difference of the sums would lose digits.
local function residuals(of, f, x, before)
  local r = f(of:unpack(of:array(x)))
  if not core.is_array(r) or kinds.is_complex(r) or r.size == 0 then
    core.fail(of.op, "a function that gives an array of real residuals" .. (core.is_number(r)
      and ", as p[{1}] - 1 is (p[1] is a number, of which no derivative follows)"
      or type(r) == "table" and ", as gpu.stack {p[{1}] - 1, p[{2}] - 2} is" or ""), r)
  end
  of.evaluations = of.evaluations + 1
  r = core.cast(r:reshape(r.size), "float64"):eval()
  local value = 0.5 * (r * r):sum()
  if not before then return r, value:item() end
  return r, unpack(space.look(value, 0.5 * ((before - r) * (before + r)):sum()))
end

--- The triangle R of the Jacobian's QR decomposition as rows, and Q' r.
local function triangle(of, jacobian, x, r)
  local n, J = of.n, jacobian(of:unpack(of:array(x)))
  if not core.is_array(J) or kinds.is_complex(J) or J.size ~= r.size * n or J.device ~= r.device then
    core.fail(of.op, ("a Jacobian of %d residuals by %d parameters"):format(r.size, n), J)
  end
  J = gpu.concat({core.cast(J:reshape(r.size, n), "float64"), r:reshape(r.size, 1)}, 2)
  local rows = gpu.linalg.qr(J, "r"):table()
  local R, z = {}, {}
  for i = 1, math.min(#rows, n) do
    z[i] = table.remove(rows[i])
    R[i] = rows[i]
  end
  return R, z
end

--- Searches from x, a list of numbers. Gives x, R and the report.
local function search(of, f, jacobian, x, o)
  local n, low, high = of.n, o.low, o.high
  local function inside(j, value) return low and math.min(math.max(value, low[j]), high[j]) or value end
  for j = 1, n do x[j] = inside(j, x[j]) end
  local r, value = residuals(of, f, x)
  -- What of the sum is rounding: residuals are differences of larger numbers, whose errors they have.
  local precision = of.dtype == "float64" and 1e-12 or 1e-5
  local D, damping, growth, iterations = {}, 1e-3, 2, 0
  local R, z, g, free, reason

  --- Where the damped step from x leads to within the bounds, and whether they cut it: elements that would leave them are put on theirs,
  --- and the step of the others is computed again beside those.
  local function step(scales)
    local moving, beside, to, cut, is_cut = free, z, {}, {}, false
    for j = 1, n do to[j], cut[j] = x[j], 0 end
    while true do
      local p, inner = matrices.damped_step(R, beside, scales, damping, moving), {}
      for _, j in ipairs(moving) do
        to[j] = inside(j, x[j] + p[j])
        if to[j] == x[j] + p[j] then inner[#inner + 1] = j else cut[j] = to[j] - x[j] end
      end
      if #inner == #moving then return to, is_cut end
      moving, beside, is_cut = inner, matrices.product(R, cut), true
      for i, row in ipairs(z) do beside[i] = beside[i] + row end
    end
  end

  --- The triangle, the gradient and the free elements at x. Whether the gradient is as good as 0.
  local function look()
    R, z = triangle(of, jacobian, x, r)
    g = matrices.transposed_product(R, z, n)
    free = {}
    local most = 0
    for j = 1, n do
      local square = 0
      for _, row in ipairs(R) do square = square + row[j] ^ 2 end
      local length = math.sqrt(square)
      D[j] = math.max(D[j] or 0, length)
      if not (low and (x[j] <= low[j] and g[j] > 0 or x[j] >= high[j] and g[j] < 0)) then
        free[#free + 1] = j
        if not is_finite(g[j]) then most = math.huge end
        if length > 0 and value > 0 then most = math.max(most, math.abs(g[j]) / (length * math.sqrt(2 * value))) end
      end
    end
    if most == math.huge then return "not finite" end
    return (value == 0 or most <= o.gtol) and "converged" or nil
  end

  reason = not is_finite(value) and "not finite" or look()
  while not reason do
    if iterations == o.maxiter then reason = "maxiter" break end
    iterations = iterations + 1
    local scales = {}
    for j = 1, n do scales[j] = D[j] > 0 and D[j] or 1 end
    local to, is_cut = step(scales)
    local p, moved, length = {}, 0, 0
    for j = 1, n do
      p[j] = to[j] - x[j]
      moved, length = moved + (scales[j] * p[j]) ^ 2, length + (scales[j] * x[j]) ^ 2
    end
    local Rp = matrices.product(R, p)
    local predicted = -sum_of_products(g, p) - 0.5 * sum_of_products(Rp, Rp)
    local next_r, next_value, gain = residuals(of, f, to, r)
    local ratio = is_finite(next_value) and predicted > 0 and gain / predicted or -1
    if ratio > 0 then
      local small = gain <= o.ftol * value and predicted <= o.ftol * value and ratio <= 2
        or math.sqrt(moved) <= o.xtol * math.sqrt(length)
      x, r, value = to, next_r, next_value
      damping, growth = damping * math.max(1 / 3, 1 - (2 * ratio - 1) ^ 3), 2
      reason = look() or small and "converged" or nil
      if not reason and o.callback and core.called(o.callback, of:unpack(of:array(x)), value) == true then reason = "callback" end
    elseif growth == 2 and not is_cut and predicted <= precision * value then
      -- What is left to gain is less than rounding errors, which alone refuse the step. (One that bounds cut can lose in spite of a gradient.)
      if math.abs(gain) <= precision * value then
        x, r, value = to, next_r, next_value
        look()
      end
      reason = "converged"
    elseif not (damping * growth < 1e40) then
      reason = "stagnation"
    else
      damping, growth = damping * growth, 2 * growth
    end
  end
  return x, R, of:report(reason, {iterations = iterations, value = value, residual = math.sqrt(2 * value)})
end

--- The numbers of a bound for each parameter.
local function bound_of(of, bounds, i)
  if not bounds then return nil end
  return bounds[i]:broadcast_to {of.n}:table()
end

--- What both functions take: x0 as an array, the space, and the options.
local function read(op, x0, options, what)
  if checks.is_options(x0) then core.fail(op, what .. ": an array or a list of numbers", checks.fields(op, x0)) end
  if type(x0) == "table" then x0 = gpu.array(x0, "float64") end
  if not core.is_array(x0) then core.fail(op, ("%s: an array or a list of numbers%s"):format(what, core.is_number(x0) and ", as {0.5}" or ""), x0) end
  local of = space.of(op, x0)
  local method = numbers.choice(op, "method", options.method, {"lm", "trf"}, options.bounds ~= nil and "trf" or "lm")
  if options.bounds ~= nil and method ~= "trf" then
    core.raise(('[%s] expected bounds with method = "trf", got "%s"'):format(op, method))
  end
  numbers.check_callback(op, options.callback)
  local bounds = of:bounds(options.bounds)
  local o = {maxiter = numbers.maxiter(op, options, 100 * (of.n + 1)), callback = options.callback, low = bound_of(of, bounds, 1),
    high = bound_of(of, bounds, 2)}
  for _, name in ipairs {"xtol", "ftol", "gtol"} do o[name] = checks.tolerance(op, name, options[name]) or 1e-8 end
  return of, o, of:pack(what, x0):table()
end

--- gpu.optimize.least_squares(f, x0 [, {method, bounds, xtol, ftol, gtol, maxiter, jacobian, callback, each, args}])
function optimize.least_squares(f, x0, options)
  local op = "optimize.least_squares"
  options = checks.fields(op, options)
  if numbers.is_each(op, options) then return each(op, f, x0, options) end
  numbers.check_function(op, "a function of x0 that gives residuals", f, "f(x)", 1, x0, options)
  if options.jacobian ~= nil then numbers.check_function(op, "jacobian = a function", options.jacobian, "jacobian(x)", 1) end
  local of, o, start = read(op, x0, options, "x0")
  local x, _, report = search(of, f, options.jacobian or made_of(f, "jacobian", gpu.jacobian), start, o)
  numbers.warn_of(op, report)
  return of:unpack(of:array(x)), report
end

--- sigma, nil, a number or an array of y's shape: above 0, as differences are divided by it.
local function check_sigma(op, sigma, y)
  if sigma == nil or type(sigma) == "number" and sigma > 0 then return sigma end
  if not core.is_array(sigma) or sigma.shape ~= y.shape then
    core.fail(op, ("sigma = a number above 0 or an array %s, as y"):format(checks.shape_text(y.shape)), sigma)
  end
  local at, value = checks.first_where(checks.real(op, sigma), sigma:gt(0):logical_not())
  if at then core.raise(("[%s] expected standard deviations sigma above 0, got sigma%s = %s"):format(op, at, core.describe(value))) end
  return sigma
end

--- Warns of covariances that are infinite, for m values and n parameters.
local function warn_of_covariance(op, m, n)
  core.warn(("[%s] expected %s, got %d value%s of y for %d parameter%s; the covariances are infinite"):format(op,
    m > n and "data that tell all parameters apart" or m == n and "more values than parameters"
      or "at least as many values as parameters, of which one solution of many is found",
    m, m == 1 and "" or "s", n, n == 1 and "" or "s"))
end

--- gpu.optimize.curve_fit(f, x, y, p0 [, {sigma, absolute_sigma, method, bounds, xtol, ftol, gtol, maxiter, jacobian, callback}])
function optimize.curve_fit(f, x, y, p0, options)
  local op = "optimize.curve_fit"
  checks.function_first(op, "f, x, y, p0", "a function of x and the parameters", f, x, y, p0, options)
  checks.real(op, y)
  options = checks.fields(op, options)
  if options.jacobian ~= nil and type(options.jacobian) ~= "function" then core.fail(op, "jacobian = a function", options.jacobian) end
  local of, o, start = read(op, p0, options, "p0")
  local remedy = ("; the parameters come one by one, as many as p0 has: %d%s"):format(of.n,
    of.n == y.size and "; the start comes after the data, gpu.optimize.curve_fit(f, x, y, p0)" or "")
  checks.parameters(op, "f(x, ...)", f, 1 + of.n, remedy, true)
  checks.parameters(op, "jacobian(x, ...)", options.jacobian, 1 + of.n, remedy)
  local sigma = check_sigma(op, options.sigma, y)
  checks.finite_elements(op, "y", y)
  if core.is_array(x) and not kinds.is_complex(x) then checks.finite_elements(op, "x", x) end
  checks.flag(op, "absolute_sigma", options.absolute_sigma)
  local weight = sigma and 1 / sigma or 1
  local function parameters(p)
    local list, values = {}, p:reshape(p.size)
    for j = 1, p.size do list[j] = values(j) end
    return unpack(list)
  end
  local function differences(p)
    local fitted = f(x, parameters(p))
    if not core.is_array(fitted) or fitted.shape ~= y.shape then
      core.raise(("[%s] expected f(x, ...) of the shape %s, as y, got %s%s"):format(op, checks.shape_text(y.shape), core.describe(fitted),
        core.is_array(x) and x.ndim == 1 and y.ndim == 1 and x.size ~= y.size and ("; x has %d elements and y %d"):format(x.size, y.size)
          or core.is_array(fitted) and fitted.ndim == 0 and "; a + 0 * x is the same number for each x" or ""))
    end
    return (fitted - y) * weight
  end
  local own = options.jacobian
  local derived = not own and made_of(f, "curve_fit", function(g)
    return gpu.jacobian(function(p, z) return g(z, parameters(p)) end)
  end)
  local function jacobian(p)
    local J
    if own then J = own(x, parameters(p)) else J = derived(p, x) end
    if not core.is_array(J) or J.size ~= y.size * of.n then
      core.fail(op, ("a Jacobian of %d values by %d parameters"):format(y.size, of.n), J)
    end
    return J:reshape(y.size, of.n) * (core.is_array(weight) and weight:reshape(y.size, 1) or weight)
  end
  local found, R, report = search(of, differences, jacobian, start, o)
  if report.reason == "not finite" and report.iterations == 0 then
    checks.finite_elements(op, "f(x, ...)", f(x, parameters(of:unpack(of:array(start)))), " at p0: begin where f is finite, or leave such x out")
  end
  numbers.must_find(op, "the parameters", report,
    ("the sum of squares is %.6g; start nearer to the parameters, or set bounds or a greater maxiter"):format(2 * report.value))
  local n, m = of.n, y.size
  local inverse = matrices.inverse_of_square(R or {}, n)
  local scale = options.absolute_sigma and 1 or m > n and 2 * report.value / (m - n) or math.huge
  local covariance = gpu.full({n, n}, math.huge, {dtype = of.dtype, device = of.device})
  if inverse and scale < math.huge then covariance = of:array(inverse) * scale else warn_of_covariance(op, m, n) end
  return of:unpack(of:array(found)), covariance, report
end
