-- An elementwise function from source, as in CuPy's tutorial: leaky ReLU with slope 0.1 over linspace(-5, 5, 10000). It is an
-- operation like the library's own: it broadcasts, takes numbers, and fuses with the expression around it.
--
--   gpulua scripts/leaky_relu.lua

local gpu = require "gpu"

local leaky_relu = gpu.elementwise {
  name = "leaky_relu",
  inputs = "T x, T slope",
  outputs = "T y",
  body = "y = x > 0 ? x : slope * x;",
}

local n = 10000
local x = gpu.linspace(-5, 5, n)
local y = leaky_relu(x, 0.1)

local worst = 0
local xs, ys = x:host(), y:host()
for i = 0, n - 1 do worst = math.max(worst, math.abs(ys[i] - (xs[i] > 0 and xs[i] or 0.1 * xs[i]))) end
print(("leaky ReLU over %d points on %s: largest error %.2e"):format(n, tostring(gpu.device()), worst))
assert(worst < 1e-6, "the device's results differ from the reference")

-- A layer of weights, a bias and the function. All operations but the matrix product are one kernel.
local batch, weights, bias = gpu.linspace(-1, 1, 64 * 16):reshape(64, 16), gpu.linspace(-1, 1, 16 * 8):reshape(16, 8), gpu.ones(8)
local product = batch:matmul(weights)
local layer = leaky_relu(product + bias, 0.1) * 2
print(gpu.explain(layer):match "^[^\n]*")
print(layer(1))
