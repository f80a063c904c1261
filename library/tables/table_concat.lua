-- gpu.concat of tables, and of columns of text or dates.
local _, _, core, import = ...
local columns = import "columns"
local own = import("table").parts
local fields_of, new_table, add = own.fields_of, own.new_table, own.add

local function concat_columns(list)
  local x, kind = list[1], columns.kind_of(list[1])
  for i = 2, #list do
    local y, y_kind = columns.concat("concat", tostring(i), x, list[i])
    x = columns.make(y, y_kind)
    kind = y_kind
  end
  return columns.make(columns.plain(x):copy(), kind)
end

--- gpu.concat(tables): their rows, one table after the other; the first one's order of columns.
return function(list, ...)
  local op = "concat"
  if select("#", ...) > 0 then core.fail(op, "nothing after a list of tables or of columns of text or dates, which go below each other (t.name = u.name puts one beside)", (...)) end
  core.check_list(op, "tables, or columns", list)
  if not fields_of[list[1]] then return concat_columns(list) end
  local first = fields_of[list[1]]
  local result, new = new_table(0)
  local rows = 0
  for i, t in ipairs(list) do
    local fields = fields_of[t]
    if not fields then core.fail(op, "tables alone, or arrays alone", t) end
    rows = rows + fields.rows
    for _, name in ipairs(fields.names) do
      if not first.arrays[name] then
        core.raise(("[concat] expected the columns of the first table in each, got column %s in table %d"):format(name, i))
      end
    end
    for _, name in ipairs(first.names) do
      if not fields.arrays[name] then
        core.raise(("[concat] expected the columns of the first table in each, got no column %s in table %d; t.%s = 0/0 adds one of missing numbers"):format(
          name, i, name))
      end
    end
  end
  new.rows = rows
  for _, name in ipairs(first.names) do
    local x, kind = first.arrays[name], first.kinds[name]
    for i = 2, #list do
      x, kind = columns.concat(op, name, columns.make(x, kind), fields_of[list[i]].arrays[name])
    end
    add(op, new, name, #list == 1 and columns.plain(x):copy() or x, kind)
  end
  return result
end
