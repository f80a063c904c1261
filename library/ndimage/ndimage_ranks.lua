-- gpu.ndimage: filters by the order of an element's neighbours.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local calls = import "derived_calls"
local ndimage, nd = gpu.ndimage, import "ndimage"

--- The checked sizes of a filter's box, and its footprint if it has one, whose sizes they are; the number of elements of either.
local function read_box(op, x, size, options)
  local footprint = options.footprint
  if size == nil then size = options.size end
  if (size == nil) == (footprint == nil) then core.fail(op, "a size, or a footprint: an array of bool", size) end
  local sizes
  if footprint ~= nil then
    if checks.array(op, footprint).dtype ~= "bool" or footprint.ndim ~= x.ndim then
      core.fail(op, "a footprint of bool with as many axes as x", footprint)
    end
    sizes = footprint.shape
  else
    sizes = nd.each_axis(op, "a size of 1 or more", size, x.ndim, nd.check_count)
  end
  return sizes, footprint, nd.check_neighbours(op, sizes)
end

--- The offsets of the neighbours where the footprint is true.
local function chosen(op, offsets, footprint)
  if not footprint then return offsets end
  offsets = offsets[footprint:ravel()]
  if offsets.size == 0 then core.fail(op, "a footprint with an element that is true", footprint) end
  return offsets
end

local function in_numbers(x) return x.dtype == "bool" and core.cast(x, "uint8") or x end

-- The element with at most `rank` elements before it, and with more than `rank` elements before or equal to it. NaN is the last.
local rank_body = [=[
  for (long long i = 0; i < count; ++i) {
    const T own = x[base + offsets[i]];
    long long less = 0, equal = 0;
    for (long long j = 0; j < count; ++j) {
      const T other = x[base + offsets[j]];
      less += other < own || (own != own && other == other);
      equal += other == own || (own != own && other != other);
    }
    if (less <= rank && rank < less + equal) {
      y = own;
      break;
    }
  }
]=]

-- Integers in the order of numbers, with -0 before 0 and NaN last.
local keys = [=[
  template <class T>
  __device__ inline T key_of(T x) { return x; }
  __device__ inline int key_of(float x) {
    const int bits = __float_as_int(x);
    return x != x ? 0x7fffffff : bits ^ ((bits >> 31) & 0x7fffffff);
  }
  __device__ inline long long key_of(double x) {
    const long long bits = __double_as_longlong(x);
    return x != x ? 0x7fffffffffffffffll : bits ^ ((bits >> 63) & 0x7fffffffffffffffll);
  }
  // The number with that key, of the type of the second argument.
  template <class T>
  __device__ inline T number_of(T key, T) { return key; }
  __device__ inline float number_of(int key, float) { return __int_as_float(key ^ ((key >> 31) & 0x7fffffff)); }
  __device__ inline double number_of(long long key, double) {
    return __longlong_as_double(key ^ ((key >> 63) & 0x7fffffffffffffffll));
  }
]=]

-- The largest numbers of neighbours that a network compares, and that a thread keeps.
local most_in_network, most_kept = 64, 1024

