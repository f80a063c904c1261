-- gpu.optimize.root_scalar and minimize_scalar with each = true: the searches, as texts.
local gpu, _, core, import = ...
local checks, each, numbers = import "checks", import "each", import "numbers"

local scalars = {}

-- ---- roots ----------------------------------------------------------------------------------------------------------------------

-- x is the result so far; reason is 1 until there is another one.
local head = [[
local gpu, f = ...
return function(x0, a, b, xtol, rtol, maxiter$P)
  $constants
  local x, reason, iterations = gpu.detach(x0), gpu.int32(1), gpu.int32(0)
]]

-- f(low) < 0 < f(high). What one end is said to be stays the same, so that the middle is between.
local bracketed = [[
  local low, high = gpu.detach(a), gpu.detach(b)
  local below, above = f(low$p), f(high$p)
  if below > 0 then low, high, below, above = high, low, above, below end
  if below - below ~= 0 or above - above ~= 0 then
    x, reason = 0 / 0, gpu.int32(2)
  elseif below == 0 then
    x, reason = low, gpu.int32(0)
  elseif above == 0 then
    x, reason = high, gpu.int32(0)
  elseif below > 0 or above < 0 then
    x, reason = 0 / 0, gpu.int32(3)
  else
$search
  end
]]

-- W. H. Press et al., Numerical Recipes, rtsafe: a step to the middle where Newton's leaves the bracket, or is not half of the step
-- before the last one.
local newton_between = [[
    if not $started then x = low - below * (high - low) / (above - below) end
    if not ((x - low) * (x - high) < 0) then x = 0.5 * (low + high) end
    local last = math.abs(high - low)
    local before = last
    while iterations < maxiter do
      iterations = iterations + 1
      local value, slope = gpu.value_and_grad(f)(x$p)
      if value - value ~= 0 then reason = gpu.int32(2) break end
      if value == 0 then reason = gpu.int32(0) break end
      if value < 0 then low = x else high = x end
      local to = x - value / slope
      if math.abs(to - x) <= xtol + rtol * math.abs(x) then
        x, reason = to, gpu.int32(0)
        break
      end
      if not ((to - low) * (to - high) <= 0 and math.abs(2 * value) <= math.abs(before * slope)) then to = 0.5 * (low + high) end
      before = last
      last = math.abs(to - x)
      x = to
      if last <= xtol + rtol * math.abs(x) then reason = gpu.int32(0) break end
    end
]]

local newton = [[
  while iterations < maxiter do
    iterations = iterations + 1
    local value, slope = gpu.value_and_grad(f)(x$p)
    if value - value ~= 0 then reason = gpu.int32(2) break end
    if value == 0 then reason = gpu.int32(0) break end
    local step = value / slope
    if step - step ~= 0 then reason = gpu.int32(4) break end
    x = x - step
    if math.abs(step) <= xtol + rtol * math.abs(x) then reason = gpu.int32(0) break end
  end
]]

-- R. P. Brent, "Algorithms for Minimization without Derivatives", 1973, chapter 4: high is the best so far, low the one before, and
-- other an end with the other sign.
local brent = [[
    local other, there = low, below
    local step = high - low
    local before = step
    while true do
      if math.abs(there) < math.abs(above) then low, high, other, below, above, there = high, other, high, above, there, above end
      local least, middle = 0.5 * (xtol + rtol * math.abs(high)), 0.5 * (other - high)
      x = high
      if above == 0 or math.abs(middle) <= least then reason = gpu.int32(0) break end
      if iterations >= maxiter then break end
      iterations = iterations + 1
      local p, q = 0 * middle, 0 * middle
      if math.abs(before) >= least and math.abs(below) > math.abs(above) then
        local s = above / below
        if low == other then
          p, q = 2 * middle * s, 1 - s
        else
          local t, r = below / there, above / there
          p, q = s * (2 * middle * t * (t - r) - (high - low) * (r - 1)), (t - 1) * (r - 1) * (s - 1)
        end
        if p > 0 then q = -q else p = -p end
      end
      if 2 * p < 3 * middle * q - math.abs(least * q) and p < math.abs(before * q * 0.5) then
        before = step
        step = p / q
      else
        step = middle
        before = middle
      end
      low, below = high, above
      high = high + (math.abs(step) > least and step or middle > 0 and least or -least)
      above = f(high$p)
      if above - above ~= 0 then reason = gpu.int32(2) break end
      if (above > 0) == (there > 0) then
        other, there = low, below
        step = high - low
        before = step
      end
    end
]]

-- Two steps of Newton's method from the root change nothing but derivatives: what they give has those of the root, up to third order.
local tail = [[
  if reason ~= 0 then x = 0 / 0 end
  $follow
  return $x, gpu.int8(reason), iterations
end
]]
local follow = [[
  local value1, slope1 = gpu.value_and_grad(f)(x$P)
  local x1 = x - value1 / slope1
  local value2, slope2 = gpu.value_and_grad(f)(x1$P)
  local x2 = x1 - value2 / slope2
]]

local function ends_of(op, name, value)
  if type(value) ~= "table" or #value ~= 2 then core.fail(op, ("%s = {a, b}, numbers or arrays"):format(name), value) end
  return value[1], value[2]
end

