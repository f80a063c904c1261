-- Windows that move over a vector: gpu.rolling, gpu.expanding and gpu.ewm.
-- In sandboxes: all
local gpu, _, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local columns = import "columns"
local by_groups, search_part = import "by_groups", import "sorted_search"
local by_states, quantiles = import "rolling_states", import "rolling_quantiles"

local exports = {}

-- ---- windows ------------------------------------------------------------------------------------------------------------------------

local methods = {}
local windows = {__metatable = "a window", methods = methods}
exports.class = windows -- completion and help look here
local fields_of = setmetatable({}, {__mode = "k"})

local function check_window(op, value)
  local fields = fields_of[value]
  if not fields then core.fail(op, ("a window, as x:rolling(n) gives, and a colon: window:%s(...)"):format(op), value) end
  return fields
end

--- The results in the order of the script's vector. `least`: how many values each takes; the first row has one.
local function finished(fields, y, dtype, least)
  y = core.cast(fields.groups.back(y), dtype)
  return least > 1 and core.with_missing(y, fields.op) or y
end

--- The option ddof: 1 without it, as for all that is of tables.
local function ddof_of(op, options)
  if options == nil then return 1 end
  if not checks.is_options(options) or options.ddof == nil or next(options, next(options)) then core.fail(op, "the option ddof: {ddof = 0}", options) end
  return checks.finite(op, "ddof, a number", options.ddof)
end

--- Refuses the windows of gpu.ewm, whose values have weights.
local function refuse_weights(op, fields)
  if fields.fades then core.raise(("[%s] expected windows of gpu.rolling or gpu.expanding, got those of gpu.ewm, which have mean, var and std"):format(op)) end
end

--- What a result by states is over: nothing for none.
local function result_of(name, fields, x, dtype, ddof)
  local n = fields.size
  if n == 0 then return gpu.zeros(0, {dtype = dtype, device = x.device}) end
  local least = name == "count" and 0 or ddof >= 1 and 2 or fields.least
  return finished(fields, by_states(name, fields, x, n, ddof), dtype, least)
end

for _, name in ipairs {"mean", "var", "std"} do
  methods[name] = function(window, options)
    local fields = check_window(name, window)
    local ddof = name == "mean" and 0 or ddof_of(name, options)
    return result_of(fields.fades and "faded_" .. name or name, fields, fields.x, fields.dtype, ddof)
  end
end

for _, name in ipairs {"sum", "count", "min", "max"} do
  methods[name] = function(window)
    local fields = check_window(name, window)
    refuse_weights(name, fields)
    return result_of(name, fields, fields.x, name == "count" and "int64" or fields.dtype, 0)
  end
end

-- Of the pairs of both vectors in which none is missing.
for _, name in ipairs {"cov", "corr"} do
  methods[name] = function(window, other, options)
    local fields = check_window(name, window)
    refuse_weights(name, fields)
    local ddof = ddof_of(name, options)
    local x = fields.x
    if not core.is_array(other) then core.fail(name, "an array, the other vector", other) end
    checks.real(name, other)
    if other.ndim ~= 1 or other.size ~= fields.size or other.device ~= x.device then
      core.fail(name, ("a vector of %.0f elements on the same device"):format(fields.size), other)
    end
    local dtype = core.promote(fields.dtype, kinds.is_floating(other) and (kinds.working(other)) or "float64")
    other = core.cast(other, "float64")
    if fields.groups.order then other = other:take(fields.groups.order) end
    return result_of(name, fields, gpu.stack({x, other}, 2):ravel():eval(), dtype, ddof)
  end
end

--- window:apply(fn): what fn makes of the matrix of windows, a row for each, in which NaN stands for what is not there.
function methods.apply(window, fn)
  local fields = check_window("apply", window)
  if not fields.rows then
    core.raise "[apply] expected windows of a number of rows, x:rolling(n), got others, which differ in their numbers of elements"
  end
  if fn == nil then core.fail("apply", "a function of the matrix of windows, as function(w) return w:max(-1) - w:min(-1) end", fn) end
  checks.callable("apply", fn)
  local x, n, rows = fields.x, fields.size, fields.rows
  if n == 0 then return gpu.zeros(0, {dtype = fields.dtype, device = x.device}) end
  local matrix = gpu.sliding_window(gpu.concat {gpu.full(rows - 1, 0 / 0, {dtype = "float64", device = x.device}), x}, rows)
  if fields.first then
    local place = {dtype = "int64", device = x.device}
    local at = gpu.arange(n, place):reshape(n, 1) + gpu.arange(1 - rows, 1, place):reshape(1, rows)
    matrix = gpu.where(at:ge(fields.first:reshape(n, 1)), matrix, 0 / 0)
  end
  local y = fn(matrix)
  if not core.is_array(y) or y.ndim ~= 1 or y.size ~= n or kinds.is_complex(y) then
    core.fail("apply", ("a function that makes a real number of each row of a matrix of %.0f windows, as function(w) return w:max(-1) - w:min(-1) end"):format(n), y)
  end
  local counts = by_states("count", fields, x, n, 0)
  return finished(fields, gpu.where(counts:ge(fields.least), core.cast(y, "float64"), 0 / 0), fields.dtype, fields.least)
