-- Functions of arrays, or of tables of arrays, as functions of one vector.
local gpu, _, core, import = ...
local checks, kinds, leaves, views = import "checks", import "kinds", import "leaves", import "views"
local numbers, made_of = import "numbers", import("fuse").made_of

local space = {}
space.__index = space

--- The first number in nested tables, as "p.a", and itself.
local function first_number(value, path)
  for _, key in ipairs(type(value) == "table" and leaves.keys(value) or {}) do
    local item, here = value[key], type(key) == "string" and path .. "." .. key or ("%s[%s]"):format(path, tostring(key))
    if type(item) == "number" then return here, item end
    if type(item) == "table" then
      local name, number = first_number(item, here)
      if name then return name, number end
    end
  end
end

--- The vectors of the real floating arrays in x0, in the widest of their dtypes.
function space.of(op, x0)
  local list, n, dtype = leaves.of(op, "x0", x0), 0, nil
  if #list == 0 then
    local name, number = first_number(x0, "p")
    core.raise(("[%s] expected x0: a floating array, or tables with such arrays, got %s%s"):format(op, core.describe(x0), name
      and ("; %s is a number, which stays as it is: %s = gpu.array(%g) is searched for"):format(name, name:match "[^.]*$", number) or ""))
  end
  for _, leaf in ipairs(list) do
    local x = leaf.array
    if kinds.is_complex(x) then
      core.fail(op, ("real numbers as %s; their real and imaginary parts are two arrays"):format(leaf.path), x)
    end
    if x.device ~= list[1].array.device then
      core.fail(op, ("%s on %s, as x0's other arrays"):format(leaf.path, list[1].array.device), x)
    end
    n, dtype = n + x.size, core.promote(dtype or kinds.working(x), (kinds.working(x)))
  end
  if n == 0 then core.fail(op, "x0 with elements", x0) end
  return setmetatable({op = op, x0 = x0, list = list, n = n, dtype = dtype, device = list[1].array.device, evaluations = 0}, space)
end

--- The vector of arrays in the structure of x0. `what`: what they are, in messages.
function space:pack(what, value)
  local parts, given = {}, leaves.of(self.op, "x0", value)
  for i, leaf in ipairs(self.list) do
    local x = given[i] and given[i].array
    local fits = #given == #self.list and given[i].path == leaf.path and x.shape == leaf.array.shape
    if not fits or kinds.is_complex(x) or x.device ~= self.device then
      core.raise(("[%s] expected %s of %s, real numbers %s on %s, got %s"):format(self.op, what, leaf.path,
        checks.shape_text(leaf.array.shape), self.device, core.describe(x or value)))
    end
    parts[i] = core.cast(x:reshape(x.size), self.dtype)
  end
  return #parts == 1 and parts[1] or gpu.concat(parts)
end

--- The arrays of a vector, in the structure of x0.
function space:unpack(v)
  local arrays, first = {}, 1
  for i, leaf in ipairs(self.list) do
    local x = leaf.array
    arrays[i] = core.cast(views.slice(v, 1, first, x.size):reshape(x.shape), x.dtype)
    first = first + x.size
  end
  return leaves.replaced(self.x0, arrays)
end

function space:array(values) return gpu.array(values, {dtype = self.dtype, device = self.device}) end

--- The value of f as an array of no axes, in float64.
local function scalar(self, y)
  if type(y) == "number" then return gpu.full({}, y, {dtype = "float64", device = self.device}) end
  if not core.is_array(y) or y.size ~= 1 or kinds.is_complex(y) then
    local vector = core.is_array(y) and y.size > 1
    core.raise(("[%s] expected a function that gives one real number, got %s%s"):format(self.op, core.describe(y),
      vector and "; " .. checks.of_residuals or ""))
  end
  return core.cast(y:reshape(1):sum(), "float64")
end

--- f at a vector.
function space:value(f, v)
  self.evaluations = self.evaluations + 1
  return scalar(self, (f(self:unpack(v))))
end

