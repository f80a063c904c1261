-- gpu.sparse.linalg: squared conjugate gradients, least squares, products with the exponential, norms.
-- In sandboxes: all
local gpu, _, core, import = ...
import "sparse_linalg_eigen"
local checks, records = import "checks", import "records"
local dense = import "linalg"

local linalg, tools = gpu.sparse.linalg, import "sparse_linalg"

--- The function y -> A' y.
local function adjoint_of(A)
  if tools.is_operator(A) then return function(y) return A:adjoint(y) end end
  local turned = A.T
  if A.dtype:find "complex" then turned = turned:conj() end
  if core.is_array(turned) then turned = turned:contiguous() end
  return function(y) return turned:matmul(y) end
end

-- ---- squared conjugate gradients -------------------------------------------------------------------------------------------------

--- gpu.sparse.linalg.cgs(A, b [, {M, x0, rtol, atol, maxiter, callback}])
--- P. Sonneveld, 1989, with the preconditioner on the right.
function linalg.cgs(a, b, options)
  local op = "sparse.linalg.cgs"
  options = checks.fields(op, options)
  return tools.read(op, a, b, options):solve(function(self, cycle)
    local function precondition(x) return self.precondition and self.precondition(x) or x end
    local shadow = cycle.r
    local u, p, rho = cycle.r, cycle.r, tools.dot(shadow, cycle.r)
    local vanishing = self.epsilon ^ 2
    function cycle.step()
      local v = self.multiply(precondition(p):eval())
      local slope = tools.dot(shadow, v)
      local alpha = gpu.where(gpu.logical_and(tools.running(cycle), slope:ne(0)), rho / slope, 0)
      local q = (u - alpha * v):eval()
      local both = precondition(u + q):eval()
      cycle.d, cycle.r = cycle.d + alpha * both, cycle.r - alpha * self.multiply(both)
      cycle.rr = tools.square_sum(cycle.r)
      local old_rho = rho
      rho = tools.dot(shadow, cycle.r)
      tools.count_step(cycle, {}, {{slope:eq(0), "breakdown"}, {rho:abs():square():le(vanishing * cycle.rr), "breakdown"}})
      local beta = gpu.where(tools.running(cycle), rho / old_rho, 0)
      u = cycle.r + beta * q
      p = u + beta * (q + beta * p)
      gpu.eval(u, p, cycle.d, cycle.r, rho, cycle.rr, cycle.state)
    end
  end)
end

-- ---- least squares ---------------------------------------------------------------------------------------------------------------

local steps_between_looks = 10

--- x / |x| and |x|, an array of no axes; 0 of zeros.
local function unit(x)
  local length = tools.square_sum(x):sqrt()
  return x * gpu.where(length:gt(0), 1 / length, 0), length
end

local function check_number(op, name, value, default)
  if value == nil then return default end
  if type(value) ~= "number" or not (value >= 0) then core.fail(op, name .. " = a number of 0 or more", value) end
  return value
end

