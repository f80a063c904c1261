-- Reductions along rows, and elementwise work that gets their results back: one kernel that reads a row once.
local gpu = require "gpu"
local support = require "support"

local keep = { keepdims = true }

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end

--- The number of kernels that evaluating the arrays launches.
local function launched(...)
  local arrays, count = { ... }, 0
  for _, row in ipairs(gpu.profile(function() gpu.eval(unpack(arrays)) end)) do count = count + row.launches end
  return count
end

--- Stored numbers without a pattern in rows; every kind of sign and size.
local function numbers(shape, dtype, range)
  range = range or 4
  local size = 1
  for _, extent in ipairs(shape) do size = size * extent end
  local i = gpu.arange(size, "float64")
  return (((i * 0.6180339887) % 1 - 0.45) * range):astype(dtype or "float32"):eval():reshape(shape):eval()
end

-- ---- the same in plain Lua, row by row -----------------------------------------------------------------------------

local function map(row, fn)
  local result = {}
  for i, x in ipairs(row) do result[i] = fn(x, i) end
  return result
end

local function fold(row, start, fn)
  for _, x in ipairs(row) do start = fn(start, x) end
  return start
end

local function sum(row) return fold(row, 0, function(a, b) return a + b end) end

local plain = {}

function plain.softmax(row)
  local most = fold(row, -math.huge, math.max)
  local powers = map(row, function(x) return math.exp(x - most) end)
  local total = sum(powers)
  return map(powers, function(e) return e / total end)
end

function plain.log_softmax(row)
  local most = fold(row, -math.huge, math.max)
  local total = math.log(sum(map(row, function(x) return math.exp(x - most) end)))
  return map(row, function(x) return x - most - total end)
end

function plain.centre(row)
  local mean = sum(row) / #row
  return map(row, function(x) return x - mean end)
end

