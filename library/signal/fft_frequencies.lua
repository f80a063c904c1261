-- gpu.fft: the frequencies of a transform's elements, and their order.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks = import "checks"
local fft_arguments = import("fft").arguments
local fft, check_length = gpu.fft, fft_arguments.check_length

--- The spacing, the dtype and the device of a function (n, spacing, options).
local function read_spacing(op, n, spacing, options)
  check_length(op, n)
  if type(spacing) == "table" or type(spacing) == "string" then spacing, options = checks.shift(op, spacing, options) end
  if spacing == nil then spacing = 1 end
  if type(spacing) ~= "number" or not (spacing > 0 and spacing < math.huge) then
    core.fail(op, "the spacing of the samples, a number above 0, which is 1 / fs", spacing)
  end
  local dtype, device = core.options(op, options)
  return spacing, dtype or gpu.default_dtype(), device
end

--- gpu.fft.fftfreq(n [, spacing] [, {dtype, device}])
function fft.fftfreq(n, spacing, options)
  local dtype, device
  spacing, dtype, device = read_spacing("fft.fftfreq", n, spacing, options)
  local k = core.positions({n}, 0, 1, "float64", {device = device})
  return core.cast(gpu.where(k:lt(math.ceil(n / 2)), k, k - n) * (1 / (n * spacing)), dtype)
end

--- gpu.fft.rfftfreq(n [, spacing] [, {dtype, device}])
function fft.rfftfreq(n, spacing, options)
  local dtype, device
  spacing, dtype, device = read_spacing("fft.rfftfreq", n, spacing, options)
  local k = core.positions({math.floor(n / 2) + 1}, 0, 1, "float64", {device = device})
  return core.cast(k * (1 / (n * spacing)), dtype)
end

local function shift(name, amount)
  local op = "fft." .. name
  fft[name] = function(x, axes)
    checks.array(op, x)
    axes = checks.axes(op, axes, x.ndim)
    if #axes == 0 then return x end
    local amounts = {}
    for i, axis in ipairs(axes) do amounts[i] = amount(x.shape[axis]) end
    return gpu.roll(x, amounts, axes)
  end
end
--- gpu.fft.fftshift, gpu.fft.ifftshift(x [, axes])
shift("fftshift", function(n) return math.floor(n / 2) end)
shift("ifftshift", function(n) return -math.floor(n / 2) end)