--- The comparisons of Batcher's sort by odd and even merges that the element at `rank` needs, as lines of code that put the less of two
--- keys first (D. E. Knuth, The Art of Computer Programming, 5.2.2, algorithm M).
local function network(count, rank)
  local pairs_of, first = {}, 1
  while first * 2 < count do first = first * 2 end
  local p = first
  while p >= 1 do
    local q, r, d = first, 0, p
    while true do
      for i = 0, count - d - 1 do
        if math.floor(i / p) % 2 * p == r then pairs_of[#pairs_of + 1] = {i, i + d} end
      end
      if q == p then break end
      d, q, r = q - p, q / 2, p
    end
    p = p / 2
  end
  local needed, lines = {[rank] = true}, {}
  for k = #pairs_of, 1, -1 do
    local i, j = pairs_of[k][1], pairs_of[k][2]
    local low, high = needed[i], needed[j]
    if low or high then
      local text = low and high and "{ const K low = k%d < k%d ? k%d : k%d; k%d = k%d < k%d ? k%d : k%d; k%d = low; }"
        or low and "k%d = k%d < k%d ? k%d : k%d;" or "k%d = k%d < k%d ? k%d : k%d;"
      lines[#lines + 1] = low and high and text:format(i, j, i, j, j, i, j, j, i, i) or low and text:format(i, i, j, i, j)
        or text:format(j, i, j, j, i)
      needed[i], needed[j] = true, true
    end
  end
  local ordered = {}
  for k = #lines, 1, -1 do ordered[#ordered + 1] = lines[k] end
  return table.concat(ordered, "\n")
end

--- The operation that gives the element at the rank of `count` neighbours.
local function network_operation(count, rank)
  local name = ("ranked_%d_of_%d"):format(rank + 1, count)
  return nd.operation(name, function()
    local loads = {}
    for k = 0, count - 1 do loads[k + 1] = ("K k%d = key_of(x[base + offsets[%d]]);"):format(k, k) end
    return {
      name = name, inputs = "int64 base, raw T x, raw int64 offsets", outputs = "T y", preamble = keys,
      body = "using K = decltype(key_of(x[0]));\n" .. table.concat(loads, "\n") .. "\n" .. network(count, rank) ..
        ("\ny = number_of(k%d, x[base]);"):format(rank),
    }
  end)
end

--- The operation that finds the bits of the key at a rank of `count` neighbours, the highest first.
local function bits_operation(count)
  local name = "ranked_of_" .. count
  return nd.operation(name, function()
    return {
      name = name, inputs = "int64 base, raw T x, raw int64 offsets, int32 rank", outputs = "T y", preamble = keys,
      body = ([=[
        using K = decltype(key_of(x[0]));
        K kept[COUNT];
        for (int k = 0; k < COUNT; ++k) kept[k] = key_of(x[base + offsets[k]]);
        const int bits = 8 * sizeof(K);
        K found = (K)-1 < (K)0 ? (K)(1ull << (bits - 1)) : (K)0;  // the least
        for (int bit = bits - 1; bit >= 0; --bit) {
          const K next = (K)((unsigned long long)found + (1ull << bit));
          int less = 0;
          for (int k = 0; k < COUNT; ++k) less += kept[k] < next;
          if (less <= rank) found = next;
        }
        y = number_of(found, x[base]);
      ]=]):gsub("COUNT", tostring(count)),
    }
  end)
end

--- The element at the rank rank(count), counted from 0, among `count` neighbours of each element.
local with_rank = calls.derived("ndimage.picked", function(op, x, sizes, footprint, origins, mode, cval, rank, count)
  if not footprint then
    local found = nd.by_windows(core.window_ranks, op, x, rank(count), sizes, origins, mode, cval)
    if found then return found end
  end
  local wide, base, offsets = nd.neighbourhood(op, in_numbers(x), sizes, origins, mode, cval)
  offsets = chosen(op, offsets, footprint)
  count = offsets.size
  if count <= most_in_network then
    return core.cast(network_operation(count, rank(count))(base, wide, offsets), x.dtype)
  end
  if count <= most_kept then
    return core.cast(bits_operation(count)(base, wide, offsets, rank(count)), x.dtype)
  end
  checks.steps(op, count ^ 2 / 16)
  local choose = nd.operation("ranked", {
    name = "ranked_neighbour", inputs = "int64 base, raw T x, raw int64 offsets, int64 count, int64 rank", outputs = "T y",
    body = rank_body,
  })
  return core.cast(choose(base, wide, offsets, count, rank(count)), x.dtype)
end)

local function ranked(op, x, size, options, rank)
  if checks.is_options(size) then size, options = checks.shift(op, size, options) end
  local mode
  options, mode = nd.check_filter(op, x, options)
  local sizes, footprint, count = read_box(op, x, size, options)
  local origins = nd.each_axis(op, "an origin: an integer", options.origin or 0, x.ndim, checks.integer)
  if x.size == 0 then return x:copy() end
  return with_rank(op, x, sizes, footprint, origins, mode, options.cval, rank, count)
end

--- gpu.ndimage.median_filter(x [, size] [, {size, footprint, mode, cval, origin}])
function ndimage.median_filter(x, size, options)
  return ranked("ndimage.median_filter", x, size, options, function(count) return math.floor(count / 2) end)
end

--- gpu.ndimage.rank_filter(x, rank [, size] [, {size, footprint, mode, cval, origin}])
--- Rank 1 is the least, -1 the greatest.
function ndimage.rank_filter(x, rank, size, options)
  local op = "ndimage.rank_filter"
  if checks.integer(op, "a rank: 1 is the least, -1 the greatest", rank) == 0 then
    core.fail(op, "a rank: 1 is the least, -1 the greatest", rank)
  end
  return ranked(op, x, size, options, function(count)
    if math.abs(rank) > count then core.raise(("[%s] expected a rank of 1 to %d, got %d"):format(op, count, rank)) end
    return rank > 0 and rank - 1 or count + rank
  end)
end

--- gpu.ndimage.percentile_filter(x, percentile [, size] [, {size, footprint, mode, cval, origin}])
function ndimage.percentile_filter(x, percentile, size, options)
  local op = "ndimage.percentile_filter"
  if type(percentile) ~= "number" or not (percentile >= 0 and percentile <= 100) then
    core.fail(op, "a percentile of 0 to 100", percentile)
  end
  checks.warn_of_fractions(op, percentile, function(fraction)
    return ("gpu.%s(x, %g, size) takes %g of the neighbours, gpu.ndimage.minimum_filter(x, size) gives the least"):format(op, 100 * fraction, fraction)
  end)
  return ranked(op, x, size, options, function(count) return math.min(math.floor(count * percentile / 100), count - 1) end)
end

-- ---- least and greatest ----------------------------------------------------------------------------------------------------------

--- The least or greatest of a box, or of its elements of the footprint. NaN is the greatest. Of none, the least is true and the greatest
--- false.
local extreme = calls.derived("ndimage.picked", function(op, x, sizes, footprint, origins, mode, cval, greatest)
  local found = nd.by_windows(core.window_extremes, op, x, greatest, sizes, origins, mode, cval, footprint)
  if found then return found end
  local wide, base, offsets = nd.neighbourhood(op, in_numbers(x), sizes, origins, mode, cval)
  if footprint then offsets = offsets[footprint:ravel()] end
  if offsets.size == 0 then return gpu.full(x.shape, not greatest, {dtype = "bool", device = x.device}) end
  local choose = nd.operation("extreme", {
    name = "extreme_neighbour", inputs = "int64 base, raw T x, raw int64 offsets, int64 count, bool greatest", outputs = "T y",
    body = [=[
      T found = x[base + offsets[0]];
      for (long long k = 1; k < count; ++k) {
        const T other = x[base + offsets[k]];
        const bool above = other > found || (other != other && found == found);
        const bool below = other < found || (found != found && other == other);
        if (greatest ? above : below) found = other;
      }
      y = found;
    ]=],
  })
  return core.cast(choose(base, wide, offsets, offsets.size, greatest), x.dtype)
end)
nd.extreme = extreme

local most_at_once = 49

--- The least or greatest of the box around each element, or of its elements of the footprint. A box of many elements goes axis by axis.
local function extremes(op, x, sizes, footprint, origins, mode, cval, greatest)
  if x.size == 0 then return x:copy() end
  if footprint and not footprint:any():item() then core.fail(op, "a footprint with an element that is true", footprint) end
  if footprint or nd.check_neighbours(op, sizes) <= most_at_once then
    return extreme(op, x, sizes, footprint, origins, mode, cval, greatest)
  end
  for axis, size in ipairs(sizes) do
    local along, moved = {}, {}
    for i = 1, x.ndim do along[i], moved[i] = i == axis and size or 1, i == axis and origins[i] or 0 end
    if size > 1 or origins[axis] ~= 0 then x = extreme(op, x, along, nil, moved, mode, cval, greatest) end
  end
  return x
end
nd.extremes = extremes

local function extreme_filter(op, x, size, options, greatest)
  if checks.is_options(size) then size, options = checks.shift(op, size, options) end
  local mode
  options, mode = nd.check_filter(op, x, options)
  local sizes, footprint = read_box(op, x, size, options)
  local origins = nd.each_axis(op, "an origin: an integer", options.origin or 0, x.ndim, checks.integer)
  return extremes(op, x, sizes, footprint, origins, mode, options.cval, greatest)
end
nd.read_box = read_box

--- gpu.ndimage.minimum_filter(x [, size] [, {size, footprint, mode, cval, origin}])
function ndimage.minimum_filter(x, size, options)
  return extreme_filter("ndimage.minimum_filter", x, size, options, false)
end
--- gpu.ndimage.maximum_filter(x [, size] [, {size, footprint, mode, cval, origin}])
function ndimage.maximum_filter(x, size, options)
  return extreme_filter("ndimage.maximum_filter", x, size, options, true)
end

local function extreme_along(op, x, size, axis, options, greatest)
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  local mode
  options, mode = nd.check_filter(op, x, options)
  axis = core.axis(op, axis or options.axis or -1, x.ndim)
  local origin = checks.integer(op, "an origin: an integer", options.origin or 0)
  local sizes, origins = {}, {}
  for i = 1, x.ndim do sizes[i], origins[i] = 1, 0 end
  sizes[axis], origins[axis] = nd.check_count(op, "a size of 1 or more", size), origin
  nd.check_neighbours(op, sizes)
  return extremes(op, x, sizes, nil, origins, mode, options.cval, greatest)
end

--- gpu.ndimage.minimum_filter1d(x, size [, axis] [, {axis, mode, cval, origin}])
function ndimage.minimum_filter1d(x, size, axis, options)
  return extreme_along("ndimage.minimum_filter1d", x, size, axis, options, false)
end
--- gpu.ndimage.maximum_filter1d(x, size [, axis] [, {axis, mode, cval, origin}])
function ndimage.maximum_filter1d(x, size, axis, options)
  return extreme_along("ndimage.maximum_filter1d", x, size, axis, options, true)
end
