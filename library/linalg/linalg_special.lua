-- gpu.linalg: special matrices, lazily or as copies of their numbers.
-- In sandboxes: all
local gpu, _, core, import = ...
import "linalg_matrices"
local views = import "views"
local checks = import "checks"
local kinds = import "kinds"
local linalg = gpu.linalg

local function read_vector(op, x, least)
  checks.array(op, x)
  if x.ndim ~= 1 or x.size < (least or 1) then
    core.raise(("[%s] expected a vector of %d elements or more, got shape %s"):format(op, least or 1, checks.shape_text(x.shape)))
  end
  return x
end

local function read_size(op, n, least)
  if checks.integer(op, "a number of rows", n) < (least or 1) then core.fail(op, ("%d rows or more"):format(least or 1), n) end
  return n
end

--- Row and column numbers from 0, int64, and the place and dtype of a new matrix.
local function read_new(op, n, options)
  local dtype, device = core.options(op, options)
  return views.along(n, 1, 2, device), views.along(n, 2, 2, device), dtype or gpu.default_dtype(), device
end

--- gpu.linalg.circulant(column)
--- Each column is the one before, moved down by one.
function linalg.circulant(column)
  read_vector("linalg.circulant", column)
  local n = column.size
  return linalg.toeplitz(column, gpu.concat {views.slice(column, 1, 1, 1), views.slice(column, 1, 2, n - 1):flip(1)})
end

--- gpu.linalg.hankel(column [, row])
--- Equal elements along the other diagonals; zeros without a last row.
function linalg.hankel(column, row)
  local op = "linalg.hankel"
  read_vector(op, column)
  if row == nil then row = gpu.zeros_like(column) end
  read_vector(op, row)
  return gpu.concat({column, views.slice(row, 1, 2, row.size - 1)}):sliding_window(row.size):contiguous()
end

--- gpu.linalg.companion(coefficients)
--- The matrix whose eigenvalues are the polynomial's roots.
function linalg.companion(coefficients)
  local op = "linalg.companion"
  local a = read_vector(op, coefficients, 2)
  if not kinds.is_floating(a) and not kinds.is_complex(a) then a = core.cast(a, core.floating(a.dtype)) end
  local n = a.size - 1
  local first = -views.slice(a, 1, 2, n) / views.slice(a, 1, 1, 1)
  return gpu.concat({first:reshape(1, n), gpu.eye(n - 1, n, {dtype = a.dtype, device = a.device})}, 1)
end

--- gpu.linalg.convolution_matrix(a, n [, mode])
--- Its product with a vector of n elements is their convolution.
function linalg.convolution_matrix(a, n, mode)
  local op = "linalg.convolution_matrix"
  read_vector(op, a)
  read_size(op, n)
  mode = mode == nil and "full" or mode
  local m = a.size
  local column = views.extend(a, 1, n - 1)
  local row = views.extend(views.slice(a, 1, 1, 1), 1, n - 1)
  local full = linalg.toeplitz(column, row)
  if mode == "full" then return full end
  local less = math.min(n, m) - 1
  if mode == "same" then return views.slice(full, 1, math.floor(less / 2) + 1, m + n - 1 - less):contiguous() end
  if mode == "valid" then return views.slice(full, 1, less + 1, m + n - 1 - 2 * less):contiguous() end
  core.fail(op, 'mode = "full", "same" or "valid"', mode)
end

--- gpu.linalg.dft(n [, {scale, dtype, device}])
--- Its product with a vector is gpu.fft.fft of it.
function linalg.dft(n, options)
  local op = "linalg.dft"
  read_size(op, n)
  if type(options) == "string" then options = {dtype = options} end
  options = checks.fields(op, options)
  local scale = options.scale
  if scale ~= nil and scale ~= "sqrtn" and scale ~= "n" then core.fail(op, 'scale = "sqrtn" or "n"', scale) end
  local rows, columns, dtype = read_new(op, n, {dtype = options.dtype or "complex64", device = options.device})
  if dtype ~= "complex64" and dtype ~= "complex128" then core.fail(op, 'dtype = "complex64" or "complex128"', dtype) end
  local angle = core.cast(rows * columns % n, "float64") * (-2 * math.pi / n)
  local factor = scale == "sqrtn" and 1 / math.sqrt(n) or scale == "n" and 1 / n or 1
  return core.cast((gpu.cos(angle) + gpu.sin(angle) * gpu.complex(0, 1)) * factor, dtype)
