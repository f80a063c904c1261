-- gpu.sparse.linalg: some eigenvalues and singular values of large matrices, by Lanczos' method.
local gpu, methods, core = ...
core.load "sparse_linalg_krylov.lua"

local linalg, tools = gpu.sparse.linalg, core.sparse_linalg

-- Up to so many rows, or for half of all eigenvalues, a matrix is decomposed as an array.
local few_rows = 64

-- ---- arguments --------------------------------------------------------------------------------------------------------------

--- The number k of wanted values, of at most n.
local function check_count(op, k, n)
  k = core.check_integer(op, "k, a number of values", k)
  if k < 1 or k > n then core.fail(op, ("k from 1 to %d"):format(n), k) end
  return k
end

--- Reads tol, ncv, maxiter and vectors.
local function check_steps(op, options, k, most, otherwise)
  local tol = options.tol == nil and 0 or options.tol
  if type(tol) ~= "number" or not (tol >= 0) then core.fail(op, "tol = a number of 0 or more", tol) end
  local ncv = core.check_integer(op, "ncv = an integer", options.ncv == nil and math.min(otherwise, most) or options.ncv)
  if ncv < math.min(k + 2, most) or ncv > most then
    core.fail(op, ("ncv from %d to %d, the size of the basis"):format(math.min(k + 2, most), most), ncv)
  end
  local maxiter = core.check_integer(op, "maxiter = an integer", options.maxiter == nil and 1000 or options.maxiter)
  if maxiter < 1 then core.fail(op, "maxiter of 1 or more", maxiter) end
  return {op = op, k = k, tol = tol, ncv = ncv, maxiter = maxiter}, core.check_flag(op, "vectors", options.vectors) ~= false
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

--- The vector to begin with: an option, or random numbers that do not depend on the script's.
local function first_vector(op, v0, n, dtype, device)
  if v0 ~= nil then
    core.check_array(op, v0)
    if v0.ndim ~= 1 or v0.size ~= n then core.fail(op, ("v0, a vector of %d elements"):format(n), v0) end
    return core.cast(v0, dtype)
  end
  local generator = gpu.random.generator("philox", {seed = 1, device = device})
  return core.cast(generator:normal(n), dtype)
end

-- ---- Lanczos' method --------------------------------------------------------------------------------------------------------

--- The positions of the wanted eigenvalues, the most wanted first.
local function order_of(values, which)
  local order = {}
  for i = 1, #values do order[i] = i end
  local rank = {LA = function(x) return -x end, SA = function(x) return x end, LM = function(x) return -math.abs(x) end}
  rank = rank[which]
  table.sort(order, function(i, j)
    if rank(values[i]) ~= rank(values[j]) then return rank(values[i]) < rank(values[j]) end
    return i < j
  end)
  return order
end

--- Some eigenvalues and eigenvectors of a Hermitian matrix that is known by its products with vectors like `start`: the values as a
--- list, the vectors in rows. Wu and Simon, "Thick-restart Lanczos method for large symmetric eigenvalue problems", 2000. Each
--- product is made orthogonal to the whole basis, twice. Waits once for each basis of `ncv` vectors.
local function lanczos(steps, multiply, start, which)
  local k, m, n = steps.k, steps.ncv, start.size
  local space = tools.new_space(start, m, start.dtype)
  local length = tools.length(start)
  if not (length > 0 and length < math.huge) then core.fail(steps.op, "v0 with a finite length above 0", length) end
  space.basis(1):copy_(start / length)
  local projected, kept, closed = {}, 0, nil
  for i = 1, m do projected[i] = {} end
  for round = 1, steps.maxiter do
    for j = kept + 1, m do tools.extend(space, j, multiply(space.basis(j))) end
    -- The projected matrix: the kept values, and a column for each new vector. It ends where the products stay in the basis.
    local rows, size = tools.real(core.slice(space.h, 1, kept + 1, m - kept)):astype("float64"):table(), m
    for j = kept + 1, m do
      for i = 1, j do
        local value = rows[j - kept][i]
        if value - value ~= 0 then core.raise(("[%s] expected finite products, got infinities or NaN"):format(steps.op)) end
        projected[i][j], projected[j][i] = value, value
      end
      if rows[j - kept][j + 1] == 0 then
        size = j
        break
      end
    end
    local last = rows[size - kept][size + 1]
    local matrix = {}
    for i = 1, size do matrix[i] = {unpack(projected[i], 1, size)} end
    local theta, y = gpu.linalg.eigh(gpu.array(matrix, {dtype = "float64", device = start.device}))
    local values, ends, scale = theta:table(), y(size):table(), 0
    for _, value in ipairs(values) do scale = math.max(scale, math.abs(value)) end
    local order = order_of(values, which)
    local converged = 0
    for i = 1, math.min(k, size) do
      local at = order[i]
      local error_bound = math.max(steps.tol * math.abs(values[at]), 4 * space.epsilon * scale)
      if math.abs(last * ends[at]) <= error_bound then converged = converged + 1 end
    end
    --- The most wanted vectors, in rows.
    local function vectors(count)
      local at = gpu.array({unpack(order, 1, count)}, {dtype = "int64", device = start.device})
      return core.cast(y:take(at, 2).T, start.dtype):matmul(core.slice(space.basis, 1, 1, size))
    end
    -- A space that is closed may lack vectors with the same eigenvalues: another vector has to bring nothing new.
    local wanted, same = {}, closed ~= nil
    for i = 1, math.min(k, size) do
      wanted[i] = values[order[i]]
      same = same and closed[i] ~= nil and math.abs(wanted[i] - closed[i]) <= 100 * space.epsilon * scale
    end
    if converged == k and (last ~= 0 or same or size == n) then return wanted, vectors(k) end
    closed = last == 0 and wanted or nil
    if round == steps.maxiter then
      core.raise(("[%s] expected %d values to converge, got %d after %d restarts; a larger ncv than %d, or a tol above %g, needs "
        .. "fewer"):format(steps.op, k, converged, round, m, steps.tol))
    end
    kept = math.min(k + math.floor((m - k) / 2), last == 0 and size or size - 1, m - 1)
    local next_vector = last == 0 and steps.fresh(round) or space.basis(size + 1):copy()
    core.slice(space.basis, 1, 1, kept):copy_(vectors(kept))
    if last == 0 then
      tools.extend(space, kept, next_vector)
    else
      space.basis(kept + 1):copy_(next_vector)
    end
    for i = 1, kept do
      for j = 1, kept do projected[i][j] = i == j and values[order[i]] or 0 end
    end
  end
