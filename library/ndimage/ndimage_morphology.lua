-- gpu.ndimage: morphology. Erosion and dilation of bool arrays ask whether all, or any, neighbours are true; those of numbers take
-- the least, or the greatest, of them.
-- In sandboxes: all
local gpu, _, core, import = ...
import "ndimage_ranks"
local views = import "views"
local checks = import "checks"
local ndimage, nd = gpu.ndimage, import "ndimage"

-- ---- structures ----------------------------------------------------------------------------------------------------------------

--- gpu.ndimage.generate_binary_structure(rank, connectivity)
--- The elements of a box of 3 that are at most `connectivity` steps from its middle.
function ndimage.generate_binary_structure(rank, connectivity)
  local op = "ndimage.generate_binary_structure"
  if checks.integer(op, "a number of axes, 0 to 32", rank) < 0 or rank > 32 then
    core.fail(op, "a number of axes, 0 to 32", rank)
  end
  checks.integer(op, "a connectivity: an integer", connectivity)
  local steps = gpu.zeros({}, "int64")
  for axis = 1, rank do steps = steps + views.along(3, axis, rank, nil, -1):abs() end
  return steps:le(math.max(connectivity, 1))
end

--- A structure in bool with as many axes as x; without one, the direct neighbours.
local function read_structure(op, x, structure)
  if structure == nil then
    return ndimage.generate_binary_structure(x.ndim, 1):to(x.device)
  end
  if not core.is_array(structure) then
    if type(structure) ~= "table" then core.fail(op, "a structure: an array or nested tables", structure) end
    structure = gpu.array(structure, {device = x.device})
  end
  if structure.ndim ~= x.ndim or structure.size == 0 then
    core.raise(("[%s] expected a structure with as many axes as x and with elements, got shapes %s and %s"):format(op,
      checks.shape_text(x.shape), checks.shape_text(structure.shape)))
  end
  nd.check_neighbours(op, structure.shape)
  return core.cast(structure, "bool")
end
nd.read_structure = read_structure

--- gpu.ndimage.iterate_structure(structure, iterations)
--- The structure dilated with itself.
function ndimage.iterate_structure(structure, iterations)
  local op = "ndimage.iterate_structure"
  structure = core.cast(checks.array(op, structure), "bool")
  if checks.integer(op, "a number of iterations, 1 or more", iterations) < 1 then
    core.fail(op, "a number of iterations, 1 or more", iterations)
  end
  local widths = {}
  for axis, extent in ipairs(structure.shape) do
    local more = (iterations - 1) * math.floor(extent / 2)
    widths[axis] = {more, more}
  end
  local wide = structure:pad(widths)
  return iterations == 1 and structure:copy() or ndimage.binary_dilation(wide, {structure = structure, iterations = iterations - 1})
end

-- ---- bool arrays ---------------------------------------------------------------------------------------------------------------

--- Turns a structure and its origins around, for a dilation.
local function reflected(structure, origins)
  local turned = {}
  for axis, origin in ipairs(origins) do turned[axis] = -origin - (structure.shape[axis] % 2 == 0 and 1 or 0) end
  return structure:flip(), turned
end

--- Whether all elements of the structure are true in x; or, with `any`, whether one of them is.
local function fits(op, x, structure, origins, border, any)
  return nd.extreme(op, x, structure.shape, structure, origins, "constant", border, any)
end

local most_steps_between_looks = 16

--- Erosions, or dilations: `iterations` of them, or with 0 until nothing changes.
local function repeated(op, x, structure, settings, iterations, dilate)
  local origins = settings.origins
  if dilate then structure, origins = reflected(structure, origins) end
  structure = structure:contiguous()
  local function once(values)
    local result = fits(op, values, structure, origins, settings.border, dilate)
    if settings.mask then result = gpu.where(settings.mask, result, x) end
    return result:eval()
  end
  local values = x
  if iterations >= 1 then
    for _ = 1, iterations do values = once(values) end
    return values
  end
  -- Once a step changes nothing, no later one does, so the host may check more and more rarely.
  local steps = 1
  while true do
    for _ = 1, steps - 1 do values = once(values) end
    local result = once(values)
    if gpu.array_equal(result, values) then return result end
    values, steps = result, math.min(2 * steps, most_steps_between_looks)
  end
