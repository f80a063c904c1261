-- The columns of gpu.table. The kind of a column is nil of numbers, the list of texts of one of text, and {unit =, duration =} of dates
-- and durations.
local _, _, core, import = ...
local text_column, date_column = import "text_column", import "date_column"

local columns = {}

--- Makes an array a column of the kind. Gives it.
function columns.make(x, kind)
  if kind then (kind.unit and date_column or text_column).make(x, kind) end
  return x
end

function columns.kind_of(x) return text_column.texts_of(x) or date_column.kind_of(x) end

function columns.is_text(kind) return kind ~= nil and kind.unit == nil end
function columns.is_date(kind) return kind ~= nil and kind.unit ~= nil end

--- The array that a column is or holds.
function columns.plain(x) return date_column.plain(text_column.plain(x)) end

--- What sorts as the column does, missing dates last, and a column of the kind of such numbers.
function columns.key(x) return date_column.kind_of(x) and date_column.key(x) or columns.plain(x) end
function columns.of_key(x, kind) return columns.is_date(kind) and date_column.from_key(x) or x end

--- Which elements are missing: NaN and NaT; nil where there can be none.
function columns.missing(x, kind)
  if columns.is_date(kind) then return columns.plain(x):eq(-2 ^ 63) end
  if not kind and x.dtype:find "float" then return x:isnan() end
end

--- The values of a column as a Lua table.
function columns.values_of(x, kind)
  if columns.is_date(kind) then return core.format_dates("values", columns.plain(x), kind) end
  return text_column.values_of(x, kind)
end

--- What messages and headings call the kind, or the dtype of numbers.
function columns.name_of(x, kind)
  if not kind then return x.dtype end
  return kind.unit and (kind.duration and "duration" or "date") or "text"
end

--- The narrowest dtype that holds 0 to count - 1.
function columns.narrow(count)
  return count <= 2 ^ 8 and "uint8" or count <= 2 ^ 16 and "uint16" or count <= 2 ^ 32 and "uint32" or "int64"
end

return columns
