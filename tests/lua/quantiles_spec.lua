-- Medians, quantiles and percentiles. Golden data: tests/golden/arrays/quantiles.py.
local gpu = require "gpu"
local support = require "support"
local golden = require "golden_cases"
local fails = support.fails

describe("quantiles", function()
  it("agree with NumPy by each method", function() golden.run "quantiles" end)

  it("of many elements are those of the sorted ones", function()
    local n = 300007
    local x = (gpu.arange(n, "int64") * 7919 % n):astype "float64"
    assert.are.equal((n - 1) / 2, x:median():item())
    support.near({ 0, 0.1 * (n - 1), n - 1 }, x:quantile({ 0, 0.1, 1 }):table(), 1e-12)
    local rows = gpu.stack({ x, n - 1 - x, x * 2 }, 1)
    support.near({ { 75001.5, 75001.5, 150003 } }, rows:percentile(25, 2):reshape(1, 3):table(), 1e-12)
    rows[{ 2, 5 }] = 0 / 0
    assert.are.equal(1, rows:median(2):isnan():sum():item())
    assert.are.equal(0, rows:nanmedian(2):isnan():sum():item())
  end)

  it("are those of sorted rows: of any length and dtype, alike or not", function()
    local quantiles = { 0, 0.1, 0.5, 0.77, 1 }
    local function check(rows, dtype)
      local sorted, n = rows:astype("float64"):table(), rows.shape[2]
      local found, median = rows:quantile(quantiles, 2, { method = "lower" }):astype "float64", rows:median(2):astype "float64"
      for r, row in ipairs(sorted) do
        table.sort(row)
        for i, q in ipairs(quantiles) do
          assert.are.equal(row[math.floor(q * (n - 1)) + 1], found[i][r], ("%s, row of %d, %g"):format(dtype, n, q))
        end
        support.near({ (row[math.floor((n + 1) / 2)] + row[math.floor(n / 2) + 1]) / 2 }, { median[r] }, 2e-2)
      end
    end
    for _, dtype in ipairs { "float64", "float32", "bfloat16", "int64", "int32", "uint16", "int8" } do
      for n, count in pairs { [7] = 3, [300] = 3, [600] = 9, [2500] = 3, [20000] = 2, [70000] = 1 } do
        local spread = (gpu.arange(count * n, "float64") * 0.6180339887498949 % 1 * 100 + 1):reshape(count, n)
        check(spread:astype(dtype), dtype)
        check((spread % 3):floor():astype(dtype), dtype)
        check(gpu.full({ count, n }, 5, { dtype = dtype }), dtype)
      end
    end
  end)

  it("are elements where those are infinite", function()
    local inf = math.huge
    local x = gpu.array { 1, inf, inf, -inf }
    assert.are.same({ -inf, 1, inf, inf }, x:quantile({ 0, 1 / 3, 2 / 3, 1 }):table())
    assert.are.same({ inf, inf }, x:percentile({ 75, 90 }):table())
  end)

  it("take what is not stored yet, out and bfloat16", function()
    local x = gpu.arange(5)
    assert.are.equal(4, (x * 2):median():item())
    local out = gpu.empty(2)
    assert.is_true(rawequal(out, x:quantile({ 0.25, 0.5 }, { out = out })))
    assert.are.same({ 1, 2 }, out:table())
    local y = gpu.array({ 1, 2, 4 }, "bfloat16"):quantile(0.75)
    assert.are.same({ "bfloat16", 3 }, { y.dtype, y:astype("float32"):item() })
    assert.are.same({ 1, 0 }, gpu.ones(0, 2):quantile({ 0.5 }, 2).shape)
  end)

  it("name what does not fit", function()
    local x = gpu.ones(2, 3)
    fails("[quantile] expected numbers from 0 to 1: one, a table or an array, got 1.5", function() return x:quantile(1.5) end)
    fails("[percentile] expected numbers from 0 to 100: one, a table or an array, got -1",
      function() return x:percentile({ 50, { -1 } }) end)
    fails("[nanquantile] expected numbers from 0 to 1: one, a table or an array, got NaN",
      function() return x:nanquantile(gpu.array { 0.5, 0 / 0 }) end)
    fails("[quantile] expected numbers from 0 to 1: one, a table or an array, got nil", function() return x:quantile() end)
    fails("[quantile] expected one of the methods averaged_inverted_cdf, closest_observation,",
      function() return x:quantile(0.5, { method = "best" }) end)
    fails("[median] axis 3 is out of range for an array of 2 dimensions", function() return x:median(3) end)
    fails("[median] expected the options axis, keepdims, dtype and out", function() return x:median({ method = "lower" }) end)
    fails("[nanmedian] expected real numbers", function() return gpu.ones(2, "complex64"):nanmedian() end)
    fails("[quantile] expected elements along the axes, got shape (0,3)", function() return gpu.ones(0, 3):quantile(0.5, 1) end)
    local message = fails("[percentile] expected each axis once", function()
      local result = x:percentile(50, { 1, -2 })
      return result
    end)
    assert.is_truthy(message:find("quantiles_spec.lua:", 1, true), message)
  end)
end)
