-- gpu.linalg: systems of equations. The solver takes matrices in columns, so most functions give it a copy of the transpose.
-- In sandboxes: all
local gpu, methods, core, import = ...
local blas = import "blas"
local checks = import "checks"
local views = import "views"

local linalg = gpu.linalg

-- ---- arguments --------------------------------------------------------------------------------------------------------------

local solved = {float32 = true, float64 = true, complex64 = true, complex128 = true}
local dtype_list = "float32, float64, complex64 or complex128"
local real = {complex64 = "float32", complex128 = "float64"}

--- Advice for a vector that has a square matrix's number of elements.
local function square_side(x)
  local side = math.sqrt(x.size)
  return x.ndim == 1 and side % 1 == 0 and side > 1 and ("; a:reshape(%d, %d) makes one of its elements"):format(side, side) or ""
end

--- Checks matrices: the last two axes of x; `is_square`: what messages say.
local function check_matrices(op, x, is_square)
  checks.array(op, x)
  if x.ndim < 2 then
    local axes = is_square and "n,n" or "m,n"
    core.raise(("[%s] expected a %smatrix (%s), or a batch of them (...,%s), got %s %s%s"):format(op, is_square and "square " or "", axes, axes,
      x.ndim == 1 and "a vector" or "one number", checks.shape_text(x.shape), is_square and square_side(x) or ""))
  end
  return x
end

--- Checks the matrix and the right sides of equations.
local function check_equations(op, a, b)
  if core.is_array(a) and a.ndim == 1 and core.is_array(b) and b.ndim > 1 then
    core.raise(("[%s] expected the matrix first, gpu.%s(a, b), got a vector before it"):format(op, op))
  end
end

local instead_of_square = {
  ["linalg.solve"] = "; gpu.linalg.lstsq(a, b) gives the least-squares solution",
  ["linalg.inv"] = "; gpu.linalg.pinv(a) is the pseudo-inverse",
  ["linalg.eig"] = "; gpu.linalg.svd(a) decomposes other matrices",
  ["linalg.eigh"] = "; gpu.linalg.svd(a) decomposes other matrices",
}

local function check_square(op, x)
  check_matrices(op, x, true)
  if x.shape[x.ndim] ~= x.shape[x.ndim - 1] then
    core.raise(("[%s] expected a square matrix (n,n), or a batch of them (...,n,n), got shape %s%s"):format(op, checks.shape_text(x.shape),
      instead_of_square[op] or ""))
  end
  return x
end

local function refuse_shapes(op, expected, a, b, advice)
  core.raise(("[%s] expected %s, got %s and %s%s"):format(op, expected, checks.shape_text(a.shape), checks.shape_text(b.shape), advice or ""))
end

--- The dtype in which the solver works: the option, or that of the arrays, where integers and bool become the default dtype.
local function working(op, options, ...)
  local dtype
  for _, x in ipairs {...} do
    local own = x.dtype
    if own == "float16" or own == "bfloat16" then
      core.raise(("[%s] expected %s, got %s; x:astype(\"float32\") converts"):format(op, dtype_list, own))
    end
    if not solved[own] then own = core.floating(own) end
    dtype = dtype and core.promote(dtype, own) or own
  end
  local wanted = options.dtype
  if wanted == nil then return dtype end
  if type(wanted) ~= "string" or not solved[core.promote(wanted, wanted)] then core.fail(op, "dtype = " .. dtype_list, wanted) end
  wanted = core.promote(wanted, wanted)
  if real[dtype] and not real[wanted] then core.fail(op, "a complex dtype for complex numbers", wanted) end
  return wanted
end

local function real_of(dtype) return real[dtype] or dtype end

--- The extents of the axes before the last `own` ones.
local function batch_of(x, own)
  local batch = {}
  for axis = 1, x.ndim - (own or 2) do batch[axis] = x.shape[axis] end
  return batch
end

