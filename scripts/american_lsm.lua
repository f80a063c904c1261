-- American puts by the method of Longstaff and Schwartz: on each date, from the last to the first, a regression over the paths in
-- the money estimates the value of keeping the option. The prices are checked against a binomial tree with the same dates, and
-- against table 1 of F. Longstaff and E. Schwartz, "Valuing American Options by Simulation", Review of Financial Studies 14 (2001).
--
--   gpulua scripts/american_lsm.lua [paths] [dates a year]

local gpu = require "gpu"

local paths = tonumber(arg and arg[1]) or 20000
local dates_a_year = tonumber(arg and arg[2]) or 50
assert(paths >= 1000 and paths % 2 == 0 and dates_a_year >= 1, "paths: an even number from 1000 on; dates a year: from 1 on")
local K, rate = 40, 0.06

--- The price at time 0 and its standard error. Each normal number serves two paths, one of them with the other sign.
local function simulate(S0, volatility, years)
  local dates = dates_a_year * years
  local dt = years / dates
  local z = gpu.randn({ dates, paths / 2 }, { dtype = "float64" })
  local moves = volatility * math.sqrt(dt) * gpu.concat({ z, -z }, 2) + (rate - 0.5 * volatility ^ 2) * dt
  local S = (S0 * gpu.exp(moves:cumsum(1))):eval()

  local discount = math.exp(-rate * dt)
  local cash = gpu.maximum(K - S[dates], 0) -- what each path pays, discounted to the current date
  for date = dates - 1, 1, -1 do
    cash = cash * discount
    local exercise = gpu.maximum(K - S[date], 0)
    local in_the_money = exercise:gt(0)
    -- The rows of paths out of the money are 0 and change no coefficient.
    local x = exercise / K
    local inside = in_the_money:astype "float64"
    local basis = gpu.stack({ inside, x, x ^ 2, x ^ 3 }, 2)
    local coefficients = gpu.linalg.lstsq(basis, cash * inside)
    local kept = basis:matmul(coefficients)
    cash = gpu.where(in_the_money:logical_and(exercise:gt(kept)), exercise, cash):eval()
  end
  -- The two paths of a normal number depend on each other: the mean over each pair is one sample.
  local pairs_of_paths = (cash * discount):reshape(2, paths / 2):mean(1)
  local mean, deviation = pairs_of_paths:mean():item(), pairs_of_paths:std():item() / math.sqrt(paths / 2)
  return math.max(mean, K - S0), deviation
end

--- The price by a tree of Cox, Ross and Rubinstein, exercised on the same dates.
local function tree(S0, volatility, years)
  local dates = dates_a_year * years
  local steps_a_date = math.ceil(1500 / dates)
  local steps = dates * steps_a_date
  local dt = years / steps
  local up = math.exp(volatility * math.sqrt(dt))
  local p = (math.exp(rate * dt) - 1 / up) / (up - 1 / up)
  local discount = math.exp(-rate * dt)
  local value = {}
  for i = 0, steps do value[i] = math.max(K - S0 * up ^ (2 * i - steps), 0) end
  for step = steps - 1, 0, -1 do
    local exercised = step % steps_a_date == 0
    for i = 0, step do
      local kept = discount * (p * value[i + 1] + (1 - p) * value[i])
      value[i] = exercised and math.max(kept, K - S0 * up ^ (2 * i - step)) or kept
    end
  end
  return value[0]
end

-- Price today, volatility, years, and the published price by simulation (50 dates a year, 100,000 paths) with its standard error.
local published = {
  { 36, 0.2, 1, 4.472, 0.010 }, { 36, 0.4, 1, 7.091, 0.020 }, { 40, 0.2, 1, 2.313, 0.009 }, { 44, 0.2, 2, 1.675, 0.009 },
}

print(("American puts at %d, %d paths, %d dates a year, float64 on %s"):format(K, paths, dates_a_year, tostring(gpu.device())))
print "price  volatility  years  simulated          tree    published        time"
gpu.random.seed(2001)
for _, row in ipairs(published) do
  local S0, volatility, years, paper, paper_deviation = unpack(row)
  local start, stop = gpu.event(), gpu.event()
  start:record()
  local mean, deviation = simulate(S0, volatility, years)
  stop:record()
  stop:sync()
  local exact = tree(S0, volatility, years)
  print(("%5d  %10.1f  %5d  %.3f +- %.3f  %.3f  %.3f +- %.3f  %7.1f ms"):format(S0, volatility, years, mean, deviation, exact,
    paper, paper_deviation, start:elapsed(stop)))
  -- The regression's rule is not quite the best one: it may lose some tenths of a percent.
  assert(math.abs(mean - exact) < 4 * deviation + 0.005 * exact, "the simulated price is too far from the tree's")
  if dates_a_year == 50 then
    local together = math.sqrt(deviation ^ 2 + paper_deviation ^ 2)
    assert(math.abs(mean - paper) < 4 * together, "the simulated price is more than four standard errors from the published one")
  end
end
