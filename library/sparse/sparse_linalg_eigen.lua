-- gpu.sparse.linalg: some eigenvalues and singular values of large matrices, by Lanczos' method.
-- In sandboxes: all
local gpu, methods, core, import = ...
import "sparse_linalg_krylov"
local checks = import "checks"
local kinds = import "kinds"
local linalg_tools = import "linalg"
local views = import "views"

local linalg, tools = gpu.sparse.linalg, import "sparse_linalg"

-- The dense solver takes matrices of at most few_rows rows, matrices from which at least half of the eigenvalues are wanted, and
-- operators that become a matrix in at most few_products products.
local few_rows, few_products = 256, 64
-- The most rows for which eigsh takes LAPACK on the processor where no option asks for a search: LAPACK takes 40 ms for 500 rows, a search 40 to
-- 400.
local few_rows_on_cpu = 512

-- ---- arguments --------------------------------------------------------------------------------------------------------------

--- The number k of wanted values, of at most n.
local function check_count(op, k, n)
  return checks.count(op, ("k from 1 to %d"):format(n), checks.integer(op, "k, a number of values", k), 1, n)
end

--- Reads tol, ncv, maxiter and vectors.
local function check_steps(op, options, k, most, otherwise)
  local tol = options.tol == nil and 0 or options.tol
  if type(tol) ~= "number" or not (tol >= 0) then core.fail(op, "tol = a number of 0 or more", tol) end
  local ncv = checks.integer(op, "ncv = an integer", options.ncv == nil and math.min(otherwise, most) or options.ncv)
  if ncv < math.min(k + 2, most) or ncv > most then
    core.fail(op, ("ncv from %d to %d, the size of the basis"):format(math.min(k + 2, most), most), ncv)
  end
  local maxiter = checks.integer(op, "maxiter = an integer", options.maxiter == nil and 1000 or options.maxiter)
  if maxiter < 1 then core.fail(op, "maxiter of 1 or more", maxiter) end
  return {op = op, k = k, tol = tol, ncv = ncv, maxiter = maxiter}, checks.flag(op, "vectors", options.vectors) ~= false
end

--- Whether a matrix with that many singular values is decomposed as an array for k of them.
local function is_small(A, k, count)
  return count <= (tools.is_operator(A) and few_products or few_rows) or 2 * k > count
end

--- A matrix as an array: that of an operator by its products.
local function dense(A, dtype, device)
  if core.is_array(A) then return core.cast(A, dtype) end
  if core.sparse_fields(A) then return core.cast(A:todense(), dtype) end
  local columns = {}
  local one = gpu.eye(A.shape[2], {dtype = dtype, device = device})
  for j = 1, A.shape[2] do columns[j] = A:matmul(one(j)) end
  return core.cast(gpu.stack(columns, 2), dtype)
end

local function device_of(A, start)
  if start then return start.device end
  return tools.is_operator(A) and gpu.device().name or A.device
end

--- Random numbers that do not depend on the script's.
local function random_vector(seed, n, dtype, device)
  local generator = gpu.random.generator("philox", {seed = seed, device = device})
  local x = generator:normal(n)
  return core.cast(dtype:find "complex" and x + generator:normal(n) * gpu.complex(0, 1) or x, dtype)
end

--- The vector to begin with: an option, or random numbers.
local function first_vector(op, v0, n, dtype, device)
  if v0 == nil then return random_vector(1, n, dtype, device) end
  checks.array(op, v0)
  if v0.ndim ~= 1 or v0.size ~= n then core.fail(op, ("v0, a vector of %d elements"):format(n), v0) end
  v0 = core.cast(v0, dtype)
  local length = tools.length(v0)
  if not (length > 0 and length < math.huge) then core.fail(op, "v0 with a finite length above 0", length) end
  return v0
end

-- ---- Lanczos' method --------------------------------------------------------------------------------------------------------

-- The less the number, the more wanted is the value.
local ranks = {LA = function(x) return -x end, SA = function(x) return x end, LM = function(x) return -math.abs(x) end}

--- The positions of eigenvalues, the most wanted first.
local function order_of(values, which)
  local order, rank = {}, ranks[which]
  for i = 1, #values do order[i] = i end
  table.sort(order, function(i, j)
    if rank(values[i]) ~= rank(values[j]) then return rank(values[i]) < rank(values[j]) end
    return i < j
  end)
  return order
end

