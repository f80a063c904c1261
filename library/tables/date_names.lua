-- What other libraries' names of the methods of dates are called here.
return {
  strftime = 'x:format "%d.%m.%Y"', dt = "x:year() and so on", date = 'x:floor "day"', normalize = 'x:floor "day"', to_period = 'x:floor "month"',
  dayofweek = "x:weekday(), from 1 for Monday", day_of_week = "x:weekday(), from 1 for Monday", dayofyear = "x:yearday()", day_of_year = "x:yearday()",
  month_name = 'x:format "%B"', day_name = 'x:format "%A"', days = 'x:number "days"', seconds = 'x:number "s"', total_seconds = 'x:number "s"',
  timestamp = 'x:number "s"', astype = "x:as(unit), or x:number(unit) for numbers", isna = "x:isnan()", truncate = "x:floor(step)",
  sub = 'x - "1 month"', subtract = 'x - "1 month"',
  between = "x:ge(first):logical_and(x:le(last))", tz_localize = "nothing: dates are in UTC", tz_convert = "x + \"2h\": dates are in UTC",
  tz = "nothing: dates are in UTC", utc = "nothing: dates are in UTC", time = 'x - x:floor "day"', to_string = 'x:format "%Y-%m-%d"',
  tostring = 'x:format "%Y-%m-%d"', strptime = 'gpu.dates(texts, {format = "%d.%m.%Y"})', month_start = 'x:floor "month"',
  month_end = 'x:floor "month" + "1 month" - "1 day"', is_month_end = '(x + "1 day"):day():eq(1)', days_in_month =
  '(x:floor "month" + "1 month" - "1 day"):day()', week = 'x:floor "week"', isoweekday = "x:weekday(), from 1 for Monday", to_unix = 'x:number "s"',
  unix = 'x:number "s"', epoch = 'x:number "s"', to_numbers = "x:number(unit)", cast = "x:number(unit)", mean = "x:number(unit):mean()",
  median = "x:number(unit):median()", resample = 'x:floor "month" as a column, and t:group_by(name)', groupby = 't:group_by(name)',
  rolling = 't.name:rolling("7d", {on = x})', ceil = 'x:floor(step) + step', now = 'gpu.dates({os.date "!%Y-%m-%d %H:%M:%S"})',
  today = 'gpu.dates({os.date "!%Y-%m-%d"})', tolist = "t:values(name), or x:format(form)", table = "t:values(name), or x:format(form)",
  values = "t:values(name), or x:format(form)", date_range = "gpu.date_range(first, last, step)", business_days =
  'x:take(x:weekday():lt(6)) of gpu.date_range(first, last, "1d")', add = 'x + "1 month"', year_month = 'x:floor "month"',
}
