-- gpu.ndimage: sums, means, extremes and middles of the parts of an array that labels number.
-- In sandboxes: all
local gpu, _, core, import = ...
import "ndimage"
local views = import "views"
local checks = import "checks"
local kinds = import "kinds"
local ndimage = gpu.ndimage

--- Reads the arguments of a measurement. Gives the elements as a vector, a number from 0 for the group of each, the number of
--- groups, and function(results) that gives those of `index`. Elements without a group have the last number.
local function read_groups(op, x, labels, index)
  checks.real(op, x)
  if labels == nil then
    if index ~= nil then core.fail(op, "labels for the index", labels) end
    labels = gpu.ones(x.shape, {dtype = "int32", device = x.device})
  end
  checks.real(op, labels)
  if kinds.of(labels):find "float" then core.fail(op, "labels: integers or bool", labels) end
  if labels.shape ~= x.shape then
    core.raise(("[%s] expected labels of x's shape %s, got %s"):format(op, checks.shape_text(x.shape), checks.shape_text(labels.shape)))
  end
  local values = x:ravel()
  if index == nil then
    local group = labels:ravel():eq(0):astype "int64"
    return values, group, 1, function(results) return results:reshape({}) end
  end
  if type(index) == "number" or type(index) == "table" then index = gpu.array(index, {dtype = "int64", device = x.device}) end
  checks.array(op, index)
  local kind = kinds.of(index)
  if kind ~= "int" and kind ~= "uint" then core.fail(op, "an index: labels, integers", index) end
  index = core.cast(index, "int64")
  local flat, shape = index:ravel(), index.shape
  -- Equal labels are one group: the first of them in the sorted index.
  local sorted = flat:sort():eval()
  local count = flat.size
  if count == 0 then core.fail(op, "at least one label", index) end
  local own = core.cast(labels:ravel(), "int64")
  local place = sorted:searchsorted(own)
  local at = gpu.minimum(place, count)
  local group = gpu.where(sorted:take(at):eq(own), at - 1, count)
  local order = sorted:searchsorted(flat)
  return values, group, count, function(results)
    local taken = results:take(order, 1)
    local rest = {unpack(shape)}
    for axis = 2, results.ndim do rest[#rest + 1] = results.shape[axis] end
    return taken:reshape(rest)
  end
end

--- The sums of the values of each group, in float64; without values, their numbers.
local function sums(values, group, count)
  return views.slice(core.bincount(group, values, count + 1), 1, 1, count)
end

--- The dtype of a result for real numbers.
local function floating(x) return core.floating(x.dtype) end

local function sum_and_size(values, group, count)
  return sums(values, group, count), core.cast(sums(nil, group, count), "float64")
end

--- gpu.ndimage.sum_labels(x [, labels [, index]])
function ndimage.sum_labels(x, labels, index)
  local values, group, count, give = read_groups("ndimage.sum_labels", x, labels, index)
  return give(core.cast(sums(values, group, count), floating(x)))
end

--- gpu.ndimage.mean(x [, labels [, index]])
function ndimage.mean(x, labels, index)
  local values, group, count, give = read_groups("ndimage.mean", x, labels, index)
  local sum, size = sum_and_size(values, group, count)
  return give(core.cast(sum / size, floating(x)))
end

--- The mean squared distance from the mean, by two passes over the elements.
local function variance(op, x, labels, index)
  local values, group, count, give = read_groups(op, x, labels, index)
  local sum, size = sum_and_size(values, group, count)
  local means = gpu.concat {sum / size, gpu.zeros(1, {dtype = "float64", device = x.device})}
  local apart = core.cast(values, "float64") - means:take(group + 1)
  return give(core.cast(sums(apart:square(), group, count) / size, floating(x)))
end
--- gpu.ndimage.variance(x [, labels [, index]])
function ndimage.variance(x, labels, index) return variance("ndimage.variance", x, labels, index) end
--- gpu.ndimage.standard_deviation(x [, labels [, index]])
function ndimage.standard_deviation(x, labels, index)
  return variance("ndimage.standard_deviation", x, labels, index):sqrt()
end

--- gpu.ndimage.center_of_mass(x [, labels [, index]])
--- The means of the positions, weighted by x; a last axis has a position for each of x's axes.
function ndimage.center_of_mass(x, labels, index)
  local values, group, count, give = read_groups("ndimage.center_of_mass", x, labels, index)
  local size, middles = sums(values, group, count), {}
  for axis = 1, x.ndim do
    local along = core.broadcast(views.along(x.shape[axis], axis, x.ndim, x.device, 1), x.shape)
    middles[axis] = give(core.cast(sums(core.cast(values, "float64") * along:ravel(), group, count) / size, floating(x)))
  end
  return gpu.stack(middles, -1)
end

-- ---- extremes ------------------------------------------------------------------------------------------------------------------

--- The position of the first least, or greatest, element of each group, counted from 1 among all elements, and whether it has one.
local function extreme_positions(values, group, count, greatest)
  local order = values:argsort {descending = greatest, stable = true}
  local groups = group:take(order)
  local by_group = groups:argsort {stable = true}
  local sorted = groups:take(by_group)
  local wanted = views.along(count, 1, 1, values.device)
  local first = gpu.minimum(sorted:searchsorted(wanted), values.size)
  return order:take(by_group:take(first)), sorted:take(first):eq(wanted)
end

local function check_elements(op, x)
  if checks.real(op, x).size == 0 then core.raise(("[%s] expected elements, got shape %s"):format(op, checks.shape_text(x.shape))) end
end

--- The least or greatest elements, and their positions with a last axis for the axes of x.
local function extreme(op, x, labels, index, greatest)
  check_elements(op, x)
  local values, group, count, give = read_groups(op, x, labels, index)
  local position, has = extreme_positions(values, group, count, greatest)
  local found = gpu.where(has, values:take(position), 0)
  local places = {gpu.unravel_index(position, x.shape)}
  for axis, place in ipairs(places) do places[axis] = give(gpu.where(has, place, 0)) end
  return give(core.cast(found, x.dtype)), gpu.stack(places, -1)
end

--- gpu.ndimage.minimum(x [, labels [, index]])
function ndimage.minimum(x, labels, index) return (extreme("ndimage.minimum", x, labels, index, false)) end
--- gpu.ndimage.maximum(x [, labels [, index]])
function ndimage.maximum(x, labels, index) return (extreme("ndimage.maximum", x, labels, index, true)) end
--- gpu.ndimage.minimum_position(x [, labels [, index]])
function ndimage.minimum_position(x, labels, index)
  return (select(2, extreme("ndimage.minimum_position", x, labels, index, false)))
end
--- gpu.ndimage.maximum_position(x [, labels [, index]])
function ndimage.maximum_position(x, labels, index)
  return (select(2, extreme("ndimage.maximum_position", x, labels, index, true)))
end

--- gpu.ndimage.median(x [, labels [, index]])
--- The middle elements, or the mean of the two in the middle.
function ndimage.median(x, labels, index)
  local op = "ndimage.median"
  check_elements(op, x)
  local values, group, count, give = read_groups(op, x, labels, index)
  local order = values:argsort {stable = true}
  local by_group = group:take(order):argsort {stable = true}
  local sorted = group:take(order:take(by_group))
  local wanted = views.along(count + 1, 1, 1, x.device)
  local starts = sorted:searchsorted(wanted)
  local first, stop = views.slice(starts, 1, 1, count), views.slice(starts, 1, 2, count)
  local function at(place)
    return core.cast(values:take(order:take(by_group:take(place:clip(1, x.size)))), kinds.working(x))
  end
  local length = stop - first
  local middle = (at(first + gpu.floor_divide(length - 1, 2)) + at(first + gpu.floor_divide(length, 2))) / 2
  return give(core.cast(gpu.where(length:gt(0), middle, 0 / 0), floating(x)))
end

--- gpu.ndimage.extrema(x [, labels [, index]])
--- The least, the greatest, and their positions.
function ndimage.extrema(x, labels, index)
  local least, least_at = extreme("ndimage.extrema", x, labels, index, false)
  local greatest, greatest_at = extreme("ndimage.extrema", x, labels, index, true)
  return least, greatest, least_at, greatest_at
end
