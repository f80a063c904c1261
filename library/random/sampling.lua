-- Random permutations and choices.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local check_source = import("random").check_source
local random, draw = gpu.random, core.draw

--- The items to choose from: the positions of an array's axis, or the numbers from 1 to `n`. `n`: the number of items.
local Items = {}
Items.__index = Items

local function items_of(op, x, options, generator)
  generator = generator or options.generator
  local items = setmetatable({op = op, generator = generator}, Items)
  if core.is_array(x) then
    if options.device ~= nil then core.fail(op, "the option device beside a number of items alone", options.device) end
    items.array, items.axis, items.device = x, core.axis(op, options.axis or 1, x.ndim), x.device
    items.n = x.shape[items.axis]
    return items
  end
  if type(x) == "table" and not core.is_number(x[1]) and x[1] ~= nil then
    core.raise(("[%s] expected an array or a number of items, got %s; gpu.%s(%s) gives positions in a table t"):format(op, core.describe(x), op,
      op == "random.choice" and "#t, n" or "#t"))
  end
  items.n = checks.integer(op, "an array or a number of items", x)
  if x < 0 then core.fail(op, "a number of items of 0 or more", x) end
  if options.axis ~= nil then core.fail(op, "an array beside the option axis", x) end
  items.device = draw(op, "random_uniform", 0, "float64", generator, options.device).device
  return items
end

function Items:uniform(shape) return draw(self.op, "random_uniform", shape, "float64", self.generator, self.device) end
function Items:integers(shape, low, high, dtype)
  return core.draw_integers(self.op, shape, low, high, dtype or "int64", self.generator, self.device)
end
--- The first `count` of all positions in random order. From this many items on, a key chooses the order: nothing is sorted.
local many = 2 ^ 16
function Items:order(count)
  if self.n >= many then
    return draw(self.op, "random_permutation", count, "int64", self.generator, self.device, "uint64", self.n) + 1
  end
  -- Random keys of 63 bits. Equal keys are so rare that all orders are equally likely.
  local order = self:integers(self.n, 0, 0x7fffffffffffffffLL):argsort(1)
  return count < self.n and order {1, count} or order
end
function Items:at(positions) return self.array and self.array:take(positions, self.axis) or positions end

--- gpu.random.permutation(x [, {axis, generator, device}])
local function permutation(generator, x, options)
  local op = "random.permutation"
  local items = items_of(op, x, check_source(op, options, generator), generator)
  return items:at(items:order(items.n))
end

local function shuffle(generator, x, options)
  local op = "random.shuffle_"
  local items = items_of(op, checks.array(op, x), check_source(op, options, generator), generator)
  return x:copy_(items:at(items:order(items.n)):eval())
end

-- ---- choices --------------------------------------------------------------------------------------------------------------------

-- Tolerance for the sum of probabilities: the square root of the dtype's precision.
local tolerances = {float16 = 2 ^ -5, bfloat16 = 2 ^ -3.5, float32 = 2 ^ -11.5}

--- Checks the probabilities. Returns them in float64, and the number of nonzero ones.
local function check_probabilities(items, p)
  local op = items.op
  if type(p) == "table" then p = gpu.array(p, {dtype = "float64", device = items.device}) end
  checks.real(op, p)
  if p.ndim ~= 1 or p.size ~= items.n then
    core.raise(("[%s] expected a probability for each of %d items, got shape %s"):format(op, items.n, checks.shape_text(p.shape)))
  end
  local tolerance = tolerances[p.dtype] or 2 ^ -26
  p = core.cast(p, "float64")
  local least, sum, possible = gpu.eval(p:min(), p:sum(), p:count_nonzero())
  least, sum = least:item(), sum:item()
  if not (least >= 0) then core.fail(op, "probabilities of 0 or more", least) end
  if not (math.abs(sum - 1) <= tolerance) then core.fail(op, "probabilities that sum to 1", sum) end
  return p, possible:item()
end

local function with_replacement(items, shape, p)
  if not p then return items:integers(shape, 1, items.n) end
  local upper = p:cumsum()
  return gpu.searchsorted(upper / upper({-1, -1}), items:uniform(shape))
end

--- The first items of a random order. With probabilities, the items with the least of exponentially distributed times with rates
--- p, whose order is distributed like that of successive draws.
local function without_replacement(items, shape, p, count)
  if not p then return items:order(count):reshape(shape) end
  local times = gpu.where(p:gt(0), -gpu.log(items:uniform(items.n)) / p, math.huge)
  local _, positions = times:topk(count, 1, {largest = false})
  return positions:reshape(shape)
end

--- gpu.random.choice(x [, shape] [, {axis, replace, p, generator, device}])
local function choice(generator, x, shape, options)
  local op = "random.choice"
  if checks.is_options(shape) then shape, options = checks.shift(op, shape, options) end
  options = check_source(op, options, generator)
  local replace = checks.flag(op, "replace", options.replace) ~= false
  shape = checks.integers(op, "a shape: a table or a number", shape or {})
  local items, count = items_of(op, x, options, generator), 1
  for _, extent in ipairs(shape) do
    if extent < 0 then core.fail(op, "sizes of 0 or more", extent) end
    count = count * extent
  end
  if count == 0 then return items:at(core.positions(shape, 1, 1, "int64", {device = items.device})) end
  if items.n == 0 then core.raise(("[%s] expected items to choose from, got none"):format(op)) end
  local p, possible = nil, items.n
  if options.p ~= nil then p, possible = check_probabilities(items, options.p) end
  if not replace and count > possible then
    core.raise(("[%s] expected at most %d items without replacement, got %d"):format(op, possible, count))
  end
  return items:at((replace and with_replacement or without_replacement)(items, shape, p, count))
end

for name, fn in pairs {choice = choice, permutation = permutation, shuffle_ = shuffle} do
  random[name] = function(...) return fn(nil, ...) end
  core.generator_methods[name] = fn
end
--- gpu.random.shuffle_(x [, {axis, generator}])
--- x:shuffle_([{axis, generator}])
function methods.shuffle_(x, options) return shuffle(nil, x, options) end
