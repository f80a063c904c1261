-- gpu.sparse.linalg: operators, and what the iterative solvers share. A solver works in cycles. Each one solves A d = r / |r| from
-- d = 0, where r is the residual of the x that is known, so that squares of lengths neither overflow nor vanish; then x + |r| d
-- has its residual computed anew. The steps of a cycle wait for nothing: their numbers are arrays on the device, which also notes
-- the step that reached the tolerance, and changes nothing from then on. The host looks every 25 steps.
-- In sandboxes: all
local gpu, methods, core, import = ...
import "sparse"
local checks, objects, records = import "checks", import "objects", import "records"
local kinds = import "kinds"
local dense = import "linalg"

local linalg, working = gpu.sparse.linalg, dense.working
local tools = {}

local steps_between_looks = 25

tools.epsilon = {float32 = 2 ^ -23, complex64 = 2 ^ -23, float64 = 2 ^ -52, complex128 = 2 ^ -52}

-- ---- operators --------------------------------------------------------------------------------------------------------------

--- Calls fn with a vector of `from` elements, and checks that it gives one of `to` elements.
local function call_checked(op, fn, what, x, from, to)
  checks.array(op, x)
  if x.ndim ~= 1 or x.shape[1] ~= from then core.fail(op, ("a vector (%d,)"):format(from), x) end
  local y = fn(x)
  if not core.is_array(y) or y.ndim ~= 1 or y.shape[1] ~= to then
    core.fail(op, ("a vector (%d,) from %s"):format(to, what), y)
  end
  return y
end

local operator = objects.class("operator", "a linear operator", "shape, dtype", {
  matmul = function(self, x)
    return call_checked("operator:matmul", rawget(self, "fn"), "the operator's function", x, self.shape[2], self.shape[1])
  end,
  adjoint = function(self, x)
    local fn = rawget(self, "reverse")
    if not fn then core.raise "[operator:adjoint] expected an operator that was made with the option adjoint = a function" end
    return call_checked("operator:adjoint", fn, "the function adjoint", x, self.shape[1], self.shape[2])
  end,
}, {matmul = "(x)", adjoint = "(x)"})

function operator:__tostring() return ("operator %s %s"):format(checks.shape_text(self.shape), self.dtype) end

-- getmetatable gives the name alone.
local function is_operator(value) return type(value) == "table" and debug.getmetatable(value) == operator end

--- gpu.sparse.linalg.operator(fn [, {shape, dtype, adjoint}])
function linalg.operator(fn, options)
  local op = "sparse.linalg.operator"
  if type(fn) ~= "function" then core.fail(op, "a function of a vector", fn) end
  options = checks.fields(op, options)
  local shape = options.shape
  if type(shape) ~= "table" or #shape ~= 2 then core.fail(op, "shape = {rows, columns}", shape) end
  core.check_shape(op, shape)
  if options.adjoint ~= nil and type(options.adjoint) ~= "function" then
    core.fail(op, "adjoint = a function of a vector", options.adjoint)
  end
  local dtype = options.dtype or gpu.default_dtype()
  dtype = core.promote(dtype, dtype)
  return setmetatable({fn = fn, reverse = options.adjoint or false, shape = {shape[1], shape[2]}, dtype = dtype}, operator)
end

--- A matrix with :matmul: an array, a sparse matrix, or an operator.
local function is_matrix(value)
  return core.is_array(value) or is_operator(value) or core.sparse_fields(value) ~= nil
end

--- Checks a matrix without a right-hand side. Gives the dtype to compute in.
function tools.check_matrix_alone(op, A)
  if not is_matrix(A) or core.is_array(A) and A.ndim ~= 2 then
    core.fail(op, "A: a matrix (m,n), a sparse matrix or gpu.sparse.linalg.operator", A)
  end
  return working(op, {}, A)
end

--- The function x -> A x of a matrix, an operator, or a function alone, which has no dtype of its own.
local function product_of(op, name, a, n)
  if type(a) == "function" then
    return function(x) return call_checked(op, a, name, x, n, n) end
  end
  return function(x) return a:matmul(x) end
end

--- Refuses what is no square matrix for vectors of n elements.
local function check_matrix(op, name, a, n)
  if type(a) == "function" then return a end
  if not is_matrix(a) then
    core.fail(op, ("%s: a matrix (n,n), a sparse matrix, gpu.sparse.linalg.operator or a function"):format(name), a)
  end
  if core.is_array(a) and a.ndim ~= 2 or a.shape[1] ~= n or a.shape[2] ~= n then
    core.raise(("[%s] expected %s of shape (%d,%d), for the right-hand side of %d elements, got shape %s"):format(op, name, n, n, n,
      checks.shape_text(a.shape)))
  end
  return a
end

