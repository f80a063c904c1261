-- gpu.linalg: decompositions into orthogonal matrices, eigenvalues and singular values.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

local linalg, tools = gpu.linalg, import "linalg"
local batch_of, check_matrices, check_square, eye, fresh = tools.batch_of, tools.check_matrices, tools.check_square, tools.eye,
  tools.fresh
local in_columns, in_rows, keeping_nan, letter = tools.in_columns, tools.in_rows, tools.keeping_nan, tools.letter
local only_finite, real_of = tools.only_finite, tools.real_of
local shaped, transposed, working = tools.shaped, tools.transposed, tools.working

local function empty(like, dtype, ...) return gpu.empty({...}, {dtype = dtype, device = like.device}) end

--- Matrices that the solver has written in columns.
local function from_columns(x) return transposed(x):contiguous() end

-- ---- QR ---------------------------------------------------------------------------------------------------------------------

--- The first `count` columns of Q, of the reflectors in columns.
local function orthogonal(columns, factors, count)
  local m, k = columns.shape[columns.ndim], factors.shape[factors.ndim]
  local batch = batch_of(columns)
  local q = gpu.empty(shaped(batch, count, m), {dtype = columns.dtype, device = columns.device})
  local own = math.min(count, columns.shape[columns.ndim - 1])
  views.slice(q, q.ndim - 1, 1, own):copy_(views.slice(columns, q.ndim - 1, 1, own))
  if k == 0 then
    q:copy_(views.slice(eye(m, q.dtype, q), 1, 1, count))
  elseif q.size > 0 then
    core.decompose {routine = "orthogonal", a = q, values = factors}
  end
  return from_columns(q)
end

--- Q and R of many small matrices, or nil. `complete`: Q is square.
local function small_factors(a, dtype, complete)
  if a.size == 0 or not core.takes_small(a) or not core.takes_small(transposed(a)) then return nil end
  local batch, m, n = batch_of(a), a.shape[a.ndim - 1], a.shape[a.ndim]
  local columns = complete and m or math.min(m, n)
  local q = gpu.empty(shaped(batch, m, columns), {dtype = dtype, device = a.device})
  local r = gpu.empty(shaped(batch, columns, n), {dtype = dtype, device = a.device})
  core.qr_small(in_rows(a, dtype), q, r)
  return q, r
end

local modes = {reduced = true, complete = true, r = true, raw = true}

--- gpu.linalg.qr(a [, mode] [, {mode, dtype}])
function linalg.qr(a, mode, options)
  local op = "linalg.qr"
  if type(mode) == "table" then mode, options = checks.shift(op, mode, options) end
  options = checks.fields(op, options)
  check_matrices(op, a)
  mode = mode or options.mode or "reduced"
  if not modes[mode] then core.fail(op, 'mode = "reduced", "complete", "r" or "raw"', mode) end
  local dtype = working(op, options, a)
  local q, small_r
  if mode ~= "raw" then q, small_r = small_factors(a, dtype, mode == "complete") end
  if q and mode == "r" then return small_r end
  if q then return q, small_r end
  local columns = in_columns(a, dtype)
  local m, n = a.shape[a.ndim - 1], a.shape[a.ndim]
  local k = math.min(m, n)
  local factors = gpu.empty(shaped(batch_of(a), k), {dtype = columns.dtype, device = a.device})
  if factors.size > 0 then
    keeping_nan(columns, function() core.decompose {routine = "reflectors", a = columns, values = factors} end)
  end
  if mode == "raw" then return columns, factors end
  local rows = mode == "complete" and m or k
  local r = gpu.triu(views.slice(transposed(columns), a.ndim - 1, 1, rows))
  if mode == "r" then return r end
  return orthogonal(columns, factors, rows), r
end

-- ---- symmetric matrices -----------------------------------------------------------------------------------------------------

