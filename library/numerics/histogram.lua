-- Counting: bincount, digitize, histograms.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

local function check_weights(op, x, weights)
  if weights == nil then return nil end
  checks.real(op, weights)
  if checks.shape_text(weights.shape) ~= checks.shape_text(x.shape) then
    core.raise(("[%s] expected weights of the shape %s, got %s"):format(op, checks.shape_text(x.shape), checks.shape_text(weights.shape)))
  end
  return weights:ravel()
end

local counting = {}

--- gpu.bincount(x [, {weights, minlength}])
--- The number of occurrences of each of 0, 1, 2, ..., or the sums of their weights.
function counting.bincount(x, options)
  checks.array("bincount", x)
  options = checks.fields("bincount", options)
  local kind = kinds.of(x)
  if x.ndim ~= 1 or not (kind == "int" or kind == "uint" or kind == "bool") then
    core.fail("bincount", "a vector of integers, such as x:astype(\"int32\")", x)
  end
  local weights = check_weights("bincount", x, options.weights)
  local count = checks.integer("bincount", "minlength, an integer", options.minlength or 0)
  if count < 0 then core.raise("[bincount] expected minlength to be at least 0, got " .. count) end
  if x.size > 0 then
    local least, most = core.range_of_keys(x)
    if least == nil then
      -- As unsigned numbers, negative ones are the greatest: one reduction and one wait tell whether there are some.
      local bits = kind == "int" and tonumber(x.dtype:match "%d+")
      most = tonumber(core.cast((bits and core.cast(x, "u" .. x.dtype) or x):max(), "uint64"):item())
      least = bits and most >= 2 ^ (bits - 1) and tonumber(core.cast(x:min(), "int64"):item()) or 0
    end
    if least < 0 then core.raise(("[bincount] expected numbers that are not negative, got %d"):format(least)) end
    count = math.max(count, most + 1)
  end
  core.check_shape("bincount", {count})
  return core.bincount(x, weights, count)
end

local function check_edges(op, edges, x)
  edges = checks.real(op, checks.to_array(op, "edges: an array or a table of them", edges, x))
  if edges.ndim ~= 1 then core.fail(op, "a vector of edges", edges) end
  local n = edges.size
  if n > 1 and not edges({2, n}):ge(edges({1, n - 1})):all():item() then
    local after, before = edges({2, n}), edges({1, n - 1})
    local at = tonumber((after:ge(before):logical_not():argmax():item())) + 1
    core.raise(("[%s] expected edges that increase, got edges[%d] = %s after %s; edges:sort() puts them in order"):format(op, at,
      core.describe(edges[at]), core.describe(edges[at - 1])))
  end
  return edges
end

--- gpu.digitize(x, edges [, {right}])
--- For each element, the number of edges that are not greater; with `right`, that are less.
function counting.digitize(x, edges, options)
  checks.real("digitize", x)
  options = checks.fields("digitize", options)
  local side = checks.flag("digitize", "right", options.right) and "left" or "right"
  return gpu.searchsorted(check_edges("digitize", edges, x), x, {side = side}) - 1
end

--- The bins, which are optional, and the options.
local function options_of(op, bins, options)
  if checks.is_options(bins) then bins, options = checks.shift(op, bins, options) end
  if type(options) == "table" and #options == 2 then core.fail(op, "the bounds as an option, {range = {low, high}}", options) end
  return bins, checks.fields(op, options)
end

--- The edges, and, for bins of one width, the first and the last of them as numbers.
local function edges_of(op, x, bins, range)
  checks.real(op, x)
  if bins == nil then bins = 10 end
  if core.is_array(bins) or type(bins) == "table" then return check_edges(op, bins, x) end
  checks.integer(op, "a number of bins, or their edges", bins)
  if bins < 1 then core.raise(("[%s] expected at least one bin, got %d"):format(op, bins)) end
  core.check_shape(op, {bins + 1})
  local first, last = 0, 1
  if range ~= nil then
    if type(range) ~= "table" then core.fail(op, "range = {first, last}", range) end
    first, last = core.plain(range[1]), core.plain(range[2])
    if type(first) ~= "number" or type(last) ~= "number" then core.fail(op, "range = {first, last}", range) end
    if first > last then core.raise(("[%s] expected a range that increases, got {%g, %g}"):format(op, first, last)) end
  elseif x.size > 0 then
    local least, most = gpu.eval(core.cast(x:min(), "float64"), core.cast(x:max(), "float64"))
    first, last = least:item(), most:item()
  end
  if not (first > -math.huge and last < math.huge) then
    core.raise(("[%s] expected a finite range, got {%g, %g}; {range = {first, last}} sets one"):format(op, first, last))
  end
  if first == last then first, last = first - 0.5, last + 0.5 end
  local dtype = kinds.is_floating(x) and x.dtype or "float64"
  return gpu.linspace(first, last, bins + 1, {dtype = dtype, device = x.device}), first, last
end

local function count_bins(op, edges)
  if edges.size < 2 then core.raise(("[%s] expected at least two edges, got %d"):format(op, edges.size)) end
  return edges.size - 1