--- The function that gives f and its gradient at a vector.
function space:with_gradient(f, gradient)
  -- Recorded functions give arrays, no tables of them.
  local derived = not gradient and (core.is_array(self.x0) and made_of(f, "value_and_grad", gpu.value_and_grad) or gpu.value_and_grad(f))
  return function(v)
    if gradient then return self:value(f, v), self:pack("the gradient", gradient(self:unpack(v))) end
    self.evaluations = self.evaluations + 1
    local y, g = derived(self:unpack(v))
    return scalar(self, y), self:pack("the gradient", g)
  end
end

--- The bounds {low, high} of bounds = {low = ..., high = ...} or bounds = {low, high}. Two lists of two numbers for two elements may be
--- SciPy's pairs as well.
function space:named_bounds(what, bounds)
  local op = self.op
  if type(bounds) ~= "table" or core.is_array(bounds) then core.fail(op, what, bounds) end
  if bounds.low ~= nil or bounds.high ~= nil then
    for name in pairs(bounds) do
      if name ~= "low" and name ~= "high" then core.fail(op, "the fields low and high in bounds", name) end
    end
    return {bounds.low == nil and -math.huge or bounds.low, bounds.high == nil and math.huge or bounds.high}
  end
  if #bounds ~= 2 then core.raise(("[%s] expected %s, got a list of %d"):format(op, what, #bounds)) end
  local low, high = bounds[1], bounds[2]
  local are_lists = type(low) == "table" and type(high) == "table" and not core.is_array(low) and not core.is_array(high)
  if are_lists and #low == 2 and #high == 2 and self.x0.shape[self.x0.ndim] == 2 then
    core.raise(("[%s] expected %s, got two lists of two, which may be pairs of low and high"):format(op, what))
  end
  return bounds
end

local names_of_bounds = {"low", "high"}

--- The option bounds as two arrays, vectors or of no axes; nothing without it.
function space:bounds(bounds)
  if bounds == nil then return nil end
  local op, found = self.op, {}
  local is_array = core.is_array(self.x0)
  local form = is_array and self.x0.ndim == 1 and ": bounds = {low = {low1, low2}, high = {high1, high2}}" or ""
  local what = is_array and "bounds = {low, high}, numbers, arrays or lists" .. form or "bounds = {low, high}, numbers for tables"
  bounds = self:named_bounds(what, bounds)
  for i = 1, 2 do
    local bound = bounds[i]
    local is_list = type(bound) == "table" and not core.is_array(bound)
    if type(bound) == "table" and is_array then bound = checks.to_array(op, what, bound, self.x0) end
    if core.is_array(bound) and is_array then
      -- Arrays of one element broadcast, lists of one number do not: they lack the others.
      local fits = bound.ndim == 1 and (bound.size == self.x0.shape[self.x0.ndim] or bound.size == 1 and not is_list)
      if bound.ndim == 1 and not fits or is_list and bound.ndim > 1 and bound.shape ~= self.x0.shape then
        core.raise(("[%s] expected %s, got %s number%s as the %s bound for x0 of shape %s; one number alone, %s = 0, is for all"):format(op, what,
          bound.ndim == 1 and bound.size or checks.shape_text(bound.shape), bound.size == 1 and "" or "s", names_of_bounds[i],
          checks.shape_text(self.x0.shape), names_of_bounds[i]))
      end
      found[i] = core.cast(gpu.broadcast_to(bound, self.x0.shape):reshape(self.n), self.dtype):copy()
    elseif type(bound) == "number" then
      found[i] = gpu.full({}, bound, {dtype = self.dtype, device = self.device})
    else
      core.fail(op, what, bound)
    end
  end
  local ordered, free = gpu.eval(found[1]:le(found[2]):all(), found[1]:ne(found[2]):any())
  if not ordered:item() then core.raise(("[%s] expected bounds = {low, high} with low <= high%s, got low > high"):format(op, form)) end
  if not free:item() then core.raise(("[%s] expected bounds = {low, high} that leave x0 free%s, got low = high"):format(op, form)) end
  return found
end

--- Numbers on the device, arrays of no axes or vectors, for the host: in one transfer.
function space.look(...)
  local parts = {}
  for i, part in ipairs {...} do parts[i] = core.cast(part:reshape(part.size), "float64") end
  return gpu.concat(parts):table()
end

function space.dot(x, y) return (x * y):sum() end

function space:report(reason, fields)
  fields.evaluations = self.evaluations
  return numbers.report(self.op, reason, fields)
end

return space
