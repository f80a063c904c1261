-- The derivatives of sparse matrices: an array's as always, a matrix's for its nonzeros A.data, in their order.
local gpu, _, core, import = ...
local kinds = import "kinds"

local rules = core.rules

local conj = kinds.conj
local function adjoint(A) return kinds.is_complex(A) and A:conj().T or A.T end
local function own() return import "sparse" end

local function check_matrix(op, A)
  if not core.is_array(A) and not core.sparse_fields(A) then core.refuse_derivative(op, " for an operator or a function as A") end
end

--- The positions of a matrix's nonzeros, from 1.
local function positions(A)
  local rows, columns = own().positions(core.sparse_fields(A))
  return rows + 1, columns + 1
end

--- For each pair of positions the product of a's and b's rows.
local function products(a, rows, b, columns)
  local product = a:take(rows, 1) * conj(b):take(columns, 1)
  return product.ndim == 1 and product or product:sum(2)
end

rules["sparse.product"] = function(cotangents, _, _, arguments, needs)
  import "sparse_conversions"
  local sparse = own()
  local g, entries, x, lines = cotangents[1], arguments[1], arguments[2], arguments[3]
  local gx = false
  if needs[2] then
    local turned = sparse.turned(lines)
    gx = conj(sparse.product(core.cast(turned.entries, g.dtype), conj(g), turned))
  end
  return needs[1] and products(g, core.lines_of(lines.starts, entries.size) + 1, x, lines.places + 1), gx
end

--- Sums of the nonzeros of lines.
rules[core.sum_lines] = function(cotangents, _, arrays, arguments)
  return cotangents[1]:take(core.lines_of(arguments[2], arrays[1].size) + 1)
end

--- The values at the positions of lines' nonzeros, of ordered lines; 0 where those have none.
local function values_at(lines, entries, places, starts)
  local function keys(of, at)
    if at.dtype == "int64" then core.refuse_derivative("sparse", " for positions beyond 2^31") end
    return core.cast(core.lines_of(of, at.size), "int64") * 2 ^ 31 + at
  end
  if entries.size == 0 then return gpu.zeros({places.size}, {dtype = entries.dtype, device = entries.device}) end
  local whole, own = keys(lines.starts, lines.places):eval(), keys(starts, places)
  local at = gpu.minimum(gpu.searchsorted(whole, own), entries.size)
  return gpu.where(whole:take(at):eq(own), entries:take(at), 0)
end

--- The nonzeros of two matrices at the positions of both.
rules[core.merge_lines] = function(cotangents, results, _, arguments)
  local lines = {places = results[1], starts = arguments[7]}
  local function own(g, places, starts) return g and values_at(lines, g, places, starts) end
  return own(cotangents[2], arguments[2], arguments[3]), nil, nil, own(cotangents[3], arguments[5], arguments[6])
end

--- Products of two matrices: of the derivative and the other one, the elements where a matrix has nonzeros.
rules["sparse.pair"] = function(cotangents, results, _, arguments, needs)
  local sparse, g = own(), cotangents[1]
  local first, second = arguments[3], arguments[4]
  local whole = {entries = g, places = results[2], starts = results[3], width = second.width, ordered = true}
  local function adjoint_lines(lines)
    local t = sparse.turned(lines)
    return {entries = conj(t.entries), places = t.places, starts = t.starts, width = t.width, ordered = t.ordered}
  end
  local function at(lines, a, b)
    local product = sparse.product_of_lines(a, b, g.dtype)
    return values_at(product, product.entries, lines.places, lines.starts)
  end
  return needs[1] and at(first, whole, adjoint_lines(second)), needs[2] and at(second, adjoint_lines(first), whole)
end

local function of_dense(cotangents, _, _, arguments)
  local rows, columns = positions(arguments[1])
  return cotangents[1][{rows, columns}]
end
rules["A:todense"], rules["A:toarray"] = of_dense, of_dense

rules["A:diagonal"] = function(cotangents, _, _, arguments)
  local g, offset = cotangents[1], arguments[2] or 0
  local rows, columns = positions(arguments[1])
  local is_on = (columns - rows):eq(offset)
  return gpu.where(is_on, g:take(gpu.where(is_on, rows - math.max(-offset, 0), 1)), 0)
