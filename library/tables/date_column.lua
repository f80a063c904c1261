-- A column of dates or durations: int64 numbers of a unit, dates since 1970 in UTC, where the least number is a missing one, NaT. All
-- functions of arrays refuse it, since most mean nothing of dates; it has the methods and operators of this file.
local gpu, array_methods, core, import = ...
local checks = import "checks"
local steps = import "date_steps"
local lengths, finer = steps.lengths, steps.finer

local exports = {}

local missing = -2 ^ 63 -- NaT
local greatest = 2 ^ 63

local kind_of = setmetatable({}, {__mode = "k"})
local has_missing = setmetatable({}, {__mode = "k"}) -- once it was asked

local methods = {}
exports.methods = methods

local make

local function plain(x) return kind_of[x] and core.date_counts(x) or x end
exports.plain = plain

--- The kind of a column, {unit =, duration =}; nil for another value.
function exports.kind_of(x) return kind_of[x] end

local function like(x, counts) return make(counts, kind_of[x]) end

--- What sorts as the dates do with missing ones last, and the reverse.
local function key(x) return gpu.where(plain(x):eq(missing), 9223372036854775807LL, plain(x)) end
local function from_key(x) return gpu.where(x:eq(9223372036854775807LL), missing, x) end
exports.key, exports.from_key = key, from_key

local function name_of(kind) return kind.duration and "durations" or "dates" end

--- The column's numbers in another unit: rounded down, or an error beyond its range.
local function in_unit(op, x, unit)
  local kind = kind_of[x]
  if kind.unit == unit then return plain(x) end
  local counts, from, to = plain(x), lengths[kind.unit], lengths[unit]
  local converted
  if from < to then
    converted = counts:floor_divide(to / from)
  else
    local factor = from / to
    if x.size > 0 then
      local least, most = gpu.eval(key(x):min(), counts:max())
      local limit = 2 ^ 63 / factor
      if tonumber(least:item()) < -limit or tonumber(most:item()) >= limit and tonumber(least:item()) < greatest then
        core.raise(("[%s] expected %s that a column of %s can hold, got others from %s on"):format(op, name_of(kind), unit, methods.min(x)))
      end
    end
    converted = counts * factor
  end
  return gpu.where(counts:eq(missing), missing, converted)
end
exports.in_unit, exports.finer = in_unit, finer

--- The numbers of a column and of another operand of its kind, a column or a text, in one unit, and that unit.
local function aligned(op, x, other)
  local kind = kind_of[x]
  local counts, unit
  if type(other) == "string" then
    if kind.duration then
      local ns = steps.nanoseconds(op, other)
      unit = finer(kind.unit, steps.unit_of {ns})
      counts = ns / lengths[unit]
    else
      local found
      found, unit = core.parse_dates(op, {other}, nil, nil, {device = x.device})
      if lengths[unit] > lengths[kind.unit] then
        unit = kind.unit
        found = core.parse_dates(op, {other}, nil, unit, {device = x.device})
      end
      counts = found
    end
    return in_unit(op, x, unit), counts, unit
  end
  if not kind_of[other] or not kind_of[other].duration ~= not kind.duration then
    core.fail(op, kind.duration and 'durations, or a text such as "7d", beside durations'
      or 'dates, or a text such as "2024-03-01", beside dates', other)
  end
  unit = finer(kind.unit, kind_of[other].unit)
  return in_unit(op, x, unit), in_unit(op, other, unit), unit
end

-- ---- comparisons and order ----------------------------------------------------------------------------------------------------------

for _, op in ipairs {"eq", "ne", "lt", "le", "gt", "ge"} do
  methods[op] = function(x, other)
    local a, b = aligned(op, x, other)
    local result = array_methods[op](a, b)
    local absent = a:eq(missing)
    if core.is_array(b) then absent = absent:logical_or(b:eq(missing)) end
    return core.as_mask(op, op == "ne" and result:logical_or(absent) or result:logical_and(absent:logical_not()))
  end
end

--- x:isnan(): the mask of the missing ones.
function methods.isnan(x) return core.as_mask("isnan", (plain(x):eq(missing))) end

--- x:isin(values): a text, a table of texts, or a column.
function methods.isin(x, values)
  if type(values) == "string" then values = {values} end
  if type(values) == "table" then
    local mask = gpu.zeros(x.size, {dtype = "bool", device = x.device})
    for i = 1, core.check_list("isin", "texts", values) do mask = mask:logical_or(methods.eq(x, values[i])) end
    return mask
  end
  local a, b = aligned("isin", x, values)
  return (gpu.isin(a, b):logical_and(a:ne(missing)))
