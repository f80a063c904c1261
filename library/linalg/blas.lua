-- gpu.blas: the BLAS by its own names, over row-major arrays. Routines that read their operands once are expressions; products,
-- solutions and updates of matrices call the device's library.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks, records = import "checks", import "records"
local kinds = import "kinds"
local sum_of_products = import("products").sum_of_products

local blas = gpu.blas

-- ---- arguments --------------------------------------------------------------------------------------------------------------

local blas_dtypes = {float32 = true, float64 = true, complex64 = true, complex128 = true}

--- Checks an operand: `ndim` axes, and the dtype and device of `like`, if that is given. `halves`: takes 16-bit dtypes, too.
local function check(op, what, x, ndim, like, halves)
  checks.array(op, x)
  if x.ndim ~= ndim then
    core.raise(("[%s] expected %s %s, got shape %s"):format(op, ndim == 1 and "a vector" or ndim == 2 and "a matrix"
      or ("an array of %d axes"):format(ndim), what, checks.shape_text(x.shape)))
  end
  if not blas_dtypes[x.dtype] and not (halves and kinds.is_floating(x)) then
    local taken = (halves and "float16, bfloat16, " or "") .. "float32, float64, complex64 or complex128"
    core.raise(("[%s] expected %s as the dtype of %s, got %s; x:astype converts"):format(op, taken, what, x.dtype))
  end
  if like and x.dtype ~= like.dtype then
    core.raise(("[%s] expected operands of one dtype, got %s and %s; x:astype converts one"):format(op, like.dtype, x.dtype))
  end
  if like and x.device ~= like.device then
    core.raise(("[%s] expected operands on one device, got %s and %s; x:to(name) copies one over"):format(op, like.device,
      x.device))
  end
  return x
end

local function check_same_shape(op, x, y)
  if checks.shape_text(x.shape) ~= checks.shape_text(y.shape) then
    core.raise(("[%s] expected x and y of one shape, got %s and %s"):format(op, checks.shape_text(x.shape), checks.shape_text(y.shape)))
  end
end

--- An option that is one of the letters, the first if it is nil.
local function letter(op, name, value, letters)
  if value == nil then return letters:sub(1, 1) end
  if type(value) == "string" and #value == 1 and letters:find(value, 1, true) then return value end
  local list = letters:gsub(".", '"%0", '):gsub(', $', ""):gsub(', ("%a")$', " or %1")
  core.fail(op, ("%s = %s"):format(name, list), value)
end

local function trans(op, name, value) return letter(op, name, value, "NTC") end

--- A number or, for complex arrays, a complex number. `default`: in place of nil, where there is one.
local function factor(op, name, value, default, takes_complex)
  if value == nil and default ~= nil then return default end
  local is_complex = type(value) == "cdata" and tostring(value):find "i$" ~= nil
  if type(value) ~= "number" and not (is_complex and takes_complex) then
    core.fail(op, ("%s = %s"):format(name, takes_complex and "a number or a complex number" or "a number"), value)
  end
  return value
end

--- The shape of x with the last two axes exchanged for "T" and "C".
local function rows_and_columns(x, way)
  local rows, columns = x.shape[x.ndim - 1], x.shape[x.ndim]
  if way == "N" then return rows, columns end
  return columns, rows
end

--- op(x): a view, without the conjugation of "C".
local function arranged(x, way) return way == "N" and x or x:swapaxes(-1, -2) end

local function refuse_shapes(op, expected, x, y)
  core.raise(("[%s] expected %s, got %s and %s"):format(op, expected, checks.shape_text(x.shape), checks.shape_text(y.shape)))
end

--- alpha and beta of the options.
local function factors(op, options, like)
  local is_complex = kinds.is_complex(like)
  local alpha, beta = factor(op, "alpha", options.alpha, 1, is_complex), factor(op, "beta", options.beta, 0, is_complex)
  if beta ~= 0 and options.out == nil then core.raise(("[%s] expected out beside beta: what beta multiplies"):format(op)) end
  return alpha, beta
end

