-- Writes random programs over arrays; dag_run.lua runs them. A program is text: its expressions use each other's results, it
-- evaluates some of them together, writes to arrays that others are computed from, frees, drops and reads, in any order. All values
-- are integers that every dtype in it holds exactly, so the results are equal and not just near.

local programs = {}

-- ---- random numbers -------------------------------------------------------------------------------------------------------------

--- next(n): 1 to n.
local function generator(seed)
  local state = seed % 2147483646 + 1
  local function next_number(n)
    state = state * 16807 % 2147483647
    return math.floor(state / 2147483647 * n) + 1
  end
  for _ = 1, 4 do next_number(1) end
  return next_number
end

programs.generator = generator

local function choose(random, list) return list[random(#list)] end

-- ---- writing a program ------------------------------------------------------------------------------------------------------------

local extents = {1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9, 17, 24}
local most = 24
-- Integers up to here are exact, whatever is summed on the way.
local limits = {float32 = 2 ^ 22, float64 = 2 ^ 50, int32 = 2 ^ 29, int64 = 2 ^ 50}

local Program = {}
Program.__index = Program

--- Three seeds, so that programs of one structure and order, whose kernels are the same, differ in sizes and values.
function programs.generate(structure, order, values)
  local self = setmetatable({
    structure = generator(structure * 7919 + 1), order = generator(structure * 104729 + order * 31 + 2),
    values = generator(values * 15485863 + structure * 101 + order + 3), lines = {}, arrays = {}, count = 0,
  }, Program)
  self.dims = {}
  for _, name in ipairs {"A", "B", "C"} do self.dims[#self.dims + 1] = {name = name, extent = choose(self.values, extents), most = most} end
  self.dtype = choose(self.structure, {"float32", "float64", "float32", "int32"})
  for _ = 1, 2 + self.structure(2) do self:leaf() end
  for _ = 1, 3 + self.structure(6) do
    self:compute()
    self:events()
  end
  self:read_all()
  return self.lines
end

function Program:line(format, ...) self.lines[#self.lines + 1] = format:format(...) end

local function extents_of(dims)
  local list = {}
  for i, dim in ipairs(dims) do list[i] = dim.extent end
  return table.concat(list, ", ")
end

--- Notes v.name as an array with these dims. A view has its source's `base`.
function Program:add(dims, dtype, bound, fields)
  self.count = self.count + 1
  local array = fields or {}
  array.name = "v" .. self.count
  array.dims, array.dtype = dims, dtype
  array.base = array.base or {bound = bound, live = 0}
  array.base.live = array.base.live + 1
  self.arrays[#self.arrays + 1] = array
  return array.name
end

--- A new dimension with the given number of positions.
function Program:new_dim(extent, greatest)
  self.count = self.count + 1
  return {name = "d" .. self.count, extent = extent, most = greatest or most}
end

local one = {name = "1", extent = 1, most = 1}

local function size_of(dims, field)
  local size = 1
  for _, dim in ipairs(dims) do size = size * dim[field] end
  return size
end

--- The dims that arrays broadcast to, or nil.
local function broadcast(...)
  local result = {}
  for _, dims in ipairs {...} do
    for _ = #result + 1, #dims do table.insert(result, 1, one) end
    local lead = #result - #dims
    for axis, dim in ipairs(dims) do
      local other = result[axis + lead]
      if other.name == "1" then result[axis + lead] = dim elseif dim.name ~= "1" and dim.name ~= other.name then return nil end
    end
  end
  return result
end

function Program:value() return self.values(19) - 10 end

function Program:leaf()
  local dims = {}
  local rank = choose(self.structure, {0, 1, 1, 2, 2, 2, 3})
  for axis = 1, rank do dims[axis] = self.structure(5) == 1 and one or self.dims[(axis + 3 - rank - 1) % 3 + 1] end
  local size, kind = size_of(dims, "extent"), self.structure(6)
  if kind == 1 and rank == 1 then
    self:line('v.%s = gpu.arange(%d, "%s")', self:add(dims, self.dtype, most), size, self.dtype)
  elseif kind <= 2 then
    self:line('v.%s = gpu.full({%s}, %d, "%s")', self:add(dims, self.dtype, 9), extents_of(dims), self:value(), self.dtype)
  else
    local values = {}
    for i = 1, size do values[i] = self:value() end
    self:line('v.%s = gpu.array({%s}, "%s"):reshape(%s)', self:add(dims, self.dtype, 9), table.concat(values, ","), self.dtype,
      rank == 0 and "{}" or extents_of(dims))
    if rank == 0 then self.lines[#self.lines] = self.lines[#self.lines]:gsub("reshape%({}%)", "sum()") end
  end
end

--- An array of the program's, more often a late one; `fits` may refuse it.
function Program:pick(random, fits)
  for _ = 1, 8 do
    local array = self.arrays[#self.arrays + 1 - math.min(random(#self.arrays), random(#self.arrays))]
    if not fits or fits(array) then return array end
  end
end

local function promoted(a, b)
  local ranks = {int32 = 1, int64 = 2, float32 = 3, float64 = 4}
  return ranks[a] > ranks[b] and a or b
end

--- An expression of values that may be too large, kept small.
local function bounded(text, bound, dtype)
  if bound <= limits[dtype] / 64 then return text, bound end
  return ("(%s) %% 11"):format(text), 11
end

-- ---- expressions -------------------------------------------------------------------------------------------------------------------

local compute = {}

local function binary(format, bound_of)
  return function(self, random)
    local a = self:pick(random)
    local b = self:pick(random, function(x) return broadcast(a.dims, x.dims) and promoted(a.dtype, x.dtype) == a.dtype end)
    if not b then return end
    local dims = broadcast(a.dims, b.dims)
    if size_of(dims, "most") > most ^ 3 then return end
    local bound = bound_of(a.base.bound, b.base.bound)
    if bound > limits[a.dtype] then return end
    local text
    text, bound = bounded(format:format("v." .. a.name, "v." .. b.name), bound, a.dtype)
    self:line("v.%s = %s", self:add(dims, a.dtype, bound), text)
  end
end

local function unary(format, bound_of)
  return function(self, random)
    local a = self:pick(random)
    local bound = bound_of(a.base.bound)
    if bound > limits[a.dtype] then return end
    local text
    text, bound = bounded(format:gsub("K", tostring(self.values(9))):gsub("X", "v." .. a.name), bound, a.dtype)
    self:line("v.%s = %s", self:add(a.dims, a.dtype, bound), text)
  end
end

local function reduction(name, dtype_of, bound_of, suffix)
  return function(self, random)
    local a = self:pick(random)
    local axis = random(#a.dims + 1) - 1
    local keepdims = random(3) == 1
    local dims, count = {}, axis == 0 and size_of(a.dims, "most") or a.dims[axis].most
    for k, dim in ipairs(a.dims) do
      if axis ~= 0 and k ~= axis then dims[#dims + 1] = dim elseif keepdims then dims[#dims + 1] = one end
    end
    local dtype, bound = dtype_of(a.dtype), bound_of(a.base.bound, count)
    if bound > limits[dtype] or (suffix and dtype:find "int") then return end
    local arguments = {}
    if axis ~= 0 then arguments[1] = tostring(axis) end
    if keepdims then arguments[#arguments + 1] = "{keepdims = true}" end
    self:line("v.%s = v.%s:%s(%s)%s", self:add(dims, dtype, bound), a.name, name, table.concat(arguments, ", "), suffix or "")
  end
end

local function same(x) return x end
local function summed(dtype) return dtype:find "int" and "int64" or dtype end
local function product(x, y) return x * y end
local function total(x, y) return x + y end

local operations = {
  {4, binary("%s + %s", total)},
  {3, binary("%s - %s", total)},
  {2, binary("%s * %s", product)},
  {1, binary("gpu.maximum(%s, %s)", math.max)},
  {1, binary("gpu.where(%s:gt(0), %s, 3)", math.max)},
  {1, binary("select(1, gpu.pair(%s, %s))", function(x, y) return 2 * x + y end)},
  {1, binary("select(2, gpu.pair(%s, %s))", total)},
  {2, unary("X * K", function(x) return 9 * x end)},
  {2, unary("X + K", function(x) return 9 + x end)},
  {1, unary("K - X", function(x) return 9 + x end)},
  {1, unary("-X", same)},
  {1, unary("X:abs():maximum(K)", function(x) return math.max(x, 9) end)},
  {1, unary("X:square()", function(x) return x * x end)},
  {1, unary("((X * 2 + 1) - X * 3 + 4):abs() - K", function(x) return 5 * x + 14 end)},
  {1, unary("gpu.scope(function() local t = X + K return t - t:max() end)", function(x) return 2 * x + 18 end)},
  {1, unary("gpu.scope(function() local t = (X - K):eval() local u = t * 2 t:free() return u end)", function(x) return 2 * x + 18 end)},
  {3, reduction("sum", summed, product)},
  {2, reduction("max", same, same)},
  {1, reduction("min", same, same)},
  {1, reduction("nansum", summed, product)},
  {1, reduction("mean", same, product, ":floor()")},
  {1, reduction("argmax", function() return "int64" end, function(_, count) return count end)},
  {3, function(self, random) return self:take(random) end},
  {4, function(self, random) return self:view(random) end},
  {4, function(self, random) return self:roll(random) end},
  {1, function(self, random) return self:scan(random) end},
  {1, function(self, random) return self:compress(random) end},
  {1, function(self, random) return self:concat(random) end},
  {1, function(self, random) return self:raw(random) end},
}
for _, entry in ipairs(operations) do for _ = 1, entry[1] do compute[#compute + 1] = entry[2] end end

function Program:compute()
  local before = #self.lines
  for _ = 1, 8 do
    choose(self.structure, compute)(self, self.structure)
    if #self.lines > before then return end
  end
end

--- Indices of the given number of positions along an extent, as text: an array, or, if `kinds` is 3, possibly a table.
function Program:indices(random, count, extent, kinds)
  local kind, list = random(kinds or 3), {}
  if kind == 1 then return ('(gpu.arange(%d, "int32") * %d) %% %d + 1'):format(count, self.values(7), extent) end
  for i = 1, count do
    list[i] = self.values(extent)
    if self.values(3) == 1 then list[i] = list[i] - extent - 1 end
  end
  return (kind == 3 and "{%s}" or 'gpu.array({%s}, "int32")'):format(table.concat(list, ","))
end

function Program:take(random)
  local a = self:pick(random, function(x) return #x.dims > 0 end)
  if not a then return end
  local axis, dim = random(#a.dims), self:new_dim(self.values(6), 6)
  local dims = {unpack(a.dims)}
  dims[axis] = dim
  self:line("v.%s = v.%s:take(%s, %d)", self:add(dims, a.dtype, a.base.bound), a.name, self:indices(random, dim.extent, a.dims[axis].extent), axis)
end

function Program:view(random)
  local a = self:pick(random, function(x) return #x.dims > 0 end)
  if not a then return end
  local dims, fields, kind, text = {unpack(a.dims)}, {base = a.base, broadcasts = a.broadcasts}, random(6)
  local axis = random(#dims)
  local specs = {}
  for k = 1, #dims do specs[k] = '":"' end
  if kind == 1 and #dims == 2 then
    dims, text = {dims[2], dims[1]}, ".T"
  elseif kind == 2 then
    local first = self.values(dims[axis].extent)
    dims[axis] = self:new_dim(dims[axis].extent - first + 1, dims[axis].most)
    specs[axis] = ('"%d:"'):format(first)
  elseif kind == 3 then
    specs[axis] = '"::-1"'
  elseif kind == 4 then
    specs[axis] = tostring(self.values(dims[axis].extent))
    table.remove(dims, axis)
  elseif kind == 5 then
    dims[axis] = self:new_dim(math.ceil(dims[axis].extent / 2), dims[axis].most)
    specs[axis] = '"::2"'
  else
    axis = random(#dims + 1)
    table.insert(dims, axis, one)
    text = (":expand_dims(%d)"):format(axis)
  end
  text = text or "(" .. table.concat(specs, ", ") .. ")"
  self:line("v.%s = v.%s%s", self:add(dims, a.dtype, nil, fields), a.name, text)
end

function Program:roll(random)
  local a = self:pick(random, function(x) return #x.dims > 0 end)
  if not a then return end
  local axis = random(#a.dims)
  self:line("v.%s = v.%s:roll(%d, %d)", self:add(a.dims, a.dtype, a.base.bound), a.name, self.values(25) - 13, axis)
end

function Program:scan(random)
  local a = self:pick(random, function(x) return #x.dims > 0 end)
  if not a then return end
  if random(2) == 1 then
    self:line("v.%s = v.%s:sort()", self:add(a.dims, a.dtype, a.base.bound), a.name)
  elseif a.base.bound * most <= limits[a.dtype] then
    self:line("v.%s = v.%s:cumsum(-1)", self:add(a.dims, summed(a.dtype), a.base.bound * most), a.name)
  end
end

function Program:compress(random)
  local a = self:pick(random, function(x) return x.base.bound * size_of(x.dims, "most") <= limits[x.dtype] end)
  if not a or #a.dims == 0 then return end
  self:line("v.%s = v.%s[v.%s:gt(%d)]:sum()", self:add({}, summed(a.dtype), a.base.bound * size_of(a.dims, "most")), a.name, a.name,
    self:value())
end

function Program:concat(random)
  local a = self:pick(random, function(x) return #x.dims > 0 and x.dims[1].most <= most end)
  if not a then return end
  local b = self:pick(random, function(x)
    if #x.dims ~= #a.dims or x.dtype ~= a.dtype then return false end
    for k = 2, #x.dims do if x.dims[k].name ~= a.dims[k].name then return false end end
    return true
  end)
  if not b then return end
  local dims = {unpack(a.dims)}
  dims[1] = self:new_dim(a.dims[1].extent + b.dims[1].extent, a.dims[1].most + b.dims[1].most)
  self:line("v.%s = gpu.concat({v.%s, v.%s})", self:add(dims, a.dtype, math.max(a.base.bound, b.base.bound)), a.name, b.name)
end

function Program:raw(random)
  local a = self:pick(random, function(x) return #x.dims == 1 end)
  if a and random(2) == 1 then
    self:line("v.%s = gpu.reversed(v.%s)", self:add(a.dims, a.dtype, a.base.bound), a.name)
  elseif a and (a.base.bound + 1) * size_of(a.dims, "most") <= limits[a.dtype] then
    self:line("v.%s = gpu.total(v.%s)", self:add({}, a.dtype, (a.base.bound + 1) * size_of(a.dims, "most")), a.name)
  end
end

-- ---- events between expressions ----------------------------------------------------------------------------------------------------

function Program:drop(array)
  for i, other in ipairs(self.arrays) do
    if other == array then table.remove(self.arrays, i) end
  end
  array.base.live = array.base.live - 1
end

local events = require "dag_events" {
  choose = choose, size_of = size_of, broadcast = broadcast, promoted = promoted, limits = limits,
}

function Program:events()
  while self.order(5) <= 2 do
    local before = #self.lines
    choose(self.order, events)(self, self.order)
    if #self.lines > before and self.order(8) == 1 then
      self.lines[#self.lines] = ("gpu.with(gpu.side, function() %s end)"):format(self.lines[#self.lines])
    end
  end
end

function Program:read_all()
  while #self.arrays > 0 do
    local a = self.arrays[self.order(#self.arrays)]
    self:line(#a.dims == 0 and "out(v.%s:item())" or "out(v.%s:table())", a.name)
    self:drop(a)
  end
end

return programs
