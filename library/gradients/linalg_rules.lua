-- The derivatives of gpu.linalg, for each matrix of a batch. g is the derivative for a result, x' the adjoint of x.
local gpu, _, core, import = ...
local kinds, views = import "kinds", import "views"

local rules, linalg = core.rules, gpu.linalg

local conj = kinds.conj
local function real(x) return kinds.is_complex(x) and x:real() or x end
local function transposed(x) return x:swapaxes(-1, -2) end
local function adjoint(x) return conj(transposed(x)) end
local function matmul(a, b, c) return c and gpu.matmul(gpu.matmul(a, b), c) or gpu.matmul(a, b) end
local function diagonal(x) return x:diagonal(0, -2, -1) end

--- Vectors as the rows, or as the columns, of diagonals.
local function row(x) return x:expand_dims(-2) end
local function column(x) return x:expand_dims(-1) end

--- The matrices with these diagonals.
local function diagonals(x) return row(x) * gpu.eye(x.shape[x.ndim], {dtype = x.dtype, device = x.device}) end
local function symmetric_part(x) return (x + adjoint(x)) / 2 end

-- ---- systems of equations -------------------------------------------------------------------------------------------------------

--- The derivatives of a x = b from x and the derivative gb for b, which solve(g) gives. Vectors are matrices with one column.
local function of_system(g, x, is_vector, needs, solve)
  if is_vector then g, x = column(g), column(x) end
  local gb = solve(g)
  return needs[1] and -matmul(gb, adjoint(x)), is_vector and gb:squeeze(-1) or gb
end

rules["linalg.solve"] = function(cotangents, results, arrays, _, needs)
  local a, b = arrays[1], arrays[2]
  return of_system(cotangents[1], results[1], b.ndim == 1, needs, function(g) return linalg.solve(adjoint(a), g) end)
end

rules["linalg.inv"] = function(cotangents, results)
  local inverse = adjoint(results[1])
  return -matmul(inverse, cotangents[1], inverse)
end

rules["linalg.det"] = function(cotangents, results, arrays)
  return column(column(cotangents[1] * conj(results[1]))) * adjoint(linalg.inv(arrays[1]))
end

rules["linalg.slogdet"] = function(cotangents, results, arrays)
  local g = cotangents[2] or 0
  -- The sign of a real determinant does not change; that of a complex one turns with its angle.
  if cotangents[1] and kinds.is_complex(results[1]) then
    g = g - gpu.complex(0, 1) * (conj(cotangents[1]) * results[1]):imag()
  elseif g == 0 then
    return nil
  end
  return column(column(g)) * adjoint(linalg.inv(arrays[1]))
end

--- What is read of triangular matrices.
local function triangle(x, upper, unit)
  if upper then return gpu.triu(x, unit and 1 or 0) end
  return gpu.tril(x, unit and -1 or 0)
end

rules["linalg.solve_triangular"] = function(cotangents, results, arrays, arguments, needs)
  local a, b, options = arrays[1], arrays[2], arguments[3] or {}
  local way = options.trans or "N"
  local ga, gb = of_system(cotangents[1], results[1], b.ndim == 1, needs, function(g)
    local own = {lower = options.lower, unit_diagonal = options.unit_diagonal, trans = way == "N" and "C" or "N"}
    return linalg.solve_triangular(way == "T" and conj(a) or a, g, own)
  end)
  if not ga then return false, gb end
  if way == "T" then ga = transposed(ga) elseif way == "C" then ga = adjoint(ga) end
  return triangle(ga, not options.lower, options.unit_diagonal), gb
end

rules["linalg.cho_solve"] = function(cotangents, results, arrays, arguments, needs)
  local factor, b, upper = arrays[1], arrays[2], (arguments[3] or {}).upper
  local ga, gb = of_system(cotangents[1], results[1], b.ndim == 1, needs, function(g)
    return linalg.cho_solve(factor, g, {upper = upper})
  end)
  if not ga then return false, gb end
  local twice, own = ga + adjoint(ga), triangle(factor, upper)
  return triangle(upper and matmul(own, twice) or matmul(twice, own), upper), gb
end

-- ---- factors --------------------------------------------------------------------------------------------------------------------

--- By triangular solves (I. Murray, 2016). The derivative for a symmetric matrix is symmetric.
rules["linalg.cholesky"] = function(cotangents, results, _, arguments)
  local upper = (arguments[2] or {}).upper
  local g, l = cotangents[1], results[1]
  if upper then g, l = adjoint(g), adjoint(l) end
  local middle = gpu.tril(matmul(adjoint(l), g))
  middle = symmetric_part(middle - diagonals(diagonal(middle)) / 2)
  local left = linalg.solve_triangular(l, middle, {lower = true, trans = "C"})
  return adjoint(linalg.solve_triangular(l, adjoint(left), {lower = true, trans = "C"}))
end