--- Calls run(c) for a row-major array c that shares no memory with the operands and, with `keeps`, holds the elements of `out`.
--- Returns `out`, or a new array if it is nil, with what run has written.
local function write(op, out, shape, keeps, operands, run)
  local like = operands[1]
  if out == nil then
    local result = gpu.empty(shape, {dtype = like.dtype, device = like.device})
    run(result)
    return result
  end
  check(op, "out", out, #shape, like, true)
  if checks.shape_text(out.shape) ~= checks.shape_text(shape) then
    core.raise(("[%s] expected out of shape %s, got %s"):format(op, checks.shape_text(shape), checks.shape_text(out.shape)))
  end
  local direct = core.is_row_major(out)
  for _, x in ipairs(operands) do direct = direct and not core.may_overlap(out, x) end
  if direct then
    run(out)
    return out
  end
  local result = keeps and out:copy() or gpu.empty(shape, {dtype = like.dtype, device = like.device})
  run(result)
  return out:copy_(result)
end

local shared = {arranged = arranged, check = check, factor = factor, factors = factors, letter = letter, refuse_shapes = refuse_shapes,
  rows_and_columns = rows_and_columns, trans = trans, write = write}

-- ---- vectors ----------------------------------------------------------------------------------------------------------------

local function two_vectors(op, x, y)
  check(op, "x", x, 1)
  check(op, "y", y, 1, x)
  check_same_shape(op, x, y)
end

--- gpu.blas.axpy(alpha, x, y)
function blas.axpy(alpha, x, y)
  if core.is_array(alpha) then core.fail("blas.axpy", "alpha, a number, before x and y", alpha) end
  two_vectors("blas.axpy", x, y)
  return y:add_(x * factor("blas.axpy", "alpha", alpha, nil, kinds.is_complex(x)))
end

--- gpu.blas.scal(alpha, x)
function blas.scal(alpha, x)
  check("blas.scal", "x", x, 1)
  return x:mul_(factor("blas.scal", "alpha", alpha, nil, kinds.is_complex(x)))
end

--- gpu.blas.copy(x, y)
function blas.copy(x, y)
  two_vectors("blas.copy", x, y)
  return y:copy_(x)
end

--- gpu.blas.swap(x, y)
function blas.swap(x, y)
  two_vectors("blas.swap", x, y)
  local before = x:copy()
  x:copy_(y)
  y:copy_(before)
  return x, y
end

--- gpu.blas.rot(x, y, c, s)
function blas.rot(x, y, c, s)
  two_vectors("blas.rot", x, y)
  c, s = factor("blas.rot", "c", c, nil, false), factor("blas.rot", "s", s, nil, kinds.is_complex(x))
  local below = type(s) == "cdata" and gpu.complex(s.re, -s.im) or s
  local new_x, new_y = x * c + y * s, y * c - x * below
  gpu.eval(new_x, new_y)
  x:copy_(new_x)
  y:copy_(new_y)
  return x, y
end

--- gpu.blas.dot(x, y)
function blas.dot(x, y)
  two_vectors("blas.dot", x, y)
  return sum_of_products(x, y)
end

local function magnitudes(x) return kinds.is_complex(x) and x:real():abs() + x:imag():abs() or x:abs() end

--- gpu.blas.asum(x)
function blas.asum(x) return magnitudes(check("blas.asum", "x", x, 1)):sum() end

--- gpu.blas.iamax(x)
function blas.iamax(x)
  if check("blas.iamax", "x", x, 1).size == 0 then core.fail("blas.iamax", "a vector with elements", x) end
  return magnitudes(x):argmax()
end

--- gpu.blas.nrm2(x)
--- Squares of float32 fit in float64; elements of float64 are divided by the greatest before they are squared.
function blas.nrm2(x)
  check("blas.nrm2", "x", x, 1)
  local size = x:abs()
  if size.dtype == "float32" then return size:astype("float64"):square():sum():sqrt():astype "float32" end
  if x.size == 0 then return size:sum() end
  local most = size:max()
  local unit = gpu.where(gpu.logical_and(most:gt(0), most:lt(math.huge)), most, 1)
  return (size / unit):square():sum():sqrt() * unit
end

-- ---- precision --------------------------------------------------------------------------------------------------------------

local faster = {float32 = "tf32", float64 = "emulated"}

--- gpu.blas.precision([{float32, float64}])
function blas.precision(choices)
  choices = checks.fields("blas.precision", choices)
  if next(choices) then checks.mode_change "blas.precision" end
  local allowed = {core.precision()}
  for i, dtype in ipairs {"float32", "float64"} do
    local choice = choices[dtype]
    if choice ~= nil and choice ~= "full" and choice ~= faster[dtype] then
      core.fail("blas.precision", ('%s = "full" or "%s"'):format(dtype, faster[dtype]), choice)
    end
    if choice ~= nil then allowed[i] = choice ~= "full" end
  end
  core.precision(allowed[1], allowed[2])
  local now = {float32 = allowed[1] and faster.float32 or "full", float64 = allowed[2] and faster.float64 or "full"}
  return records.seal(now, "blas.precision")
end

return shared
