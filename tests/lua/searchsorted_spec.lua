-- gpu.searchsorted against a plain count of the elements before each value. Many values make a GPU search by a table.
local gpu = require "gpu"
local support = require "support"

local nan = 0 / 0

--- The position at which a value goes into the ascending table: NaN is greater than all numbers.
local function by_loop(sorted, value, right)
  local first, last = 1, #sorted + 1
  while first < last do
    local middle = math.floor((first + last) / 2)
    local element = sorted[middle]
    local less = element < value or (value ~= value and element == element)
    local greater = value < element or (element ~= element and value == value)
    if right and not greater or not right and less then first = middle + 1 else last = middle end
  end
  return first
end

local function check(sorted, values, what)
  local dtype = (gpu.zeros(1, { dtype = sorted.dtype }) + gpu.zeros(1, { dtype = values.dtype })).dtype
  local elements = sorted:astype(dtype):astype("float64"):table()
  local wanted = values:astype(dtype):astype("float64"):table()
  for _, side in ipairs { "left", "right" } do
    local expected = support.series(#wanted, function(i) return by_loop(elements, wanted[i], side == "right") end)
    local got = gpu.searchsorted(sorted, values, { side = side })
    assert.are.equal("int64", got.dtype)
    support.same(gpu.array(expected, "int64"), got, what .. ", " .. side)
  end
end

--- n ascending multiples of 1/4, from -n / 8 on. With `run`, each number stands there `run` times.
local function ascending(n, run) return support.series(n, function(i) return math.floor(i / (run or 1)) / 4 - n / 8 end) end

describe("searchsorted", function()
  it("counts the elements before each value, for vectors of any size", function()
    for _, size in ipairs { 0, 1, 2, 3, 31, 32, 33, 63, 64, 65, 127, 128, 129, 1023, 1024, 1025, 100000 } do
      for _, run in ipairs { 1, 70 } do
        local sorted = gpu.array(ascending(size, run), "float64")
        for _, count in ipairs { 1, 77, 30011 } do
          local values = gpu.array(support.series(count, function(i) return (i * 7919 % (2 * size + 9) - 4) / 8 - size / 8 end), "float64")
          check(sorted, values, ("%d values in %d elements, %d equal"):format(count, size, run))
        end
      end
    end
  end)

  it("finds many values", function()
    for _, size in ipairs { 1024, 2048, 300001 } do
      local sorted = gpu.array(ascending(size, 3), "float32")
      check(sorted, gpu.array(support.series(140000, function(i) return i * 7919 % (size + 2) / 12 - size / 8 - 0.1 end), "float32"), size .. " elements")
    end
  end)

  it("puts NaN behind all numbers, and infinities at the ends", function()
    local special = { nan, math.huge, -math.huge, 0, -0.0, 5e-324, -1e308, 3.5, nan }
    local values = support.series(20000, function(i) return special[i % 9 + 1] end)
    for _, dtype in ipairs { "float64", "float32", "float16", "bfloat16" } do
      for _, numbers in ipairs { 0, 1, 40, 5000 } do
        local elements = support.series(numbers, function(i) return math.floor(i / 3) / 4 - 2 end)
        table.insert(elements, 1, -math.huge)
        for _, last in ipairs { math.huge, nan, nan, nan } do elements[#elements + 1] = last end
        check(gpu.array(elements, dtype), gpu.array(values, dtype), dtype)
      end
      check(gpu.full(3000, nan, { dtype = dtype }), gpu.array(values, dtype), "NaN alone")
    end
  end)

  it("takes each dtype, and values of another one than the vector's", function()
    local bytes = support.series(200, function(i) return math.floor(i / 3) end)
    local values = support.series(9001, function(i) return i * 31 % 70 end)
    for _, dtype in ipairs { "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "bfloat16", "float32" } do
      check(gpu.array(bytes, dtype), gpu.array(values, dtype), dtype)
      check(gpu.array(bytes, "float32"), gpu.array(values, dtype), "float32 and " .. dtype)
      check(gpu.array(bytes, dtype), gpu.array(values, "float64") + 0.5, dtype .. " and float64")
    end
    local no, yes = false, true
    local sorted = gpu.array { no, no, yes, yes, yes }
    assert.are.same({ 3, 1 }, gpu.searchsorted(sorted, gpu.array { yes, no }):table())
    assert.are.same({ 6, 3 }, gpu.searchsorted(sorted, gpu.array { yes, no }, { side = "right" }):table())
    assert.are.same({ 6, 3 }, gpu.searchsorted(gpu.array({ 0, 0, 1, 1, 1 }, "int32"), gpu.array { yes, no }, { side = "right" }):table())
    -- The least and the greatest numbers of a dtype, at whose ends a table has no more elements.
    local ends = gpu.array({ -128, -128, 0, 127, 127 }, "int8")
    local places = gpu.array(support.series(9000, function(i) return ({ -128, 127, 1 })[i % 3 + 1] end), "int8")
    check(ends, places, "ends")
    check(gpu.full(1000, 127, { dtype = "int8" }), places, "one number")
  end)

  it("takes views, matrices and numbers", function()
    local sorted = gpu.arange(100, "float32")
    local values = gpu.array { { 3, 99 }, { -1, 50.5 } }
    assert.are.same({ { 4, 100 }, { 1, 52 } }, sorted:searchsorted(values):table())
    assert.are.same({ { 4, 1 }, { 100, 52 } }, sorted:searchsorted(values.T):table())
    assert.are.same({ 3, 26 }, sorted({ 1, 100 })("::2"):searchsorted(gpu.array { 4, 49 }):table())
    assert.are.equal(8, sorted:searchsorted(7):item())
    assert.are.equal(8, sorted:searchsorted(gpu.full({}, 6.5)):item())
  end)

  it("searches a vector in another order", function()
    local x, values = gpu.array({ 5, 1, 9, 1, 3 }), gpu.array({ 0, 1, 4, 10 })
    for _, side in ipairs { "left", "right" } do
      local expected = x:sort():searchsorted(values, { side = side })
      assert.is_true(x:searchsorted(values, { side = side, sorter = x:argsort() }):equal(expected))
    end
    for _, sorter in ipairs { gpu.arange(4), gpu.ones(5), gpu.ones(5, 1, "int64") } do
      local ok, message = pcall(function() return x:searchsorted(values, { sorter = sorter }) end)
      assert.is_false(ok)
      assert.is_truthy(message:find("[searchsorted] expected sorter = the 5 positions in order, as gpu.argsort gives them, got", 1, true))
    end
  end)
end)
