-- Columns of dates and durations: gpu.dates, gpu.durations and gpu.date_range.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local date_column, steps = import "date_column", import "date_steps"
local lengths = steps.lengths

--- An array of numbers of the unit as such a column; nil for another value.
local function counted(op, values, unit, duration)
  if not core.is_array(values) then return end
  if values.ndim ~= 1 or not values.dtype:find "int" or values.dtype == "uint64" then core.fail(op, "a vector of integers, or texts", values) end
  if unit == nil then core.fail(op, 'the option unit beside numbers, "days", "s", "ms", "us" or "ns", or format = "%Y%m%d" beside 20240102', unit) end
  return date_column.make(core.cast(values, "int64"):copy(), {unit = steps.check_unit(op, unit), duration = duration})
end

--- Integers that are written as dates, such as 20240102, as texts where a format reads them.
local function written(op, values, options)
  local is_array = core.is_array(values) and not import("text_column").texts_of(values)
  if not is_array and not (type(values) == "table" and core.is_number(values[1])) then return values end
  if options.format == nil and not is_array then
    core.fail(op, 'texts, or the option format = "%Y%m%d" beside integers that are written so', values[1])
  end
  if options.format == nil then return values end
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
  values, device = written(op, values, options)
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
  return counted(op, values, options.unit, true)
    or date_column.parse_durations(op, values, options.unit and steps.check_unit(op, options.unit), options.device)
end

--- gpu.date_range(start, stop, step [, {unit, device}])
function gpu.date_range(start, stop, step, options)
  local op = "date_range"
  options = checks.fields(op, options)
  local form = ', as in gpu.date_range("2024-01-01", 12, "1 month")'
  if type(start) ~= "string" then core.fail(op, "the first date, a text, as an argument" .. form, start) end
  if type(stop) == "table" then core.fail(op, "a last date or a number of dates and a step" .. form, stop) end
  if type(step) ~= "string" then core.fail(op, "a step, a length of time" .. form, step) end
  local by = steps.step(op, step)
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
  local dates = steps.add_months(begin, unit, numbers * by.months)
  return date_column.make(ends[2] and dates[dates:le(first({2, 2}))] or dates, {unit = unit})
end
