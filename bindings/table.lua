-- gpu.table: named columns of one length. Text is a column of positions in the sorted list of its texts.
local gpu, array_methods, core = ...

local tables = {__metatable = "a table of columns"}
local methods = {}

-- The fields of each table: its names in order, arrays and texts by name, and the number of rows. A table itself is empty, so that
-- every read and write of a column comes by.
local fields_of = setmetatable({}, {__mode = "k"})

local function check_table(op, value)
  local fields = type(value) == "table" and fields_of[value]
  if not fields then core.fail(op, "a table, as gpu.table gives", value) end
  return fields
end

local function refuse_name(op, fields, name)
  core.raise(("[%s] expected a column of %s, got %s%s"):format(op, table.concat(fields.names, ", "), core.describe(name),
    core.did_you_mean(tostring(name), fields.names)))
end

local function column_of(op, fields, name)
  return type(name) == "string" and fields.arrays[name] or refuse_name(op, fields, name)
end

-- ---- making -----------------------------------------------------------------------------------------------------------------------

local function new_table(rows)
  local t = setmetatable({}, tables)
  fields_of[t] = {names = {}, arrays = {}, texts = {}, rows = rows}
  return t, fields_of[t]
end

local function add(op, fields, name, x, texts)
  if fields.rows and x.size ~= fields.rows then
    core.raise(("[%s] expected %d rows in column %s, as in the others, got %d"):format(op, fields.rows, name, x.size))
  end
  fields.rows = x.size
  if not fields.arrays[name] then fields.names[#fields.names + 1] = name end
  fields.arrays[name], fields.texts[name] = x, texts
end

--- A column of texts as positions, and the texts in order.
local function positions_of(op, name, values)
  local found, texts, positions = {}, {}, {}
  for _, value in ipairs(values) do
    if type(value) ~= "string" then core.fail(op, ("strings alone, or numbers alone, in column %s"):format(name), value) end
    if not found[value] then
      found[value] = true
      texts[#texts + 1] = value
    end
  end
  table.sort(texts)
  for i, text in ipairs(texts) do found[text] = i end
  for i, value in ipairs(values) do positions[i] = found[value] end
  return gpu.array(positions, "int32"), texts
end

--- Adds what a script gives as a column.
local function add_given(op, fields, name, value)
  if type(name) ~= "string" or name == "" then core.fail(op, "names of columns, strings that are not empty", name) end
  local texts
  if type(value) == "table" and not fields_of[value] then
    core.check_list(op, "values", value)
    if type(value[1]) == "string" then value, texts = positions_of(op, name, value)
    else value = gpu.array(value, type(value[1]) == "boolean" and "bool" or "float64") end
  end
  if not core.is_array(value) or value.ndim ~= 1 then core.fail(op, ("a vector or a list for column %s"):format(name), value) end
  add(op, fields, name, value, texts)
end

--- gpu.table(columns [, names]); gpu.table(x), of an array, is x:table().
function gpu.table(columns, names)
  local op = "table"
  if core.is_array(columns) then
    if names ~= nil then core.fail(op, "one array, whose elements become a Lua table, or columns by name", names) end
    return array_methods.table(columns)
  end
  if type(columns) ~= "table" or fields_of[columns] then core.fail(op, "a table of columns by name, {x = x, y = y}", columns) end
  if names == nil then
    names = {}
    for name in pairs(columns) do
      if type(name) ~= "string" then core.fail(op, "names of columns that are strings, {x = x, y = y}", name) end
      names[#names + 1] = name
    end
    table.sort(names)
  else
    core.check_list(op, "names", names)
  end
  if #names == 0 then core.fail(op, "at least one column", columns) end
  local t, fields = new_table()
  for _, name in ipairs(names) do
    if columns[name] == nil then core.fail(op, "a column for each name", name) end
    if fields.arrays[name] then core.raise(("[table] expected each column once, got %s twice"):format(name)) end
    add_given(op, fields, name, columns[name])
  end
  return t
end

--- The table of a list of {name, array, texts}.
function core.table_of(columns)
  local t, fields = new_table()
  for _, column in ipairs(columns) do add("load", fields, column[1], column[2], column[3]) end
  fields.rows = fields.rows or 0
  return t
end

--- The columns of what a file of text is written from, as such a list, and the number of rows.
function core.columns_of(op, value)
  local columns, fields = {}, type(value) == "table" and fields_of[value]
  if core.is_array(value) then
    if value.ndim ~= 1 and value.ndim ~= 2 then core.fail(op, "a vector, a matrix or a table of columns", value) end
    local matrix = value.ndim == 1 and value:expand_dims(2) or value
    for i = 1, matrix.shape[2] do columns[i] = {"c" .. i, matrix(":", i)} end
    return columns, matrix.shape[1]
  end
  if type(value) ~= "table" then core.fail(op, "a vector, a matrix or a table of columns", value) end
  fields = fields or fields_of[gpu.table(value)]
  for i, name in ipairs(fields.names) do columns[i] = {name, fields.arrays[name], fields.texts[name]} end
  return columns, fields.rows
end

-- ---- columns and rows -------------------------------------------------------------------------------------------------------------

function tables.__index(t, key)
  local fields = fields_of[t]
  if methods[key] then return methods[key] end
  if fields.arrays[key] then return fields.arrays[key] end
  if key == "rows" then return fields.rows end
  if key == "names" then return {unpack(fields.names)} end
  local names = {"rows", "names", unpack(fields.names)}
  for name in pairs(methods) do names[#names + 1] = name end
  core.raise(("[table] a table has no column, property or method %s%s"):format(core.describe(key), core.did_you_mean(tostring(key), names)))
end

function tables.__newindex(t, key, value)
  if value == nil then core.fail("table", "a column; t:select(names) leaves columns out", value) end
  if methods[key] or key == "rows" or key == "names" then
    core.raise(("[table] expected a name that is no property or method of tables, got %s"):format(core.describe(key)))
  end
  add_given("table", fields_of[t], key, value)
end

--- t:column(name)
function methods.column(t, name) return (column_of("column", check_table("column", t), name)) end

--- t:texts(name)
function methods.texts(t, name)
  local fields = check_table("texts", t)
  column_of("texts", fields, name)
  local texts = fields.texts[name]
  if not texts then core.fail("texts", "a column of text", name) end
  return {unpack(texts)}
end

--- The names in the arguments: several, or one table of them.
local function names_in(op, fields, ...)
  local names = type((...)) == "table" and (...) or {...}
  if select("#", ...) > 1 and type((...)) == "table" then core.fail(op, "names, or one table of them", (select(2, ...))) end
  if core.check_list(op, "names", names) == 0 then core.fail(op, "at least one column", names) end
  local seen = {}
  for _, name in ipairs(names) do
    column_of(op, fields, name)
    if seen[name] then core.raise(("[%s] expected each column once, got %s twice"):format(op, name)) end
    seen[name] = true
  end
  return names
end

--- t:select(names...)
function methods.select(t, ...)
  local fields = check_table("select", t)
  local result, new = new_table(fields.rows)
  for _, name in ipairs(names_in("select", fields, ...)) do add("select", new, name, fields.arrays[name], fields.texts[name]) end
  return result
end

--- The device of the columns; nil where there are none, as in an empty file.
local function device_of(fields) return fields.names[1] and fields.arrays[fields.names[1]].device end

--- t:take(rows): by positions or by a mask.
function methods.take(t, rows)
  local fields = check_table("take", t)
  if type(rows) == "table" then
    rows = gpu.array(rows, {dtype = type(rows[1]) == "boolean" and "bool" or "int64", device = device_of(fields)})
  end
  core.check_array("take", rows)
  if rows.ndim ~= 1 then core.fail("take", "a vector of positions or a mask", rows) end
  if rows.dtype == "bool" then
    if rows.size ~= fields.rows then core.fail("take", ("a mask of %d rows"):format(fields.rows), rows) end
    rows = gpu.flatnonzero(rows)
  end
  local result, new = new_table(rows.size)
  for _, name in ipairs(fields.names) do add("take", new, name, fields.arrays[name]:take(rows), fields.texts[name]) end
  return result
end

--- The positions that sort by the columns, the first one first; equal rows keep their order.
local function order_of(op, fields, names)
  local keys = {}
  for i, name in ipairs(names) do
    if core.is_complex(fields.arrays[name]) then core.fail(op, "real numbers in column " .. name, fields.arrays[name]) end
    keys[#names + 1 - i] = fields.arrays[name]
  end
  return #keys == 1 and keys[1]:argsort() or gpu.lexsort(keys)
end

--- t:sort_by(names [, {descending}])
function methods.sort_by(t, names, options)
  local fields = check_table("sort_by", t)
  options = options or {}
  if type(options) ~= "table" then core.fail("sort_by", "{descending = true}, behind one name or a table of names", options) end
  for name in pairs(options) do
    if name ~= "descending" then core.raise(("[sort_by] expected the option descending, got %s"):format(core.describe(name))) end
  end
  names = names_in("sort_by", fields, names)
  local descending = core.check_flag("sort_by", "descending", options.descending)
  if not descending then return t:take(order_of("sort_by", fields, names)) end
  -- From the last row on, so that equal rows come out in their order; NaN goes to the end again.
  local turned = t:take(gpu.arange(fields.rows, 0, -1, {dtype = "int64", device = device_of(fields)}))
  local back = turned:take(order_of("sort_by", fields_of[turned], names):flip())
  local key = fields_of[back].arrays[names[1]]
  if not core.is_floating(key) then return back end
  local missing = key:isnan()
  return back:take(gpu.concat {gpu.flatnonzero(missing:logical_not()), gpu.flatnonzero(missing)})
end

-- ---- groups -------------------------------------------------------------------------------------------------------------------------

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
  return ("%.0f groups by %s; g:sum(), g:mean(), g:min(), g:max() and g:count() give tables"):format(parts.starts.size,
    table.concat(parts.keys, ", "))
end

--- t:group_by(names...)
function methods.group_by(t, ...)
  local fields = check_table("group_by", t)
  local keys = names_in("group_by", fields, ...)
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

local aggregates = {
  sum = sums,
  mean = function(parts, x)
    local total = sums(parts, x)
    if not core.is_floating(total) then total = core.cast(total, "float64") end
    return total / core.cast(present(parts, x), total.dtype)
  end,
  min = function(parts, x) return (extreme(parts, x, false)) end,
  max = function(parts, x) return (extreme(parts, x, true)) end,
}

local function keys_of(op, parts)
  local result, new = new_table(parts.starts.size)
  local sorted = fields_of[parts.sorted]
  for _, name in ipairs(parts.keys) do add(op, new, name, sorted.arrays[name]:take(parts.starts), sorted.texts[name]) end
  return result, new
end

for op, aggregate in pairs(aggregates) do
  local takes_text = op == "min" or op == "max"
  group_methods[op] = function(g, ...)
    local parts = check_groups(op, g)
    local sorted, names = fields_of[parts.sorted], {}
    local result, new = keys_of(op, parts)
    if select("#", ...) > 0 then
      names = names_in(op, sorted, ...)
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
      add(op, new, name, aggregate(parts, x), texts)
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

function tables.__tostring(t)
  core.load "table_text.lua"
  return core.table_text(fields_of[t])
end
