-- The groups of a table's rows, and their sums, means and so on.
local gpu, _, core, import = ...
local kinds = import "kinds"
local checks = import "checks"
local columns = import "columns"
local aggregate_parts = import "table_aggregates"
local plain_column, aggregates = columns.plain, aggregate_parts.by_name
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
  size = "g:count()", agg = 'g:aggregate{price = "mean"}', apply = 'g:aggregate{price = {"mean", "max"}}',
  transform = "t:join(g:mean(name), key): the value of its group for each row", rolling = "t.x:rolling(n, {by = t.key}):mean()",
  shift = "t.x:shift(n, {by = t.key})", pct_change = "t.x:pct_change(n, {by = t.key})", diff = "t.x - t.x:shift(1, {by = t.key})",
  cumsum = "t.x:expanding{by = t.key}:sum()", nth = "g:first() and g:last()", head = "g:first() and g:last()",
}

function groups.__index(g, key)
  if group_methods[key] then return group_methods[key] end
  local names = {}
  for name in pairs(group_methods) do names[#names + 1] = name end
  table.sort(names)
  local use = meant[key] and "; use " .. meant[key] or core.did_you_mean(tostring(key), names)
  if use == "" then use = "; they have " .. table.concat(names, ", ") end
  if fields_of[parts_of[g].sorted].arrays[key] then use = ("; g:mean(%q) is a table of its means"):format(key) end
  core.raise(("[group_by] groups have no method %s%s"):format(core.describe(key), use))
end

function groups.__len(g) return parts_of[g].starts.size end

function groups.__call()
  core.raise("[group_by] expected a method, got a loop or a call: g:mean() and g:aggregate{...} give a table with a row for each group, and "
    .. "t:where(name, key) one with a group's rows")
end

function groups.__tostring(g)
  local parts = parts_of[g]
  return ('%.0f groups by %s; g:mean() and others, and g:aggregate{name = "mean"}, give tables'):format(parts.starts.size,
    table.concat(parts.keys, ", "))
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
  local key_columns = {}
  for i, name in ipairs(keys) do key_columns[i] = columns.key(fields.arrays[name]) end
  local code, count = columns.code(key_columns)
  if code and count <= 2 ^ 16 then
    order = code:argsort()
    starts, bounds = groups_by_count(code, count)
  else
    local sorted_keys = {}
    if code or n > 0 and #keys == 1 and not kinds.is_complex(fields.arrays[keys[1]]) then
      sorted_keys[1], order = (code or key_columns[1]):topk(n, 1, {largest = false})
    else
      order = order_of("group_by", fields, keys)
      for i, name in ipairs(keys) do sorted_keys[i] = plain_column(fields.arrays[name]):take(order) end
    end
    starts, bounds = groups_by_change(sorted_keys, n, device_of(fields))
  end
  local g = core.object(groups)
  parts_of[g] = {keys = keys, rows = n, sorted = t:take(order), starts = starts:eval(), bounds = bounds:eval()}
  return g
end

local function check_groups(op, value)
  local parts = parts_of[value]
  if not parts then core.fail(op, ("groups, as t:group_by gives, and a colon: groups:%s(...)"):format(op), value) end
  return parts
end

local names_of_aggregates = {}
for name in pairs(aggregates) do names_of_aggregates[#names_of_aggregates + 1] = name end
table.sort(names_of_aggregates)

local function keys_of(op, parts)
  local result, new = new_table(parts.starts.size)
  local sorted = fields_of[parts.sorted]
  for _, name in ipairs(parts.keys) do
    add(op, new, name, plain_column(sorted.arrays[name]):take(parts.starts), sorted.kinds[name])
  end
  return result, new
end

--- Whether an aggregate takes a column.
local function fits(aggregate, sorted, name)
  return not kinds.is_complex(sorted.arrays[name]) and (aggregate.of == "all" or not sorted.kinds[name])
end

--- Adds the aggregate of a column, called `as`, to a table.
local function add_aggregate(op, new, parts, aggregate, name, as, option)
  local sorted = fields_of[parts.sorted]
  local kind = sorted.kinds[name]
  if not fits(aggregate, sorted, name) then core.fail(op, "real numbers in column " .. name, sorted.arrays[name]) end
  if new.arrays[as] then core.raise(("[%s] expected a column that is not a key, got %s"):format(op, as)) end
  local x = (aggregate.by_key and columns.key or plain_column)(sorted.arrays[name]):eval()
  add(op, new, as, aggregate[1](parts, x, option, kind), aggregate.keeps and kind or nil)
end

--- Takes {ddof = 0} from the end of the arguments; 1 without it.
local function take_ddof(op, given)
  local options = given[given.n]
  if not checks.is_options(options) then return 1 end
  check_option(op, options, "ddof")
  given.n = given.n - 1
  if type(options.ddof) ~= "number" then core.fail(op, "ddof, a number", options.ddof) end
  return options.ddof
end

--- The fraction q at the front of the arguments, which it is taken from.
local function take_fraction(op, given)
  local q = table.remove(given, 1)
  given.n = given.n - 1
  return checks.fraction(op, "a number from 0 to 1, and names of columns after it", q)
end

for op, aggregate in pairs(aggregates) do
  group_methods[op] = function(g, ...)
    local parts = check_groups(op, g)
    local sorted, names = fields_of[parts.sorted], {}
    local given = {n = select("#", ...), ...}
    local option
    if aggregate.option == "ddof" then option = take_ddof(op, given) end
    if aggregate.option == "q" then option = take_fraction(op, given) end
    local result, new = keys_of(op, parts)
    if given.n > 0 then
      names = names_in(op, sorted, unpack(given, 1, given.n))
    else
      for _, name in ipairs(sorted.names) do
        if not new.arrays[name] and fits(aggregate, sorted, name) then names[#names + 1] = name end
      end
    end
    for _, name in ipairs(names) do add_aggregate(op, new, parts, aggregate, name, name, option) end
    return result
  end
end

--- g:count(): the rows of each group.
function group_methods.count(g)
  local parts = check_groups("count", g)
  local result, new = keys_of("count", parts)
  if new.arrays.count then core.raise "[count] expected no key called count, which is the name of the result's column" end
  add("count", new, "count", aggregate_parts.count_of(parts))
  return result
end

--- g:aggregate(what [, {ddof}]): several of them, {price = "mean", volume = {"sum", "max"}}.
function group_methods.aggregate(g, what, options)
  local op = "aggregate"
  local parts = check_groups(op, g)
  local sorted = fields_of[parts.sorted]
  if type(what) ~= "table" or next(what) == nil then core.fail(op, 'names by column, {price = "mean", volume = {"sum", "max"}}', what) end
  if options == nil then options = {} end
  if type(options) ~= "table" then core.fail(op, "{ddof = 0}", options) end
  check_option(op, options, "ddof")
  if options.ddof ~= nil then checks.finite(op, "ddof, a number", options.ddof) end
  for name in pairs(what) do
    if aggregates[name] and not sorted.arrays[name] then
      core.raise(("[aggregate] expected aggregates by column, {price = %q}, got columns by aggregate"):format(name))
    end
    local of = type(what[name]) == "table" and what[name][1]
    if not sorted.arrays[name] and sorted.arrays[of] then
      core.raise(('[aggregate] expected aggregates by column, {%s = "max"} gives %s and {%s = {"max"}} %s_max, got a name for the result, %s'):format(
        of, of, of, of, core.describe(name)))
    end
    names_in(op, sorted, name)
  end
  local result, new = keys_of(op, parts)
  for _, name in ipairs(sorted.names) do
    local asked = what[name]
    local list = type(asked) == "table" and asked or {asked}
    if type(asked) == "table" and core.check_list(op, "names of aggregates", asked) == 0 then core.fail(op, "at least one aggregate", asked) end
    for _, called in ipairs(list) do
      local aggregate = type(called) == "string" and called ~= "quantile" and aggregates[called]
      if not aggregate then
        core.raise(("[aggregate] expected one of %s, got %s%s"):format(table.concat(names_of_aggregates, ", "):gsub(", quantile", ""),
          core.describe(called), called == "quantile" and "; groups:quantile(q, names...) gives a table of them"
          or type(called) == "function" and "; a function of one's own takes the rows of one group, t:where(name, key)"
          or core.did_you_mean(tostring(called), names_of_aggregates)))
      end
      local option = aggregate.option and (options.ddof or 1) or nil
      add_aggregate(op, new, parts, aggregate, name, type(asked) == "table" and name .. "_" .. called or name, option)
    end
  end
  return result
end

checks.refuse_operators(groups, "[group_by] expected a table's columns or arrays, got groups, whose methods give a table: t:group_by(names):mean().price * 2")

core.guard_methods(group_methods, "g:", {
  sum = "([names...])", mean = "([names...])", median = "([names...])", min = "([names...])", max = "([names...])", count = "()",
  var = "([names...] [, {ddof}])", std = "([names...] [, {ddof}])", first = "([names...])", last = "([names...])", nunique = "([names...])",
  quantile = "(q [, names...])", aggregate = "(what [, {ddof}])",
})

return exports
