-- Counting: bincount, digitize, histograms.
local gpu, methods, core = ...

local function check_weights(op, x, weights)
  if weights == nil then return nil end
  core.check_real(op, weights)
  if core.text(weights.shape) ~= core.text(x.shape) then
    core.raise(("[%s] expected weights of the shape %s, got %s"):format(op, core.text(x.shape), core.text(weights.shape)))
  end
  return core.cast(weights:ravel(), "float64")
end

local counting = {}

--- How often each of 0, 1, 2, ... is there; or the sum of the weights.
function counting.bincount(x, options)
  core.check_array("bincount", x)
  options = core.check_fields("bincount", options, "weights minlength")
  local kind = core.kind(x)
  if x.ndim ~= 1 or not (kind == "int" or kind == "uint" or kind == "bool") then
    core.fail("bincount", "a vector of integers", x)
  end
  local weights = check_weights("bincount", x, options.weights)
  local count = core.check_integer("bincount", "minlength, an integer", options.minlength or 0)
  if count < 0 then core.raise("[bincount] expected minlength to be at least 0, got " .. count) end
  if x.size > 0 then
    local least, most = gpu.eval(x:min(), x:max())
    least, most = tonumber(core.cast(least, "int64"):item()), tonumber(core.cast(most, "int64"):item())
    if least < 0 then core.raise(("[bincount] expected numbers that are not negative, got %d"):format(least)) end
    count = math.max(count, most + 1)
  end
  return core.tally(core.cast(x, "int64"), weights, count)
end

local function check_edges(op, edges, x)
  edges = core.check_real(op, core.to_array(op, "edges: an array or a table of them", edges, x))
  if edges.ndim ~= 1 then core.fail(op, "a vector of edges", edges) end
  local n = edges.size
  if n > 1 and not edges({2, n}):ge(edges({1, n - 1})):all():item() then
    core.raise(("[%s] expected edges that increase"):format(op))
  end
  return edges
end

--- The number of edges that are not greater than each element; with right, that are less.
function counting.digitize(x, edges, options)
  core.check_real("digitize", x)
  options = core.check_fields("digitize", options, "right")
  local side = core.check_flag("digitize", "right", options.right) and "left" or "right"
  return gpu.searchsorted(check_edges("digitize", edges, x), x, {side = side}) - 1
end

local function edges_of(op, x, bins, range)
  core.check_real(op, x)
  if bins == nil then bins = 10 end
  if core.is_array(bins) or type(bins) == "table" then return check_edges(op, bins, x) end
  core.check_integer(op, "a number of bins, or their edges", bins)
  if bins < 1 then core.raise(("[%s] expected at least one bin, got %d"):format(op, bins)) end
  local first, last = 0, 1
  if range ~= nil then
    if type(range) ~= "table" or type(range[1]) ~= "number" or type(range[2]) ~= "number" then
      core.fail(op, "range = {first, last}", range)
    end
    first, last = range[1], range[2]
    if first > last then core.raise(("[%s] expected a range that increases, got {%g, %g}"):format(op, first, last)) end
  elseif x.size > 0 then
    local least, most = gpu.eval(core.cast(x:min(), "float64"), core.cast(x:max(), "float64"))
    first, last = least:item(), most:item()
  end
  if not (first > -math.huge and last < math.huge) then
    core.raise(("[%s] expected a finite range, got {%g, %g}; {range = {first, last}} sets one"):format(op, first, last))
  end
  if first == last then first, last = first - 0.5, last + 0.5 end
  return gpu.linspace(first, last, bins + 1, {dtype = core.is_floating(x) and x.dtype or "float64", device = x.device})
end

--- The edges that gpu.histogram would use.
function counting.histogram_bin_edges(x, bins, options)
  options = core.check_fields("histogram_bin_edges", options, "range")
  return edges_of("histogram_bin_edges", x, bins, options.range)
end

--- How many elements are in each bin, and the edges.
function counting.histogram(x, bins, options)
  options = core.check_fields("histogram", options, "range weights density")
  local edges = edges_of("histogram", x, bins, options.range)
  local count = edges.size - 1
  if count < 1 then core.raise("[histogram] expected at least two edges, got " .. edges.size) end
  local weights = check_weights("histogram", x, options.weights)
  local values = x:ravel()
  -- The last bin has its right edge too.
  local place = gpu.searchsorted(edges, values, {side = "right"})
  place = gpu.where(values:eq(edges({count + 1, count + 1})), count + 1, place)
  local counts = core.tally(place, weights, count + 2)({3, count + 2})
  if weights and core.is_floating(options.weights) then counts = core.cast(counts, options.weights.dtype) end
  if core.check_flag("histogram", "density", options.density) then
    counts = counts / (edges({2, count + 1}) - edges({1, count})) / counts:sum()
  end
  return counts, edges
end

core.define(counting)