--- Of matrices with independent columns.
local function of_tall(gq, gr, q, r)
  local middle = gr and matmul(gr, adjoint(r)) or 0
  if gq then middle = middle - matmul(adjoint(q), gq) end
  local upper = gpu.triu(middle)
  local g = matmul(q, upper + adjoint(upper) - diagonals(real(diagonal(upper))))
  if gq then g = g + gq end
  return adjoint(linalg.solve_triangular(r, adjoint(g)))
end

rules["linalg.qr"] = function(cotangents, results, arrays, arguments)
  local a = arrays[1]
  local mode = type(arguments[2]) == "string" and arguments[2] or (arguments[3] or arguments[2] or {}).mode or "reduced"
  local m, n = a.shape[a.ndim - 1], a.shape[a.ndim]
  if mode == "raw" or mode == "complete" and m > n then core.refuse_derivative("linalg.qr", (' for mode = "%s"'):format(mode)) end
  local gq, gr, q, r = cotangents[1], cotangents[2], results[1], results[2]
  if mode == "r" then
    gr, r, gq = gq, q, false
    q = adjoint(linalg.solve_triangular(views.slice(r, r.ndim, 1, math.min(m, n)), adjoint(views.slice(a, a.ndim, 1, math.min(m, n))),
      {trans = "C"}))
  end
  if m >= n then return of_tall(gq, gr, q, r) end
  -- The first columns have the factors q and r's first columns, the others are q times r's others.
  local function first(x) return views.slice(x, x.ndim, 1, m) end
  local function others(x) return views.slice(x, x.ndim, m + 1, n - m) end
  local rest
  if gr then
    rest = matmul(q, others(gr))
    gq = (gq or 0) + matmul(others(a), adjoint(others(gr)))
    gr = first(gr)
  else
    rest = gpu.zeros_like(others(a))
  end
  return gpu.concat({of_tall(gq, gr, q, first(r)), rest}, -1)
end

-- ---- eigenvalues and singular values --------------------------------------------------------------------------------------------

--- The rounding error of the numbers in each vector: 8 eps of the greatest magnitude.
local function rounding(w)
  local eps = (w.dtype == "float64" or w.dtype == "complex128") and 2 ^ -49 or 2 ^ -20
  return column(w:detach():abs():max(-1, {keepdims = true})) * eps
end

--- 1 / (w_j - w_i), and 0 for values that are equal to rounding: what does not depend on the choice of their vectors has no part there.
local function gaps(w)
  local gap = row(w) - column(w)
  local apart = gap:abs():gt(rounding(w))
  return gpu.where(apart, gpu.where(apart, gap, 1):reciprocal(), 0)
end

rules["linalg.eigh"] = function(cotangents, results)
  local gw, gv, w, v = cotangents[1], cotangents[2], results[1], results[2]
  local middle = gw and diagonals(gw) or 0
  if gv then middle = middle + gaps(w) * matmul(adjoint(v), gv) end
  return symmetric_part(matmul(v, middle, adjoint(v)))
end

rules["linalg.eigvalsh"] = function(cotangents, _, arrays, arguments)
  local _, v = linalg.eigh(arrays[1], {uplo = (arguments[2] or {}).uplo})
  return matmul(v * row(cotangents[1]), adjoint(v))
end

--- Of eigenvectors of length 1 as far as their phases do not matter.
rules["linalg.eig"] = function(cotangents, results)
  local gw, gv, w, v = cotangents[1], cotangents[2], results[1], results[2]
  local middle = gw and diagonals(gw) or 0
  if gv then
    local own = matmul(adjoint(v), gv)
    middle = middle + conj(gaps(w)) * (own - matmul(adjoint(v), v) * row(real(diagonal(own))))
  end
  return linalg.solve(adjoint(v), matmul(middle, adjoint(v)))
end

rules["linalg.eigvals"] = function(cotangents, _, arrays)
  local _, v = linalg.eig(arrays[1])
  return linalg.solve(adjoint(v), column(cotangents[1]) * adjoint(v))
end

rules["linalg.svd"] = function(cotangents, results, arrays, arguments)
  local gu, gs, gv = unpack(cotangents, 1, 3)
  local u, s, vh = unpack(results)
  local k, m, n = s.shape[s.ndim], u.shape[u.ndim - 1], vh.shape[vh.ndim]
  if (gu or gv) and (u.shape[u.ndim] > k or vh.shape[vh.ndim - 1] > k) then
    core.refuse_derivative("linalg.svd", " for the vectors of full_matrices = true")
  end
  u, vh = views.slice(u, u.ndim, 1, k), views.slice(vh, vh.ndim - 1, 1, k)
  local factor, least = gaps(s), rounding(s):squeeze(-1)
  local sums = row(s) + column(s)
  factor = gpu.where(factor:eq(0), 0, factor / gpu.where(factor:eq(0), 1, sums))
  local keeps = s:gt(least)
  local inverse = gpu.where(keeps, gpu.where(keeps, s, 1):reciprocal(), 0)
  local middle, result = gs and diagonals(gs) or 0, nil
  if gu then
    local own = matmul(adjoint(u), gu)
    middle = middle + factor * (own - adjoint(own)) * row(s)
    if kinds.is_complex(own) then middle = middle + diagonals(gpu.complex(0, 1) * diagonal(own):imag() * inverse) end
    if m > k then result = matmul((gu - matmul(u, own)) * row(inverse), vh) end
  end
  if gv then
    local own = matmul(vh, adjoint(gv))
    middle = middle + column(s) * factor * (own - adjoint(own))
    if n > k then
      local outer = matmul(u * row(inverse), gv - matmul(adjoint(own), vh))
      result = result and result + outer or outer
    end
  end
  local inner = matmul(u, middle, vh)
  return result and result + inner or inner
