-- Convolutions and correlations: directly, or by Fourier transforms.
-- In sandboxes: all
local gpu, methods, core, import = ...
local define = import "define"
import "fft"
local checks = import "checks"
local views = import "views"
local kinds = import "kinds"
local next_fast_len = import("fft_plans").next_fast_len
local sum_of_products = import("products").sum_of_products

local modes = {full = true, same = true, valid = true}

local function check_mode(op, mode, default)
  if mode == nil then return default end
  if not modes[mode] then core.fail(op, 'mode = "full", "same" or "valid"', mode) end
  return mode
end

--- Reads (mode, options).
local function read_mode(op, mode, options, default)
  if type(mode) == "table" then mode, options = checks.shift(op, mode, options) end
  options = checks.fields(op, options)
  return check_mode(op, mode == nil and options.mode or mode, default), options
end

-- ---- vectors, as NumPy has them ---------------------------------------------------------------------------------------------

--- Kernels up to this length are added up one product after the other, longer ones of floating dtypes go by transforms, unless they make
--- fewer sums than this.
local most_direct = 64

--- All elements of the convolution, each a sum of products of the longer vector and the shorter one.
local function full_directly(long, short)
  local m = short.size
  return sum_of_products(gpu.pad(long, m - 1):sliding_window(m), short:flip(), 2)
end

local function full_by_transforms(long, short)
  local dtype = core.promote(long.dtype, short.dtype)
  return core.cast(gpu.fftconvolve(core.cast(long, dtype), core.cast(short, dtype)), dtype)
end

local function check_vectors(op, x, y)
  checks.array(op, x)
  checks.array(op, y)
  for _, operand in ipairs {x, y} do
    if operand.ndim ~= 1 or operand.size == 0 then
      core.raise(("[%s] expected vectors with elements, got shapes %s and %s; gpu.fftconvolve takes arrays of any shape"):format(op,
        checks.shape_text(x.shape), checks.shape_text(y.shape)))
    end
  end
end

--- The part of the convolution that the mode wants. `reversed`: the order of the operands was exchanged in a correlation.
local function convolved(long, short, mode, reversed)
  local n, m = long.size, short.size
  -- Few sums, of vectors of nearly one length.
  if mode == "valid" and n - m < most_direct then return sum_of_products(long:sliding_window(m), short:flip(), 2) end
  local is_direct = m <= most_direct or not (kinds.is_floating(long) or kinds.is_complex(long) or kinds.is_floating(short)
    or kinds.is_complex(short))
  local full = is_direct and full_directly(long, short) or full_by_transforms(long, short)
  if mode == "full" then return full end
  if mode == "valid" then return full({m, n}) end
  local before = reversed and math.ceil((m - 1) / 2) or math.floor((m - 1) / 2)
  return full({before + 1, before + n})
end

--- gpu.convolve(x, y [, mode] [, {mode, out}])
local function convolve(x, y, mode, options)
  mode, options = read_mode("convolve", mode, options, "full")
  check_vectors("convolve", x, y)
  if y.size > x.size then x, y = y, x end
  return core.assign("convolve", options.out, convolved(x, y, mode))
end

--- gpu.correlate(x, y [, mode] [, {mode, out}])
local function correlate(x, y, mode, options)
  mode, options = read_mode("correlate", mode, options, "valid")
  check_vectors("correlate", x, y)
  local mirrored = y:flip()
  if kinds.is_complex(y) then mirrored = mirrored:conj() end
  local long, short, is_exchanged = x, mirrored, y.size > x.size
  if is_exchanged then long, short = mirrored, x end
  return core.assign("correlate", options.out, convolved(long, short, mode, is_exchanged))
end

-- ---- arrays by transforms, as SciPy has them --------------------------------------------------------------------------------