end

--- gpu.linalg.fiedler(a)
--- The magnitudes of the differences of all elements.
function linalg.fiedler(a)
  read_vector("linalg.fiedler", a)
  return (a:expand_dims(2) - a):abs()
end

--- gpu.linalg.hadamard(n [, {dtype, device}])
--- n is a power of 2 (J. J. Sylvester, 1867).
function linalg.hadamard(n, options)
  local op = "linalg.hadamard"
  read_size(op, n)
  if math.log(n) / math.log(2) % 1 > 1e-9 and 1 - math.log(n) / math.log(2) % 1 > 1e-9 then
    core.fail(op, "a power of 2 as the number of rows", n)
  end
  local rows, columns, dtype = read_new(op, n, options)
  return core.cast(1 - core.cast(rows:bitwise_and(columns):popcount() % 2, "int8") * 2, dtype)
end

--- gpu.linalg.helmert(n [, {full, dtype, device}])
--- Rows that are orthogonal to each other and, but for the first of the full matrix, to ones.
function linalg.helmert(n, options)
  local op = "linalg.helmert"
  read_size(op, n)
  if type(options) == "string" then options = {dtype = options} end
  options = checks.fields(op, options)
  local full = checks.flag(op, "full", options.full)
  local rows, columns, dtype = read_new(op, n, {dtype = options.dtype, device = options.device})
  local i = core.cast(rows, "float64")
  local value = gpu.where(columns:lt(rows), 1, gpu.where(columns:eq(rows), -i, 0)) / gpu.maximum(i * (i + 1), 1):sqrt()
  value = core.cast(gpu.where(rows:eq(0), 1 / math.sqrt(n), value), dtype)
  return full and value or views.slice(value, 1, 2, n - 1)
end

--- gpu.linalg.hilbert(n [, {dtype, device}])
--- 1 / (i + j - 1).
function linalg.hilbert(n, options)
  local op = "linalg.hilbert"
  read_size(op, n)
  local rows, columns, dtype = read_new(op, n, options)
  return core.cast(1 / core.cast(rows + columns + 1, "float64"), dtype)
end

--- gpu.linalg.leslie(fertilities, survivals)
--- Of a population in steps of age.
function linalg.leslie(fertilities, survivals)
  local op = "linalg.leslie"
  read_vector(op, fertilities)
  read_vector(op, survivals)
  local n = fertilities.size
  if survivals.size ~= n - 1 then
    core.raise(("[%s] expected one element less as the second vector, got shapes %s and %s"):format(op,
      checks.shape_text(fertilities.shape), checks.shape_text(survivals.shape)))
  end
  return gpu.concat({fertilities:reshape(1, n), views.extend(gpu.diag(survivals), 2, 1)}, 1)
end

--- gpu.linalg.khatri_rao(a, b)
--- The Kronecker product of each column of a with the same one of b.
function linalg.khatri_rao(a, b)
  local op = "linalg.khatri_rao"
  checks.array(op, a)
  checks.array(op, b)
  if a.ndim ~= 2 or b.ndim ~= 2 or a.shape[2] ~= b.shape[2] then
    core.raise(("[%s] expected matrices with as many columns, got shapes %s and %s"):format(op, checks.shape_text(a.shape),
      checks.shape_text(b.shape)))
  end
  return (a:expand_dims(2) * b):reshape(a.shape[1] * b.shape[1], a.shape[2])
end
