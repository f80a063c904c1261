-- gpu.bincount and histograms with weights: sums that are the same in each call.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

--- n keys below count: all equal, in order, or mixed.
local orders = {
  equal = function(count) return function() return count - 1 end end,
  sorted = function(count, n) return function(i) return math.floor((i - 1) * count / n) end end,
  mixed = function(count) return function(i) return (i * i * 7 + 3 * i) % count end end,
}

--- The number of each key, and the sum of its weights, by a plain loop.
local function by_loop(keys, weights, count)
  local counts, sums = {}, {}
  for k = 1, count do counts[k], sums[k] = 0, 0 end
  for i, key in ipairs(keys) do
    if key >= 0 and key < count then counts[key + 1], sums[key + 1] = counts[key + 1] + 1, sums[key + 1] + weights[i] end
  end
  return counts, sums
end

local function check(keys, weights, count, dtype, weight_dtype)
  local what = ("%d keys of %s below %d, weights of %s"):format(#keys, dtype, count, weight_dtype)
  local x, w = gpu.array(keys, dtype == "bool" and "uint8" or dtype):astype(dtype), gpu.array(weights, weight_dtype)
  local counts, sums = by_loop(keys, weights, count)
  assert.are.same(counts, gpu.bincount(x, { minlength = count }):table(), what)
  local got = gpu.bincount(x, { weights = w, minlength = count })
  assert.are.equal("float64", got.dtype, what)
  assert.are.same(sums, got:table(), what)
end

describe("sums of weights by key", function()
  it("are those of a plain loop for any number of keys", function()
    for _, count in ipairs { 1, 2, 31, 33, 1000, 4096, 4097, 40000, 100000 } do
      for _, order in pairs(orders) do
        for _, n in ipairs { 1, 33, 20001 } do
          -- Sums of quarters are exact in any order.
          check(support.series(n, order(count, n)), support.series(n, function(i) return i % 23 / 4 - 2 end), count, "int32", "float32")
        end
      end
    end
  end)

  it("take keys and weights of each dtype", function()
    local n = 3000
    local weights = support.series(n, function(i) return i * 5 % 101 end)
    for _, dtype in ipairs { "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64" } do
      local count = dtype == "bool" and 2 or 100
      check(support.series(n, orders.mixed(count)), weights, count, dtype, "float64")
    end
    for _, dtype in ipairs { "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32" } do
      check(support.series(n, orders.mixed(70)), weights, 70, "int32", dtype)
    end
    local x = gpu.array({ 1, 0, 1 }, "int32")
    assert.are.same({ 0, 2 }, gpu.bincount(x, { weights = gpu.array { true, false, true } }):table())
    assert.are.same({ 4, 3 }, gpu.bincount(x("::-1"), { weights = gpu.array { 1, 9, 4, 9, 1 }("::2") * gpu.array { 1, 1, 2 } }):table())
    fails("[bincount] expected real numbers", gpu.bincount, x, { weights = gpu.zeros(3, "complex64") })
    fails("[bincount] expected weights of the shape (3,), got (2,)", gpu.bincount, x, { weights = gpu.ones(2) })
    for _, dtype in ipairs { "int8", "int16", "int32", "int64" } do
      for _, least in ipairs { -1, -128 } do
        fails("[bincount] expected numbers that are not negative, got " .. least, gpu.bincount, gpu.array({ 3, least, 0, -1, 127 }, dtype))
      end
    end
  end)

  it("have the same bits in each call", function()
    local n = 50001
    local size = gpu.array(support.series(n, function(i) return (i * 7919 % 101 - 50) * 2 ^ (i * 31 % 100 - 50) end), "float64")
    for _, count in ipairs { 1, 2, 20, 1000, 5000, 65536 } do
      for name, order in pairs(orders) do
        local keys = gpu.array(support.series(n, order(count, n)), "int32")
        for _, dtype in ipairs { "float32", "float64" } do
          local weights = size:astype(dtype)
          local first = gpu.bincount(keys, { weights = weights, minlength = count })
          local scale = gpu.bincount(keys, { weights = weights:abs(), minlength = count })
          for _ = 1, 3 do
            assert.is_true(gpu.array_equal(first, gpu.bincount(keys, { weights = weights, minlength = count })), name .. count)
          end
          local _, sums = by_loop(keys:table(), weights:astype("float64"):table(), count)
          local apart = (first - gpu.array(sums, "float64")):abs()
          assert.is_true(apart:le(scale * 1e-12):all():item(), name .. count)
        end
      end
    end
  end)

  it("keep NaN and infinities in their bins", function()
    local sums = gpu.bincount(gpu.array({ 0, 1, 2, 0, 3, 3 }, "int32"),
      { weights = gpu.array { 1, math.huge, 0 / 0, 2, math.huge, -math.huge } }):table()
    assert.are.same({ 3, math.huge }, { sums[1], sums[2] })
    assert.is_true(sums[3] ~= sums[3] and sums[4] ~= sums[4])
  end)
end)

describe("histograms with weights", function()
  local x = gpu.array(support.series(9000, function(i) return i * i % 997 / 4 end), "float32")
  local weights = gpu.array(support.series(9000, function(i) return i % 19 / 8 - 1 end), "float32")

  it("are sums of the weights between the edges, in a recording too", function()
    for _, bins in ipairs { 1, 8, 256, 4096 } do
      local expected = support.series(bins, function() return 0 end)
      local at, each = x:table(), weights:table()
      for i = 1, #at do
        local bin = math.min(math.floor(at[i] / (256 / bins)), bins - 1) + 1
        expected[bin] = expected[bin] + each[i]
      end
      local function sums(a, w) return (gpu.histogram(a, bins, { range = { 0, 256 }, weights = w })) end
      local got = sums(x, weights)
      assert.are.same(expected, got:table())
      local graph, recorded = gpu.graph(sums, x, weights)
      graph:launch()
      support.same(got, recorded, bins .. " bins of a recording")
      local counts = gpu.histogram(x, bins, { range = { 0, 256 } })
      local _, recorded_counts = gpu.graph(function() return (gpu.histogram(x, bins, { range = { 0, 256 } })) end)
      support.same(counts, recorded_counts, bins .. " counts of a recording")
    end
  end)
end)
