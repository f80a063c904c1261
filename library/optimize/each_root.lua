-- gpu.optimize.root with each = true: roots of many small systems, a thread each, by Newton's method. A step that does not lessen the sum
-- of squares is halved. Each equation is a function of its own for derivatives; what they share, the device's compiler finds.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, each, numbers = import "checks", import "each", import "numbers"

local most_unknowns = 6

local list = each.list

--- Statements that solve J h = -r by elimination with pivots; the row of column j becomes row j.
local function elimination(n)
  local text = ""
  local function add(format, ...) text = text .. format:format(...) .. "\n" end
  for j = 1, n do
    for i = j + 1, n do
      local left, right = {}, {}
      for k = j, n do
        left[#left + 1], right[#right + 1] = ("m%d_%d"):format(j, k), ("m%d_%d"):format(i, k)
      end
      left[#left + 1], right[#right + 1] = "r" .. j, "r" .. i
      local rows, other = table.concat(left, ", "), table.concat(right, ", ")
      add("if math.abs(m%d_%d) > math.abs(m%d_%d) then %s, %s = %s, %s end", i, j, j, j, rows, other, other, rows)
    end
    for i = j + 1, n do
      add("local q%d_%d = m%d_%d / m%d_%d", i, j, i, j, j, j)
      for k = j + 1, n do add("m%d_%d = m%d_%d - q%d_%d * m%d_%d", i, k, i, k, i, j, j, k) end
      add("r%d = r%d - q%d_%d * r%d", i, i, i, j, j)
    end
  end
  for i = n, 1, -1 do
    local term = "-r" .. i
    for k = i + 1, n do term = term .. (" - m%d_%d * h%d"):format(i, k, k) end
    add("local h%d = (%s) / m%d_%d", i, term, i, i)
  end
  return text
end

local search = [[
local gpu, f = ...
return function(xtol, rtol, maxiter, $starts$P)
  $constants
  $equations
  local function newton($x$p)
    $rows
    local size = $size
    $elimination
    return size, $steps
  end
  local $x = $detached
  local reason, iterations = gpu.int32(1), gpu.int32(0)
  local size, $steps = newton($x$p)
  if size - size ~= 0 then
    reason = gpu.int32(2)
  elseif size == 0 then
    reason = gpu.int32(0)
  end
  while reason == 1 and iterations < maxiter do
    iterations = iterations + 1
    local sum = $sum
    if sum - sum ~= 0 then reason = gpu.int32(4) break end
    if $are_small then
      $go
      reason = gpu.int32(0)
      break
    end
    local t, tries = 0 * x1 + 1, gpu.int32(0)
    local to_size, $to_steps = newton($to$p)
    while not (to_size <= (1 - 2e-4 * t) * size) and tries < 40 do
      t = 0.5 * t
      tries = tries + 1
      to_size, $to_steps = newton($to$p)
    end
    if not (to_size <= (1 - 2e-4 * t) * size) then reason = gpu.int32(5) break end
    $go_on
    size, $steps = to_size, $to_steps
    if size == 0 then reason = gpu.int32(0) end
  end
  if reason ~= 0 then $none end
  $follow
  return $results, gpu.int8(reason), iterations
end
]]

local function parts_of(n, args, follows)
  local P, p, equations, rows = each.names("P", args), each.names("p", args), "", ""
  local x = list(n, "x$i")
  for i = 1, n do
    equations = equations .. ("local function f%d(%s%s) local %s = f(%s%s) return r%d end\n"):format(i, x, p, list(n, "r$i"), x, p, i)
    rows = rows .. ("local r%d, %s = gpu.value_and_grad(f%d, {%s})(%s%s)\n"):format(i, list(n, "m" .. i .. "_$i"), i, list(n, "$i"), x, p)
  end
  local follow = ""
  if follows then -- two steps of Newton's method from the root, which change nothing but derivatives
    follow = ("local _, %s = newton(%s%s)\nlocal %s = %s\nlocal _, %s = newton(%s%s)\nlocal %s = %s\n"):format(list(n, "c$i"), x, P,
      list(n, "y$i"), list(n, "x$i + c$i"), list(n, "d$i"), list(n, "y$i"), P, list(n, "z$i"), list(n, "y$i + d$i"))
  end
  return {
    P = P, p = p, constants = each.constants(args), equations = equations, rows = rows, x = x, starts = list(n, "s$i"),
    detached = list(n, "gpu.detach(s$i)"), size = list(n, "r$i * r$i", " + "), elimination = elimination(n), steps = list(n, "h$i"),
    to_steps = list(n, "u$i"), to = list(n, "x$i + t * h$i"), sum = list(n, "h$i", " + "),
    are_small = list(n, "math.abs(h$i) <= xtol + rtol * math.abs(x$i)", " and "), go = list(n, "x$i = x$i + h$i", " "),
    go_on = list(n, "x$i = x$i + t * h$i", " "), none = list(n, "x$i = 0 / 0", " "), follow = follow,
    results = follows and list(n, "z$i") or x,
  }
end

--- gpu.optimize.root(f, x0, {each, args, xtol, rtol, maxiter})
function gpu.optimize.root(f, x0, options)
  local op = "optimize.root"
  options = checks.fields(op, options)
  if not numbers.is_each(op, options) then
    core.raise(("[%s] expected each = true: systems of numbers, a thread each; least_squares solves one of an array, root_scalar an equation of one number"):format(op))
  end
  if type(x0) ~= "table" or #x0 < 1 or #x0 > most_unknowns then
    each.refuse_starts(op, most_unknowns, x0)
  end
  local n, args = #x0, each.arguments(op, options.args)
  each.check(op, f, n + #args)
  local dtype = each.dtype {x0, args}
  local starts = {}
  for i, value in ipairs(x0) do starts[i] = each.start(op, ("x0[%d]: a number or an array"):format(i), value, dtype) end
  for i, value in ipairs(args) do starts[n + i] = value end
  local xtol, rtol = each.tolerances(op, options, dtype)
  local results = {each.run(op, f, search, parts_of(n, #args, core.has_tape()), nil, xtol, rtol, numbers.maxiter(op, options, 100),
    unpack(starts, 1, n + #args))}
  gpu.eval(unpack(results))
  return {unpack(results, 1, n)}, each.report(op, results[n + 1], results[n + 2], {})
end
