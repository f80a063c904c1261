-- What gpu.table prints: the first and last rows under the names and dtypes of the columns.
local gpu, _, core, import = ...
local table_parts = import("table").parts
local columns = import "columns"
local text_length = import("terminal").text_length

local exports = {}

local most_rows, edge_rows, most_columns, widest = 12, 5, 12, 24
local between = "  " -- columns
local length = text_length

local function cell(value, precision)
  if type(value) == "string" then
    value = value:gsub("%c", " ")
    if length(value) <= widest then return value end
    return value:match("^" .. ("[^\128-\191]?[\128-\191]*"):rep(widest - 3)) .. "..."
  end
  if type(value) == "number" then
    return value % 1 == 0 and math.abs(value) < 1e15 and ("%d"):format(value) or ("%." .. precision .. "g"):format(value)
  end
  return (tostring(value):gsub("U?LL$", ""))
end

--- The values of the rows 1 to `first`, and from `last` on, as they are printed.
local function shown_values(x, kind, first, last)
  local values = {}
  local function add(from, to)
    if to < from then return end
    for _, value in ipairs(columns.values_of(x({from, to}), kind)) do values[#values + 1] = value end
  end
  add(1, first)
  add(last, x.size)
  return columns.without_midnights(values, kind)
end

--- The cells of a column: its name, its type and the rows that are shown.
local function column_cells(fields, name, first, last)
  local x, kind = columns.plain(fields.arrays[name]), fields.kinds[name]
  local precision = core.printing()
  local cells = {cell(name), columns.name_of(x, kind)}
  for _, value in ipairs(shown_values(x, kind, first, last)) do cells[#cells + 1] = cell(value, precision) end
  if last <= fields.rows then table.insert(cells, 3 + first, "...") end
  return cells
end

--- The cells as strings of one width, right-aligned unless they are text.
local function aligned(cells, is_text)
  local width, lines = 0, {}
  for _, text in ipairs(cells) do width = math.max(width, length(text)) end
  for i, text in ipairs(cells) do
    local spaces = (" "):rep(width - length(text))
    lines[i] = is_text and text .. spaces or spaces .. text
  end
  return lines
end

local function counted(n, what) return ("%.0f %s%s"):format(n, what, n == 1 and "" or "s") end

--- The positions of the columns that are shown, the first and the last ones, and their cells by position. `width(cells)`: the room that a
--- column takes. At least one column is shown; `left` counts those in front of the ones that are not.
local function shown_columns(count, room, width, column)
  local cells, taken = {}, -#between
  for i = 1, count <= most_columns and count or 0 do
    cells[i] = column(i)
    taken = taken + width(cells[i])
  end
  if count <= most_columns and taken <= room then return count, 0, cells end
  local left, right = 0, 0
  taken = 3 -- the dots between the two parts
  while left + right < math.min(count - 1, most_columns) do
    local at = left <= right and left + 1 or count - right
    cells[at] = cells[at] or column(at)
    taken = taken + width(cells[at])
    if taken > room and left > 0 then break end
    if left <= right then left = left + 1 else right = right + 1 end
  end
  return math.max(left, 1), right, cells
end

--- The lines of cells of the columns that are shown, in at most `room` characters after `format` of each column, whether each column is
--- text, and what there is in all.
local function rows_of(fields, room, format)
  local n, names, rows, is_text = fields.rows, fields.names, {}, {}
  local first, last = n, n + 1
  if n > most_rows then first, last = edge_rows, n - edge_rows + 1 end
  local left, right, columns_cells = shown_columns(#names, room, function(cells) return length(cells[1]) + #between end, function(i)
    return format(column_cells(fields, names[i], first, last), columns.is_text(fields.kinds[names[i]]))
  end)
  local function add(cells, kind)
    is_text[#is_text + 1] = columns.is_text(kind)
    for j, text in ipairs(cells) do
      rows[j] = rows[j] or {}
      rows[j][#is_text] = text
    end
  end
  local function add_columns(from, to)
    for i = from, to do add(columns_cells[i], fields.kinds[names[i]]) end
  end
  add_columns(1, left)
  local rest = ""
  if left + right < #names then
    local dots = {}
    for j = 1, #rows do dots[j] = j == 2 and "" or "..." end
    add(format(dots, false))
    rest = "; not shown: " .. table.concat(names, ", ", left + 1, #names - right)
  end
  add_columns(#names - right + 1, #names)
  local hidden = table_parts.hidden_names(fields)
  if #hidden > 0 then rest = ("%s; t:column(name) gives %s"):format(rest, table.concat(hidden, ", ")) end
  return rows, ("%s, %s%s"):format(counted(n, "row"), counted(#names, "column"), rest), is_text
end

--- The text of a table's fields, as table.lua has them.
function exports.table_text(fields)
  local _, _, _, width = core.printing()
  local lines, summary = rows_of(fields, width == 0 and core.terminal_width() or width, aligned)
  for i, row in ipairs(lines) do lines[i] = table.concat(row, between):gsub("%s+$", "") end
  return table.concat(lines, "\n") .. (#lines > 0 and "\n" or "") .. summary
end

--- The text of a column of text or dates: its first and last rows.
function exports.column_text(x, kind)
  local n, rows, plain = x.size, {}, columns.plain(x)
  local format = columns.is_text(kind) and "%q" or "%s"
  local first, last = n, n + 1
  if n > most_rows then first, last = edge_rows, n - edge_rows + 1 end
  for i, value in ipairs(shown_values(plain, kind, first, last)) do rows[i] = format:format(cell(value)) end
  if n > most_rows then table.insert(rows, first + 1, "...") end
  return ("%s[%.0f] %s\n[%s]"):format(columns.name_of(x, kind), n, x.device, table.concat(rows, " "))
end

--- The text of a table as HTML, for notebooks.
function exports.table_html(fields)
  local rows, summary, is_text = rows_of(fields, math.huge, function(cells) return cells end)
  return ("%s<div>%s</div>"):format(import("measure").html_table(rows, is_text), import("measure").html_text(summary))
end

return exports
