-- Sorts and searches. Golden data: tests/golden/arrays/sorting.py.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/sorting.npz"))

--- Bit for bit, so -0 differs from 0.
local function same(expected, got, what)
  assert.are.same(expected.shape, got.shape, what)
  assert.are.equal(expected.dtype, got.dtype, what)
  local a, b = expected:contiguous():host(), got:contiguous():host()
  for i = 0, expected.size - 1 do
    local x, y = a[i], b[i]
    local equal = x == y or (x ~= x and y ~= y)
    -- float16 comes as its bits; devices have NaNs of their own.
    if expected.dtype == "float16" then equal = equal or (x % 32768 > 31744 and y % 32768 > 31744) end
    if equal and x == 0 and type(x) == "number" then equal = 1 / x == 1 / y end
    if not equal then error(("%s: element %d: expected %s, got %s"):format(what, i + 1, tostring(x), tostring(y)), 2) end
  end
end

-- Numbers with many ties, from a generator of our own.
local function numbers(n, range, seed)
  local t, state = {}, seed or 1
  for i = 1, n do
    state = (state * 16807) % 2147483647
    t[i] = state % range
  end
  return t
end

describe("sorts", function()
  it("agree with NumPy for each dtype along each axis", function()
    local count = 0
    for name, expected in pairs(golden) do
      local op, dtype, axis = name:match "^(%l*sort)_(%w+)_(%d)$"
      if op then
        same(expected, gpu[op](golden["x_" .. dtype], tonumber(axis)), name)
        count = count + 1
      end
    end
    assert.are.equal(12 * 3 * 2, count)
  end)

  it("take views, pending arrays and bfloat16", function()
    local x = golden.x_float32
    for _, view in ipairs { x("::-1", ":", "2:30:3"), x.T, x(2), x(2, 3) } do
      for axis = 1, view.ndim do
        same(view:copy():sort(axis), view:sort(axis), "axis " .. axis)
        same(view:copy():argsort(axis), view:argsort(axis), "axis " .. axis)
      end
    end
    assert.are.same({ -3, -2, -1 }, (-gpu.array { 1, 3, 2 }):sort():table())
    local y = gpu.array({ 2, -1, 0 / 0, -math.huge }, "bfloat16"):sort():astype("float32"):table()
    assert.are.same({ -math.huge, -1, 2 }, { y[1], y[2], y[3] })
    assert.is_true(y[4] ~= y[4])
  end)

  it("are stable and right at the borders of tiles and of their kinds", function()
    for _, n in ipairs { 1, 2, 31, 33, 255, 256, 257, 1023, 1024, 1025, 2047, 2048, 2049, 4096, 4097, 8193, 100003 } do
      for _, dtype in ipairs { "float32", "int64", "uint8" } do
        local t = numbers(n, 200, n)
        local x = gpu.array(t, dtype)
        local sorted, positions = x:sort():host(), x:argsort():host()
        local order = support.series(n, function(i) return i end)
        table.sort(order, function(i, j) return t[i] < t[j] or (t[i] == t[j] and i < j) end)
        for i = 1, n do
          if sorted[i - 1] ~= t[order[i]] or positions[i - 1] ~= order[i] then
            error(("%s[%d]: element %d"):format(dtype, n, i))
          end
        end
      end
    end
  end)

  it("take several long rows, and many elements", function()
    local n = 5000
    local x = gpu.array(numbers(3 * n, 10007), "int32"):reshape(3, n)
    local sorted = x:sort(2)
    assert.is_true(sorted(":", { 2, n }):ge(sorted(":", { 1, n - 1 })):all():item())
    assert.are.equal(0, (sorted:sum(2) - x:sum(2)):ne(0):sum():item())
    n = 2 ^ 20 + 3
    local y = (gpu.arange(n, "float64") * 7919 % n - 5e5):astype "float32"
    local ordered = y:sort()
    assert.are.equal(0, ordered:ne((gpu.arange(n, "float64") - 5e5):astype "float32"):sum():item())
    local down = y:sort({ descending = true })
    assert.are.equal(0, down("::-1"):ne(ordered):sum():item())
  end)

  it("sort rows that do not fit into a cache: spread evenly, with outliers, of few values, reversed", function()
    local n = 300007
    local i, shuffled = gpu.arange(n, "int64"), gpu.arange(n, "int64") * 7919 % n
    local increasing = {
      even = i - 150003,
      outliers = gpu.where(i:lt(5), i - 2 ^ 30, gpu.where(i:gt(n - 4), i + 2 ^ 29, i)),
      few = gpu.floor_divide(i, 60000) - 2,
    }
    for name, numbers_in_order in pairs(increasing) do
      for dtype in ("int8 int16 int32 int64 uint16 uint64 float16 float32 float64"):gmatch "%S+" do
        local narrow = dtype == "int8" or dtype == "int16" or dtype == "uint16" or dtype == "float16"
        if name == "few" or not narrow then
          local expected = (dtype:find "^u" and numbers_in_order - numbers_in_order[1] or numbers_in_order):astype(dtype)
          local x = expected:take(shuffled + 1)
          local what = name .. " " .. dtype
          assert.is_true(x:sort():equal(expected), what)
          assert.is_true(x:sort({ descending = true }):equal(expected("::-1")), what .. " down")
          local order = x:argsort()
          assert.is_true(x:take(order):equal(expected), what .. " positions")
          local as_before = expected({ 2, n }):ne(expected({ 1, n - 1 })):logical_or(order:diff():gt(0))
          assert.is_true(as_before:all():item(), what .. " is stable")
          assert.is_true(expected("::-1"):sort():equal(expected), what .. " reversed")
        end
      end
    end
  end)

  it("keep the order of both zeros, and NaN last, in rows that do not fit into a cache", function()
    local n = 300007
    local i = gpu.arange(n, "int64")
    for _, dtype in ipairs { "float16", "float32", "float64" } do
      local zeros = gpu.where((i % 3):eq(0), -0.0, 0.0):astype(dtype)
      local signs = zeros:signbit()
      assert.is_true(zeros:sort():signbit():equal(signs), dtype)
      assert.is_true(zeros:sort({ descending = true }):signbit():equal(signs), dtype)
      local x = gpu.where((i % 4):eq(1), 0 / 0, (i % 1000) - 500):astype(dtype)
      for _, descending in ipairs { false, true } do
        local sorted = x:sort({ descending = descending })
        local count = x:eq(x):count_nonzero():item()
        assert.is_true(sorted:ne(sorted):equal(i:ge(count)), dtype)
        local steps = sorted({ 1, count }):astype("float32"):diff()
        assert.is_true((descending and steps:le(0) or steps:ge(0)):all():item(), dtype)
        assert.are.equal(x:nansum({ dtype = "float64" }):item(), sorted:nansum({ dtype = "float64" }):item())
      end
    end
  end)

  it("go downwards, equal elements as they stood, and NaN still last", function()
    local x = gpu.array { 1, 0 / 0, 3, -math.huge, 3, 0, -0.0, 1 }
    assert.are.same({ 3, 5, 1, 8, 6, 7, 4, 2 }, x:argsort({ descending = true }):table())
    local sorted = x:sort({ descending = true }):table()
    assert.are.equal(3, sorted[1])
    assert.are.equal(-math.huge, sorted[7])
    assert.is_true(sorted[8] ~= sorted[8])
    assert.are.same({ 1, 2, 3 }, gpu.array({ -128, -128, -128 }, "int8"):argsort({ descending = true, stable = true }):table())
  end)

  it("write to an array", function()
    local x = gpu.array { 3, 1, 2 }
    x:sort({ out = x })
    assert.are.same({ 1, 2, 3 }, x:table())
  end)

  it("of nothing are empty", function()
    assert.are.same({ 0 }, gpu.zeros(0):sort().shape)
    assert.are.same({ 3, 0 }, gpu.zeros(3, 0):argsort().shape)
    assert.are.same({ 0, 3 }, gpu.zeros(0, 3):sort(1).shape)
  end)

  it("give the greatest and the least", function()
    local x = gpu.array { { 5, 1, 4 }, { 2, 9, 3 } }
    local values, positions = x:topk(2)
    assert.are.same({ { 5, 4 }, { 9, 3 } }, values:table())
    assert.are.same({ { 1, 3 }, { 2, 3 } }, positions:table())
    values, positions = gpu.topk(x, 1, 1, { largest = false })
    assert.are.same({ { 2, 1, 3 } }, values:table())
    assert.are.same({ { 2, 1, 2 } }, positions:table())
    assert.are.same({ 2, 0 }, x:topk(0).shape)
  end)

  -- Rows of many ties, and of NaN, infinities and both zeros; the last one of a single value.
  local function long_rows(dtype, n)
    local rows = {}
    for row, range in ipairs { 200, 3, 10007 } do rows[row] = gpu.array(numbers(n, range, 7 * row), "float64") end
    rows[4] = gpu.full({ n }, 5, "float64")
    local x = (gpu.stack(rows, 1) - 100):astype(dtype)
    if dtype:find "float" then
      for i, value in ipairs { 0 / 0, math.huge, -math.huge, -0.0, 0, -0.0 } do x[{ "1:2", i .. "::" .. 90 + i }] = value end
      x[{ 3, ":" }] = 0 / 0
      x[{ 3, "5::500" }] = 1
    end
    return x
  end

  it("give the first of long rows as sorting does, in each dtype", function()
    -- Each is compiled: one direction is enough for most.
    for name in ("bool +int8 uint16 +int32 uint64 float16 +bfloat16 float32 +float32 +float64"):gmatch "%S+" do
      local dtype, largest = name:match "%w+", name:sub(1, 1) ~= "+"
      local x = long_rows(dtype, 5003)
      local sorted, order = x:sort({ descending = largest }), x:argsort({ descending = largest })
      for _, k in ipairs { 1, 40, 1250 } do
        local values, positions = x:topk(k, { largest = largest })
        assert.are.same({ { 4, k }, { 4, k } }, { values.shape, positions.shape })
        assert.is_true(positions:equal(order(":", { 1, k })), name)
        same(sorted(":", { 1, k }):astype "float64", values:astype "float64", name)
      end
    end
  end)

  it("give the first of many elements, of columns and of views", function()
    for _, n in ipairs { 2049, 65537, 1200007 } do
      local x = (gpu.arange(n, "int64") * 7919 % n):astype "float32"
      local k = math.floor(n / 5)
      local values, positions = x:topk(k)
      assert.is_true(values:equal(x:sort({ descending = true })({ 1, k })))
      assert.is_true(x:take(positions):equal(values))
    end
    local x = long_rows("float32", 5003)
    local values, positions = x.T:topk(7, 1)
    local by_row, at = x:topk(7)
    same(by_row.T:contiguous(), values:contiguous(), "columns")
    assert.is_true(positions:equal(at.T))
    same(x("::2", "::-1"):copy():topk(3), x("::2", "::-1"):topk(3), "a view")
  end)

  it("partition long rows", function()
    for _, dtype in ipairs { "int32", "float32" } do
      local x = long_rows(dtype, 5003)
      local sorted, order = x:sort(), x:argsort()
      for _, k in ipairs { 1, 2500, 5003, -3 } do
        local place = k > 0 and k or 5004 + k
        local parted, positions = x:partition(k), x:argpartition(k)
        same(sorted(":", place), parted(":", place), "the element")
        assert.is_true(positions(":", place):equal(order(":", place)))
        same(sorted(":", { 1, place }), parted(":", { 1, place }):sort(), "those before it")
        same(sorted(":", { place, 5003 }), parted(":", { place, 5003 }):sort(), "those after it")
        same(x:take_along_axis(positions, 2), parted, "positions")
      end
    end
    assert.is_true(gpu.arange(5003):partition(5, { descending = true })(5):eq(4998):item())
  end)

  it("partition", function()
    local t = numbers(3000, 1000)
    local x = gpu.array(t, "int32")
    local parted, positions = x:partition(100):table(), x:argpartition(-100):table()
    for i = 1, 3000 do
      assert.is_true(i < 100 and parted[i] <= parted[100] or i >= 100 and parted[i] >= parted[100])
      assert.is_true(i < 2901 and t[positions[i]] <= t[positions[2901]] or i >= 2901 and t[positions[i]] >= t[positions[2901]])
    end
  end)

  it("name what does not fit", function()
    local x = gpu.ones(2, 3)
    fails("[sort] axis 3 is out of range for an array of 2 dimensions", function() return x:sort(3) end)
    fails("[argsort] expected an array of at least one dimension, got float32[]", function() return gpu.array(1):argsort() end)
    fails("[sort] expected real numbers, got complex64", function() return gpu.ones(2, "complex64"):sort() end)
    fails("[topk] expected k from 0 to the axis's 3 elements, got 4", function() return x:topk(4) end)
    fails("[partition] position 4 is out of range for 3 elements", function() return x:partition(4) end)
    fails("positions start at 1", function() return x:argpartition(0) end)
    fails("[sort] expected descending = true or false", function() return x:sort({ descending = 1 }) end)
  end)
end)

describe("searches", function()
  it("agree with NumPy on both sides", function()
    for name, expected in pairs(golden) do
      local dtype, side = name:match "^search_(%w+)_(%l+)$"
      if dtype then
        same(expected, gpu.searchsorted(golden["table_" .. dtype], golden["x_" .. dtype](1), { side = side }), name)
      end
    end
  end)

  it("take numbers and arrays of another dtype", function()
    local x = gpu.array({ 1, 3, 3, 7 }, "int32")
    assert.are.equal(2, x:searchsorted(3):item())
    assert.are.equal(4, x:searchsorted(3, { side = "right" }):item())
    assert.are.same({ 1, 4, 5 }, gpu.searchsorted(x, gpu.array { 0.5, 3.5, 0 / 0 }):table())
    assert.are.same({ 1 }, gpu.searchsorted(gpu.zeros(0), gpu.ones(1)):table())
    fails("[searchsorted] expected a vector to search", function() return gpu.searchsorted(gpu.ones(2, 2), 1) end)
    fails('side = "left" or "right"', function() return x:searchsorted(3, { side = "up" }) end)
  end)
end)
