-- gpu.blas: products, updates and solutions of matrices.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local kinds = import "kinds"

local blas, arguments = gpu.blas, import "blas"
local arranged, check, factor, factors, letter = arguments.arranged, arguments.check, arguments.factor, arguments.factors,
  arguments.letter
local refuse_shapes, rows_and_columns, trans, write = arguments.refuse_shapes, arguments.rows_and_columns, arguments.trans,
  arguments.write

--- beta * c, where nothing is added to it.
local function scale(c, beta)
  if beta == 0 then c:fill_(0) else c:mul_(beta) end
end

-- ---- products ---------------------------------------------------------------------------------------------------------------

--- The product by expressions, for dtypes that the library lacks.
local function product_in_float32(x, way_x, y, way_y, alpha, beta, c)
  local product = arranged(x:astype "float32", way_x):matmul(arranged(y:astype "float32", way_y)) * alpha
  c:copy_((beta == 0 and product or product + c:astype "float32" * beta):astype(x.dtype))
end

--- c = alpha op(x) op(y) + beta c.
local function multiply(x, way_x, y, way_y, alpha, beta, c)
  if c.size == 0 then return end
  if x.size == 0 then return scale(c, beta) end
  if not core.multiplies(x) then return product_in_float32(x, way_x, y, way_y, alpha, beta, c) end
  core.gemm(c, arranged(x, way_x), arranged(y, way_y), way_x == "C", way_y == "C", alpha, beta)
end

--- Checks the options of a product; the ways of the operands, alpha, beta.
local function read_product(op, a, b, options)
  local way_a, way_b = trans(op, "trans_a", options.trans_a), trans(op, "trans_b", options.trans_b)
  local m, k = rows_and_columns(a, way_a)
  local rows, n = rows_and_columns(b, way_b)
  if k ~= rows then
    refuse_shapes(op, ("(m,k) x (k,n) for trans_a = %q and trans_b = %q"):format(way_a, way_b), a, b)
  end
  return way_a, way_b, m, n, factors(op, options, a)
end

-- No options: a call without them makes no table.
local none = {}

--- gpu.blas.gemm(a, b [, {alpha, beta, trans_a, trans_b, out}])
function blas.gemm(a, b, options)
  local op = "blas.gemm"
  options = options == nil and none or checks.fields(op, options)
  -- The common case, without reading each property of the operands.
  local way_a, way_b = trans(op, "trans_a", options.trans_a), trans(op, "trans_b", options.trans_b)
  local target = core.product_target(a, b, options.out, way_a ~= "N", way_b ~= "N")
  if target then
    core.gemm(target, arranged(a, way_a), arranged(b, way_b), way_a == "C", way_b == "C", factors(op, options, a))
    return target
  end
  check(op, "a", a, 2, nil, true)
  check(op, "b", b, 2, a, true)
  local _, _, m, n, alpha, beta = read_product(op, a, b, options)
  return write(op, options.out, {m, n}, beta ~= 0, {a, b}, function(c) multiply(a, way_a, b, way_b, alpha, beta, c) end)
end

--- gpu.blas.gemm_strided_batched(a, b [, {alpha, beta, trans_a, trans_b, out}])
function blas.gemm_strided_batched(a, b, options)
  local op = "blas.gemm_strided_batched"
  options = checks.fields(op, options)
  check(op, "a", a, 3, nil, true)
  check(op, "b", b, 3, a, true)
  local way_a, way_b, m, n, alpha, beta = read_product(op, a, b, options)
  local count = math.max(a.shape[1], b.shape[1])
  if a.shape[1] == 0 or b.shape[1] == 0 then count = 0 end
  if a.shape[1] ~= b.shape[1] and a.shape[1] ~= 1 and b.shape[1] ~= 1 then
    refuse_shapes(op, "as many matrices in a as in b, or one", a, b)
  end
  return write(op, options.out, {count, m, n}, beta ~= 0, {a, b}, function(c) multiply(a, way_a, b, way_b, alpha, beta, c) end)
end

local function check_matrices(op, what, list, like)
  if type(list) ~= "table" or core.check_list(op, "matrices", list) == 0 then
    core.fail(op, "a table of matrices as " .. what, list)
  end
  for _, x in ipairs(list) do
    check(op, "in " .. what, x, 2, like, true)
    if checks.shape_text(x.shape) ~= checks.shape_text(list[1].shape) then
      refuse_shapes(op, ("matrices of one shape in %s"):format(what), list[1], x)
    end
  end
  return list[1]
end

