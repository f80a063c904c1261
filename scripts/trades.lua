-- A day of trades and quotes as tables: each trade with the quote that stood, its distance from the middle, averages by the hour, and
-- the volatility of the last minutes. Some trades are checked against plain loops.
--
--   gpulua scripts/trades.lua [trades]

local gpu = require "gpu"

local count = tonumber(arg and arg[1]) or 20000
local symbols = {"AAPL", "IBM", "MSFT"}
gpu.random.seed(1)

--- A table of rows at random times between nine and half past five, in their order.
local function rows_at_random(n)
  local names = {}
  for i = 1, n do names[i] = symbols[i * 7919 % 3 + 1] end
  local seconds = gpu.random.integers({n}, 9 * 3600, 17 * 3600 + 1800):sort()
  return gpu.table({time = gpu.dates {"2024-03-01 00:00:00"} + gpu.durations(seconds, {unit = "s"}), symbol = names}, {"time", "symbol"})
end

local quotes = rows_at_random(4 * count)
quotes.bid = 100 + gpu.randn(4 * count, "float64"):cumsum() * 0.01
quotes.ask = quotes.bid + 0.02
local trades = rows_at_random(count)
trades.volume = gpu.random.integers({count}, 1, 500)

local t = trades:join_asof(quotes, "time", {by = "symbol", tolerance = "10min"})
t.price = gpu.where(gpu.rand(count):lt(0.5), t.bid, t.ask)
t = t:dropna "price"
t.ret = t.price:pct_change {by = t.symbol}
t.volatility = t.ret:rolling("15min", {on = t.time, by = t.symbol}):std()
t.hour = t.time:floor "h"
t.worth = t.price * t.volume
local by_hour = t:group_by("symbol", "hour"):aggregate {worth = "sum", volume = "sum", volatility = "last", price = {"min", "max"}}
by_hour.average = by_hour.worth / by_hour.volume
print(by_hour:select("symbol", "hour", "volume", "average", "price_min", "price_max", "volatility"))
print(by_hour:pivot("hour", "symbol", "average"))

-- The last quote before each of some trades, by a loop.
local times, names, bids = quotes.time:table(), quotes:values "symbol", quotes.bid:table()
local own_times, own_names, own_bids = t.time:table(), t:values "symbol", t.bid:table()
for i = 1, t.rows, math.ceil(t.rows / 50) do
  local found
  for k = 1, #times do
    if times[k] <= own_times[i] and names[k] == own_names[i] then found = bids[k] end
  end
  assert(found == own_bids[i], "a trade has another quote")
end
