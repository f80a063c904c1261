-- Reductions of reductions, which are one kernel, and reductions over few elements. Against plain Lua, element by element.
local gpu = require "gpu"
local support = require "support"

local newaxis = gpu.newaxis

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end

--- What evaluating the arrays stores: the bytes that they add to the device's memory.
local function stored(...)
  gpu.sync()
  local before = support.used()
  gpu.eval(...)
  return support.used() - before
end

--- Numbers without a pattern in rows. Integers where `dtype` is one.
local function numbers(shape, dtype, range)
  local size = 1
  for _, extent in ipairs(shape) do size = size * extent end
  local x = ((gpu.arange(size, "float64") * 0.6180339887) % 1 - (dtype:find "^[ub]" and 0 or 0.45)) * (range or 4)
  if dtype == "bool" then x = x:gt(1) end
  return x:astype(dtype):eval():reshape(shape):eval()
end

-- ---- the same in plain Lua --------------------------------------------------------------------------------------------

local function number(x) return x == true and 1 or x or 0 end
local function is_nan(x) return x ~= x end

local folds = {}
function folds.sum(row)
  local total = 0
  for _, x in ipairs(row) do total = total + number(x) end
  return total
end
function folds.prod(row)
  local total = 1
  for _, x in ipairs(row) do total = total * number(x) end
  return total
end
--- The first position of an element that none precedes in the order; NaN comes first.
local function first(row, precedes)
  local best = 1
  for i = 2, #row do
    if not is_nan(row[best]) and (is_nan(row[i]) or precedes(row[i], row[best])) then best = i end
  end
  return best
end
function folds.argmin(row) return first(row, function(a, b) return number(a) < number(b) end) end
function folds.argmax(row) return first(row, function(a, b) return number(a) > number(b) end) end
function folds.min(row) return row[folds.argmin(row)] end
function folds.max(row) return row[folds.argmax(row)] end
function folds.any(row)
  for _, x in ipairs(row) do if number(x) ~= 0 then return true end end
  return false
end
function folds.all(row)
  for _, x in ipairs(row) do if number(x) == 0 then return false end end
  return true
end
function folds.count_nonzero(row)
  local count = 0
  for _, x in ipairs(row) do if number(x) ~= 0 then count = count + 1 end end
  return count
end
function folds.var(row)
  local mean, total = folds.sum(row) / #row, 0
  for _, x in ipairs(row) do total = total + (number(x) - mean) ^ 2 end
  return total / #row
end

local function map(rows, fn)
  local result = {}
  for i, row in ipairs(rows) do result[i] = fn(row) end
  return result
end

local tolerances = { float16 = 2e-3, bfloat16 = 2e-2, float32 = 1e-5 }

