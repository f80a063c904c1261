-- The samples of derivatives.txt, and how their derivatives are checked.
local gpu = require "gpu"

local i = gpu.complex(0, 1)
local order = gpu.device().kind == "cpu" and 2 or 1 -- second derivatives need many kernels, which NVRTC compiles for long

local function conj(x) return x.dtype:find "complex" and x:conj() or x end

-- Arrays by their shapes and seeds.
local drawn = {}
local function normal(seed, ...)
  local key = table.concat({seed, ...}, ",")
  if not drawn[key] then
    gpu.random.seed(seed)
    drawn[key] = gpu.random.normal({...}, 0, 1, "float64"):eval()
  end
  return drawn[key]
end

local function vector(...) return gpu.array({...}, {dtype = "int64"}) end

-- ---- what the expressions use ---------------------------------------------------------------------------------------------------

local tools = setmetatable({gpu = gpu, linalg = gpu.linalg, fft = gpu.fft}, {__index = _G})

--- Constant arrays.
function tools.n(...) return normal(5, ...) end
--- The x of that shape, as a constant.
function tools.start(...) return normal(7, ...) end
function tools.eye(n) return gpu.eye(n, {dtype = "float64"}) end
function tools.symmetric(x) return x + x.T end
function tools.hermitian(x) return x + conj(x):swapaxes(-1, -2) end
--- Positive definite matrices.
function tools.positive(x) return gpu.matmul(x, conj(x):swapaxes(-1, -2)) + 2 * tools.eye(x.shape[x.ndim]) end
--- Elements that are so far apart that no difference exchanges two.
function tools.apart(x)
  local k = gpu.arange(x.size, {dtype = "float64"})
  return x * 0.01 + ((k * 7 + 3) % x.size - x.size / 2 + 0.3):reshape(x.shape)
end
--- Eigenvalues, and what does not depend on the phases of vectors.
function tools.phased(w, v) return w, v * v:conj()(1, ":") end
function tools.product_of_svd(u, s, v) return (u * gpu.exp(-s):expand_dims(-2)):matmul(v), s end
--- The same random numbers at each call.
function tools.seeded(f, x)
  local state = gpu.random.state()
  gpu.random.seed(1)
  local y = f(x)
  gpu.random.set_state(state)
  return y
end
--- Three rows of two nonzeros; those of `strong` and small ones make an invertible matrix.
function tools.sparse(x) return gpu.sparse.csr(x, vector(1, 2, 2, 3, 1, 3), vector(1, 3, 5, 7), {3, 3}) end
tools.strong = gpu.array({4, 0, 4, 0, 0, 4}, "float64")

-- ---- the table ------------------------------------------------------------------------------------------------------------------

local file = debug.getinfo(1, "S").source:match "^@(.*/)" .. "derivatives.txt"

local samples, kinds, checks = {}, {}, {}
for line in io.lines(file) do
  local kind, names = line:match "^(%S+) (%a+[.:].*)$"
  if kind == "row" or kind == "-" then
    for name in names:gmatch "%S+" do kinds[name] = kind end
  elseif not line:find "^#" then
    local name, kind, shape, text = line:match "^(%S+)%s+(%S+)%s+([%d,]+)%s+(.*)$"
    local extents = {}
    for extent in shape:gmatch "%d+" do extents[#extents + 1] = tonumber(extent) end
    local f = setfenv(assert(loadstring("local x = ... return " .. text)), tools)
    kinds[name], samples[#samples + 1] = kind, {name = name, kind = kind, shape = extents, f = f, text = text}
  end
end

--- Calls check(sample) for those of the kind whose names the pattern finds, and fails with all that went wrong.
function checks.each(kind, pattern, check)
  local count, wrong = 0, {}
  for _, sample in ipairs(samples) do
    if sample.kind:find("^" .. kind) and sample.name:find(pattern) then
      count = count + 1
      local ok, message = pcall(check, sample)
      if not ok then wrong[#wrong + 1] = ("%s, %s: %s"):format(sample.name, sample.text, tostring(message)) end
    end
  end
  assert(count > 0)
  assert(#wrong == 0, table.concat(wrong, "\n"))
end

--- The floating and complex arrays among values, and in tables of them.
local function arrays_of(list, ...)
  for k = 1, select("#", ...) do
    local value = select(k, ...)
    if type(value) == "table" then
      local keys = {}
      for key in pairs(value) do keys[#keys + 1] = key end
      table.sort(keys, function(a, b) return tostring(a) < tostring(b) end)
      for _, key in ipairs(keys) do arrays_of(list, rawget(value, key)) end
    elseif type(value) == "userdata" and not gpu.sparse.issparse(value) and value.size > 0 and 
      (value.dtype:find "float" or value.dtype:find "complex") then
      list[#list + 1] = value
    end
  end
  return list
end

--- One real number of the sample's results: their sums with fixed weights.
function checks.total(sample, x, is_complex)
  local sum = 0
  for k, y in ipairs(arrays_of({}, sample.f(is_complex and x(1) + i * x(2) or x))) do
    local w = normal(10 + k, unpack(y.shape))
    if y.dtype:find "complex" then
      sum = sum + y:real():mul(w):sum() + y:imag():mul(normal(20 + k, unpack(y.shape))):sum()
    else
      sum = sum + (y * w):sum()
    end
  end
  return sum
end

local function check_derivative(sample, is_complex)
  local shape = {unpack(sample.shape)}
  if is_complex then table.insert(shape, 1, 2) end
  local x = normal(7, unpack(shape))
  local function f(z) return checks.total(sample, z, is_complex) end
  local value, found = f(x):item(), gpu.value_and_grad(f)(x):item()
  assert(math.abs(value - found) <= 1e-10 * math.max(1, math.abs(value)), ("%g beside %g outside"):format(found, value))
  local worst = gpu.check_grad(f, x, {order = sample.kind:find "2" and order or 1, directions = 1})
  assert(worst < 1e-6, ("an error of %g"):format(worst))
end

--- The derivative against differences.
function checks.differences(sample)
  check_derivative(sample, false)
  if sample.kind:find "z" then check_derivative(sample, true) end
end

--- The map of derivatives against the one of tangents: <J v, w> = <v, J' w>.
function checks.adjoint(sample)
  if sample.kind:find "1" or order == 1 and not sample.kind:find "2" then return end
  local x = normal(7, unpack(sample.shape))
  local function f(z) return arrays_of({}, sample.f(z))[1] end
  local y, pull = gpu.vjp(f, x)
  local v, w = normal(8, unpack(sample.shape)), normal(9, unpack(y.shape))
  if y.dtype:find "complex" then w = w + i * normal(10, unpack(y.shape)) end
  local _, dy = gpu.jvp(f, {x}, {v})
  local forward, backward = conj(w) * dy, v * pull(w)
  if forward.dtype:find "complex" then forward = forward:real() end
  local size = math.max(1, forward:abs():sum():item(), backward:abs():sum():item())
  local gap = math.abs(forward:sum():item() - backward:sum():item()) / size
  assert(gap < 1e-12, ("a gap of %g"):format(gap))
end

checks.kinds, checks.normal = kinds, normal

return checks
