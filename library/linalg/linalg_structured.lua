-- gpu.linalg: bases of subspaces, the polar decomposition, and systems whose matrices have few different elements.
-- In sandboxes: all
local gpu, _, core, import = ...
import "linalg_triangles"
import "linalg_matrices"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"
local linalg, tools = gpu.linalg, import "linalg"
local check_matrices, check_square, transposed, working = tools.check_matrices, tools.check_square, tools.transposed, tools.working

local epsilon = {float32 = 2 ^ -23, float64 = 2 ^ -52}

local function adjoint(x) return kinds.is_complex(x) and transposed(x):conj() or transposed(x) end

local function check_matrix(op, a)
  check_matrices(op, a)
  if a.ndim ~= 2 then core.raise(("[%s] expected a matrix (m,n), got shape %s"):format(op, checks.shape_text(a.shape))) end
  return a
end

--- The singular vectors of a matrix and its rank. Waits.
local function ranked(op, a, rcond, options)
  if type(rcond) == "table" then rcond, options = checks.shift(op, rcond, options) end
  options = checks.fields(op, options)
  check_matrix(op, a)
  rcond = checks.tolerance(op, "rcond", rcond == nil and options.rcond or rcond, 1)
  local dtype = working(op, options, a)
  local u, s, v = tools.singular(op, a, dtype, true, true)
  if s.size == 0 then return u, v, 0 end
  local limit = s:max() * (rcond or math.max(a.shape[1], a.shape[2]) * epsilon[tools.real_of(dtype)])
  return u, v, s:gt(limit):sum():item()
end

--- gpu.linalg.null_space(a [, rcond] [, {rcond, dtype}])
--- An orthonormal basis, in columns, of the null space of a.
function linalg.null_space(a, rcond, options)
  local _, v, rank = ranked("linalg.null_space", a, rcond, options)
  return adjoint(views.slice(v, 1, rank + 1, v.shape[1] - rank))
end

--- gpu.linalg.orth(a [, rcond] [, {rcond, dtype}])
--- An orthonormal basis, in columns, of the column space of a.
function linalg.orth(a, rcond, options)
  local u, _, rank = ranked("linalg.orth", a, rcond, options)
  return views.slice(u, 2, 1, rank)
end

--- gpu.linalg.polar(a [, {side, dtype}])
--- U, whose columns or rows are orthonormal, and p, positive semidefinite: a = u p, or p u.
function linalg.polar(a, options)
  local op = "linalg.polar"
  options = checks.fields(op, options)
  check_matrices(op, a)
  local side = options.side or "right"
  if side ~= "right" and side ~= "left" then core.fail(op, 'side = "right" or "left"', side) end
  local u, s, v = tools.singular(op, a, working(op, options, a), true, false)
  if side == "right" then return u:matmul(v), (adjoint(v) * s:expand_dims(-2)):matmul(v) end
  return u:matmul(v), (u * s:expand_dims(-2)):matmul(adjoint(u))
end

-- ---- symmetric problems with two matrices ----------------------------------------------------------------------------------------

--- eigh(a, {b =}): the w and v for which a v = b v w, with b positive definite and v' b v = 1.
function tools.symmetric_pair(op, a, options)
  local b = check_square(op, options.b)
  check_square(op, a)
  if a.shape[a.ndim] ~= b.shape[b.ndim] then tools.refuse_shapes(op, "matrices a and b of one size", a, b) end
  local upper = tools.letter(op, "uplo", options.uplo, "LU") == "U"
  local dtype, n = working(op, options, a, b), a.shape[a.ndim]
  local lower = linalg.cholesky(b, {upper = upper, dtype = dtype})
  if upper then lower = adjoint(lower) end
  local triangle = gpu.tri(n, {dtype = "bool", device = a.device})
  local whole = core.cast(gpu.where(upper and triangle.T or triangle, a, adjoint(a)), dtype)
  local half = linalg.solve_triangular(lower, whole, {lower = true})
  local inner = linalg.solve_triangular(lower, adjoint(half), {lower = true})
  local w, v = tools.symmetric(op, inner, {dtype = dtype}, true)
  return w, linalg.solve_triangular(lower, v, {lower = true, trans = "C"})
end

-- ---- structured systems ------------------------------------------------------------------------------------------------------------

local function check_right_side(op, b, n)
  checks.array(op, b)
  if b.ndim ~= 1 and b.ndim ~= 2 or b.shape[1] ~= n then
    core.raise(("[%s] expected b of shape (%d,) or (%d,k), got %s"):format(op, n, n, checks.shape_text(b.shape)))
  end
  return b
end

