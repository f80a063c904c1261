-- Windows for signals, lazily: NumPy's formulas, and SciPy's for periodic ones.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local kinds = import "kinds"

local exports = {}

--- Defines gpu.`name`(n, parameters..., {sym, dtype, device}). formula(k, last, parameters...): the values at the positions k, from
--- 0 to `last`.
local function define_window(name, parameters, formula)
  gpu[name] = function(n, ...)
    local arguments = {...}
    local options = arguments[parameters + 1]
    checks.integer(name, "a number of elements of 0 or more", n)
    if n < 0 then core.fail(name, "a number of elements of 0 or more", n) end
    for i = 1, parameters do
      local value = arguments[i]
      if type(value) ~= "number" or value - value ~= 0 then core.fail(name, "beta, a finite number", value) end
    end
    if type(options) == "string" then options = {dtype = options} end
    options = checks.fields(name, options)
    checks.flag(name, "sym", options.sym)
    local dtype, device = core.options(name, {dtype = options.dtype, device = options.device})
    local place = {dtype = dtype or gpu.default_dtype(), device = device}
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

--- gpu.hann(n [, {sym, dtype, device}])
define_window("hann", 0, cosines {0.5, -0.5})
--- gpu.hamming(n [, {sym, dtype, device}])
define_window("hamming", 0, cosines {0.54, -0.46})
--- gpu.blackman(n [, {sym, dtype, device}])
define_window("blackman", 0, cosines {0.42, -0.5, 0.08})
--- gpu.bartlett(n [, {sym, dtype, device}])
define_window("bartlett", 0, function(k, last) return 1 - (k * (2 / last) - 1):abs() end)
--- gpu.kaiser(n, beta [, {sym, dtype, device}])
define_window("kaiser", 1, function(k, last, beta)
  local root = gpu.maximum(1 - (k * (2 / last) - 1):square(), 0):sqrt()
  return gpu.i0(root * beta) / gpu.i0(gpu.full({1}, beta, {dtype = "float64", device = k.device}))
end)

--- What SciPy's other windows are at the positions k, from 0 to `last`; the parameters and their defaults.
local more = {
  blackmanharris = {cosines {0.35875, -0.48829, 0.14128, -0.01168}},
  nuttall = {cosines {0.3635819, -0.4891775, 0.1365995, -0.0106411}},
  flattop = {cosines {0.21557895, -0.41663158, 0.277263158, -0.083578947, 0.006947368}},
  cosine = {function(k, last) return ((k + 0.5) * (math.pi / (last + 1))):sin() end},
  triang = {function(k, last)
    local n = last + 1
    local at = gpu.minimum(k, last - k) + 1
    return n % 2 == 0 and (2 * at - 1) / n or 2 * at / (n + 1)
  end},
  bohman = {function(k, last)
    local x = (k * (2 / last) - 1):abs()
    local value = (1 - x) * (x * math.pi):cos() + (x * math.pi):sin() / math.pi
    return gpu.where(k:eq(0):logical_or(k:eq(last)), 0, value)
  end},
  parzen = {function(k, last)
    local away = (k - last / 2):abs()
    local x = away * (2 / (last + 1))
    return gpu.where(away:le(last / 4), 1 - x:square() * (1 - x) * 6, (1 - x) ^ 3 * 2)
  end},
  lanczos = {function(k, last) return (k * (2 / last) - 1):sinc() end},
  gaussian = {function(k, last, deviation) return (((k - last / 2) / deviation):square() * -0.5):exp() end, "a deviation"},
  exponential = {function(k, last, tau) return ((k - last / 2):abs() / -tau):exp() end, "a decay", 1},
  tukey = {function(k, last, alpha)
    if alpha <= 0 then return k * 0 + 1 end
    local at = gpu.minimum(k, last - k) / (math.min(alpha, 1) * last / 2)
    return gpu.where(at:lt(1), 0.5 - 0.5 * (at * math.pi):cos(), 1)
  end, "the tapered part", 0.5},
  general_hamming = {function(k, last, alpha) return alpha - (k * (2 * math.pi / last)):cos() * (1 - alpha) end, "alpha"},
}

local function known_windows()
  local list = {"boxcar", "hann", "hamming", "blackman", "bartlett"}
  local others = {}
  for name in pairs(more) do others[#others + 1] = name end
  table.sort(others)
  for _, name in ipairs(others) do list[#list + 1] = name end
  return list
end

--- The window that an option asks for: a name, a name with a parameter, such as {"kaiser", beta}, or an array, in the dtype. `n`: its
--- length. Periodic, or symmetric with `sym`.
function exports.make_window(op, window, n, dtype, device, sym)
  local elsewhere = {hanning = "hann", rectangular = "boxcar", rect = "boxcar", boxcar = "boxcar", triangular = "triang"}
  local function refuse()
    local named = type(window) == "string" and elsewhere[window:lower()] or nil
    if named then core.raise(("[%s] expected a window's name, got %q; %q is its name here"):format(op, window, named)) end
    core.fail(op, 'window = "' .. table.concat(known_windows(), '", "') .. '", {"kaiser", beta} or a vector', window)
  end
  local options = {sym = sym == true, dtype = dtype, device = device}
  if core.is_array(window) then
    if window.ndim ~= 1 or window.size == 0 or kinds.is_complex(window) then refuse() end
    return core.cast(window, dtype)
  end
  local name, parameter = window, nil
  if type(window) == "table" then
    if #window > 2 or #window == 0 then refuse() end
    name, parameter = window[1], window[2]
    if parameter ~= nil and type(parameter) ~= "number" then refuse() end
  end
  local row = more[name]
  if name == "kaiser" and parameter then return gpu.kaiser(n, parameter, options) end
  if name == "boxcar" or name == "hann" or name == "hamming" or name == "blackman" or name == "bartlett" then
    if parameter then refuse() end
    if name == "boxcar" then return gpu.ones({n}, {dtype = dtype, device = device}) end
    return gpu[name](n, options)
  end
  if not row then refuse() end
  if row[2] and not (parameter or row[3]) then core.fail(op, ("%s after the name, {%q, number}"):format(row[2], name), window) end
  if parameter and not row[2] then refuse() end
  if n <= 1 then return gpu.ones({n}, {dtype = dtype, device = device}) end
  local last = sym and n - 1 or n
  local k = core.positions({n}, 0, 1, "float64", {device = device})
  return core.cast(row[1](k, last, parameter or row[3]), dtype)
end

return exports