end

--- x:max() and x:min(): a text.
function methods.max(x) return x.size == 0 and "NaT" or core.format_dates("max", plain(x):max():reshape(1), kind_of[x])[1] end
function methods.min(x) return x.size == 0 and "NaT" or core.format_dates("min", from_key(key(x):min()):reshape(1), kind_of[x])[1] end

function methods.argsort(x, ...) return (key(x):argsort(...)) end
function methods.argmax(x) return (plain(x):argmax()) end
function methods.argmin(x) return (key(x):argmin()) end
function methods.sort(x, ...) return like(x, from_key(key(x):sort(...))) end

--- x:unique(...): a column, and what the options ask for.
function methods.unique(x, ...)
  local results = {gpu.unique(key(x), ...)}
  results[1] = like(x, from_key(results[1]))
  return unpack(results)
end

-- ---- parts and steps ----------------------------------------------------------------------------------------------------------------

local function check_dates(op, x)
  if kind_of[x].duration then core.raise(("[%s] expected dates, got durations; x:number(unit) gives their numbers"):format(op)) end
end

--- NaN in place of missing ones, where there are some.
local function with_nan(x, numbers)
  if has_missing[x] == nil then has_missing[x] = x.size > 0 and plain(x):eq(missing):any():item() end
  return has_missing[x] and gpu.where(plain(x):eq(missing), 0 / 0, core.cast(numbers, "float64")) or numbers
end

for name in pairs(steps.part_names) do
  methods[name] = function(x)
    check_dates(name, x)
    return with_nan(x, steps.part(plain(x), kind_of[x].unit, name))
  end
end

--- x:floor(step): the begins of the steps that dates are in.
function methods.floor(x, step)
  check_dates("floor", x)
  return like(x, steps.floor("floor", plain(x), kind_of[x].unit, step))
end

--- x:number(unit): float64, and NaN where they are missing.
function methods.number(x, unit)
  local ns = unit == "days" and lengths.days or steps.nanoseconds("number", unit, '; x:year() gives years, x:number "days" / 365 lengths of years of 365 days')
  local scale = lengths[kind_of[x].unit] / ns
  local numbers = core.cast(plain(x), "float64")
  return (gpu.where(plain(x):eq(missing), 0 / 0, scale < 1 and numbers / (1 / scale) or numbers * scale))
end

--- x:as(unit): the same in another unit.
function methods.as(x, unit)
  return make(in_unit("as", x, steps.check_unit("as", unit)), {unit = unit, duration = kind_of[x].duration})
end

--- x:format([format]): a list of texts.
function methods.format(x, format) return core.format_dates("format", plain(x), kind_of[x], format) end

-- ---- arithmetic ---------------------------------------------------------------------------------------------------------------------

--- The result of whole numbers, missing where one of the operands is.
local function present(a, b, result)
  local absent = a:eq(missing)
  if core.is_array(b) and b.dtype == "int64" then absent = absent:logical_or(b:eq(missing)) end
  return gpu.where(absent, missing, result)
end

--- x + other or x - other, where `other` is a duration or a text of one; of dates also months, with the option month_end.
local function moved(op, x, other, sign, month_end)
  local kind = kind_of[x]
  if type(other) == "string" and not kind.duration then
    if core.has_date_form(other) then
      if sign > 0 then core.fail(op, 'a length of time, such as "7d", beside dates', other) end
      local a, b, unit = aligned(op, x, other)
      return make(present(a, b, a - b), {unit = unit, duration = true})
    end
    local negative = other:match "^%-"
    local step = steps.step(op, negative and other:sub(2) or other)
    if negative then sign = -sign end
    month_end = steps.month_end(op, month_end, other, step)
    if step.months then return like(x, steps.add_months(plain(x), kind.unit, sign * step.months, month_end)) end
    local unit = finer(kind.unit, steps.unit_of {step.ns})
    local counts = in_unit(op, x, unit)
    return make(present(counts, nil, counts + sign * step.ns / lengths[unit]), {unit = unit})
  end
  if type(other) == "string" then
    local a, b, unit = aligned(op, x, other)
    return make(present(a, b, a + sign * b), {unit = unit, duration = true})
  end
  if not kind_of[other] or not kind_of[other].duration then
    core.raise(('[%s] expected durations, or a text such as "7d" or "1 month", got %s%s'):format(op, core.describe(other),
      core.is_number(other) and "; a text has the unit, \"5d\" or \"90s\"" or exports.kind_of(other) and "; x - y is the time between dates" or ""))
  end
  local unit = finer(kind.unit, kind_of[other].unit)
  local a, b = in_unit(op, x, unit), in_unit(op, other, unit)
  return make(present(a, b, sign > 0 and a + b or a - b), {unit = unit, duration = kind.duration})
