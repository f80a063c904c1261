-- gpu.linalg: least squares, ranks, powers and special matrices, from the functions of the other linalg files.
-- In sandboxes: all
local gpu, methods, core, import = ...
import "linalg_spectral"
local checks = import "checks"
local kinds = import "kinds"
local views = import "views"

local linalg, tools = gpu.linalg, import "linalg"
local batch_of, check_matrices, check_square, eye, fresh = tools.batch_of, tools.check_matrices, tools.check_square, tools.eye,
  tools.fresh
local real_of, refuse_shapes, shaped, transposed, working = tools.real_of, tools.refuse_shapes, tools.shaped, tools.transposed,
  tools.working
local inf = math.huge

local epsilon = {float32 = 2 ^ -23, float64 = 2 ^ -52}

--- x' of a matrix.
local function adjoint(x) return kinds.is_complex(x) and transposed(x):conj() or transposed(x) end

--- A tolerance relative to the greatest singular value: the option, a number or an array with one for each matrix of the batch, or by
--- the matrices' extents.
local function tolerance(op, name, value, a, dtype)
  if core.is_array(value) then return core.cast(checks.real(op, value), real_of(dtype)):expand_dims(-1) end
  return checks.tolerance(op, name, value, 1) or math.max(a.shape[a.ndim - 1], a.shape[a.ndim]) * epsilon[real_of(dtype)]
end

local function greatest(s)
  if s.shape[s.ndim] == 0 then return gpu.zeros(shaped(batch_of(s, 1), 1), {dtype = s.dtype, device = s.device}) end
  return s:max(-1, {keepdims = true})
end

-- ---- rank, inverses and least squares -----------------------------------------------------------------------------------------

--- Whether the option `hermitian` says that the matrices are symmetric, or Hermitian. Their lower triangles are read then.
local function check_hermitian(op, a, options)
  local hermitian = checks.flag(op, "hermitian", options.hermitian)
  if hermitian then check_square(op, a) end
  return hermitian
end

--- gpu.linalg.matrix_rank(a [, tol] [, {tol, rtol, hermitian, dtype}])
function linalg.matrix_rank(a, tol, options)
  local op = "linalg.matrix_rank"
  if type(tol) == "table" then tol, options = checks.shift(op, tol, options) end
  options = checks.fields(op, options)
  checks.array(op, a)
  if a.ndim < 2 then return core.cast(a:ne(0):any(), "int64") end
  tol = checks.tolerance(op, "tol", tol or options.tol)
  local dtype = working(op, options, a)
  local s
  if check_hermitian(op, a, options) then
    s = tools.symmetric(op, a, {dtype = dtype}, false):abs()
  else
    s = tools.singular(op, a, dtype, false, false)
  end
  local limit = tol or greatest(s) * tolerance(op, "rtol", options.rtol, a, dtype)
  return s:gt(limit):sum(-1)
end

--- 1 / s where s is above the relative tolerance, else 0; and where it is.
local function reciprocals(s, rcond)
  local keeps = s:gt(greatest(s) * rcond)
  return gpu.where(keeps, gpu.where(keeps, s, 1):reciprocal(), 0), keeps
end

--- gpu.linalg.pinv(a [, rcond] [, {rcond, hermitian, dtype, out}])
function linalg.pinv(a, rcond, options)
  local op = "linalg.pinv"
  if type(rcond) == "table" then rcond, options = checks.shift(op, rcond, options) end
  options = checks.fields(op, options)
  check_matrices(op, a)
  local dtype = working(op, options, a)
  rcond = tolerance(op, "rcond", rcond or options.rcond, a, dtype)
  if check_hermitian(op, a, options) then
    local w, v = tools.symmetric(op, a, {dtype = dtype}, true)
    local inverse = reciprocals(w:abs(), rcond) * w:sign()
    return core.assign(op, options.out, (v * inverse:expand_dims(-2)):matmul(adjoint(v)))
  end
  local u, s, v = tools.singular(op, a, dtype, true, false)
  local scaled = adjoint(v) * reciprocals(s, rcond):expand_dims(-2)
  return core.assign(op, options.out, scaled:matmul(adjoint(u)))
end

--- x' y of matrices with many rows. A device is busy with few elements of one product, so pieces of rows are multiplied apart.
local function product_of_rows(x, y)
  local m, least_rows, most_pieces = x.shape[x.ndim - 1], 256, 512
  local pieces = x.ndim == 2 and y.ndim == 2 and math.min(math.floor(m / least_rows), most_pieces) or 0
  if pieces < 2 then return adjoint(x):matmul(y) end
  local rows = math.floor(m / pieces)
  local function pieces_of(z) return views.slice(z, 1, 1, pieces * rows):reshape(pieces, rows, z.shape[2]) end
  local function rest_of(z) return views.slice(z, 1, pieces * rows + 1, m - pieces * rows) end
  local sum = adjoint(pieces_of(x)):matmul(pieces_of(y)):sum(1)
  return m == pieces * rows and sum or sum + adjoint(rest_of(x)):matmul(rest_of(y))