--- The projected matrix on the vectors after the first `locked` ones, as a table of rows: the values that were kept, and a column
--- for each new vector. It ends where the products stay in the basis; also the length of what is left of the last one. Waits.
local function projection(steps, space, locked, kept)
  local m, base, matrix = steps.ncv, locked + #kept, {}
  for i = 1, m - locked do
    matrix[i] = {}
    for j = 1, #kept do matrix[i][j] = i == j and kept[i] or 0 end
  end
  local rows = tools.real(views.slice(space.h, 1, base + 1, m - base)):astype("float64"):table()
  for j = base + 1, m do
    local row = rows[j - base]
    for i = 1, j do
      if row[i] - row[i] ~= 0 then core.raise(("[%s] expected finite products, got infinities or NaN"):format(steps.op)) end
      if i > locked then matrix[i - locked][j - locked], matrix[j - locked][i - locked] = row[i], row[i] end
    end
    if row[j + 1] == 0 or j == m then
      local square = {}
      for i = 1, j - locked do square[i] = {unpack(matrix[i], 1, j - locked)} end
      return square, row[j + 1]
    end
  end
end

--- Of the locked values, a list of {value, row}, and those of the basis, the k most wanted that have converged. Gives what stays of
--- the locked ones and the positions of the others. A value takes the place of another if it is better by a `margin`.
local function chosen_of(k, locked, values, which, has_converged, margin)
  local stays, chosen, ahead, rank = {unpack(locked)}, {}, 0, ranks[which]
  for _, at in ipairs(order_of(values, which)) do
    if not has_converged(at, 0) then
      ahead = ahead + 1
    elseif #stays + #chosen + ahead < k then
      chosen[#chosen + 1] = at
    else
      local worst
      for i, other in ipairs(stays) do
        if not worst or rank(other[1]) > rank(stays[worst][1]) then worst = i end
      end
      if worst and rank(values[at]) < rank(stays[worst][1]) - margin(values[at]) then
        table.remove(stays, worst)
        chosen[#chosen + 1] = at
      end
    end
  end
  return stays, chosen
end

--- Some eigenvalues and eigenvectors of a Hermitian matrix that is known by its products with vectors like `start`: the values as a
--- list, the vectors in rows. Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000. Each
--- product is made orthogonal to the whole basis, twice. Waits once for each basis of `ncv` vectors.
---
--- Wanted vectors that have converged are locked: the first ones of the basis, to which all others are orthogonal. The products of one
--- vector reach one vector of each eigenspace, so of values that occur several times copies may be missing. Another search follows,
--- from any other vector, until one finds nothing new: the best of the values that are not locked has converged enough to be told
--- from the wanted ones, so a copy that is missing would have come before it. Values of the greatest magnitude are at both sides.
local function lanczos(steps, multiply, start, which)
  local k, m, n = steps.k, steps.ncv, start.size
  local sides = which == "LM" and {"LA", "SA"} or {which}
  local space = tools.new_space(start, m, start.dtype)
  space.basis(1):copy_(start / tools.length(start))
  -- The values of the vectors at the beginning of the basis: those that are locked, those that were kept at a restart.
  local locked, kept = {}, {}
  -- The side where a search looks, 0 before there are k values; its number; whether it has found a value; its restarts.
  local side, searches, is_new, round = 0, 0, false, 0
  while true do
    round = round + 1
    for j = #locked + #kept + 1, m do tools.extend(space, j, multiply(space.basis(j))) end
    local matrix, last = projection(steps, space, #locked, kept)
    local size = #matrix
    local theta, y = gpu.linalg.eigh(gpu.array(matrix, {dtype = "float64", device = start.device}))
    local values, ends, scale = theta:table(), y(size):table(), 0
    for _, value in ipairs(values) do scale = math.max(scale, math.abs(value)) end
    for _, other in ipairs(locked) do scale = math.max(scale, math.abs(other[1])) end
    local function has_converged(at, gap)
      return math.abs(last * ends[at]) <= math.max(steps.tol * math.abs(values[at]), 4 * space.epsilon * scale, gap / 100)
    end
    local function margin(value) return math.max(steps.tol * math.abs(value), 100 * space.epsilon * scale) end
    local stays, chosen = chosen_of(k, locked, values, which, has_converged, margin)
    is_new = is_new or #chosen > 0

    local rest, is_chosen = {}, {}
    for _, at in ipairs(chosen) do is_chosen[at] = true end
    local direction = sides[side] or which
    for _, at in ipairs(order_of(values, direction)) do
      if not is_chosen[at] then rest[#rest + 1] = at end
    end
    local before, rows = #locked, {}
    locked = {}
    for i, other in ipairs(stays) do locked[i], rows[i] = {other[1]}, other[2] end
    for _, at in ipairs(chosen) do locked[#locked + 1] = {values[at]} end
    for i, other in ipairs(locked) do other[2] = i end

    local is_over = last == 0
    if not is_over and #locked == k then
      local least = -math.huge
      for _, other in ipairs(locked) do least = math.max(least, ranks[which](other[1])) end
      is_over = searches == 0 or not rest[1] or has_converged(rest[1], ranks[direction](values[rest[1]]) - least)
    end
    if not is_over and round == steps.maxiter then
      local advice = ("a larger ncv than %d, or a tol above %g, needs fewer"):format(m, steps.tol)
      if #locked == k then
        core.raise(("[%s] expected to know after %d restarts that no copy of a value is missing, got the values alone; %s"):format(
          steps.op, round, advice))
      end
      core.raise(("[%s] expected %d values to converge, got %d after %d restarts; %s"):format(steps.op, k, #locked, round, advice))
    end
    local is_done = false
    kept = {}
    if is_over then
      if #locked == k then side = is_new and 1 or side + 1 end
      is_done, searches, is_new, round = side > #sides, searches + 1, false, 0
    else
      for i = 1, math.min(k + math.floor((m - k) / 2) - #locked, #rest, m - #locked - 1) do kept[i] = rest[i] end
    end
    -- The new basis: what stays locked, what was locked now, what is kept.
    local selected = {unpack(chosen)}
    for i, at in ipairs(kept) do selected[#selected + 1], kept[i] = at, values[at] end
    local following = space.basis(before + size + 1):copy()
    local parts = {}
    local function positions(list) return gpu.array(list, {dtype = "int64", device = start.device}) end
    if #rows > 0 then parts[1] = views.slice(space.basis, 1, 1, before):take(positions(rows), 1) end
    if #selected > 0 then
      parts[#parts + 1] = core.cast(y:take(positions(selected), 2).T, start.dtype)
        :matmul(views.slice(space.basis, 1, before + 1, size))
    end
    local filled = #rows + #selected
    if filled > 0 then views.slice(space.basis, 1, 1, filled):copy_(gpu.concat(parts, 1)) end
    if is_done then
      local found = {}
      for i, other in ipairs(locked) do found[i] = other[1] end
      -- Rounding errors of all restarts are taken from between the vectors.
      local vectors = views.slice(space.basis, 1, 1, k)
      local products = vectors:matmul(kinds.is_complex(vectors) and vectors.T:conj() or vectors.T)
      return found, vectors * 1.5 - (products * 0.5):matmul(vectors)
    elseif is_over then
      -- Rounding errors of products are told by the greatest of those, not by this vector.
      local greatest, other = space.greatest, random_vector(1 + searches, n, start.dtype, start.device)
      space.greatest = nil
      if filled == 0 then space.basis(1):copy_(other / tools.length(other)) else tools.extend(space, filled, other) end
      space.greatest = greatest
    else
      space.basis(filled + 1):copy_(following)
    end
  end
end

-- ---- eigenvalues ------------------------------------------------------------------------------------------------------------

--- The function x -> (A - sigma)^-1 x.
local function inverse_of(op, A, sigma, dtype)
  if core.sparse_fields(A) then
    local coo, n = A:tocoo(), A.shape[1]
    local diagonal = gpu.range(1, n, {dtype = coo.row.dtype, device = A.device})
    local values = gpu.concat {core.cast(coo.data, dtype), gpu.full({n}, -sigma, {dtype = dtype, device = A.device})}
    local shifted = gpu.sparse.coo(gpu.concat {coo.row, diagonal}, gpu.concat {coo.col, diagonal}, values, {n, n})
    import "sparse_linalg_direct"
    return tools.solver_of(op, shifted, dtype, ("; for the eigenvalues near %g take a sigma beside it"):format(sigma))
  elseif core.is_array(A) then
    local lu, pivots = gpu.linalg.lu_factor(core.cast(A, dtype) - sigma * gpu.eye(A.shape[1], {dtype = dtype, device = A.device}))
    return function(x) return gpu.linalg.lu_solve(lu, pivots, x) end
  end
  core.fail(op, "an array or a sparse matrix, whose factors find the eigenvalues near sigma, or near 0 for which = \"SM\"", A)
end

local function check_which(op, which, known)
  which = which or "LM"
  for name in known:gmatch "%a+" do
    if which == name then return which end
  end
  core.fail(op, "which = " .. known, which)
end

--- gpu.sparse.linalg.eigsh(A [, k] [, {k, which, sigma, v0, ncv, tol, maxiter, vectors}])
function linalg.eigsh(A, k, options)
  local op = "sparse.linalg.eigsh"
  if checks.is_options(k) then k, options = checks.shift(op, k, options) end
  options = checks.fields(op, options)
  local dtype = tools.check_matrix_alone(op, A)
  if A.shape[1] ~= A.shape[2] then core.raise(("[%s] expected a square matrix, got shape %s"):format(op, checks.shape_text(A.shape))) end
  local n = A.shape[1]
  k = check_count(op, k or options.k or math.min(6, n), n)
  local which = check_which(op, options.which, 'LM, LA, SA or SM')
  local sigma = options.sigma
  if sigma ~= nil and type(sigma) ~= "number" then core.fail(op, "sigma = a number", sigma) end
  local steps, wants_vectors = check_steps(op, options, k, n, math.max(2 * k + 1, 20))
  local device = device_of(A, options.v0)
  local start = first_vector(op, options.v0, n, dtype, device)
  if which == "SM" then
    if sigma ~= nil then core.fail(op, 'which = LM, LA or SA beside sigma', which) end
    which, sigma = "LM", 0
  end
  local values, rows
  local searches = sigma or options.v0 or options.ncv or options.tol or options.maxiter or tools.is_operator(A)
  if is_small(A, k, n) or not searches and device == "cpu" and n <= few_rows_on_cpu then
    -- In double precision, which costs so small a matrix nothing.
    local precise = linalg_tools.real_of(dtype) == dtype and "float64" or "complex128"
    local all, y = gpu.linalg.eigh(core.cast(dense(A, dtype, device), precise))
    if sigma then all = (all - sigma):reciprocal() end
    local list = all:astype("float64"):table()
    local order = order_of(list, which)
    values, rows = {}, core.cast(y:take(gpu.array({unpack(order, 1, k)}, {dtype = "int64", device = all.device}), 2).T, dtype)
    for i = 1, k do values[i] = list[order[i]] end
  else
    local inverse = sigma and inverse_of(op, A, sigma, dtype)
    values, rows = lanczos(steps, inverse or function(x) return core.cast(A:matmul(x), dtype) end, start, which)
  end
  if sigma then
    for i = 1, k do values[i] = sigma + 1 / values[i] end
  end
  local found = gpu.array(values, {dtype = "float64", device = rows.device})
  local order = found:argsort()
  found = core.cast(found:take(order), linalg_tools.real_of(dtype)):eval()
  if not wants_vectors then return found end
  return found, rows:take(order, 1).T:contiguous()
end

-- ---- singular values --------------------------------------------------------------------------------------------------------

--- gpu.sparse.linalg.svds(A [, k] [, {k, v0, ncv, tol, maxiter, vectors}])
--- Of the eigenvectors (u, v) of the matrix with A and A' beside zeros, whose eigenvalues are the singular values and their
--- negatives: squares of A would lose the small ones. Then A is decomposed on the space of the v, so that vectors of singular
--- values of 0 are orthogonal, too.
function linalg.svds(A, k, options)
  local op = "sparse.linalg.svds"
  if checks.is_options(k) then k, options = checks.shift(op, k, options) end
  options = checks.fields(op, options)
  local dtype = tools.check_matrix_alone(op, A)
  local m, n = A.shape[1], A.shape[2]
  k = check_count(op, k or options.k or math.min(6, m, n), math.min(m, n))
  local steps, wants_vectors = check_steps(op, options, k, m + n, 2 * math.max(2 * k + 1, 20))
  local device = device_of(A, options.v0)
  local v0 = first_vector(op, options.v0, n, dtype, device)
  local u, s, vh
  if is_small(A, k, math.min(m, n)) then
    u, s, vh = gpu.linalg.svd(dense(A, dtype, device), false)
  else
    local adjoint
    if tools.is_operator(A) then
      function adjoint(y) return A:adjoint(y) end
    else
      local turned = A.T
      if dtype:find "complex" then turned = turned:conj() end
      function adjoint(y) return turned:matmul(y) end
    end
    local start = gpu.concat {gpu.zeros(m, {dtype = dtype, device = v0.device}), v0}
    local _, rows = lanczos(steps, function(x)
      local upper, lower = core.cast(A:matmul(views.slice(x, 1, m + 1, n)), dtype), core.cast(adjoint(views.slice(x, 1, 1, m)), dtype)
      return gpu.concat {upper, lower}
    end, start, "LA")
    local basis = gpu.linalg.qr(views.slice(rows, 2, m + 1, n).T)
    local products = {}
    for i = 1, k do products[i] = core.cast(A:matmul(basis(":", i):contiguous()), dtype) end
    u, s, vh = gpu.linalg.svd(gpu.stack(products, 2), false)
    local adjoint_basis = kinds.is_complex(basis) and basis.T:conj() or basis.T
    vh = vh:matmul(adjoint_basis)
  end
  s = views.slice(s, 1, 1, k):contiguous()
  if not wants_vectors then return s end
  return views.slice(u, 2, 1, k):contiguous(), s, views.slice(vh, 1, 1, k):contiguous()
end
