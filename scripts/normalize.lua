-- The first steps of an analysis, by broadcasting and masks: centre and scale the columns of a table, set negative values to 0, fill
-- missing values, divide rows by numbers, weight an image's channels. Each step is checked against plain Lua.
--
--   gpulua scripts/normalize.lua [rows]

local gpu = require "gpu"

local rows, columns = tonumber(arg and arg[1]) or 512, 128
gpu.random.seed(1)

--- The greatest difference between an array of (rows,columns) and fn's value for each position.
local function greatest_difference(x, fn)
  local worst, values = 0, x:host()
  for i = 0, x.shape[1] - 1 do
    for j = 0, x.shape[2] - 1 do worst = math.max(worst, math.abs(values[i * x.shape[2] + j] - fn(i, j))) end
  end
  return worst
end

-- (512,128) - (128): each column less its mean, divided by its deviation.
local data = gpu.random.normal({ rows, columns }, gpu.linspace(-5, 5, columns), gpu.linspace(1, 3, columns)):eval()
local normalized = ((data - data:mean(1)) / data:std(1)):eval()

local values, means, deviations = data:host(), {}, {}
for j = 0, columns - 1 do
  local sum, squares = 0, 0
  for i = 0, rows - 1 do sum = sum + values[i * columns + j] end
  means[j] = sum / rows
  for i = 0, rows - 1 do squares = squares + (values[i * columns + j] - means[j]) ^ 2 end
  deviations[j] = math.sqrt(squares / rows)
end
local worst = greatest_difference(normalized, function(i, j) return (values[i * columns + j] - means[j]) / deviations[j] end)
print(("normalized (%d,%d) on %s: means within %.1e of 0, largest error %.1e"):format(rows, columns, tostring(gpu.device()),
  normalized:mean(1):abs():max():item(), worst))
assert(worst < 1e-5, "the columns are not normalized")

-- Through a mask: negative elements become 0.
local positive = normalized:copy()
positive[positive:lt(0)] = 0
local negatives = normalized:lt(0):sum():item()
local kept = normalized:host()
worst = greatest_difference(positive, function(i, j) return math.max(kept[i * columns + j], 0) end)
print(("%d of %d elements were negative, and are 0"):format(negatives, normalized.size))
assert(worst == 0 and positive:eq(0):sum():item() == negatives, "the mask missed some")

-- Every seventh element is missing. The mean of the column's other elements replaces NaN.
local holes = gpu.where((gpu.arange(rows * columns) % 7):eq(0):reshape(rows, columns), 0 / 0, data)
local filled = gpu.where(holes:isnan(), holes:nanmean(1), holes):eval()
for j = 0, columns - 1 do
  local sum, count = 0, 0
  for i = 0, rows - 1 do
    if (i * columns + j) % 7 ~= 0 then sum, count = sum + values[i * columns + j], count + 1 end
  end
  means[j] = sum / count
end
worst = greatest_difference(filled, function(i, j)
  return (i * columns + j) % 7 == 0 and means[j] or values[i * columns + j]
end)
print(("missing values filled: largest error %.1e"):format(worst))
assert(worst < 1e-5 and not filled:isnan():any():item(), "missing values remain")

-- A number for each row needs an axis of its own: (512,128) / (512,1).
local shares = data:abs() / data:abs():sum(2, { keepdims = true })
local total = shares:sum(2)
print(("shares of each row add up to 1 within %.1e"):format((total - 1):abs():max():item()))
assert(gpu.allclose(total, gpu.ones(rows), 1e-5))

-- (32,64,128) * (128), and positions from index arrays: rows 3, 1 and 4 of columns 128, 1 and 64.
local batch = gpu.rand(32, 64, columns)
local weighted = batch * gpu.linspace(0, 1, columns)
local some = weighted[{ gpu.array({ 3, 1, 4 }, "int32"), ":", gpu.array({ columns, 1, 64 }, "int32") }]
print("picked: shape (" .. table.concat(some.shape, ",") .. ")")
assert(gpu.allclose(some(1), batch(3, ":", columns)) and some(2):eq(0):all():item())
