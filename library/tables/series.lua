-- Vectors and columns of dates as series: the values before, changes, and what takes the place of missing values.
-- In sandboxes: all
local gpu, _, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local columns = import "columns"
local by_groups = import "by_groups"

--- Checks a vector or a column of dates. Gives its kind.
local function check_series(op, x)
  local kind = columns.kind_of(x)
  if columns.is_text(kind) then core.fail(op, "numbers or dates", x) end
  if not kind then checks.array(op, x) end
  if x.ndim ~= 1 then core.fail(op, "a vector", x) end
  return kind
end

--- The elements at `places`, in the order of x. Places count the rows group by group; 0 stands for a missing element.
local function gathered(op, x, places, groups)
  local order = groups.order
  if order then places = groups.back(gpu.where(places:eq(0), 0, order:take(gpu.maximum(places, 1)))) end
  return columns.make(columns.gather(op, "x", x, places:eval(), true))
end

--- gpu.shift(x [, n] [, {by}])
local function shift(x, n, options)
  local op = "shift"
  if checks.is_options(n) then n, options = nil, n end
  check_series(op, x)
  options = checks.fields(op, options)
  n = n == nil and 1 or checks.integer(op, "a number of rows", n)
  local groups = by_groups(op, x, options.by)
  if x.size == 0 then return columns.make(columns.gather(op, "x", x, gpu.zeros(0, {dtype = "int64", device = x.device}), true)) end
  local from = gpu.arange(x.size, {dtype = x.size + math.abs(n) < 2 ^ 31 and "int32" or "int64", device = x.device}) - n
  local inside = n >= 0 and from:ge(groups.first()) or from:le(groups.last())
  local result = gathered(op, x, gpu.where(inside, from + 1, 0), groups)
  return n ~= 0 and core.is_array(result) and core.with_missing(result, op) or result
end

--- gpu.pct_change(x [, n] [, {by}])
local function pct_change(x, n, options)
  local op = "pct_change"
  if check_series(op, x) then core.fail(op, "numbers", x) end
  local before = shift(x, n, options)
  local result = core.cast(x, before.dtype) / before - 1
  return n ~= 0 and x.size > 0 and core.with_missing(result, op) or result
end

--- The value that takes the place of missing ones, as a number of the column.
local function fill_of(op, x, kind, value)
  if kind then
    if type(value) ~= "string" or kind.duration then core.fail(op, 'a date, such as "2024-03-01", "forward" or "backward"', value) end
    return (core.parse_dates(op, {value}, nil, kind.unit, {device = x.device}))
  end
  if not core.is_number(value) and not core.is_array(value) then core.fail(op, 'a number, "forward" or "backward"', value) end
  return value
end

--- gpu.fillna(x, value [, {by}])
local function fillna(x, value, options)
  local op = "fillna"
  local kind = check_series(op, x)
  options = checks.fields(op, options)
  local is_forward = value == "forward"
  if not is_forward and value ~= "backward" then
    if options.by ~= nil then core.fail(op, 'by beside "forward" or "backward" alone', value) end
    local fill = fill_of(op, x, kind, value)
    local missing = columns.missing(x, kind)
    if not missing then return x:copy() end
    return columns.make(gpu.where(missing, fill, columns.plain(x)), kind)
  end
  local missing = columns.missing(x, kind)
  if not missing or x.size == 0 then return columns.make(columns.plain(x):copy(), kind) end
  local groups = by_groups(op, x, options.by)
  if groups.order then missing = missing:take(groups.order) end
  local n = x.size
  local rows = gpu.arange(n, {dtype = n < 2 ^ 31 and "int32" or "int64", device = x.device})
  local places
  if is_forward then
    places = gpu.where(missing, -1, rows):cummax()
    places = gpu.where(places:ge(groups.first()), places + 1, 0)
  else
    places = gpu.where(missing, n, rows):flip():cummin():flip()
    places = gpu.where(places:le(groups.last()), places + 1, 0)
  end
  return gathered(op, x, places, groups)
end

--- gpu.dropna(x)
local function dropna(x)
  local kind = check_series("dropna", x)
  local missing = columns.missing(x, kind)
  if not missing then return columns.make(columns.plain(x):copy(), kind) end
  return columns.make(columns.plain(x)[missing:logical_not()], kind)
end

define {shift = shift, pct_change = pct_change, fillna = fillna, dropna = dropna}
