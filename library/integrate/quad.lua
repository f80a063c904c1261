-- gpu.integrate.quad: integrals to a tolerance. gpu.integrate.fixed_quad: by a rule of a given number of points.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, kinds, records = import "checks", import "kinds", import "records"
local control, problems, quadrature, write_kernel = import "control", import "problems", import "quadrature", import "quad_text"

local integrate = gpu.integrate
local substitution = quadrature.substitution(gpu)

--- The tolerances and the limit. Both tolerances are 0 or more, and one of them is above rounding, so that it can be reached.
local function read_options(op, options, epsilon, least, most)
  local absolute = checks.tolerance(op, "epsabs", options.epsabs) or math.sqrt(epsilon)
  local relative = checks.tolerance(op, "epsrel", options.epsrel) or math.sqrt(epsilon)
  if absolute == 0 and relative < 50 * epsilon then
    core.raise(("[%s] expected epsabs above 0, or epsrel of %.3g or more, 50 roundings, got 0 and %.3g"):format(op, 50 * epsilon, relative))
  end
  local limit = checks.count(op, ("limit = an integer from %d to %d"):format(least, most), options.limit == nil and 50 or options.limit,
    least, most)
  return absolute, relative, limit
end

-- ---- one integral over arrays ---------------------------------------------------------------------------------------------------

--- The points of the rule between -1 and 1, and the weights of both rules, rows of 21, on the current device.
local function rule()
  local x, k, g = {}, {}, {}
  for j = 1, 10 do
    x[j], x[22 - j] = -quadrature.points[j], quadrature.points[j]
    k[j], k[22 - j], g[j], g[22 - j] = quadrature.kronrod[j], quadrature.kronrod[j], quadrature.gauss[j], quadrature.gauss[j]
  end
  x[11], k[11], g[11] = 0, quadrature.kronrod_center, 0
  return gpu.array(x, "float64"), gpu.array(k, "float64"), gpu.array(g, "float64")
end

--- The values of f at an array of points. A message about shapes says which the points have, and that f gets them all at once.
local function values_at(f, args, points, advice)
  local ok, values = core.call(f, points, unpack(args))
  if ok then return values end
  if type(values) == "string" and values:find("could not be broadcast", 1, true) then
    values = ("%s; f(x, ...) gets x of shape %s, all points at once, and args as they are%s"):format(values, checks.shape_text(points.shape), advice)
  end
  error(values, 0)
end

local use_each = "; {each = true, args = ...} gives an integral for each element of arrays in args"

