-- Dates of charts: seconds since 1970 in UTC, their texts, and the ticks of an axis.
local gpu, _, core = ...
local exports = {}

local floor, max, log10 = math.floor, math.max, math.log10

--- 1, 2 or 5 times a power of ten.
function exports.nice_step(least)
  local power = 10 ^ floor(log10(least))
  for _, factor in ipairs {1, 2, 5, 10} do
    if factor * power >= least * (1 - 1e-9) then return factor * power end
  end
end

local day = 86400

--- Days since 1970 of a date (the proleptic Gregorian calendar; years begin in March, so leap days come last).
local function days_of(year, month)
  if month <= 2 then year, month = year - 1, month + 12 end
  return 365 * year + floor(year / 4) - floor(year / 100) + floor(year / 400) + floor((153 * (month - 3) + 2) / 5) - 719468
end

--- Year, month and day of seconds since 1970.
local function date_of(seconds)
  local days = floor(seconds / day)
  local year = floor(1970 + days / 365.2425)
  while days_of(year, 1) > days do year = year - 1 end
  while days_of(year + 1, 1) <= days do year = year + 1 end
  local month = 12
  while days_of(year, month) > days do month = month - 1 end
  return year, month, days - days_of(year, month) + 1
end

--- "2024-03-14" or "12:30:15": what distinguishes ticks with that step.
local function tick_text(seconds, step)
  seconds = floor(seconds + 0.5)
  local year, month, of_month = date_of(seconds)
  if step >= 360 * day then return ("%d"):format(year) end
  if step >= 28 * day then return ("%04d-%02d"):format(year, month) end
  local time = seconds % day
  if step >= day or time == 0 then return ("%04d-%02d-%02d"):format(year, month, of_month) end
  local text = ("%02d:%02d"):format(floor(time / 3600), floor(time / 60) % 60)
  return step < 60 and text .. (":%02d"):format(time % 60) or text
end

local even_steps = {1, 2, 5, 15, 30, 60, 120, 300, 900, 1800, 3600, 3 * 3600, 6 * 3600, 12 * 3600, day, 2 * day, 4 * day, 7 * day, 14 * day}

--- The ticks of an axis, {{seconds, text}, ...}: where years, months, days or hours begin.
function exports.ticks(low, high, most)
  local ticks = {}
  for _, step in ipairs(even_steps) do
    if (high - low) / step <= most then
      -- Weeks begin on Mondays; 1970 began on a Thursday.
      local shift = step >= 7 * day and 4 * day or 0
      for i = math.ceil((low - shift) / step), floor((high - shift) / step) do
        ticks[#ticks + 1] = {i * step + shift, tick_text(i * step + shift, step)}
      end
      return ticks
    end
  end
  local months = (high - low) / (30.44 * day) / most
  local stride = 12 * (months > 6 and exports.nice_step(max(1, months / 12)) or 1)
  for _, fits in ipairs {6, 3, 2, 1} do
    if fits >= months then stride = fits end
  end
  local year, month = date_of(low)
  local at = floor((12 * year + month - 1) / stride) * stride
  while true do
    local seconds = days_of(floor(at / 12), at % 12 + 1) * day
    if seconds > high then return ticks end
    if seconds >= low then ticks[#ticks + 1] = {seconds, tick_text(seconds, stride * 30.44 * day)} end
    at = at + stride
  end
end

--- The text of an end of an axis that reaches over `span` seconds: the day and, of a short one, the time.
function exports.text(seconds, span)
  local date, time = tick_text(seconds, day), floor(seconds + 0.5) % day
  return span > 2 * day and date or ("%s %02d:%02d:%02d"):format(date, floor(time / 3600), floor(time / 60) % 60, time % 60)
end

--- The seconds of a column of dates, an array; nil of another value.
function exports.of_column(value)
  return getmetatable(value) == "dates or durations" and value.kind == "date" and value:number "s" or nil
end

--- The seconds of a text such as "2024-03-14 12:30:15", or of a list of them, an array; nil where one is no date.
function exports.seconds_of(texts)
  local ok, column = core.call(gpu.dates, texts)
  if not ok or column:isnan():any():item() then return nil end
  local seconds = column:number "s"
  return type(texts) == "string" and seconds[1] or seconds
end

return exports
