-- gpu.sparse.linalg: factors of sparse matrices, and what is solved with them.
-- In sandboxes: all
local gpu, methods, core, import = ...
import "sparse_conversions"
local checks, objects = import "checks", import "objects"
local kinds = import "kinds"
local calls = import "derived_calls"
local dense = import "linalg"

local linalg, tools, sparse = gpu.sparse.linalg, import "sparse_linalg", import "sparse"
local letter = dense.letter

--- The columns, or with axis = 1 the rows, of a square sparse matrix, each position once.
local function lines_of(op, A, axis)
  local fields = core.sparse_fields(A)
  if not fields then core.fail(op, "a sparse matrix; gpu.linalg.solve and gpu.linalg.lu_factor take arrays", A) end
  if fields.shape[1] ~= fields.shape[2] then
    core.raise(("[%s] expected a square matrix, got shape %s"):format(op, checks.shape_text(fields.shape)))
  end
  return sparse.ordered(sparse.lines_by(fields, axis))
end

--- Right-hand sides (n,) or (n,k) for n unknowns, as rows (k,n) that the solver overwrites.
local function side_rows(op, b, n, dtype)
  if b.ndim < 1 or b.ndim > 2 or b.shape[1] ~= n then
    core.raise(("[%s] expected right-hand sides (%d,) or (%d,k), got shape %s"):format(op, n, n, checks.shape_text(b.shape)))
  end
  local rows = b.ndim == 1 and b:expand_dims(1) or b.T
  return gpu.empty(rows.shape, {dtype = dtype, device = b.device}):copy_(core.cast(rows, dtype))
end

--- The solutions in those rows, in the shape of b.
local function from_rows(rows, b) return b.ndim == 1 and rows:reshape(b.shape[1]) or rows.T:contiguous() end

-- ---- factors ----------------------------------------------------------------------------------------------------------------

--- Solves op(A) x = b. Of real factors and complex b, the real and the imaginary parts are right-hand sides of their own.
local solve
solve = calls.derived("sparse.solve", function(op, factors, b, way)
  checks.array(op, b)
  local dtype, n = factors.dtype, factors.shape[1]
  if b.device ~= rawget(factors, "device") then
    core.raise(("[%s] expected b on %s as the matrix, got %s; b:to(name) copies it over"):format(op, rawget(factors, "device"),
      b.device))
  end
  if kinds.is_complex(b) and not dtype:find "complex" then
    return solve(op, factors, b:real(), way) + solve(op, factors, b:imag(), way) * gpu.complex(0, 1)
  end
  local rows = side_rows(op, b, n, dtype)
  if rows.size > 0 then core.solve_by_factors(rawget(factors, "handle"), rows, way) end
  return from_rows(rows, b)
end)
tools.solve_by_factors = solve

local factors_class = objects.class("splu", "factors of a sparse matrix", "shape, dtype, nnz", {
  solve = function(self, b, options)
    local op = "splu:solve"
    if options ~= nil and type(options) ~= "table" then core.fail(op, "a table of options: trans", options) end
    for name in pairs(options or {}) do
      if name ~= "trans" then core.raise(("[%s] expected the option trans, got %s"):format(op, core.describe(name))) end
    end
    return solve(op, self, b, letter(op, "trans", options and options.trans, "NTC"))
  end,
}, {solve = "(b [, {trans}])"})

function factors_class:__tostring() return ("splu %s %s"):format(checks.shape_text(self.shape), self.dtype) end

local function factorise(op, lines, dtype, remedy)
  if core.restricted then
    core.raise(("[%s] expected a function for scripts in a sandbox, got one that keeps factors in the host's memory"):format(op))
  end
  local n = lines.starts.size - 1
  local factors = {shape = {n, n}, dtype = dtype, nnz = 0, device = lines.entries.device}
  if n > 0 then
    local zero_pivot
    factors.handle, factors.nnz, zero_pivot = core.factorise_sparse(core.cast(lines.entries, dtype):eval(),
      core.cast(lines.places, "int32"):eval(), core.cast(lines.starts, "int32"):eval())
    if zero_pivot > 0 then
      core.raise(("[%s] expected a matrix that is not singular: column %d depends on other columns, or is 0%s"):format(op,
        zero_pivot, remedy or ""))
    end
  end
  return setmetatable(factors, factors_class)
end

--- The function x -> A^-1 x. `remedy`: the end of the message about a singular matrix.
function tools.solver_of(op, A, dtype, remedy)
  local factors = factorise(op, lines_of(op, A, 2), dtype, remedy)
  return function(x) return solve(op, factors, x, "N") end
end

--- gpu.sparse.linalg.splu(A)
function linalg.splu(A)
  local op = "sparse.linalg.splu"
  return (factorise(op, lines_of(op, A, 2), A.dtype))
end

--- Checks the operands of a solver: the lines of A, and the dtype.
local function check_system(op, A, b, axis)
  local lines = lines_of(op, A, axis)
  if core.sparse_fields(b) then core.fail(op, "an array as b; b:todense() makes one", b) end
  checks.array(op, b)
  return lines, dense.working(op, {}, A, b)
end

--- gpu.sparse.linalg.spsolve(A, b)
function linalg.spsolve(A, b)
  local op = "sparse.linalg.spsolve"
  local lines, dtype = check_system(op, A, b, 2)
  return (solve(op, factorise(op, lines, dtype), b, "N"))
end

-- ---- triangles --------------------------------------------------------------------------------------------------------------

--- gpu.sparse.linalg.spsolve_triangular(A, b [, {lower, unit_diagonal}])
function linalg.spsolve_triangular(A, b, options)
  local op = "sparse.linalg.spsolve_triangular"
  options = checks.fields(op, options)
  local lower = checks.flag(op, "lower", options.lower) ~= false
  local unit = checks.flag(op, "unit_diagonal", options.unit_diagonal) or false
  local lines, dtype = check_system(op, A, b, 1)
  local rows = side_rows(op, b, lines.starts.size - 1, dtype)
  if rows.size > 0 then
    local row, column = core.solve_sparse_triangle(core.cast(lines.entries, dtype), core.cast(lines.places, "int64"),
      core.cast(lines.starts, "int64"), rows, lower, unit)
    if row and row == column then
      core.raise(("[%s] expected a diagonal without 0, got 0 in row %d"):format(op, row))
    elseif row then
      core.raise(("[%s] expected %s triangle, got a nonzero in row %d, column %d; lower = %s is for the other one"):format(op,
        lower and "a lower" or "an upper", row, column, tostring(not lower)))
    end
  end
  return (from_rows(rows, b))
end
