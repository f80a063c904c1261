-- Gradients of composed functions against JAX's and PyTorch's, which agree on them (tests/golden/arrays/gradients.py).
local gpu = require "gpu"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = {}
for name, array in pairs(gpu.load(folder .. "/golden/arrays/gradients.npz")) do golden[name] = array end

local pi = math.pi
local function constant(values) return gpu.array(values, "float64") end
local function eye(n) return gpu.eye(n, {dtype = "float64"}) end
local function columns(x, axis, keepdims) return x:sum(axis, {keepdims = keepdims}) end
local function means(x) return x:mean(2, {keepdims = true}) end
local function slice(x, first, last) return x {first, last} end

local functions = {}

-- ---- networks -----------------------------------------------------------------------------------------------------------------------

function functions.cross_entropy(x, target) return (gpu.logsumexp(x, 2) - (x * target):sum(2)):mean() end

function functions.layer_norm(x, w, b)
  local centred = x - means(x)
  return gpu.sin(centred / gpu.sqrt(means(centred * centred) + 1e-5) * w + b):sum()
end

function functions.rms_norm(x, w) return gpu.cos(x / gpu.sqrt(means(x * x) + 1e-6) * w):sum() end

function functions.attention(q, k, v)
  local s = gpu.einsum("id,jd->ij", q, k) / math.sqrt(3)
  local p = gpu.exp(s - gpu.logsumexp(s, 2, {keepdims = true}))
  return (gpu.einsum("ij,jd->id", p, v) ^ 2):sum()
end

function functions.gelu(x) return (0.5 * x * (1 + gpu.erf(x / math.sqrt(2)))):sum() end

function functions.silu(x) return (x / (1 + gpu.exp(-x))):sum() end

function functions.perceptron(x, w, b, v)
  return (gpu.tanh(gpu.tanh(x:matmul(w) + b):matmul(v)) ^ 2):mean()
end

function functions.lstm(x, h, w)
  local c, y = h * 0.1, h * 0.2
  local function at(i, j) return w({i, i}, {j, j}):reshape(1) end
  for _ = 1, 3 do
    local gate = 1 / (1 + gpu.exp(-(at(1, 1) * x + at(2, 1) * y + at(3, 1))))
    local forget = 1 / (1 + gpu.exp(-(at(1, 2) * x + at(2, 2) * y + at(3, 2))))
    c = forget * c + gate * gpu.tanh(at(1, 3) * x + at(2, 3) * y + at(3, 3))
    y = gpu.tanh(c) * at(4, 1)
  end
  return (y * y):sum()
end

function functions.convolution(x, w)
  local y = w {1, 1} * x {1, -3} + w {2, 2} * x {2, -2} + w {3, 3} * x {3, -1}
  return (gpu.maximum(y, 0) ^ 2):sum()
end

function functions.contrastive(x, y)
  local function unit(v) return v / gpu.sqrt(columns(v * v, 2, true)) end
  local s = 5 * unit(x):matmul(unit(y).T)
  return gpu.logsumexp(s, 2):mean() - s.T[1]:mean()
end

function functions.embedding(t)
  local rows = gpu.array({1, 4, 4, 6, 2, 4}, "int64")
  return (gpu.sin(gpu.take(t, rows, 1)) * constant {1, 2, 3, 4, 5, 6}:expand_dims(2)):sum()
end

function functions.huber(x, y)
  local d = gpu.abs(x - y)
  return gpu.where(d:lt(0.7), 0.5 * d * d, 0.7 * (d - 0.35)):mean()
end

-- ---- statistics ---------------------------------------------------------------------------------------------------------------------

function functions.logistic(x, w, y)
  local z = x:matmul(w)
  return (gpu.maximum(z, 0) - z * y + gpu.log1p(gpu.exp(-gpu.abs(z)))):mean()
end

function functions.poisson(x, w, y)
  local z = x:matmul(w)
  return (gpu.exp(z) - y * z + gpu.lgamma(y + 1)):mean()
end

