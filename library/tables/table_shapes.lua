-- Tables from tables: t:copy, t:pivot, t:describe, t:dropna and t:fillna.
local gpu, _, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local columns = import "columns"
local own = import("table").parts
local fields_of, new_table, add, names_in = own.fields_of, own.new_table, own.add, own.names_in

local exports = {}

--- The name of a pivot's column for a value.
local function name_of(value)
  if value == "" then return "(empty)" end
  if type(value) == "number" and value == math.floor(value) and math.abs(value) < 2 ^ 53 then return ("%d"):format(value) end
  return (tostring(value):gsub("U?LL$", ""))
end

--- t:pivot(rows, column, values [, {aggregate, fill}])
function exports.pivot(t, fields, rows, column, values, options)
  local op = "pivot"
  if options == nil then options = {} end
  if type(options) ~= "table" then core.fail(op, 'a table of options, {aggregate = "sum"}', options) end
  for name in pairs(options) do
    if name ~= "aggregate" and name ~= "fill" then
      local ours = ({aggfunc = "aggregate", agg = "aggregate", fill_value = "fill"})[name]
      core.raise(("[pivot] expected the options aggregate and fill, got %s%s"):format(core.describe(name), ours
        and ("; %s is called %s here: {%s = %s}"):format(name, ours, ours, core.describe(options[name]))
        or core.did_you_mean(tostring(name), {"aggregate", "fill"})))
    end
  end
  if type(rows) == "table" and (rows.index or rows.columns) then
    core.raise("[pivot] expected names as arguments, t:pivot(rows, column, values), got them as options")
  end
  if column == nil or values == nil then core.raise "[pivot] expected three names, t:pivot(rows, column, values)" end
  local row_names = names_in(op, fields, rows)
  names_in(op, fields, column)
  names_in(op, fields, values)
  local aggregate = options.aggregate or "mean"
  local keys = {unpack(row_names)}
  keys[#keys + 1] = column
  for i, name in ipairs(keys) do
    if name == values then core.raise(("[pivot] expected values that are no key, got %s"):format(name)) end
    for j = 1, i - 1 do
      if keys[j] == name then core.raise(("[pivot] expected each column once, got %s twice"):format(name)) end
    end
  end
  local sums = t:group_by(keys):aggregate {[values] = aggregate}
  local long = fields_of[sums]
  local wide = fields_of[sums:group_by(row_names):count()]
  local cells = long.arrays[values]
  if long.kinds[values] then core.fail(op, "values that are numbers", values) end
  -- The rows of the result, and the columns, that the sums belong to.
  local groups = import "by_groups"
  local list = {}
  for i, name in ipairs(row_names) do list[i] = long.arrays[name] end
  local result, new = new_table(wide.rows)
  for _, name in ipairs(row_names) do add(op, new, name, wide.arrays[name], wide.kinds[name]) end
  if long.rows == 0 then return result end
  local key = columns.key(long.arrays[column])
  local found, places = key:unique {return_inverse = true}
  local labels = columns.without_midnights(columns.values_of(columns.of_key(found, long.kinds[column]), long.kinds[column]), long.kinds[column])
  local first = groups(op, cells, list).first()
  local line = first:eq(gpu.arange(long.rows, {dtype = "int64", device = first.device})):cumsum()
  local is_full = long.rows == wide.rows * #labels
  local fill = options.fill
  if fill ~= nil and not core.is_number(fill) then core.fail(op, "fill, a number", fill) end
  local keeps = is_full or fill ~= nil and (kinds.is_floating(cells) or type(fill) == "number" and fill % 1 == 0)
  local dtype = keeps and cells.dtype or kinds.is_floating(cells) and cells.dtype or "float64"
  local matrix = gpu.full(#labels * wide.rows, fill or (dtype:find "float" and 0 / 0 or 0), {dtype = dtype, device = cells.device})
  matrix[((places - 1) * wide.rows + line):eval()] = core.cast(cells, dtype)
  matrix = matrix:reshape(#labels, wide.rows)
  for i, label in ipairs(labels) do
    local name = name_of(label)
    if new.arrays[name] then core.raise(("[pivot] expected values of %s that differ from the names of rows, got %s"):format(column, name)) end
    add(op, new, name, matrix(i, ":"):copy())
  end
  return result
end

--- t:matrix([names...])
function exports.matrix(_, fields, ...)
  local names = select("#", ...) == 0 and fields.names or names_in("matrix", fields, ...)
  if #names == 0 then core.raise "[matrix] expected a table with columns, got one without" end
  local arrays, numbers = {}, {}
  for _, name in ipairs(fields.names) do
    if not fields.kinds[name] then numbers[#numbers + 1] = core.describe(name) end
  end
  for i, name in ipairs(names) do
    local x, kind = fields.arrays[name], fields.kinds[name]
    if kind then
      core.raise(("[matrix] expected columns of numbers, got column %s of %s; %s"):format(name, columns.name_of(x, kind), #numbers > 0
        and ("t:matrix(%s) takes those of numbers"):format(table.concat(numbers, ", ")) or "the table has none of numbers"))
    end
    arrays[i] = x
  end
  return gpu.stack(arrays, 2)
end

local statistics = {"count", "mean", "std", "min", "25%", "50%", "75%", "max"}

--- t:describe([{ddof}])
function exports.describe(_, fields, options)
  local op = "describe"
  if options ~= nil and type(options) ~= "table" then
    core.fail(op, "a table of options, {ddof = 0}; t:select(names):describe() describes some columns alone", options)
  end
  own.check_option(op, options or {}, "ddof")
  local ddof = options and options.ddof ~= nil and checks.finite(op, "ddof, a number", options.ddof) or 1
  local names, positions = {}, {unpack(statistics)}
  for _, name in ipairs(fields.names) do
    if not fields.kinds[name] and not kinds.is_complex(fields.arrays[name]) then names[#names + 1] = name end
  end
  if #names == 0 then core.raise "[describe] expected a table with a column of numbers, got none" end
  local t = gpu.table {statistic = positions}
  for _, name in ipairs(names) do
    local x = core.cast(fields.arrays[name], "float64")
    x = x[x:isnan():logical_not()]
    local n = x.size
    local nan = gpu.full(1, 0 / 0, {dtype = "float64", device = x.device})
    local found = {gpu.full(1, n, {dtype = "float64", device = x.device}), nan, nan, nan, nan, nan, nan, nan}
    if n > 0 then
      local quartiles = x:quantile {0.25, 0.5, 0.75}
      found = {found[1], x:mean():reshape(1), n > ddof and x:std {ddof = ddof}:reshape(1) or nan, x:min():reshape(1), quartiles, x:max():reshape(1)}
    end
    own.add(op, fields_of[t], name, gpu.concat(found))
  end
  return t
end

--- t:dropna([names...])
function exports.dropna(t, fields, ...)
  local names = (...) == nil and fields.names or names_in("dropna", fields, ...)
  local there
  for _, name in ipairs(names) do
    local missing = columns.missing(fields.arrays[name], fields.kinds[name])
    if missing then there = there and there:logical_and(missing:logical_not()) or missing:logical_not() end
  end
  return there and t:take(there) or t:copy()
end

--- t:copy()
function exports.copy(_, fields)
  local result, new = new_table(fields.rows)
  for _, name in ipairs(fields.names) do add("copy", new, name, columns.plain(fields.arrays[name]):copy(), fields.kinds[name]) end
  return result
end

--- t:fillna(value [, names...]): of the columns named, or of all of numbers.
function exports.fillna(_, fields, value, ...)
  local name = type(value) == "table" and next(value)
  if type(name) == "string" then
    core.fail("fillna", ("one value, and the names of columns after it: t:fillna(%s, %q)"):format(core.describe(value[name]), name), value)
  end
  local result, new = new_table(fields.rows)
  local chosen, is_way = {}, value == "forward" or value == "backward"
  for _, name in ipairs((...) ~= nil and names_in("fillna", fields, ...) or fields.names) do
    chosen[name] = (...) ~= nil or not fields.kinds[name] or is_way and columns.is_date(fields.kinds[name])
  end
  for _, name in ipairs(fields.names) do
    local x = fields.arrays[name]
    if chosen[name] then x = gpu.fillna(x, value) end
    add("fillna", new, name, x, fields.kinds[name])
  end
  return result
end

return exports
