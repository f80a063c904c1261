-- gpu.signal: peaks of a vector.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, records = import "checks", import "records"
local signal, tools = gpu.signal, import "signal_filters"

-- ---- peaks -----------------------------------------------------------------------------------------------------------------------

local operations = {}
local function operation(name, fields)
  operations[name] = operations[name] or core.elementwise(fields)
  return operations[name]
end

--- A real vector in floating point, or in its own integers.
local function read_vector(op, x)
  checks.real(op, x)
  if x.ndim ~= 1 then core.raise(("[%s] expected a vector, got shape %s"):format(op, checks.shape_text(x.shape))) end
  return x.dtype == "bool" and core.cast(x, "uint8") or x
end

--- The first and the last elements of the plateaus that are higher than what is beside them, from 1. Waits.
local function plateaus(x)
  local n = x.size
  local none = gpu.zeros({0}, {dtype = "int64", device = x.device})
  if n < 3 then return none, none end
  local last_of = operation("plateau", {
    name = "last_of_plateau", inputs = "raw T x, int64 extent", outputs = "int64 last",
    body = [=[
      last = 0;
      if (i > 0 && x[i - 1] < x[i]) {
        long long k = i;
        while (k + 1 < extent && x[k + 1] == x[i]) ++k;
        if (k + 1 < extent && x[k + 1] < x[i]) last = k + 1;
      }
    ]=],
  })
  local last = last_of(x, n, {size = n}):eval()
  local first = last:flatnonzero()
  return first, last:take(first)
end

local block = 64 -- elements that a search passes over at once

-- Goes from `at` in a direction to `end`, up to an element above x[at]: the least element on the way, and where it is first.
local search = [[
template <class X> __device__ inline void gpulua_lowest(const X& x, const X& least, const X& most, long long at, long long end,
                                                       int step, decltype(x[0] + x[0])& low, long long& place) {
  long long k = at, lowest = -1;
  while ((end - k) * step >= 0 && x[k] <= x[at]) {
    // At the edge of a block that is passed over as a whole?
    const long long b = k / 64;
    if (k % 64 == (step > 0 ? 0 : 63) && (end - (k + 63 * step)) * step >= 0 && most[b] <= x[at]) {
      if (least[b] < low) {
        low = least[b];
        lowest = b;
      }
      k += 64 * step;
      continue;
    }
    if (x[k] < low) {
      low = x[k];
      place = k;
      lowest = -1;
    }
    k += step;
  }
  if (lowest >= 0) {
    place = step > 0 ? lowest * 64 : lowest * 64 + 63;
    for (int k = 0; k < 63 && x[place] != low; ++k) place += step;
  }
}
]]

--- For each peak, counted from 1: its prominence, and the positions of its bases. `reach`: how far to look, or 0.
local function prominences(x, peaks, reach)
  local extremes = operation("blocks", {
    name = "block_extremes", inputs = "raw T x, int64 extent", outputs = "T least, T most",
    body = [=[
      least = most = x[i * 64];
      for (long long k = (long long)i * 64 + 1; k < ((long long)i + 1) * 64 && k < extent; ++k) {
        if (x[k] < least) least = x[k];
        if (most == most && !(x[k] <= most)) most = x[k];  // NaN stays: a search ends there
      }
    ]=],
  })
  local least, most = extremes(x, x.size, {size = math.ceil(x.size / block)})
  gpu.eval(least, most)
  local measure = operation("prominence", {
    name = "prominence", inputs = "int64 peak, raw T x, raw T least, raw T most, int64 extent, int64 reach",
    outputs = "T prominence, int64 left, int64 right", preamble = search,
    body = [=[
      const long long at = peak - 1;
      const long long first = reach > 0 && at > reach ? at - reach : 0;
      const long long end = reach > 0 && at + reach < extent - 1 ? at + reach : extent - 1;
      auto low = x[at] + 0 * x[at], other = low;
      left = right = at;
      gpulua_lowest(x, least, most, at, first, -1, low, left);
      gpulua_lowest(x, least, most, at, end, 1, other, right);
      prominence = x[at] - (low > other ? low : other);
      ++left;
      ++right;
    ]=],
  })
  return measure(peaks, x, least, most, x.size, reach)