-- ---- arithmetic on the device -----------------------------------------------------------------------------------------------

--- <x, y>, an array of no axes; complex for complex vectors.
function tools.dot(x, y) return ((kinds.is_complex(x) and x:conj() or x) * y):sum() end

function tools.real(x) return kinds.is_complex(x) and x:real() or x end

--- |x|^2
function tools.square_sum(x)
  if not kinds.is_complex(x) then return x:square():sum() end
  return (x:real():square() + x:imag():square()):sum()
end

--- |x|, a number. The greatest element is 1 in between: its square neither overflows nor vanishes.
function tools.length(x)
  if x.size == 0 then return 0 end
  local size = x:abs()
  local most = size:max()
  return (gpu.where(most:gt(0), size / most, 0):square():sum():sqrt() * most):astype("float64"):item()
end

-- How a cycle ends, in the order of their numbers.
local ends = {"converged", "indefinite", "breakdown", "not finite", "indefinite preconditioner"}
for number, name in ipairs(ends) do ends[name] = number end

-- What a step leaves on the device for the host to look at is one integer: the steps of a cycle that goes on, or -(steps * codes +
-- the number of its end).
local codes = 8

--- Counts a step. `failures`, and `losses` of a step that has not converged, are conditions with the ends that they mean; the first
--- that holds counts.
function tools.count_step(cycle, failures, losses)
  local ended = 0
  local function put(condition, name) ended = gpu.where(condition, ends[name], ended) end
  for i = #losses, 1, -1 do put(unpack(losses[i])) end
  put(gpu.logical_not(cycle.rr:isfinite()), "not finite")
  put(cycle.rr:le(cycle.target), "converged")
  for i = #failures, 1, -1 do put(unpack(failures[i])) end
  local steps = cycle.state + 1
  local state = gpu.where(ended:eq(0), steps, steps * -codes - ended)
  cycle.state = gpu.where(cycle.state:ge(0), state, cycle.state):astype "int32"
end

--- Whether a cycle goes on: an array of no axes.
function tools.running(cycle) return cycle.state:ge(0) end

-- ---- cycles -----------------------------------------------------------------------------------------------------------------

local problem = {}
problem.__index = problem

--- Reads what all solvers take. A, b; options x0, rtol, atol, maxiter, M, callback.
local function read(op, a, b, options)
  checks.array(op, b)
  if b.ndim ~= 1 and not (b.ndim == 2 and b.shape[2] == 1) then
    core.fail(op, "one right-hand side, (n,) or (n,1); several take a call each", b)
  end
  local n = b.shape[1]
  check_matrix(op, "A", a, n)
  local dtype = working(op, {}, unpack(type(a) == "function" and {b} or {a, b}))
  local self = setmetatable({op = op, n = n, a = a, m = options.M, b = core.cast(b:reshape(n), dtype), dtype = dtype, shape = b.shape}, problem)
  local x0 = options.x0
  if x0 ~= nil then
    checks.array(op, x0)
    if x0.size ~= n then core.fail(op, ("x0 of %d elements"):format(n), x0) end
    if core.promote(x0.dtype, dtype) ~= dtype then core.fail(op, "x0 of a dtype that converts to " .. dtype, x0) end
    self.x = core.cast(x0:reshape(n), dtype):copy()
  end
  local function tolerance(name, otherwise)
    local value = options[name] == nil and otherwise or options[name]
    if type(value) ~= "number" or not (value >= 0) then core.fail(op, name .. " = a number of 0 or more", value) end
    return value
  end
  self.rtol, self.atol = tolerance("rtol", 1e-5), tolerance("atol", 0)
  self.maxiter = checks.integer(op, "maxiter = an integer", options.maxiter == nil and 10 * n or options.maxiter)
  if self.maxiter < 0 then core.fail(op, "maxiter of 0 or more", self.maxiter) end
  if options.callback ~= nil and type(options.callback) ~= "function" then
    core.fail(op, "callback = a function of x, the residual and the steps", options.callback)
  end
  self.callback = options.callback
  local multiply = product_of(op, "A", a, n)
  self.multiply = function(x) return core.cast(multiply(x), dtype) end
  if options.M ~= nil then
    local precondition = product_of(op, "M", check_matrix(op, "M", options.M, n), n)
    self.precondition = function(x) return core.cast(precondition(x), dtype) end
  end
  return self
end

--- r = b - A x, and |r|.
function problem:residual(x)
  local r = x and (self.b - self.multiply(x)):eval() or self.b
  return r, tools.length(r)
end

--- |r|^2 in units of the cycle's, its end or nil, and its steps.
local function read_device(cycle)
  local rr, state = unpack(gpu.stack({cycle.rr:astype "float64", cycle.state:astype "float64"}):table())
  if state >= 0 then return rr, nil, state end
  return rr, ends[-state % codes], math.floor(-state / codes)