function plain.layer_norm(row)
  local centred = plain.centre(row)
  local deviation = math.sqrt(sum(map(centred, function(x) return x * x end)) / #row + 1e-5)
  return map(centred, function(x) return x / deviation end)
end

function plain.normalise(row)
  local length = math.sqrt(sum(map(row, function(x) return x * x end)))
  return map(row, function(x) return x / length end)
end

function plain.standardise(row) -- population variance, of the accumulator's own
  local centred = plain.centre(row)
  local variance = sum(map(centred, function(x) return x * x end)) / #row
  return map(centred, function(x) return x / (math.sqrt(variance) + 1) end)
end

local arrays = {}

function arrays.softmax(x)
  local e = (x - x:max(-1, keep)):exp()
  return e / e:sum(-1, keep)
end

function arrays.log_softmax(x) return gpu.log_softmax(x, -1) end

function arrays.centre(x) return x - x:mean(-1, keep) end

function arrays.layer_norm(x)
  local c = x - x:mean(-1, keep)
  return c / ((c * c):mean(-1, keep) + 1e-5):sqrt()
end

function arrays.normalise(x) return x / (x * x):sum(-1, keep):sqrt() end

function arrays.standardise(x) return (x - x:mean(-1, keep)) / (x:var(-1, keep):sqrt() + 1) end

local function check_rows(name, x, tolerance)
  local y = arrays[name](x)
  local shape = x.shape
  local rows, width = 1, shape[#shape]
  for i = 1, #shape - 1 do rows = rows * shape[i] end
  local got, from = y:reshape(rows, width):table(), x:copy():reshape(rows, width):table()
  for i = 1, rows do
    support.near(plain[name](from[i]), got[i], tolerance, ("%s of %s, row %d"):format(name, table.concat(shape, "x"), i))
  end
end

describe("row kernels", function()
  local widths = { 1, 2, 3, 8, 31, 32, 33, 127, 128, 1000, 1024, 1025, 2052, 5000, 16384, 32768, 40000, 100000 }

  for _, name in ipairs { "softmax", "log_softmax", "centre", "layer_norm", "normalise", "standardise" } do
    it("agree with plain Lua: " .. name, function()
      for _, width in ipairs(widths) do
        for _, rows in ipairs(width > 2000 and { 3 } or { 1, 5, 67 }) do
          check_rows(name, numbers { rows, width }, 2e-5)
        end
      end
      check_rows(name, numbers { 2, 3, 4, 50 }, 2e-5)
      check_rows(name, numbers({ 9, 300 }, "float64"), 1e-12)
    end)
  end

  it("are one kernel where a row fits, several where it does not", function()
    for _, width in ipairs { 2, 33, 1000, 1024, 16384 } do
      local x = numbers { 6, width }
      for name, make in pairs(arrays) do
        assert.are.equal(1, kernels(make(x)), name .. " of " .. width)
        assert.are.equal(1, launched(make(x)), name .. " of " .. width)
      end
    end
    assert.truthy(kernels(arrays.softmax(numbers { 2, 200000 })) > 1)
    assert.are.equal(1, launched(gpu.softmax(numbers { 6, 70 }, 2)))
  end)

  it("take several trailing axes, and single rows", function()
    local x = numbers { 4, 5, 6 }
    local y = x - x:mean({ 2, 3 }, keep)
    assert.are.equal(1, kernels(y))
    local values, got = x:table(), y:table()
    for i = 1, 4 do
      local flat = {}
      for _, row in ipairs(values[i]) do for _, v in ipairs(row) do flat[#flat + 1] = v end end
      local mine = {}
      for _, row in ipairs(got[i]) do for _, v in ipairs(row) do mine[#mine + 1] = v end end
      support.near(plain.centre(flat), mine, 1e-5)
    end
    local v = numbers { 700 }
    local unit = v / (v * v):sum():sqrt()
    assert.are.equal(1, kernels(unit))
    support.near(plain.normalise(v:table()), unit:table(), 1e-5)
    -- A factor for each of the middle axis: the reduced axes do not collapse.
    local factor = numbers { 5, 1 }
    local z = x * factor / (x * factor):abs():sum({ 2, 3 }, keep)
    assert.are.equal(1, kernels(z))
    support.near({ 1, 1, 1, 1 }, z:abs():sum { 2, 3 }:table(), 1e-5)
  end)

  it("take operands of other strides, dtypes and extents", function()
    local x, weight, bias = numbers { 40, 96 }, numbers { 96 }, numbers { 96 }
    local scale, mask = numbers { 40, 1 }, numbers({ 40, 96 }):gt(0):eval()
    local shown = x:table()
    local w, b, s, m = weight:table(), bias:table(), scale:table(), mask:table()
    local y = arrays.layer_norm(x) * weight + bias
    assert.are.equal(1, kernels(y))
    local got = y:table()
    for i = 1, 40 do
      support.near(map(plain.layer_norm(shown[i]), function(v, j) return v * w[j] + b[j] end), got[i], 2e-5)
    end
    -- A scale of each row, a mask, a view with a step, a reversed view.
    local wide = numbers { 40, 192 }
    local every = wide(":", "1:192:2")
    local z = arrays.softmax(gpu.where(mask, every * scale, -1e30))
    assert.are.equal(1, kernels(z))
    got = z:table()
    local elements = wide:table()
    for i = 1, 40 do
      local row = {}
      for j = 1, 96 do row[j] = m[i][j] and elements[i][2 * j - 1] * s[i][1] or -1e30 end
      support.near(plain.softmax(row), got[i], 2e-5)
    end
    local back = arrays.centre(x(":", "-1:1:-1")):table()
    for i = 1, 40 do
      local row = {}
      for j = 1, 96 do row[j] = shown[i][97 - j] end
      support.near(plain.centre(row), back[i], 2e-5)
    end
    -- Rows that lie across memory keep their own kernels.
    check_rows("softmax", numbers { 50, 40 }.T, 2e-5)
  end)

  it("take every dtype", function()
    for dtype, tolerance in pairs { float16 = 4e-3, bfloat16 = 3e-2, float32 = 1e-5, float64 = 1e-12 } do
      for _, width in ipairs { 40, 1024, 3001 } do check_rows("softmax", numbers({ 7, width }, dtype), tolerance) end
      check_rows("centre", numbers({ 7, 600 }, dtype), tolerance * 4)
    end
    for _, dtype in ipairs { "int8", "uint8", "int32", "int64", "uint16" } do
      local x = (numbers({ 11, 77 }, "float64", 90):abs():floor()):astype(dtype):eval()
      local y = x - x:max(2, keep)
      local share = x / x:sum(2, keep)
      assert.are.equal(1, kernels(y))
      local values, got, parts = x:table(), y:table(), share:table()
      for i = 1, 11 do
        local most, total = -math.huge, 0
        for j = 1, 77 do most, total = math.max(most, tonumber(values[i][j])), total + tonumber(values[i][j]) end
        for j = 1, 77 do
          local wanted = tonumber(values[i][j]) - most
          if dtype == "uint8" then wanted = wanted % 256 elseif dtype == "uint16" then wanted = wanted % 65536 end
          assert.are.equal(wanted, tonumber(got[i][j]))
          support.near(tonumber(values[i][j]) / total, parts[i][j], 1e-6)
        end
      end
    end
    local flags = numbers({ 12, 45 }):gt(1.5):eval()
    local odd = gpu.where(flags:any(2, keep), flags, true)
    local values, got = flags:table(), odd:table()
    for i = 1, 12 do
      local any = false
      for j = 1, 45 do any = any or values[i][j] end
      for j = 1, 45 do assert.are.equal(not any or values[i][j], got[i][j]) end
    end
  end)

  it("give several outputs, and results for later", function()
    local x = numbers { 30, 200 }
    local most = x:max(2, keep)
    local e = (x - most):exp()
    local total = e:sum(2, keep)
    local y = e / total
    local entropy = (y * y:log()):sum(2, keep)
    assert.are.equal(1, launched(y, entropy, most))
    assert.are.equal("nothing", gpu.explain(total):match "^nothing") -- stored on the way
    local rows = x:table()
    for i = 1, 30 do
      local p = plain.softmax(rows[i])
      support.near(p, y:table()[i], 1e-5)
      support.near(sum(map(p, function(v) return v * math.log(v) end)), entropy:table()[i][1], 1e-4)
      assert.are.equal(fold(rows[i], -math.huge, math.max), most:table()[i][1])
    end
    -- Work between the rows: a reduction of the results over the other axis, which then comes back.
    local mean = x:mean(2, keep)
    local all = mean:max()
    local z = (x - mean) * all
    local top, expected = -math.huge, {}
    for i = 1, 30 do top = math.max(top, sum(rows[i]) / 200) end
    for i = 1, 30 do expected[i] = map(plain.centre(rows[i]), function(v) return v * top end) end
    support.near(expected, z:table(), 1e-5)
    -- Cosine similarity: no output has the extents of the rows.
    local a, b = numbers { 30, 64 }, numbers({ 30, 64 }, "float32", 3)
    local cosine = (a * b):sum(2) / ((a * a):sum(2) * (b * b):sum(2)):sqrt()
    assert.are.equal(1, kernels(cosine))
    assert.are.equal(1, kernels(x:argmax(2, keep) * (x - x:max(2, keep))))
  end)

  it("gather their elements", function()
    for _, width in ipairs { 3, 96, 1025 } do
      local source = numbers { 11, width }
      local rows = source:table()
      local which = { 3, 1, 11, -1, 7, 3, 2 }
      for name, make in pairs { softmax = arrays.softmax, layer_norm = arrays.layer_norm } do
        local y = make(source:take(gpu.array(which, "int32"), 1))
        assert.are.equal(1, kernels(y), name)
        assert.are.equal(1, launched(make(source:take(gpu.array(which, "int64"), 1))), name)
        local got = y:table()
        for i, at in ipairs(which) do support.near(plain[name](rows[at < 0 and 12 + at or at]), got[i], 2e-5) end
      end
      -- Along the rows, in another order in each of them, and with positions that are an expression.
      local order = gpu.arange(1, width + 1, 1, "int64"):eval()
      local turned = source:take(width + 1 - order, 2)
      local z = arrays.centre(turned) * source
      assert.are.equal(1, kernels(z))
      local shifted = arrays.softmax(gpu.take_along_axis(source, (order + gpu.arange(11, "int64"):reshape(11, 1)) % width + 1, 2))
      assert.are.equal(1, kernels(shifted))
      local got, moved = z:table(), shifted:table()
      for i, row in ipairs(rows) do
        local back = plain.centre(map(row, function(_, j) return row[width + 1 - j] end))
        support.near(map(back, function(v, j) return v * row[j] end), got[i], 2e-5)
        support.near(plain.softmax(map(row, function(_, j) return row[(j + i - 1) % width + 1] end)), moved[i], 2e-5)
      end
    end
    -- A number for each row, and one whose position follows from the row.
    local x, scales = numbers { 6, 40 }, numbers { 40 }
    local labels = gpu.array({ 5, 40, 1, -2, 7, 7 }, "int32")
    local y = arrays.centre(x) * scales:take(labels, 1):reshape(6, 1) + scales:take(x:argmax(2, keep), 1)
    local rows, s = x:table(), scales:table()
    local got = y:table()
    for i, at in ipairs { 5, 40, 1, 39, 7, 7 } do
      local most = 1
      for j, v in ipairs(rows[i]) do if v > rows[i][most] then most = j end end
      support.near(map(plain.centre(rows[i]), function(v) return v * s[at] + s[most] end), got[i], 1e-5)
    end
    -- What the rows compute is gathered from after them.
    local e = arrays.softmax(x)
    local chosen = arrays.centre(e:take(gpu.array { 2, 2, 5 }:astype "int32", 1)):table()
    for i, at in ipairs { 2, 2, 5 } do support.near(plain.centre(plain.softmax(rows[at])), chosen[i], 1e-5) end
    local message = support.fails("out of range for axis 1 of 6 elements", function()
      print(arrays.softmax(x:take(gpu.array({ 1, 7 }, "int32"), 1)))
    end)
    assert.truthy(message:find("row_kernels_spec.lua", 1, true))
  end)

  it("draw random numbers", function()
    for _, dtype in ipairs { "float32", "float64", "float16" } do
      for _, width in ipairs { 5, 36, 300 } do
        local shape = { 9, width }
        local x = numbers(shape, dtype)
        local function drawn(fn)
          gpu.random.seed(7)
          return fn(gpu.rand(9, width, { dtype = dtype }), gpu.randn(shape, { dtype = dtype }))
        end
        local uniform, normal = drawn(function(u, n) return u:eval():table(), n:eval():table() end)
        local function dropped(u) return arrays.layer_norm(x) * u:gt(0.4) / 0.6 end
        local function noisy(_, n) return arrays.softmax(x + n) end
        assert.are.equal(1, drawn(function(...) return kernels(dropped(...)) end))
        assert.are.equal(1, drawn(function(...) return launched(noisy(...)) end))
        local y, z = drawn(dropped):table(), drawn(noisy):table()
        local tolerance = dtype == "float16" and 4e-2 or 2e-5
        for i, row in ipairs(x:table()) do
          local kept = map(plain.layer_norm(row), function(v, j) return uniform[i][j] > 0.4 and v / 0.6 or 0 end)
          support.near(kept, y[i], tolerance)
          support.near(plain.softmax(map(row, function(v, j) return v + normal[i][j] end)), z[i], tolerance)
        end
      end
    end
    -- Along two axes, and integers. Numbers that broadcast are drawn once, by a kernel of their own.
    local x = numbers { 4, 6, 8 }
    local function sum_of(fn)
      gpu.random.seed(3)
      return fn(gpu.randn(4, 6, 8)) + fn(gpu.random.integers({ 4, 6, 8 }, 0, 9)) + fn(gpu.rand(4, 1, 1))
    end
    local centred = x - x:mean({ 2, 3 }, keep)
    local y = centred + sum_of(function(drawn) return drawn end)
    assert.are.equal(2, kernels(y))
    support.near((centred:eval() + sum_of(function(drawn) return drawn:eval() end)):table(), y:table(), 1e-5)
  end)

  it("call functions of scripts", function()
    local leaky = gpu.elementwise { name = "leaky", inputs = "T x, T slope", outputs = "T y",
      body = "y = x > 0 ? x : slope * x;" }
    local parts = gpu.vectorize(function(x, centre) return (x - centre) * 2, x * x end)
    local looked_up = gpu.elementwise { name = "looked_up", inputs = "raw T weights, T x", outputs = "T y",
      body = "y = x * weights[i % weights.size()];" }
    local norm = gpu.reduction { name = "var", inputs = "T x", outputs = "T y", map = "x * x", reduce = "a + b",
      post = "y = sqrt(a)", identity = "0" }
    for _, width in ipairs { 3, 64, 1025 } do
      local x, weights = numbers { 7, width }, numbers { width }
      local rows, w = x:table(), weights:table()
      local y = arrays.softmax(leaky(x, 0.25))
      local twice, squares = parts(x, x:mean(2, keep))
      local last = looked_up(weights, arrays.centre(x))
      local unit = x / norm(x, { axis = 2, keepdims = true })
      for _, one in ipairs { y, twice, last, unit } do assert.are.equal(1, kernels(one)) end
      assert.are.equal(1, launched(twice, squares))
      local softmax, twos, looked, units = y:table(), twice:table(), last:table(), unit:table()
      for i, row in ipairs(rows) do
        support.near(plain.softmax(map(row, function(v) return v > 0 and v or 0.25 * v end)), softmax[i], 2e-5)
        local centred = plain.centre(row)
        support.near(map(centred, function(v) return 2 * v end), twos[i], 2e-5)
        support.near(map(row, function(v) return v * v end), squares:table()[i], 2e-5)
        support.near(map(centred, function(v, j) return v * w[j] end), looked[i], 2e-5)
        support.near(plain.normalise(row), units[i], 2e-5)
      end
    end
  end)

  it("treat special numbers as separate kernels do", function()
    local nan, inf = 0 / 0, math.huge
    local x = gpu.array { { 1, nan, 3 }, { inf, 1, 2 }, { -inf, -inf, -inf }, { -inf, 0, 1 }, { -0.0, 0, -0.0 } }:eval()
    local function apart()
      local most = x:max(2, keep):eval()
      local e = (x - most):exp():eval()
      local total = e:sum(2, keep):eval()
      return e / total
    end
    local expected, got = apart():table(), arrays.softmax(x):table()
    for i, row in ipairs(expected) do
      for j, wanted in ipairs(row) do
        assert.truthy(wanted == got[i][j] or (wanted ~= wanted and got[i][j] ~= got[i][j]) or
          math.abs(wanted - got[i][j]) < 1e-6, i .. "," .. j)
      end
    end
    -- Equal elements deviate by nothing, whatever their sum is rounded to.
    local same = gpu.full({ 9, 333 }, 0.1, "float32"):eval()
    assert.are.equal(0, same:var(2, keep):max():item())
    local y = (same - same:mean(2, keep)):abs() + same:var(2, keep)
    assert.truthy(y:max():item() <= 1e-7)
    -- The variance of large numbers that differ little does not cancel.
    local large = (numbers({ 4, 1000 }, "float64", 1e-2) + 1e6):eval()
    local variance = ((large - large:mean(2, keep)) * 0 + large:var(2, keep))(1, 1):item()
    local row = plain.centre(large:table()[1])
    support.near(1, variance / (sum(map(row, function(v) return v * v end)) / 1000), 1e-6)
  end)

  it("give the same bits each time, and extremes those of separate kernels", function()
    local x = numbers { 33, 1024 }
    local first = arrays.layer_norm(x):table()
    for _ = 1, 3 do
      for i, row in ipairs(arrays.layer_norm(x):table()) do
        for j, v in ipairs(row) do assert.are.equal(first[i][j], v) end
      end
    end
    local most = x:max(2, keep):eval()
    assert.are.equal(0, ((x - x:max(2, keep)) - (x - most)):abs():max():item())
  end)

  it("have no rows, or rows of nothing", function()
    local none = arrays.softmax(gpu.zeros(0, 5))
    assert.are.same({ 0, 5 }, none:eval().shape)
    local empty = gpu.zeros(3, 0)
    assert.are.same({ 3, 0 }, (empty - empty:sum(2, keep)):eval().shape)
  end)

  it("take no more memory than the outputs and the results of the rows", function()
    local x = numbers { 512, 1024 }
    local y = arrays.softmax(x)
    local before = support.used()
    y:eval()
    assert.truthy(support.used() - before <= 512 * 1024 * 4 + 4 * 512 * 4)
  end)

  it("feed kernels that write to arrays", function()
    local x = numbers { 20, 90 }
    local out = gpu.zeros(20, 90)
    gpu.softmax(x, 2, { out = out })
    local rows = x:table()
    for i, row in ipairs(out:table()) do support.near(plain.softmax(rows[i]), row, 1e-5) end
    x:copy_(arrays.centre(x))
    for i, row in ipairs(x:table()) do support.near(plain.centre(rows[i]), row, 1e-5) end
  end)

  it("write to arrays, also to the one that they read, by the same kernel", function()
    local function launches(fn)
      local count = 0
      for _, row in ipairs(gpu.profile(fn)) do count = count + row.launches end
      return count
    end
    for _, width in ipairs { 7, 90, 1024, 5000 } do
      for _, name in ipairs { "softmax", "centre" } do
        local x, out, y = numbers { 20, width }, gpu.zeros(20, width), nil
        y = arrays[name](x):eval()
        assert.are.equal(1, launches(function() out:copy_(arrays[name](x)) end))
        support.same(y, out, name .. " of " .. width)
        collectgarbage() -- else the pending value of the last line reads x too
        assert.are.equal(1, launches(function() x:copy_(arrays[name](x)) end))
        support.same(y, x, name .. " in place of " .. width)
      end
    end
    -- A target in another place of the rows that are read, of another dtype, or with strides.
    local base = numbers { 21, 64 }
    local rows, next_rows = base { 1, 20 }, base { 2, 21 }
    local y = arrays.softmax(rows):eval()
    next_rows:copy_(arrays.softmax(rows))
    support.same(y, next_rows)
    local double, strided = gpu.zeros({ 20, 64 }, "float64"), gpu.zeros(64, 20).T
    local x = numbers { 20, 64 }
    y = arrays.softmax(x):eval()
    double:copy_(arrays.softmax(x))
    strided:copy_(arrays.softmax(x))
    support.same(arrays.softmax(x):astype "float64", double)
    support.same(y, strided:copy())
    -- Of several values that a plan stores, one goes to a target; what reads the target gets its old elements.
    local total, shifted = x:sum(2), x + 1
    x:copy_(arrays.softmax(x))
    support.same(y, x)
    assert.truthy(gpu.allclose(total, shifted:sum(2) - 64, 1e-4))
    -- A row's own statistic as the target's neighbour.
    local table_ = numbers { 4, 9 }
    local sums = table_(":", 1)
    local expected = (table_ - table_:mean(2, keep) + sums:reshape(4, 1)):eval()
    table_:copy_(table_ - table_:mean(2, keep) + sums:reshape(4, 1))
    support.same(expected, table_)
  end)
end)