end

--- The bin of each value, from 1 on; 0 before the first edge, and the number of bins + 1 after the last edge.
local function bins_of(values, edges)
  local bin = gpu.searchsorted(edges, values, {side = "right"}) - 1
  -- The last bin includes its right edge.
  return gpu.where(values:eq(edges({-1, -1})), edges.size - 1, bin)
end

--- gpu.histogram_bin_edges(x [, bins] [, {range}])
--- The edges of gpu.histogram for the same arguments.
function counting.histogram_bin_edges(x, bins, options)
  bins, options = options_of("histogram_bin_edges", bins, options)
  return (edges_of("histogram_bin_edges", x, bins, options.range))
end

--- gpu.histogram(x [, bins] [, {range, weights, density}])
--- The number of elements in each bin, and the edges.
function counting.histogram(x, bins, options)
  bins, options = options_of("histogram", bins, options)
  local edges, first, last = edges_of("histogram", x, bins, options.range)
  local count = count_bins("histogram", edges)
  local weights = check_weights("histogram", x, options.weights)
  local counts
  if first and last - first < math.huge and count <= core.most_even_bins and not weights then
    counts = core.histogram_of_even_bins(x:ravel(), edges, first, last)
  else
    counts = core.bincount(bins_of(x:ravel(), edges), weights, count + 2)({2, count + 1})
  end
  if weights and kinds.is_floating(options.weights) then counts = core.cast(counts, options.weights.dtype) end
  if checks.flag("histogram", "density", options.density) then
    counts = counts / edges:diff() / counts:sum()
  end
  return counts, edges
end

-- ---- several variables ------------------------------------------------------------------------------------------------------------

--- The number of points in each bin of a grid, and the edges along each axis. `vectors`: the coordinates of the points. `bins` and
--- `ranges`: tables with an item for each axis.
local function histogram_of(op, vectors, bins, ranges, options)
  local weights = check_weights(op, vectors[1], options.weights)
  local density = checks.flag(op, "density", options.density)
  local edges, shape, index, within, total = {}, {}, 0, nil, 1
  for axis, values in ipairs(vectors) do
    edges[axis] = edges_of(op, values, bins[axis], ranges[axis])
    local count = count_bins(op, edges[axis])
    local bin = bins_of(values, edges[axis])
    local inside = bin:ge(1):logical_and(bin:le(count))
    within = within and within:logical_and(inside) or inside
    index = index * count + (bin - 1)
    total = total * count
    shape[axis] = count
  end
  core.check_shape(op, shape)
  local counts = core.cast(core.bincount(gpu.where(within, index, -1), weights, total), "float64"):reshape(shape)
  if density then
    local sum = counts:sum()
    for axis, each in ipairs(edges) do
      local widths = {}
      for i = 1, #shape do widths[i] = i == axis and shape[axis] or 1 end
      counts = counts / each:diff():reshape(widths)
    end
    counts = counts / sum
  end
  return counts, edges
end

local function check_ranges(op, ranges, count)
  if ranges == nil then return {} end
  if type(ranges) ~= "table" then core.fail(op, ("range = a table of %d ranges {first, last}"):format(count), ranges) end
  return ranges
end

--- gpu.histogram2d(x, y [, bins] [, {range, weights, density}])
--- Counts, and the edges along x and along y.
function counting.histogram2d(x, y, bins, options)
  local op = "histogram2d"
  for _, values in ipairs {checks.real(op, x), checks.real(op, y)} do
    if values.ndim ~= 1 or values.size ~= x.size then
      core.raise(("[%s] expected two vectors of one length, got shapes %s and %s"):format(op, checks.shape_text(x.shape), checks.shape_text(y.shape)))
    end
  end
  bins, options = options_of(op, bins, options)
  if type(bins) ~= "table" or #bins ~= 2 then bins = {bins, bins} end
  local counts, edges = histogram_of(op, {x, y}, bins, check_ranges(op, options.range, 2), options)
  return counts, edges[1], edges[2]
end

--- gpu.histogramdd(points [, bins] [, {range, weights, density}])
--- `points` is a matrix with a row for each point.
function counting.histogramdd(points, bins, options)
  local op = "histogramdd"
  checks.real(op, points)
  if points.ndim ~= 2 or points.shape[2] == 0 then core.fail(op, "a matrix with a row for each point", points) end
  bins, options = options_of(op, bins, options)
  local count, vectors, each = points.shape[2], {}, type(bins) == "table" and bins or {}
  if count > 64 then core.raise(("[%s] expected points of at most 64 coordinates, got %d"):format(op, count)) end
  if each == bins and #bins ~= count then
    core.raise(("[%s] expected bins for each of %d columns, got %d"):format(op, count, #bins))
  end
  for i = 1, count do
    vectors[i] = views.pick(points, 2, i)
    if each ~= bins then each[i] = bins end
  end
  return histogram_of(op, vectors, each, check_ranges(op, options.range, count), options)
end

define(counting)