end

--- Looks at a cycle. Keeps its d where it has the smallest residual so far.
function problem:look(cycle)
  local rr, ended, taken = cycle.read(cycle)
  local residual = cycle.length * math.sqrt(rr)
  if residual < (cycle.best or math.huge) then cycle.best, cycle.best_d = residual, cycle.d end
  if self.callback then
    core.called(self.callback, self:at(cycle.solution(), cycle):reshape(self.shape), residual, self.steps + taken)
  end
  return ended, taken
end

--- x + |r| d
function problem:at(d, cycle)
  local step = d * cycle.length
  return self.x and self.x + step or step
end

--- Runs a cycle, from r = b - A x with |r| = length. Gives its end, if it is not just the last of its steps, and their number.
function problem:run_cycle(start, r, length, tolerance)
  -- A cycle that corrects another one, which rounding errors have misled, aims further.
  local aim = math.min(tolerance / length, self.steps > 0 and 0.1 or 1)
  local cycle = {length = length, target = math.max(aim, self.epsilon) ^ 2, r = (r / length):eval(), d = gpu.zeros_like(r),
    rr = gpu.ones({}, {dtype = dense.real_of(self.dtype), device = r.device}),
    state = gpu.zeros({}, {dtype = "int32", device = r.device}), read = read_device}
  function cycle.solution() return cycle.d end
  start(self, cycle)
  local most = math.min(cycle.most or math.huge, self.maxiter - self.steps)
  local ended, taken, planned = nil, 0, 0
  repeat
    local steps = math.min(steps_between_looks, most - planned)
    for _ = 1, steps do cycle.step() end
    planned = planned + steps
    ended, taken = self:look(cycle)
  until ended or planned >= most
  return cycle, ended, taken
end

-- Solvers of symmetric matrices, whose preconditioner is symmetric, too.
local takes_symmetric = {["sparse.linalg.cg"] = true, ["sparse.linalg.minres"] = true}

--- "; A is not symmetric: ..." with the two elements that differ most, or nothing. Functions and operators do not tell. Elements that
--- differ by rounding are equal.
local function unlike_transpose(name, a)
  if a == nil or type(a) == "function" or is_operator(a) or a.shape[1] == 0 then return "" end
  local difference = (a - (kinds.is_complex(a) and a.T:conj() or a.T)):abs()
  local i, j, most, size
  if core.is_array(a) then
    local at = difference:reshape(difference.size):argmax():item() - 1
    i, j = math.floor(at / a.shape[2]) + 1, at % a.shape[2] + 1
    most, size = difference(i, j):item(), a:abs():max():item()
  else
    difference = difference:tocoo()
    if difference.nnz == 0 then return "" end
    local at = difference.data:argmax():item()
    i, j, most, size = difference.row[at], difference.col[at], difference.data[at], a:tocoo().data:abs():max():item()
  end
  if not (most > 100 * tools.epsilon[(kinds.working(a))] * size) then return "" end
  local form = "%s is not symmetric: %s[{%d, %d}] is %s, and %s[{%d, %d}] is %s"
  local function element(k, l) return core.describe(core.is_array(a) and a(k, l):item() or a[{k, l}]) end
  return form:format(name, name, i, j, element(i, j), name, j, i, element(j, i))
end

--- Warns where a solver has not reached its tolerance. `a`, `m`: the matrix and the preconditioner.
function tools.warn_of(op, info, a, m)
  if info.converged then return end
  local unlike = takes_symmetric[op] and unlike_transpose("A", a) or ""
  if unlike == "" and takes_symmetric[op] then unlike = unlike_transpose("M", m) end
  local advice = unlike ~= "" and unlike .. "; bicgstab and gmres take any matrix" or info.reason == "maxiter" and "a larger maxiter, a preconditioner M or a larger rtol may help"
    or info.reason == "indefinite" and "cg takes symmetric matrices with positive eigenvalues, minres symmetric ones, bicgstab and gmres any"
    or "the reference's table of reasons says what may help"
  records.warn_of(op, info, "a solution within the tolerance", (" after %d steps with residual %.3g"):format(info.iterations, info.residual),
    "the result is the best x so far; " .. advice)
end

