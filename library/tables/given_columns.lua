-- What scripts give as the columns of gpu.table: checks, and arrays of it.
local gpu, _, core, import = ...
local checks = import "checks"
local columns = import "columns"

local exports = {}

local most_listed = 20
--- The names of columns as a list in a message.
function exports.list_of(names)
  local shown = {}
  for i = 1, math.min(#names, most_listed) do shown[i] = names[i]:find "^[%w_.]+$" and names[i] or core.describe(names[i]) end
  return table.concat(shown, ", ") .. (#names > most_listed and (" and %d more"):format(#names - most_listed) or "")
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

--- The array of what is given as a column, and the column's kind.
function exports.column(op, name, value)
  if type(name) ~= "string" or name == "" then core.fail(op, "names of columns, strings that are not empty", name) end
  local kind = columns.kind_of(value)
  if type(value) == "table" then
    core.check_list(op, "values in column " .. name, value)
    if type(value[1]) == "string" then
      value, kind = positions_of(op, name, value)
    else
      for _, item in ipairs(value) do
        if type(item) == "string" then core.fail(op, ("strings alone, or numbers alone, in column %s"):format(name), item) end
      end
      value = gpu.array(value, {dtype = type(value[1]) == "boolean" and "bool" or not checks.holds_ffi(value) and "float64" or nil})
    end
  end
  if type(value) == "function" then
    core.fail(op, ("a vector or a list for column %s; parentheses call a method, t.day:year()"):format(name), value)
  end
  if not kind and not core.is_array(value) or value.ndim ~= 1 then
    local is_matrix = core.is_array(value) and value.ndim == 2
    core.fail(op, ("a vector or a list for column %s%s"):format(name, is_matrix and ', as x(":", j) of a matrix' or ""), value)
  end
  return value, kind
end

--- The columns of a matrix by these names.
function exports.of_matrix(op, matrix, names)
  core.check_list(op, "names of columns", names)
  if matrix.ndim ~= 2 or matrix.shape[2] ~= #names then
    core.fail(op, ("a matrix with a column for each of the %d names"):format(#names), matrix)
  end
  local named = {}
  for j, name in ipairs(names) do named[name] = matrix(":", j) end
  return named
end

--- Refuses a key that is no name, as of a list of rows or of a list of columns.
function exports.refuse_key(op, given, key)
  local first = given[1]
  local is_row = type(first) == "table" and #first == 0 and next(first) ~= nil
  if is_row then
    local name = tostring((next(first)))
    core.raise(("[%s] expected columns by name, {%s = {...}}, got a list of rows, {{%s = ...}, ...}; a column gathers a field of all rows: "
      .. "for i, row in ipairs(rows) do %s[i] = row.%s end"):format(op, name, name, name, name))
  end
  core.fail(op, "names of columns that are strings, {x = x, y = y}", key)
end

--- Refuses columns of several lengths, and names those that are unlike most.
function exports.check_rows(op, names, arrays)
  local by_length, lengths = {}, {}
  for _, name in ipairs(names) do
    local n = arrays[name].size
    if not by_length[n] then by_length[n], lengths[#lengths + 1] = {}, n end
    table.insert(by_length[n], name)
  end
  if #lengths < 2 then return end
  table.sort(lengths, function(a, b) return #by_length[a] > #by_length[b] or #by_length[a] == #by_length[b] and a < b end)
  local most, parts = #by_length[lengths[1]], {}
  local is_clear = most > #by_length[lengths[2]]
  for i = is_clear and 2 or 1, #lengths do
    local of_length = by_length[lengths[i]]
    parts[#parts + 1] = ("%d in column%s %s"):format(lengths[i], #of_length > 1 and "s" or "", exports.list_of(of_length))
  end
  core.raise(("[%s] expected columns of one length%s, got %s"):format(op,
    is_clear and (", %d as in %d of %d"):format(lengths[1], most, #names) or "", table.concat(parts, ", ")))
end

return exports
