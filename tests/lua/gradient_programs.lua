-- Random functions of arrays, whose gradients are compared with differences of their values, and with the gradients of the same function
-- run in other ways: evaluated early, computed again, fused, recorded in a graph. `check(seed)` gives a text where something differs.
local gpu = require "gpu"
local generator = require("dag_programs").generator

local programs = {}

local function choose(random, list) return list[random(#list)] end

--- Random numbers of a shape, by a generator of their own.
local function numbers(random, shape)
  local size, values = 1, {}
  for _, extent in ipairs(shape) do size = size * extent end
  for i = 1, size do values[i] = (random(4001) - 2001) / 1000 end
  local flat = gpu.array(values, "float64")
  return flat:reshape(shape):eval()
end

-- ---- operations -------------------------------------------------------------------------------------------------------------------
-- Each takes the random numbers of the structure and a function that picks an array, and gives an array, or nil where none fits.
-- Values stay within a few units, so that differences are exact enough.

local unary = {
  gpu.sin, gpu.cos, gpu.tanh, gpu.atan, gpu.erf, gpu.sigmoid, gpu.abs,
  function(x) return gpu.exp(-x * x) end,
  function(x) return gpu.sqrt(1 + x * x) end,
  function(x) return gpu.log(1.5 + x * x) end,
  function(x) return 1 / (2 + gpu.sin(x)) end,
  function(x) return 0.5 * x - 1 end,
  function(x) return gpu.tanh(x) ^ 3 end,
  function(x) return (1.2 + gpu.cos(x)) ^ 1.7 end,
  function(x) return gpu.clip(x, -0.8, 0.9) end,
  function(x) return gpu.maximum(x, 0.1) end,
  function(x) return gpu.where(x:gt(0.3), gpu.sin(x), 0.5 * x) end,
  function(x) return gpu.where(x:gt(0), gpu.sqrt(gpu.abs(x) + 1e-3), 0) end,
  -- Branches that are not chosen are NaN.
  function(x) return gpu.where(x:gt(0.2), gpu.log(x), gpu.where(x:lt(-0.2), gpu.sqrt(-x), x)) end,
  function(x)
    local y = gpu.sqrt(x)
    y = gpu.where(y:eq(y), y, gpu.where(x:lt(-1), 0.5 * x, y * 2))
    return gpu.where(x:gt(0), y, 0.1 * x)
  end,
  function(x) return x:copy() end,
  function(x) return x:astype "float32":astype "float64" * 0 + x end,
  function(x) return gpu.lgamma(2 + gpu.abs(x)) end,
}
local binary = {
  function(x, y) return x + y end,
  function(x, y) return x - 0.5 * y end,
  function(x, y) return gpu.sin(x) * y end,
  function(x, y) return x / (1 + y * y) end,
  gpu.maximum, gpu.minimum,
  function(x, y) return gpu.atan2(x, 1.1 + gpu.tanh(y)) end,
  function(x, y) return gpu.hypot(x, 1 + y * y) end,
  function(x, y) return (1.1 + gpu.tanh(x)) ^ gpu.sin(y) end,
  function(x, y) return gpu.where(x:lt(y), x * y, gpu.cos(y)) end,
  function(x, y) return gpu.logaddexp(x, y) end,
}
local reductions = {
  function(x, ...) return x:mean(...) end,
  function(x, ...) return gpu.sin(x:sum(...)) end,
  function(x, ...) return x:max(...) end,
  function(x, ...) return x:min(...) end,
  function(x, ...) return gpu.tanh(x):prod(...) end,
  function(x, ...) return x:var(...) end,
  function(x, ...) return gpu.logsumexp(x, ...) end,
  function(x, ...) return gpu.sqrt(1e-2 + x:var(...)) end,
}

--- Whether arrays of these shapes broadcast to at most `most` elements.
local function fit(a, b)
  local rank, size = math.max(#a.shape, #b.shape), 1
  for k = 0, rank - 1 do
    local m, n = k < #a.shape and a.shape[#a.shape - k] or 1, k < #b.shape and b.shape[#b.shape - k] or 1
    if m ~= n and m ~= 1 and n ~= 1 then return false end
    size = size * math.max(m, n)
  end
  return size <= 400
end

local operations = {
  {6, function(random, pick) return choose(random, unary)(pick()) end},
  {6, function(random, pick)
    local a, b = pick(), pick()
    local f = choose(random, binary)
    return fit(a, b) and f(a, b) or nil
  end},
  {4, function(random, pick)
    local a = pick()
    local axis, keepdims = random(#a.shape + 1) - 1, random(2) == 1
    local f = choose(random, reductions)
    if axis == 0 then return f(a) end
    return f(a, axis, {keepdims = keepdims})
  end},
  {1, function(random, pick)  -- rows that are scaled
    local a = pick()
    if #a.shape == 0 then return end
    local axis = random(#a.shape)
    return (a - a:mean(axis, {keepdims = true})) / gpu.sqrt(a:var(axis, {keepdims = true}) + 0.1)
  end},
  {1, function(_, pick)
    local a = pick()
    return #a.shape > 0 and gpu.softmax(a, -1) or nil
  end},
  {4, function(random, pick)  -- views
    local a = pick()
    local rank, kind = #a.shape, random(7)
    if kind == 1 then return a:expand_dims(random(rank + 1)) end
    if kind == 2 then return a:reshape(-1) end
    if rank == 0 then return end
    local axis, specs = random(rank), {}
    for k = 1, rank do specs[k] = ":" end
    local extent = a.shape[axis]
    if kind == 3 then return a.T end
    if kind == 4 then specs[axis] = "::-1" end
    if kind == 5 then specs[axis] = ("%d:"):format(random(extent)) end
    if kind == 6 then specs[axis] = "::2" end
    if kind == 7 then specs[axis] = random(extent) end
    return a(unpack(specs))
  end},
  {2, function(random, pick)  -- gathers, with repeated positions
    local a = pick()
    if #a.shape == 0 then return end
    local axis, positions = random(#a.shape), {}
    for i = 1, random(5) do positions[i] = random(a.shape[axis]) end
    return a:take(random(2) == 1 and positions or gpu.array(positions, "int32"), axis)
  end},
  {2, function(random, pick)
    local a = pick()
    return #a.shape > 0 and a:roll(random(7) - 4, random(#a.shape)) or nil
  end},
  {1, function(random, pick)
    local a = pick()
    return #a.shape > 0 and 0.5 * a:cumsum(random(#a.shape)) or nil
  end},
  {1, function(_, pick)
    local a = pick()
    return #a.shape > 0 and gpu.sort(a) or nil
  end},
  {1, function(random, pick)
    local a = pick()
    if a.size > 100 then return end
    return #a.shape > 0 and gpu.concat({a, gpu.sin(a), a}, random(#a.shape)) or gpu.stack({a, 2 * a})
  end},
  {1, function(_, pick)
    local a = pick()
    if #a.shape ~= 2 then return end
    return gpu.tanh(a:matmul(a.T))
  end},
  {1, function(_, pick)
    local a, b = pick(), pick()
    if #a.shape ~= 2 or #b.shape ~= 2 or a.shape[1] ~= b.shape[1] then return end
    return 0.3 * gpu.einsum("ij,ik->jk", a, b)
  end},
  {1, function(_, pick)
    local a = pick()
    if a.size > 100 then return end
    local shape = {3}
    for _, extent in ipairs(a.shape) do shape[#shape + 1] = extent end
    return gpu.broadcast_to(a, shape)
  end},
  {1, function(random, pick)  -- a loop
    local a, b = pick(), pick()
    if a.shape ~= b.shape then b = gpu.sin(a) end
    for _ = 1, 1 + random(6) do a = gpu.sin(a + 0.3 * b) end
    return a
  end},
  {4, function(random, pick)  -- writes to a copy, of which views are read before and after
    local a, value = pick(), pick()
    if #a.shape == 0 or not fit(a, value) then return end
    local y = random(2) == 1 and a:copy() or 0.5 * a
    local axis, specs = random(#a.shape), {}
    for k = 1, #a.shape do specs[k] = ":" end
    local extent = a.shape[axis]
    local first = random(extent)
    local last = first + random(extent - first + 1) - 1
    specs[axis] = choose(random, {":", "::2", "::-1", first .. ":" .. last, first .. ":" .. last})
    local part = y(unpack(specs))
    if random(2) == 1 then part = part.T end
    local before = gpu.sin(y) * y
    local kind = random(9)
    local fits = #value.shape <= #part.shape
    for k = 0, #value.shape - 1 do
      fits = fits and (value.shape[#value.shape - k] == 1 or value.shape[#value.shape - k] == part.shape[#part.shape - k])
    end
    if not fits then value = value:mean() end
    if kind == 1 then part:fill_(0.3) end
    if kind == 2 then part:copy_(value) end
    if kind == 3 then part:mul_(value) end
    if kind == 4 then part:add_(gpu.sin(part) * value) end
    if kind == 5 then part:copy_(gpu.flip(part, 1)) end
    if kind == 6 then y[y:detach():gt(0.2)] = value:mean() end
    if kind == 7 then y:tanh_():sub_(0.5 * y:mean()) end
    if kind == 8 then gpu.sin(part, {out = part}) end
    if kind == 9 then
      local positions = gpu.array({random(a.shape[1]), random(a.shape[1])}, "int32")
      if random(2) == 1 then
        gpu.scatter_add(y, positions, value:mean())
      else
        y[positions] = value:mean()
      end
    end
    return y + before * part:mean()
  end},
  {1, function(random, pick)  -- a recursion whose steps go into an array
    local a = pick()
    if a.size > 60 then return end
    local count, shape = 1 + random(4), {}
    for k, extent in ipairs(a.shape) do shape[1 + k] = extent end
    shape[1] = count
    local path = gpu.empty(shape, "float64")
    path[1] = a
    for i = 2, count do path[i] = gpu.sin(path(i - 1)) + 0.3 * a end
    return path
  end},
  {1, function(_, pick) return gpu.checkpoint(function(x) return gpu.sin(x) * gpu.cos(x * x) end)(pick()) end},
  {1, function(_, pick)
    local a, b = pick(), pick()
    if not fit(a, b) then return end
    return gpu.custom(function(x, y) return gpu.sin(x) * gpu.cos(y) end, {jvp = function(_, x, y, dx, dy)
      return gpu.cos(x) * gpu.cos(y) * dx - gpu.sin(x) * gpu.sin(y) * dy
    end})(a, b)
  end},
}
local weighted = {}
for _, entry in ipairs(operations) do
  for _ = 1, entry[1] do weighted[#weighted + 1] = entry[2] end
end

--- A function of arrays of these shapes that gives one number. `early`: arrays that it evaluates, by the number of the step; true: all.
local function program(structure, shapes)
  return function(early, ...)
    local random = generator(structure * 7919 + 5)
    local arrays = {...}
    local function pick() return arrays[#arrays + 1 - math.min(random(#arrays), random(#arrays))] end
    for step = 1, 3 + random(7) do
      local made
      for _ = 1, 6 do
        made = choose(random, weighted)(random, pick)
        if made then break end
      end
      if made then
        arrays[#arrays + 1] = made
        if early and early(step) then gpu.eval(made) end
      end
    end
    -- Every array counts, each with weights of its own.
    local total = 0
    for i, x in ipairs(arrays) do total = total + (gpu.sin(x + 0.1 * i)):mean() end
    return total
  end, shapes
end

local extents = {1, 2, 3, 4, 5, 7}

--- The function of a structure, and its arguments for a seed of values.
local function prepare(structure, seed)
  local random, shapes = generator(structure * 104729 + 11), {}
  local dims = {choose(random, extents), choose(random, extents)}
  for i = 1, 1 + random(3) do
    local rank = random(4) - 1
    local shape = {}
    for k = 1, rank do shape[k] = random(5) == 1 and 1 or dims[(k + 2 - rank) % 2 + 1] end
    shapes[i] = shape
  end
  local values, arguments = generator(structure * 31 + seed * 15485863 + 3), {}
  for i, shape in ipairs(shapes) do arguments[i] = numbers(values, shape) end
  return program(structure), arguments, values
end

local function dot(a, b) return (a * b):sum():item() end

--- The derivative along the directions by differences, extrapolated as Richardson does, and how exact it is.
local function difference(f, arguments, directions)
  local function at(h)
    local moved = {}
    for i, x in ipairs(arguments) do moved[i] = x + h * directions[i] end
    return f(nil, unpack(moved)):item()
  end
  local h = 2e-4
  local coarse, fine = (at(h) - at(-h)) / (2 * h), (at(h / 2) - at(-h / 2)) / h
  return (4 * fine - coarse) / 3, math.abs(fine - coarse)
end

--- A text where the gradient of a structure's function differs from differences at several points: a kink may be near one.
local function check_differences(structure, seed)
  local worst
  for attempt = 0, 2 do
    local f, arguments, values = prepare(structure, seed + 1000 * attempt)
    local which, directions = {}, {}
    for i, x in ipairs(arguments) do
      which[i] = i
      directions[i] = numbers(values, x.shape)
    end
    local found = {gpu.value_and_grad(function(...) return f(nil, ...) end, which)(unpack(arguments))}
    local along = 0
    for i, x in ipairs(arguments) do
      local g = found[1 + i]
      if g.shape ~= x.shape or g.dtype ~= "float64" then return ("gradient %d is %s, the argument %s"):format(i, g.dtype, x.dtype) end
      along = along + dot(g, directions[i])
    end
    local expected, spread = difference(f, arguments, directions)
    local error = math.abs(along - expected)
    if error <= 1e-7 * math.max(1, math.abs(expected)) + spread then return nil end
    worst = ("along a direction %.12g, by differences %.12g"):format(along, expected)
  end
  return worst
end

--- A text where another way to run the gradient gives something else.
local function check_ways(structure, seed)
  local f, arguments = prepare(structure, seed)
  local which = {}
  for i in ipairs(arguments) do which[i] = i end
  local gradient = gpu.grad(function(...) return f(nil, ...) end, which)
  local plain = {gradient(unpack(arguments))}
  gpu.eval(unpack(plain))
  local coin = generator(seed * 31 + structure)
  local ways = {
    {"again", gradient},
    {"evaluated early", gpu.grad(function(...) return f(function() return coin(2) == 1 end, ...) end, which)},
    {"evaluated at each step", gpu.grad(function(...) return f(function() return true end, ...) end, which)},
    {"eager", function(...)
      gpu.eager(true)
      local found = {gradient(...)}
      gpu.eager(false)
      return unpack(found)
    end},
    {"fused", gpu.fuse(gradient)},
    {"in a graph", function(...)
      local given, results = {...}, nil
      local graph = gpu.graph(function()
        results = {gpu.eval(gradient(unpack(given)))}
        return unpack(results)
      end)
      graph:launch()
      return unpack(results)
    end},
  }
  for _, way in ipairs(ways) do
    local ran, other = pcall(function() return {way[2](unpack(arguments))} end)
    -- Functions with products, sorts and scans are not for gpu.fuse.
    if not ran and not (way[1] == "fused" and other:find("expected a function of array expressions", 1, true)) then error(other, 0) end
    if not ran then other = plain end
    for i, g in ipairs(plain) do
      if not gpu.allclose(g, other[i], {rtol = 1e-11, atol = 1e-12}) then
        return ("%s: gradient %d is\n%s, not\n%s"):format(way[1], i, tostring(other[i]), tostring(g))
      end
    end
  end
end

--- Checks structures from `first` on with some values; `ways`: every so many of them are also run in other ways. A text where one fails.
function programs.run(first, count, values, ways)
  for structure = first, first + count - 1 do
    for seed = 1, values do
      local ok, difference = pcall(function()
        return check_differences(structure, seed) or (seed == 1 and ways > 0 and structure % ways == 0 and check_ways(structure, seed)) or nil
      end)
      if not ok or difference then return ("structure %d, values %d: %s"):format(structure, seed, tostring(difference)) end
    end
  end
end

return programs
