-- Views of arrays, and orders and positions along their axes.
local gpu, _, core = ...

local views = {}

--- A view of `count` elements of the axis, from position `first` on.
function views.slice(x, axis, first, count)
  local specs = {}
  for i = 1, axis - 1 do specs[i] = ":" end
  specs[axis] = count > 0 and {first, first + count - 1} or {2, 1}
  return x(unpack(specs, 1, axis))
end

--- A view of the elements at one position of the axis, without the axis.
function views.pick(x, axis, position)
  local specs = {}
  for i = 1, axis - 1 do specs[i] = ":" end
  specs[axis] = position
  return x(unpack(specs, 1, axis))
end

--- All axes of x, with those of `axes` last.
function views.last_axes(x, axes)
  local moved, order = {}, {}
  for _, axis in ipairs(axes) do moved[axis] = true end
  for axis = 1, x.ndim do
    if not moved[axis] then order[#order + 1] = axis end
  end
  for _, axis in ipairs(axes) do order[#order + 1] = axis end
  return order
end

--- x followed by `count` zeros along the axis. Lazy.
function views.extend(x, axis, count)
  if count == 0 then return x end
  local widths = {}
  for i = 1, x.ndim do widths[i] = {0, i == axis and count or 0} end
  return gpu.pad(x, widths)
end

--- The positions 0, 1, ... along one axis, as an int64 array of `ndim` axes whose other axes have size 1. Lazy.
function views.along(count, axis, ndim, device, first)
  local shape = {}
  for i = 1, ndim do shape[i] = i == axis and count or 1 end
  return core.positions(shape, first or 0, 1, "int64", {device = device})
end

return views
