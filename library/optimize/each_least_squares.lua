-- gpu.optimize.least_squares with each = true: the method of Levenberg and Marquardt for many problems of up to 8 parameters, a thread
-- each, with the damping of H. B. Nielsen (1999) and the scales of J. J. Moré (1978). The normal equations are locals of the search,
-- whose text is written for the number of parameters; the derivatives of the residuals are those of dual numbers.
local gpu, _, core, import = ...
local checks, each, numbers = import "checks", import "each", import "numbers"

local most_parameters = 8

local list = each.list

--- each.list() for j from 1 to n and i from j to n.
local function lower(n, format, separator)
  local items = {}
  for j = 1, n do
    for i = j, n do items[#items + 1] = format:gsub("%$i", tostring(i)):gsub("%$j", tostring(j)) end
  end
  return table.concat(items, separator or ", ")
end

--- Solves (A + damping D) p = -g by Cholesky's decomposition.
local function damped_step(n)
  local text = ""
  for j = 1, n do
    for i = j, n do
      local term = i == j and ("a%d_%d + damping * d%d"):format(i, j, i) or ("a%d_%d"):format(i, j)
      for k = 1, j - 1 do term = term .. (" - l%d_%d * l%d_%d"):format(i, k, j, k) end
      text = text .. (i == j and "local l%d_%d = math.sqrt(%s)\n" or "local l%d_%d = (%s) / l" .. j .. "_" .. j .. "\n"):format(i, j, term)
    end
  end
  for i = 1, n do
    local term = "-g" .. i
    for k = 1, i - 1 do term = term .. (" - l%d_%d * p%d"):format(i, k, k) end
    text = text .. ("p%d = (%s) / l%d_%d\n"):format(i, term, i, i)
  end
  for i = n, 1, -1 do
    local term = "p" .. i
    for k = i + 1, n do term = term .. (" - l%d_%d * p%d"):format(k, i, k) end
    text = text .. ("p%d = (%s) / l%d_%d\n"):format(i, term, i, i)
  end
  return text
end

-- $data: what f gets of observation k. half: half of the sum of squares.
local search = [[
local gpu, f = ...
local $captured
return function(i, m, xtol, ftol, gtol, maxiter, precision, $starts)
  local function normal($x)
    local half = 0 * x1
    local $zero_g = $zeros
    local $zero_a = $more_zeros
    for k = 1, m do
      local r, $j = gpu.value_and_grad(f, {$positions})($x, $data)
      half = half + 0.5 * r * r
      $add_g
      $add_a
    end
    return half, $g, $a
  end
  local $x = $detached
  local half, $g, $a = normal($x)
  local $d
  $first_d
  local damping, growth = 0 * x1 + 1e-3, 0 * x1 + 2
  local reason, iterations = gpu.int32(1), gpu.int32(0)
  local is_flat = half == 0 or math.max($steepness) <= gtol * math.sqrt(2 * half)
  if not (half - half == 0) then
    reason = gpu.int32(2)
  elseif is_flat then
    reason = gpu.int32(0)
  end
  local $p
  while reason == 1 and iterations < maxiter do
    iterations = iterations + 1
    do
      $solve
    end
    local to_half, $to_g, $to_a = normal($to)
    local moved, length = $moved, $length
    local predicted = 0.5 * ($predicted)
    local gain = half - to_half
    local ratio = gain / predicted
    if to_half - to_half == 0 and predicted > 0 and gain > 0 then
      local is_small = (gain <= ftol * half and predicted <= ftol * half and ratio <= 2) or moved <= xtol * xtol * length
      half = to_half
      $accept
      local t = 2 * ratio - 1
      damping = damping * math.max(1 / 3, 1 - t * t * t)
      growth = 0 * growth + 2
      if half == 0 or is_small or math.max($steepness) <= gtol * math.sqrt(2 * half) then reason = gpu.int32(0) end
    elseif predicted <= precision * half or moved == 0 then
      reason = gpu.int32(0)
    elseif not (damping * growth < 1e35) then
      reason = gpu.int32(5)
    else
      damping = damping * growth
      growth = 2 * growth
    end
  end
  return $x, half, gpu.int8(reason), iterations
end, function(...) $captured = ... end
]]

local function parts_of(n, data, names)
  return {
    captured = names, data = data, starts = list(n, "s$i"), detached = list(n, "gpu.detach(s$i)"), x = list(n, "x$i"), g = list(n, "g$i"),
    a = lower(n, "a$i_$j"), d = list(n, "d$i"), p = list(n, "p$i"), j = list(n, "j$i"), positions = list(n, "$i"),
    to = list(n, "x$i + p$i"), to_g = list(n, "u$i"), to_a = lower(n, "b$i_$j"), zero_g = list(n, "g$i"), zero_a = lower(n, "a$i_$j"),
    zeros = list(n, "half"), more_zeros = lower(n, "half"), add_g = list(n, "g$i = g$i + j$i * r", "\n"),
    add_a = lower(n, "a$i_$j = a$i_$j + j$i * j$j", "\n"), first_d = list(n, "d$i = a$i_$i > 0 and a$i_$i or 1 + 0 * x1", "\n"),
    steepness = list(n, "a$i_$i > 0 and math.abs(g$i) / math.sqrt(a$i_$i) or 0 * x1"), solve = damped_step(n),
    moved = list(n, "d$i * p$i * p$i", " + "), length = list(n, "d$i * x$i * x$i", " + "),
    predicted = list(n, "p$i * (damping * d$i * p$i - g$i)", " + "),
    accept = table.concat({list(n, "x$i, g$i = x$i + p$i, u$i", "\n"), lower(n, "a$i_$j = b$i_$j", "\n"),
      list(n, "d$i = math.max(d$i, a$i_$i)", "\n")}, "\n"),
  }
end

local function leading(shape)
  local lead = {}
  for axis = 1, #shape - 1 do lead[axis] = shape[axis] end
  return lead
end

--- What the search reads of an argument of f: the array with the problems along its first axis, if it has several, and the text of an
--- observation's element.
local function observations(value, name, problems, count, m)
  if not core.is_array(value) or value.ndim == 0 then return value, name end
  local at = value.shape[value.ndim] == m and "[k]" or "[1]"
  if value.ndim == 1 then return value, name .. at end
  local size = value.shape[value.ndim]
  local full = {unpack(problems)}
  full[#full + 1] = size
  return value:broadcast_to(full):reshape(count, size), name .. "[i]" .. at
end

return function(op, f, x0, options)
  each.check_options(op, options, "xtol ftol gtol")
  if type(x0) ~= "table" or #x0 < 1 or #x0 > most_parameters then
    each.refuse_starts(op, most_parameters, x0)
  end
  local n, args = #x0, each.arguments(op, options.args)
  if core.depends(unpack(args)) then
    core.raise(("[%s] has with each = true no derivative; x:detach() makes constants of args"):format(op))
  end
  each.check(op, f, n + #args)
  local dtype = each.dtype {x0, args}
  local starts, shapes, m = {}, {}, nil
  for i, value in ipairs(x0) do
    starts[i] = each.start(op, ("x0[%d]: a number or an array"):format(i), value, dtype)
    shapes[i] = starts[i].shape
  end
  for _, value in ipairs(args) do
    if core.is_array(value) and value.ndim > 0 then
      local own = value.shape[value.ndim]
      if m and m ~= 1 and own ~= 1 and own ~= m then
        core.raise(("[%s] expected arrays whose last axis has the observations, got axes of %d and %d"):format(op, m, own))
      end
      m = m and m ~= 1 and m or own
      shapes[#shapes + 1] = leading(value.shape)
    end
  end
  if not m then core.fail(op, "args with an array, whose last axis has the observations", options.args) end
  local problems = gpu.broadcast_shapes(unpack(shapes))
  local count = 1
  for _, size in ipairs(problems) do count = count * size end
  local data, read, names = {}, {}, {}
  for j, value in ipairs(args) do
    names[j] = "c" .. j
    data[j], read[j] = observations(value, names[j], problems, count, m)
  end
  for i, start in ipairs(starts) do starts[i] = start:broadcast_to(problems):reshape(count) end
  local is_double = dtype == "float64"
  local function tolerance(name) return checks.tolerance(op, name, options[name]) or (is_double and 1e-8 or 1e-4) end
  local results = {each.run(op, f, search, parts_of(n, table.concat(read, ", "), table.concat(names, ", ")), data,
    gpu.range(1, count, 1, {dtype = "int64", device = starts[1].device}), m, tolerance "xtol", tolerance "ftol", tolerance "gtol",
    numbers.maxiter(op, options, 100 * (n + 1)), is_double and 1e-12 or 1e-5, unpack(starts))}
  gpu.eval(unpack(results))
  for i, result in ipairs(results) do results[i] = result:reshape(problems) end
  local x = {unpack(results, 1, n)}
  return x, each.report(op, results[n + 2], results[n + 3], {value = results[n + 1]})
end