end

--- x:add(step [, {month_end}]): as x + step.
function methods.add(x, step, options)
  if options == nil then return x + step end
  if not checks.is_options(options) or next(options) ~= "month_end" or next(options, "month_end") then
    core.fail("add", "the option month_end: {month_end = true}", options)
  end
  if type(step) ~= "string" or kind_of[x].duration then
    core.fail("add", 'dates and a step of months, such as "3 months", beside month_end', kind_of[x].duration and x or step)
  end
  return moved("add", x, step, 1, options.month_end)
end

local operators = {}

function operators.__add(a, b)
  if not kind_of[a] or kind_of[a].duration and kind_of[b] then a, b = b, a end
  return moved("add", a, b, 1)
end

function operators.__sub(a, b)
  if not kind_of[a] then core.fail("subtract", "dates or durations on the left", a) end
  if kind_of[b] and not kind_of[b].duration then
    check_dates("subtract", a)
    local x, y, unit = aligned("subtract", a, b)
    return make(present(x, y, x - y), {unit = unit, duration = true})
  end
  return moved("subtract", a, b, -1)
end

local function scaled(op, x, number, divides)
  if not kind_of[x] or not kind_of[x].duration then core.fail(op, "durations: dates have no multiples", x) end
  if not core.is_array(number) and not core.is_number(number) then core.fail(op, "a number or an array beside durations", number) end
  local counts = plain(x)
  local is_whole = not divides and (core.is_array(number) and not number.dtype:find "float" or type(number) == "number" and number % 1 == 0)
  if is_whole then return like(x, present(counts, nil, counts * number)) end
  -- In the coarsest unit in which the results are whole, or else the finest one that holds them.
  local found, unit
  for _, finer_unit in ipairs(steps.units_from(kind_of[x].unit)) do
    local wide = core.cast(counts, "float64") * (lengths[kind_of[x].unit] / lengths[finer_unit])
    wide = divides and wide / number or wide * number
    local defined = wide:isfinite():logical_and(counts:ne(missing))
    local fits, whole = gpu.eval(wide:abs():lt(greatest):logical_or(defined:logical_not()):all(),
      wide:rint():eq(wide):logical_or(defined:logical_not()):all())
    if not fits:item() then
      if found then break end
      core.raise(("[%s] expected durations that a column of %s can hold, got longer ones"):format(op, finer_unit))
    end
    found, unit = gpu.where(defined, core.cast(gpu.where(defined, wide:rint(), 0), "int64"), missing), finer_unit
    if whole:item() then break end
  end
  return make(found, {unit = unit, duration = true})
end

function operators.__mul(a, b)
  if kind_of[a] then return scaled("multiply", a, b) end
  return scaled("multiply", b, a)
end

--- Durations over durations are numbers.
function operators.__div(a, b)
  if kind_of[a] and (kind_of[b] or type(b) == "string") then
    if not kind_of[a].duration then core.fail("divide", "durations: dates have no multiples", a) end
    local x, y = aligned("divide", a, b)
    local function wide(counts) return core.is_array(counts) and gpu.where(counts:eq(missing), 0 / 0, core.cast(counts, "float64")) or counts end
    return wide(x) / wide(y)
  end
  return scaled("divide", a, b, true)
end

function operators.__unm(x) return scaled("negative", x, -1) end

-- ---- elements -----------------------------------------------------------------------------------------------------------------------

for _, name in ipairs {"shift", "fillna", "dropna"} do
  methods[name] = function(x, ...) return gpu[name](x, ...) end
end

--- x:diff(): the durations between neighbours.
function methods.diff(x) return x({2, -1}) - x({1, -2}) end

function methods.take(x, ...) return like(x, array_methods.take(plain(x), ...)) end
function methods.item(x) return core.format_dates("item", plain(x):item() and plain(x):reshape(1), kind_of[x])[1] end

import "stored_methods"(methods, plain, {"copy", "host", "table"})

exports.class = {__metatable = "dates or durations", methods = methods} -- completion and help look here