end

--- Reads the arguments of a function of bool arrays.
local function read_binary(op, x, options)
  checks.real(op, x)
  options = checks.fields(op, options)
  if x.ndim == 0 then core.fail(op, "an array with dimensions", x) end
  local structure = read_structure(op, x, options.structure)
  local border = checks.flag(op, "border_value", options.border_value)
  local mask = options.mask
  if mask ~= nil then
    checks.array(op, mask)
    if mask.shape ~= x.shape then
      core.raise(("[%s] expected a mask of x's shape %s, got %s"):format(op, checks.shape_text(x.shape), checks.shape_text(mask.shape)))
    end
    mask = core.cast(mask, "bool")
  end
  local iterations = checks.integer(op, "a number of iterations", options.iterations or 1)
  if iterations < 0 then core.fail(op, "1 iteration or more, or 0: until nothing changes", iterations) end
  local origins = nd.each_axis(op, "an origin: an integer", options.origin or 0, x.ndim, checks.integer)
  x = x.dtype == "bool" and x or x:ne(0)
  return x, structure, {mask = mask, border = border and 1 or 0, origins = origins}, iterations
end

local function morph(op, x, options, first, second)
  local structure, settings, iterations
  x, structure, settings, iterations = read_binary(op, x, options)
  if x.size == 0 then return x:copy() end
  local result = repeated(op, x, structure, settings, iterations, first == "dilate")
  if not second then return result end
  return repeated(op, result, structure, settings, iterations, second == "dilate")
end

--- gpu.ndimage.binary_erosion(x [, {structure, iterations, mask, border_value, origin}])
function ndimage.binary_erosion(x, options) return morph("ndimage.binary_erosion", x, options, "erode") end
--- gpu.ndimage.binary_dilation(x [, {structure, iterations, mask, border_value, origin}])
function ndimage.binary_dilation(x, options) return morph("ndimage.binary_dilation", x, options, "dilate") end
--- gpu.ndimage.binary_opening(x [, {structure, iterations, mask, border_value, origin}])
function ndimage.binary_opening(x, options) return morph("ndimage.binary_opening", x, options, "erode", "dilate") end
--- gpu.ndimage.binary_closing(x [, {structure, iterations, mask, border_value, origin}])
function ndimage.binary_closing(x, options) return morph("ndimage.binary_closing", x, options, "dilate", "erode") end

--- gpu.ndimage.binary_propagation(x [, {structure, mask, border_value, origin}])
--- Dilations until nothing changes.
function ndimage.binary_propagation(x, options)
  local op = "ndimage.binary_propagation"
  local structure, settings
  x, structure, settings = read_binary(op, x, options)
  return x.size == 0 and x:copy() or repeated(op, x, structure, settings, 0, true)
end

--- gpu.ndimage.binary_hit_or_miss(x [, {structure1, structure2, origin1, origin2}])
function ndimage.binary_hit_or_miss(x, options)
  local op = "ndimage.binary_hit_or_miss"
  checks.real(op, x)
  options = checks.fields(op, options)
  local hit = read_structure(op, x, options.structure1)
  local miss = options.structure2 == nil and hit:logical_not() or read_structure(op, x, options.structure2)
  local function origins(value) return nd.each_axis(op, "an origin: an integer", value or 0, x.ndim, checks.integer) end
  local first = origins(options.origin1)
  local second = options.origin2 == nil and first or origins(options.origin2)
  x = x.dtype == "bool" and x or x:ne(0)
  if x.size == 0 then return x:copy() end
  return fits(op, x, hit, first, 0, false):logical_and(fits(op, x, miss, second, 0, true):logical_not())
end

-- ---- numbers -------------------------------------------------------------------------------------------------------------------

