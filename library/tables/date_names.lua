-- What other libraries' names of the methods of dates are called here.
return {
  strftime = 'x:format "%d.%m.%Y"', dt = "x:year() and so on", date = 'x:floor "day"', normalize = 'x:floor "day"', to_period = 'x:floor "month"',
  dayofweek = "x:weekday(), from 1 for Monday", day_of_week = "x:weekday(), from 1 for Monday", dayofyear = "x:yearday()", day_of_year = "x:yearday()",
  month_name = 'x:format "%B"', day_name = 'x:format "%A"', days = 'x:number "days"', seconds = 'x:number "s"', total_seconds = 'x:number "s"',
  timestamp = 'x:number "s"', astype = "x:as(unit), or x:number(unit) for numbers", isna = "x:isnan()", truncate = "x:floor(step)",
  sub = 'x - "1 month"', subtract = 'x - "1 month"',
  between = "x:ge(first):logical_and(x:le(last))", tz_localize = "nothing: dates are in UTC", tz_convert = "x + \"2h\": dates are in UTC",
}
