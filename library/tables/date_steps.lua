-- Lengths of time as text, such as "15min" and "3 months", and what the calendar does with dates: parts, floors and sums of months.
local gpu, _, core, import = ...
local checks = import "checks"

local exports = {}

-- The units of columns, the coarsest first, and the nanoseconds of each.
local units = {"days", "s", "ms", "us", "ns"}
local lengths = {days = 86400e9, s = 1e9, ms = 1e6, us = 1e3, ns = 1}
exports.lengths = lengths

-- What a text counts: nanoseconds, or months.
local terms = {
  ns = {1}, us = {1e3}, ms = {1e6}, s = {1e9}, min = {60e9}, h = {3600e9}, d = {86400e9}, w = {7 * 86400e9},
  month = {nil, 1}, quarter = {nil, 3}, year = {nil, 12},
}
for name, other in pairs {nanosecond = "ns", microsecond = "us", millisecond = "ms", second = "s", sec = "s", minute = "min", hour = "h", day = "d",
  week = "w"} do
  terms[name] = terms[other]
end
local known = "ns, us, ms, s, min, h, d, w"

-- What pandas has, and is another length or none here.
local calendar_length, days_of_week = '; dates take months and years, d + "3 months"', '; d[d:weekday():le(5)] of "1d" has the weekdays'
local elsewhere = {
  m = "; min are minutes", M = "; min are minutes", T = "; min are minutes", H = "; h are hours", D = "; d are days", W = "; w are weeks",
  B = days_of_week, BD = days_of_week,
}
local of_calendar = {}
for name in ("m M MS ME BM Q QS QE q Y YS YE y A"):gmatch "%a+" do of_calendar[name] = true end

--- The nanoseconds of a time on a clock, or of the text of a duration, "-1d 02:30:00" without its sign; nil for another text.
local function clock(text)
  local days, rest = text:match "^(%d+)d (.*)$"
  local hours, minutes, seconds, decimals = (rest or text):match "^(%d+):([0-5]%d):?([0-5]?%d?)%.?(%d*)$"
  if not hours or seconds == "" and decimals ~= "" or #seconds == 1 then return end
  return ((tonumber(days or 0) * 24 + tonumber(hours)) * 60 + tonumber(minutes)) * lengths.s * 60 + (tonumber(seconds) or 0) * lengths.s
    + tonumber((decimals .. "000000000"):sub(1, 9))
end

--- The step that a text says: {ns =}, or {months =}, and `weeks` where it is whole weeks alone. `length_advice`: months are refused, and
--- this is what to write in place of them.
function exports.step(op, text, length_advice)
  local what = length_advice and 'a length of time, such as "7d", "1h30min" or "09:30:00", of ' .. known
    or 'a length of time, such as "7d", "1h30min" or "3 months", of ' .. known .. ", month, quarter and year"
  if type(text) ~= "string" then core.fail(op, what, text) end
  local on_clock = clock(text)
  if on_clock then return {ns = on_clock} end
  local ns, months, rest, is_weeks = 0, 0, text, true
  while rest:find "%S" do
    local digits, name, after = rest:match "^%s*([%d.]*)%s*(%a+)(.*)$"
    local count = digits == "" and 1 or tonumber(digits)
    local term = name and (terms[name] or terms[(name:gsub("s$", ""))])
    if not term or not count or count == 0 then
      core.raise(("[%s] expected %s, got %q%s%s"):format(op, what, text, of_calendar[name] and (length_advice or calendar_length) or "",
        elsewhere[name] or ""))
    end
    ns, months, rest = ns + count * (term[1] or 0), months + count * (term[2] or 0), after
    is_weeks = is_weeks and term == terms.w
  end
  if text == "" or ns > 0 and months > 0 or months % 1 ~= 0 or ns % 1 ~= 0 then core.fail(op, what, text) end
  return months > 0 and {months = months} or {ns = ns, weeks = is_weeks}
end

--- The nanoseconds of a text that is no number of months. `advice`: what to write in place of months.
function exports.nanoseconds(op, text, advice)
  advice = advice or calendar_length
  local sign = type(text) == "string" and text:match "^%-"
  local step = exports.step(op, sign and text:sub(2) or text, advice)
  if not step.ns then core.raise(("[%s] expected a length of time without months, whose lengths differ, got %q%s"):format(op, text, advice)) end
  return sign and -step.ns or step.ns
end

--- The coarsest unit that counts all of these nanoseconds.
function exports.unit_of(all)
  for _, unit in ipairs(units) do
    local fits = true
    for _, ns in ipairs(all) do fits = fits and ns % lengths[unit] == 0 end
    if fits then return unit end
  end
end