--- The least of x - s, or the greatest of x + s, over the neighbours at the offsets, with s of the structure.
local function raised(wide, base, offsets, heights, greatest)
  local choose = nd.operation("raised", {
    name = "raised_neighbour",
    inputs = "int64 base, raw T x, raw int64 offsets, raw T heights, int64 count, bool greatest", outputs = "T y",
    body = [=[
      y = greatest ? x[base + offsets[0]] + heights[0] : x[base + offsets[0]] - heights[0];
      for (long long k = 1; k < count; ++k) {
        const T near = x[base + offsets[k]];
        const T other = greatest ? near + heights[k] : near - heights[k];
        if (greatest ? other > y : other < y) y = other;
      }
    ]=],
  })
  return choose(base, wide, offsets, heights, offsets.size, greatest)
end

--- Reads the arguments of a function of numbers: gives function(values, dilate).
local function read_grey(op, x, size, options)
  if checks.is_options(size) then size, options = checks.shift(op, size, options) end
  local mode
  options, mode = nd.check_filter(op, x, options)
  local origins = nd.each_axis(op, "an origin: an integer", options.origin or 0, x.ndim, checks.integer)
  local structure = options.structure
  if structure == nil then
    local sizes, footprint = nd.read_box(op, x, size, options)
    return function(values, dilate)
      local turned, moved = footprint, origins
      if dilate then
        turned = footprint and footprint:flip()
        moved = {}
        for axis, origin in ipairs(origins) do moved[axis] = -origin - (sizes[axis] % 2 == 0 and 1 or 0) end
      end
      return nd.extremes(op, values, sizes, turned, moved, mode, options.cval, dilate)
    end
  end
  checks.real(op, structure)
  if structure.ndim ~= x.ndim or structure.size == 0 then
    core.fail(op, "a structure with as many axes as x and with elements", structure)
  end
  nd.check_neighbours(op, structure.shape)
  local footprint = options.footprint or gpu.ones(structure.shape, {dtype = "bool", device = x.device})
  if checks.array(op, footprint).dtype ~= "bool" or footprint.shape ~= structure.shape then
    core.fail(op, "a footprint of bool of the structure's shape", footprint)
  end
  return function(values, dilate)
    local heights, chosen, moved = core.cast(structure, values.dtype), footprint, origins
    if dilate then
      heights = heights:flip()
      chosen, moved = reflected(footprint, origins)
    end
    if values.size == 0 then return values:copy() end
    local wide, base, offsets = nd.neighbourhood(op, values, structure.shape, moved, mode, options.cval)
    chosen = chosen:ravel()
    return raised(wide, base, offsets[chosen], heights:ravel()[chosen], dilate)
  end
end

--- gpu.ndimage.grey_erosion(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.grey_erosion(x, size, options) return read_grey("ndimage.grey_erosion", x, size, options)(x, false) end
--- gpu.ndimage.grey_dilation(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.grey_dilation(x, size, options) return read_grey("ndimage.grey_dilation", x, size, options)(x, true) end
--- gpu.ndimage.grey_opening(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.grey_opening(x, size, options)
  local apply = read_grey("ndimage.grey_opening", x, size, options)
  return apply(apply(x, false), true)
end
--- gpu.ndimage.grey_closing(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.grey_closing(x, size, options)
  local apply = read_grey("ndimage.grey_closing", x, size, options)
  return apply(apply(x, true), false)
end
--- gpu.ndimage.morphological_gradient(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.morphological_gradient(x, size, options)
  local apply = read_grey("ndimage.morphological_gradient", x, size, options)
  return apply(x, true) - apply(x, false)
end
--- gpu.ndimage.morphological_laplace(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.morphological_laplace(x, size, options)
  local apply = read_grey("ndimage.morphological_laplace", x, size, options)
  return apply(x, true) + apply(x, false) - 2 * x
end
--- gpu.ndimage.white_tophat(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.white_tophat(x, size, options)
  local apply = read_grey("ndimage.white_tophat", x, size, options)
  return x - apply(apply(x, false), true)
end
--- gpu.ndimage.black_tophat(x [, size] [, {size, footprint, structure, mode, cval, origin}])
function ndimage.black_tophat(x, size, options)
  local apply = read_grey("ndimage.black_tophat", x, size, options)
  return apply(apply(x, true), false) - x
end