end

--- The x of lstsq, the singular values s, and which of them count.
local function by_singular_values(op, a, sides, dtype, rcond)
  local u, s, v = tools.singular(op, a, dtype, true, false)
  local inverse, keeps = reciprocals(s, rcond)
  return adjoint(v):matmul(inverse:expand_dims(-1) * adjoint(u):matmul(sides)), s, keeps
end

local double = {float32 = "float64", complex64 = "complex128"}

--- The same for many rows in single precision: by the eigenvalues of a' a in double precision, where products of two elements are
--- exact. The errors relative to the greatest s are below those of singular values in single precision: 2^-26.5 of s, instead of some
--- 2^-24, and 2^-53 c^2 of x, where c is the greatest s by the least that counts, instead of 2^-24 c; single precision cannot tell an s
--- from 0 where c is above 2^24.
local function by_squares(op, a, sides, dtype, rcond)
  local columns, right = core.cast(a, double[dtype]):eval(), core.cast(sides, double[dtype]):eval()
  local squares, v = tools.symmetric(op, product_of_rows(columns, columns), {dtype = double[dtype]}, true)
  local s = squares:maximum(0):sqrt()
  local inverse, keeps = reciprocals(s, rcond)
  local x = v:matmul(inverse:square():expand_dims(-1) * adjoint(v):matmul(product_of_rows(columns, right)))
  return core.cast(x, dtype), core.cast(s:flip(-1), real_of(dtype)), keeps
end

--- The same for many rows in double precision: R of the factors Q R of a, with b as further columns, has R of a and Q' b, so Q is not
--- needed, and few rows are left.
local function by_factors(op, a, sides, dtype, rcond)
  local n, finite = a.shape[a.ndim], sides:isfinite():all(-2, {keepdims = true})
  local r = linalg.qr(gpu.concat({core.cast(a, dtype), gpu.where(finite, sides, 0)}, -1), "r")
  r = views.slice(r, r.ndim - 1, 1, n)
  local x, s, keeps = by_singular_values(op, views.slice(r, r.ndim, 1, n), views.slice(r, r.ndim, n + 1, sides.shape[sides.ndim]),
    dtype, rcond)
  return gpu.where(finite, x, 0 / 0), s, keeps
end

--- Which of the three is the quickest.
local function way_of(a, sides, dtype)
  local m, n, least_elements = a.shape[a.ndim - 1], a.shape[a.ndim], 8192
  if a.size == 0 or m < 2 * n then return by_singular_values end
  if double[dtype] then return by_squares end
  local one_batch = checks.shape_text(batch_of(a)) == checks.shape_text(batch_of(sides))
  return one_batch and m * n >= least_elements and by_factors or by_singular_values
end

--- gpu.linalg.lstsq(a, b [, rcond] [, {rcond, dtype}])
function linalg.lstsq(a, b, rcond, options)
  local op = "linalg.lstsq"
  if type(rcond) == "table" then rcond, options = checks.shift(op, rcond, options) end
  options = checks.fields(op, options)
  tools.check_equations(op, a, b)
  check_matrices(op, a)
  checks.array(op, b)
  local m, n, is_vector = a.shape[a.ndim - 1], a.shape[a.ndim], b.ndim == 1
  if b.ndim == 0 or b.shape[is_vector and 1 or b.ndim - 1] ~= m then refuse_shapes(op, "(...,m,n) and (m,) or (...,m,k)", a, b) end
  local dtype = working(op, options, a, b)
  rcond = tolerance(op, "rcond", rcond or options.rcond, a, dtype)
  local sides = core.cast(is_vector and b:expand_dims(2) or b, dtype)
  local x, s, keeps = way_of(a, sides, dtype)(op, a, sides, dtype, rcond)
  local residuals
  if m > n then
    local distance = (sides - core.cast(a, dtype):matmul(x)):abs()
    residuals = distance:square():sum(-2)
  else
    residuals = gpu.zeros({0}, {dtype = real_of(dtype), device = a.device})
  end
  return is_vector and x:squeeze(-1) or x, residuals, core.cast(keeps:sum(-1), "int64"), s
end

-- ---- norms and conditions -----------------------------------------------------------------------------------------------------

--- gpu.linalg.norm(x [, order [, axis]] [, {axis, keepdims, dtype, out, order}])
function linalg.norm(...) return gpu.norm(...) end

