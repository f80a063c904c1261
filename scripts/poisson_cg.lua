-- Poisson's equation -(u_xx + u_yy) = f on the unit square, u = 0 on its edge, by finite differences and conjugate gradients.
-- gpulua poisson_cg.lua [points along an edge, odd]
local gpu = require "gpu"

local pi = math.pi

--- The five-point matrix for n x n points inside the square, h apart.
local function laplacian(n, h)
  local point = gpu.range(1, n * n, {dtype = "int64"})
  local left, above = gpu.extract((point % n):ne(0), point), gpu.range(1, n * n - n, {dtype = "int64"}) -- of a neighbour
  local rows = gpu.concat {point, left, left + 1, above, above + n}
  local columns = gpu.concat {point, left + 1, left, above + n, above}
  local neighbours = 2 * (left.size + above.size)
  local values = gpu.concat {gpu.full({n * n}, 4, "float64"), gpu.full({neighbours}, -1, "float64")} / h ^ 2
  return gpu.sparse.coo(rows, columns, values):tocsr()
end

--- Solves for u = sin(pi x) sin(2 pi y) + x (1 - x) y (1 - y), of which the differences miss the sine mode's fourth derivatives.
--- Gives the greatest error, and what cg tells.
local function solve(n)
  local h = 1 / (n + 1)
  local x = (gpu.range(1, n, {dtype = "float64"}) * h):expand_dims(2)
  local y = x.T
  local mode = gpu.sin(pi * x) * gpu.sin(2 * pi * y)
  local u = mode + x * (1 - x) * y * (1 - y)
  local f = 5 * pi ^ 2 * mode + 2 * (x * (1 - x) + y * (1 - y))
  local found, info = gpu.sparse.linalg.cg(laplacian(n, h), f:reshape(n * n), {rtol = 1e-9, maxiter = 20 * n})
  assert(info.converged, info.reason)
  return (found:reshape(n, n) - u):abs():max():item(), info
end

local n = tonumber(arg and arg[1]) or 255
local coarse = solve((n - 1) / 2)
local start = gpu.clock()
local error, info = solve(n)
print(("%d x %d points: error %.2e after %d steps, %.1f ms"):format(n, n, error, info.iterations, gpu.clock() - start))

-- The error is of second order: half the distance, a quarter of the error. A mode's error is known, too: the differences have it as
-- an eigenvector, with the eigenvalue (4 sin^2(pi h / 2) + 4 sin^2(pi h)) / h^2 in place of 5 pi^2.
local h = 1 / (n + 1)
local eigenvalue = (4 * math.sin(pi * h / 2) ^ 2 + 4 * math.sin(pi * h) ^ 2) / h ^ 2
local order = math.log(coarse / error) / math.log(2)
print(("order of the error: %.3f; expected error: %.2e"):format(order, 5 * pi ^ 2 / eigenvalue - 1))
assert(math.abs(order - 2) < 0.05 and math.abs(error / (5 * pi ^ 2 / eigenvalue - 1) - 1) < 0.01)
