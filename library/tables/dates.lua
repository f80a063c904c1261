-- Columns of dates and durations: gpu.dates, gpu.durations, gpu.date_range and gpu.year_fraction.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local date_column, steps = import "date_column", import "date_steps"
local lengths = steps.lengths

-- The days from 0000-01-01 to 9999-12-31, which ISO 8601 writes.
local first_day, last_day = -719528, 2932896

--- Warns of dates beyond the years that are written, and names the finer unit that their numbers rather count.
local function warn_of_years(op, counts, unit)
  if counts.size == 0 then return end
  local least, most = gpu.eval(date_column.key(counts):min(), counts:max())
  least, most = tonumber(least:item()), tonumber(most:item())
  local function fits(other)
    local scale = lengths[other] / lengths.days
    return (least * scale >= first_day or least == 2 ^ 63) and most * scale < last_day + 1
  end
  if most == -2 ^ 63 or fits(unit) then return end
  local function year(count) return math.floor(1970.5 + count * (lengths[unit] / lengths.days) / 365.2425) end
  local meant
  for _, other in ipairs(steps.units_from(unit)) do meant = meant or fits(other) and other end
  core.warn(("[%s] gives dates beyond the years 0 to 9999: of the unit %s, from about the year %.0f to %.0f%s"):format(op, unit, year(least),
    year(most), meant and ("; do the numbers count %s? unit = %q says so"):format(meant, meant) or ""))
end

--- An array of numbers of the unit as such a column; nil for another value.
local function counted(op, values, unit, duration)
  if not core.is_array(values) then return end
  if values.ndim ~= 1 or not values.dtype:find "int" or values.dtype == "uint64" then core.fail(op, "a vector of integers, or texts", values) end
  if unit == nil then core.fail(op, 'the option unit beside numbers, "days", "s", "ms", "us" or "ns", or format = "%Y%m%d" beside 20240102', unit) end
  steps.check_unit(op, unit)
  local counts = core.cast(values, "int64"):copy()
  if not duration then warn_of_years(op, counts, unit) end
  return date_column.make(counts, {unit = unit, duration = duration})
end

local function is_numbers(values) return type(values) == "table" and core.is_number(values[1]) end

--- A list of integers as an array of what the option unit says. `others`: what else values can be.
local function listed(op, values, options, others)
  if not is_numbers(values) then return values end
  if options.unit == nil then
    core.fail(op, 'texts, or beside integers the option unit, "days", "s", "ms", "us" or "ns"' .. others, values[1])
  end
  for i = 1, core.check_list(op, "integers", values) do
    if type(values[i]) ~= "cdata" then checks.integer(op, "integers that count the option unit", values[i]) end
  end
  return gpu.array(values, {dtype = "int64", device = options.device})
end

--- Integers that are written as dates, such as 20240102, as texts, which the format reads, and the device of an array.
local function written(op, values)
  local is_array = core.is_array(values) and not import("text_column").texts_of(values)
  if not is_array and not is_numbers(values) then return values end
  if is_array and (values.ndim ~= 1 or not values.dtype:find "int") then core.fail(op, "a vector of integers, or texts", values) end
  local texts = {}
  for i, value in ipairs(is_array and values:table() or values) do
    texts[i] = ("%.0f"):format(checks.integer(op, "integers that are written as dates", value))
  end
  return texts, is_array and values.device or nil
end

--- gpu.dates(values [, {format, unit, device}])
function gpu.dates(values, options)
  local op = "dates"
  options = checks.fields(op, options)
  local kind = date_column.kind_of(values)
  if kind and not kind.duration then return options.unit and values:as(options.unit) or values end
  if type(values) == "string" then values = {values} end
  local device
  if options.format ~= nil then
    values, device = written(op, values)
  else
    values = listed(op, values, options, ', or format = "%Y%m%d" where they are written so')
  end
  local numbers = counted(op, values, options.unit)
  if numbers then return numbers end
  if not import("text_column").texts_of(values) then core.check_list(op, "dates as texts", values) end
  return date_column.parse(op, values, options.format, options.unit, options.device or device)
end

--- gpu.durations(values [, {unit, device}])
function gpu.durations(values, options)
  local op = "durations"
  options = checks.fields(op, options)
  if type(values) == "string" then values = {values} end
  return counted(op, listed(op, values, options, ""), options.unit, true)
    or date_column.parse_durations(op, values, options.unit and steps.check_unit(op, options.unit), options.device)
