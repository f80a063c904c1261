-- What a group's values are summed up to. Each function takes the groups as table_groups.lua makes them, a column in their order, and an
-- option; NaN and missing dates are left out.
local gpu, _, core, import = ...
local kinds = import "kinds"
local columns = import "columns"
local narrow = columns.narrow

local exports = {}

--- For each row the number of its group.
local function numbers(parts)
  if not parts.numbers then
    local begins = gpu.zeros(parts.rows, {dtype = "bool", device = parts.starts.device})
    begins[parts.starts] = true
    parts.numbers = begins:cumsum()
  end
  return parts.numbers
end

local function count_of(parts) return parts.bounds({2, -1}) - parts.bounds({1, -2}) end

--- The sums of a column's groups. Sums of integers are exact; those of floats have one order.
local function sums(parts, x)
  if kinds.is_floating(x) then
    if kinds.working(x) ~= x.dtype then x = core.cast(x, "float32") end
    return core.sum_lines(gpu.where(x:isnan(), 0, x):eval(), parts.bounds)
  end
  local total = gpu.zeros(parts.starts.size, {dtype = x.dtype:find "^uint" and "uint64" or "int64", device = x.device})
  if x.size > 0 then gpu.scatter_add(total, numbers(parts), core.cast(x, total.dtype)) end
  return total
end

--- How many elements of each group a mask has.
local function counted(parts, mask) return core.cast(core.sum_lines(core.cast(mask, "float64"):eval(), parts.bounds), "int64") end

--- How many values of each group are there.
local function present(parts, x) return kinds.is_floating(x) and counted(parts, x:isnan():logical_not()) or count_of(parts) end

--- The values in the order of their groups, and within these ascending, with NaN last.
local function ordered_values(parts, x)
  local sorted, by_value = x:topk(x.size, 1, {largest = false})
  local by_group = core.cast(numbers(parts), narrow(parts.starts.size + 1)):take(by_value):argsort()
  return sorted:take(by_group)
end

-- How many values a thread compares.
local piece = 64

--- The least or greatest item of each line. `starts`: where each line begins. Long lines are cut into pieces.
local function line_extremes(x, starts, greatest)
  local n = x.size
  while n > 4 * piece * starts.size do
    local is_first = (gpu.arange(n, {dtype = "int64", device = x.device}) % piece):eq(0):eval()
    is_first[starts] = true
    local firsts = gpu.flatnonzero(is_first)
    x = line_extremes(x, firsts, greatest)
    starts, n = is_first:cumsum():take(starts), firsts.size
  end
  local bounds = gpu.concat {starts - 1, gpu.full(1, n, {dtype = "int64", device = x.device})}:eval()
  return core.extreme_of_lines(x:eval(), bounds, 0, greatest)
end

--- The least or greatest value of each group, without NaN where it has others.
local function extreme(parts, x, greatest)
  if x.size == 0 then return x end
  if not kinds.is_floating(x) then return line_extremes(x, parts.starts, greatest) end
  local wide = core.cast(x, (kinds.working(x)))
  local extremes = line_extremes(gpu.where(wide:isnan(), greatest and -math.huge or math.huge, wide), parts.starts, greatest)
  return core.cast(gpu.where(present(parts, x):eq(0), 0 / 0, extremes), x.dtype)
end

local function mean(parts, x)
  local total = sums(parts, x)
  if not kinds.is_floating(total) then total = core.cast(total, "float64") end
  return total / core.cast(present(parts, x), total.dtype)
end

local function variance(parts, x, ddof)
  local means = mean(parts, x)
  local off = core.cast(x, means.dtype) - means:take(numbers(parts))
  local squares = gpu.where(x:isnan(), 0, off * off):eval()
  return core.sum_lines(squares, parts.bounds) / core.cast(gpu.maximum(present(parts, x) - ddof, 0), means.dtype)
end

--- The value at the fraction q of each group after sorting, between two neighbours by their distances.
local function quantile(parts, x, q)
  x = core.cast(x, (kinds.working(x)))
  if x.size == 0 then return x end
  local ordered, n = ordered_values(parts, x), present(parts, x)
  local place = core.cast(gpu.maximum(n - 1, 0), "float64") * q
  local lower = place:floor()
  local weight = core.cast(place - lower, x.dtype)
  lower = parts.starts + core.cast(lower, "int64")
  local low, high = ordered:take(lower), ordered:take(gpu.minimum(lower + 1, parts.starts + gpu.maximum(n - 1, 0)))
  return gpu.where(weight:eq(0), low, low * (1 - weight) + high * weight)
end

--- The first or last value of each group that is there; `kind`: the column's.
local function edge(parts, x, kind, is_last)
  if x.size == 0 then return x end
  local absent = columns.missing(x, kind)
  if not absent then return x:take(is_last and parts.bounds({2, -1}) or parts.starts) end
  local n = x.size
  local places = gpu.where(absent, is_last and 0 or n + 1, gpu.range(1, n, {dtype = "int64", device = x.device}))
  places = line_extremes(places, parts.starts, is_last)
  -- Where none is there, any value of the group is missing.
  return x:take(gpu.where(places:ge(1):logical_and(places:le(n)), places, parts.starts))
end

--- How many different values each group has.
local function distinct(parts, x, kind)
  if x.size == 0 then return count_of(parts) end
  local ordered = ordered_values(parts, x)
  local is_first = gpu.zeros(x.size, {dtype = "bool", device = x.device})
  is_first[parts.starts] = true
  if x.size > 1 then
    local differs = ordered({2, -1}):ne(ordered({1, -2}))
    is_first({2, -1}):copy_(is_first({2, -1}):logical_or(differs))
  end
  local absent = columns.missing(ordered, kind)
  return counted(parts, absent and is_first:logical_and(absent:logical_not()) or is_first)
end

-- By name: what gives the result of a column, `of` which kinds it takes besides numbers, whether the result has the column's kind, and
-- the option that it takes.
exports.by_name = {
  sum = {sums}, mean = {mean}, var = {variance, option = "ddof"}, median = {function(parts, x) return quantile(parts, x, 0.5) end},
  std = {function(parts, x, ddof) return variance(parts, x, ddof):sqrt() end, option = "ddof"},
  quantile = {quantile, option = "q"},
  min = {function(parts, x, _, kind) return columns.of_key(extreme(parts, x, false), kind) end, of = "all", by_key = true, keeps = true},
  max = {function(parts, x) return (extreme(parts, x, true)) end, of = "all", keeps = true},
  first = {function(parts, x, _, kind) return edge(parts, x, kind, false) end, of = "all", keeps = true},
  last = {function(parts, x, _, kind) return edge(parts, x, kind, true) end, of = "all", keeps = true},
  nunique = {function(parts, x, _, kind) return distinct(parts, x, kind) end, of = "all"},
  count = {function(parts, x, _, kind)
    local absent = columns.missing(x, kind)
    return absent and counted(parts, absent:logical_not()) or count_of(parts)
  end, of = "all"},
}
exports.count_of = count_of

return exports
