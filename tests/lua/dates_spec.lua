-- Columns of dates and durations. Expected values are written out; tables_golden_spec compares random ones with pandas.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local function days(...) return gpu.dates {...} end

describe("dates", function()
  local temporary = support.temporary_files(before_each, after_each)
  local function loaded(text, options)
    local path = temporary ".csv"
    support.write(path, text)
    return gpu.load(path, options or {})
  end

  it("come from texts, in the coarsest unit that has them", function()
    assert.are.same({"2024-03-01", "NaT", "1999-12-31"}, days("2024-03-01", "", "1999-12-31"):format())
    assert.are.same({19783}, days("2024-03-01"):table())
    for text, shown in pairs {
      ["2024-03-01 12:30"] = "2024-03-01 12:30:00", ["2024-03-01T12:30:15"] = "2024-03-01 12:30:15",
      ["2024-03-01 12:30:15.25"] = "2024-03-01 12:30:15.250", ["2024-03-01 12:30:15.123456"] = "2024-03-01 12:30:15.123456",
      ["2024-03-01 12:30:15.1234567"] = "2024-03-01 12:30:15.123456700", ["2024-03-01T12:30:00Z"] = "2024-03-01 12:30:00",
      ["2024-03-01T00:30:00+02:00"] = "2024-02-29 22:30:00", ["2023-12-31T23:30:00-0130"] = "2024-01-01 01:00:00",
    } do
      assert.are.equal(shown, days(text)[1])
    end
    assert.are.equal("2024-03-01 00:00:00.000", gpu.dates({"2024-03-01"}, {unit = "ms"})[1])
    local t = gpu.table {day = {"2024-02-29", "2023-01-01", "2024-02-29"}}
    t.day = gpu.dates(t.day)
    assert.are.same({"2024-02-29", "2023-01-01", "2024-02-29"}, t:values "day")
    assert.are.equal("1970-01-02", gpu.dates(gpu.array({1}, "int32"), {unit = "days"})[1])
    for _, text in ipairs {"2024-13-01", "2023-02-29", "2024-03-01 24:00"} do
      fails('expected a date that exists, got "' .. text, days, text)
    end
    for _, text in ipairs {"2024-1-1", "2024-03-01x", "01.03.2024", "2024-03-01 12:30:00+25:00"} do
      fails("expected a date as 2024-03-01 or 2024-03-01 12:30:00, got \"" .. text, days, text)
    end
    fails("expected dates in the range of 64 bits in ns", gpu.dates, {"2500-01-01"}, {unit = "ns"})
    fails('expected the option unit beside numbers', gpu.dates, gpu.arange(3))
    fails('expected a vector of integers, or texts, got an array float32[2]', gpu.dates, gpu.ones(2), {unit = "s"})
    fails('expected a unit of dates: days, s, ms, us or ns, got "hours"', gpu.dates, gpu.arange(3), {unit = "hours"})
  end)

  it("have durations by the clock, as they are printed", function()
    local texts = {"09:30:00", "-1d 02:30:00", "3d", "00:00:00.250", "", "100:00"}
    local d = gpu.durations(texts)
    assert.are.same({34200000, -(86400 + 9000) * 1000, 3 * 86400000, 250, 360000000},
      {d:number "ms"[1], d:number "ms"[2], d:number "ms"[3], d:number "ms"[4], d:number "ms"[6]})
    assert(d:isnan()[5] and not d:isnan()[6])
    assert.are.same(d:format(), gpu.durations(d:format()):format())
    local t = gpu.table {day = gpu.dates {"2024-01-02", "2024-01-03", "2024-01-04"}, time = {"16:00", "09:30:00", "16:00"}}
    assert.are.same({"2024-01-02 16:00:00", "2024-01-03 09:30:00", "2024-01-04 16:00:00"}, (t.day + gpu.durations(t.time)):format())
    for _, text in ipairs {"9:3:00", "09:60", "1:", "09:30:0", "09:30.5", "x09:30"} do
      fails('expected a length of time, such as "7d", "1h30min" or "09:30:00", of ns', gpu.durations, text)
    end
  end)

  it("are read and written by a format", function()
    local d = gpu.dates({"31.12.2023", "1.2.2024"}, {format = "%d.%m.%Y"})
    assert.are.same({"2023-12-31", "2024-02-01"}, d:format())
    assert.are.same({"31-Dec-23 Sunday 365", "01-Feb-24 Thursday 032"}, d:format "%d-%b-%y %A %j")
    d = gpu.dates({"3/9/24 1:05 PM", "12/31/23 12:00 AM"}, {format = "%m/%d/%y %I:%M %p"})
    assert.are.same({"2024-03-09 13:05:00", "2023-12-31 00:00:00"}, d:format())
    assert.are.same({"01 PM 05", "12 AM 00"}, d:format "%I %p %M")
    assert.are.equal("2024-02-29", gpu.dates({"60/2024"}, {format = "%j/%Y"})[1])
    assert.are.equal("2024-03-01 12:30:00.250", gpu.dates({"1 march 2024 12:30:00.25"}, {format = "%d %B %Y %T.%f"})[1])
    fails('expected a date as "%d.%m.%Y" has them, got "2024-03-01"', gpu.dates, {"2024-03-01"}, {format = "%d.%m.%Y"})
    fails("expected a date's format of %Y %y", gpu.dates, {"1"}, {format = "%Q"})
    fails("expected a date's format with the year", gpu.dates, {"1"}, {format = "%d"})
  end)

  it("compare with texts and with each other, and a missing one with nothing", function()
    local d = days("2024-03-01", "2023-12-31", "", "2024-02-29")
    assert.are.same({true, false, false, true}, d:ge "2024-02-29":table())
    assert.are.same({false, true, false, false}, d:lt "2024-02-29":table())
    assert.are.same({true, true, true, false}, d:ne "2024-02-29":table())
    assert.are.same({true, false, false, false}, d:gt "2024-02-29 12:00":table())
    assert.are.same({true, true, false, true}, d:eq(d):table())
    assert.are.same({false, false, false, false}, d:lt(d):table())
    assert.are.same({true, true, false, true}, d:eq(d:as "ns"):table())
    assert.are.same({true, false, false, true}, d:isin {"2024-02-29", "2024-03-01"}:table())
    assert.are.same({"2024-03-01", "2023-12-31"}, {d:max(), d:min()})
    assert.are.same({"2023-12-31", "2024-02-29", "2024-03-01", "NaT"}, d:sort():format())
    assert.are.same({2, 4, 1, 3}, d:argsort():table())
    assert.are.same({"NaT", "NaT"}, {days(""):max(), days(""):min()})
    fails('expected dates, or a text such as "2024-03-01", beside dates, got 3', d.ge, d, 3)
    fails('expected a date as 2024-03-01 or 2024-03-01 12:30:00, got "March"', d.ge, d, "March")
  end)

  it("differ by durations", function()
    local d = days("2024-03-01", "", "2024-02-28")
    assert.are.same({"2024-03-08", "NaT", "2024-03-06"}, (d + "7d"):format())
    assert.are.same({"2024-02-29 22:30:00", "NaT", "2024-02-27 22:30:00"}, (d - "1h30min"):format())
    assert.are.same({"2024-02-29", "NaT", "2024-01-31"}, (days("2024-01-31", "", "2023-12-31") + "1 month"):format())
    assert.are.same({"2023-02-28"}, (days "2024-02-29" - "1 year"):format())
    local gaps = d - days("2024-02-01", "2024-02-01", "2024-02-29")
    assert.are.same({"29d", "NaT", "-1d"}, gaps:format())
    assert.are.same({29, -1}, {gaps:number "days"[1], gaps:number "days"[3]})
    assert(gaps:number "days":isnan()[2] and gaps:number "h"[1] == 29 * 24)
    assert.are.same({"2024-03-01", "NaT", "2024-02-28"}, (days("2024-02-01", "2024-02-01", "2024-02-29") + gaps):format())
    assert.are.same({"58d", "NaT", "-2d"}, (2 * gaps):format())
    assert.are.same({"14d 12:00:00", "-1d 12:00:00"}, {(gaps:as "s" / 2)[1], (gaps:as "s" * 1.5)[3]})
    -- What is not whole has a finer unit.
    local weeks = gpu.durations {"1d", "5d", "-7d"}
    assert.are.same({"12:00:00", "2d 12:00:00", "-3d 12:00:00"}, (weeks / 2):format())
    assert.are.same({12, 60, -84}, (weeks * 0.5):number "h":table())
    assert.are.same({8 * 3600, 40 * 3600, -56 * 3600}, (weeks / 3):table())
    assert.are.same({"s", "days", "ms"}, {(weeks / 3).unit, (weeks / gpu.array {1, 5, 7}).unit, (gpu.durations {"1s"} / 8).unit})
    assert.are.same({"NaT", "14d 12:00:00"}, {(gaps / 2)[2], (gaps / 2)[1]})
    assert.are.equal("ns", (weeks / 7).unit)
    assert.are.same({86400e9 / 7 - (86400e9 / 7 + 0.5) % 1 + 0.5, 5 * 86400e9 / 7 - (5 * 86400e9 / 7 + 0.5) % 1 + 0.5, -86400e9},
      (weeks / 7):number "ns":table())
    assert.are.same({"NaT", "NaT", "NaT"}, (weeks / 0):format())
    assert.are.equal("us", (gpu.durations {"1000000d"} / 7).unit)  -- more than nanoseconds hold
    fails("[multiply] expected durations that a column of days can hold, got longer ones", function() return weeks * gpu.array({1e30}, "float64") end)
    assert.are.equal(29 / 7, (gaps / "7d")[1])
    assert.are.same({true, false, false}, gaps:gt "2d":table())
    assert.are.same({"1d 00:00:00", "-01:30:00"}, gpu.durations({"1 day", "-90min"}):format())
    assert.are.same({86400, -5400}, gpu.durations({"1 day", "-90min"}):table())
    assert.are.same({"-2d", "4d"}, (days("2024-03-03", "2024-03-01", "2024-03-05")):diff():format())
    fails("expected durations: dates have no multiples", function() return d * 2 end)
    fails('expected durations, or a text such as "7d" or "1 month", got 7', function() return d + 7 end)
    fails('got "7m"; dates take months and years, d + "3 months"; min are minutes', function() return d + "7m" end)
    fails('expected a length of time without months, whose lengths differ', d.number, d, "month")
    fails("no method \"mean\"; use x:number(unit):mean()", function() return d:mean() end)
    fails([[dates have no method "strftime"; use x:format "%d.%m.%Y"]], function() return d:strftime "%Y" end)
    fails("expected numbers, got a column of dates or durations; x:number(unit) gives numbers", gpu.sum, d)
    fails("expected dates, got durations", gaps.year, gaps)
  end)

  it("have parts, and begins of steps", function()
    local d = gpu.dates {"2024-12-30 23:59:58.5", "1969-12-31 00:00:01"}
    assert.are.same({2024, 1969, 12, 12, 30, 31, 365, 365, 1, 3, 4, 4}, {
      d:year()[1], d:year()[2], d:month()[1], d:month()[2], d:day()[1], d:day()[2], d:yearday()[1], d:yearday()[2], d:weekday()[1],
      d:weekday()[2], d:quarter()[1], d:quarter()[2]})
    assert.are.same({23, 0, 59, 0, 58, 1, 5e8, 0}, {
      d:hour()[1], d:hour()[2], d:minute()[1], d:minute()[2], d:second()[1], d:second()[2], d:nanosecond()[1], d:nanosecond()[2]})
    assert.are.equal("int32", d:year().dtype)
    assert(days("2024-03-01", ""):year().dtype == "float64" and days("2024-03-01", ""):year():isnan()[2])
    local function floors(step) return d:floor(step):format "%F %T" end
    assert.are.same({"2024-12-30 23:59:50", "1969-12-31 00:00:00"}, floors "10s")
    assert.are.same({"2024-12-30 22:00:00", "1969-12-31 00:00:00"}, floors "2h")
    assert.are.same({"2024-12-30 00:00:00", "1969-12-29 00:00:00"}, floors "week")
    assert.are.same({"2024-12-01 00:00:00", "1969-12-01 00:00:00"}, floors "month")
    assert.are.same({"2024-07-01 00:00:00", "1969-07-01 00:00:00"}, floors "6 months")
    assert.are.same({"2020-01-01 00:00:00", "1960-01-01 00:00:00"}, floors "10 years")
    assert.are.same({"2024-03-01"}, days "2024-03-01":floor "h":format())
    fails("expected a whole number of days, the column's unit", function() return days "2024-03-01":floor "36h" end)
    fails('expected a length of time, such as "7d"', d.floor, d, "fortnight")
  end)

  it("make ranges", function()
    assert.are.same({"2024-01-31", "2024-02-29", "2024-03-31"}, gpu.date_range("2024-01-31", 3, "month"):format())
    assert.are.same({"2024-01-31", "2024-02-29", "2024-03-31"}, gpu.date_range("2024-01-31", "2024-04-29", "month"):format())
    assert.are.same({"2024-01-01 00:00:00", "2024-01-01 18:00:00"}, gpu.date_range("2024-01-01", "2024-01-02", "18h"):format())
    assert.are.same({"2024-01-01", "2024-01-08"}, gpu.date_range("2024-01-01", "2024-01-08", "week"):format())
    assert.are.equal(0, gpu.date_range("2024-01-02", "2024-01-01", "1d").size)
    assert.are.equal(0, gpu.date_range("2024-01-02", 0, "year").size)
    assert.are.equal("2024-01-01 00:00:00.000", gpu.date_range("2024-01-01", 2, "1d", {unit = "ms"})[1])
    fails("expected steps of whole days", gpu.date_range, "2024-01-01", 2, "1h", {unit = "days"})
  end)

  it("of months keep the day, or stay at the month's end by the rule of bonds", function()
    local function range(start, count, step, options) return gpu.date_range(start, count, step, options or {}):format() end
    local rule = {month_end = true}
    assert.are.same({"2022-06-30", "2022-12-30", "2023-06-30", "2023-12-30"}, range("2022-06-30", 4, "6 months"))
    assert.are.same({"2022-06-30", "2022-12-31", "2023-06-30", "2023-12-31"}, range("2022-06-30", 4, "6 months", rule))
    assert.are.same({"2022-06-30", "2022-12-31"}, range("2022-06-30", "2023-06-29", "6 months", rule))
    assert.are.same({"2022-06-29", "2022-12-29"}, range("2022-06-29", 2, "6 months", rule))
    assert.are.same({"2023-02-28", "2024-02-29", "2025-02-28"}, range("2023-02-28", 3, "1 year", rule))
    assert.are.same({"2024-02-28", "2025-02-28"}, range("2024-02-28", 2, "1 year", rule))
    assert.are.same({"2022-06-30", "2022-12-30"}, range("2022-06-30", 2, "6 months", {month_end = false}))
    local d = days("2024-02-29", "2024-04-30", "", "2024-04-29")
    assert.are.same({"2024-03-31", "2024-05-31", "NaT", "2024-05-29"}, d:add("1 month", rule):format())
    assert.are.same({"2024-01-31", "2024-03-31", "NaT", "2024-03-29"}, d:add("-1 month", rule):format())
    assert.are.same((d + "1 month"):format(), d:add "1 month":format())
    assert.are.same({"2024-02-29", "2024-04-30", "NaT", "2024-04-30"}, (d:floor "month" + "1 month" - "1d"):format())
    fails('expected a step of months, such as "3 months", beside month_end, got "7d"', gpu.date_range, "2024-01-01", 2, "7d", rule)
    fails('expected a step of months, such as "3 months", beside month_end, got "7d"', d.add, d, "7d", rule)
    fails("beside month_end, got a column of dates or durations", d.add, d, gpu.durations {"1d"}, rule)
    fails("expected month_end = true or false, got 1", d.add, d, "1 month", {month_end = 1})
    fails("[add] expected the option month_end: {month_end = true}", d.add, d, "1 month", {monthend = true})
  end)

  it("come from lists of integers, with a warning of years that are not written", function()
    local now = 1704067200
    assert.are.same({"2024-01-01 00:00:00", "NaT"}, gpu.dates({now, -2 ^ 63}, {unit = "s"}):format())
    assert.are.same({"5d", "-6d"}, gpu.durations({5, -6}, {unit = "days"}):format())
    fails('expected texts, or beside integers the option unit, "days", "s", "ms", "us" or "ns", or format = "%Y%m%d"', gpu.dates, {now})
    fails('expected texts, or beside integers the option unit, "days", "s", "ms", "us" or "ns", got 5', gpu.durations, {5})
    fails("expected integers that count the option unit, got 0.5", gpu.dates, {now, 0.5}, {unit = "s"})
    local output = support.run([[
      local gpu = require "gpu"
      gpu.dates({1704067200123}, {unit = "s"})
      gpu.dates(gpu.array({1704067200, 1704067200123000000}, "int64"), {unit = "s"})
      gpu.dates({253402300800000, -2 ^ 63}, {unit = "ms"})
      gpu.dates({-62167219200001}, {unit = "ms"})
      for _, values in ipairs {{1704067200123}, {-1}, {-2 ^ 63}, {253402300799999, -62167219200000}, {}} do
        gpu.dates(gpu.array(values, "int64"), {unit = "ms"})
        gpu.durations(gpu.array(values, "int64"), {unit = "days"})
      end]], "GPULUA_DEVICE=" .. gpu.device().name, "years.lua")
    local function told(line, rest)
      assert(output:find(("years.lua:%d: [dates] gives dates beyond the years 0 to 9999: of the unit %s"):format(line, rest), 1, true), output)
    end
    told(2, 's, from about the year 55970 to 55970; do the numbers count ms? unit = "ms" says so')
    told(3, 's, from about the year 2024 to 53999741873; ')
    assert(output:find('do the numbers count ns? unit = "ns"', 1, true), output)
    told(4, "ms")
    told(5, "ms")
    assert.are.equal(4, select(2, output:gsub("gives dates", "")), output)
  end)

  it("count years by the conventions of bonds", function()
    -- By the definitions of ISDA 2006, section 4.16.
    local from = days("2024-01-31", "2024-02-28", "2023-11-01", "2024-01-30", "2024-01-15", "")
    local to = days("2024-03-31", "2024-08-31", "2025-05-01", "2024-05-31", "2024-07-31", "2024-01-01")
    local expected = {
      ["act/365"] = {60 / 365, 185 / 365, 547 / 365, 122 / 365, 198 / 365}, ["act/360"] = {60 / 360, 185 / 360, 547 / 360, 122 / 360, 198 / 360},
      ["act/act"] = {60 / 366, 185 / 366, 61 / 365 + 1 + 120 / 365, 122 / 366, 198 / 366},
      ["30E/360"] = {60 / 360, 182 / 360, 540 / 360, 120 / 360, 195 / 360}, ["30/360"] = {60 / 360, 183 / 360, 540 / 360, 120 / 360, 196 / 360},
    }
    for convention, numbers in pairs(expected) do
      local there, back = gpu.year_fraction(from, to, convention), gpu.year_fraction(to, from, convention:upper())
      assert(there.dtype == "float64" and there:isnan()[6])
      for i, number in ipairs(numbers) do
        support.near(number, there[i], 1e-12, convention)
        if not convention:find "30/" then support.near(-number, back[i], 1e-12, convention) end
      end
    end
    assert.are.same({366 / 365, 1}, gpu.year_fraction("2024-01-01", days("2025-01-01", "2024-12-31"), "act/365"):table())
    assert.are.same({0.5}, gpu.year_fraction("2023-01-01", "2023-07-02 12:00", "act/act"):table())
    assert.are.equal(0, gpu.year_fraction(days(), "2023-07-02", "30/360").size)
    fails('expected a convention: "30/360", "30E/360", "act/360", "act/365" or "act/act", got "act/366"', gpu.year_fraction, from, to, "act/366")
    fails("expected a convention", gpu.year_fraction, from, to)
    fails("expected as many dates on both sides, or one, got 6 and 2", gpu.year_fraction, from, days("2024-01-01", "2024-01-02"), "act/365")
    fails('expected dates, or a text such as "2024-03-01", got a column of dates or durations', gpu.year_fraction, from, gpu.durations {"1d"}, "act/365")
    fails('expected dates, or a text such as "2024-03-01", got "soon"', gpu.year_fraction, from, "soon", "act/365")
  end)

  it("have formats with a % before each letter", function()
    local d = days("2024-01-02")
    for wrong, right in pairs {["dd/mm/yyyy"] = "%d/%m/%Y", ["YYYY-MM-DD hh:mm:ss"] = "%Y-%m-%d %H:%M:%S", ["dd-MON-yy"] = "%d-%b-%y",
      ["dddd, d mmmm"] = "%A, %d %B", x = "%d/%m/%Y"} do
      local message = ('expected a date\'s format of letters after %%, such as "%s", got "%s"'):format(right, wrong)
      fails(message, d.format, d, wrong)
      fails(message, gpu.dates, {"2024-01-02"}, {format = wrong})
    end
    fails("names of zones are not read: America/New_York is written as its offset, such as -05:00", days, "2024-01-01 10:00:00 America/New_York")
  end)

  it("are columns of tables", function()
    local t = gpu.table({day = days("2024-03-01", "2024-01-15", "", "2024-01-15"), x = {1, 2, 3, 4}}, {"day", "x"})
    assert.are.same({2, 4, 1, 3}, t:sort_by "day".x:table())
    assert.are.same({1, 2, 4, 3}, t:sort_by("day", {descending = true}).x:table())
    assert.are.same({2, 4}, t:where("day", "2024-01-15").x:table())
    assert.are.same({1}, t:take(t.day:ge "2024-02-01").x:table())
    local sums = t:group_by "day":sum()
    assert.are.same({"2024-01-15", "2024-03-01", "NaT"}, sums:values "day")
    assert.are.same({6, 1, 3}, sums.x:table())
    local spans = t:group_by "x":aggregate {day = {"min", "count"}}
    assert.are.same({1, 1, 0, 1}, spans.day_count:table())
    assert(tostring(t):find("       day        x\n      date  float64\n2024-03-01        1\n", 1, true), tostring(t))
    assert(tostring(t.day):find("date[4] " .. t.day.device .. "\n[2024-03-01 2024-01-15 NaT 2024-01-15]", 1, true), tostring(t.day))
    assert.are.same({"NaT", "2024-03-01", "2024-01-15", "NaT"}, t.day:shift():format())
    assert.are.same({"2024-03-01", "2024-01-15", "2024-01-15", "2024-01-15"}, t.day:fillna "forward":format())
    assert.are.equal("2000-01-01", t.day:fillna "2000-01-01"[3])
    assert.are.equal(3, t.day:dropna().size)
    assert.are.equal(3, t:dropna().rows)
    fails("expected an array to write to", function() t.day[1] = 3 end)
  end)

  it("are found in text files", function()
    local t = loaded "day,time,x,s\n2024-03-01,2024-03-01 12:30,1,a\n,2024-03-02T00:00:00.5,2,b\nNA,NaT,3,c\n2024-02-28,,4,d\n"
    assert.are.same({"2024-03-01", "NaT", "NaT", "2024-02-28"}, t:values "day")
    assert.are.same({"2024-03-01 12:30:00.000", "2024-03-02 00:00:00.500", "NaT", "NaT"}, t:values "time")
    -- Missing ones may come first; a column with another field is text.
    assert.are.same({"NaT", "2024-03-01"}, loaded("d,x\n,1\n2024-03-01,2\n"):values "d")
    assert.are.same({"2024-03-01", "soon"}, loaded("d\n2024-03-01\nsoon\n"):values "d")
    assert.are.same({"2024-03-01", "7"}, loaded("d\n2024-03-01\n7\n"):values "d")
    assert.are.same({"2024-03-01"}, loaded('d\n"2024-03-01"\n'):texts "d")
    assert.are.same({"2024-03-01"}, loaded('d\n2024-03-01\n', {dtype = {d = "text"}}):texts "d")
    assert.are.same({"2024-03-01", "NaT"}, loaded("d\n2024-03-01\n1900-01-01\n", {missing = "1900-01-01"}):values "d")
    assert.are.equal("2024-03-01", loaded("2024-03-01,1\n2024-03-02,2\n").c1[1])
    local german = loaded("day;x\n01.03.2024;1\n;2\n", {sep = ";", dates = {day = "%d.%m.%Y"}})
    assert.are.same({"2024-03-01", "NaT"}, german:values "day")
    assert.are.equal("2024-03-01", loaded('d,x\n"2024-03-01",1\n', {dates = "d"}).d[1])
    local function refused(message, ...) fails(message, loaded, ...) end
    refused('expected a date as "%d.%m.%Y" has them, got "2024-03-01" in line 3, column day of ', "day,x\n01.03.2024,1\n2024-03-01,2\n",
      {dates = {day = "%d.%m.%Y"}})
    refused('expected a date as 2024-03-01 or 2024-03-01 12:30:00, got "x" in line 2, column d of ', "d\nx\n", {dates = {"d"}})
    refused("expected dates of the years 1678 to 2261 beside others with nanoseconds", "d\n1066-10-14\n2024-01-01 00:00:00.123456789\n")
    refused("expected dtype or dates for column d, got both", "d\n1\n", {dtype = {d = "text"}, dates = "d"})
    refused('expected dates: formats by column', "d\n1\n", {dates = 3})
    refused('which has d, got "e"', "d\n1\n", {dates = "e"})
    local path = temporary ".csv"
    gpu.save(path, t)
    assert.are.equal("day,time,x,s\n2024-03-01,2024-03-01 12:30:00.000,1,a\n,2024-03-02 00:00:00.500,2,b\n,,3,c\n2024-02-28,,4,d\n", support.read(path))
    assert.are.same(t:values "time", gpu.load(path):values "time")
    gpu.save(path, gpu.table {d = gpu.durations {"1d", "90min"}})
    assert.are.equal("d\n1d 00:00:00\n01:30:00\n", support.read(path))
  end)

  it("come back through what they are stored as", function()
    local d = gpu.dates {"2024-03-01 12:00", "", "1960-01-01"}
    assert.are.same(d:format(), gpu.dates(d:copy(), {unit = "s"}):format())
    assert.are.equal(1709294400, d:number "s"[1])
    assert.are.equal("2024-03-01", d:as "days"[1])
    fails("expected dates that a column of ns can hold", d.as, gpu.dates {"9999-01-01"}, "ns")
    assert.are.equal(2, d[d:isnan():logical_not()].size)
    assert.are.equal("1960-01-01 00:00:00", d:take({3})[1])
    fails("[index] 4 is out of range", function() return d[4] end)
  end)
end)
