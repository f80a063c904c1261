-- gpu.optimize: roots and least values of functions of one number, on the host. R. P. Brent, "Algorithms for Minimization without
-- Derivatives", 1973: chapter 4 (zero) and chapter 5 (localmin).
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, each, numbers = import "checks", import "each_scalars", import "numbers"

local optimize = gpu.optimize
local abs, sqrt, is_finite = math.abs, math.sqrt, numbers.is_finite

--- The function of numbers that f is, and its calls.
local function counted(op, f)
  numbers.check_function(op, "a function of a number", f, "f(x)", 1)
  local calls = {count = 0}
  return function(x)
    calls.count = calls.count + 1
    local y = f(x)
    if core.is_array(y) and y.size > 1 then core.fail(op, "a function's value: one real number; each = true solves for each element", y) end
    return numbers.of(op, "a function's value", y)
  end, calls
end

--- Refuses a list in place of the options, which is that of the ends.
local function refuse_list(op, name, options)
  if type(options) == "table" and #options > 0 then
    core.fail(op, ("the option %s by its name, {%s = {a, b}}"):format(name, name), options)
  end
end

--- Two ends in ascending order.
local function ends(op, name, value)
  if type(value) ~= "table" or #value ~= 2 then core.fail(op, ("%s = {a, b}"):format(name), value) end
  local a, b = core.plain(value[1]), core.plain(value[2])
  if core.is_array(a) or core.is_array(b) then
    core.fail(op, ("%s = {a, b} of finite numbers; each = true solves a problem for each element"):format(name), core.is_array(a) and a or b)
  end
  checks.finite(op, ("%s = {a, b} of finite numbers"):format(name), a)
  checks.finite(op, ("%s = {a, b} of finite numbers"):format(name), b)
  if a >= b then core.raise(("[%s] expected %s = {a, b} with a < b, got a = %.17g and b = %.17g"):format(op, name, a, b)) end
  return a, b
end

-- ---- roots --------------------------------------------------------------------------------------------------------------------

-- A method gives the root, f there, the reason and the iterations.
local methods = {}

--- b is the best root so far, c an end with the other sign, and a the b before.
function methods.brentq(op, f, options, near, maxiter)
  local a, b = ends(op, "bracket", options.bracket)
  local fa, fb = f(a), f(b)
  if not (is_finite(fa) and is_finite(fb)) then return b, fb, "not finite", 0 end
  if fa == 0 then return a, fa, "converged", 0 end
  if fa > 0 == (fb > 0) and fb ~= 0 then
    core.raise(("[%s] expected a bracket at whose ends f has different signs, got f(%.17g) = %.17g and f(%.17g) = %.17g"):format(op,
      a, fa, b, fb))
  end
  local c, fc, d, before = a, fa, b - a, b - a
  for iteration = 0, maxiter do
    if abs(fc) < abs(fb) then a, b, c, fa, fb, fc = b, c, b, fb, fc, fb end
    local least, middle = near(b) / 2, (c - b) / 2
    if fb == 0 or abs(middle) <= least then return b, fb, "converged", iteration end
    if iteration == maxiter then break end
    local p, q = 0, 0 -- a step of p / q; 0 / 0: the middle
    if abs(before) >= least and abs(fa) > abs(fb) then
      local s = fb / fa
      if a == c then
        p, q = 2 * middle * s, 1 - s
      else
        local t, r = fa / fc, fb / fc
        p, q = s * (2 * middle * t * (t - r) - (b - a) * (r - 1)), (t - 1) * (r - 1) * (s - 1)
      end
      if p > 0 then q = -q else p = -p end
    end
    if 2 * p < 3 * middle * q - abs(least * q) and p < abs(before * q / 2) then
      d, before = p / q, d
    else
      d, before = middle, middle
    end
    a, fa = b, fb
    b = b + (abs(d) > least and d or middle > 0 and least or -least)
    fb = f(b)
    if not is_finite(fb) then return a, fa, "not finite", iteration + 1 end
    if fb > 0 == (fc > 0) then c, fc, d, before = a, fa, b - a, b - a end
  end
  return b, fb, "maxiter", maxiter
end

local function start(op, options)
  if options.x0 == nil then core.fail(op, "x0 = a number to start from", nil) end
  return numbers.option(op, options, "x0")
end

function methods.newton(op, f, options, near, maxiter)
  local x = start(op, options)
  local slope = counted(op, numbers.check_function(op, 'derivative = a function, for method = "newton"', options.derivative, "derivative(x)", 1))
  local fx = f(x)
  for iteration = 0, maxiter do
    if not is_finite(fx) then return x, fx, "not finite", iteration end
    if fx == 0 then return x, fx, "converged", iteration end
    if iteration == maxiter then break end
    local step = fx / slope(x)
    if not is_finite(step) then return x, fx, "zero slope", iteration end
    x = x - step
    fx = f(x)
    if abs(step) <= near(x) and is_finite(fx) then return x, fx, "converged", iteration + 1 end
  end
  return x, fx, "maxiter", maxiter
end

