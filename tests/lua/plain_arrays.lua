-- A small part of the gpu module in plain Lua, to hold the real one against: one loop after the other, nothing lazy. Elements
-- are Lua numbers, exact for what integers below 2^53 come to.
local ffi = require "ffi"

local plain, methods = {}, {}
local meta = {__index = methods}

-- ---- arrays: `at` has, in row-major order, the positions of the elements in `buffer`, which views share ------------------------

local function array(shape, buffer, dtype, at)
  if not at then
    at = {}
    for i = 1, #buffer do at[i] = i end
  end
  return setmetatable({shape = shape, buffer = buffer, dtype = dtype, at = at}, meta)
end

local function is_array(x) return getmetatable(x) == meta end

local function size_of(shape)
  local size = 1
  for _, extent in ipairs(shape) do size = size * extent end
  return size
end

local function values_of(x)
  local values = {}
  for i, place in ipairs(x.at) do values[i] = x.buffer[place] end
  return values
end

local single = ffi.new "float[1]"
local function rounded(value, dtype)
  if dtype ~= "float32" or type(value) ~= "number" then return value end
  single[0] = value
  return tonumber(single[0])
end

local ranks = {bool = 1, int32 = 2, int64 = 3, float32 = 4, float64 = 5}

local function promoted(...)
  local best
  for _, x in ipairs {...} do
    if is_array(x) and (not best or ranks[x.dtype] > ranks[best]) then best = x.dtype end
  end
  return best
end

