-- gpu.linalg: functions of matrices, by their eigenvalues, and the exponential.
-- In sandboxes: all
local gpu, _, core, import = ...
import "linalg_structured"
local checks = import "checks"
local kinds = import "kinds"
local linalg, tools = gpu.linalg, import "linalg"
local check_square, eye, fresh, transposed, working = tools.check_square, tools.eye, tools.fresh, tools.transposed, tools.working

local epsilon = {float32 = 2 ^ -23, float64 = 2 ^ -52}

local function adjoint(x) return kinds.is_complex(x) and transposed(x):conj() or transposed(x) end

--- The greatest magnitude, a number. Waits.
local function most(x) return x:detach():abs():max():item() end

--- fn of a symmetric, or Hermitian, matrix: of its eigenvalues, as complex numbers where fn needs them.
local function of_symmetric(op, a, dtype, fn)
  local w, v = tools.symmetric(op, a, {dtype = dtype}, true)
  local values = fn(w)
  checks.array(op, values)
  return (v * values:expand_dims(-2)):matmul(adjoint(v))
end

--- fn of any matrix with independent eigenvectors. They are dependent if the matrix that they give back has too large a relative error.
local function of_general(op, a, dtype, fn)
  local x = core.cast(a, dtype)
  local w, v = linalg.eig(x)
  local inverse = linalg.inv(v):eval()
  local function back(values) return (v * values:expand_dims(-2)):matmul(inverse) end
  local error, size = most(back(w) - x), most(x)
  -- Rounding errors grow with the condition of the eigenvectors.
  local limit = 1e4 * a.shape[a.ndim] * epsilon[tools.real_of(dtype)]
  if not (error <= limit * size) then
    core.raise(("[%s] expected a matrix with independent eigenvectors, got one that its eigenvectors reproduce with an error of %.1g"):format(op,
      error / size))
  end
  local values = checks.array(op, fn(w))
  local result = back(values):eval()
  if kinds.is_complex(x) then return core.cast(result, dtype) end
  -- The result for a real matrix is real if its imaginary part is a rounding error.
  local imaginary, whole = most(result:imag()), most(result)
  if imaginary <= limit * whole then return core.cast(result:real(), dtype) end
  return core.cast(result, core.promote(dtype, "complex64"))
end

local function apply(op, a, fn, real_fn, options)
  options = checks.fields(op, options)
  check_square(op, a)
  local dtype = working(op, options, a)
  if a.size == 0 then return core.cast(a:copy(), dtype) end
  if checks.flag(op, "hermitian", options.hermitian) then return of_symmetric(op, a, dtype, real_fn or fn) end
  return of_general(op, a, dtype, fn)
end

--- gpu.linalg.funm(a, fn [, {hermitian, dtype}])
--- The matrix with a's eigenvectors and fn of its eigenvalues.
function linalg.funm(a, fn, options)
  local op = "linalg.funm"
  if type(fn) ~= "function" then core.fail(op, "a function of the eigenvalues, an array", fn) end
  for name, of_numbers in pairs(math) do
    if fn == of_numbers then core.fail(op, ("a function of the eigenvalues, an array, as gpu.%s, not math.%s"):format(name, name), fn) end
  end
  return apply(op, a, fn, nil, options)
end

--- Eigenvalues of a Hermitian matrix that are 0 to rounding count as 0: their roots would be far greater.
local function root(w)
  local least = w:abs():max(-1, {keepdims = true}) * (w.shape[w.ndim] * epsilon[w.dtype])
  return gpu.where(w:abs():le(least), 0, w):sqrt()
end

--- gpu.linalg.sqrtm(a [, {hermitian, dtype}])
--- The principal square root.
function linalg.sqrtm(a, options) return apply("linalg.sqrtm", a, gpu.sqrt, root, options) end
--- gpu.linalg.logm(a [, {hermitian, dtype}])
--- The principal logarithm.
function linalg.logm(a, options) return apply("linalg.logm", a, gpu.log, gpu.log, options) end

-- ---- the exponential ------------------------------------------------------------------------------------------------------------

-- The coefficients of the Padé approximant of degree 13, and the 1-norm up to which it is exact to float64 (Higham, "The scaling
-- and squaring method for the matrix exponential revisited", 2005).
local pade = {64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
  670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1}
local pade_limit = 5.371920351148152

--- gpu.linalg.expm(a [, {dtype, out}])
--- Each matrix is divided by its own power of 2, and then squared as often as that requires. A batch takes as many rounds as the
--- matrix with the most squarings; matrices that need no more stay unchanged.
function linalg.expm(a, options)
  local op = "linalg.expm"
  options = checks.fields(op, options)
  check_square(op, a)
  local dtype = working(op, options, a)
  if a.size == 0 then return core.assign(op, options.out, fresh(a, dtype)) end
  local x = core.cast(a, dtype)
  local norms = gpu.norm(x, 1, {-2, -1}, {keepdims = true})
  local times = gpu.maximum((norms / pade_limit):log2():ceil(), 0)
  local most = times:max():item()
  if most ~= most or most == math.huge then core.raise(("[%s] expected finite elements, got infinities or NaN"):format(op)) end
  x = x * gpu.exp2(-times)
  local x2 = x:matmul(x):eval()
  local x4 = x2:matmul(x2)
  local x6 = x4:matmul(x2)
  local one = eye(a.shape[a.ndim], dtype, a)
  local odd = x:matmul(x6:matmul(x6 * pade[14] + x4 * pade[12] + x2 * pade[10]) + x6 * pade[8] + x4 * pade[6] + x2 * pade[4]
    + one * pade[2])
  local even = x6:matmul(x6 * pade[13] + x4 * pade[11] + x2 * pade[9]) + x6 * pade[7] + x4 * pade[5] + x2 * pade[3] + one * pade[1]
  local result = linalg.solve(even - odd, even + odd)
  for step = 1, most do
    local square = result:matmul(result)
    result = a.ndim == 2 and square or gpu.where(times:ge(step), square, result):eval()
  end
  return core.assign(op, options.out, result)
end
