-- gpu.blas: Hermitian matrices, updates of triangles by vectors, rotations. Of real numbers they are the symmetric routines.
-- In sandboxes: all
local gpu, _, core, import = ...
import "blas_matrices"
local views = import "views"
local checks = import "checks"
local kinds = import "kinds"

local blas, arguments = gpu.blas, import "blas"
local as_column, check, check_square, factor = arguments.as_column, arguments.check, arguments.check_square, arguments.factor
local letter, refuse_shapes, trans, uplo = arguments.letter, arguments.refuse_shapes, arguments.trans, arguments.uplo

local function conj(x) return kinds.is_complex(x) and x:conj() or x end
local function conj_factor(alpha) return type(alpha) == "cdata" and gpu.complex(alpha.re, -alpha.im) or alpha end

--- A mask of a triangle with its diagonal.
local function triangle_of(n, upper, device)
  local lower = gpu.tri(n, {dtype = "bool", device = device})
  return upper and lower.T or lower
end

--- The whole Hermitian matrix of which a triangle is given; the imaginary parts on its diagonal do not matter.
local function whole(a, upper)
  local n, other = a.shape[1], conj(a.T)
  local full = gpu.where(triangle_of(n, upper, a.device), a, other)
  if not kinds.is_complex(a) then return full end
  local rows, columns = views.along(n, 1, 2, a.device), views.along(n, 2, 2, a.device)
  return gpu.where(rows:eq(columns), a:real(), full):astype(a.dtype)
end

-- ---- products ---------------------------------------------------------------------------------------------------------------

--- gpu.blas.hemm(a, b [, {alpha, beta, side, uplo, out}])
function blas.hemm(a, b, options)
  local side, is_upper
  options, side, is_upper = arguments.read_sided("blas.hemm", a, b, options)
  local full = whole(a, is_upper):eval()
  local fields = {alpha = options.alpha, beta = options.beta, out = options.out}
  if side == "L" then return blas.gemm(full, b, fields) end
  return blas.gemm(b, full, fields)
end

--- gpu.blas.hemv(a, x [, {alpha, beta, uplo, out}])
function blas.hemv(a, x, options)
  local is_upper
  options, is_upper = arguments.read_column("blas.hemv", a, x, options)
  local full = whole(a, is_upper):eval()
  return blas.gemv(full, x, {alpha = options.alpha, beta = options.beta, out = options.out})
end

--- Writes product + beta * out to a triangle of `out`, or of zeros. Of a Hermitian update the diagonal is real.
local function write_triangle(op, options, product, hermitian, beta)
  local n, like, out = product.shape[1], product, options.out
  if beta ~= 0 and out == nil then core.raise(("[%s] expected out beside beta: what beta multiplies"):format(op)) end
  local inside = triangle_of(n, uplo(op, options) == "U", like.device)
  local value = product
  if out ~= nil then
    check(op, "out", out, 2, like)
    if checks.shape_text(out.shape) ~= checks.shape_text(like.shape) then
      core.raise(("[%s] expected out of shape %s, got %s"):format(op, checks.shape_text(like.shape), checks.shape_text(out.shape)))
    end
    if beta ~= 0 then value = value + out * beta end
  end
  if hermitian and kinds.is_complex(like) then
    local rows, columns = views.along(n, 1, 2, like.device), views.along(n, 2, 2, like.device)
    value = gpu.where(rows:eq(columns), value:real(), value)
  end
  value = core.cast(gpu.where(inside, value, out or 0), like.dtype)
  return core.assign(op, out, value:eval())
end

--- The ways of an update's operands: "N", or "C" (of real numbers also "T").
local function read_way(op, a, options)
  local way = trans(op, "trans", options.trans)
  if way == "T" and kinds.is_complex(a) then core.fail(op, 'trans = "N" or "C"', way) end
  return way == "N" and "N" or "C"
end

--- op(x) op(y)', or op(x)' op(y) with "C".
local function product_of(x, y, way)
  if way == "N" then return blas.gemm(x, y, {trans_b = "C"}) end
  return blas.gemm(x, y, {trans_a = "C"})
end

--- gpu.blas.herk(a [, {alpha, beta, trans, uplo, out}])
--- alpha and beta are real.
function blas.herk(a, options)
  local op = "blas.herk"
  options = checks.fields(op, options)
  check(op, "a", a, 2)
  local alpha = factor(op, "alpha", options.alpha, 1, false)
  local way = read_way(op, a, options)
  local product = product_of(a, a, way) * alpha
  return write_triangle(op, options, product, true, factor(op, "beta", options.beta, 0, false))
end

--- gpu.blas.her2k(a, b [, {alpha, beta, trans, uplo, out}])
--- alpha a b' + conj(alpha) b a' + beta out; beta is real.
function blas.her2k(a, b, options)
  local op = "blas.her2k"
  options = checks.fields(op, options)
  check(op, "a", a, 2)
  check(op, "b", b, 2, a)
  if checks.shape_text(a.shape) ~= checks.shape_text(b.shape) then refuse_shapes(op, "a and b of one shape", a, b) end
  local alpha, way = factor(op, "alpha", options.alpha, 1, kinds.is_complex(a)), read_way(op, a, options)
  local product = product_of(a, b, way) * alpha
  return write_triangle(op, options, product + conj(product.T), true, factor(op, "beta", options.beta, 0, false))
end

-- ---- updates by vectors -----------------------------------------------------------------------------------------------------

