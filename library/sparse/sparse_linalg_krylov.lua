-- gpu.sparse.linalg: gmres and minres, in the cycles of sparse_linalg.lua.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks = import "checks"
local kinds = import "kinds"
local dense = import "linalg"
local views = import "views"

local linalg, tools = gpu.sparse.linalg, import "sparse_linalg"

-- ---- minimal residuals of symmetric matrices --------------------------------------------------------------------------------

local function divisor(x) return gpu.where(x:gt(0), x, 1) end

--- gpu.sparse.linalg.minres(A, b [, {M, x0, rtol, atol, maxiter, callback}])
--- Paige and Saunders 1975, in the form of Elman, Silvester and Wathen, "Finite elements and fast iterative solvers", 2.4 and 4.1.
--- The residual is carried along: r_j = s^2 r_(j-1) + c eta v_(j+1).
function linalg.minres(a, b, options)
  local op = "sparse.linalg.minres"
  options = checks.fields(op, options)
  return tools.read(op, a, b, options):solve(function(self, cycle)
    local function precondition(x) return self.precondition and self.precondition(x) or x end
    local v, zero = cycle.r, gpu.zeros_like(cycle.r)
    local z, w, old_w, old_v = precondition(v), zero, zero, zero
    local square = tools.real(tools.dot(z, v))
    local gamma, one = square:sqrt(), gpu.ones_like(cycle.rr)
    local old_gamma, eta, c, s, old_c, old_s = one, gamma, one, one * 0, one, one * 0
    function cycle.step()
      local running = tools.running(cycle)
      local unit = (z / divisor(gamma)):eval()
      local product = self.multiply(unit)
      local delta = tools.real(tools.dot(product, unit))
      local new_v = (product - (delta / divisor(gamma)) * v - (gamma / divisor(old_gamma)) * old_v):eval()
      local new_z = precondition(new_v)
      local new_square = tools.real(tools.dot(new_z, new_v))
      local new_gamma = gpu.maximum(new_square, 0):sqrt()
      -- The squares of what is left where the products have no new direction, or a singular A none to go.
      local rounding = (delta * delta + square) * (10 * self.epsilon) ^ 2
      local alpha = c * delta - old_c * s * gamma
      local length = gpu.hypot(alpha, new_gamma)
      local size = divisor(length)
      local new_c, new_s = alpha / size, new_gamma / size
      local new_w = (unit - (old_s * gamma) * old_w - (s * delta + old_c * c * gamma) * w) / size
      local good = gpu.logical_and(running, (length * length):gt(rounding))
      local new_eta = -new_s * eta
      cycle.d = gpu.where(good, cycle.d + new_c * eta * new_w, cycle.d)
      cycle.r = gpu.where(good, new_s * new_s * cycle.r + new_c * new_eta / divisor(new_gamma) * new_v, cycle.r)
      cycle.rr = tools.square_sum(cycle.r)
      tools.count_step(cycle, {{gpu.logical_not(delta:isfinite()), "not finite"},
        {square:le(0), "indefinite preconditioner"}}, {{new_square:lt(-rounding), "indefinite preconditioner"},
        {gpu.logical_or(new_square:le(rounding), (length * length):le(rounding)), "breakdown"}})
      old_v, v, z, old_w, w = v, new_v, new_z, w, new_w
      square, old_gamma, gamma, eta, old_c, c, old_s, s = new_square, gamma, new_gamma, new_eta, c, new_c, s, new_s
      gpu.eval(z, w, cycle.d, cycle.r, cycle.rr, cycle.state, square, gamma, eta, c, s)
    end
  end)
end

-- ---- orthonormal bases ------------------------------------------------------------------------------------------------------

--- Room for a basis of `most` + 1 vectors like x, in rows, and for what extend() subtracts from products.
function tools.new_space(x, most, dtype)
  local like = {dtype = dtype, device = x.device}
  return {basis = gpu.empty({most + 1, x.size}, like), h = gpu.zeros({most, most + 1}, like), epsilon = tools.epsilon[dtype]}
end

--- Makes w orthogonal to the first j vectors, and of length 1, as the next vector. Row j of h gets the products with the vectors,
--- and the length of what was left. Products with all vectors at once, twice, are as exact as with one after the other.
function tools.extend(space, j, w)
  w = w:eval()
  local size, known, column = tools.square_sum(w), views.slice(space.basis, 1, 1, j), nil
  space.greatest = space.greatest and gpu.maximum(space.greatest, size) or size
  for _ = 1, 2 do
    local part = known:matmul(kinds.is_complex(w) and w:conj() or w)
    part = kinds.is_complex(w) and part:conj() or part
    w, column = (w - part:matmul(known)):eval(), column and column + part or part
  end
  -- Rounding errors alone are left where the basis has all that products can reach. They have no direction.
  local left = tools.square_sum(w)
  local length = gpu.where(left:gt(space.greatest * (32 * space.epsilon) ^ 2), left:sqrt(), 0)
  space.basis(j + 1):copy_(gpu.where(length:gt(0), w / length, 0))
  views.slice(space.h(j), 1, 1, j):copy_(column)
  views.slice(space.h(j), 1, j + 1, 1):copy_(length:reshape(1))