--- The solution with diagonals, by sparse LU factors.
local function solve_diagonals(op, diagonals, offsets, n, b, dtype)
  check_right_side(op, b, n)
  local matrix = gpu.sparse.diags(diagonals, offsets, {n, n}, {dtype = dtype, format = "csc"})
  return gpu.sparse.linalg.spsolve(matrix, core.cast(b, dtype))
end

local function check_bands(op, bands)
  checks.array(op, bands)
  if bands.ndim ~= 2 or bands.size == 0 then
    core.raise(("[%s] expected a matrix of diagonals, got shape %s"):format(op, checks.shape_text(bands.shape)))
  end
  return bands
end

--- gpu.linalg.solve_banded(counts, bands, b)
--- Row `upper + 1 + i - j` of the bands has element (i, j) of the matrix in column j.
function linalg.solve_banded(counts, bands, b)
  local op = "linalg.solve_banded"
  local list = checks.integers(op, "the numbers of lower and upper diagonals, {l, u}, before the bands", counts)
  check_bands(op, bands)
  local lower, upper, n = list[1], list[2], bands.shape[2]
  if #list ~= 2 or lower < 0 or upper < 0 or lower >= n or upper >= n then
    core.fail(op, "the numbers of lower and upper diagonals, {l, u}, each below the number of columns", counts)
  end
  if bands.shape[1] ~= lower + upper + 1 then
    core.raise(("[%s] expected %d rows of diagonals, got shape %s"):format(op, lower + upper + 1, checks.shape_text(bands.shape)))
  end
  local diagonals, offsets = {}, {}
  for offset = upper, -lower, -1 do
    offsets[#offsets + 1] = offset
    diagonals[#offsets] = views.slice(bands(upper - offset + 1), 1, math.max(offset, 0) + 1, n - math.abs(offset))
  end
  return solve_diagonals(op, diagonals, offsets, n, b, working(op, {}, bands, b))
end

--- gpu.linalg.solveh_banded(bands, b [, {lower}])
--- For a symmetric, or Hermitian, matrix, given by the diagonals on one side.
function linalg.solveh_banded(bands, b, options)
  local op = "linalg.solveh_banded"
  options = checks.fields(op, options)
  check_bands(op, bands)
  local lower = checks.flag(op, "lower", options.lower)
  local rows, n = bands.shape[1], bands.shape[2]
  if rows > n then core.raise(("[%s] expected at most %d rows of diagonals, got %d"):format(op, n, rows)) end
  local diagonals, offsets = {}, {}
  for distance = 0, rows - 1 do
    local row = bands(lower and distance + 1 or rows - distance)
    local own = views.slice(row, 1, lower and 1 or distance + 1, n - distance)
    offsets[#offsets + 1] = lower and -distance or distance
    diagonals[#offsets] = own
    if distance > 0 then
      offsets[#offsets + 1] = lower and distance or -distance
      diagonals[#offsets] = kinds.is_complex(own) and own:conj() or own
    end
  end
  return solve_diagonals(op, diagonals, offsets, n, b, working(op, {}, bands, b))
end

--- gpu.linalg.solve_toeplitz(column, b [, row])
function linalg.solve_toeplitz(column, b, row)
  local op = "linalg.solve_toeplitz"
  checks.array(op, column)
  local matrix = linalg.toeplitz(column, row)
  if matrix.shape[1] ~= matrix.shape[2] then
    core.raise(("[%s] expected vectors of one length, got %s and %s"):format(op, checks.shape_text(column.shape), checks.shape_text(row.shape)))
  end
  return linalg.solve(matrix, check_right_side(op, b, column.size))
end

--- gpu.linalg.solve_circulant(column, b)
--- By Fourier transforms. Waits.
function linalg.solve_circulant(column, b)
  local op = "linalg.solve_circulant"
  checks.array(op, column)
  if column.ndim ~= 1 or column.size == 0 then
    core.raise(("[%s] expected a vector with elements, got shape %s"):format(op, checks.shape_text(column.shape)))
  end
  check_right_side(op, b, column.size)
  local dtype = working(op, {}, column, b)
  local values = gpu.fft.fft(core.cast(column, dtype)):eval()
  local sizes = values:detach():abs()
  if not (sizes:min():item() > sizes:max():item() * epsilon[tools.real_of(dtype)] * column.size) then
    core.raise(("[%s] expected a matrix with an inverse, got one with an eigenvalue of 0"):format(op))
  end
  local spectrum = gpu.fft.fft(core.cast(b, dtype), {axis = 1}) / (b.ndim == 2 and values:expand_dims(2) or values)
  local x = gpu.fft.ifft(spectrum, {axis = 1})
  return core.cast(kinds.is_complex(gpu.zeros(0, dtype)) and x or x:real(), dtype)
end
