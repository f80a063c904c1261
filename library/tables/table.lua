-- gpu.table: named columns of one length. Text is a column of positions in the sorted list of its texts.
-- In sandboxes: all
local gpu, array_methods, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local columns = import "columns"
local given = import "given_columns"
local check_use = import "column_uses"
local plain_column, is_text, is_date, list_of = columns.plain, columns.is_text, columns.is_date, given.list_of

local exports = {}

local methods = {}
local tables = {__metatable = "a table of columns", methods = methods}
exports.class = tables -- completion and help look here

-- The fields of each table: its names in order, arrays and their kinds (columns.lua) by name, and the number of rows. A table itself is a
-- userdata, so that reads and writes of columns, # and pairs go through its metatable.
local fields_of = setmetatable({}, {__mode = "k"})

--- For completion.
function tables.columns(t) return fields_of[t].arrays end

local function check_table(op, value)
  local fields = fields_of[value]
  if not fields then core.fail(op, ("a table, as gpu.table gives, and a colon: t:%s(...)"):format(op), value) end
  return fields
end

local function refuse_name(op, fields, name)
  local use = (core.is_array(name) or columns.kind_of(name)) and "; t.name = x makes a column of an array, which has a name then"
    or type(name) == "string" and name:find "[<>=]" and "; t:take(t.name:gt(value)) gives the rows of a comparison"
    or type(name) == "string" and fields.arrays[name:match "^([^.]*)%."] and ("; a part of a column is set as one, t.part = t.%s()"):format(name:gsub("%.", ":"))
    or core.did_you_mean(tostring(name), fields.names)
  core.raise(("[%s] expected a column of %s, got %s%s"):format(op, list_of(fields.names), core.describe(name), use))
end

local function column_of(op, fields, name)
  return type(name) == "string" and fields.arrays[name] or refuse_name(op, fields, name)
end

-- ---- making -----------------------------------------------------------------------------------------------------------------------

local function new_table(rows)
  local t = core.object(tables)
  fields_of[t] = {names = {}, arrays = {}, kinds = {}, rows = rows}
  return t, fields_of[t]
end

local function refuse_rows(op, fields, name, x, advice)
  core.raise(("[%s] expected %d rows in column %s, as in the others, got %d%s"):format(op, fields.rows, name, x.size, advice or ""))
end