function scalars.root(op, f, options)
  each.check_options(op, options, "bracket x0 method xtol rtol")
  local args = each.arguments(op, options.args)
  each.check(op, f, 1 + #args)
  if options.bracket == nil and options.x0 == nil then
    core.raise(("[%s] expected bracket = {a, b} or x0 = a number or an array, got neither"):format(op))
  end
  local method = numbers.choice(op, "method", options.method, {"newton", "brentq"}, "newton")
  if method == "brentq" and (options.bracket == nil or options.x0 ~= nil) then
    core.raise(('[%s] expected bracket = {a, b} alone for method = "brentq"'):format(op))
  end
  local dtype = each.dtype {options.bracket or {}, {options.x0}, args}
  local a, b, x0
  if options.bracket ~= nil then
    a, b = ends_of(op, "bracket", options.bracket)
    a, b = each.start(op, "bracket: numbers or arrays", a, dtype), each.start(op, "bracket: numbers or arrays", b, dtype)
  end
  if options.x0 ~= nil then x0 = each.start(op, "x0 = a number or an array", options.x0, dtype) end
  local xtol, rtol = each.tolerances(op, options, dtype)
  local follows = core.has_tape()
  local text = head .. (a and bracketed:gsub("%$search", function() return method == "brentq" and brent or newton_between end) or newton)
    .. tail:gsub("%$follow", follows and follow or ""):gsub("%$x", follows and "x2" or "x")
  local x, reason, iterations = each.run(op, f, text, {P = each.names("P", #args), p = each.names("p", #args),
    constants = each.constants(#args), started = tostring(x0 ~= nil)}, nil, x0 or a, a or x0, b or x0, xtol, rtol,
    numbers.maxiter(op, options, 100), unpack(args, 1, #args))
  gpu.eval(x, reason, iterations)
  return x, each.report(op, reason, iterations, {})
end

-- ---- least values ---------------------------------------------------------------------------------------------------------------

-- R. P. Brent's localmin, chapter 5: x is the best so far, w the second, v the w before; d the last step, and before the one before it.
local localmin = [[
local gpu, f = ...
return function(a, b, xtol, epsilon, maxiter$P)
  $constants
  local low, high = gpu.detach(a), gpu.detach(b)
  local golden = 0.5 * (3 - math.sqrt(5))
  local x = low + golden * (high - low)
  local value = f(x$p)
  local v, w, at_v, at_w = x, x, value, value
  local d, before = 0 * x, 0 * x
  local reason, iterations = gpu.int32(1), gpu.int32(0)
  if value - value ~= 0 or x - x ~= 0 then reason = gpu.int32(2) end
  while reason == 1 do
    local middle, least = 0.5 * (low + high), epsilon * math.abs(x) + xtol / 3
    if math.abs(x - middle) <= 2 * least - 0.5 * (high - low) then reason = gpu.int32(0) break end
    if iterations >= maxiter then break end
    iterations = iterations + 1
    local p, q, r = 0 * x, 0 * x, 0 * x
    if math.abs(before) > least then
      r = (x - w) * (value - at_v)
      q = (x - v) * (value - at_w)
      p = (x - v) * q - (x - w) * r
      q = 2 * (q - r)
      if q > 0 then p = -p else q = -q end
      r = before
      before = d
    end
    if math.abs(p) < math.abs(0.5 * q * r) and p > q * (low - x) and p < q * (high - x) then
      d = p / q
      if x + d - low < 2 * least or high - x - d < 2 * least then d = x < middle and least or -least end
    else
      before = (x < middle and high or low) - x
      d = golden * before
    end
    local u = x + (math.abs(d) >= least and d or d > 0 and least or -least)
    local at_u = f(u$p)
    if at_u - at_u ~= 0 then reason = gpu.int32(2) break end
    if at_u <= value then
      if u < x then high = x else low = x end
      v, w, x, at_v, at_w, value = w, x, u, at_w, value, at_u
    else
      if u < x then low = u else high = u end
      if at_u <= at_w or w == x then
        v, w, at_v, at_w = w, u, at_w, at_u
      elseif at_u <= at_v or v == x or v == w then
        v, at_v = u, at_u
      end
    end
  end
  $follow
end
]]
-- A least value within the bounds is a root of the derivative; one at a bound stays there.
local follow_least = [[
  local slope1, bend1 = gpu.value_and_grad(gpu.grad(f))(x$P)
  local step1 = slope1 / bend1
  local is_within = bend1 > 0 and math.abs(step1) <= 100 * (epsilon * math.abs(x) + xtol)
  local x1 = is_within and x - step1 or x
  local slope2, bend2 = gpu.value_and_grad(gpu.grad(f))(x1$P)
  local x2 = is_within and x1 - slope2 / bend2 or x1
  return x2, gpu.int8(reason), iterations, f(x2$P)
]]

function scalars.least(op, f, options)
  local args = each.arguments(op, options.args)
  each.check(op, f, 1 + #args)
  local a, b = ends_of(op, "bounds", options.bounds)
  local dtype = each.dtype {options.bounds, args}
  local is_double = dtype == "float64"
  local xtol = checks.tolerance(op, "xtol", options.xtol) or (is_double and 1e-8 or 1e-4)
  local text = localmin:gsub("%$follow", core.has_tape() and follow_least or "return x, gpu.int8(reason), iterations, value")
  local x, reason, iterations, value = each.run(op, f, text, {P = each.names("P", #args), p = each.names("p", #args),
    constants = each.constants(#args)}, nil, each.start(op, "bounds: numbers or arrays", a, dtype),
    each.start(op, "bounds: numbers or arrays", b, dtype), xtol, is_double and 2 ^ -26 or 2 ^ -11.5, numbers.maxiter(op, options, 500),
    unpack(args, 1, #args))
  gpu.eval(x, reason, iterations, value)
  return x, each.report(op, reason, iterations, {value = value})
end

return scalars