--- A unit and the finer ones, the coarsest first.
function exports.units_from(unit)
  local found = {}
  for _, other in ipairs(units) do
    if lengths[other] <= lengths[unit] then found[#found + 1] = other end
  end
  return found
end

--- The finer of two units.
function exports.finer(a, b) return lengths[a] < lengths[b] and a or b end

function exports.check_unit(op, unit)
  if not lengths[unit] then core.fail(op, "a unit of dates: days, s, ms, us or ns", unit) end
  return unit
end

-- ---- the calendar -------------------------------------------------------------------------------------------------------------------

-- The civil calendar by its cycles of 400 years, which begin on 1 March, so that a leap day is the last of its year.
local calendar = [[
  struct Date { long long year; int month, day, year_day; };
  __device__ inline long long floored(long long a, long long b) { return a / b - (a % b < 0); }
  __device__ inline bool is_leap(long long year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }
  __device__ inline Date date_of(long long day) {
    day += 719468;  // from 0000-03-01 on
    const long long cycle = floored(day, 146097);
    const unsigned in_cycle = (unsigned)(day - cycle * 146097);
    const unsigned year = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
    const unsigned from_march = in_cycle - (365 * year + year / 4 - year / 100);
    const unsigned month = (5 * from_march + 2) / 153;
    Date date;
    date.day = (int)(from_march - (153 * month + 2) / 5) + 1;
    date.month = (int)(month < 10 ? month + 3 : month - 9);
    date.year = cycle * 400 + year + (date.month <= 2);
    date.year_day = (int)from_march + (date.month <= 2 ? -305 : 60 + is_leap(date.year));
    return date;
  }
  __device__ inline long long day_of(long long year, int month, int day) {
    year -= month <= 2;
    const long long cycle = floored(year, 400);
    const unsigned in_cycle = (unsigned)(year - cycle * 400);
    const unsigned from_march = (unsigned)(153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + (unsigned)day - 1;
    return cycle * 146097 + (long long)(in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + from_march) - 719468;
  }
  __device__ inline long long month_begin(long long months) {
    const long long year = floored(months, 12);
    return day_of(year, (int)(months - year * 12) + 1, 1);
  }
]]

-- `t`: the date in units; `day` and `time`: its day, and the units since the day's begin.
local parts = {
  year = "y = (int)date_of(day).year;", month = "y = date_of(day).month;", day = "y = date_of(day).day;",
  quarter = "y = (date_of(day).month + 2) / 3;", yearday = "y = date_of(day).year_day;",
  weekday = "y = (int)(day + 3 - floored(day + 3, 7) * 7) + 1;",
  hour = "y = (int)(time / (DAY / 24 > 0 ? DAY / 24 : 1)); if (DAY == 1) y = 0;",
  minute = "y = DAY == 1 ? 0 : (int)(time / SECOND / 60 % 60);",
  second = "y = DAY == 1 ? 0 : (int)(time / SECOND % 60);",
  nanosecond = "y = DAY == 1 ? 0 : (int)(time % SECOND * (1000000000ll / SECOND));",
}
exports.part_names = parts

local operations = {}

--- The operation of that name on dates in a unit; NaT stays NaT where the result is a date.
local function operation(name, unit, inputs, output, body)
  local key = name .. " " .. unit
  if not operations[key] then
    local day = lengths.days / lengths[unit]
    local function constant(text)
      return (text:gsub("DAY", ("%.0fll"):format(day)):gsub("SECOND", ("%.0fll"):format(math.max(day / 86400, 1))))
    end
    local is_missing = output == "int64 y" and "if (t == (long long)(1ull << 63)) { y = t; } else {" or "{"
    operations[key] = core.elementwise {
      name = "date_" .. name, inputs = "int64 t" .. inputs, outputs = output, preamble = calendar,
      body = constant("y = 0; const long long day = floored(t, DAY), time = t - day * DAY;") .. is_missing .. constant(body) .. "}",
    }
  end
  return operations[key]
end

--- A part of dates, int32; of missing ones any number.
function exports.part(x, unit, name) return (operation(name, unit, "", "int32 y", "(void)time;" .. parts[name])(x)) end

--- The begins of the steps that dates are in. Steps of months count from the year 0, of weeks from Mondays, others from 1970.
function exports.floor(op, x, unit, text)
  local step = exports.step(op, text)
  if step.months then
    return (operation("floor_months", unit, ", int64 months", "int64 y",
      [[(void)time;
      const Date date = date_of(day);
      y = month_begin(floored(date.year * 12 + date.month - 1, months) * months) * DAY;]])(x, step.months))
  end
  local length = lengths[unit]
  if step.ns < length then
    if length % step.ns == 0 then return x end
    core.raise(("[%s] expected steps that are no shorter than the column's unit, %s, got %q"):format(op, unit, text))
  end
  if step.ns % length ~= 0 then core.raise(("[%s] expected a whole number of %s, the column's unit, got %q"):format(op, unit, text)) end
  -- 1970 began on a Thursday.
  local offset = step.weeks and 4 * lengths.days / length or 0
  return (operation("floor", unit, ", int64 length, int64 offset", "int64 y", "(void)time; y = floored(t - offset, length) * length + offset;")(
    x, step.ns / length, offset))
end

--- Checks the option month_end beside a step, the text `text`. Gives it.
function exports.month_end(op, value, text, step)
  checks.flag(op, "month_end", value)
  if value ~= nil and not step.months then core.fail(op, 'a step of months, such as "3 months", beside month_end', text) end
  return value
end

--- Dates some months later: the same day, or the last one of a month that has it not. `month_end`: last days of months stay last days.
function exports.add_months(x, unit, months, month_end)
  return (operation("add_months", unit, ", int64 months, int64 month_end", "int64 y",
    [[const Date date = date_of(day);
    const long long from = date.year * 12 + date.month - 1, to = from + months;
    const long long begin = month_begin(to), next = month_begin(to + 1), moved = begin + date.day - 1;
    const bool is_last = month_end && day + 1 == month_begin(from + 1);
    y = (moved < next && !is_last ? moved : next - 1) * DAY + time;]])(x, months, month_end and 1 or 0))
end

return exports