local function add(op, fields, name, x, kind)
  if fields.rows and x.size ~= fields.rows then refuse_rows(op, fields, name, x) end
  fields.rows = x.size
  if not fields.arrays[name] then fields.names[#fields.names + 1] = name end
  fields.arrays[name], fields.kinds[name] = columns.make(x, kind), kind
end

--- Adds what a script gives as a column.
local function add_given(op, fields, name, value) add(op, fields, name, given.column(op, name, value)) end

--- gpu.table(columns [, names])
function gpu.table(columns, names)
  local op = "table"
  if core.is_array(columns) then
    if names == nil then return array_methods.table(columns) end
    columns = given.of_matrix(op, columns, names)
  end
  if type(columns) ~= "table" then core.fail(op, "a table of columns by name, {x = x, y = y}", columns) end
  if names == nil then
    names = {}
    for name in pairs(columns) do
      if type(name) ~= "string" then given.refuse_key(op, columns, name) end
      names[#names + 1] = name
    end
    table.sort(names)
  else
    core.check_list(op, "names", names)
  end
  if #names == 0 then core.fail(op, "at least one column", columns) end
  if columns[1] ~= nil and columns[names[1]] == nil then
    core.fail(op, ("columns by name, {%s = ...}, whose order the names give"):format(core.describe(names[1]):gsub('"', "")), columns)
  end
  local arrays, kinds_of = {}, {}
  for _, name in ipairs(names) do
    if columns[name] == nil then core.fail(op, "a column for each name", name) end
    if arrays[name] then core.raise(("[table] expected each column once, got %s twice"):format(name)) end
    arrays[name], kinds_of[name] = given.column(op, name, columns[name])
  end
  given.check_rows(op, names, arrays)
  local t, fields = new_table()
  for _, name in ipairs(names) do add(op, fields, name, arrays[name], kinds_of[name]) end
  return t
end

--- The table of a list of {name, array, kind}.
function exports.table_of(columns)
  local t, fields = new_table()
  for _, column in ipairs(columns) do add("load", fields, column[1], column[2], column[3]) end
  fields.rows = fields.rows or 0
  return t
end

--- The columns of what a file of text is written from, as such a list, and the number of rows.
function exports.columns_of(op, value)
  local list, fields = {}, fields_of[value]
  if core.is_array(value) then
    if value.ndim ~= 1 and value.ndim ~= 2 then core.fail(op, "a vector, a matrix or a table of columns", value) end
    local matrix = value.ndim == 1 and value:expand_dims(2) or value
    for i = 1, matrix.shape[2] do list[i] = {"c" .. i, matrix(":", i)} end
    return list, matrix.shape[1]
  end
  if not fields and type(value) ~= "table" then core.fail(op, "a vector, a matrix or a table of columns", value) end
  fields = fields or fields_of[gpu.table(value)]
  for i, name in ipairs(fields.names) do list[i] = {name, plain_column(fields.arrays[name]), fields.kinds[name]} end
  return list, fields.rows
end

--- The device of the columns; nil where there are none, as in an empty file.
local function device_of(fields) return fields.names[1] and fields.arrays[fields.names[1]].device end

-- ---- columns and rows -------------------------------------------------------------------------------------------------------------

--- The names of columns that are also names of a property or a method: t.name gives the latter.
local function hidden_names(fields)
  local hidden = {}
  for _, name in ipairs(fields.names) do
    if methods[name] or name == "rows" or name == "names" then hidden[#hidden + 1] = name end
  end
  return hidden
end

function tables.__index(t, key)
  local fields = fields_of[t]
  if methods[key] then return methods[key] end
  if key == "rows" then return fields.rows end
  if key == "names" then return {unpack(fields.names)} end
  local x = fields.arrays[key]
  if x then
    check_use(key, x, fields.kinds[key])
    return x
  end
  if type(key) ~= "string" then
    core.raise(("[table] expected the name of a column, got %s; t.name is a column%s, t.name[i] an element, t:select(names) gives a table of "
      .. "some columns, t:take(rows) one of some rows"):format(core.describe(key),
      fields.names[key] and (", t:column(t.names[%d]) the one at a position"):format(key) or ""))
  end
  local meant = import "table_names"
  local use = meant[key] and "; use " .. meant[key]
    or core.has_date_form(key) and ("; t:take(t.date:eq(%q)) selects rows by a column of dates"):format(key)
  local names = {"rows", "names", unpack(fields.names)}
  for name in pairs(methods) do names[#names + 1] = name end
  local known = "; its columns are " .. list_of(fields.names)
  core.raise(("[table] a table has no column, property or method %s%s"):format(core.describe(key),
    use and use .. known or known .. core.did_you_mean(key, names)))
end

checks.refuse_operators(tables,
  "[table] expected columns or arrays, got a table of columns; t.name * 2 is of one column, t:matrix(names) makes a matrix of several")

function tables.__len(t) return fields_of[t].rows end

function tables.__call()
  core.raise "[table] a table is not a function: t:take(rows) gives a table of some rows, t.name is a column"
end

-- Methods whose table nobody else has.
local makes_copy = {}
for name in ("select copy take head where sort_by join join_asof pivot describe dropna fillna"):gmatch "%S+" do makes_copy[name] = true end

-- What bytecode.sets_of_results gives, by prototype.
local sets_of = setmetatable({}, {__mode = "k"})

--- Refuses an assignment to a table that no variable has, as in t:take(rows).name = x: it would be lost.
local function check_kept(key)
  local bytecode, frame = core.bytecode(), debug.getinfo(3, "fl")
  if not bytecode or not frame or frame.currentline <= 0 then return end
  local proto = bytecode.util.funcinfo(frame.func).proto
  sets_of[proto] = sets_of[proto] or bytecode.sets_of_results(frame.func)
  for _, set in ipairs(sets_of[proto]) do
    if set.line == frame.currentline and set.name == key and makes_copy[set.method] then
      local name = debug.getlocal(3, set.register + 1)
      if name and name:find "^[%a_]" then return end
      core.raise(("[table] expected a table in a variable, got the result of t:%s(...), which is a new table: %s is set in it and lost; "
        .. "local u = t:%s(...) keeps it, t.%s = gpu.where(mask, value, t.%s) changes some rows of t"):format(set.method, key, set.method, key, key))
    end
  end
end

function tables.__newindex(t, key, value)
  check_kept(key)
  if value == nil then core.fail("table", "a column; t:select(names) leaves columns out", value) end
  if methods[key] or key == "rows" or key == "names" then
    core.raise(("[table] expected a name that is not a property or method of tables, got %s; gpu.table makes columns of any name, which "
      .. "t:column(name) reads"):format(core.describe(key)))
  end
  local fields = fields_of[t]
  if core.is_weak(value) then value = value:item() end
  if type(value) == "string" then
    local x = gpu.ones(fields.rows, {dtype = "int32", device = device_of(fields)})
    return add("table", fields, key, x, {value})
  elseif core.is_number(value) or type(value) == "boolean" then
    value = gpu.full(fields.rows, value, {dtype = type(value) == "number" and "float64" or nil, device = device_of(fields)})
  end
  if core.is_array(value) and value.ndim == 1 and value.size > 0 and value.size + 1 == fields.rows then
    refuse_rows("table", fields, key, value, "; x - x:shift() has NaN first where x:diff() has one element less")
  end
  add_given("table", fields, key, value)
end

--- t:values(name)
function methods.values(t, name)
  local fields = check_table("values", t)
  return columns.values_of(column_of("values", fields, name), fields.kinds[name])
end

--- t:column(name)
function methods.column(t, name) return (column_of("column", check_table("column", t), name)) end

--- t:texts(name)
function methods.texts(t, name)
  local fields = check_table("texts", t)
  column_of("texts", fields, name)
  if not is_text(fields.kinds[name]) then core.fail("texts", "a column of text", name) end
  return {unpack(fields.kinds[name])}
end

--- The names in the arguments: several, or one table of them.
local function names_in(op, fields, ...)
  if (...) == nil then core.fail(op, "names of columns", nil) end
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
  for _, name in ipairs(names_in("select", fields, ...)) do add("select", new, name, fields.arrays[name], fields.kinds[name]) end
  return result
end

--- t:take(rows): by positions or by a mask.
function methods.take(t, rows)
  local fields = check_table("take", t)
  if type(rows) == "table" then
    for i, row in ipairs(rows) do
      if type(row) == "number" and row % 1 ~= 0 then
        core.raise(("[take] expected an integer at [%d], got %g; math.floor(i) rounds down to an integer"):format(i, row))
      end
    end
    rows = gpu.array(rows, {dtype = type(rows[1]) == "boolean" and "bool" or "int64", device = device_of(fields)})
  end
  if type(rows) == "boolean" then
    core.fail("take", "positions or a mask, as x:eq(y) makes (Lua's == gives one boolean)", rows)
  end
  if not core.is_array(rows) then
    core.raise(("[take] expected rows: a vector or a table of positions, or a mask, got %s%s"):format(core.describe(rows),
      type(rows) == "number" and "; t:take({i}) has one row" or type(rows) == "string" and "; t:select(names) chooses columns" or ""))
  end
  if rows.ndim ~= 1 then core.fail("take", "a vector of positions or a mask; i:reshape(1) makes a vector of one position", rows) end
  if rows.dtype == "bool" then
    if rows.size ~= fields.rows then core.fail("take", ("a mask of %d rows"):format(fields.rows), rows) end
    rows = gpu.flatnonzero(rows)
  end
  local result, new = new_table(rows.size)
  for _, name in ipairs(fields.names) do add("take", new, name, plain_column(fields.arrays[name]):take(rows), fields.kinds[name]) end
  return result
end

--- t:head(n)
function methods.head(t, ...)
  local fields = check_table("head", t)
  local n = checks.left_out("head", "a number of rows", ...)
  n = n == nil and 5 or checks.integer("head", "a number of rows", n)
  if n < 0 then core.fail("head", "a number of rows, 0 or more", n) end
  return t:take(gpu.arange(1, math.min(n, fields.rows) + 1, {dtype = "int64", device = device_of(fields)}))
end

--- The mask of the rows that hold one of the values in a column.
local function mask_of(op, t, name, values)
  local fields = check_table(op, t)
  if core.is_array(name) then core.fail(op, "the name of a column; t:take(mask) gives the rows of a mask", name) end
  local x, texts = column_of(op, fields, name), fields.kinds[name]
  if is_date(texts) then return x:isin(values) end
  if not texts then
    if values == nil or type(values) == "string" then
      core.fail(op, ("numbers for column %s, which is not text"):format(name), values)
    end
    return x:isin(type(values) == "boolean" and {values} or values)
  end
  x = plain_column(x)
  local function refuse(value) core.fail(op, ("a text, or a table of them, for column %s"):format(name), value) end
  if type(values) == "string" then values = {values} end
  if type(values) ~= "table" then refuse(values) end
  core.check_list(op, "texts", values)
  local positions, wanted = {}, {}
  for i, text in ipairs(texts) do positions[text] = i end
  for i, text in ipairs(values) do
    if type(text) ~= "string" then refuse(text) end
    wanted[i] = positions[text] or 0
  end
  return x:isin(gpu.array(wanted, {dtype = "int32", device = x.device}))
end

--- t:isin(name, values)
function methods.isin(t, name, values) return (mask_of("isin", t, name, values)) end

--- t:where(name, values)
function methods.where(t, name, values) return t:take(mask_of("where", t, name, values)) end

--- The positions that sort by the columns, the first one first; equal rows keep their order. `descending`: the columns, by name, whose
--- order is the other one.
local function order_of(op, fields, names, descending)
  local keys = {}
  for i, name in ipairs(names) do
    local x = fields.arrays[name]
    if kinds.is_complex(x) then core.fail(op, "real numbers in column " .. name, x) end
    keys[#names + 1 - i] = descending and descending[name] and columns.reversed_key(x) or columns.key(x)
  end
  return #keys == 1 and keys[1]:argsort() or gpu.lexsort(keys)
end

local function check_option(op, options, known)
  if type(options) ~= "table" then core.fail(op, ("a table of options, {%s = ...}"):format(known), options) end
  for name in pairs(options) do
    if name ~= known then
      core.raise(("[%s] expected the option %s, got %s%s"):format(op, known, core.describe(name), core.did_you_mean(tostring(name), {known}, op)))
    end
  end
end

--- t:sort_by(names [, {descending}])
function methods.sort_by(t, names, ...)
  local fields = check_table("sort_by", t)
  local what = "{descending = true} or {descending = {true, false}}, after one name or a table of names"
  local options = checks.left_out("sort_by", what, ...)
  if options == nil then options = {} end
  if type(options) ~= "table" then core.fail("sort_by", what, options) end
  check_option("sort_by", options, "descending")
  names = names_in("sort_by", fields, names)
  local given, descending = options.descending, {}
  for i, name in ipairs(names) do
    local one = given
    if type(given) == "table" then
      if #given ~= #names then core.fail("sort_by", ("descending = true or false for each of %d columns"):format(#names), given) end
      one = given[i]
    end
    descending[name] = checks.flag("sort_by", "descending", one)
  end
  return t:take(order_of("sort_by", fields, names, descending))
end

--- t:group_by(names...)
function methods.group_by(t, ...)
  local fields = check_table("group_by", t)
  return import("table_groups").group_rows(t, fields, names_in("group_by", fields, ...))
end

for _, name in ipairs {"join", "join_asof"} do
  methods[name] = function(t, ...) return import("table_join")[name](t, check_table(name, t), ...) end
end
for _, name in ipairs {"copy", "pivot", "describe", "dropna", "fillna", "matrix"} do
  methods[name] = function(t, ...) return import("table_shapes")[name](t, check_table(name, t), ...) end
end

core.guard_methods(methods, "t:", {
  values = "(name)", column = "(name)", texts = "(name)", select = "(name [, names...])", take = "(rows)", head = "([n])",
  isin = "(name, values)", where = "(name, values)", sort_by = "(names [, {descending}])", group_by = "(name [, names...])",
  join = "(u, keys [, how] [, {suffix}])", join_asof = "(u, on [, {by, direction, tolerance, suffix}])",
  pivot = "(rows, column, values [, {aggregate, fill}])", copy = "()", matrix = "([names...])", describe = "([{ddof}])", dropna = "([names...])", fillna = "(value [, names...])",
})

-- For the other files.
exports.parts = {
  fields_of = fields_of, new_table = new_table, add = add, names_in = names_in, order_of = order_of, device_of = device_of,
  column_of = column_of, check_option = check_option, hidden_names = hidden_names,
}

function tables.__tostring(t)
  return import("table_text").table_text(fields_of[t])
end

--- For notebooks.
function tables.__display(t)
  return {["text/html"] = import("table_text").table_html(fields_of[t])}
end

return exports