--- The same as symmetric(), for many small matrices in rows.
local function small_symmetric(op, a, upper, vectors)
  local w = gpu.empty(shaped(batch_of(a), a.shape[a.ndim]), {dtype = real_of(a.dtype), device = a.device})
  local v = vectors and empty(a, a.dtype, unpack(a.shape)) or nil
  local info = core.eigen_small(a, upper, w, v)
  core.check_decomposition(op, "not converged", info, nil, {w, v})
  return w, v
end

--- The eigenvalues of symmetric matrices, and with `vectors` a matrix whose columns are the eigenvectors.
local function symmetric(op, a, options, vectors)
  check_square(op, a)
  local dtype, n = working(op, options, a), a.shape[a.ndim]
  local upper = letter(op, "uplo", options.uplo, "LU") == "U"
  if a.size > 0 then
    local rows = in_rows(a, dtype)
    if core.takes_small_symmetric(rows) then return small_symmetric(op, rows, upper, vectors) end
  end
  local z, report
  a, report = only_finite(a, upper and gpu.triu or gpu.tril)
  z = fresh(a, dtype)
  local w = gpu.empty(shaped(batch_of(a), n), {dtype = real_of(dtype), device = a.device})
  if z.size > 0 then
    -- In columns, the matrix is its conjugate, and a triangle the other one.
    local info = core.decompose {routine = "symmetric_eigen", a = z, values = w, upper = not upper, vectors = vectors}
    core.check_decomposition(op, "not converged", report(info), w, vectors and {w, z} or {w})
  end
  if not vectors then return w end
  return w, kinds.is_complex(z) and transposed(z):conj() or from_columns(z)
end

--- The same for other functions, whose derivatives are by those of the public ones.
function tools.symmetric(op, a, options, vectors)
  if core.depends(a) then return (vectors and linalg.eigh or linalg.eigvalsh)(a, options) end
  return symmetric(op, a, options, vectors)
end

--- gpu.linalg.eigh(a [, {b, uplo, dtype}])
function linalg.eigh(a, options)
  options = checks.fields("linalg.eigh", options)
  if options.b == nil then return symmetric("linalg.eigh", a, options, true) end
  import "linalg_structured"
  return tools.symmetric_pair("linalg.eigh", a, options)
end

--- gpu.linalg.eigvalsh(a [, {uplo, dtype, out}])
function linalg.eigvalsh(a, options)
  options = checks.fields("linalg.eigvalsh", options)
  return core.assign("linalg.eigvalsh", options.out, (symmetric("linalg.eigvalsh", a, options, false)))
end

-- ---- other square matrices --------------------------------------------------------------------------------------------------

local i = gpu.complex(0, 1)

--- The eigenvectors of a real matrix, as rows. For a pair of conjugates there are the real parts, then the imaginary parts of the
--- first one, whose eigenvalue has a positive imaginary part.
local function complex_vectors(v, imaginary)
  local sign = imaginary:expand_dims(-1)
  local re = gpu.where(sign:lt(0), v:roll(1, -2), v)
  local im = gpu.where(sign:gt(0), v:roll(-1, -2), gpu.where(sign:lt(0), -v, 0))
  return re + im * i
end

local function general(op, a, options, vectors)
  check_square(op, a)
  local dtype, batch, n = working(op, options, a), batch_of(a), a.shape[a.ndim]
  local is_real = real_of(dtype) == dtype
  local w = gpu.empty(is_real and shaped(batch, 2, n) or shaped(batch, n), {dtype = dtype, device = a.device})
  local v = vectors and empty(a, dtype, unpack(a.shape)) or nil
  if a.size > 0 then
    local report
    a, report = only_finite(a)
    local info = core.decompose {routine = "eigen", a = in_columns(a, dtype), values = w, b = v, vectors = vectors}
    core.check_decomposition(op, "not converged", report(info), w, vectors and {w, v} or {w})
  end
  if not is_real then return w, vectors and from_columns(v) end
  local imaginary = views.pick(w, w.ndim - 1, 2)
  return views.pick(w, w.ndim - 1, 1) + imaginary * i, vectors and transposed(complex_vectors(v, imaginary))