end

-- ---- systems of equations -------------------------------------------------------------------------------------------------------

--- The derivative for the matrix, dense or sparse, from the solution and the derivative for the right side.
local function of_matrix(A, gb, x)
  if not core.sparse_fields(A) then return -gpu.matmul(gb:reshape(-1, 1), conj(x):reshape(1, -1)) end
  local rows, columns = positions(A)
  return -products(gb, rows, x, columns)
end

rules["sparse.linalg.spsolve"] = function(cotangents, results, _, arguments)
  local A = arguments[1]
  local gb = gpu.sparse.linalg.spsolve(adjoint(A), cotangents[1])
  return of_matrix(A, gb, results[1]), gb
end

rules["sparse.linalg.spsolve_triangular"] = function(cotangents, results, _, arguments)
  local A, options = arguments[1], arguments[3] or {}
  local gb = gpu.sparse.linalg.spsolve_triangular(adjoint(A), cotangents[1],
    {lower = options.lower == false, unit_diagonal = options.unit_diagonal})
  local ga = of_matrix(A, gb, results[1])
  if options.unit_diagonal then
    local rows, columns = positions(A)
    ga = gpu.where(rows:eq(columns), 0, ga)
  end
  return ga, gb
end

--- Solutions by factors, which are constants.
local ways = {N = "C", C = "N"}
rules["sparse.solve"] = function(cotangents, _, _, arguments)
  local op, factors, _, way = unpack(arguments, 1, 4)
  local solve = import("sparse_linalg").solve_by_factors
  if way == "T" then return conj(solve(op, factors, conj(cotangents[1]), "N")) end
  return solve(op, factors, cotangents[1], ways[way])
end

--- The solvers that go in steps: the adjoint system, to the same tolerances. `symmetric`: it is the same one, so M serves, too.
local function iterative(name, symmetric)
  local op = "sparse.linalg." .. name
  rules[op] = function(cotangents, results, _, arguments)
    local A, options = arguments[1], arguments[3] or {}
    check_matrix(op, A)
    local other = not symmetric and (core.is_array(A) and conj(A.T) or adjoint(A)) or A
    local gb = (gpu.sparse.linalg[name](other, cotangents[1], {M = symmetric and options.M or nil, rtol = options.rtol,
      atol = options.atol, maxiter = options.maxiter, restart = options.restart}))
    return of_matrix(A, gb, results[1]), gb
  end
end
iterative("cg", true)
iterative("minres", true)
iterative("bicgstab", false)
iterative("cgs", false)
iterative("gmres", false)

-- ---- some values of large matrices ----------------------------------------------------------------------------------------------

--- The derivative for the matrix from those of values, each with its left and right vectors, in columns.
local function of_values(op, A, g, left, right)
  check_matrix(op, A)
  left = left * g:expand_dims(-2)
  if core.is_array(A) then return gpu.matmul(left, conj(right.T)) end
  local rows, columns = positions(A)
  return products(left, rows, right, columns)
end

--- The results with vectors, of a call that may be without them.
local function with_vectors(name, arguments)
  local k, options = arguments[2], arguments[3]
  if type(k) == "table" then k, options = nil, k end
  local all = {}
  for option, value in pairs(options or {}) do all[option] = value end
  all.k, all.vectors = k or all.k, true
  return gpu.sparse.linalg[name](arguments[1], all)
end

rules["sparse.linalg.eigsh"] = function(cotangents, results, _, arguments)
  local op = "sparse.linalg.eigsh"
  if cotangents[2] then core.refuse_derivative(op, " for the vectors") end
  local v = results[2] or select(2, with_vectors("eigsh", arguments))
  return of_values(op, arguments[1], cotangents[1], v, v)
end

rules["sparse.linalg.svds"] = function(cotangents, results, _, arguments)
  local op = "sparse.linalg.svds"
  if results[2] and (cotangents[1] or cotangents[3]) then core.refuse_derivative(op, " for the vectors") end
  local u, _, vh = unpack(results)
  if not vh then u, _, vh = with_vectors("svds", arguments) end
  return of_values(op, arguments[1], cotangents[results[2] and 2 or 1], u, conj(vh.T))
end