function functions.mixture(x, mean, scale, weight)
  local log_density = -0.5 * ((x:expand_dims(2) - mean) / scale) ^ 2 - gpu.log(scale) - 0.5 * math.log(2 * pi)
  return -gpu.logsumexp(log_density + weight - gpu.logsumexp(weight), 2):sum()
end

function functions.student(x, nu)
  return -(gpu.lgamma((nu + 1) / 2) - gpu.lgamma(nu / 2) - 0.5 * gpu.log(nu * pi) - (nu + 1) / 2 * gpu.log1p(x * x / nu)):sum()
end

function functions.beta(x, a, b)
  return ((a - 1) * gpu.log(x) + (b - 1) * gpu.log1p(-x) - gpu.lgamma(a) - gpu.lgamma(b) + gpu.lgamma(a + b)):sum()
end

function functions.entropy_of_gamma(x, k) return (k - gpu.log(x) + gpu.lgamma(k) + (1 - k) * x):sum() end

function functions.von_mises(x, kappa, mean)
  return (kappa * (gpu.cos(x - mean) - 1) - gpu.log(2 * pi * gpu.i0e(kappa))):sum()
end

function functions.dirichlet(x, a)
  return ((a - 1) * gpu.log(x / x:sum())):sum() + gpu.lgamma(a:sum()) - gpu.lgamma(a):sum()
end

function functions.correlation(x, y)
  x, y = x - x:mean(), y - y:mean()
  return (x * y):sum() / gpu.sqrt((x * x):sum() * (y * y):sum())
end

function functions.log_determinant(x)
  local centred = x - x:mean(1)
  local _, logarithm = gpu.linalg.slogdet(centred.T:matmul(centred) / 6 + 0.1 * eye(3))
  return logarithm
end

function functions.gaussian_process(x, y, length, noise)
  local k = gpu.exp(-0.5 * ((x:expand_dims(2) - x) / length) ^ 2) + noise * eye(5)
  return 0.5 * (y * gpu.linalg.solve(k, y)):sum() + gpu.log(gpu.diagonal(gpu.linalg.cholesky(k))):sum()
end

function functions.order_statistics(x) return (gpu.sort(x) * gpu.linspace(-1, 1, 8, "float64")):sum() end

function functions.row_maximum(x) return (x:max(2) ^ 2):sum() - x:min(1):sum() end

-- ---- finance ------------------------------------------------------------------------------------------------------------------------

function functions.call_price(s, k, t, r, v)
  local deviation = v * gpu.sqrt(t)
  local d1 = (gpu.log(s / k) + (r + 0.5 * v * v) * t) / deviation
  return (s * gpu.normcdf(d1) - k * gpu.exp(-r * t) * gpu.normcdf(d1 - deviation)):sum()
end

local noise = golden.noise

function functions.heston_paths(v0, speed, mean, noise_of_variance, rho)
  local x, v, dt = 0, v0 + 0 * noise[1][1], 1 / 12
  for i = 1, 12 do
    local positive = gpu.maximum(v, 1e-3)
    local root = gpu.sqrt(positive * dt)
    x = x - 0.5 * positive * dt + root * noise[1][i]
    v = v + speed * (mean - positive) * dt + noise_of_variance * root * (rho * noise[1][i] + gpu.sqrt(1 - rho * rho) * noise[2][i])
  end
  return gpu.maximum(100 * gpu.exp(x) - 95, 0):mean()
end

function functions.asian_option(s0, v)
  local steps = (-0.5 * v * v) / 12 + v * math.sqrt(1 / 12) * noise[1]
  return gpu.maximum((s0 * gpu.exp(gpu.cumsum(steps, 1))):mean(1) - 98, 0):mean()
end

function functions.drawdown(returns)
  local wealth = gpu.cumprod(1 + returns)
  return (gpu.cummax(wealth) / wealth):mean()
end

function functions.bond_curve(rates, flows)
  local discount = gpu.exp(-gpu.cumsum(rates))
  return (flows * discount):sum() / discount:sum()
