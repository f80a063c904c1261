-- Windows for signals, lazily: NumPy's formulas, and SciPy's for periodic ones.
local gpu, methods, core = ...

--- Defines gpu.`name`(n, parameters..., {sym, dtype, device}). formula(k, last, parameters...): the values at the positions k, from
--- 0 to `last`.
local function define_window(name, parameters, formula)
  gpu[name] = function(n, ...)
    local arguments = {...}
    local options = arguments[parameters + 1]
    core.check_integer(name, "a number of elements of 0 or more", n)
    if n < 0 then core.fail(name, "a number of elements of 0 or more", n) end
    for i = 1, parameters do
      local value = arguments[i]
      if type(value) ~= "number" or value - value ~= 0 then core.fail(name, "beta, a finite number", value) end
    end
    if type(options) == "string" then options = {dtype = options} end
    options = core.check_fields(name, options)
    core.check_flag(name, "sym", options.sym)
    local dtype, device = core.options(name, {dtype = options.dtype, device = options.device})
    local place = {dtype = dtype or "float32", device = device}
    if n <= 1 then return gpu.ones({n}, place) end
    local last = options.sym == false and n or n - 1
    local k = core.positions({n}, 0, 1, "float64", {device = device})
    return core.cast(formula(k, last, unpack(arguments, 1, parameters)), place.dtype)
  end
end

--- A sum of cosines with these factors.
local function cosines(factors)
  return function(k, last)
    local value = factors[1]
    for i = 2, #factors do value = (k * (2 * math.pi * (i - 1) / last)):cos() * factors[i] + value end
    return value
  end
end

define_window("hann", 0, cosines {0.5, -0.5})
define_window("hamming", 0, cosines {0.54, -0.46})
define_window("blackman", 0, cosines {0.42, -0.5, 0.08})
define_window("bartlett", 0, function(k, last) return 1 - (k * (2 / last) - 1):abs() end)
define_window("kaiser", 1, function(k, last, beta)
  local root = gpu.maximum(1 - (k * (2 / last) - 1):square(), 0):sqrt()
  return gpu.i0(root * beta) / gpu.i0(gpu.full({1}, beta, {dtype = "float64", device = k.device}))
end)

--- The periodic window that an option asks for: a name, {"kaiser", beta}, or an array, in the dtype. `n`: its length.
function core.window(op, window, n, dtype, device)
  local names = {hann = true, hamming = true, blackman = true, bartlett = true}
  local expected = 'window = "boxcar", "hann", "hamming", "blackman", "bartlett", {"kaiser", beta} or a vector'
  local options = {sym = false, dtype = dtype, device = device}
  if core.is_array(window) then
    if window.ndim ~= 1 or window.size == 0 or core.is_complex(window) then core.fail(op, expected, window) end
    return core.cast(window, dtype)
  end
  if window == "boxcar" then return gpu.ones({n}, {dtype = dtype, device = device}) end
  if type(window) == "table" and window[1] == "kaiser" and type(window[2]) == "number" and #window == 2 then
    return gpu.kaiser(n, window[2], options)
  end
  if type(window) ~= "string" or not names[window] then core.fail(op, expected, window) end
  return gpu[window](n, options)
end