end

--- window:quantile(q): the value at a fraction of each window.
function methods.quantile(window, q)
  local fields = check_window("quantile", window)
  refuse_weights("quantile", fields)
  checks.fraction("quantile", "a number from 0 to 1", q)
  if fields.x.size == 0 then return gpu.zeros(0, {dtype = fields.dtype, device = fields.x.device}) end
  return finished(fields, quantiles(fields, q), fields.dtype, fields.least)
end

function methods.median(window)
  refuse_weights("median", check_window("median", window))
  return methods.quantile(window, 0.5)
end

function windows.__index(_, key)
  if methods[key] then return methods[key] end
  local names = {}
  for name in pairs(methods) do names[#names + 1] = name end
  table.sort(names)
  local use = core.did_you_mean(tostring(key), names)
  if use == "" then use = ("; it has %s, and x:rolling(n):apply(fn) computes others of the matrix of windows"):format(table.concat(names, ", ")) end
  core.raise(("[rolling] a window has no method %s%s"):format(core.describe(key), use))
end

function windows.__tostring(window)
  return ("windows over %.0f values; window:mean() and others give a value for each"):format(fields_of[window].size)
end

checks.refuse_operators(windows, "[rolling] expected an array, got a window, whose methods give the numbers: x:rolling(n):mean() * 2")

core.guard_methods(methods, "window:", {
  sum = "()", mean = "()", count = "()", min = "()", max = "()", median = "()", quantile = "(q)", var = "([{ddof}])", std = "([{ddof}])",
  cov = "(other [, {ddof}])", corr = "(other)", apply = "(fn)",
})

local function check_values(op, x)
  if columns.kind_of(x) then core.fail(op, "numbers", x) end
  checks.real(op, checks.array(op, x))
  if x.ndim ~= 1 then
    core.raise(("[%s] expected a vector, got %s%s"):format(op, core.describe(x), x.ndim == 2
      and ("; x(\":\", j):%s(...) is of column j of a matrix%s"):format(op, op == "rolling"
        and ", gpu.sliding_window(x, n, 1):mean(-1) of all of them" or "") or ""))
  end
  if core.depends(x) then
    core.raise(("[%s] has no derivative; %s has one; x:detach() leaves an operand out"):format(op, op == "ewm"
      and "gpu.signal.lfilter({alpha}, {1, alpha - 1}, x)" or "gpu.sliding_window(x, n):mean(-1)"))
  end
end

--- A window over x of at most `window` rows and at least `least` values. `first_of(first, order)`: the first row of each row's window,
--- counted from 0, from that of its group; without it the group's.
local function make(op, x, options, window, least, first_of)
  local groups = by_groups(op, x, options.by)
  local values, first = core.cast(x, "float64"):contiguous(), nil
  if groups.order then values = values:take(groups.order) end
  if options.min_periods ~= nil then least = checks.count(op, "min_periods, an integer of 0 or more", options.min_periods) end
  if first_of or groups.order then first = groups.first() end
  if groups.order then first = core.cast(first, "int64") end
  if first_of then first = first_of(first, groups.order):eval() end
  local result = core.object(windows)
  fields_of[result] = {
    op = op, x = values:eval(), size = x.size, first = first, groups = groups, window = window, least = least,
    dtype = kinds.is_floating(x) and kinds.working(x) or "float64",
  }
  return result, fields_of[result]
end

--- The column by whose values windows reach back, in the order of the rows, and how far.
local function reach_of(op, x, on, window)
  local kind = columns.kind_of(on)
  if type(on) == "string" then core.fail(op, ("on: a column of dates or numbers, as t.%s"):format(on), on) end
  if columns.is_text(kind) or not kind and not core.is_array(on) then core.fail(op, "on: a column of dates or numbers", on) end
  if on.ndim ~= 1 or on.size ~= x.size then core.fail(op, ("on: a column of %.0f rows"):format(x.size), on) end
  if kind then
    local steps = import "date_steps"
    local ns = steps.nanoseconds(op, window)
    local unit = steps.finer(kind.unit, steps.unit_of {ns})
    return import("date_column").in_unit(op, on, unit), ns / steps.lengths[unit]
  end
  checks.finite(op, "a length of windows above 0", window)
  local is_whole = not kinds.is_floating(on) and window % 1 == 0
  return core.cast(checks.real(op, on), is_whole and "int64" or "float64"), window
end

--- gpu.rolling(x, window [, {on, by, min_periods}])
local function rolling(x, window, options)
  local op = "rolling"
  check_values(op, x)
  options = checks.fields(op, options)
  if options.on == nil then
    if type(window) == "string" then core.fail(op, 'the option on beside a length of time: x:rolling("7d", {on = t.day})', window) end
    if type(window) == "table" and not core.is_array(window) then core.fail(op, "a number of rows, x:rolling(20), and options after it", window) end
    window = checks.count(op, "a number of rows, 1 or more", window, 1)
    if options.min_periods ~= nil and checks.count(op, "min_periods, an integer of 0 or more", options.min_periods) > window then
      core.raise(("[rolling] expected min_periods of at most %.0f, the rows of a window, got %.0f"):format(window, options.min_periods))
    end
    local result, fields = make(op, x, options, window, window)
    fields.rows = window
    return result
  end
  local on, length = reach_of(op, x, options.on, window)
  if not (length > 0) then core.fail(op, "a length of windows above 0", window) end
  return (make(op, x, options, math.max(x.size, 1), 1, function(first, order)
    if order then on = on:take(order) end
    local rows = gpu.arange(x.size, {dtype = "int64", device = x.device})
    if x.size > 1 then
      local ascends = on({2, -1}):ge(on({1, -2}))
      if order then ascends = ascends:logical_or(first({2, -1}):eq(rows({2, -1}))) end
      local present = columns.missing(on, columns.kind_of(options.on))
      present = present and present:logical_not():all() or gpu.ones({}, {dtype = "bool", device = x.device})
      local ascending, whole = gpu.eval(ascends:all(), present)
      if not whole:item() then core.raise "[rolling] expected no missing values in on, got some; t:dropna(name) leaves their rows out" end
      if not ascending:item() then
        core.raise "[rolling] expected ascending values of on, within each group, got others; t:sort_by(name) sorts a table"
      end
    end
    on = on:eval()
    return search_part(on, first, rows + 1, on - length, true)
  end))
end

--- gpu.expanding(x [, {by, min_periods}])
local function expanding(x, options)
  check_values("expanding", x)
  options = checks.fields("expanding", options)
  return (make("expanding", x, options, math.max(x.size, 1), 1))
end

-- How fast weights fall: what each option is, and the weight of the newest value that follows from it.
local speeds = {
  alpha = {"alpha, above 0 and at most 1", function(v) return v > 0 and v <= 1 and v end},
  span = {"span, a number of rows, 1 or more", function(v) return v >= 1 and 2 / (v + 1) end},
  com = {"com, a number of rows, 0 or more", function(v) return v >= 0 and 1 / (1 + v) end},
  halflife = {"halflife, a number of rows above 0", function(v) return v > 0 and 1 - 2 ^ (-1 / v) end},
}

local function alpha_of(op, options)
  local chosen
  for name in pairs(speeds) do
    if options[name] ~= nil then
      if chosen then core.raise(("[%s] expected one of alpha, span, halflife and com, got %s and %s"):format(op, chosen, name)) end
      chosen = name
    end
  end
  if not chosen then core.raise(("[%s] expected one of the options alpha, span, halflife and com, got none: x:ewm {span = 20}"):format(op)) end
  local what, alpha = unpack(speeds[chosen])
  local value = options[chosen]
  return type(value) == "number" and alpha(value) or core.fail(op, what, value)
end

--- gpu.ewm(x [, {alpha, span, halflife, com, adjust, ignore_na, by, min_periods}])
local function ewm(x, options)
  local op = "ewm"
  check_values(op, x)
  if core.is_number(options) then core.fail(op, "how weights fall by name, x:ewm {alpha = 0.06} or x:ewm {span = 20}", options) end
  options = checks.fields(op, options)
  local alpha = alpha_of(op, options)
  local adjusts, ignores = checks.flag(op, "adjust", options.adjust) ~= false, checks.flag(op, "ignore_na", options.ignore_na)
  local result, fields = make(op, x, options, math.max(x.size, 1), 1)
  fields.fades = true
  if x.size == 0 then return result end
  local there = fields.x:isnan():logical_not()
  local weight, fall = gpu.ones_like(fields.x), gpu.full_like(fields.x, 1 - alpha)
  if not adjusts then
    -- The weights so far have the sum 1: they fall by each row since the value before, and the sum of theirs and the new one is 1 again.
    local rows = gpu.arange(x.size, {dtype = "int64", device = x.device})
    local last = gpu.where(there, rows, -1):cummax()
    local before = gpu.concat {gpu.full(1, -1, {dtype = "int64", device = x.device}), last({1, -2})}
    if not ignores then fall = gpu.power(1 - alpha, core.cast(rows - before, "float64")) end
    weight = gpu.where(before:lt(fields.first or 0), 1, alpha / (fall + alpha))
    fall = gpu.where(there, fall / (fall + alpha), 1)
  elseif ignores then
    fall = gpu.where(there, fall, 1)
  end
  fields.x = gpu.stack({fields.x, weight, fall}, 2):ravel():eval()
  return result
end

define {rolling = rolling, expanding = expanding, ewm = ewm}

return exports