--- Reads (mode, {mode, axes}) of two arrays: the mode and the axes along which they are convolved.
local function read_arrays(op, x, y, mode, options)
  checks.array(op, x)
  checks.array(op, y)
  mode, options = read_mode(op, mode, options, "full")
  if x.ndim ~= y.ndim then
    core.raise(("[%s] expected arrays with as many axes, got shapes %s and %s"):format(op, checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  local axes = checks.axes(op, options.axes, x.ndim)
  if #axes == 0 and x.ndim > 0 then core.raise(("[%s] expected at least one axis, got none"):format(op)) end
  local listed, longer, shorter = {}, false, false
  for _, axis in ipairs(axes) do
    listed[axis] = true
    longer, shorter = longer or x.shape[axis] > y.shape[axis], shorter or x.shape[axis] < y.shape[axis]
  end
  for axis = 1, x.ndim do
    local a, b = x.shape[axis], y.shape[axis]
    if not listed[axis] and a ~= b and a ~= 1 and b ~= 1 then
      core.raise(("[%s] expected shapes that broadcast along axis %d, got %s and %s"):format(op, axis, checks.shape_text(x.shape),
        checks.shape_text(y.shape)))
    end
  end
  if mode == "valid" and longer and shorter then
    local expected = 'one array to be as long as the other along every axis for mode = "valid"'
    core.raise(("[%s] expected %s, got shapes %s and %s"):format(op, expected, checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
  return mode, axes, options, shorter
end

--- Both arrays in the dtype of the computation.
local function prepared(x, y)
  local dtype = core.floating(core.promote(x.dtype, y.dtype))
  if not kinds.is_complex(x) and not kinds.is_complex(y) then dtype = dtype == "float64" and dtype or "float32" end
  return core.cast(x, dtype), core.cast(y, dtype)
end

--- The full convolution along the axes.
local function full_of(x, y, axes)
  x, y = prepared(x, y)
  local lengths, along, extents = {}, {}, {}
  for _, axis in ipairs(axes) do
    local extent = x.shape[axis] + y.shape[axis] - 1
    if x.shape[axis] > 1 and y.shape[axis] > 1 then
      along[#along + 1], extents[#along + 1] = axis, extent
      lengths[#along] = next_fast_len(extent)
    end
  end
  if #along == 0 then return x * y end
  local is_complex = kinds.is_complex(x)
  local forward, inverse = is_complex and gpu.fft.fftn or gpu.fft.rfftn, is_complex and gpu.fft.ifftn or gpu.fft.irfftn
  local value = inverse(forward(x, lengths, along) * forward(y, lengths, along), lengths, along)
  for i, axis in ipairs(along) do value = views.slice(value, axis, 1, extents[i]) end
  return value
end

--- The part of a full convolution that the mode wants, of operands with these extents.
local function cropped(full, x_shape, y_shape, axes, mode, is_exchanged)
  if mode == "full" then return full end
  for _, axis in ipairs(axes) do
    local a, b = x_shape[axis], y_shape[axis]
    if is_exchanged then a, b = b, a end
    local extent = mode == "same" and x_shape[axis] or a - b + 1
    local before = mode == "same" and math.floor((y_shape[axis] - 1) / 2) or b - 1
    full = views.slice(full, axis, before + 1, extent)
  end
  return full
end

--- An array without elements, in the shape that a product of the two has; nil where both have elements.
local function nothing(x, y)
  if x.size > 0 and y.size > 0 then return nil end
  local like = prepared(x, y)
  return gpu.zeros({0}, {dtype = like.dtype, device = like.device})
end

local function transformed(op, compute)
  return function(x, y, mode, options)
    local axes, shorter
    mode, axes, options, shorter = read_arrays(op, x, y, mode, options)
    local value = nothing(x, y) or cropped(compute(x, y, axes), x.shape, y.shape, axes, mode, shorter)
    return core.assign(op, options.out, value)
  end
end

-- ---- overlapping pieces -----------------------------------------------------------------------------------------------------

--- The axis along which one array is longest beside the other, and whether that is y.
local function longest_axis(x, y, axes)
  local best, ratio, is_y = axes[1], 0, false
  for _, axis in ipairs(axes) do
    local a, b = x.shape[axis], y.shape[axis]
    if math.max(a, b) / math.min(a, b) > ratio then best, ratio, is_y = axis, math.max(a, b) / math.min(a, b), b > a end
  end
  return best, ratio, is_y
end

--- The full convolution: the longer array in pieces, whose convolutions overlap.
local function full_by_pieces(x, y, axes)
  local axis, ratio, is_y = longest_axis(x, y, axes)
  if not axis or ratio < 4 then return full_of(x, y, axes) end
  if is_y then x, y = y, x end
  local n, m = x.shape[axis], y.shape[axis]
  local piece = next_fast_len(math.max(4 * m, 512)) - (m - 1)
  local count = math.ceil(n / piece)
  if count < 2 then return full_of(x, y, axes) end
  local last = x.ndim + 1
  -- Pieces along an axis of their own in front of the axis, which goes last.
  local rows = views.extend(x:moveaxis(axis, -1), x.ndim, count * piece - n)
  local shape = rows.shape
  shape[#shape], shape[#shape + 1] = count, piece
  local kernel = y:moveaxis(axis, -1):expand_dims(-2)
  local along = {last}
  for _, other in ipairs(axes) do
    if other ~= axis then along[#along + 1] = other < axis and other or other - 1 end
  end
  table.sort(along)
  local value = full_of(rows:reshape(shape), kernel, along)
  -- The part of each piece beyond its end belongs to the next one.
  local widths = {}
  for i = 1, last do
    widths[i] = {i == last - 1 and 1 or 0, i == last and piece - (m - 1) or 0}
  end
  local sum = views.extend(views.slice(value, last, 1, piece), last - 1, 1)
  if m > 1 then sum = sum + gpu.pad(views.slice(value, last, piece + 1, m - 1), widths) end
  shape = sum.shape
  shape[#shape - 1], shape[#shape] = (count + 1) * piece, nil
  return views.slice(sum:reshape(shape), last - 1, 1, n + m - 1):moveaxis(-1, axis)
end

define {
  convolve = convolve,
  correlate = correlate,
  --- gpu.fftconvolve(x, y [, mode] [, {mode, axes, out}])
  fftconvolve = transformed("fftconvolve", full_of),
  --- gpu.oaconvolve(x, y [, mode] [, {mode, axes, out}])
  oaconvolve = transformed("oaconvolve", full_by_pieces),
}
