-- The groups of a table's rows, and their sums, means and so on.
local gpu, _, core = ...

local own = core.table_parts
local fields_of, new_table, add, names_in, order_of = own.fields_of, own.new_table, own.add, own.names_in, own.order_of
local device_of, check_option = own.device_of, own.check_option
local groups = {__metatable = "groups of rows"}
local group_methods = {}
local parts_of = setmetatable({}, {__mode = "k"})

function groups.__index(_, key)
  if group_methods[key] then return group_methods[key] end
  local names = {}
  for name in pairs(group_methods) do names[#names + 1] = name end
  core.raise(("[group_by] groups have no method %s%s"):format(core.describe(key), core.did_you_mean(tostring(key), names)))
end

function groups.__tostring(g)
  local parts = parts_of[g]
  return ("%.0f groups by %s; g:sum(), g:mean(), g:std(), g:median(), g:min(), g:max() and g:count() give tables"):format(parts.starts.size,
    table.concat(parts.keys, ", "))
end

--- The groups of a table's rows by the columns `keys`, for t:group_by(names...).
function core.group_rows(t, fields, keys)
  local n = fields.rows
  local sorted = t:take(order_of("group_by", fields, keys))
  local changes = gpu.zeros(math.max(n - 1, 0), {dtype = "bool", device = device_of(fields)})
  for _, name in ipairs(keys) do
    local key = fields_of[sorted].arrays[name]
    if n > 1 then
      local before, after = key({1, n - 1}), key({2, n})
      local differ = before:ne(after)
      if core.is_floating(key) then differ = differ:logical_and(before:isnan():logical_and(after:isnan()):logical_not()) end
      changes = changes:logical_or(differ)
    end
  end
  if n > 0 then changes = gpu.concat {gpu.ones(1, {dtype = "bool", device = changes.device}), changes} end
  local starts = gpu.flatnonzero(changes)
  local g = setmetatable({}, groups)
  parts_of[g] = {
    keys = keys, sorted = sorted, starts = starts, number = changes:cumsum(),
    bounds = gpu.concat {starts - 1, gpu.full(1, n, {dtype = "int64", device = changes.device})}:eval(),
  }
  return g
end

local function check_groups(op, value)
  local parts = type(value) == "table" and parts_of[value]
  if not parts then core.fail(op, "groups, as t:group_by gives", value) end
  return parts
end

local function count_of(parts) return parts.bounds({2, -1}) - parts.bounds({1, -2}) end

--- The sums of a column's groups. Sums of integers are exact; those of floats have one order.
local function sums(parts, x)
  if core.is_floating(x) then
    if core.working(x) ~= x.dtype then x = core.cast(x, "float32") end
    return core.sum_lines(gpu.where(x:isnan(), 0, x):eval(), parts.bounds)
  end
  local total = gpu.zeros(parts.starts.size, {dtype = x.dtype:find "^uint" and "uint64" or "int64", device = x.device})
  if x.size > 0 then gpu.scatter_add(total, parts.number, core.cast(x, total.dtype)) end
  return total
end

--- How many values of each group are there.
local function present(parts, x)
  if not core.is_floating(x) then return count_of(parts) end
  return core.cast(core.sum_lines(core.cast(x:isnan():logical_not(), "float64"):eval(), parts.bounds), "int64")
end

--- The least or greatest value of each group: the first or last one after sorting, in which NaN is last.
local function extreme(parts, x, greatest)
  if x.size == 0 then return x end
  local ordered = x:take(gpu.lexsort {x, parts.number})
  if not greatest then return ordered:take(parts.starts) end
  return ordered:take(parts.starts + gpu.maximum(present(parts, x), 1) - 1)
end

local function mean(parts, x)
  local total = sums(parts, x)
  if not core.is_floating(total) then total = core.cast(total, "float64") end
  return total / core.cast(present(parts, x), total.dtype)
end

local function variance(parts, x, ddof)
  local means = mean(parts, x)
  local off = core.cast(x, means.dtype) - means:take(parts.number)
  local squares = gpu.where(x:isnan(), 0, off * off):eval()
  return core.sum_lines(squares, parts.bounds) / core.cast(gpu.maximum(present(parts, x) - ddof, 0), means.dtype)
end

--- The mean of the two values in the middle of each group after sorting; of one value, that value twice.
local function median(parts, x)
  x = core.cast(x, (core.working(x)))
  if x.size == 0 then return x end
  local ordered, n = x:take(gpu.lexsort {x, parts.number}), present(parts, x)
  local lower, upper = gpu.maximum(n - 1, 0):floor_divide(2), n:floor_divide(2)
  return ordered:take(parts.starts + lower) / 2 + ordered:take(parts.starts + upper) / 2
end

local aggregates = {
  sum = sums, mean = mean, var = variance, median = median,
  std = function(parts, x, ddof) return variance(parts, x, ddof):sqrt() end,
  min = function(parts, x) return (extreme(parts, x, false)) end,
  max = function(parts, x) return (extreme(parts, x, true)) end,
}

--- Takes {ddof = 1} from the end of the arguments.
local function take_ddof(op, given)
  local options = given[given.n]
  if not core.is_options(options) then return 0 end
  check_option(op, options, "ddof")
  given.n = given.n - 1
  if type(options.ddof) ~= "number" then core.fail(op, "ddof, a number", options.ddof) end
  return options.ddof
end

local function keys_of(op, parts)
  local result, new = new_table(parts.starts.size)
  local sorted = fields_of[parts.sorted]
  for _, name in ipairs(parts.keys) do add(op, new, name, sorted.arrays[name]:take(parts.starts), sorted.texts[name]) end
  return result, new
end

for op, aggregate in pairs(aggregates) do
  local takes_text = op == "min" or op == "max"
  local takes_ddof = op == "var" or op == "std"
  group_methods[op] = function(g, ...)
    local parts = check_groups(op, g)
    local sorted, names = fields_of[parts.sorted], {}
    local given = {n = select("#", ...), ...}
    local ddof = takes_ddof and take_ddof(op, given)
    local result, new = keys_of(op, parts)
    if given.n > 0 then
      names = names_in(op, sorted, unpack(given, 1, given.n))
    else
      for _, name in ipairs(sorted.names) do
        local is_text, x = sorted.texts[name], sorted.arrays[name]
        if not new.arrays[name] and (takes_text or not is_text) and not core.is_complex(x) then names[#names + 1] = name end
      end
    end
    for _, name in ipairs(names) do
      local x, texts = sorted.arrays[name], sorted.texts[name]
      if new.arrays[name] then core.raise(("[%s] expected a column that is no key, got %s"):format(op, name)) end
      if texts and not takes_text or core.is_complex(x) then core.fail(op, "a column of real numbers", name) end
      add(op, new, name, aggregate(parts, x, ddof), texts)
    end
    return result
  end
end

--- g:count(): the rows of each group.
function group_methods.count(g)
  local parts = check_groups("count", g)
  local result, new = keys_of("count", parts)
  if new.arrays.count then core.raise "[count] expected no key called count, which is the name of the result's column" end
  add("count", new, "count", count_of(parts))
  return result
end