local function compare(expected, got, dtype, what)
  local tolerance = tolerances[dtype] or 1e-12
  assert(#expected == #got, what)
  for i, e in ipairs(expected) do
    local g = got[i]
    local is_same = e == g or (is_nan(e) and is_nan(g)) or
      (type(e) == "number" and type(g) == "number" and math.abs(e - g) <= tolerance * math.max(1, math.abs(e)))
    if not is_same then error(("%s, row %d: expected %s, got %s"):format(what, i, tostring(e), tostring(g)), 2) end
  end
end

-- ---- short reductions -------------------------------------------------------------------------------------------------

describe("reductions over few elements", function()
  local all_dtypes = { "bool", "uint8", "int8", "uint16", "int32", "int64", "float16", "bfloat16", "float32", "float64" }

  it("are right for each length", function()
    for length = 1, 70 do
      -- Rows for more than one block of any schedule, the last one not full.
      local x = numbers({ 331, length }, "float32")
      local rows = x:table()
      local total, most, least, at, variance = x:sum(2), x:max(2), x:min(2), x:argmax(2), x:var(2)
      assert.are.equal(1, kernels(total, most, least, at))
      gpu.eval(total, most, least, at, variance)
      for name, got in pairs { sum = total, max = most, min = least, argmax = at, var = variance } do
        compare(map(rows, folds[name]), got:table(), "float32", name .. " of " .. length)
      end
      local down = numbers({ length, 331 }, "float32")
      compare(map(down.T:table(), folds.sum), down:sum(1):table(), "float32", "sum down " .. length)
    end
  end)

  it("are right for each dtype", function()
    for _, dtype in ipairs(all_dtypes) do
      for _, length in ipairs { 2, 7, 16, 33, 63 } do
        local x = numbers({ 301, length }, dtype, 2)
        local rows = x:table()
        for _, name in ipairs { "sum", "max", "min", "argmin", "argmax", "any", "all", "count_nonzero" } do
          compare(map(rows, folds[name]), x[name](x, 2):table(), dtype, ("%s of %d %s"):format(name, length, dtype))
        end
      end
    end
    for _, dtype in ipairs { "complex64", "complex128" } do
      local re, im = numbers({ 301, 5 }, "float64"), numbers({ 301, 5 }, "float64", 3)
      local total = (re + im * gpu.complex(0, 1)):astype(dtype):eval():sum(2):eval()
      local tolerance = dtype == "complex64" and "float32" or "float64"
      compare(map(re:table(), folds.sum), total:real():table(), tolerance, dtype .. " real")
      compare(map(im:table(), folds.sum), total:imag():table(), tolerance, dtype .. " imaginary")
    end
  end)

  it("of views read the view's elements", function()
    local x = numbers({ 401, 24 }, "float32")
    local views = {
      columns = x(":", "2:9"), offset = x("3:", ":"), steps = x(":", "1::3"), back = x(":", "::-1"), rows = x("::-1", ":"),
      every_other_row = x("::2", ":"), row_repeated = x(1):broadcast_to(401, 24),
      middle = x:reshape(401, 4, 6)(":", "2:3"):reshape(401, 12),
    }
    for name, view in pairs(views) do
      local rows = view:copy():table()
      compare(map(rows, folds.sum), view:sum(2):table(), "float32", name)
      compare(map(rows, folds.argmin), view:argmin(2):table(), "float32", name)
      compare(map(view.T:copy():table(), folds.sum), view.T(":", "1:50"):sum(2):eval() and view.T:sum(2):table(), "float32", name)
    end
  end)

  it("of axes in the middle, and of several", function()
    local x = numbers({ 50, 6, 9 }, "float32")
    local function rows_of(y, n) return y:copy():reshape(n, -1):table() end
    compare(map(rows_of(x:transpose(1, 3, 2), 450), folds.sum), x:sum(2):reshape(450):table(), "float32", "middle")
    compare(map(rows_of(x:transpose(2, 1, 3), 6), folds.sum), x:sum { 1, 3 }:table(), "float32", "outer and inner")
    compare(map(rows_of(x, 50), folds.max), x:max { 2, 3 }:table(), "float32", "last two")
    compare(map(rows_of(x, 50), folds.sum), x:sum({ 2, 3 }, { keepdims = true }):reshape(50):table(), "float32", "keepdims")
  end)

  it("compute with operands of every kind on the way", function()
    local x, y = numbers({ 300, 10 }, "float32"), numbers({ 300, 10 }, "float64")
    local row, column, down = numbers({ 10 }, "float32"), numbers({ 300, 1 }, "float32"), numbers({ 10, 300 }, "float32")
    local which = gpu.array({ 3, 1, 10, 7, 7, 2, 4, 5, 9, 6 }, "int32")
    local z = ((x + y * row) * column + down.T + 2):eval()
    compare(map(z:table(), folds.sum), ((x + y * row) * column + down.T + 2):sum(2):table(), "float32", "operands")
    compare(map(x:take(which, 2):eval():table(), folds.max), x:take(which, 2):max(2):table(), "float32", "gathers")
    compare(map((x:gt(0)):eval():table(), folds.sum), x:gt(0):sum(2):table(), "int64", "truths")
    local sum, scaled = x:sum(2), x:sum(2) / 10 + column:reshape(300)
    gpu.eval(sum, scaled)
    compare(map(x:table(), folds.sum), ((scaled - column:reshape(300)) * 10):table(), "float32", "after")
  end)

  it("take the first of equal extremes, and NaN", function()
    for length = 2, 63, 7 do
      local x = (numbers({ 200, length }, "float32", 3):floor()):eval()
      local y = gpu.where(numbers({ 200, length }, "float32"):gt(2), 0 / 0, x):eval()
      for _, z in ipairs { x, y } do
        local rows = z:table()
        for _, name in ipairs { "argmin", "argmax", "min", "max" } do
          compare(map(rows, folds[name]), z[name](z, 2):table(), "float32", name .. " of " .. length)
        end
      end
    end
  end)

  it("are the same each time, wherever a row lies", function()
    local row = numbers({ 37 }, "float32")
    local many = row:broadcast_to(1000, 37):copy():sum(2):eval()
    assert.are.equal(0, many:ne(many[1]):sum():item())
  end)
end)

-- ---- reductions of reductions -----------------------------------------------------------------------------------------

--- Squared distances of the points to the centres, as tables of rows.
local function plain_distances(points, centres)
  return map(points, function(p)
    return map(centres, function(c)
      local total = 0
      for k = 1, #p do total = total + (p[k] - c[k]) ^ 2 end
      return total
    end)
  end)
end

local function distances(x, c) return ((x(":", newaxis) - c) ^ 2):sum(3) end

describe("a reduction of a reduction", function()
  it("is one kernel, which stores the last results only", function()
    local x, c = numbers({ 3000, 16 }, "float32"), numbers({ 64, 16 }, "float32")
    local nearest = distances(x, c):argmin(2)
    assert.are.equal(1, kernels(nearest))
    assert.is_true(stored(nearest) < 2 * 8 * 3000)
    local squares = distances(x, c)
    local nearest, least = squares:argmin(2), squares:min(2)
    assert.are.equal(1, kernels(nearest, least))
    assert.are.equal(1, kernels(squares:sqrt():mean(2)))
    assert.are.equal(1, kernels((x(":", newaxis) - c):abs():max(3):min(2)))
    assert.are.equal(1, kernels(squares:sum()))
    assert.are.equal(1, kernels(distances(x, c):exp():sum(1)))
    assert.are.equal(1, kernels(gpu.isnan(numbers({ 40, 50, 3 }, "float32")):any(3):all(2)))
  end)

  it("stays apart where its elements are needed in memory, or are many", function()
    local x, c = numbers({ 300, 16 }, "float32"), numbers({ 8, 16 }, "float32")
    local squares = distances(x, c)
    assert.are.equal(2, kernels(squares, squares:argmin(2)))
    squares = distances(x, c)
    assert.are.equal(2, kernels(squares - squares:min(2, { keepdims = true })))
    squares = distances(x, c)
    assert.are.equal(2, kernels(squares:min(2), squares:argmin(1)) - 1)
    assert.are.equal(2, kernels(distances(numbers({ 30, 65 }, "float32"), numbers({ 8, 65 }, "float32")):argmin(2)))
    assert.are.equal(2, kernels(numbers({ 30, 40, 50 }, "float32"):sum(3):max(2))) -- rows of 200 bytes
    assert.are.equal(2, kernels(squares:sum(2)[gpu.array({ 1, 5, 7 }, "int32")]))
  end)

  it("gives the distances of points and centres", function()
    for _, dtype in ipairs { "float16", "bfloat16", "float32", "float64", "int32" } do
      for _, length in ipairs { 1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 65, 70 } do
        for _, sizes in ipairs { { 500, 5 }, { 3, 300 }, { 1, 1 } } do
          local range = dtype == "float16" and 2 or 8 -- its sums stay finite
          local x, c = numbers({ sizes[1], length }, dtype, range), numbers({ sizes[2], length }, dtype, range)
          local squares = distances(x, c)
          local least, total, nearest = squares:min(2), squares:sum(2), squares:argmin(2)
          gpu.eval(least, total, nearest)
          local expected = plain_distances(x:table(), c:table())
          local what = ("%s, %d of %d"):format(dtype, sizes[1], length)
          compare(map(expected, folds.min), least:table(), dtype, "min " .. what)
          compare(map(expected, folds.sum), total:table(), dtype, "sum " .. what)
          if dtype == "float64" or dtype == "int32" then
            compare(map(expected, folds.argmin), nearest:table(), dtype, "argmin " .. what)
          end
        end
      end
    end
  end)

  it("takes operands of every kind inside", function()
    local x, c = numbers({ 200, 6 }, "float32"), numbers({ 9, 6 }, "float32")
    local weights, bias = numbers({ 6 }, "float64"), numbers({ 9 }, "float32")
    local which = gpu.array({ 2, 2, 1, 6, 5, 3 }, "int32")
    local function check(what, build)
      local elements, outer = build()
      local expected = map(elements:eval():table(), function(rows) return map(rows, folds.sum) end)
      local inner = gpu.array(expected, "float64")
      compare(map((outer and outer(inner) or inner):eval():table(), folds.max),
        (outer and outer(elements:sum(3)) or elements:sum(3)):max(2):table(), "float32", what)
    end
    check("broadcast", function() return x(":", newaxis) * c end)
    check("weighted", function() return (x(":", newaxis) - c):abs() * weights + 1 end)
    check("a number for each result", function() return x(":", newaxis) * c, function(s) return s * 2 + bias end end)
    check("a gather", function() return x:take(which, 2)(":", newaxis) + c end)
    check("views", function() return x("::-1", "::-1")(":", newaxis) * c.T:copy().T end)
    check("all elements", function() return numbers({ 200, 9, 6 }, "float32") * 2 end)
    check("positions", function() return x(":", newaxis) * c * gpu.range(1, 6) end)
  end)

  -- Forces between points: each coordinate of a distance is divided by a power of the whole distance.
  it("is computed once for the columns to which its results broadcast", function()
    local function forces(x, y, masses, axis)
      local apart = x(":", newaxis) - y
      local squares = (apart * apart):sum(3, { keepdims = true }) + 0.5
      return (masses * apart / squares ^ 1.5):sum(axis)
    end
    --- The sums over j, or over i, of masses[j] * apart / squares ^ 1.5, as rows of coordinates.
    local function plain(x, y, masses, axis)
      local rows = {}
      for r = 1, axis == 2 and #x or #y do
        rows[r] = {}
        for k = 1, #x[1] do rows[r][k] = 0 end
      end
      for i, p in ipairs(x) do
        for j, q in ipairs(y) do
          local squares = 0.5
          for k = 1, #p do squares = squares + (p[k] - q[k]) ^ 2 end
          local row = rows[axis == 2 and i or j]
          for k = 1, #p do row[k] = row[k] + masses[j] * (p[k] - q[k]) / squares ^ 1.5 end
        end
      end
      return rows
    end
    for _, dtype in ipairs { "float32", "float64" } do
      for _, count in ipairs { 1, 2, 3, 4, 8, 15, 16, 17 } do
        for _, sizes in ipairs { { 70, 90 }, { 1, 3000 }, { 400, 2 } } do
          local x, y = numbers({ sizes[1], count }, dtype), numbers({ sizes[2], count }, dtype, 3)
          local masses = numbers({ sizes[2] }, dtype, 2)
          for axis = 1, 2 do
            local got = forces(x, y, masses(":", newaxis), axis)
            if sizes[1] == 70 then assert.are.equal(count == 17 and 2 or 1, kernels(got)) end
            local what = ("%s, %d columns, axis %d of %d x %d"):format(dtype, count, axis, sizes[1], sizes[2])
            local expected = plain(x:table(), y:table(), masses:table(), axis)
            for r, row in ipairs(got:table()) do compare(expected[r], row, dtype == "float32" and "float16" or dtype, what) end
          end
        end
      end
    end
  end)

  it("is planned in time that grows with the number of operations, whatever they share", function()
    local x = numbers({ 40, 3 }, "float64")
    local function shares(rounds)
      local apart = x(":", newaxis) - x
      local norm = (apart * apart):sum(3, { keepdims = true }) + 1
      -- Each operation reads the one before it twice: there are 2 ^ 50 ways from the last to the first.
      for _ = 1, rounds do norm = gpu.maximum(norm, norm - 1) end
      return (apart / norm):sum(2)
    end
    local deep = shares(50)
    assert.are.equal(1, kernels(deep))
    assert.are.same(shares(0):table(), deep:table())
  end)

  it("for columns is right for other reductions, and for operands of every kind", function()
    local x, c = numbers({ 60, 3 }, "float64"), numbers({ 8, 3 }, "float64")
    local scale, bias = numbers({ 3 }, "float64"), numbers({ 8, 1 }, "float64")
    local which = gpu.array({ 3, 1, 2 }, "int32")
    local function check(what, count, elements, build)
      local apart = elements()
      local norm = apart:abs():sum(3, { keepdims = true })
      local most = apart:max(3, { keepdims = true })
      local got = { build(apart, norm, most) }
      assert.are.equal(count, kernels(unpack(got)), what)
      gpu.eval(unpack(got))
      local stored = elements():eval()
      local expected = { build(stored, stored:abs():sum(3, { keepdims = true }):eval(), stored:max(3, { keepdims = true }):eval()) }
      for i, e in ipairs(expected) do
        compare(e:eval():reshape(-1):table(), got[i]:reshape(-1):table(), "float64", what .. " " .. i)
      end
    end
    local function apart() return x(":", newaxis) - c end
    check("largest share", 1, apart, function(a, norm) return (a / (norm + 1)):max(2), (a / (norm + 1)):argmax(2) end)
    check("two inside", 1, apart, function(a, norm, most) return ((a - most) / (norm + 1)):var(1) end)
    check("a row, a column and numbers", 1, apart, function(a, norm) return (a * scale / (norm * 2 + bias ^ 2 + 1)):sum(2) end)
    check("a result as it is", 1, apart, function(a, norm) return (a * 0 + norm):sum(2) end)
    check("keepdims around", 1, apart, function(a, norm) return (a / (norm + 1)):sum(2, { keepdims = true }) end)
    check("both axes", 1, apart, function(a, norm) return (a / (norm + 1)):sum { 1, 2 } end)
    check("a view", 1, function() return x("::-2", newaxis) - c("2:", ":") end, function(a, norm) return (a / (norm + 1)):sum(2) end)
    check("columns in memory", 2, function() return x(":", newaxis) - c.T:copy().T end, function(a, norm) return (a / (norm + 1)):sum(2) end)
    check("columns backwards", 2, function() return x(":", "::-1")(":", newaxis) - c end, function(a, norm) return (a / (norm + 1)):sum(2) end)
    check("a gather", 2, function() return numbers({ 60, 8, 3 }, "float64"):take(which, 3) end, function(a, norm) return (a / (norm + 1)):sum(2) end)
    check("positions", 2, function() return x(":", newaxis) * gpu.range(1, 3) end, function(a, norm) return (a / (norm + 1)):sum(1) end)
    check("also wanted", 2, apart, function(a, norm) return norm, (a / (norm + 1)):sum(2) end)
  end)

  it("goes over any axes", function()
    local x = numbers({ 20, 5, 30, 4 }, "float32")
    -- The axes inside, and those around without and with the dimensions of the ones inside.
    local cases = {
      { 4, 3, 3 }, { 4, 1, 1 }, { 2, 3, 4 }, { 2, 2, 3 }, { 1, 3, 4 }, { 4, { 1, 3 }, { 1, 3 } },
      { { 2, 4 }, 1, 1 }, { { 2, 4 }, 2, 3 }, { { 1, 2 }, 2, 4 }, { { 1, 3 }, 1, 2 },
    }
    for number, axes in ipairs(cases) do
      for _, keepdims in ipairs { false, true } do
        local options, around = { keepdims = keepdims }, keepdims and axes[3] or axes[2]
        local apart = (x * 2):sum(axes[1], options):eval()
        local got = (x * 2):sum(axes[1], options):max(around)
        compare(apart:max(around):reshape(-1):table(), got:eval():reshape(-1):table(), "float32", "case " .. number)
      end
    end
  end)

  it("has any reductions inside and around", function()
    local x, c = numbers({ 150, 5 }, "float64"), numbers({ 7, 5 }, "float64")
    local elements = (x(":", newaxis) + c):eval():table()
    for _, inside in ipairs { "sum", "prod", "max", "min", "argmax", "any", "count_nonzero", "var" } do
      for _, around in ipairs { "sum", "max", inside == "var" and "min" or "argmin", "all", "var" } do
        local expected = map(map(elements, function(rows) return map(rows, folds[inside]) end), folds[around])
        local z = x(":", newaxis) + c
        local s = z[inside](z, 3)
        local got = s[around](s, 2)
        assert.are.equal(1, kernels(got))
        compare(expected, got:table(), got.dtype, inside .. ", " .. around)
      end
    end
    local several = (x(":", newaxis) + c):sum(3) / ((x(":", newaxis) + c):max(3) + 10)
    local expected = map(map(elements, function(rows)
      return map(rows, function(row) return folds.sum(row) / (folds.max(row) + 10) end)
    end), folds.min)
    compare(expected, several:min(2):table(), "float64", "several inside")
  end)

  it("takes the first of equal distances, and NaN", function()
    local x = gpu.array({ { 0, 0 }, { 2, 0 }, { 0 / 0, 1 }, { 9, 9 } }, "float32")
    local c = gpu.array({ { 1, 0 }, { -1, 0 }, { 1, 0 }, { 3, 0 } }, "float32")
    assert.are.same({ 1, 1, 1, 4 }, distances(x, c):argmin(2):table())
    local broken = gpu.array({ { 1, 0 }, { -1, 0 / 0 }, { 1, 0 / 0 }, { 3, 0 } }, "float32")
    assert.are.same({ 2, 2, 1, 2 }, distances(x, broken):argmin(2):table())
    assert.is_true(is_nan(distances(x, broken):min(2)[1]))
  end)

  it("keeps what was asked for together with it", function()
    local x, c = numbers({ 100, 4 }, "float32"), numbers({ 6, 4 }, "float32")
    local squares = distances(x, c)
    local nearest = squares:argmin(2):eval()
    assert.are.equal(folds.argmin(squares:table()[7]), nearest[7]) -- stored now, as it is computed a second time
    assert.are.equal(1, kernels(squares:max(2)))
    local out = gpu.zeros(100, "float32")
    out:copy_(distances(x, c):min(2))
    compare(map(squares:table(), folds.min), out:table(), "float32", "into")
  end)

  it("is the same each time", function()
    local x, c = numbers({ 4000, 16 }, "float32"), numbers({ 64, 16 }, "float32")
    local once = distances(x, c):min(2):eval()
    for _ = 1, 3 do assert.are.equal(0, distances(x, c):min(2):ne(once):sum():item()) end
    local total = distances(x, c):sum():item()
    for _ = 1, 3 do assert.are.equal(total, distances(x, c):sum():item()) end
  end)

  it("is not part of one whose result has the shape of its elements", function()
    local x, y = gpu.array({0.5}, "float64"), gpu.array({2}, "float64"):reshape {}
    local total = (x * 2):sum() + (y * 3):sum() + ((y * 5):sum() * 7):sum()
    assert.are.equal(1 + 6 + 70, total:item())
    local z = x:reshape(1, 1)
    local kept = (x * 2):sum(1, {keepdims = true}) + (z * 3):sum(2, {keepdims = true}) + ((z * 5):sum(1, {keepdims = true}) * 7):sum(1, {keepdims = true})
    assert.are.equal(1 + 1.5 + 17.5, kept:item())
  end)
end)