--- Runs cycles until the residual is within the tolerance, the steps are used up, or a cycle does not help. A cycle that ends
--- before it is converged, by a breakdown or rounding errors, is followed by another if it has halved the residual.
function problem:solve(start)
  self.epsilon = tools.epsilon[self.dtype]
  local size = tools.length(self.b)
  local tolerance = math.max(self.rtol * size, self.atol)
  if size == 0 then self.x = nil end
  local r, length = self:residual(self.x)
  self.steps = 0
  local reason
  while not reason do
    if length <= tolerance then
      reason = "converged"
    elseif not (length < math.huge) then
      reason = "not finite"
    elseif self.steps >= self.maxiter then
      reason = "maxiter"
    else
      local cycle, ended, taken = self:run_cycle(start, r, length, tolerance)
      self.steps = self.steps + taken
      local x = self:at(cycle.best_d or cycle.solution(), cycle):eval()
      local new_r, new_length = self:residual(x)
      local halved, better = new_length <= length / 2, new_length < length
      if better then self.x, r, length = x, new_r, new_length end
      if length > tolerance and self.steps < self.maxiter then
        if ended == "converged" or not (ended or better) then ended = "stagnation" end
        if ended and (not halved or ended:find "indefinite") then reason = ended end
      end
    end
  end
  local x = self.x or gpu.zeros_like(self.b)
  local info = {converged = reason == "converged", reason = reason, iterations = self.steps, residual = length}
  tools.warn_of(self.op, info, self.a, self.m)
  return x:reshape(self.shape), records.seal(info, self.op)
end

tools.read, tools.is_operator = read, is_operator

-- ---- conjugate gradients ----------------------------------------------------------------------------------------------------

--- gpu.sparse.linalg.cg(A, b [, {M, x0, rtol, atol, maxiter, callback}])
function linalg.cg(a, b, options)
  local op = "sparse.linalg.cg"
  options = checks.fields(op, options)
  return read(op, a, b, options):solve(function(self, cycle)
    local z = self.precondition and self.precondition(cycle.r) or cycle.r
    local p, rho = z, tools.real(tools.dot(cycle.r, z))
    function cycle.step()
      local q = self.multiply(p)
      local curvature = tools.real(tools.dot(p, q))
      local good = gpu.logical_and(curvature:gt(0), rho:gt(0))
      local alpha = gpu.where(gpu.logical_and(good, tools.running(cycle)), rho / curvature, 0)
      local d, r = cycle.d + alpha * p, cycle.r - alpha * q
      z = self.precondition and self.precondition(r) or r
      local old_rho = rho
      rho, cycle.rr = tools.real(tools.dot(r, z)), tools.square_sum(r)
      cycle.d, cycle.r = d, r
      tools.count_step(cycle, {
        {gpu.logical_not(gpu.logical_and(curvature:isfinite(), old_rho:isfinite())), "not finite"},
        {old_rho:le(0), "indefinite preconditioner"}, {curvature:le(0), "indefinite"}}, {})
      p = z + gpu.where(tools.running(cycle), rho / old_rho, 0) * p
      gpu.eval(p, cycle.d, cycle.r, rho, cycle.rr, cycle.state)
    end
  end)
end

-- ---- biconjugate gradients, stabilised --------------------------------------------------------------------------------------

--- gpu.sparse.linalg.bicgstab(A, b [, {M, x0, rtol, atol, maxiter, callback}])
--- Van der Vorst 1992, with the preconditioner on the right. A scalar product that vanishes ends the cycle, and the next one begins
--- with another shadow residual.
function linalg.bicgstab(a, b, options)
  local op = "sparse.linalg.bicgstab"
  options = checks.fields(op, options)
  return read(op, a, b, options):solve(function(self, cycle)
    local function precondition(x) return self.precondition and self.precondition(x) or x end
    local shadow = cycle.r
    local p, rho = cycle.r, tools.dot(shadow, cycle.r)
    local vanishing = self.epsilon ^ 2
    function cycle.step()
      local p_hat = precondition(p):eval()
      local v = self.multiply(p_hat)
      local slope = tools.dot(shadow, v)
      local alpha = gpu.where(gpu.logical_and(tools.running(cycle), slope:ne(0)), rho / slope, 0)
      local s = (cycle.r - alpha * v):eval()
      local s_hat = precondition(s):eval()
      local t = self.multiply(s_hat)
      local tt = tools.square_sum(t)
      local omega = gpu.where(gpu.logical_and(tools.running(cycle), tt:gt(0)), tools.dot(t, s) / tt, 0)
      cycle.d, cycle.r = cycle.d + alpha * p_hat + omega * s_hat, s - omega * t
      cycle.rr = tools.square_sum(cycle.r)
      local old_rho = rho
      rho = tools.dot(shadow, cycle.r)
      tools.count_step(cycle, {}, {{slope:eq(0), "breakdown"}, {omega:eq(0), "breakdown"},
        {rho:abs():square():le(vanishing * cycle.rr), "breakdown"}})
      local beta = gpu.where(tools.running(cycle), rho / old_rho * (alpha / omega), 0)
      p = cycle.r + beta * (p - omega * v)
      gpu.eval(p, cycle.d, cycle.r, rho, cycle.rr, cycle.state)
    end
  end)
end

return tools
