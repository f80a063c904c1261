-- The columns of gpu.table. The kind of a column is nil of numbers, the list of texts of one of text, and {unit =, duration =} of dates
-- and durations.
local gpu, _, core, import = ...
local kinds = import "kinds"
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
--- A key that sorts in descending order. Missing dates stay last, as the complement of a missing date is the greatest integer.
function columns.reversed_key(x)
  x = columns.plain(x)
  return kinds.is_floating(x) and -x or x:invert()
end

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

--- The texts of a column as they are printed: dates that are all midnights have no time, as floor "1d" gives them.
function columns.without_midnights(texts, kind)
  if not columns.is_date(kind) or kind.duration or kind.unit == "days" then return texts end
  local days = {}
  for i, text in ipairs(texts) do
    days[i] = text == "NaT" and text or text:match "^(%S+) 00:00:00%.?0*$"
    if not days[i] then return texts end
  end
  return days
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

--- One array of small integers from 0 in the order of the keys, which sorts faster than they do, and how many there may be; nil
--- where the ranges of the keys are too wide. Waits for the ranges.
function columns.code(keys)
  local ends = {}
  for i, key in ipairs(keys) do
    if key.size == 0 or kinds.is_floating(key) or kinds.is_complex(key) then return end
    ends[2 * i - 1], ends[2 * i] = key:min(), key:max()
  end
  local values, code, count = {gpu.eval(unpack(ends))}, nil, 1
  for i, key in ipairs(keys) do
    local least, greatest = values[2 * i - 1]:item(), values[2 * i]:item()
    if type(least) == "boolean" then least, greatest = least and 1 or 0, greatest and 1 or 0 end
    if type(least) ~= "number" or type(greatest) ~= "number" then return end
    local range = greatest - least + 1
    count = count * range
    if count > 2 ^ 32 then return end
    key = core.cast(key, "int64") - least
    code = code and code * range + key or key
  end
  return core.cast(code, columns.narrow(count)):eval(), count
end

--- Raises for integers that float64 would round.
local function check_exact(op, name, x)
  if not x.dtype:find "int64" or x.size == 0 then return end
  local least, greatest = gpu.eval(x:min(), x:max())
  if tonumber(least:item()) < -2 ^ 53 or tonumber(greatest:item()) > 2 ^ 53 then
    core.raise(("[%s] expected no missing values beside integers beyond 2^53, which float64 would round, got both in column %s"):format(op, name))
  end
end

--- The elements of a column at positions, missing ones where a position is 0, and their kind. `some`: whether there are such positions.
--- Missing numbers are NaN, and make float64 of integers and booleans; missing texts are empty.
function columns.gather(op, name, x, positions, some)
  local kind = columns.kind_of(x)
  x = columns.plain(x)
  if not some then return x:take(positions), kind end
  local absent = positions:eq(0)
  if columns.is_text(kind) and kind[1] ~= "" then
    x, kind = x + 1, {"", unpack(kind)}
  elseif not kind and not kinds.is_floating(x) and not kinds.is_complex(x) then
    check_exact(op, name, x)
    x = core.cast(x, "float64")
  end
  local fill = columns.is_text(kind) and 1 or kind and -2 ^ 63 or 0 / 0
  if x.size == 0 then return gpu.full(positions.size, fill, {dtype = x.dtype, device = x.device}), kind end
  return gpu.where(absent, core.cast(gpu.full({}, fill, {dtype = "float64", device = x.device}), x.dtype), x:take(gpu.maximum(positions, 1))), kind
end

--- Two columns with elements that compare as arrays, and their kind: of one dtype, unit or list of texts.
function columns.alike(op, name, x, y)
  local a, b = columns.kind_of(x), columns.kind_of(y)
  local same = a == nil and b == nil or a and b and columns.name_of(x, a) == columns.name_of(y, b)
  if not same then
    local remedy = columns.is_text(a) and text_column.remedy(x) or columns.is_text(b) and text_column.remedy(y) or ""
    core.raise(("[%s] expected column %s of one kind in both tables, got %s and %s%s"):format(op, name, columns.name_of(x, a),
      columns.name_of(y, b), remedy))
  end
  if not a then
    local dtype = core.promote(x.dtype, y.dtype)
    return core.cast(x, dtype), core.cast(y, dtype)
  end
  if not a.unit then return text_column.together(x, y) end
  local unit = date_column.finer(a.unit, b.unit)
  return date_column.in_unit(op, x, unit), date_column.in_unit(op, y, unit), {unit = unit, duration = a.duration}
end

--- Two columns one after the other, and their kind.
function columns.concat(op, name, x, y)
  local a, b, kind = columns.alike(op, name, x, y)
  return gpu.concat {a, b}, kind
end

return columns