end

rules["linalg.svdvals"] = function(cotangents, _, arrays)
  local u, _, vh = linalg.svd(arrays[1], false)
  return matmul(u * row(cotangents[1]), vh)
end

-- The polar factors of matrices with independent columns. Equal singular values do no harm, as they would by the vectors' derivatives.
local function polar(gq, gp, a)
  local u, s, vh = linalg.svd(a, false)
  local v, sums, middle = adjoint(vh), column(s) + row(s), 0
  if gq then
    local own = matmul(adjoint(u), gq, v)
    middle = (own - adjoint(own)) / sums
  end
  if gp then
    local own = matmul(vh, gp, v) / sums
    middle = middle + column(s) * (own + adjoint(own))
  end
  local g = matmul(u, middle, vh)
  if not gq or u.shape[u.ndim - 1] == s.shape[s.ndim] then return g end
  local along = matmul(gq, v)
  return g + matmul((along - matmul(u, matmul(adjoint(u), along))) / row(s), vh)
end

rules["linalg.polar"] = function(cotangents, _, arrays, arguments)
  local gq, gp, a = cotangents[1], cotangents[2], arrays[1]
  local is_left = (arguments[2] or {}).side == "left"
  if is_left then gq, a = gq and adjoint(gq), adjoint(a) end
  if a.shape[a.ndim - 1] < a.shape[a.ndim] then core.refuse_derivative("linalg.polar", " for matrices with dependent columns") end
  local g = polar(gq, gp, a)
  return is_left and adjoint(g) or g
end

-- Any vectors of the space would do; functions of matrices have other derivatives where eigenvalues are equal than their vectors have.
for _, name in ipairs {"null_space", "orth", "funm", "sqrtm", "logm"} do rules["linalg." .. name] = false end

-- ---- least squares --------------------------------------------------------------------------------------------------------------

--- The derivative of a pseudoinverse p of constant rank (G. H. Golub and V. Pereyra, 1973).
rules["linalg.pinv"] = function(cotangents, results, arrays, arguments)
  local g, p, a = cotangents[1], results[1], arrays[1]
  local ph, gh = adjoint(p), adjoint(g)
  local result = -matmul(ph, g, ph) + matmul(gh - matmul(a, matmul(p, gh)), p, ph) + matmul(ph, matmul(p, gh) - matmul(p, gh, matmul(p, a)))
  local options = arguments[3] or arguments[2]
  return type(options) == "table" and options.hermitian and symmetric_part(result) or result
end

rules["linalg.lstsq"] = function(cotangents, results, arrays, arguments)
  local a, b, x = arrays[1], arrays[2], results[1]
  local is_vector = b.ndim == 1
  local gx, gr, gs = cotangents[1], cotangents[2], cotangents[4]
  if is_vector then b, x = column(b), column(x) end
  local rest = b - matmul(a, x)
  local ga, gb = gs and rules["linalg.svdvals"]({gs}, nil, arrays) or 0, gpu.zeros_like(b)
  if gr and gr.size > 0 then
    gb = 2 * rest * row(gr)
    ga = ga - matmul(gb, adjoint(x))
  end
  if gx then
    if is_vector then gx = column(gx) end
    local p = linalg.pinv(a, type(arguments[3]) == "number" and arguments[3] or (arguments[4] or arguments[3] or {}).rcond)
    local own = matmul(adjoint(p), gx)
    gb = gb + own
    ga = ga - matmul(own, adjoint(x)) + matmul(rest, adjoint(matmul(p, own)))
      + matmul(adjoint(p), x, adjoint(gx - matmul(p, matmul(a, gx))))
  end
  return ga, is_vector and gb:squeeze(-1) or gb
end

-- ---- functions ------------------------------------------------------------------------------------------------------------------

--- The exponential of a block matrix has the derivative of the exponential along g.
rules["linalg.expm"] = function(cotangents, _, arrays)
  local a = adjoint(arrays[1])
  local g = core.cast(cotangents[1], a.dtype)
  local n = a.shape[a.ndim]
  local blocks = gpu.concat({gpu.concat({a, g}, -1), gpu.concat({gpu.zeros_like(a), a}, -1)}, -2)
  return views.slice(views.slice(linalg.expm(blocks), a.ndim, n + 1, n), a.ndim - 1, 1, n)
end
