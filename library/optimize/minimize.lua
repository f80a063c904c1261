-- gpu.optimize.minimize: least values of functions of arrays. The vectors stay on the device; each try of a step is one look of the
-- host.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, numbers = import "checks", import "numbers"
local directions, searches, space = import "directions", import "line_search", import "spaces"
local nelder_mead = import "nelder_mead"

local optimize = gpu.optimize
local is_finite = numbers.is_finite

--- The search by gradients. Gives the point, the reason and the iterations.
local function descend(of, method, evaluate, x, o)
  local bounds, dot = o.bounds, space.dot
  local function inside(v) return bounds and gpu.minimum(gpu.maximum(v, bounds[1]), bounds[2]) or v end
  --- What is left to do: the greatest element of the gradient, or of the step to which bounds shorten it.
  local function rest(v, g) return (bounds and inside(v - g) - v or g):abs():max() end
  local value, g = evaluate(x)
  local now = space.look(value, rest(x, g))
  local point = {x = x, g = g, value = now[1], residual = now[2]}
  if not (is_finite(point.value) and is_finite(point.residual)) then return point, "not finite", 0 end
  local search = bounds and searches.armijo or searches.wolfe
  local precision = of.dtype == "float64" and 2 ^ -52 or 2 ^ -23
  local still, started = 0, false
  for iteration = 0, o.maxiter do
    if point.residual <= o.tol then return point, "converged", iteration end
    if iteration == o.maxiter then break end
    local found
    repeat
      local d = method:direction(point):eval()
      local function try(t)
        local to = inside(point.x + t * d):eval()
        local f, gradient = evaluate(to)
        gpu.eval(f, gradient)
        local seen = space.look(f, dot(gradient, d), bounds and dot(point.g, to - point.x) or dot(point.g, d) * t, rest(to, gradient))
        return {t = t, x = to, g = gradient, value = seen[1], slope = seen[2], predicted = seen[3], residual = seen[4]}
      end
      -- Steepest descent has no length of its own.
      local first = started and 1 or math.min(1, 1 / point.residual)
      found = search(try, point.value, first, 4 * precision * math.abs(point.value))
    until found or not method:forget()
    if not found then return point, "line search", iteration end
    still = point.value - found.value > precision * math.abs(point.value) and 0 or still + 1
    method:accept(point, found)
    point, started = found, true
    if still == 5 and point.residual > o.tol then return point, "stagnation", iteration + 1 end
    if o.callback and core.called(o.callback, of:unpack(point.x), point.value) == true then return point, "callback", iteration + 1 end
  end
  return point, "maxiter", o.maxiter
end

--- gpu.optimize.minimize(f, x0 [, {method, bounds, tol, maxiter, gradient, callback, adaptive}])
function optimize.minimize(f, x0, options)
  local op = "optimize.minimize"
  numbers.check_function(op, "a function of x0", f, "f(x)", 1, x0, options)
  options = checks.fields(op, options)
  if type(x0) == "table" and core.is_number(x0[1]) then x0 = gpu.array(x0, "float64") end
  if core.is_number(x0) then
    core.raise(("[%s] expected x0: an array, a list of numbers, as {0.5}, or tables with arrays, got %s; gpu.optimize.minimize_scalar searches for one number"):format(
      op, core.describe(x0)))
  end
  local of = space.of(op, x0)
  local usual = (options.bounds ~= nil or of.n > 500) and "L-BFGS-B" or "BFGS"
  local name = numbers.choice(op, "method", options.method, {"BFGS", "L-BFGS-B", "Newton-CG", "Nelder-Mead"}, usual)
  local simplex = name == "Nelder-Mead"
  if options.bounds ~= nil and name ~= "L-BFGS-B" and not simplex then
    core.raise(('[%s] expected bounds with method = "L-BFGS-B" or "Nelder-Mead", got "%s"'):format(op, name))
  end
  if options.adaptive ~= nil and not simplex then
    core.raise(('[%s] expected adaptive with method = "Nelder-Mead", got "%s"'):format(op, name))
  end
  if options.gradient ~= nil then
    numbers.check_function(op, "gradient = a function of x0", options.gradient, "gradient(x)", 1)
    if simplex then core.raise(('[%s] expected no gradient with method = "Nelder-Mead"'):format(op)) end
  end
  numbers.check_callback(op, options.callback)
  local o = {
    tol = checks.tolerance(op, "tol", options.tol) or (simplex and 1e-4 or 1e-5),
    maxiter = numbers.maxiter(op, options, simplex and 200 * of.n or 1000),
    callback = options.callback, bounds = of:bounds(options.bounds), adaptive = checks.flag(op, "adaptive", options.adaptive),
  }
  local x = of:pack("the start", x0)
  if o.bounds then x = gpu.minimum(gpu.maximum(x, o.bounds[1]), o.bounds[2]) end
  local point, reason, iterations
  if simplex then
    point, reason, iterations = nelder_mead(of, f, x, o)
  else
    local evaluate = of:with_gradient(f, options.gradient)
    point, reason, iterations = descend(of, directions[name](of, o.bounds, evaluate), evaluate, x:copy():eval(), o)
  end
  local report = of:report(reason, {iterations = iterations, value = point.value, residual = point.residual})
  -- Where five steps change f by rounding errors alone, x is as good as this dtype has it.
  if reason ~= "stagnation" then numbers.warn_of(op, report) end
  return of:unpack(point.x), report
end
