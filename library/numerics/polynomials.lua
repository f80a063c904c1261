-- Polynomials as vectors of coefficients, the highest power's first, as gpu.polyval takes them.
-- In sandboxes: all
local gpu, _, core, import = ...
import "integrals"
local checks = import "checks"
local views = import "views"
local kinds = import "kinds"

--- A vector of coefficients; a table is float64, or complex128.
local function read(op, c, like)
  if not core.is_array(c) then
    if type(c) == "number" then c = {c} end
    if type(c) ~= "table" then core.fail(op, "coefficients: a vector or a table of numbers", c) end
    core.check_list(op, "numbers", c)
    c = gpu.array(c, {dtype = like and like.dtype or nil, device = like and like.device or nil})
  end
  if c.ndim == 0 then c = c:reshape(1) end
  if c.ndim ~= 1 or c.size == 0 then
    core.raise(("[%s] expected a vector of coefficients, got shape %s"):format(op, checks.shape_text(c.shape)))
  end
  return c
end

--- Two polynomials, as long as the longer one, with zeros in front of the other.
local function pair(op, a, b)
  a = read(op, a, core.is_array(b) and b or nil)
  b = read(op, b, a)
  local n = math.max(a.size, b.size)
  local function filled(c) return c.size < n and c:pad {{n - c.size, 0}} or c end
  return filled(a), filled(b)
end

--- gpu.polyadd(a, b)
--- polyadd(a, b), polysub(a, b)
function gpu.polyadd(a, b)
  a, b = pair("polyadd", a, b)
  return a + b
end
--- gpu.polysub(a, b)
function gpu.polysub(a, b)
  a, b = pair("polysub", a, b)
  return a - b
end

--- gpu.polymul(a, b)
function gpu.polymul(a, b)
  local op = "polymul"
  a = read(op, a, core.is_array(b) and b or nil)
  return gpu.convolve(a, read(op, b, a))
end

--- gpu.polydiv(a, b)
--- The quotient and the rest. On the host.
function gpu.polydiv(a, b)
  local op = "polydiv"
  a = read(op, a, core.is_array(b) and b or nil)
  b = read(op, b, a)
  if kinds.is_complex(a) or kinds.is_complex(b) then core.fail(op, "real coefficients", kinds.is_complex(a) and a or b) end
  local dtype = core.promote(core.floating(a.dtype), core.floating(b.dtype))
  local rest, divisor, quotient = core.cast(a, "float64"):table(), core.cast(b, "float64"):table(), {}
  if divisor[1] == 0 then core.fail(op, "a first coefficient of the divisor other than 0", b) end
  for k = 1, math.max(#rest - #divisor + 1, 0) do
    quotient[k] = rest[k] / divisor[1]
    for j = 1, #divisor do rest[k + j - 1] = rest[k + j - 1] - quotient[k] * divisor[j] end
    rest[k] = 0
  end
  local first = 1
  while first < #rest and math.abs(rest[first]) <= 1e-14 * math.abs(divisor[1]) do first = first + 1 end
  local place = {dtype = dtype, device = a.device}
  return gpu.array(#quotient > 0 and quotient or {0}, place), gpu.array({unpack(rest, first)}, place)
end

local most_times = 1000
local function check_times(op, m)
  if m == nil then return 1 end
  local what = ("a number of times from 0 to %d"):format(most_times)
  checks.count(op, what, m, 0, most_times)
  return m
end

--- The powers n - 1, ..., 0 in the coefficients' dtype.
local function powers(c, first)
  return core.cast(core.positions({c.size}, first, -1, "int64", {device = c.device}), kinds.is_complex(c) and "float64" or c.dtype)
end

--- gpu.polyder(c [, m])
--- The derivative of that order.
function gpu.polyder(c, m)
  local op = "polyder"
  c = read(op, c)
  for _ = 1, check_times(op, m) do
    if c.size == 1 then return c * 0 end
    c = core.cast(views.slice(c * powers(c, c.size - 1), 1, 1, c.size - 1), c.dtype)
  end
  return c
end

--- gpu.polyint(c [, m])
--- The integral, m times, with constants of 0.
function gpu.polyint(c, m)
  local op = "polyint"
  c = read(op, c)
  if not kinds.is_floating(c) and not kinds.is_complex(c) then c = core.cast(c, core.floating(c.dtype)) end
  for _ = 1, check_times(op, m) do c = core.cast(views.extend(c / powers(c, c.size), 1, 1), c.dtype) end
  return c
end

--- gpu.poly(roots)
--- The coefficients of the polynomial with these roots, or with the eigenvalues of a matrix. On the host.
function gpu.poly(roots)
  local op = "poly"
  local device
  if core.is_array(roots) then
    device = roots.device
    if roots.ndim == 2 then roots = gpu.linalg.eigvals(core.cast(roots, kinds.is_complex(roots) and "complex128" or "float64")) end
    if roots.ndim ~= 1 then
      core.raise(("[%s] expected roots, a vector, or a square matrix, got shape %s"):format(op, checks.shape_text(roots.shape)))
    end
    roots = core.cast(roots, "complex128"):table()
  end
  if type(roots) ~= "table" then core.fail(op, "roots: a vector or a table of numbers", roots) end
  local re, im, real = {1}, {0}, true
  local balance = 0
  for _, root in ipairs(roots) do
    local x, y = root, 0
    if type(root) == "cdata" then x, y = root.re, root.im end
    if type(x) ~= "number" then core.fail(op, "roots: a vector or a table of numbers", root) end
    balance, real = balance + y, real and y == 0
    re[#re + 1], im[#im + 1] = 0, 0
    for k = #re, 2, -1 do
      re[k], im[k] = re[k] - (x * re[k - 1] - y * im[k - 1]), im[k] - (x * im[k - 1] + y * re[k - 1])
    end
  end
  local place = {dtype = "float64", device = device}
  -- Roots in pairs of conjugates give real coefficients, to rounding.
  local most, rest = 0, 0
  for k = 1, #re do most, rest = math.max(most, math.abs(re[k])), math.max(rest, math.abs(im[k])) end
  if real or math.abs(balance) == 0 and rest <= 1e-13 * most then return gpu.array(re, place) end
  return gpu.array(re, place) + gpu.array(im, place) * gpu.complex(0, 1)
end
