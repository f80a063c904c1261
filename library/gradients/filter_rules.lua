-- The derivatives of filters, which are linear: the adjoint of a filter runs over its results backwards. The names are those of functions
-- that only the library calls.
local gpu, _, core, import = ...
local kinds, views = import "kinds", import "views"

local rules = core.rules

local conj = kinds.conj

-- ---- convolutions of vectors ----------------------------------------------------------------------------------------------------------

--- The derivative for all elements of a convolution from that for those of the mode. `reversed`: a correlation with a longer second
--- vector.
local function in_full(g, n, m, mode, reversed)
  if mode == "full" then return g end
  local most, least = math.max(n, m), math.min(n, m)
  local before = mode == "valid" and least - 1 or reversed and math.ceil((least - 1) / 2) or math.floor((least - 1) / 2)
  return g:pad {before, most + least - 1 - before - g.size}
end

local function mode_of(arguments, default)
  local mode = arguments[3]
  if type(mode) == "table" then mode = mode.mode end
  return mode or (arguments[4] or {}).mode or default
end

function rules.convolve(cotangents, _, arrays, arguments, needs)
  local x, y = arrays[1], arrays[2]
  local g = in_full(cotangents[1], x.size, y.size, mode_of(arguments, "full"))
  return needs[1] and gpu.correlate(g, y, "valid"), needs[2] and gpu.correlate(g, x, "valid")
end

--- The convolution with the conjugate of the second vector, turned around.
function rules.correlate(cotangents, _, arrays, arguments, needs)
  local x, y = arrays[1], arrays[2]
  local g = in_full(cotangents[1], x.size, y.size, mode_of(arguments, "valid"), y.size > x.size)
  return needs[1] and gpu.correlate(g, conj(y):flip(), "valid"), needs[2] and conj(gpu.correlate(g, x, "valid")):flip()
end

-- ---- filters of arrays ------------------------------------------------------------------------------------------------------------------

--- Sums of an array's neighbours times weights: an adjoint is such a sum with the weights turned around, which then goes through what
--- stands beyond the borders.
rules["ndimage.weighted"] = function(cotangents, _, arrays, arguments, needs)
  local nd = import "ndimage"
  local g, x, weights = cotangents[1], arrays[1], arrays[2]
  local op, _, _, origins, mode, cval = unpack(arguments, 1, 6)
  local sizes, before, after, widths, last, axes = weights.shape, nil, {}, {}, {}, {}
  before = nd.before_middles(op, sizes, origins)
  for axis, size in ipairs(sizes) do
    after[axis], widths[axis], axes[axis] = size - 1 - before[axis], {0, size - 1}, axis
    last[axis] = size - 1 - math.floor(size / 2)
  end
  local wide, pull = gpu.vjp(function(z) return nd.padded(z, before, after, mode, cval) end, x)
  local gx = needs[1] and pull(nd.weighted(op, g:pad(widths), weights:flip(), last, "constant", 0))
  -- A neighbour's weight meets all elements.
  for _ in ipairs(sizes) do g = g:expand_dims(-1) end
  return gx, (wide:sliding_window(sizes) * g):sum(axes)
end

--- Neighbours that are picked by their order: the derivative goes to the first one that is equal.
rules["ndimage.picked"] = function(cotangents, results, _, arguments)
  local nd = import "ndimage"
  local op, x, sizes, footprint, origins, mode, cval = unpack(arguments, 1, 7)
  local before, after, count = nd.before_middles(op, sizes, origins), {}, 1
  for axis, size in ipairs(sizes) do after[axis], count = size - 1 - before[axis], count * size end
  local shape = x.shape
  shape[#shape + 1] = count
  local function neighbours(z) return nd.padded(z, before, after, mode, cval):sliding_window(sizes):reshape(shape) end
  local fixed, y = x:detach(), results[1]:detach():expand_dims(-1)
  local is_equal = neighbours(fixed):eq(y):logical_or(y:ne(y))
  if footprint then is_equal = is_equal:logical_and(footprint:ravel()) end
  local at = is_equal:argmax(-1, {keepdims = true})
  local _, pull = gpu.vjp(function(z) return gpu.take_along_axis(neighbours(z), at, -1):squeeze(-1) end, fixed)
  return pull(cotangents[1])
end

--- All sums of rows with coefficients.
rules["signal.sums"] = function(cotangents, _, arrays, arguments)
  local b, turned = arguments[2], {}
  for k = 1, #b do turned[k] = b[#b + 1 - k] end
  return views.slice(import("signal_filters").full_sums(cotangents[1], turned), 2, #b, arrays[1].shape[2])
end

--- Recursive filters over rows. A state before the first element is one of the inputs of what is behind a section's numerator.
rules["signal.recurrence"] = function(cotangents, _, _, arguments)
  local filter = import("signal_recurrence").filter
  local g, x, sections, starts = cotangents[1], arguments[1], arguments[2], arguments[3]
  if cotangents[2] then core.refuse_derivative("signal", " for the states after a filter") end
  local function backwards(h, own) return (filter(h:flip(2), own)):flip(2) end
  local gx = backwards(g, sections)
  if not starts then return gx end
  local parts, n = {}, x.shape[2]
  for k = #sections, 1, -1 do
    local section, numerator = sections[k], {1}
    local order = #section.a - 1
    for i = 1, order do numerator[i + 1] = 0 end
    local states = views.slice(backwards(g, {{b = numerator, a = section.a}}), 2, 1, math.min(order, n))
    parts[k] = views.extend(states, 2, order - states.shape[2])
    g = backwards(g, {section})
  end
  return gx, gpu.concat(parts, 2)
end

--- Samples at another rate: the rates change places, and the weights are turned around. Zeros before these make their number fit.
rules["signal.resampled"] = function(cotangents, _, arrays, arguments)
  local x, h = arrays[1], arrays[2]
  local op, up, down = arguments[1], arguments[4], arguments[5]
  local zeros = (1 - h.size) % up
  local first, n = (h.size - 1 + zeros) / up, x.shape[2]
  local back = import("signal_filters").resampled(op, cotangents[1], h:flip():pad {{zeros, 0}}, down, up)
  back = views.extend(back, 2, math.max(first + n - back.shape[2], 0))
  return views.slice(back, 2, first + 1, n)
end