--- The integrals over intervals, lists {low, high} of the substituted variable, with the estimates of their errors: all at once.
local function evaluate(op, f, args, kind, a, b, intervals)
  local x, k, g = rule()
  local ends = gpu.array(intervals, "float64")
  local half, center = (ends("...", "2:2") - ends("...", "1:1")) / 2, (ends("...", "1:1") + ends("...", "2:2")) / 2
  local points, slopes = substitution(kind, a, b, center + half * x)
  local values = values_at(f, args, points:eval(), use_each)
  if type(values) == "number" then values = gpu.full(points.shape, values, "float64") end
  if not core.is_array(values) or values.shape ~= points.shape or kinds.is_complex(values) then
    core.raise(("[%s] expected a function that gives real numbers %s for points of this shape%s, got %s%s"):format(op,
      checks.shape_text(points.shape), type(values) == "boolean" and ", as x:gt(0.5) gives them of a condition" or "", core.describe(values),
      core.is_array(values) and not kinds.is_complex(values) and use_each or ""))
  end
  values = core.cast(values, "float64") * slopes * half
  local integral = (values * k):sum(2)
  local mean = (integral / 2):reshape(#intervals, 1)
  local sums = gpu.stack({integral, (values * g):sum(2), ((values - mean):abs() * k):sum(2), (values:abs() * k):sum(2)}, 2)
  local rows, message = problems.call(op, "an integral to a tolerance has no derivative; gpu.integrate.fixed_quad has one",
    function() return (sums:table()) end) -- no tail call: a derivative asks who reads
  if not rows then error(message, 0) end
  for i, row in ipairs(rows) do
    local e = quadrature.estimate(row[1] - row[2], row[3], row[4], control.epsilon.float64)
    local low, high = intervals[i][1], intervals[i][2]
    -- What rounding leaves cannot be improved.
    intervals[i] = {low, high, integral = row[1], error = e,
      is_done = e <= 51 * control.epsilon.float64 * row[4] or high - low < 1024 * control.epsilon.float64}
  end
  return intervals
end

--- Divides, in each round, the fewest intervals with the greatest errors without which the error would be half of what is allowed.
local function integrate_one(op, f, a, b, args, options)
  local absolute, relative, limit = read_options(op, options, control.epsilon.float64, 1, 4096)
  if a == b then return 0, {converged = true, reason = "converged", error = 0, evaluations = 0, intervals = 0} end
  local sign = 1
  if a > b then a, b, sign = b, a, -1 end
  local kind = a > -math.huge and (b < math.huge and 0 or 1) or b < math.huge and 2 or 3
  local low, parts, list, evaluations = (kind == 0 or kind == 3) and -1 or 0, math.min(10, limit), {}, 0
  local fresh = {}
  for i = 1, parts do fresh[i] = {low + (1 - low) * (i - 1) / parts, low + (1 - low) * i / parts} end
  while true do
    evaluations = evaluations + 21 * #fresh
    for _, interval in ipairs(evaluate(op, f, args, kind, a, b, fresh)) do list[#list + 1] = interval end
    table.sort(list, function(x, y) return x.error > y.error end)
    local sum, bound = 0, 0
    for i = #list, 1, -1 do sum, bound = sum + list[i].integral, bound + list[i].error end
    local allowed, reason = math.max(absolute, relative * math.abs(sum)), nil
    fresh = {}
    if not (sum - sum == 0 and bound - bound == 0) then
      reason = "not finite"
    elseif bound <= allowed then
      reason = "converged"
    else
      local left, kept = bound, {}
      for _, interval in ipairs(list) do
        local fits = #list + #fresh / 2 < limit
        if left > allowed / 2 and fits and not interval.is_done then
          local middle = (interval[1] + interval[2]) / 2
          fresh[#fresh + 1], fresh[#fresh + 2] = {interval[1], middle}, {middle, interval[2]}
          left = left - interval.error
        else
          kept[#kept + 1] = interval
        end
      end
      if #fresh == 0 then reason = #list >= limit and "limit" or "rounding" end
      if not reason then list = kept end
    end
    if reason then
      return sign * sum, {converged = reason == "converged", reason = reason, error = bound, evaluations = evaluations, intervals = #list}
    end
  end
end

-- ---- an integral for each problem -----------------------------------------------------------------------------------------------

local function integrate_each(op, f, a, b, options)
  local args = problems.args(op, options.args)
  core.check_step_function(op, f, 1 + #args)
  local values = {a, b, unpack(args)}
  local dtype, device = problems.common(op, values)
  local absolute, relative, limit = read_options(op, options, control.epsilon[dtype], 2, 1024)
  checks.steps(op, 42 * limit)
  local settings = {absolute, relative}
  local many = problems.gather({}, values, settings)
  local function make(of_dtype) return gpu.empty(many.count, {dtype = of_dtype, device = device}) end
  local results, errors, intervals, reasons = make(dtype), make(dtype), make "int32", make "int8"
  local spec = {dtype = dtype, epsilon = control.epsilon[dtype], limit = limit, center = quadrature.kronrod_center, parameters = many.names,
    texts = many.texts, uses = {functions = {f = {f = f, what = "the function", advice = "the function of an integral gives a number",
      of_boolean = ", which (condition and 1 or 0) makes of a boolean"}}}, key = table.concat({dtype, limit, unpack(many.texts)}, ";")}
  problems.run(op, write_kernel, spec, {substitution, quadrature.estimate, quadrature.points, quadrature.kronrod, quadrature.gauss}, many.count, f,
    gpu.array(settings, {dtype = dtype, device = device}), results, errors, intervals, reasons, unpack(many.arrays))
  local function shaped(x) return x:reshape(many.shape) end
  return shaped(results), {converged = shaped(reasons:eq(0)), reason = shaped(reasons), error = shaped(errors),
    evaluations = shaped(gpu.maximum(intervals - 1, 0) * 42), intervals = shaped(intervals)}
end

--- The checked ends, numbers or arrays; f is a function of an array.
local function read(op, f, a, b, options)
  if type(f) ~= "function" then core.fail(op, ("a function of an array of points first, gpu.%s(f, a, b)"):format(op), f) end
  if options.args ~= nil and type(options.args) ~= "table" then core.fail(op, "args = a list of the function's last arguments", options.args) end
  if not options.each then
    checks.parameters(op, "f(x, ...)", f, 1 + #(options.args or {}), "; {args = {...}} has the arguments after x")
  end
  local function limit(name, value)
    if value == nil or type(value) == "table" then core.fail(op, ("two limits, gpu.%s(f, a, b)"):format(op), value) end
    return problems.value(op, name, value)
  end
  return limit("a", a), limit("b", b), options.args or {}
end

--- gpu.integrate.quad(f, a, b [, {epsabs, epsrel, limit, args, each}])
function integrate.quad(f, a, b, options)
  local op, args = "integrate.quad", nil
  options = checks.fields(op, options)
  a, b, args = read(op, f, a, b, options)
  for name, value in pairs {a = a, b = b} do
    if value ~= value then core.fail(op, name .. ": a number that is not NaN", value) end
    if not options.each and type(value) ~= "number" then core.fail(op, name .. ": a number; {each = true} takes arrays", value) end
  end
  local result, info
  if checks.flag(op, "each", options.each) then
    result, info = integrate_each(op, f, a, b, options)
  else
    result, info = integrate_one(op, f, a, b, args, options)
    records.warn_of(op, info, "an integral within the tolerance", (" with an error of about %.3g"):format(info.error), info.reason == "limit"
      and "a larger limit or epsrel may help, and an end at a point where f is singular or jumps"
      or info.reason == "not finite" and "f gave infinities or NaN at some points"
      or "rounding keeps the error above epsabs and epsrel")
  end
  return result, records.seal(info, op)
end

--- gpu.integrate.fixed_quad(f, a, b [, {n, args}])
function integrate.fixed_quad(f, a, b, options)
  local op, args = "integrate.fixed_quad", nil
  options = checks.fields(op, options)
  a, b, args = read(op, f, a, b, options)
  local n = checks.count(op, "n = an integer from 1 to 10000", options.n == nil and 5 or options.n, 1, 10000)
  for name, value in pairs {a = a, b = b} do
    if type(value) == "number" then checks.finite(op, name .. ": a finite number", value) end
  end
  local dtype, device = problems.common(op, {a, b})
  local points, weights = quadrature.gauss_legendre(n)
  points, weights = gpu.array(points, {dtype = dtype, device = device}), gpu.array(weights, {dtype = dtype, device = device})
  local function column(x) return core.is_array(x) and x:expand_dims(-1) or x end
  local half = (column(b) - column(a)) / 2
  local values = values_at(f, args, (column(a) + column(b)) / 2 + half * points, "; arrays in args have an axis of 1 at the end: v:expand_dims(-1)")
  if not core.is_array(values) or values.ndim == 0 or values.shape[values.ndim] ~= n then
    core.fail(op, ("a function that gives %d numbers along its last axis, one for each point"):format(n), values)
  end
  return (values * weights * half):sum(-1)
end