end

--- A function that gives other vectors like the first one, for spaces that are closed.
local function fresh_vectors(start)
  return function(round)
    local generator = gpu.random.generator("philox", {seed = 1 + round, device = start.device})
    return core.cast(generator:normal(start.size), start.dtype)
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
    core.load "sparse_linalg_direct.lua"
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

function linalg.eigsh(A, k, options)
  local op = "sparse.linalg.eigsh"
  if core.is_options(k) then k, options = core.shift(op, k, options) end
  options = core.check_fields(op, options)
  local dtype = tools.check_matrix_alone(op, A)
  if A.shape[1] ~= A.shape[2] then core.raise(("[%s] expected a square matrix, got shape %s"):format(op, core.text(A.shape))) end
  local n = A.shape[1]
  k = check_count(op, k or options.k or math.min(6, n), n)
  local which = check_which(op, options.which, 'LM, LA, SA or SM')
  local sigma = options.sigma
  if sigma ~= nil and type(sigma) ~= "number" then core.fail(op, "sigma = a number", sigma) end
  local steps, wants_vectors = check_steps(op, options, k, n, math.max(2 * k + 1, 20))
  local device = device_of(A, options.v0)
  if which == "SM" and sigma == nil then which, sigma = "LM", 0 end
  local values, rows
  if n <= few_rows or 2 * k > n then
    local all, y = gpu.linalg.eigh(dense(A, dtype, device))
    if sigma then all = (all - sigma):reciprocal() end
    local list = all:astype("float64"):table()
    local order = order_of(list, which)
    values, rows = {}, y:take(gpu.array({unpack(order, 1, k)}, {dtype = "int64", device = all.device}), 2).T
    for i = 1, k do values[i] = list[order[i]] end
  else
    local start = first_vector(op, options.v0, n, dtype, device)
    steps.fresh = fresh_vectors(start)
    local inverse = sigma and inverse_of(op, A, sigma, dtype)
    values, rows = lanczos(steps, inverse or function(x) return core.cast(A:matmul(x), dtype) end, start, which)
  end
  if sigma then
    for i = 1, k do values[i] = sigma + 1 / values[i] end
  end
  local found = gpu.array(values, {dtype = "float64", device = rows.device})
  local order = found:argsort()
  found = core.cast(found:take(order), core.linalg.real_of(dtype)):eval()
  if not wants_vectors then return found end
  return found, rows:take(order, 1).T:contiguous()
end

-- ---- singular values --------------------------------------------------------------------------------------------------------

--- Of the eigenvectors (u, v) of the matrix with A and A' beside zeros, whose eigenvalues are the singular values and their
--- negatives: squares of A would lose the small ones. Then A is decomposed on the space of the v, so that vectors of singular
--- values of 0 are orthogonal, too.
function linalg.svds(A, k, options)
  local op = "sparse.linalg.svds"
  if core.is_options(k) then k, options = core.shift(op, k, options) end
  options = core.check_fields(op, options)
  local dtype = tools.check_matrix_alone(op, A)
  local m, n = A.shape[1], A.shape[2]
  k = check_count(op, k or options.k or math.min(6, m, n), math.min(m, n))
  local steps, wants_vectors = check_steps(op, options, k, m + n, 2 * math.max(2 * k + 1, 20))
  local device = device_of(A, options.v0)
  local u, s, vh
  if math.min(m, n) <= few_rows or 2 * k > math.min(m, n) then
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
    local v0 = first_vector(op, options.v0, n, dtype, device)
    local start = gpu.concat {gpu.zeros(m, {dtype = dtype, device = v0.device}), v0}
    steps.fresh = fresh_vectors(start)
    local _, rows = lanczos(steps, function(x)
      local upper, lower = core.cast(A:matmul(core.slice(x, 1, m + 1, n)), dtype), core.cast(adjoint(core.slice(x, 1, 1, m)), dtype)
      return gpu.concat {upper, lower}
    end, start, "LA")
    local basis = gpu.linalg.qr(core.slice(rows, 2, m + 1, n).T)
    local products = {}
    for i = 1, k do products[i] = core.cast(A:matmul(basis(":", i):contiguous()), dtype) end
    u, s, vh = gpu.linalg.svd(gpu.stack(products, 2), false)
    local adjoint_basis = core.is_complex(basis) and basis.T:conj() or basis.T
    vh = vh:matmul(adjoint_basis)
  end
  s = core.slice(s, 1, 1, k):contiguous()
  if not wants_vectors then return s end
  return core.slice(u, 2, 1, k):contiguous(), s, core.slice(vh, 1, 1, k):contiguous()
end