end

-- ---- generalised minimal residuals ------------------------------------------------------------------------------------------

--- One column of Givens rotations on the host; numbers are pairs, complex ones with their imaginary parts.
local function rotate(g, re, im, i)
  local c, s_re, s_im = g.c[i], g.s_re[i], g.s_im[i]
  local a_re, a_im, b_re, b_im = re[i], im[i], re[i + 1], im[i + 1]
  re[i], im[i] = c * a_re + s_re * b_re - s_im * b_im, c * a_im + s_re * b_im + s_im * b_re
  re[i + 1], im[i + 1] = c * b_re - s_re * a_re - s_im * a_im, c * b_im - s_re * a_im + s_im * a_re
end

--- Adds column j of the Hessenberg matrix, whose last element is real. |residual| is that of the right-hand side's element j + 1.
--- False for a column that depends on the others up to rounding errors: A is singular.
local function add_column(g, re, im, epsilon)
  local j, sum = #g.columns + 1, 0
  for i = 1, j + 1 do sum = sum + re[i] ^ 2 + im[i] ^ 2 end
  for i = 1, j - 1 do rotate(g, re, im, i) end
  local size, below = math.sqrt(re[j] ^ 2 + im[j] ^ 2), re[j + 1]
  local length = math.sqrt(size ^ 2 + below ^ 2)
  if length <= 10 * epsilon * math.sqrt(sum) then return false end
  g.c[j] = size / length
  g.s_re[j], g.s_im[j] = below / length, 0
  if size > 0 then g.s_re[j], g.s_im[j] = re[j] / size * below / length, im[j] / size * below / length end
  rotate(g, re, im, j)
  rotate(g, g.re, g.im, j)
  g.columns[j] = {re = re, im = im}
  return true
end

--- The coefficients of the least residual, by substitution from the last one.
local function coefficients(g)
  local re, im = {}, {}
  for i = #g.columns, 1, -1 do
    local a, b = g.re[i], g.im[i]
    for j = i + 1, #g.columns do
      local column = g.columns[j]
      a, b = a - column.re[i] * re[j] + column.im[i] * im[j], b - column.re[i] * im[j] - column.im[i] * re[j]
    end
    local p, q = g.columns[i].re[i], g.columns[i].im[i]
    local size = p * p + q * q
    re[i], im[i] = (a * p + b * q) / size, (b * p - a * q) / size
  end
  return re, im
end

--- gpu.sparse.linalg.gmres(A, b [, {M, restart, x0, rtol, atol, maxiter, callback}])
--- Saad and Schultz 1986, with the preconditioner on the right, so that the residual is that of A x = b. The host solves the small
--- least-squares problem when it looks.
function linalg.gmres(a, b, options)
  local op = "sparse.linalg.gmres"
  options = checks.fields(op, options)
  local self = tools.read(op, a, b, options)
  local restart = checks.integer(op, "restart = an integer", options.restart == nil and 20 or options.restart)
  if restart < 1 then core.fail(op, "restart of 1 or more", restart) end
  restart = math.min(restart, math.max(self.n, 1))
  return self:solve(function(_, cycle)
    local space = tools.new_space(cycle.r, restart, self.dtype)
    local g = {columns = {}, c = {}, s_re = {}, s_im = {}, re = {1}, im = {0}}
    for i = 1, restart do g.re[i + 1], g.im[i + 1] = 0, 0 end
    local j, residual = 0, 1
    space.basis(1):copy_(cycle.r)
    cycle.most, cycle.d = restart, nil
    function cycle.step()
      j = j + 1
      local v = space.basis(j)
      tools.extend(space, j, self.multiply(self.precondition and self.precondition(v) or v))
    end
    function cycle.read()
      local first = #g.columns + 1
      local rows = views.slice(space.h, 1, first, j - first + 1)
      local re, im = tools.real(rows):table(), kinds.is_complex(rows) and rows:imag():table()
      for k = 1, #re do
        local column, zeros = re[k], {}
        for i = 1, restart + 1 do
          zeros[i] = 0
          if column[i] - column[i] ~= 0 then return residual ^ 2, "not finite", #g.columns end
        end
        local below = column[first + k]
        if not add_column(g, column, im and im[k] or zeros, self.epsilon) then return residual ^ 2, "breakdown", #g.columns end
        residual = math.sqrt(g.re[first + k] ^ 2 + g.im[first + k] ^ 2)
        if residual ^ 2 <= cycle.target then return residual ^ 2, "converged", #g.columns end
        if below == 0 then return residual ^ 2, "breakdown", #g.columns end
      end
      return residual ^ 2, nil, #g.columns
    end
    function cycle.solution()
      local count = #g.columns
      if count == 0 then return gpu.zeros_like(cycle.r) end
      local re, im = coefficients(g)
      local y = gpu.array(re, {dtype = dense.real_of(self.dtype), device = cycle.r.device})
      if kinds.is_complex(cycle.r) then y = y + gpu.array(im, y.dtype):to(y.device) * gpu.complex(0, 1) end
      local d = core.cast(y, self.dtype):matmul(views.slice(space.basis, 1, 1, count))
      return self.precondition and self.precondition(d) or d
    end
  end)
end