end

--- The widths of the peaks at a part of their prominence, their height, and the positions on both sides.
local function widths(x, peaks, prominence, left, right, part)
  local measure = operation("width", {
    name = "peak_width", inputs = "int64 peak, raw T x, T prominence, int64 left, int64 right, float64 part",
    outputs = "float64 width, float64 height, float64 from, float64 to",
    body = [=[
      const long long at = peak - 1;
      height = __dsub_rn((double)x[at], __dmul_rn((double)prominence, part)); // rounded as on a host
      long long k = at;
      while (k > left - 1 && height < (double)x[k]) --k;
      from = (double)k + (k < at && (double)x[k] < height ? (height - (double)x[k]) / ((double)x[k + 1] - (double)x[k]) : 0.0);
      k = at;
      while (k < right - 1 && height < (double)x[k]) ++k;
      to = (double)k - (k > at && (double)x[k] < height ? (height - (double)x[k]) / ((double)x[k - 1] - (double)x[k]) : 0.0);
      width = to - from;
      from += 1;
      to += 1;
    ]=],
  })
  return measure(peaks, x, prominence, left, right, part)
end

--- The option as a least and a greatest value; nil where there is none.
local function interval(op, name, value)
  if value == nil then return nil end
  if type(value) == "number" then return {value} end
  local function is_limit(limit) return limit == nil or type(limit) == "number" end
  if type(value) ~= "table" or #value > 2 or not is_limit(value[1]) or not is_limit(value[2]) then
    core.fail(op, name .. ": a number, or {least, greatest}", value)
  end
  if value[1] and value[2] and not (value[1] <= value[2]) then
    core.raise(("[%s] expected %s = {least, greatest}, got {%.14g, %.14g}"):format(op, name, value[1], value[2]))
  end
  return value
end

local function within(values, limits)
  local keeps = gpu.ones(values.shape, {dtype = "bool", device = values.device})
  if limits[1] then keeps = keeps:logical_and(values:ge(limits[1])) end
  if limits[2] then keeps = keeps:logical_and(values:le(limits[2])) end
  return keeps
end

--- The same on the host, one peak after the other, from the highest on.
local function apart_in_order(x, peaks, distance)
  local positions, heights, order, keeps = peaks:table(), x:take(peaks):astype("float64"):table(), {}, {}
  for i = 1, #positions do order[i], keeps[i] = i, true end
  table.sort(order, function(a, b)
    if heights[a] ~= heights[b] then return heights[a] > heights[b] end
    return a > b
  end)
  for _, i in ipairs(order) do
    if keeps[i] then
      local k = i - 1
      while k >= 1 and positions[i] - positions[k] < distance do keeps[k], k = false, k - 1 end
      k = i + 1
      while k <= #positions and positions[k] - positions[i] < distance do keeps[k], k = false, k + 1 end
    end
  end
  return gpu.array(keeps, {dtype = "bool", device = x.device})
end

local most_near = 2 ^ 14 -- neighbouring peaks that each peak compares itself with in a round
local most_rounds = 64 -- a long slope of peaks is decided one by one, which is faster on the host

--- Which peaks stay when the highest ones remove those nearer than `distance`: a mask. In each round, those stay that are the
--- highest near them among the undecided ones, and those go that have one that stays near them.
local function apart(x, peaks, distance)
  if peaks.size == 0 then return gpu.zeros({0}, {dtype = "bool", device = x.device}) end
  if math.min(peaks.size, distance / 2) > most_near then return apart_in_order(x, peaks, distance) end
  local decide = operation("apart", {
    name = "peaks_apart", inputs = "raw int8 state, raw int64 peaks, raw T heights, int64 count, int64 distance",
    outputs = "int8 next",
    body = [=[
      next = state[i];
      if (next == 0) {
        bool highest = true, gone = false;
        for (long long k = (long long)i - 1; k >= 0 && peaks[i] - peaks[k] < distance; --k) {
          gone = gone || state[k] == 1;
          highest = highest && (state[k] == 2 || heights[k] <= heights[i]);
        }
        for (long long k = (long long)i + 1; k < count && peaks[k] - peaks[i] < distance; ++k) {
          gone = gone || state[k] == 1;
          highest = highest && (state[k] == 2 || heights[k] < heights[i]);
        }
        next = gone ? 2 : highest ? 1 : 0;
      }
    ]=],
  })
  local state, heights = gpu.zeros(peaks.shape, {dtype = "int8", device = x.device}):eval(), x:take(peaks):eval()
  for _ = 1, most_rounds do
    for _ = 1, 4 do state = decide(state, peaks, heights, peaks.size, distance, {size = peaks.size}):eval() end
    if not state:eq(0):any():item() then return state:eq(1) end
  end
  return apart_in_order(x, peaks, distance)