local parameters = {
  add = "(step [, {month_end}])", floor = "(step)", number = "(unit)", as = "(unit)", format = "([format])", isin = "(values)",
  sort = "([{descending}])", argsort = "([{descending}])", unique = "([{return_index, return_inverse, return_counts}])", shift = "([n] [, {by}])",
  fillna = "(value [, {by}])", take = "(indices)", host = "()", table = "()",
}
for _, op in ipairs {"eq", "ne", "lt", "le", "gt", "ge"} do parameters[op] = "(other)" end
for name, method in pairs(methods) do
  parameters[name] = parameters[name] or "()"
  methods[name] = function(x, ...)
    if not kind_of[x] then core.fail(name, ("dates or durations, and a colon: d:%s(...)"):format(name), x) end
    return method(x, ...)
  end
end
core.guard_methods(methods, "d:", parameters)

local meant = import "date_names"
local meta
local function make_meta(arrays)
  meta = {}
  for event, handler in pairs(arrays) do meta[event] = handler end
  meta.__metatable, meta.methods = "dates or durations", methods
  for event in pairs {__mod = 1, __pow = 1} do
    meta[event] = function() core.raise "[table] dates and durations have no powers and remainders; x:number(unit) gives numbers" end
  end
  for event, handler in pairs(operators) do meta[event] = handler end
  local function of(x, found)
    if not core.is_array(found) then return found end
    return found.ndim == 0 and core.format_dates("index", found:reshape(1), kind_of[x])[1] or like(x, found)
  end
  function meta.__index(x, name)
    if methods[name] then return methods[name] end
    if name == "unit" then return kind_of[x].unit end
    if name == "kind" then return kind_of[x].duration and "duration" or "date" end
    if type(name) == "number" then return of(x, arrays.__index(plain(x), {name})) end
    local known, found = pcall(arrays.__index, plain(x), name)
    if type(name) == "string" and core.has_date_form(name) then
      core.raise(("[table] expected a position, got %q; t:where(\"date\", %q) has the rows of a date, x(x:eq(%q)) the elements"):format(name,
        name, name))
    end
    if not known or type(found) == "function" then
      core.raise(("[table] %s have no method %s; %s"):format(name_of(kind_of[x]), core.describe(name),
        meant[name] and "use " .. meant[name] or "x:number(unit) gives an array of numbers"))
    end
    return of(x, found)
  end
  function meta.__call(x, ...) return of(x, arrays.__call(plain(x), ...)) end
  function meta.__len(x) return (arrays.__len(plain(x))) end
  function meta.__newindex(x)
    core.raise(("[index] expected an array to write to, got a column of %s; t.name = gpu.dates(texts) sets the whole column"):format(
      name_of(kind_of[x])))
  end
  function meta.__tostring(x) return import("table_text").column_text(x, kind_of[x]) end
end

--- Makes a column of an array of int64. Gives it.
function make(x, kind)
  if not kind_of[x] then
    if not meta then make_meta(core.array_metatable(x)) end
    core.date_column(x, meta)
  end
  kind_of[x] = kind
  return x
end
exports.make = make

-- ---- making -------------------------------------------------------------------------------------------------------------------------

--- Dates of texts, each once where they are a column of text.
function exports.parse(op, values, format, unit, device)
  local texts_of = import("text_column").texts_of
  local texts = texts_of(values)
  local counts, found = core.parse_dates(op, texts or values, format, unit, {device = texts and values.device or device},
    not texts and #values > 1)
  if texts then counts = counts:take(import("text_column").plain(values)) end
  return make(counts, {unit = found})
end

--- Durations of texts, each once where they are a column of text.
function exports.parse_durations(op, values, unit, device)
  local texts = import("text_column").texts_of(values)
  local list, present, counts = texts or values, {}, {}
  for i = 1, core.check_list(op, "durations", list) do
    local is_missing = list[i] == "" or list[i] == "NaT"
    counts[i] = is_missing and missing or steps.nanoseconds(op, list[i])
    if not is_missing then present[#present + 1] = counts[i] end
  end
  unit = unit or steps.unit_of(present)
  for i, ns in ipairs(counts) do
    if ns ~= missing then
      if ns % lengths[unit] ~= 0 then core.raise(("[%s] expected a whole number of %s, got %q"):format(op, unit, list[i])) end
      counts[i] = ns / lengths[unit]
    end
  end
  local found = gpu.array(counts, {dtype = "int64", device = texts and values.device or device})
  if texts then found = found:take(import("text_column").plain(values)) end
  return make(found, {unit = unit, duration = true})
end

return exports