--- gpu.linalg.vector_norm(x [, order [, axis]] [, {axis, keepdims, dtype, out, order}])
function linalg.vector_norm(x, order, axis, options)
  local op = "linalg.vector_norm"
  if type(order) == "table" then order, axis, options = nil, nil, checks.is_options(order) and order or options end
  options = checks.fields(op, options)
  checks.array(op, x)
  order, axis = order or options.order or 2, axis or options.axis
  if type(order) ~= "number" then core.fail(op, "a number or math.huge as the order", order) end
  local axes = checks.axes(op, axis, x.ndim)
  -- The elements of several axes become those of one.
  local last = x:permute(views.last_axes(x, axes))
  local shape, extents, count = batch_of(last, #axes), x.shape, 1
  for _, along in ipairs(axes) do count = count * extents[along] end
  local value = gpu.norm(last:reshape(shaped(shape, count)), order, -1, {dtype = options.dtype})
  if checks.flag(op, "keepdims", options.keepdims) then value = value:expand_dims(axes) end
  return core.assign(op, options.out, value)
end

--- gpu.linalg.matrix_norm(x [, order] [, {order, keepdims, dtype, out}])
function linalg.matrix_norm(x, order, options)
  local op = "linalg.matrix_norm"
  if type(order) == "table" then order, options = checks.shift(op, order, options) end
  options = checks.fields(op, options)
  check_matrices(op, x)
  order = order or options.order or "fro"
  return gpu.norm(x, order, {-2, -1}, {keepdims = options.keepdims, dtype = options.dtype, out = options.out})
end

local orders = {[2] = true, [-2] = true, [1] = true, [-1] = true, [inf] = true, [-inf] = true, fro = true, nuc = true}

--- gpu.linalg.cond(a [, order] [, {order, dtype, out}])
function linalg.cond(a, order, options)
  local op = "linalg.cond"
  if type(order) == "table" then order, options = checks.shift(op, order, options) end
  options = checks.fields(op, options)
  check_matrices(op, a)
  order = order or options.order or 2
  if not orders[order] then core.fail(op, '2, -2, 1, -1, math.huge, -math.huge, "fro" or "nuc" as the order', order) end
  local dtype = working(op, options, a)
  if a.size == 0 then core.fail(op, "a matrix with elements", a) end
  if math.abs(tonumber(order) or 0) == 2 then
    local s = tools.singular(op, a, dtype, false, false)
    local most, least = views.pick(s, s.ndim, 1), views.pick(s, s.ndim, -1)
    if order == -2 then most, least = least, most end
    -- 0 / 0 of a matrix of zeros
    return core.assign(op, options.out, gpu.where(gpu.logical_and(most:eq(0), least:eq(0)), inf, most / least))
  end
  check_square(op, a)
  local inverse, info = tools.invert(a, dtype)
  local own, other = gpu.norm(core.cast(a, dtype), order, {-2, -1}), nil
  -- The computed inverse of a singular matrix may have infinities and NaN.
  local singular = info:reshape(shaped(batch_of(a))):ne(0)
  local kept = gpu.where(singular:expand_dims {-2, -1}, 0, inverse)
  other = gpu.norm(kept, order, {-2, -1})
  return core.assign(op, options.out, gpu.where(singular, inf, own * other))
end

-- ---- products -----------------------------------------------------------------------------------------------------------------

--- gpu.linalg.matrix_power(a, power [, {out}])
function linalg.matrix_power(a, power, options)
  local op = "linalg.matrix_power"
  options = checks.fields(op, options)
  check_square(op, a)
  checks.integer(op, "an integer power", power)
  if power == 0 then
    local one = core.broadcast(eye(a.shape[a.ndim], a.dtype, a), a.shape)
    return core.assign(op, options.out, one)
  end
  local square, result = power < 0 and linalg.inv(a) or a, nil
  power = math.abs(power)
  while power > 0 do
    if power % 2 == 1 then result = result and result:matmul(square) or square end
    power = math.floor(power / 2)
    if power > 0 then square = square:matmul(square) end
  end
  return core.assign(op, options.out, result == a and a:copy() or result)
end

--- Where to split each chain of matrices, from the first to the last, for the fewest multiplications. `sizes`: the rows of each
--- matrix, and the columns of the last.
local function cheapest_splits(sizes, count)
  local cost, split = {}, {}
  for first = 1, count do cost[first], split[first] = {[first] = 0}, {} end
  for length = 2, count do
    for first = 1, count - length + 1 do
      local last = first + length - 1
      cost[first][last] = inf
      for at = first, last - 1 do
        local own = cost[first][at] + cost[at + 1][last] + sizes[first] * sizes[at + 1] * sizes[last + 1]
        if own < cost[first][last] then cost[first][last], split[first][last] = own, at end
      end
    end
  end
  return split
end

--- gpu.linalg.multi_dot(arrays [, {out}])
function linalg.multi_dot(arrays, options)
  local op = "linalg.multi_dot"
  options = checks.fields(op, options)
  if type(arrays) ~= "table" or core.check_list(op, "arrays", arrays) < 2 then
    core.fail(op, "a table of two arrays or more", arrays)
  end
  local list, count = {}, #arrays
  for i, x in ipairs(arrays) do
    checks.array(op, x)
    local may_be_vector = i == 1 or i == count
    if x.ndim ~= 2 and not (x.ndim == 1 and may_be_vector) then
      core.raise(("[%s] expected matrices, or vectors as the first and the last, got shape %s as array %d"):format(op,
        checks.shape_text(x.shape), i))
    end
    list[i] = x.ndim == 2 and x or x:expand_dims(i == 1 and 1 or 2)
    if i > 1 and list[i - 1].shape[2] ~= list[i].shape[1] then
      refuse_shapes(op, "arrays that fit one after the other", arrays[i - 1], x)
    end
  end
  local sizes = {}
  for i, x in ipairs(list) do sizes[i] = x.shape[1] end
  sizes[count + 1] = list[count].shape[2]
  local split = cheapest_splits(sizes, count)
  local function product(first, last)
    if first == last then return list[first] end
    local at = split[first][last]
    return product(first, at):matmul(product(at + 1, last))
  end
  local result, shape = product(1, count), {}
  if arrays[1].ndim == 2 then shape[1] = sizes[1] end
  if arrays[count].ndim == 2 then shape[#shape + 1] = sizes[count + 1] end
  return core.assign(op, options.out, result:reshape(shape))
end

-- ---- matrices of other arrays ---------------------------------------------------------------------------------------------------

--- gpu.linalg.matrix_transpose(x)
function linalg.matrix_transpose(x) return transposed(check_matrices("linalg.matrix_transpose", x)) end

--- gpu.linalg.block_diag(x, ...)
function linalg.block_diag(...)
  local op, blocks, columns, dtype = "linalg.block_diag", {...}, 0, nil
  if #blocks == 0 then core.fail(op, "an array", nil) end
  for k, block in ipairs(blocks) do
    checks.array(op, block)
    if block.ndim > 2 then core.raise(("[%s] expected matrices, got shape %s"):format(op, checks.shape_text(block.shape))) end
    blocks[k] = gpu.atleast_2d(block)
    dtype = dtype and core.promote(dtype, block.dtype) or block.dtype
    columns = columns + blocks[k].shape[2]
  end
  local before = 0
  for k, block in ipairs(blocks) do
    local n = block.shape[2]
    blocks[k] = gpu.pad(core.cast(block, dtype), {{0, 0}, {before, columns - before - n}})
    before = before + n
  end
  return gpu.concat(blocks, 1)
end

--- gpu.linalg.toeplitz(column [, row])
function linalg.toeplitz(column, row)
  local op = "linalg.toeplitz"
  checks.array(op, column)
  if row == nil then row = kinds.is_complex(column) and column:conj() or column end
  checks.array(op, row)
  for _, x in ipairs {column, row} do
    if x.ndim ~= 1 then core.raise(("[%s] expected vectors, got shape %s"):format(op, checks.shape_text(x.shape))) end
  end
  local m, n = column.size, row.size
  if m == 0 or n == 0 then return gpu.zeros({m, n}, {dtype = core.promote(column.dtype, row.dtype), device = column.device}) end
  -- The row backwards without its first element, then the column: row i of the matrix begins n - i elements after the start.
  local values = gpu.concat {views.slice(row, 1, 2, n - 1):flip(1), column}
  return values:sliding_window(n):flip(2):contiguous()
end

--- gpu.linalg.cross(x, y [, axis])
--- gpu.linalg.diagonal(x [, offset [, row, column]])
--- gpu.linalg.matmul(a, b [, {out}])
--- gpu.linalg.outer(x, y [, {out}])
--- gpu.linalg.tensordot(x, y [, axes] [, {axes, out}])
--- gpu.linalg.trace(x [, offset [, row, column]])
--- gpu.linalg.vander(x [, columns] [, {increasing}])
--- gpu.linalg.vecdot(x, y [, axis] [, {axis, out}])
for _, name in ipairs {"cross", "diagonal", "matmul", "outer", "tensordot", "trace", "vander", "vecdot"} do
  linalg[name] = function(...) return gpu[name](...) end
end