end

function functions.portfolio(weights, factors)
  local w = weights / weights:sum()
  local c = factors:matmul(factors.T)
  local risk = gpu.sqrt(w:matmul(c):matmul(w))
  return ((w * c:matmul(w) / risk - risk / 4) ^ 2):sum()
end

function functions.garch(returns, omega, alpha, persistence)
  local v, total = omega / (1 - alpha - persistence), 0
  for i = 1, 10 do
    local r = returns {i, i}
    total = total + gpu.log(v) + r ^ 2 / v
    v = omega + alpha * r ^ 2 + persistence * v
  end
  return 0.5 * total:sum()
end

function functions.kalman_filter(y, a, q, r)
  local m, p, total = 0 * a, 1 + 0 * a, 0
  for i = 1, 8 do
    local seen = y {i, i}
    m, p = a * m, a * a * p + q
    local s = p + r
    total = total + 0.5 * (gpu.log(s) + (seen - m) ^ 2 / s)
    local gain = p / s
    m, p = m + gain * (seen - m), (1 - gain) * p
  end
  return total:sum()
end

-- ---- physics ------------------------------------------------------------------------------------------------------------------------

function functions.lorenz(x, y, z, sigma, rho)
  local function slope(x, y, z) return sigma * (y - x), x * (rho - z) - y, x * y - 8 / 3 * z end
  local h = 0.02
  for _ = 1, 10 do
    local kx, ky, kz = slope(x, y, z)
    local mx, my, mz = slope(x + 0.5 * h * kx, y + 0.5 * h * ky, z + 0.5 * h * kz)
    x, y, z = x + h * mx, y + h * my, z + h * mz
  end
  return (x * x + y - z):sum()
end

function functions.pendulum(q, p, length)
  for _ = 1, 15 do
    p = p - 0.05 * gpu.sin(q) / length
    q = q + 0.1 * p
    p = p - 0.05 * gpu.sin(q) / length
  end
  return (0.5 * p * p - gpu.cos(q) / length):sum()
end

--- The differences of all pairs of points, an array n x n x d.
local function differences(x) return x:expand_dims(2) - x end

function functions.lennard_jones(x)
  local d, same = differences(x), eye(5):gt(0)
  local r2 = gpu.where(same, 1, (d * d):sum(3))
  local s6 = 1 / (r2 * r2 * r2)
  return gpu.where(same, 0, 2 * (s6 * s6 - s6)):sum()
end

function functions.coulomb(x, charge)
  local d = differences(x)
  return 0.5 * (gpu.outer(charge, charge) / gpu.sqrt((d * d):sum(3) + 0.01)):sum()
end

function functions.heat(u)
  for _ = 1, 5 do u = u + 0.2 * (u:roll(1) - 2 * u + u:roll(-1)) end
  return (u ^ 4):sum()
end

function functions.burgers(u)
  for _ = 1, 4 do u = u - 0.05 * u * (u:roll(-1) - u:roll(1)) + 0.02 * (u:roll(1) - 2 * u + u:roll(-1)) end
  return (u * u):sum()
end

function functions.total_variation(x)
  local here = x({1, -2}, {1, -2})
  local dx, dy = x({2, -1}, {1, -2}) - here, x({1, -2}, {2, -1}) - here
  return gpu.sqrt(dx * dx + dy * dy + 1e-3):sum()
end

function functions.spectrum(x)
  local y = gpu.fft.fft(x)
  return (gpu.abs(y) ^ 2 * gpu.arange(16, {dtype = "float64"})):sum() + gpu.log(gpu.abs(gpu.fft.rfft(x * x)) + 1):sum()
end

function functions.polar(x, y) return (gpu.hypot(x, y) * gpu.atan2(y, x)):sum() end

function functions.springs(x)
  local length = gpu.abs(slice(x, 2, -1) - slice(x, 1, -2))
  return ((length - 0.5) ^ 2):sum() + gpu.clip(x, -0.5, 0.5):sum()