end

local function reach_of(op, window)
  if window ~= nil and (type(window) ~= "number" or not (window > 1)) then core.fail(op, "wlen above 1", window) end
  return math.floor(math.ceil(window or 0) / 2)
end

local function part_of(op, part)
  if part ~= nil and (type(part) ~= "number" or not (part >= 0)) then core.fail(op, "rel_height of 0 or more", part) end
  return part or 0.5
end

--- The fields of properties that are there with an option alone.
local of_options = {
  height = {"peak_heights"}, threshold = {"left_thresholds", "right_thresholds"},
  prominence = {"prominences", "left_bases", "right_bases"}, width = {"widths", "width_heights", "left_ips", "right_ips"},
  plateau_size = {"plateau_sizes", "left_edges", "right_edges"},
}
local optional = {}
for option, fields in pairs(of_options) do
  for _, field in ipairs(fields) do optional[field] = option end
end
local properties_type = records.type("signal.find_peaks", optional)

--- gpu.signal.find_peaks(x [, {height, threshold, distance, prominence, width, wlen, rel_height, plateau_size}])
--- The positions of the peaks, and a table of their properties. Waits.
function signal.find_peaks(x, options)
  local op = "signal.find_peaks"
  x = read_vector(op, x):contiguous():eval()
  options = checks.fields(op, options)
  local given = {}
  for _, name in ipairs {"height", "threshold", "prominence", "width", "plateau_size"} do
    given[name] = interval(op, name, options[name])
  end
  local distance, reach, part = options.distance, reach_of(op, options.wlen), part_of(op, options.rel_height)
  if distance ~= nil and (type(distance) ~= "number" or not (distance >= 1)) then
    core.fail(op, "a distance of 1 or more", distance)
  end
  local first, last = plateaus(x)
  local peaks, properties, names = gpu.floor_divide(first + last, 2):eval(), {}, {}
  local function add(name, values) names[#names + 1], properties[name] = name, values end
  -- All at once and in one order, so that there is one kernel, and the same one in each process.
  local function evaluate()
    local values = {}
    for i, name in ipairs(names) do values[i] = properties[name] end
    gpu.eval(peaks, unpack(values))
  end
  local function keep(masks)
    if #masks == 0 then return end
    local mask = masks[1]
    for i = 2, #masks do mask = mask:logical_and(masks[i]) end
    local places = mask:flatnonzero()
    peaks = peaks:take(places)
    for _, name in ipairs(names) do properties[name] = properties[name]:take(places) end
    evaluate()
  end
  local masks = {}
  if given.plateau_size then
    add("plateau_sizes", last - first + 1)
    add("left_edges", first)
    add("right_edges", last)
    masks[#masks + 1] = within(properties.plateau_sizes, given.plateau_size)
  end
  if given.height then
    add("peak_heights", x:take(peaks))
    masks[#masks + 1] = within(properties.peak_heights, given.height)
  end
  if given.threshold then
    add("left_thresholds", x:take(peaks) - x:take(peaks - 1))
    add("right_thresholds", x:take(peaks) - x:take(peaks + 1))
    local limits = given.threshold
    masks[#masks + 1] = within(gpu.minimum(properties.left_thresholds, properties.right_thresholds), {limits[1]})
    masks[#masks + 1] = within(gpu.maximum(properties.left_thresholds, properties.right_thresholds), {nil, limits[2]})
  end
  evaluate()
  keep(masks)
  if distance then keep {apart(x, peaks, math.ceil(distance))} end
  masks = {}
  if given.prominence or given.width then
    local prominence, left, right = prominences(x, peaks, reach)
    gpu.eval(prominence, left, right)
    add("prominences", prominence)
    add("left_bases", left)
    add("right_bases", right)
    if given.prominence then masks[1] = within(prominence, given.prominence) end
  end
  if given.width then
    local width, height, from, to = widths(x, peaks, properties.prominences, properties.left_bases, properties.right_bases, part)
    gpu.eval(width, height, from, to)
    add("widths", width)
    add("width_heights", height)
    add("left_ips", from)
    add("right_ips", to)
    masks[#masks + 1] = within(width, given.width)
  end
  keep(masks)
  return peaks, setmetatable(properties, properties_type)
end

local function read_peaks(op, x, peaks)
  if checks.array(op, peaks).ndim ~= 1 or not peaks.dtype:find "int" then
    core.fail(op, "a vector of positions, integers", peaks)
  end
  if x.size == 0 and peaks.size > 0 then core.fail(op, "a vector with elements", x) end
  local n = x.size
  if peaks.size == 0 then return core.cast(peaks, "int64") end
  local valid = core.check_numbers(("[%s] expected positions from 1 to %d"):format(op, n), peaks:eval(), {least = 1, most = n})
  peaks = core.cast(peaks, "int64"):clip(1, n)
  return valid and gpu.where(valid, peaks, 1) or peaks
end

--- gpu.signal.peak_prominences(x, peaks [, wlen])
--- The prominences, and the positions of the bases on both sides.
function signal.peak_prominences(x, peaks, wlen)
  local op = "signal.peak_prominences"
  x = read_vector(op, x)
  return prominences(x, read_peaks(op, x, peaks), reach_of(op, wlen))
end

--- gpu.signal.peak_widths(x, peaks [, rel_height [, wlen]])
--- The widths, their heights, and the positions on both sides.
function signal.peak_widths(x, peaks, rel_height, wlen)
  local op = "signal.peak_widths"
  x = read_vector(op, x)
  peaks = read_peaks(op, x, peaks)
  local prominence, left, right = prominences(x, peaks, reach_of(op, wlen))
  return widths(x, peaks, prominence, left, right, part_of(op, rel_height))
end

--- Elements that are beyond those up to `order` away on both sides along the axis: a position for each axis. Waits.
local function extreme(op, x, axis, options, compare)
  axis, options = tools.axis(op, x, axis, options)
  checks.real(op, x)
  local order = tools.check_count(op, "order", options.order or 1, 1)
  local clip = options.mode or "clip"
  if clip ~= "clip" and clip ~= "wrap" then core.fail(op, 'mode = "clip" or "wrap"', clip) end
  local inner = 1
  for k = axis + 1, x.ndim do inner = inner * x.shape[k] end
  local above = operation(op, {
    name = compare == ">" and "above_neighbours" or "below_neighbours",
    inputs = "raw T x, int64 extent, int64 inner, int64 order, int64 wraps", outputs = "bool holds",
    body = [=[
      const long long at = (long long)i / inner % extent, begin = (long long)i - at * inner;
      holds = true;
      for (long long k = 1; k <= order && holds; ++k) {
        const long long before = wraps ? ((at - k) % extent + extent) % extent : at > k ? at - k : 0;
        const long long after = wraps ? (at + k) % extent : at + k < extent ? at + k : extent - 1;
        holds = x[i] ]=] .. compare .. [=[ x[begin + before * inner] && x[i] ]=] .. compare .. [=[ x[begin + after * inner];
      }
    ]=],
  })
  if x.dtype == "bool" then x = core.cast(x, "uint8") end
  local all = above(x:flatten():contiguous():eval(), x.shape[axis], inner, order, clip == "wrap" and 1 or 0, {size = x.size})
    :reshape(x.shape)
  return all:nonzero()
end

--- gpu.signal.argrelmax(x [, axis] [, {axis, order, mode}])
function signal.argrelmax(x, axis, options)
  return extreme("signal.argrelmax", x, axis, options, ">")
end
--- gpu.signal.argrelmin(x [, axis] [, {axis, order, mode}])
function signal.argrelmin(x, axis, options)
  return extreme("signal.argrelmin", x, axis, options, "<")
end