--- The positions of x's elements, broadcast to the shape.
local function broadcast(x, shape)
  local places, lead = {}, #shape - #x.shape
  local steps, step = {}, 1
  for axis = #shape, 1, -1 do
    local extent = axis > lead and x.shape[axis - lead] or 1
    assert(extent == 1 or extent == shape[axis], "shapes do not broadcast")
    steps[axis] = extent == 1 and 0 or step
    step = step * extent
  end
  local function walk(axis, from)
    if axis > #shape then
      places[#places + 1] = x.at[from]
      return
    end
    for i = 0, shape[axis] - 1 do walk(axis + 1, from + i * steps[axis]) end
  end
  walk(1, 1)
  return places
end

local function common_shape(...)
  local shape = {}
  for _, x in ipairs {...} do
    if is_array(x) then
      for _ = #shape + 1, #x.shape do table.insert(shape, 1, 1) end
      for axis, extent in ipairs(x.shape) do
        local at = axis + #shape - #x.shape
        if shape[at] == 1 then shape[at] = extent end
      end
    end
  end
  return shape
end

local function map(fn, dtype, ...)
  local operands, shape, buffer = {...}, common_shape(...), {}
  local places = {}
  for k, x in ipairs(operands) do places[k] = is_array(x) and broadcast(x, shape) or false end
  local function element(k, i)
    if places[k] then return operands[k].buffer[places[k][i]] end
    return operands[k]
  end
  for i = 1, size_of(shape) do buffer[i] = rounded(fn(element(1, i), element(2, i), element(3, i)), dtype) end
  return array(shape, buffer, dtype)
end

-- ---- elementwise operations ---------------------------------------------------------------------------------------------------

local binary = {
  add = function(a, b) return a + b end,
  subtract = function(a, b) return a - b end,
  multiply = function(a, b) return a * b end,
  remainder = function(a, b) return a % b end,
  maximum = function(a, b) return math.max(a, b) end,
  minimum = function(a, b) return math.min(a, b) end,
}
for name, fn in pairs(binary) do
  local function operation(a, b) return map(fn, promoted(a, b), a, b) end
  methods[name], plain[name] = operation, operation
  methods[name .. "_"] = function(a, b) return a:copy_(operation(a, b)) end
end
meta.__add, meta.__sub, meta.__mul, meta.__mod = methods.add, methods.subtract, methods.multiply, methods.remainder

for name, fn in pairs {
  gt = function(a, b) return a > b end,
  lt = function(a, b) return a < b end,
  eq = function(a, b) return a == b end,
} do
  methods[name] = function(a, b) return map(fn, "bool", a, b) end
end

for name, fn in pairs {
  abs = math.abs,
  negative = function(a) return -a end,
  floor = math.floor,
  square = function(a) return a * a end,
} do
  methods[name] = function(a) return map(fn, a.dtype, a) end
end
meta.__unm = methods.negative

function plain.where(condition, a, b)
  return map(function(c, x, y) if c then return x else return y end end, promoted(a, b), condition, a, b)
end

function methods.astype(a, dtype) return map(function(x) return x end, dtype, a) end
function methods.copy(a) return a:astype(a.dtype) end

-- ---- reductions and scans -----------------------------------------------------------------------------------------------------

--- fn(values, positions) for the elements along the axis, or all of them.
local function reduce(x, axis, options, dtype, fn)
  if type(axis) == "table" then axis, options = nil, axis end
  local keepdims = options and options.keepdims
  local shape, buffer, values = {}, {}, values_of(x)
  local inner, count = 1, size_of(x.shape)
  if axis then
    count = x.shape[axis]
    for k = axis + 1, #x.shape do inner = inner * x.shape[k] end
  end
  for k, extent in ipairs(x.shape) do
    if axis and k ~= axis then shape[#shape + 1] = extent elseif keepdims then shape[#shape + 1] = 1 end
  end
  for r = 0, size_of(shape) - 1 do
    local run = {}
    for i = 0, count - 1 do run[i + 1] = values[math.floor(r / inner) * inner * count + i * inner + r % inner + 1] end
    buffer[r + 1] = rounded(fn(run), dtype)
  end
  return array(shape, buffer, dtype)
end

local function fold(fn, first)
  return function(run)
    local total = first or run[1]
    for i = first and 1 or 2, #run do total = fn(total, run[i]) end
    return total
  end
end
local add = fold(binary.add, 0)
local function summed(dtype) return dtype:find "int" and "int64" or dtype end

function methods.sum(x, axis, options) return reduce(x, axis, options, summed(x.dtype), add) end
methods.nansum = methods.sum
function methods.max(x, axis, options) return reduce(x, axis, options, x.dtype, fold(math.max)) end
function methods.min(x, axis, options) return reduce(x, axis, options, x.dtype, fold(math.min)) end
function methods.mean(x, axis, options)
  return reduce(x, axis, options, x.dtype, function(run) return add(run) / #run end)
end
function methods.argmax(x, axis, options)
  return reduce(x, axis, options, "int64", function(run)
    local best = 1
    for i = 2, #run do if run[i] > run[best] then best = i end end
    return best
  end)
end

--- Rows along the last axis, each changed by fn.
local function by_rows(x, dtype, fn)
  local values, length = values_of(x), x.shape[#x.shape]
  for first = 1, #values, length do
    local row = {}
    for i = 1, length do row[i] = values[first + i - 1] end
    fn(row)
    for i = 1, length do values[first + i - 1] = row[i] end
  end
  return array(x.shape, values, dtype)
end

function methods.cumsum(x)
  return by_rows(x, summed(x.dtype), function(row) for i = 2, #row do row[i] = row[i - 1] + row[i] end end)
end
function methods.sort(x) return by_rows(x, x.dtype, table.sort) end

function methods.roll(x, shift, axis)
  local extent, inner = x.shape[axis], 1
  for k = axis + 1, #x.shape do inner = inner * x.shape[k] end
  local values, result = values_of(x), {}
  for i = 1, #values do
    local before = i - 1
    local place = math.floor(before / inner) % extent
    result[before + ((place + shift) % extent - place) * inner + 1] = values[i]
  end
  return array({unpack(x.shape)}, result, x.dtype)
end

require "plain_indexing"(plain, methods, meta, {
  array = array, is_array = is_array, values_of = values_of, rounded = rounded, promoted = promoted, broadcast = broadcast,
})

-- ---- making and reading -------------------------------------------------------------------------------------------------------

function plain.array(values, dtype)
  local buffer = {}
  for i, value in ipairs(values) do buffer[i] = value end
  return array({#values}, buffer, dtype)
end
function plain.full(shape, value, dtype)
  local buffer = {}
  for i = 1, size_of(shape) do buffer[i] = value end
  return array({unpack(shape)}, buffer, dtype)
end
function plain.arange(count, dtype)
  local buffer = {}
  for i = 1, count do buffer[i] = i - 1 end
  return array({count}, buffer, dtype)
end

function methods.item(x) return x.buffer[x.at[1]] end
function methods.table(x)
  local values, next_value = values_of(x), 0
  local function nest(axis)
    if axis > #x.shape then
      next_value = next_value + 1
      return values[next_value]
    end
    local t = {}
    for i = 1, x.shape[axis] do t[i] = nest(axis + 1) end
    return t
  end
  return nest(1)
end
function meta.__tostring() return "" end

-- ---- operations about time, not values ----------------------------------------------------------------------------------------

function plain.eval(...) return ... end
function methods.eval(x) return x end
function methods.free() end
function plain.with(_, fn) return fn() end
function plain.scope(fn) return fn() end
function plain.stream() end
function plain.sync() end

--- One result of f(a, b) is a * 2 + b, the other a - b.
function plain.pair(a, b) return a * 2 + b, a - b end
--- The elements in reverse, by an index of the body's own.
function plain.reversed(a)
  local values = values_of(a)
  local count = #values
  for i = 1, math.floor(count / 2) do values[i], values[count + 1 - i] = values[count + 1 - i], values[i] end
  return array({count}, values, a.dtype)
end
--- The sum of x + 1.
function plain.total(a) return (a + 1):sum():astype(a.dtype) end

return plain
