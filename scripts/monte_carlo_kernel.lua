-- A European call by Monte Carlo: normal numbers from cuRAND's XORWOW generator, a kernel for the payoff, the price against
-- the closed form of Black and Scholes. S0 = K = 100, r = 0.02, volatility 0.30, one year.
--
--   gpulua scripts/monte_carlo_kernel.lua [paths]

local gpu = require "gpu"

local paths = tonumber(arg and arg[1]) or 4000000
local S0, K, rate, volatility, years = 100, 100, 0.02, 0.30, 1

local payoff = gpu.kernel([[
__global__ void call_payoff(const double* normal, double* sum, double* sum_of_squares, double S0, double K, double drift,
                            double deviation, double discount, int n) {
  const int stride = gridDim.x * blockDim.x;
  double s = 0, q = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    const double value = discount * fmax(S0 * exp(drift + deviation * normal[i]) - K, 0.0);
    s += value;
    q += value * value;
  }
  const int thread = blockIdx.x * blockDim.x + threadIdx.x;
  sum[thread] = s;
  sum_of_squares[thread] = q;
}
]], "call_payoff")

local generator = gpu.random.generator("xorwow", { seed = 1234 })
local normal = generator:normal({ paths }, 0, 1, "float64")

local grid, block = 64, 128
local sums, squares = gpu.empty(grid * block, "float64"), gpu.empty(grid * block, "float64")
local drift = (rate - 0.5 * volatility ^ 2) * years
payoff { grid = grid, block = block }(normal, sums, squares, S0, K, drift, volatility * math.sqrt(years), math.exp(-rate * years),
  paths)

local sum, square = 0, 0
local s, q = sums:host(), squares:host()
for i = 0, grid * block - 1 do
  sum, square = sum + s[i], square + q[i]
end
local price = sum / paths
local deviation = math.sqrt((square / paths - price ^ 2) / paths)

-- The closed form, with the error function by its series: the approximation 7.1.26 of Abramowitz and Stegun has too few digits.
local function normal_cdf(d)
  local term, total = d, d
  for i = 1, 60 do
    term = -term * d * d / (2 * i)
    total = total + term / (2 * i + 1)
  end
  return 0.5 + total / math.sqrt(2 * math.pi)
end
local d1 = (math.log(S0 / K) + (rate + 0.5 * volatility ^ 2) * years) / (volatility * math.sqrt(years))
local d2 = d1 - volatility * math.sqrt(years)
local exact = S0 * normal_cdf(d1) - K * math.exp(-rate * years) * normal_cdf(d2)

print(("European call on %s: %d paths, price %.4f +- %.4f, closed form %.4f"):format(tostring(gpu.device()), paths, price, deviation, exact))
assert(math.abs(price - exact) < 5 * deviation, "the price is more than five standard errors from the closed form")