--- gpu.sparse.linalg.lsqr(A, b [, {damp, atol, btol, x0, maxiter}])
--- The x with the least norm of A x - b, by Golub and Kahan's bidiagonalisation (C. C. Paige and M. A. Saunders, 1982).
function linalg.lsqr(A, b, options)
  local op = "sparse.linalg.lsqr"
  options = checks.fields(op, options)
  local dtype = core.promote(tools.check_matrix_alone(op, A), checks.array(op, b).dtype)
  local m, n = A.shape[1], A.shape[2]
  if b.ndim ~= 1 or b.size ~= m then core.raise(("[%s] expected b of shape (%d,), got %s"):format(op, m, checks.shape_text(b.shape))) end
  if not tools.epsilon[dtype] then core.fail(op, "float32, float64, complex64 or complex128", dtype) end
  local damp = check_number(op, "damp", options.damp, 0)
  local atol, btol = check_number(op, "atol", options.atol, 1e-6), check_number(op, "btol", options.btol, 1e-6)
  local most = checks.integer(op, "maxiter = an integer", options.maxiter == nil and 2 * n or options.maxiter)
  local adjoint = adjoint_of(A)
  local function multiply(x) return core.cast(A:matmul(x), dtype) end
  local function multiply_adjoint(y) return core.cast(adjoint(y), dtype) end
  local x0 = options.x0
  if x0 ~= nil and (checks.array(op, x0).ndim ~= 1 or x0.size ~= n) then core.fail(op, ("x0 of %d elements"):format(n), x0) end
  local start = core.cast(b, dtype)
  local scale = tools.length(start)
  if x0 then
    x0 = core.cast(x0, dtype)
    start = (start - multiply(x0)):eval()
  end
  local x = gpu.zeros({n}, {dtype = dtype, device = b.device})
  local u, beta = unit(start)
  local v, alpha = unit(multiply_adjoint(u:eval()))
  local w, phi_bar, rho_bar = v, beta, alpha
  local squares, damped = alpha:square() * 0, beta * 0
  local taken, reason, residual, gradient = 0, nil, nil, nil

  local function look()
    local tail, slope = (phi_bar:square() + damped):sqrt(), (phi_bar * rho_bar):abs()
    local values = gpu.stack({core.cast(tail, "float64"), core.cast(slope, "float64"), core.cast(squares:sqrt(), "float64"),
      core.cast(tools.square_sum(x):sqrt(), "float64")}):table()
    residual, gradient = values[1], values[2]
    if not (residual < math.huge and values[4] < math.huge) then return "not finite" end
    if residual <= btol * scale + atol * values[3] * values[4] then return "converged" end
    if gradient <= atol * values[3] * residual then return "least squares" end
  end

  local function step()
    u, beta = unit(multiply(v) - alpha * u)
    u = u:eval()
    squares = squares + alpha:square() + beta:square() + damp * damp
    v, alpha = unit(multiply_adjoint(u) - beta * v)
    local damped_rho = gpu.hypot(rho_bar, damp)
    local c1, s1 = gpu.where(damped_rho:gt(0), rho_bar / damped_rho, 1), gpu.where(damped_rho:gt(0), damp / damped_rho, 0)
    damped = damped + (s1 * phi_bar):square()
    phi_bar = c1 * phi_bar
    local rho = gpu.hypot(damped_rho, beta)
    local safe = gpu.where(rho:gt(0), rho, 1)
    local c, s = damped_rho / safe, beta / safe
    local theta = s * alpha
    rho_bar = -c * alpha
    local phi = c * phi_bar
    phi_bar = s * phi_bar
    x = x + phi / safe * w
    w = v - theta / safe * w
    gpu.eval(x, w, v, alpha, rho_bar, phi_bar, squares, damped)
  end

  reason = look()
  while not reason and taken < most do
    for _ = 1, math.min(steps_between_looks, most - taken) do step() end
    taken = taken + math.min(steps_between_looks, most - taken)
    reason = look()
  end
  if x0 then x = x + x0 end
  local converged = reason == "converged" or reason == "least squares"
  local info = {converged = converged, reason = reason or "maxiter", iterations = taken, residual = residual}
  tools.warn_of(op, info)
  return x:eval(), records.seal(info, op)
end

-- ---- the exponential -------------------------------------------------------------------------------------------------------------

-- The greatest norm for which that many terms of Taylor's series are exact to the dtype's precision (A. H. Al-Mohy and N. J. Higham, 2011).
local taylor = {float64 = {terms = 55, norm = 9.9}, float32 = {terms = 30, norm = 7.5}}

--- gpu.sparse.linalg.expm_multiply(A, b [, {norm}])
--- exp(A) b. Waits for the norm of A; `norm` gives that of an operator.
function linalg.expm_multiply(A, b, options)
  local op = "sparse.linalg.expm_multiply"
  options = checks.fields(op, options)
  local dtype = core.promote(tools.check_matrix_alone(op, A), checks.array(op, b).dtype)
  local n = A.shape[1]
  if A.shape[2] ~= n then core.raise(("[%s] expected a square matrix, got shape %s"):format(op, checks.shape_text {n, A.shape[2]})) end
  if b.ndim ~= 1 and b.ndim ~= 2 or b.shape[1] ~= n or b.ndim == 2 and tools.is_operator(A) then
    core.raise(("[%s] expected b of shape (%d,)%s, got %s"):format(op, n,
      tools.is_operator(A) and "" or (" or (%d,k)"):format(n), checks.shape_text(b.shape)))
  end
  if not tools.epsilon[dtype] then core.fail(op, "float32, float64, complex64 or complex128", dtype) end
  local size = options.norm
  if size == nil then
    if tools.is_operator(A) then core.fail(op, "norm = a bound of the operator's norm", size) end
    size = A:norm(1):item()
  end
  if type(size) ~= "number" or not (size >= 0 and size < math.huge) then core.fail(op, "a finite norm", size) end
  local limits = taylor[dense.real_of(dtype)]
  local parts = math.max(math.ceil(size / limits.norm), 1)
  local sum = core.cast(b, dtype)
  for _ = 1, parts do
    local term = sum
    for k = 1, limits.terms do
      term = core.cast(A:matmul(term), dtype) * (1 / (k * parts))
      sum = sum + term
      gpu.eval(term, sum)
    end
  end
  return sum
end

-- ---- norms -----------------------------------------------------------------------------------------------------------------------

--- gpu.sparse.linalg.norm(A [, order])
--- Also 2, the greatest singular value.
function linalg.norm(A, order)
  local op = "sparse.linalg.norm"
  if not core.sparse_fields(A) then core.fail(op, "a sparse matrix", A) end
  if order == 2 then return linalg.svds(A, 1, {vectors = false}):reshape({}) end
  if order ~= nil and order ~= "fro" and order ~= 1 and order ~= -1 and order ~= math.huge and order ~= -math.huge then
    core.fail(op, 'the order "fro", 1, -1, 2, math.huge or -math.huge', order)
  end
  return A:norm(order)
end
