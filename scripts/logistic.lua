-- Logistic regression with a penalty, by L-BFGS and the gradient of the loss: the weights that draw the data's labels, with their
-- standard errors from the second derivatives. Checked: at the least loss its gradient is 0, and Newton's steps end there too.
--
--   gpulua scripts/logistic.lua [samples]

local gpu = require "gpu"

local n, features = tonumber(arg and arg[1]) or 100000, 8
gpu.random.seed(3)
local X = gpu.randn(n, features, {dtype = "float64"}):eval()
local truth = gpu.linspace(-1.5, 1.5, features, "float64")
local y = gpu.rand(n, {dtype = "float64"}):lt(gpu.sigmoid(X:matmul(truth) + 0.5)):astype("float64"):eval()

--- The mean of -log(probability of the label), and a penalty. log1p(exp(z)) is written so that it does not overflow.
local function loss(p)
  local z = X:matmul(p.w) + p.b
  return (gpu.logaddexp(z, 0) - y * z):mean() + 1e-6 * (p.w * p.w):sum()
end

local start = {w = gpu.zeros(features, {dtype = "float64"}), b = gpu.zeros({}, {dtype = "float64"})}
local p, info = gpu.optimize.minimize(loss, start, {method = "L-BFGS-B", tol = 1e-9})
print(("%d samples on %s: loss %.6f after %d iterations, %s"):format(n, tostring(gpu.device()), info.value, info.iterations, info.reason))
assert(info.converged)

local g = gpu.grad(loss)(p)
local norm = math.max(g.w:abs():max():item(), math.abs(g.b:item()))
assert(norm < 1e-8, "the gradient was to be 0, got " .. norm)

-- The inverse of the matrix of second derivatives of the whole likelihood has the variances of the estimates.
local H = gpu.hessian(function(w) return n * loss {w = w, b = p.b} end)(p.w)
local errors = gpu.sqrt(gpu.diagonal(gpu.linalg.inv(H)))
for i = 1, features do
  print(("weight %d: %8.4f +- %.4f, drawn with %7.4f"):format(i, p.w[i], errors[i], truth[i]))
  assert(math.abs(p.w[i] - truth[i]) < 5 * errors[i], "a weight was to be near the one that drew the labels")
end

-- Newton's method: a step solves for the gradient, and three end at the same weights.
local w = p.w + 0.05
local along = gpu.grad(function(w) return loss {w = w, b = p.b} end)
for _ = 1, 4 do w = (w - gpu.linalg.solve(H / n, along(w))):eval() end
local difference = (w - p.w):abs():max():item()
print(("Newton's steps end %.1e away"):format(difference))
assert(difference < 1e-6)
