-- gpu.jvp, gpu.hvp, gpu.jacobian, gpu.hessian, gpu.check_grad: derivatives along directions. Tables of arrays are lists of these here.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, leaves, linear = import "checks", import "leaves", import "linear"

--- The arrays of x, which is one, or nested tables of them. `what`: its name in errors.
local function arrays_of(op, what, x)
  local list = {}
  for i, leaf in ipairs(leaves.of(op, what, x)) do list[i] = leaf.array end
  if #list == 0 then
    core.fail(op, "an array of real or complex numbers, or a table of them, as " .. what .. (core.is_number(x)
      and " (several numbers are a vector: f(v) that reads v[{1}] and v[{2}], at gpu.array {100, 0.2})" or ""), x)
  end
  return list
end

--- The arrays of a direction v, which is like x. `kind`: what it is in errors.
local function direction(op, kind, what, x, v)
  local list, wanted, found = {}, leaves.of(op, what, x), leaves.of(op, what, v)
  for i = 1, math.max(#wanted, #found) do
    local like, mine = wanted[i], found[i]
    if not like or mine and mine.path < like.path then
      core.raise(("[%s] expected %s like %s, got %s too"):format(op, kind, what, mine.path))
    elseif not mine or mine.path ~= like.path or mine.array.shape ~= like.array.shape then
      core.fail(op, ("%s of the shape of %s, %s"):format(kind, like.path, core.describe(like.array)), mine and mine.array or v)
    end
    list[i] = mine.array
  end
  return list
end

--- The positions of that many arguments.
local function first(count)
  local which = {}
  for i = 1, count do which[i] = i end
  return which
end

--- f as a function of the arrays of x.
local function of_arrays(f, x) return function(...) return core.called(f, leaves.replaced(x, {...})) end end

local function check_one_result(op, y)
  if core.is_array(y) then return end
  core.raise(("[%s] expected a function whose result is an array, got %s%s"):format(op, core.describe(y),
    y == nil and "; return gives a function's result" or ""))
end

--- gpu.jvp(f, arguments, tangents)
--- f's result, and its derivative along the tangents of the arguments.
function gpu.jvp(f, arguments, tangents)
  checks.callable("jvp", f)
  if type(arguments) ~= "table" then core.fail("jvp", "a list of f's arguments", arguments) end
  if type(tangents) ~= "table" or #tangents ~= #arguments then
    core.fail("jvp", ("a list of %d tangents, one for each argument"):format(#arguments), tangents)
  end
  for i, x in ipairs(arguments) do
    local what = "argument " .. i
    arrays_of("jvp", what, x)
    direction("jvp", "a tangent", what, x, tangents[i])
  end
  local all, along = arrays_of("jvp", "arguments", arguments), arrays_of("jvp", "arguments", tangents)
  local found = {gpu.vjp(of_arrays(function(list) return core.called(f, unpack(list)) end, arguments), unpack(all))}
  if #found ~= 2 then
    core.raise(("[jvp] expected a function with one result, got %d%s"):format(#found - 1, #found == 1 and "; return gives a function's result" or ""))
  end
  local y, pull = found[1], found[2]
  check_one_result("jvp", y)
  return y, linear.transposed(y, pull)(unpack(along))
end

--- The second derivatives of a function of arrays times v, in lists.
local function second(f, x, v)
  local found = {gpu.vjp(gpu.grad(f, first(#x)), unpack(x))} -- the second derivatives are symmetric
  return {found[#found](unpack(v))}
end

--- gpu.hvp(f, x, v)
--- The second derivatives of f, which gives one real number, times v.
function gpu.hvp(f, x, v)
  checks.callable("hvp", f)
  local arrays = arrays_of("hvp", "x", x)
  return leaves.replaced(x, second(of_arrays(f, x), arrays, direction("hvp", "an array", "x", x, v)), true)
end

--- An array like x that is 1 at element i and 0 elsewhere.
local function unit(x, i)
  return gpu.arange(x.size, {dtype = "int64", device = x.device}):eq(i - 1):astype(x.dtype):reshape(x.shape)
end

--- The function that gives the derivatives of each element of f's result by each element of the argument at `which`.
local function jacobian_of(op, f, which, mode)
  return function(...)
    local arguments = {n = select("#", ...), ...}
    local x = arguments[which]
    local arrays, size = arrays_of(op, "argument " .. which, x), 0
    for _, one in ipairs(arrays) do size = size + one.size end
    local found = {gpu.vjp(of_arrays(function(z)
      arguments[which] = z
      local ok, result = core.call(f, unpack(arguments, 1, arguments.n))
      if not ok then
        local message = checks.with_missing(result, f, arguments.n)
        -- The script has called gpu.vjp no more than it has gpu.grad.
        error(type(message) == "string" and message:gsub("%[vjp%]", ("[%s]"):format(op)) or message, 0)
      end
      return result
    end, x), unpack(arrays))}
    local y, pull = found[1], found[2]
    check_one_result(op, pull and y)
    local is_forward = mode == "forward" or mode == nil and size <= y.size
    local push = is_forward and linear.transposed(y, pull)
    local rows, all = {}, {}
    if not is_forward then
      for i = 1, y.size do rows[i] = {pull(unit(y, i))} end
    end
    for k, one in ipairs(arrays) do
      local parts, shape = {}, {}
      for _, like in ipairs {y, one} do
        for _, extent in ipairs(like.shape) do shape[#shape + 1] = extent end
      end
      if is_forward then
        local along = {}
        for j, other in ipairs(arrays) do along[j] = gpu.zeros_like(other) end
        for i = 1, one.size do
          along[k] = unit(one, i)
          parts[i] = push(unpack(along)):reshape(-1)
        end
      else
        for i, row in ipairs(rows) do parts[i] = row[k]:reshape(-1) end
      end
      all[k] = gpu.stack(parts, is_forward and 2 or 1):reshape(shape)
    end
    return leaves.replaced(x, all, true)
  end
end

--- gpu.jacobian(f [, which] [, {mode}])
--- The function that gives the derivatives of each element of f's result by each element of an argument.
function gpu.jacobian(f, which, options)
  local op = "jacobian"
  if type(which) == "table" then which, options = nil, which end
  checks.callable(op, f)
  which = checks.count(op, "the position of the argument to differentiate by", which or 1, 1)
  return jacobian_of(op, f, which, checks.choice(op, "mode", checks.fields(op, options).mode, {"forward", "reverse"}))
end

--- gpu.hessian(f)
--- The function that gives the second derivatives of f, which gives one real number.
function gpu.hessian(f)
  checks.callable("hessian", f)
  return jacobian_of("hessian", gpu.grad(f), 1)
end

--- The sum of the products of the elements in two lists of arrays.
local function dot(x, y)
  local sum
  for i, one in ipairs(x) do
    local part = (one * y[i]):sum()
    sum = sum and sum + part or part
  end
  return sum
end

--- gpu.check_grad(f, x [, {order, directions}])
--- The greatest difference between derivatives along random directions and differences of f, relative to the gradient's norm.
function gpu.check_grad(f, x, options)
  checks.callable("check_grad", f)
  options = checks.fields("check_grad", options)
  local at = arrays_of("check_grad", "x", x)
  for _, one in ipairs(at) do
    if one.dtype ~= "float64" then core.fail("check_grad", "arrays float64, in which differences are exact enough", one) end
  end
  local order = checks.count("check_grad", "order = 1 or 2", options.order or 1, 1, 2)
  local directions = checks.count("check_grad", "directions = a number of 1 or more", options.directions or 3, 1)
  local of = of_arrays(f, x)
  local worst, size = 0, 1
  for _, one in ipairs(at) do size = math.max(size, one:abs():max():item()) end
  local function random()
    local list = {}
    for i, one in ipairs(at) do list[i] = gpu.random.normal(one.shape, 0, 1, {dtype = "float64", device = one.device}) end
    return list
  end
  local function compare(value, slope)
    local least = math.max(1e-5 * math.abs(value(at):item()), 1e-300) -- below it, differences are rounding
    for _ = 1, directions do
      local v = random()
      local length = dot(v, v):sqrt()
      for i, one in ipairs(v) do v[i] = one / length end
      local function moved(h)
        local list = {}
        for i, one in ipairs(at) do list[i] = one + h * v[i] end
        return value(list):item()
      end
      local function difference(h) return (moved(h) - moved(-h)) / (2 * h) end
      -- Central differences; Richardson's extrapolation takes their error of second order away.
      local h = 2e-3 * size
      local expected = (4 * difference(h / 2) - difference(h)) / 3
      local g = slope(at)
      local found, norm = gpu.eval(dot(g, v), dot(g, g):sqrt())
      local error = math.abs(found:item() - expected) / math.max(norm:item(), math.abs(expected), least)
      worst = error > worst and error or error ~= error and error or worst
    end
  end
  local gradient = gpu.grad(of, first(#at))
  local function slopes(z) return {gradient(unpack(z))} end
  compare(function(z) return of(unpack(z)) end, slopes)
  if order == 2 then
    local w = random()
    compare(function(z) return dot(slopes(z), w) end, function(z) return second(of, z, w) end)
  end
  return worst
end