--- gpu.blas.gemm_batched(a, b [, {alpha, beta, trans_a, trans_b, out}])
function blas.gemm_batched(a, b, options)
  local op = "blas.gemm_batched"
  options = checks.fields(op, options)
  local first_a = check_matrices(op, "a", a)
  local first_b = check_matrices(op, "b", b, first_a)
  if #a ~= #b then core.raise(("[%s] expected as many matrices in a as in b, got %d and %d"):format(op, #a, #b)) end
  local way_a, way_b, m, n, alpha, beta = read_product(op, first_a, first_b, options)
  local out, direct = options.out, true
  if out == nil then
    local all = gpu.empty({#a, m, n}, {dtype = first_a.dtype, device = first_a.device})
    out = {}
    for i = 1, #a do out[i] = all(i) end
  else
    local first = check_matrices(op, "out", out, first_a)
    if #out ~= #a or first.shape[1] ~= m or first.shape[2] ~= n then
      core.raise(("[%s] expected %d matrices of shape %s as out, got %d of %s"):format(op, #a, checks.shape_text {m, n}, #out,
        checks.shape_text(first.shape)))
    end
    for _, c in ipairs(out) do direct = direct and core.is_row_major(c) and c.strides[1] == first.strides[1] end
    direct = direct and not core.share_memory(out, a) and not core.share_memory(out, b)
  end
  if m == 0 or n == 0 then return out end
  if direct and first_a.size > 0 and core.multiplies(first_a) then
    local left, right = {}, {}
    for i = 1, #a do left[i], right[i] = arranged(a[i], way_a), arranged(b[i], way_b) end
    core.gemm_each(out, left, right, way_a == "C", way_b == "C", alpha, beta)
    return out
  end
  local results = {}
  for i, c in ipairs(out) do
    results[i] = beta ~= 0 and c:copy() or gpu.empty({m, n}, {dtype = c.dtype, device = c.device})
    multiply(a[i], way_a, b[i], way_b, alpha, beta, results[i])
  end
  for i, c in ipairs(out) do c:copy_(results[i]) end
  return out
end

local function as_column(x) return x:expand_dims(2) end
arguments.as_column = as_column

--- gpu.blas.gemv(a, x [, {alpha, beta, trans, out}])
function blas.gemv(a, x, options)
  local op = "blas.gemv"
  options = checks.fields(op, options)
  check(op, "a", a, 2)
  check(op, "x", x, 1, a)
  local way = trans(op, "trans", options.trans)
  local m, n = rows_and_columns(a, way)
  if n ~= x.size then refuse_shapes(op, ("a matrix and a vector that fit for trans = %q"):format(way), a, x) end
  local alpha, beta = factors(op, options, a)
  return write(op, options.out, {m}, beta ~= 0, {a, x}, function(y)
    multiply(a, way, as_column(x), "N", alpha, beta, as_column(y))
  end)
end

--- gpu.blas.ger(x, y [, {alpha, out}])
function blas.ger(x, y, options)
  local op = "blas.ger"
  options = checks.fields(op, options)
  check(op, "x", x, 1)
  check(op, "y", y, 1, x)
  local update = as_column(x) * y * factor(op, "alpha", options.alpha, 1, kinds.is_complex(x))
  if options.out == nil then return update end
  check(op, "out", options.out, 2, x)
  return core.assign(op, options.out, options.out + update)
end

-- ---- symmetric matrices -----------------------------------------------------------------------------------------------------

local function check_square(op, a)
  check(op, "a", a, 2)
  if a.shape[1] ~= a.shape[2] then core.raise(("[%s] expected a square matrix a, got shape %s"):format(op, checks.shape_text(a.shape))) end
  return a
end

local function uplo(op, options) return letter(op, "uplo", options.uplo, "LU") end
arguments.check_square, arguments.uplo = check_square, uplo

--- Checks the operands of symm and hemm. Returns the options, a's side, and whether its upper triangle is given.
function arguments.read_sided(op, a, b, options)
  options = checks.fields(op, options)
  check_square(op, a)
  check(op, "b", b, 2, a)
  local side, triangle = letter(op, "side", options.side, "LR"), uplo(op, options)
  if a.shape[1] ~= b.shape[side == "L" and 1 or 2] then
    refuse_shapes(op, ("a and b that fit for side = %q"):format(side), a, b)
  end
  return options, side, triangle == "U"
end

--- Checks the operands of symv and hemv. Returns the options, and whether a's upper triangle is given.
function arguments.read_column(op, a, x, options)
  options = checks.fields(op, options)
  check_square(op, a)
  check(op, "x", x, 1, a)
  if a.shape[1] ~= x.size then refuse_shapes(op, "a matrix and a vector that fit", a, x) end
  return options, uplo(op, options) == "U"
end

--- gpu.blas.symm(a, b [, {alpha, beta, side, uplo, out}])
function blas.symm(a, b, options)
  local op, side, is_upper = "blas.symm", nil, nil
  options, side, is_upper = arguments.read_sided(op, a, b, options)
  local alpha, beta = factors(op, options, a)
  return write(op, options.out, b.shape, beta ~= 0, {a, b}, function(c)
    if c.size > 0 then core.symm(c, a, b, is_upper, side == "R", alpha, beta) end
  end)
end

--- gpu.blas.symv(a, x [, {alpha, beta, uplo, out}])
function blas.symv(a, x, options)
  local op, is_upper = "blas.symv", nil
  options, is_upper = arguments.read_column(op, a, x, options)
  local alpha, beta = factors(op, options, a)
  return write(op, options.out, x.shape, beta ~= 0, {a, x}, function(y)
    if y.size > 0 then core.symm(as_column(y), a, as_column(x), is_upper, false, alpha, beta) end
  end)
end

--- syrk, and with b syr2k.
local function update(op, a, b, options)
  options = checks.fields(op, options)
  check(op, "a", a, 2)
  if b then
    check(op, "b", b, 2, a)
    if checks.shape_text(a.shape) ~= checks.shape_text(b.shape) then refuse_shapes(op, "a and b of one shape", a, b) end
  end
  local way, triangle = letter(op, "trans", options.trans, "NT"), uplo(op, options)
  local n, k = rows_and_columns(a, way)
  local alpha, beta = factors(op, options, a)
  local function run(c)
    if n == 0 then return c end
    if k > 0 then
      core.update_symmetric(c, a, b, triangle == "U", way == "T", alpha, beta)
      return c
    end
    local lower = gpu.tri(n, {dtype = "bool", device = c.device})
    return c:copy_(gpu.where(triangle == "L" and lower or lower.T, c * beta, c))
  end
  if options.out == nil then return run(gpu.zeros({n, n}, {dtype = a.dtype, device = a.device})) end
  return write(op, options.out, {n, n}, true, {a, b}, run)
end

--- gpu.blas.syrk(a [, {alpha, beta, trans, uplo, out}])
function blas.syrk(a, options) return update("blas.syrk", a, nil, options) end
--- gpu.blas.syr2k(a, b [, {alpha, beta, trans, uplo, out}])
function blas.syr2k(a, b, options) return update("blas.syr2k", a, checks.array("blas.syr2k", b), options) end

-- ---- triangular matrices ----------------------------------------------------------------------------------------------------

--- trsm and trmm: `run` is the library's.
local function triangular(op, a, b, options, run)
  options = checks.fields(op, options)
  check_square(op, a)
  check(op, "b", b, 2, a)
  local side, triangle, diag = letter(op, "side", options.side, "LR"), uplo(op, options), letter(op, "diag", options.diag, "NU")
  local way, alpha = trans(op, "trans_a", options.trans_a), factor(op, "alpha", options.alpha, 1, kinds.is_complex(a))
  if a.shape[1] ~= b.shape[side == "L" and 1 or 2] then
    refuse_shapes(op, ("a and b that fit for side = %q"):format(side), a, b)
  end
  return write(op, options.out, b.shape, false, {a}, function(c)
    c:copy_(b)
    if c.size > 0 then run(c, a, triangle == "U", way, side == "R", diag == "U", alpha) end
  end)
end

--- gpu.blas.trsm(a, b [, {alpha, side, trans_a, uplo, diag, out}])
function blas.trsm(a, b, options) return triangular("blas.trsm", a, b, options, core.solve_triangular) end
--- gpu.blas.trmm(a, b [, {alpha, side, trans_a, uplo, diag, out}])
function blas.trmm(a, b, options) return triangular("blas.trmm", a, b, options, core.multiply_triangular) end

--- gpu.blas.trsv(a, x [, {trans, uplo, diag, out}])
function blas.trsv(a, x, options)
  local op = "blas.trsv"
  options = checks.fields(op, options)
  check_square(op, a)
  check(op, "x", x, 1, a)
  if a.shape[1] ~= x.size then refuse_shapes(op, "a matrix and a vector that fit", a, x) end
  local way, triangle, diag = trans(op, "trans", options.trans), uplo(op, options), letter(op, "diag", options.diag, "NU")
  return write(op, options.out, x.shape, false, {a}, function(y)
    y:copy_(x)
    if y.size > 0 then core.solve_triangular(as_column(y), a, triangle == "U", way, false, diag == "U", 1) end
  end)
end

-- ---- sums of matrices, and diagonal matrices: cuBLAS's additions to the BLAS ------------------------------------------------

local function conjugated(x, way)
  local view = arranged(x, way)
  return way == "C" and kinds.is_complex(x) and view:conj() or view
end

--- gpu.blas.geam(a, b [, {alpha, beta, trans_a, trans_b, out}])
function blas.geam(a, b, options)
  local op = "blas.geam"
  options = checks.fields(op, options)
  check(op, "a", a, 2)
  check(op, "b", b, 2, a)
  local left = conjugated(a, trans(op, "trans_a", options.trans_a))
  local right = conjugated(b, trans(op, "trans_b", options.trans_b))
  if checks.shape_text(left.shape) ~= checks.shape_text(right.shape) then refuse_shapes(op, "op(a) and op(b) of one shape", left, right) end
  local is_complex = kinds.is_complex(a)
  local alpha, beta = factor(op, "alpha", options.alpha, 1, is_complex), factor(op, "beta", options.beta, 1, is_complex)
  return core.assign(op, options.out, left * alpha + right * beta)
end

--- gpu.blas.dgmm(a, x [, {side, out}])
function blas.dgmm(a, x, options)
  local op = "blas.dgmm"
  options = checks.fields(op, options)
  check(op, "a", a, 2)
  check(op, "x", x, 1, a)
  local side = letter(op, "side", options.side, "RL")
  if x.size ~= a.shape[side == "L" and 1 or 2] then refuse_shapes(op, ("a and x that fit for side = %q"):format(side), a, x) end
  return core.assign(op, options.out, a * (side == "L" and as_column(x) or x))
end
