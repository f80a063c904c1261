-- gpu.linalg: triangular and positive definite matrices.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"

local linalg, tools = gpu.linalg, import "linalg"
local check_square, common_batch, first_true, fresh, in_columns = tools.check_square, tools.common_batch, tools.first_true,
  tools.fresh, tools.in_columns
local in_rows, is_small, letter, only_finite, right_sides = tools.in_rows, tools.is_small, tools.letter, tools.only_finite,
  tools.right_sides
local shaped, transposed, working = tools.shaped, tools.transposed, tools.working

--- gpu.linalg.cholesky(a [, {upper, dtype, out}])
function linalg.cholesky(a, options)
  local op = "linalg.cholesky"
  options = checks.fields(op, options)
  check_square(op, a)
  local upper = checks.flag(op, "upper", options.upper) or false
  local dtype = working(op, options, a)
  if is_small(a) and not upper then
    local factor = gpu.empty(a.shape, {dtype = dtype, device = a.device})
    local info = core.cholesky_small(in_rows(a, dtype), factor)
    core.check_decomposition(op, "not positive definite", info, nil, {factor})
    return core.assign(op, options.out, factor)
  end
  -- The solver gets the matrix whose lower triangle in columns is the wanted one: cuSOLVER is slower with the upper one.
  local finite, report = only_finite(a, upper and gpu.triu or gpu.tril)
  local columns = upper and fresh(finite, dtype) or in_columns(finite, dtype)
  if columns.size > 0 then
    local info = core.decompose {routine = "cholesky", a = columns, upper = false}
    core.check_decomposition(op, "not positive definite", report(info), nil, {columns})
  end
  return core.assign(op, options.out, upper and gpu.triu(columns) or gpu.tril(transposed(columns)))
end

--- Runs `solve` on a copy of b, and checks the diagonal of the triangular matrices a. Gives the solutions.
local function with_triangles(op, a, b, options, checks_diagonal, solve)
  check_square(op, a)
  local sides, is_vector = right_sides(op, a, b)
  local dtype, batch = working(op, options, a, b), common_batch(op, a, sides)
  local x = fresh(sides, dtype, shaped(batch, sides.shape[sides.ndim - 1], sides.shape[sides.ndim]))
  if x.size > 0 then
    local triangles = core.cast(a, dtype):eval()
    solve(x, triangles)
    if checks_diagonal then
      core.check_decomposition(op, "zero diagonal", first_true(triangles:diagonal(0, -2, -1):eq(0), batch), nil, {x})
    end
  end
  return core.assign(op, options.out, is_vector and x:squeeze(-1) or x)
end

--- gpu.linalg.solve_triangular(a, b [, {lower, trans, unit_diagonal, dtype, out}])
function linalg.solve_triangular(a, b, options)
  local op = "linalg.solve_triangular"
  options = checks.fields(op, options)
  local way = letter(op, "trans", options.trans, "NTC")
  local upper = not checks.flag(op, "lower", options.lower)
  local unit = checks.flag(op, "unit_diagonal", options.unit_diagonal) or false
  return with_triangles(op, a, b, options, not unit, function(x, triangles)
    core.solve_triangular(x, triangles, upper, way, false, unit, 1)
  end)
end

--- gpu.linalg.cho_solve(factor, b [, {upper, dtype, out}])
function linalg.cho_solve(factor, b, options)
  local op = "linalg.cho_solve"
  options = checks.fields(op, options)
  local upper = checks.flag(op, "upper", options.upper) or false
  return with_triangles(op, factor, b, options, true, function(x, triangles)
    core.solve_triangular(x, triangles, upper, upper and "C" or "N", false, false, 1)
    core.solve_triangular(x, triangles, upper, upper and "N" or "C", false, false, 1)
  end)
end
