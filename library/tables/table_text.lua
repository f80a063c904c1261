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

--- The cells of a column: its name, its type and the rows that are shown.
local function column_cells(fields, name, first, last)
  local x, kind = columns.plain(fields.arrays[name]), fields.kinds[name]
  local precision = core.printing()
  local cells = {cell(name), columns.name_of(x, kind)}
  local function show(from, to)
    if to < from then return end
    for _, value in ipairs(columns.values_of(x({from, to}), kind)) do cells[#cells + 1] = cell(value, precision) end
  end
  show(1, first)
  if last <= fields.rows then cells[#cells + 1] = "..." end
  show(last, fields.rows)
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

--- The lines of cells of the columns that are shown, in at most `room` characters after `format` of each column, and what there is
--- in all.
local function rows_of(fields, room, format)
  local n, shown, rows = fields.rows, 0, {}
  local first, last = n, n + 1
  if n > most_rows then first, last = edge_rows, n - edge_rows + 1 end
  for i = 1, math.min(#fields.names, most_columns) do
    local name = fields.names[i]
    local cells = format(column_cells(fields, name, first, last), columns.is_text(fields.kinds[name]))
    room = room - length(cells[1]) - #between
    if room < -#between and i > 1 then break end
    shown = i
    for j, text in ipairs(cells) do
      rows[j] = rows[j] or {}
      rows[j][i] = text
    end
  end
  local rest = shown < #fields.names and "; not shown: " .. table.concat(fields.names, ", ", shown + 1) or ""
  local hidden = table_parts.hidden_names(fields)
  if #hidden > 0 then rest = ("%s; t:column(name) gives %s"):format(rest, table.concat(hidden, ", ")) end
  return rows, ("%s, %s%s"):format(counted(n, "row"), counted(#fields.names, "column"), rest)
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
  local function show(from, to)
    if to < from then return end
    for _, value in ipairs(columns.values_of(plain({from, to}), kind)) do rows[#rows + 1] = format:format(cell(value)) end
  end
  show(1, n > most_rows and edge_rows or n)
  if n > most_rows then rows[#rows + 1] = "..." end
  show(n > most_rows and n - edge_rows + 1 or n + 1, n)
  return ("%s[%.0f] %s\n[%s]"):format(columns.name_of(x, kind), n, x.device, table.concat(rows, " "))
end

--- The text of a table as HTML, for notebooks.
function exports.table_html(fields)
  local rows, summary = rows_of(fields, math.huge, function(cells) return cells end)
  local is_text = {}
  for i, name in ipairs(fields.names) do is_text[i] = columns.is_text(fields.kinds[name]) end
  return ("%s<div>%s</div>"):format(import("measure").html_table(rows, is_text), import("measure").html_text(summary))
end

return exports