end

--- gpu.linalg.eig(a [, {dtype}])
function linalg.eig(a, options)
  return general("linalg.eig", a, checks.fields("linalg.eig", options), true)
end

--- gpu.linalg.eigvals(a [, {dtype, out}])
function linalg.eigvals(a, options)
  options = checks.fields("linalg.eigvals", options)
  return core.assign("linalg.eigvals", options.out, (general("linalg.eigvals", a, options, false)))
end

-- ---- singular values --------------------------------------------------------------------------------------------------------

--- The singular values of many small matrices in rows.
local function small_singular(op, a)
  local s = gpu.empty(shaped(batch_of(a), math.min(a.shape[a.ndim - 1], a.shape[a.ndim])),
    {dtype = real_of(a.dtype), device = a.device})
  core.check_decomposition(op, "not converged", core.singular_small(a, s), nil, {s})
  return s
end

--- U, S and V' of matrices, or S alone without `vectors`. The solver wants as many rows as columns, or more. Wide matrices are the
--- transposes of what it gets, so its left vectors, in columns, are V' in rows.
local function singular(op, a, dtype, vectors, full)
  if not vectors and a.size > 0 then
    local rows = in_rows(a, dtype)
    if core.takes_small_singular(rows) then return small_singular(op, rows) end
  end
  local batch, m, n = batch_of(a), a.shape[a.ndim - 1], a.shape[a.ndim]
  local k, most, wide = math.min(m, n), math.max(m, n), n >= m
  -- The method that a solver may have for many small matrices gives all vectors.
  local all = full or #batch > 0 and most <= 32
  local s = gpu.empty(shaped(batch, k), {dtype = real_of(dtype), device = a.device})
  local left, right
  if vectors then
    left = gpu.empty(shaped(batch, all and most or k, most), {dtype = dtype, device = a.device})
    right = gpu.empty(shaped(batch, k, k), {dtype = dtype, device = a.device})
  end
  if a.size > 0 then
    local report
    a, report = only_finite(a)
    local info, _, right_in_columns = core.decompose {routine = "singular_values", a = wide and fresh(a, dtype)
      or in_columns(a, dtype), values = s, b = left, c = right, vectors = vectors, full = all}
    core.check_decomposition(op, "not converged", report(info), s, vectors and {s, left, right} or {s})
    if right_in_columns then right = transposed(kinds.is_complex(right) and right:conj() or right) end
  elseif vectors and left.size > 0 then
    left:copy_(eye(most, dtype, a))
  end
  if not vectors then return s end
  if not full then left = views.slice(left, left.ndim - 1, 1, k) end
  if wide then return right:contiguous(), s, left:contiguous() end
  return from_columns(left), s, from_columns(right)
end

--- The same for other functions, as tools.symmetric.
function tools.singular(op, a, dtype, vectors, full)
  if not core.depends(a) then return singular(op, a, dtype, vectors, full) end
  if vectors then return linalg.svd(a, full, {dtype = dtype}) end
  return linalg.svdvals(a, {dtype = dtype})
end

--- gpu.linalg.svd(a [, full_matrices] [, {full_matrices, dtype}])
function linalg.svd(a, full_matrices, options)
  local op = "linalg.svd"
  if type(full_matrices) == "table" then full_matrices, options = checks.shift(op, full_matrices, options) end
  options = checks.fields(op, options)
  check_matrices(op, a)
  local full = checks.flag(op, "full_matrices", full_matrices)
  if full == nil then full = checks.flag(op, "full_matrices", options.full_matrices) end
  return singular(op, a, working(op, options, a), true, full ~= false)
end

--- gpu.linalg.svdvals(a [, {dtype, out}])
function linalg.svdvals(a, options)
  local op = "linalg.svdvals"
  options = checks.fields(op, options)
  check_matrices(op, a)
  return core.assign(op, options.out, (singular(op, a, working(op, options, a), false, false)))
end
