-- Value, delta, gamma, vega, theta and rho of European calls, by derivatives of the pricing formula. The value and its first
-- derivatives are one kernel; gamma is the derivative of the derivative. Checked against the closed forms.
--
--   gpulua scripts/greeks.lua [options]

local gpu = require "gpu"

local n = tonumber(arg and arg[1]) or 4000000
local rate = 0.03

gpu.random.seed(1)
local S = gpu.random.uniform(n, 80, 120, "float64")
local K = gpu.random.uniform(n, 80, 120, "float64")
local T = gpu.random.uniform(n, 0.1, 2, "float64")
local volatility = gpu.random.uniform(n, 0.1, 0.5, "float64")
gpu.eval(S, K, T, volatility)

--- F. Black and M. Scholes, 1973.
local function call(S, K, T, r, v)
  local deviation = v * T:sqrt()
  local d1 = (gpu.log(S / K) + (r + 0.5 * v * v) * T) / deviation
  return S * gpu.normcdf(d1) - K * gpu.exp(-r * T) * gpu.normcdf(d1 - deviation)
end

-- Arguments by their positions: S, T, r and v. Each option's value depends on its own arguments, so `each` gives a derivative for each.
local greeks = gpu.value_and_grad(call, {1, 3, 4, 5}, {each = true})
local second = gpu.grad(gpu.grad(call, 1, {each = true}), 1, {each = true})

local value, delta, by_time, rho, vega = greeks(S, K, T, rate, volatility)
print("value, delta, theta, rho and vega: " .. gpu.explain(value, delta, by_time, rho, vega):match "^[^\n]*")
local gamma = second(S, K, T, rate, volatility)
gpu.eval(value, delta, by_time, rho, vega, gamma)

-- The closed forms.
local root = T:sqrt()
local d1 = (gpu.log(S / K) + (rate + 0.5 * volatility ^ 2) * T) / (volatility * root)
local d2 = d1 - volatility * root
local density = gpu.exp(-0.5 * d1 * d1) / math.sqrt(2 * math.pi)
local discounted = K * gpu.exp(-rate * T)
local expected = {
  delta = gpu.normcdf(d1),
  gamma = density / (S * volatility * root),
  vega = S * density * root,
  theta = -S * density * volatility / (2 * root) - rate * discounted * gpu.normcdf(d2),
  rho = discounted * T * gpu.normcdf(d2),
}
local found = {delta = delta, gamma = gamma, vega = vega, theta = -by_time, rho = rho}

print(("%d calls on %s; the first one: S = %.2f, K = %.2f, T = %.2f, volatility %.2f, value %.4f"):format(
  n, tostring(gpu.device()), S[1], K[1], T[1], volatility[1], value[1]))
for _, name in ipairs {"delta", "gamma", "vega", "theta", "rho"} do
  local error = ((found[name] - expected[name]):abs():max() / expected[name]:abs():max()):item()
  print(("%-6s %12.6f   greatest error %.1e of the greatest value"):format(name, found[name][1], error))
  assert(error < 1e-12, name .. " was to be that of the closed form")
end
