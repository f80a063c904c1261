-- The groups of a table's rows, and their sums, means and so on.
local gpu, _, core, import = ...
local kinds = import "kinds"
local checks = import "checks"
local plain_column = import("text_column").plain
local table_parts = import("table").parts

local exports = {}

local own = table_parts
local fields_of, new_table, add, names_in, order_of = own.fields_of, own.new_table, own.add, own.names_in, own.order_of
local device_of, check_option = own.device_of, own.check_option
local group_methods = {}
local groups = {__metatable = "groups of rows", methods = group_methods}
exports.class = groups
local parts_of = setmetatable({}, {__mode = "k"})

-- What other libraries' names of methods are called here.
local meant = {
  size = "g:count()", agg = 'g:mean("price") and others, each a table', aggregate = 'g:mean("price") and others, each a table',
}

function groups.__index(g, key)
  if group_methods[key] then return group_methods[key] end
  local names = {}
  for name in pairs(group_methods) do names[#names + 1] = name end
  local use = meant[key] and "; use " .. meant[key] or core.did_you_mean(tostring(key), names)
  if fields_of[parts_of[g].sorted].arrays[key] then use = ("; g:mean(%q) is a table of its means"):format(key) end
  core.raise(("[group_by] groups have no method %s%s"):format(core.describe(key), use))
end

function groups.__tostring(g)
  local parts = parts_of[g]
  return ("%.0f groups by %s; g:sum(), g:mean(), g:std(), g:median(), g:min(), g:max() and g:count() give tables"):format(parts.starts.size,
    table.concat(parts.keys, ", "))
end

--- The narrowest dtype that holds 0 to count - 1.
local function narrow(count)
  return count <= 2 ^ 8 and "uint8" or count <= 2 ^ 16 and "uint16" or count <= 2 ^ 32 and "uint32" or "int64"
end

--- One array of small integers from 0 in the order of the keys, which sorts faster than they do, and how many there may be; nil
--- where the ranges of the keys are too wide. Waits for the ranges.
local function code_of(fields, keys)
  local columns, ends = {}, {}
  for i, name in ipairs(keys) do
    local key = plain_column(fields.arrays[name])
    if fields.rows == 0 or kinds.is_floating(key) or kinds.is_complex(key) then return end
    columns[i] = core.cast(key, "int64")
    ends[2 * i - 1], ends[2 * i] = key:min(), key:max()
  end
  local values, code, count = {gpu.eval(unpack(ends))}, nil, 1
  for i, key in ipairs(columns) do
    local least, greatest = values[2 * i - 1]:item(), values[2 * i]:item()
    if type(least) == "boolean" then least, greatest = least and 1 or 0, greatest and 1 or 0 end
    if type(least) ~= "number" or type(greatest) ~= "number" then return end
    local range = greatest - least + 1
    count = count * range
    if count > 2 ^ 32 then return end
    code = code and code * range + (key - least) or key - least
  end
  return core.cast(code, narrow(count)):eval(), count
end

--- Where the groups begin, from 1, and in `bounds` where each ends, by the number of rows with each code.
local function groups_by_count(code, count)
  local counts = gpu.bincount(code, {minlength = count})
  local ends = counts:take(gpu.flatnonzero(counts:gt(0))):cumsum()
  local bounds = gpu.concat {gpu.zeros(1, {dtype = "int64", device = code.device}), ends}
  return bounds({1, -2}) + 1, bounds
end

--- The same by the keys of the rows in their order.
local function groups_by_change(sorted_keys, n, device)
  local changes = gpu.zeros(math.max(n - 1, 0), {dtype = "bool", device = device})
  for _, key in ipairs(n > 1 and sorted_keys or {}) do
    local before, after = key({1, n - 1}), key({2, n})
    local differ = before:ne(after)
    if kinds.is_floating(key) then differ = differ:logical_and(before:isnan():logical_and(after:isnan()):logical_not()) end
    changes = changes:logical_or(differ)
  end
  if n > 0 then changes = gpu.concat {gpu.ones(1, {dtype = "bool", device = device}), changes} end
  local starts = gpu.flatnonzero(changes)
  return starts, gpu.concat {starts - 1, gpu.full(1, n, {dtype = "int64", device = device})}
end

--- The groups of a table's rows by the columns `keys`, for t:group_by(names...).
function exports.group_rows(t, fields, keys)
  local n, order, starts, bounds = fields.rows, nil, nil, nil
  local code, count = code_of(fields, keys)
  if code and count <= 2 ^ 16 then
    order = code:argsort()
    starts, bounds = groups_by_count(code, count)
  else
    local sorted_keys = {}
    if code or n > 0 and #keys == 1 and not kinds.is_complex(fields.arrays[keys[1]]) then
      sorted_keys[1], order = (code or plain_column(fields.arrays[keys[1]])):topk(n, 1, {largest = false})
    else
      order = order_of("group_by", fields, keys)
      for i, name in ipairs(keys) do sorted_keys[i] = fields.arrays[name]:take(order) end
    end
    starts, bounds = groups_by_change(sorted_keys, n, device_of(fields))
  end
  local g = setmetatable({}, groups)
  parts_of[g] = {keys = keys, rows = n, sorted = t:take(order), starts = starts:eval(), bounds = bounds:eval()}
  return g
end

--- For each row the number of its group.
local function numbers(parts)
  if not parts.numbers then
    local begins = gpu.zeros(parts.rows, {dtype = "bool", device = parts.starts.device})
    begins[parts.starts] = true
    parts.numbers = begins:cumsum()
  end
  return parts.numbers
end

local function check_groups(op, value)
  local parts = type(value) == "table" and parts_of[value]
  if not parts then core.fail(op, ("groups, as t:group_by gives, and a colon: groups:%s(...)"):format(op), value) end
  return parts
end

local function count_of(parts) return parts.bounds({2, -1}) - parts.bounds({1, -2}) end

--- The sums of a column's groups. Sums of integers are exact; those of floats have one order.
local function sums(parts, x)
  if kinds.is_floating(x) then
    if kinds.working(x) ~= x.dtype then x = core.cast(x, "float32") end
    return core.sum_lines(gpu.where(x:isnan(), 0, x):eval(), parts.bounds)
  end
  local total = gpu.zeros(parts.starts.size, {dtype = x.dtype:find "^uint" and "uint64" or "int64", device = x.device})
  if x.size > 0 then gpu.scatter_add(total, numbers(parts), core.cast(x, total.dtype)) end
  return total
end

--- How many values of each group are there.
local function present(parts, x)
  if not kinds.is_floating(x) then return count_of(parts) end
  return core.cast(core.sum_lines(core.cast(x:isnan():logical_not(), "float64"):eval(), parts.bounds), "int64")
end

--- The values in the order of their groups, and within these ascending, with NaN last.
local function ordered_values(parts, x)
  local sorted, by_value = x:topk(x.size, 1, {largest = false})
  local by_group = core.cast(numbers(parts), narrow(parts.starts.size + 1)):take(by_value):argsort()
  return sorted:take(by_group)
end

-- How many values a thread compares.
local piece = 64

--- The least or greatest of the items of each line, of which `starts` has the first. Long lines are cut into pieces.
local function line_extremes(x, starts, greatest)
  local n = x.size
  while n > 4 * piece * starts.size do
    local is_first = (gpu.arange(n, {dtype = "int64", device = x.device}) % piece):eq(0):eval()
    is_first[starts] = true
    local firsts = gpu.flatnonzero(is_first)
    x = line_extremes(x, firsts, greatest)
    starts, n = is_first:cumsum():take(starts), firsts.size
  end
  local bounds = gpu.concat {starts - 1, gpu.full(1, n, {dtype = "int64", device = x.device})}:eval()
  return core.extreme_of_lines(x:eval(), bounds, 0, greatest)
end

--- The least or greatest value of each group, without NaN where it has others.
local function extreme(parts, x, greatest)
  if x.size == 0 then return x end
  if not kinds.is_floating(x) then return line_extremes(x, parts.starts, greatest) end
  local wide = core.cast(x, (kinds.working(x)))
  local extremes = line_extremes(gpu.where(wide:isnan(), greatest and -math.huge or math.huge, wide), parts.starts, greatest)
  return core.cast(gpu.where(present(parts, x):eq(0), 0 / 0, extremes), x.dtype)
end

local function mean(parts, x)
  local total = sums(parts, x)
  if not kinds.is_floating(total) then total = core.cast(total, "float64") end
  return total / core.cast(present(parts, x), total.dtype)
end

local function variance(parts, x, ddof)
  local means = mean(parts, x)
  local off = core.cast(x, means.dtype) - means:take(numbers(parts))
  local squares = gpu.where(x:isnan(), 0, off * off):eval()
  return core.sum_lines(squares, parts.bounds) / core.cast(gpu.maximum(present(parts, x) - ddof, 0), means.dtype)
end

--- The mean of the two values in the middle of each group after sorting; of one value, that value twice.
local function median(parts, x)
  x = core.cast(x, (kinds.working(x)))
  if x.size == 0 then return x end
  local ordered, n = ordered_values(parts, x), present(parts, x)
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
  if not checks.is_options(options) then return 0 end
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
        if not new.arrays[name] and (takes_text or not is_text) and not kinds.is_complex(x) then names[#names + 1] = name end
      end
    end
    for _, name in ipairs(names) do
      local x, texts = sorted.arrays[name], sorted.texts[name]
      if new.arrays[name] then core.raise(("[%s] expected a column that is not a key, got %s"):format(op, name)) end
      if texts and not takes_text or kinds.is_complex(x) then core.fail(op, "a column of real numbers", name) end
      add(op, new, name, aggregate(parts, plain_column(x):eval(), ddof), texts)
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

core.guard_methods(group_methods, "g:", {
  sum = "([names...])", mean = "([names...])", median = "([names...])", min = "([names...])", max = "([names...])", count = "()",
  var = "([names...] [, {ddof}])", std = "([names...] [, {ddof}])",
})

return exports