--- A shape: the batch, followed by the extents.
local function shaped(batch, ...)
  local shape = {unpack(batch)}
  for _, extent in ipairs {...} do shape[#shape + 1] = extent end
  return shape
end

--- The batch to which those of a and b broadcast.
local function common_batch(op, a, b)
  local first, second = batch_of(a), batch_of(b)
  local common = {}
  local axes = math.max(#first, #second)
  for axis = 1, axes do
    local x, y = first[axis - axes + #first] or 1, second[axis - axes + #second] or 1
    if x ~= y and x ~= 1 and y ~= 1 then refuse_shapes(op, "leading axes that broadcast", a, b) end
    common[axis] = x == 1 and y or x
  end
  return common
end

local function transposed(x) return x:swapaxes(-1, -2) end

--- A row-major copy of x, broadcast to the shape.
local function fresh(x, dtype, shape)
  return gpu.empty(shape or x.shape, {dtype = dtype, device = x.device}):copy_(x)
end

--- Copies of matrices as the solver takes them: in columns.
local function in_columns(x, dtype, batch)
  return fresh(transposed(x), dtype, shaped(batch or batch_of(x), x.shape[x.ndim], x.shape[x.ndim - 1]))
end

--- One of the letters, the first if it is nil.
local function letter(op, name, value, letters) return blas.letter(op, name, value, letters) end

local function eye(n, dtype, x) return gpu.eye(n, {dtype = dtype, device = x.device}) end

local shared = {batch_of = batch_of, check_equations = check_equations, check_matrices = check_matrices, check_square = check_square, common_batch = common_batch,
  eye = eye, fresh = fresh, in_columns = in_columns, letter = letter, real_of = real_of, refuse_shapes = refuse_shapes,
  shaped = shaped, transposed = transposed, working = working}

-- ---- LU ---------------------------------------------------------------------------------------------------------------------

--- Runs `decompose`, which changes the matrices, for a solver that may take NaN for 0. Matrices that had an element that is not
--- finite become NaN.
local function keeping_nan(matrices, decompose)
  if core.solver_checks_finite(matrices) then return decompose() end
  local finite = matrices:isfinite():all({-2, -1}, {keepdims = true}):eval()
  local info, pivots = decompose()
  matrices:copy_(gpu.where(finite, matrices, 0 / 0))
  return info, pivots
end
shared.keeping_nan = keeping_nan

local function same(x) return x end

--- Matrices for a solver that must not get elements that are not finite: matrices that have some are replaced by zeros. `read` gives
--- the elements that the solver reads; nil: all. Also returns a function that sets the solver's info of these matrices to -1.
function shared.only_finite(a, read)
  if core.solver_checks_finite(a) then return a, same end
  local ok = (read or same)(a):isfinite():all {-2, -1}
  return gpu.where(ok:reshape(shaped(batch_of(a), 1, 1)), a, 0):astype(a.dtype), function(info)
    return gpu.where(ok:ravel(), info, -1):astype "int32"
  end
end

--- Factors matrices, in columns, in place. Returns the solver's info and the pivots (..., k).
local function factorise(columns)
  local batch, k = batch_of(columns), math.min(columns.shape[columns.ndim], columns.shape[columns.ndim - 1])
  local info, pivots = keeping_nan(columns, function() return core.decompose {routine = "lu", a = columns} end)
  return info, pivots:reshape(shaped(batch, k))
end

--- Solves in place for the matrices x, in columns.
local function solve_factorised(op, columns, info, pivots, x)
  if columns.ndim == 2 and x.ndim > 2 then x = x:reshape(-1, x.shape[x.ndim]) end -- one matrix, with all right-hand sides
  core.decompose {routine = "lu_solve", a = columns, b = x, pivots = pivots:ravel()}
  core.check_decomposition(op, "singular", info, nil, {x})
end

--- Right-hand sides as matrices, where a vector becomes a column, and whether b was a vector.
local function right_sides(op, a, b)
  checks.array(op, b)
  local is_vector = b.ndim == 1
  if b.ndim == 0 or b.shape[is_vector and 1 or b.ndim - 1] ~= a.shape[a.ndim] then
    local is_row = b.ndim > 1 and b.shape[b.ndim] == a.shape[a.ndim]
    refuse_shapes(op, "(...,n,n) and (n,) or (...,n,k)", a, b, is_row and "; b:expand_dims(-1) makes columns of b's vectors")
  end
  return is_vector and b:expand_dims(2) or b, is_vector
end

--- The solutions, which are in columns, in the shape of right_sides.
local function from_columns(x, is_vector)
  if is_vector then return x:squeeze(-2) end
  return transposed(x):contiguous()
end

--- Row-major matrices of the dtype: x itself, if it is that.
local function in_rows(x, dtype) return core.cast(x, dtype):contiguous() end

--- True for matrices that our own kernels take.
local function is_small(x) return x.size > 0 and core.takes_small(x) end

--- The solutions for many small matrices, or nil. One matrix, or one set of right-hand sides, may go with a whole batch.
local function solve_small(op, a, sides, dtype, batch)
  local shape = shaped(batch, sides.shape[sides.ndim - 1], sides.shape[sides.ndim])
  local function with_batch(x)
    local own = batch_of(x)
    local matches = #own == 0 or checks.shape_text(own) == checks.shape_text(batch)
    return matches and x or core.broadcast(x, shaped(batch, x.shape[x.ndim - 1], x.shape[x.ndim]))
  end
  if a.size == 0 or sides.size == 0 or not core.takes_small(with_batch(a)) then return nil end
  local x = gpu.empty(shape, {dtype = dtype, device = a.device})
  local info = core.solve_small(in_rows(with_batch(a), dtype), in_rows(with_batch(sides), dtype), x)
  core.check_decomposition(op, "singular", info, nil, {x})
  return x
end

--- gpu.linalg.solve(a, b [, {dtype, out}])
function linalg.solve(a, b, options)
  local op = "linalg.solve"
  options = checks.fields(op, options)
  check_equations(op, a, b)
  check_square(op, a)
  local sides, is_vector = right_sides(op, a, b)
  local dtype, batch = working(op, options, a, b), common_batch(op, a, sides)
  local small = solve_small(op, a, sides, dtype, batch)
  if small then return core.assign(op, options.out, is_vector and small:squeeze(-1) or small) end
  local x = in_columns(sides, dtype, batch)
  if x.size > 0 then
    local columns = in_columns(a, dtype, a.ndim > 2 and batch or nil)
    local info, pivots = factorise(columns)
    solve_factorised(op, columns, info, pivots, x)
  end
  return core.assign(op, options.out, from_columns(x, is_vector))
end

--- The inverses and the solver's info; a singular matrix is not an error yet. The transposed system is solved, so the solver's
--- columns are the rows of the inverse.
local function invert(a, dtype)
  if is_small(a) then
    local x = gpu.empty(a.shape, {dtype = dtype, device = a.device})
    return x, core.solve_small(in_rows(a, dtype), nil, x)
  end
  local columns, n = in_columns(a, dtype), a.shape[a.ndim]
  local x = fresh(eye(n, dtype, a), dtype, a.shape)
  local info, pivots = factorise(columns)
  core.decompose {routine = "lu_solve", a = columns, b = x, pivots = pivots:ravel(), transposed = true}
  return x, info
end
shared.invert = invert

--- gpu.linalg.inv(a [, {dtype, out}])
function linalg.inv(a, options)
  local op = "linalg.inv"
  options = checks.fields(op, options)
  check_square(op, a)
  local dtype = working(op, options, a)
  if a.size == 0 then return core.assign(op, options.out, fresh(a, dtype)) end
  local x, info = invert(a, dtype)
  core.check_decomposition(op, "singular", info, nil, {x})
  return core.assign(op, options.out, x)
end

--- The diagonals of U, and the sign of the exchanges of rows. A matrix without elements has a product of 1.
local function diagonals(op, a, options)
  check_square(op, a)
  local dtype = working(op, options, a)
  local columns, batch, n = in_columns(a, dtype), batch_of(a), a.shape[a.ndim]
  if columns.size == 0 then return gpu.zeros(shaped(batch, n), {dtype = dtype, device = a.device}), 1 end
  local _, pivots = factorise(columns)
  local exchanges = pivots:ne(gpu.range(1, n, {dtype = pivots.dtype, device = a.device})):sum(-1)
  return columns:diagonal(0, -2, -1), core.cast(1 - exchanges:fmod(2) * 2, real_of(dtype))
end

--- gpu.linalg.det(a [, {dtype, out}])
function linalg.det(a, options)
  options = checks.fields("linalg.det", options)
  check_square("linalg.det", a)
  if is_small(a) then
    local value = core.determinant_small(in_rows(a, working("linalg.det", options, a)))
    return core.assign("linalg.det", options.out, value)
  end
  local diagonal, sign = diagonals("linalg.det", a, options)
  return core.assign("linalg.det", options.out, diagonal:prod(-1) * sign)
end

--- gpu.linalg.slogdet(a [, {dtype}])
function linalg.slogdet(a, options)
  options = checks.fields("linalg.slogdet", options)
  local diagonal, sign = diagonals("linalg.slogdet", a, options)
  return diagonal:sign():prod(-1) * sign, diagonal:abs():log():sum(-1)
end

--- gpu.linalg.lu_factor(a [, {dtype}])
function linalg.lu_factor(a, options)
  local op = "linalg.lu_factor"
  options = checks.fields(op, options)
  check_matrices(op, a)
  local columns = in_columns(a, working(op, options, a))
  if columns.size == 0 then
    local k = math.min(a.shape[a.ndim], a.shape[a.ndim - 1])
    return transposed(columns), gpu.zeros(shaped(batch_of(a), k), {dtype = "int32", device = a.device})
  end
  local _, pivots = factorise(columns)
  return transposed(columns), core.cast(pivots, "int32")
end

--- The position of the first element that is true along the last axis, for each matrix of the batch; 0 where there is none.
local function first_true(condition, batch)
  local at = gpu.where(condition:any(-1), condition:argmax(-1), 0)
  return core.broadcast(core.cast(at, "int32"), batch):ravel()
end

shared.first_true, shared.in_rows, shared.is_small, shared.right_sides = first_true, in_rows, is_small, right_sides

--- gpu.linalg.lu_solve(lu, pivots, b [, {trans, dtype, out}])
function linalg.lu_solve(lu, pivots, b, options)
  local op = "linalg.lu_solve"
  options = checks.fields(op, options)
  check_square(op, lu)
  checks.array(op, pivots)
  local n = lu.shape[lu.ndim]
  if checks.shape_text(pivots.shape) ~= checks.shape_text(shaped(batch_of(lu), n)) or not pivots.dtype:find "int" then
    core.fail(op, "integer pivots of shape " .. checks.shape_text(shaped(batch_of(lu), n)), pivots)
  end
  local sides, is_vector = right_sides(op, lu, b)
  local way = letter(op, "trans", options.trans, "NTC")
  local dtype, batch = working(op, options, lu, b), common_batch(op, lu, sides)
  local x = in_columns(sides, dtype, batch)
  if x.size > 0 then
    local shape = shaped(batch, n, n)
    local columns = core.cast(core.broadcast(transposed(lu), shape), dtype):contiguous()
    local rows = core.broadcast(pivots, shaped(batch, n))
    core.decompose {routine = "lu_solve", a = columns, b = x, pivots = core.cast(rows:clip(1, n), "int32"):ravel(),
      transposed = way == "T", conjugated = way == "C"}
    core.check_decomposition(op, "pivot", first_true(gpu.logical_or(rows:lt(1), rows:gt(n)), batch), nil, {x})
    core.check_decomposition(op, "singular", first_true(columns:diagonal(0, -2, -1):eq(0), batch), nil, {x})
  end
  return core.assign(op, options.out, from_columns(x, is_vector))
end

--- gpu.linalg.lu(a [, {dtype}])
function linalg.lu(a, options)
  local op = "linalg.lu"
  options = checks.fields(op, options)
  local factors, pivots = linalg.lu_factor(check_matrices(op, a), {dtype = working(op, options, a)})
  local m, n = a.shape[a.ndim - 1], a.shape[a.ndim]
  local k = math.min(m, n)
  local rows = core.permutation(pivots:contiguous(), m)
  local order = core.positions({m, 1}, 1, 1, "int32", {device = a.device})
  local permutation = core.cast(rows:expand_dims(-2):eq(order), real_of(factors.dtype))
  local lower = gpu.tril(views.slice(factors, a.ndim, 1, k), -1) + gpu.eye(m, k, {dtype = factors.dtype, device = a.device})
  return permutation, lower, gpu.triu(views.slice(factors, a.ndim - 1, 1, k))
end

-- ---- tensors ------------------------------------------------------------------------------------------------------------------

local function volume(shape, first, last)
  local count = 1
  for axis = first, last do count = count * shape[axis] end
  return count
end

--- gpu.linalg.tensorsolve(a, b [, {axes, dtype, out}])
function linalg.tensorsolve(a, b, options)
  local op = "linalg.tensorsolve"
  options = checks.fields(op, options)
  checks.array(op, a)
  checks.array(op, b)
  for i, axis in ipairs(options.axes and checks.integers(op, "an axis", options.axes) or {}) do
    a = a:moveaxis(core.axis(op, axis, a.ndim) - i + 1, -1)
  end
  local unknowns = {}
  for axis = b.ndim + 1, a.ndim do unknowns[#unknowns + 1] = a.shape[axis] end
  if volume(a.shape, 1, math.min(b.ndim, a.ndim)) ~= b.size or volume(unknowns, 1, #unknowns) ~= b.size then
    refuse_shapes(op, "an a with b's axes first and b.size elements in its other axes", a, b)
  end
  local x = linalg.solve(a:reshape(b.size, b.size), b:reshape(b.size), {dtype = options.dtype})
  return core.assign(op, options.out, x:reshape(unknowns))
end

--- gpu.linalg.tensorinv(a [, axes] [, {axes, dtype, out}])
function linalg.tensorinv(a, axes, options)
  local op = "linalg.tensorinv"
  if checks.is_options(axes) then axes, options = checks.shift(op, axes, options) end
  options = checks.fields(op, options)
  checks.array(op, a)
  axes = checks.integer(op, "a number of axes", axes or options.axes or 2)
  if axes < 1 or axes > a.ndim then core.fail(op, ("a number of axes from 1 to %d"):format(a.ndim), axes) end
  local shape = {}
  for axis = axes + 1, a.ndim do shape[#shape + 1] = a.shape[axis] end
  local count = volume(shape, 1, #shape)
  for axis = 1, axes do shape[#shape + 1] = a.shape[axis] end
  if count ^ 2 ~= a.size then
    core.raise(("[%s] expected as many elements in the first %d axes as in the others, got shape %s"):format(op, axes,
      checks.shape_text(a.shape)))
  end
  return core.assign(op, options.out, linalg.inv(a:reshape(count, count), {dtype = options.dtype}):reshape(shape))
end

return shared
