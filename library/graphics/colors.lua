-- Colours of pictures and points, as bytes on the device.
local gpu, _, core, import = ...
local checks, kinds = import "checks", import "kinds"

local colors = {}

--- Red, green, blue and opacity from 0 to 1, of a list of 3 or 4.
function colors.one(op, name, value)
  local what = name .. " = a list of red, green, blue and perhaps opacity, numbers from 0 to 1"
  if type(value) ~= "table" or #value < 3 or #value > 4 then core.fail(op, what, value) end
  for i = 1, #value do
    if type(value[i]) ~= "number" or not (value[i] >= 0 and value[i] <= 1) then core.fail(op, what, value[i]) end
  end
  return {value[1], value[2], value[3], value[4] or 1}
end

--- Fractions from 0 to 1 as bytes; NaN as 0. Bytes stay.
function colors.bytes(op, x)
  if x.dtype == "uint8" then return x end
  if not kinds.is_floating(x) then
    core.raise(('[%s] expected colours as uint8, or as floating-point numbers from 0 to 1, got %s; x:astype("uint8") converts numbers '
      .. "from 0 to 255"):format(op, x.dtype))
  end
  return (gpu.nan_to_num(x, 0) * 255 + 0.5):clip(0, 255):astype "uint8"
end

-- By map and device: 257 rows of four bytes, the last one of NaN.
local levels = {}

local function levels_of(name, device)
  local key = name .. " " .. device
  if not levels[key] then
    local bytes = core.colormap(name)
    local rows = {}
    for i = 0, 255 do
      local r, g, b = bytes:byte(3 * i + 1, 3 * i + 3)
      rows[i + 1] = {r, g, b, 255}
    end
    rows[257] = {0, 0, 0, 0}
    levels[key] = gpu.array(rows, {dtype = "uint8", device = device})
    core.keep(levels[key])
  end
  return levels[key]
end

local function bound(op, name, value) return value ~= nil and checks.finite(op, name .. " = a number", value) or nil end

--- The numbers by a colour map, with four bytes for each in one axis more. `options`: colormap, and min and max, which are the least
--- and the greatest finite number where they are not given.
function colors.mapped(op, x, options)
  checks.real(op, x)
  local low, high = bound(op, "min", options.min), bound(op, "max", options.max)
  if low and high and low >= high then
    core.raise(("[%s] expected min below max, got %s and %s"):format(op, core.describe(low), core.describe(high)))
  end
  if type(options.colormap) ~= "string" then core.fail(op, "colormap = the name of a colour map", options.colormap) end
  if not kinds.is_floating(x) then x = x:astype "float32" end
  local is_finite = gpu.isfinite(x)
  low = low or gpu.where(is_finite, x, math.huge):min()
  high = high or gpu.where(is_finite, x, -math.huge):max()
  local place = gpu.where(gpu.gt(x, low):logical_and(gpu.lt(low, high)), ((x - low) / (high - low)):clip(0, 1), 0)
  local level = gpu.where(gpu.isnan(x), 256, (gpu.nan_to_num(place, 0) * 255 + 0.5)):astype "int32"
  return gpu.take(levels_of(options.colormap, x.device), level + 1, 1)
end

--- Refuses the options of colour maps where there is none.
function colors.check_unmapped(op, options)
  if options.colormap == nil and (options.min ~= nil or options.max ~= nil) then
    core.raise(("[%s] expected a colormap with min and max, got none"):format(op))
  end
end

--- A picture as rows of pixels of four bytes.
function colors.pixels(op, x, options)
  local shape = x.shape
  local channels = x.ndim == 3 and shape[3] or 1
  if x.ndim < 2 or x.ndim > 3 or x.ndim == 3 and channels ~= 3 and channels ~= 4 or x.size == 0 then
    core.fail(op, "pixels of shape (height,width), (height,width,3) or (height,width,4)", x)
  end
  colors.check_unmapped(op, options)
  if options.colormap ~= nil then
    if x.ndim == 3 then core.raise(("[%s] colormap: expected numbers of shape (height,width), got colours %s"):format(op,
      checks.shape_text(shape))) end
    return colors.mapped(op, x, options):contiguous()
  end
  local bytes = colors.bytes(op, x)
  if channels == 4 then return bytes:contiguous() end
  if channels == 1 then bytes = bytes:reshape(shape[1], shape[2], 1):broadcast_to(shape[1], shape[2], 3) end
  local opaque = gpu.full({shape[1], shape[2], 1}, 255, {dtype = "uint8", device = x.device})
  return gpu.concat({bytes, opaque}, 3)
end

return colors
