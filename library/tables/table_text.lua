-- What gpu.table prints: the first and last rows under the names and dtypes of the columns.
local _, _, core = ...

local most_rows, edge_rows, most_columns, widest = 12, 5, 12, 24

local function cell(value, texts)
  if texts then value = texts[value] end
  if type(value) == "string" then
    value = value:gsub("%c", " ")
    return #value > widest and value:sub(1, widest - 3) .. "..." or value
  end
  if type(value) == "number" then return value % 1 == 0 and math.abs(value) < 1e15 and ("%d"):format(value) or ("%.6g"):format(value) end
  return (tostring(value):gsub("U?LL$", ""))
end

--- The lines of a column: its name, its type and the rows that are shown; right-aligned unless it is text.
local function lines_of(fields, name, first, last)
  local x, texts = fields.arrays[name], fields.texts[name]
  local lines = {cell(name), texts and "text" or x.dtype}
  local function show(from, to)
    if to < from then return end
    for _, value in ipairs(x({from, to}):table()) do lines[#lines + 1] = cell(value, texts) end
  end
  show(1, first)
  if last <= fields.rows then lines[#lines + 1] = "..." end
  show(last, fields.rows)
  local width = 0
  for _, line in ipairs(lines) do width = math.max(width, #line) end
  for i, line in ipairs(lines) do
    local spaces = (" "):rep(width - #line)
    lines[i] = texts and line .. spaces or spaces .. line
  end
  return lines
end

--- The text of a table's fields, as table.lua has them.
function core.table_text(fields)
  local n, shown = fields.rows, math.min(#fields.names, most_columns)
  local first, last = n, n + 1
  if n > most_rows then first, last = edge_rows, n - edge_rows + 1 end
  local columns, lines = {}, {}
  for i = 1, shown do columns[i] = lines_of(fields, fields.names[i], first, last) end
  for row = 1, columns[1] and #columns[1] or 0 do
    local cells = {}
    for i, column in ipairs(columns) do cells[i] = column[row] end
    lines[row] = (table.concat(cells, "  "):gsub("%s+$", ""))
  end
  lines[#lines + 1] = ("%.0f rows, %d columns%s"):format(n, #fields.names, shown < #fields.names and (": %s"):format(
    table.concat(fields.names, ", ", shown + 1)):gsub("^: ", ", among them ") or "")
  return table.concat(lines, "\n")
end