end

-- ---- linear algebra -----------------------------------------------------------------------------------------------------------------

function functions.solution(a, b) return gpu.sin(gpu.linalg.solve(a, b)):sum() end

function functions.inverse(a) return (gpu.linalg.inv(a) ^ 2):sum() end

function functions.determinant(a) return gpu.linalg.det(a) end

function functions.eigenvalues(a) return (gpu.log(gpu.linalg.eigvalsh(0.5 * (a + a.T))) ^ 2):sum() end

function functions.nuclear_norm(a) return gpu.linalg.svdvals(a):sum() end

function functions.exponential(a) return (gpu.linalg.expm(a) ^ 2):sum() end

function functions.factor(a) return gpu.sin(gpu.linalg.cholesky(0.5 * (a + a.T))):sum() end

function functions.trace_of_cube(a) return gpu.einsum("ij,jk,ki->", a, a, a) end

function functions.bilinear(a, b, c) return gpu.tanh(gpu.einsum("ij,jkl,k->il", a, b, c)):sum() end

function functions.quadratic(x, a) return x:matmul(a):matmul(x) end

function functions.ridge(x, y, penalty)
  local w = gpu.linalg.solve(x.T:matmul(x) + penalty * eye(3), x.T:matmul(y))
  return ((x:matmul(w) - y) ^ 2):sum() + (w ^ 4):sum()
end

function functions.batched(a, b) return (gpu.linalg.solve(a, b) ^ 3):sum() end

-- ---- plain ones ---------------------------------------------------------------------------------------------------------------------

function functions.rosenbrock(x)
  local here, after = slice(x, 1, -2), slice(x, 2, -1)
  return (100 * (after - here ^ 2) ^ 2 + (1 - here) ^ 2):sum()
end

function functions.rastrigin(x) return (x * x - 10 * gpu.cos(2 * pi * x) + 10):sum() end

function functions.ackley(x) return -20 * gpu.exp(-0.2 * gpu.sqrt((x * x):mean())) - gpu.exp(gpu.cos(2 * pi * x):mean()) end

function functions.powers(x, y) return (x ^ y + x ^ 3 - 2 ^ y):sum() end

function functions.product(x) return x:prod() + x {3, -1}:prod() end

function functions.masked_root(x) return gpu.where(x:gt(0), gpu.sqrt(x), 0):sum() end

function functions.joined(x, y)
  return (gpu.sin(gpu.concat({x.T, y.T}, 1)) * gpu.arange(18, {dtype = "float64"}):reshape(6, 3)):sum()
end

function functions.stacked(x, y) return gpu.stack {x, y, x + y}:prod(1):sum() end

describe("the gradient of a composed function", function()
  local names = {}
  for key in pairs(golden) do
    local name = key:match "^(.*)%.value$"
    if name then names[#names + 1] = name end
  end
  table.sort(names)

  it("has a function for each in the table", function()
    assert(#names >= 60)
    for name in pairs(functions) do assert(golden[name .. ".value"], name) end
  end)

  for _, name in ipairs(names) do
    it("of " .. name .. " is JAX's and PyTorch's", function()
      local f = assert(functions[name], name)
      local inputs, which = {}, {}
      while golden[name .. "." .. #inputs + 1] do
        inputs[#inputs + 1] = golden[name .. "." .. #inputs + 1]
        which[#which + 1] = #inputs
      end
      local function close(found, wanted)
        local size = math.max(1, wanted:abs():max():item())
        assert(gpu.allclose(found:reshape(wanted.shape), wanted, {rtol = 0, atol = 2e-11 * size}), name .. ": " .. tostring(found) .. tostring(wanted))
      end
      local found = {gpu.value_and_grad(function(...)
        local y = f(...)
        return y.ndim == 0 and y or y:sum()
      end, which)(unpack(inputs))}
      close(found[1], golden[name .. ".value"])
      for i = 1, #inputs do close(found[1 + i], golden[name .. ".d" .. i]) end
    end)
  end
end)
