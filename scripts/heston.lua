-- A European call under Heston's model by three sources of numbers: Philox, fused into the kernels; scrambled Sobol points, fused
-- too; and cuRAND's generator, where cuRAND is installed. The paths follow the QE scheme of L. Andersen, "Simple and efficient
-- simulation of the Heston stochastic volatility model" (Journal of Computational Finance 11, 2008). The reference is the integral
-- of A. Lewis over the characteristic function, and the price that F. Fang and C. Oosterlee published checks that integral ("A
-- Novel Pricing Method for European Options Based on Fourier-Cosine Series Expansions", SIAM Journal on Scientific Computing 31,
-- 2008).
--
--   gpulua scripts/heston.lua [paths] [steps]

local gpu = require "gpu"

local paths = tonumber(arg and arg[1]) or 8192
local steps = tonumber(arg and arg[2]) or 16
local repeats = 8 -- the means over different seeds tell the standard error, of Sobol points too
assert(paths >= 64 and steps >= 1, "paths: from 64 on; steps: from 1 on")

local S0, K, rate, years = 100, 100, 0, 1
local kappa, theta, sigma, v0, rho = 1.5768, 0.0398, 0.5751, 0.0175, -0.5711
local published = 5.785155450

local i = gpu.complex(0, 1)

--- The characteristic function of log(S / forward) at maturity, at the complex numbers w.
local function characteristic(w)
  local xi = kappa - rho * sigma * (i * w)
  local d = gpu.sqrt(xi * xi + sigma ^ 2 * (i * w + w * w))
  local g, decay = (xi - d) / (xi + d), gpu.exp(-years * d)
  local C = kappa * theta / sigma ^ 2 * ((xi - d) * years - 2 * gpu.log((1 - g * decay) / (1 - g)))
  return gpu.exp(C + v0 / sigma ^ 2 * (xi - d) * (1 - decay) / (1 - g * decay))
end

local function exact_price()
  local u = gpu.linspace(0, 200, 20001, { dtype = "float64" })
  local moneyness = math.log(S0 / K) + rate * years
  local integrand = (gpu.exp(moneyness * (i * u)) * characteristic(u - 0.5 * i)):real() / (u * u + 0.25)
  return S0 - math.sqrt(S0 * K) * math.exp(-rate * years / 2) / math.pi * gpu.trapezoid(integrand, u):item()
end

local dt = years / steps
local decay = math.exp(-kappa * dt)
local drift = rate * dt - rho * kappa * theta / sigma * dt
local before = 0.5 * dt * (kappa * rho / sigma - 0.5) - rho / sigma -- weights of the variance before and after a step
local after = before + 2 * rho / sigma
local spread = 0.5 * dt * (1 - rho ^ 2)

--- The variance after a step: a squared normal number, or, where the variance is near 0, zero or an exponential number. Its mean
--- and variance are those of the exact distribution.
local function next_variance(v, u)
  local mean = theta + (v - theta) * decay
  local variance = v * (sigma ^ 2 * decay * (1 - decay) / kappa) + theta * sigma ^ 2 * (1 - decay) ^ 2 / (2 * kappa)
  local psi = variance / (mean * mean)
  local two = 2 / gpu.minimum(psi, 1.5)
  local b2 = two - 1 + gpu.sqrt(two * (two - 1))
  local squared = mean / (1 + b2) * (gpu.sqrt(b2) + gpu.normcdfinv(u)) ^ 2
  local p = gpu.maximum((psi - 1) / (psi + 1), 0)
  local exponential = gpu.where(u:gt(p), gpu.log((1 - p) / (1 - u)) * mean / (1 - p), 0)
  return gpu.where(psi:le(1.5), squared, exponential)
end

--- The discounted mean of the payoff. `uniforms(k)` gives the numbers, within (0, 1), of column k: two columns for each step.
local function simulate(uniforms)
  local v, x = gpu.full(paths, v0, { dtype = "float64" }), math.log(S0)
  for step = 1, steps do
    local following = next_variance(v, uniforms(2 * step - 1))
    local z = gpu.normcdfinv(uniforms(2 * step))
    x = x + drift + before * v + after * following + gpu.sqrt(spread * (v + following)) * z
    v = following
    gpu.eval(x, v)
  end
  return math.exp(-rate * years) * gpu.maximum(gpu.exp(x) - K, 0):mean():item()
end

local float64 = { dtype = "float64" }
local sources = {
  { "Philox, fused", function(seed)
    local generator = gpu.random.generator("philox", { seed = seed })
    return function() return 1 - gpu.rand(paths, { dtype = "float64", generator = generator }) * (1 - 1e-12) end
  end },
  { "Sobol, scrambled", function(seed)
    local points = gpu.random.sobol(paths, 2 * steps, { seed = seed, dtype = "float64" })
    return function(k) return points(":", k) end
  end },
  { "cuRAND, XORWOW", function(seed)
    local generator = gpu.random.generator("xorwow", { seed = seed })
    return function() return generator:uniform(paths, float64) * (1 - 1e-12) end
  end },
}

local exact = exact_price()
print(("Heston call, %d x %d paths of %d steps, float64 on %s"):format(repeats, paths, steps, tostring(gpu.device())))
print(("integral          %.6f, published %.6f"):format(exact, published))
assert(math.abs(exact - published) < 1e-6, "the integral differs from the published price")

local errors = {}
for _, source in ipairs(sources) do
  local name, begin = source[1], source[2]
  local found, message = pcall(begin, 0)
  if found then
    simulate(begin(0)) -- warm up
    local start, stop = gpu.event(), gpu.event()
    start:record()
    local sum, squares = 0, 0
    for seed = 1, repeats do
      local price = simulate(begin(seed))
      sum, squares = sum + price, squares + price ^ 2
    end
    stop:record()
    stop:sync()
    local mean = sum / repeats
    local deviation = math.sqrt(math.max(squares / repeats - mean ^ 2, 0) / (repeats - 1))
    print(("%-17s %.4f +- %.4f, %8.2f ms"):format(name, mean, deviation, start:elapsed(stop)))
    -- The scheme's own error is of the order of 0.01 at 16 steps.
    assert(math.abs(mean - exact) < 5 * deviation + 0.16 / steps, "the price is too far from the integral")
    errors[name] = deviation
  else
    assert(message:find("pip install nvidia-curand", 1, true), message)
    print(("%-17s cuRAND is not installed"):format(name))
  end
end
-- With many more dimensions, the gain shrinks.
assert(paths < 8192 or steps > 16 or errors["Sobol, scrambled"] < errors["Philox, fused"],
  "Sobol points were to give the smaller error")