--- alpha x y' of vectors, and with `both` what the update of a triangle by two vectors adds.
local function vector_update(op, x, y, options, hermitian)
  options = checks.fields(op, options)
  check(op, "x", x, 1)
  if y then
    check(op, "y", y, 1, x)
    if x.size ~= y.size then refuse_shapes(op, "vectors of one length", x, y) end
  end
  local is_complex = kinds.is_complex(x) and not (hermitian and not y)
  local alpha = factor(op, "alpha", options.alpha, 1, is_complex)
  local function across(p, q) return as_column(p) * (hermitian and conj(q) or q) end
  local product = across(x, y or x) * alpha
  if y then product = product + across(y, x) * (hermitian and conj_factor(alpha) or alpha) end
  return write_triangle(op, options, product, hermitian, options.out and 1 or 0)
end

--- gpu.blas.syr(x [, {alpha, uplo, out}])
--- syr(x [, {alpha =, uplo =, out =}]) and the others: a triangle of alpha x x' + out.
function blas.syr(x, options) return vector_update("blas.syr", x, nil, options, false) end
--- gpu.blas.her(x [, {alpha, uplo, out}])
function blas.her(x, options) return vector_update("blas.her", x, nil, options, true) end
--- gpu.blas.syr2(x, y [, {alpha, uplo, out}])
function blas.syr2(x, y, options) return vector_update("blas.syr2", x, checks.array("blas.syr2", y), options, false) end
--- gpu.blas.her2(x, y [, {alpha, uplo, out}])
function blas.her2(x, y, options) return vector_update("blas.her2", x, checks.array("blas.her2", y), options, true) end

--- gpu.blas.gerc(x, y [, {alpha, out}])
--- alpha x times the conjugate of y', plus out.
function blas.gerc(x, y, options)
  local op = "blas.gerc"
  options = checks.fields(op, options)
  check(op, "y", y, 1)
  return blas.ger(x, conj(y), {alpha = options.alpha, out = options.out})
end

-- ---- vectors ----------------------------------------------------------------------------------------------------------------

--- gpu.blas.dotc(x, y)
--- The sum of conj(x) y.
function blas.dotc(x, y)
  check("blas.dotc", "x", x, 1)
  return blas.dot(conj(x), y)
end

--- gpu.blas.trmv(a, x [, {trans, uplo, diag, out}])
--- op(a) x, with a triangular.
function blas.trmv(a, x, options)
  local op = "blas.trmv"
  options = checks.fields(op, options)
  check_square(op, a)
  check(op, "x", x, 1, a)
  if a.shape[1] ~= x.size then refuse_shapes(op, "a matrix and a vector that fit", a, x) end
  local way, triangle, diag = trans(op, "trans", options.trans), uplo(op, options), letter(op, "diag", options.diag, "NU")
  return arguments.write(op, options.out, x.shape, false, {a}, function(y)
    y:copy_(x)
    if y.size > 0 then core.multiply_triangular(as_column(y), a, triangle == "U", way, false, diag == "U", 1) end
  end)
end

--- gpu.blas.iamin(x)
--- The position of the first element with the least magnitude.
function blas.iamin(x)
  local op = "blas.iamin"
  if check(op, "x", x, 1).size == 0 then core.fail(op, "a vector with elements", x) end
  return (kinds.is_complex(x) and x:real():abs() + x:imag():abs() or x:abs()):argmin()
end

--- gpu.blas.rotg(a, b)
--- R, z, c and s of the rotation that takes (a, b) to (r, 0). Numbers.
function blas.rotg(a, b)
  local op = "blas.rotg"
  a, b = factor(op, "a", a, nil, false), factor(op, "b", b, nil, false)
  if b == 0 then return a, 0, 1, 0 end
  if a == 0 then return b, 1, 0, 1 end
  local scale = math.max(math.abs(a), math.abs(b))
  local size = scale * math.sqrt((a / scale) ^ 2 + (b / scale) ^ 2)
  local leading = math.abs(a) > math.abs(b) and a or b
  local r = leading < 0 and -size or size
  local c, s = a / r, b / r
  local z = math.abs(a) > math.abs(b) and s or c ~= 0 and 1 / c or 1
  return r, z, c, s
end

--- gpu.blas.rotm(x, y, parameters)
--- The modified rotation of {flag, h11, h21, h12, h22}, as rotmg of the BLAS gives them.
function blas.rotm(x, y, parameters)
  local op = "blas.rotm"
  check(op, "x", x, 1)
  check(op, "y", y, 1, x)
  if kinds.is_complex(x) then core.fail(op, "real vectors", x) end
  if x.size ~= y.size then refuse_shapes(op, "vectors of one length", x, y) end
  if type(parameters) ~= "table" or core.check_list(op, "numbers", parameters) ~= 5 then
    core.fail(op, "parameters: a table of five numbers", parameters)
  end
  local flag, h11, h21, h12, h22 = unpack(parameters)
  for _, value in ipairs(parameters) do factor(op, "a parameter", value, nil, false) end
  if flag == -2 then return x, y end
  if flag == 0 then h11, h22 = 1, 1 elseif flag == 1 then h12, h21 = 1, -1 elseif flag ~= -1 then
    core.fail(op, "a flag of -2, -1, 0 or 1", flag)
  end
  local new_x, new_y = x * h11 + y * h12, x * h21 + y * h22
  gpu.eval(new_x, new_y)
  x:copy_(new_x)
  y:copy_(new_y)
  return x, y
end
