-- A European call and its delta by Monte Carlo in several processes: gpu.comm.mean gives the paths to the ranks, and the same bits
-- on any number of them. The price is checked against the closed form of Black and Scholes.
--
--   gpulua --ranks 4 scripts/monte_carlo_ranks.lua [paths]

local gpu = require "gpu"
local comm = gpu.comm

local paths = tonumber(arg and arg[1]) or 64000000
local S0, K, rate, volatility, years = 100, 100, 0.02, 0.30, 1
local discount = math.exp(-rate * years)
local drift, deviation = (rate - 0.5 * volatility ^ 2) * years, volatility * math.sqrt(years)

local function values(_, count)
  local S = S0 * gpu.exp(drift + deviation * gpu.randn(count))
  local payoff = gpu.maximum(S - K, 0)
  return payoff, payoff * payoff, S:gt(K) * S / S0
end

gpu.random.seed(1234)
comm.mean(values, 2 ^ 16) -- warm up
comm.barrier()
local start = os.time()
local mean, squares, delta = comm.mean(values, paths)
local seconds = os.difftime(os.time(), start)
local price, spread = discount * mean, discount * math.sqrt((squares - mean ^ 2) / paths)
delta = discount * delta

-- The closed form, with the normal distribution by its series.
local function normal_cdf(d)
  local term, total = d, d
  for i = 1, 60 do
    term = -term * d * d / (2 * i)
    total = total + term / (2 * i + 1)
  end
  return 0.5 + total / math.sqrt(2 * math.pi)
end
local d1 = (math.log(S0 / K) + (rate + 0.5 * volatility ^ 2) * years) / (volatility * math.sqrt(years))
local exact = S0 * normal_cdf(d1) - K * discount * normal_cdf(d1 - deviation)

comm.print(("Monte Carlo: %d paths in float32 on %s"):format(paths, tostring(gpu.device())))
comm.print(("European call         %.6f +- %.6f, closed form %.6f"):format(price, spread, exact))
comm.print(("delta                 %.6f, closed form %.6f"):format(delta, normal_cdf(d1)))
io.stderr:write(comm.is_root and ("about %d s on %d ranks\n"):format(seconds, comm.size) or "")
assert(math.abs(price - exact) < 4 * spread, "the price is more than four standard errors from the closed form")
assert(math.abs(delta - normal_cdf(d1)) < 0.01, "the delta is far from the closed form")