function methods.secant(op, f, options, near, maxiter)
  local a = start(op, options)
  local b = numbers.option(op, options, "x1", a * (1 + 1e-4) + (a < 0 and -1e-4 or 1e-4))
  if a == b then core.fail(op, "x1 that differs from x0", b) end
  local fa, fb = f(a), f(b)
  for iteration = 0, maxiter do
    if not (is_finite(fa) and is_finite(fb)) then return b, fb, "not finite", iteration end
    if fb == 0 then return b, fb, "converged", iteration end
    if iteration == maxiter then break end
    local step = fb * (b - a) / (fb - fa)
    if not is_finite(step) then return b, fb, "zero slope", iteration end
    a, fa, b = b, fb, b - step
    fb = f(b)
    if abs(step) <= near(b) and is_finite(fb) then return b, fb, "converged", iteration + 1 end
  end
  return b, fb, "maxiter", maxiter
end

--- gpu.optimize.root_scalar(f [, {bracket, x0, x1, derivative, method, xtol, rtol, maxiter, each, args}])
function optimize.root_scalar(f, options)
  local op = "optimize.root_scalar"
  refuse_list(op, "bracket", options)
  options = checks.fields(op, options)
  if numbers.is_each(op, options) then return each.root(op, f, options) end
  local fn, calls = counted(op, f)
  local usual = options.bracket ~= nil and "brentq" or options.derivative ~= nil and "newton" or "secant"
  local method = numbers.choice(op, "method", options.method, {"brentq", "newton", "secant"}, usual)
  if options.bracket == nil and options.x0 == nil then
    core.raise(("[%s] expected bracket = {a, b} or x0 = a number, got neither"):format(op))
  end
  local used = {brentq = {"bracket"}, newton = {"x0", "derivative"}, secant = {"x0", "x1"}}
  for _, name in ipairs {"bracket", "x0", "x1", "derivative"} do
    local takes = false
    for _, own in ipairs(used[method]) do takes = takes or own == name end
    if options[name] ~= nil and not takes then
      core.raise(('[%s] expected the options of method = "%s": %s, got %s'):format(op, method, table.concat(used[method], ", "), name))
    end
  end
  local xtol = checks.tolerance(op, "xtol", options.xtol) or 2e-12
  local rtol = checks.tolerance(op, "rtol", options.rtol) or 4 * numbers.epsilon
  local function near(x) return xtol + math.max(rtol, numbers.epsilon) * abs(x) end
  local x, value, reason, iterations = methods[method](op, fn, options, near, numbers.maxiter(op, options, 100))
  local report = numbers.report(op, reason, {iterations = iterations, evaluations = calls.count, residual = abs(value)})
  local remedy = method == "brentq" and "f has to be finite in the bracket, and maxiter large enough"
    or "bracket = {a, b}, at whose ends f has different signs, keeps the search between"
  numbers.must_find(op, "a root", report, ("f(%.6g) = %.6g; %s"):format(x, value, remedy))
  return x, report
end

-- ---- least values -------------------------------------------------------------------------------------------------------------

--- gpu.optimize.minimize_scalar(f, {bounds, xtol, maxiter, each, args})
function optimize.minimize_scalar(f, options)
  local op = "optimize.minimize_scalar"
  refuse_list(op, "bounds", options)
  options = checks.fields(op, options)
  if numbers.is_each(op, options) then return each.least(op, f, options) end
  local fn, calls = counted(op, f)
  local a, b = ends(op, "bounds", options.bounds)
  local xtol, maxiter = checks.tolerance(op, "xtol", options.xtol) or 1e-8, numbers.maxiter(op, options, 500)
  local golden = (3 - sqrt(5)) / 2
  -- x: the best so far, w the second, v the w before. d: the last step, `before`: that before it.
  local x = a + golden * (b - a)
  local v, w, d, before = x, x, 0, 0
  local fx = fn(x)
  local fv, fw, reason, iterations = fx, fx, not is_finite(fx) and "not finite" or nil, 0
  while not reason do
    local middle, least = (a + b) / 2, sqrt(numbers.epsilon) * abs(x) + xtol / 3
    if abs(x - middle) <= 2 * least - (b - a) / 2 then reason = "converged" break end
    if iterations == maxiter then reason = "maxiter" break end
    local p, q, r = 0, 0, 0
    if abs(before) > least then -- the least value of a parabola through the three
      r, q = (x - w) * (fx - fv), (x - v) * (fx - fw)
      p, q = (x - v) * q - (x - w) * r, 2 * (q - r)
      if q > 0 then p = -p else q = -q end
      r, before = before, d
    end
    if abs(p) < abs(q * r / 2) and p > q * (a - x) and p < q * (b - x) then
      d = p / q
      if x + d - a < 2 * least or b - x - d < 2 * least then d = x < middle and least or -least end
    else
      before = (x < middle and b or a) - x
      d = golden * before
    end
    local u = x + (abs(d) >= least and d or d > 0 and least or -least)
    local fu = fn(u)
    iterations = iterations + 1
    if not is_finite(fu) then
      reason = "not finite"
    elseif fu <= fx then
      if u < x then b = x else a = x end
      v, w, x, fv, fw, fx = w, x, u, fw, fx, fu
    else
      if u < x then a = u else b = u end
      if fu <= fw or w == x then
        v, w, fv, fw = w, u, fw, fu
      elseif fu <= fv or v == x or v == w then
        v, fv = u, fu
      end
    end
  end
  local report = numbers.report(op, reason, {iterations = iterations, evaluations = calls.count, value = fx})
  numbers.warn_of(op, report)
  return x, report
end