end

--- gpu.date_range(start, stop, step [, {unit, device, month_end}])
function gpu.date_range(start, stop, step, options)
  local op = "date_range"
  options = checks.fields(op, options)
  local form = ', as in gpu.date_range("2024-01-01", 12, "1 month")'
  if type(start) ~= "string" then core.fail(op, "the first date, a text, as an argument" .. form, start) end
  if type(stop) == "table" then core.fail(op, "a last date or a number of dates and a step" .. form, stop) end
  if type(step) ~= "string" then core.fail(op, "a step, a length of time" .. form, step) end
  local by = steps.step(op, step)
  local month_end = steps.month_end(op, options.month_end, step, by)
  local ends = {start}
  if type(stop) == "string" then
    ends[2] = stop
  else
    checks.count(op, "the last date, a text, or a number of dates", stop)
  end
  local _, unit = core.parse_dates(op, ends, nil, options.unit, {device = "cpu"})
  unit = options.unit or steps.finer(unit, steps.unit_of {by.ns or 0})
  local first = core.parse_dates(op, ends, nil, unit, {device = options.device})
  local device, length = first.device, by.ns and by.ns / lengths[unit]
  if length and length % 1 ~= 0 then core.raise(("[%s] expected steps of whole %s, got %q"):format(op, unit, step)) end
  local count = stop
  if ends[2] then
    local distance = tonumber(first[2]) - tonumber(first[1])
    -- Months have at least 28 days.
    count = math.max(0, math.floor(distance / (length or by.months * 28 * lengths.days / lengths[unit])) + 1)
  end
  local numbers = gpu.arange(count, {dtype = "int64", device = device})
  local begin = first({1, 1})
  if length then return date_column.make(begin + numbers * length, {unit = unit}) end
  local dates = steps.add_months(begin, unit, numbers * by.months, month_end)
  return date_column.make(ends[2] and dates[dates:le(first({2, 2}))] or dates, {unit = unit})
end

-- ---- year fractions ---------------------------------------------------------------------------------------------------------------

--- A date as a number of years. Each year counts as 1, with a leap day or without.
local function years(d)
  local begin = d:floor "year"
  return d:year() + (d - begin):number "days" / (begin + "1 year" - begin):number "days"
end

local function months_of_30(d, day) return d:year() * 360 + d:month() * 30 + day end

--- What each convention makes of two dates.
local day_counts = {
  ["act/360"] = function(from, to) return (to - from):number "days" / 360 end,
  ["act/365"] = function(from, to) return (to - from):number "days" / 365 end,
  ["act/act"] = function(from, to) return years(to) - years(from) end,
  ["30e/360"] = function(from, to)
    return (months_of_30(to, gpu.minimum(to:day(), 30)) - months_of_30(from, gpu.minimum(from:day(), 30))) / 360
  end,
  ["30/360"] = function(from, to)
    local first, last = gpu.minimum(from:day(), 30), to:day()
    last = gpu.where(first:eq(30), gpu.minimum(last, 30), last)
    return (months_of_30(to, last) - months_of_30(from, first)) / 360
  end,
}

--- gpu.year_fraction(start, stop, convention)
function gpu.year_fraction(start, stop, convention)
  local op = "year_fraction"
  local count = type(convention) == "string" and day_counts[convention:lower()]
  if not count then
    core.fail(op, 'a convention: "30/360", "30E/360", "act/360", "act/365" or "act/act"', convention)
  end
  local device = date_column.kind_of(start) and start.device or date_column.kind_of(stop) and stop.device or nil
  local function dates(value)
    local kind = date_column.kind_of(value)
    if kind and not kind.duration then return value end
    if type(value) ~= "string" or not core.has_date_form(value) then core.fail(op, 'dates, or a text such as "2024-03-01"', value) end
    return date_column.parse(op, {value}, nil, nil, device)
  end
  local from, to = dates(start), dates(stop)
  if from.size ~= to.size and from.size ~= 1 and to.size ~= 1 then
    core.raise(("[%s] expected as many dates on both sides, or one, got %d and %d"):format(op, from.size, to.size))
  end
  return core.cast(count(from, to), "float64")
end
