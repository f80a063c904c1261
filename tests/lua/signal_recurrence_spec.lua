-- Recursive filters beside a plain loop over each line: gpu.signal.lfilter and sosfilt divide long lines into pieces.

local gpu = require "gpu"
local signal = gpu.signal

--- What the sections {b, a} make of a table, and the states after it. `states`: those before it, or nil for 0.
local function plain(sections, x, states)
  local y = {}
  for t = 1, #x do y[t] = x[t] end
  local after = {}
  for s, section in ipairs(sections) do
    local b, a, order = section[1], section[2], #section[1] - 1
    local state = {}
    for k = 1, order do state[k] = states and states[s][k] or 0 end
    for t = 1, #x do
      local value = y[t]
      local out = b[1] * value + state[1]
      for k = 1, order - 1 do state[k] = b[k + 1] * value - a[k + 1] * out + state[k + 1] end
      state[order] = b[order + 1] * value - a[order + 1] * out
      y[t] = out
    end
    after[s] = state
  end
  return y, after
end

local function sections_of(sos)
  local sections = {}
  for k, row in ipairs(sos:table()) do
    sections[k] = { { row[1], row[2], row[3] }, { row[4], row[5], row[6] } }
  end
  return sections
end

--- Fails for an element that differs by more than `tolerance` times the largest.
local function assert_near(expected, found, tolerance, what)
  local largest, worst, place = 0, 0, 0
  assert.are.equal(#expected, #found, what)
  for t = 1, #expected do
    largest = math.max(largest, math.abs(expected[t]))
    local error = math.abs(expected[t] - found[t])
    if not (error <= worst) then worst, place = error, t end
  end
  assert(worst <= tolerance * largest, ("%s: %g of %g at %d"):format(what, worst, largest, place))
end

local function kind_of(value)
  if value ~= value then return "nan" end
  if math.abs(value) < 1e307 then return "finite" end -- a value next to the largest may round to either side
  return value > 0 and "inf" or "-inf"
end

local lengths = { 1, 2, 31, 33, 255, 256, 257, 1023, 1024, 1025, 1057, 3071, 3072, 3073, 6145, 99999 }

describe("recursive filters", function()
  it("are as a plain loop for each length of a line", function()
    local sos = signal.butter(5, 0.2, { output = "sos" })
    for _, n in ipairs(lengths) do
      local x = gpu.randn({ 2, n }, "float64"):eval()
      local y, again = signal.sosfilt(sos, x):eval(), signal.sosfilt(sos, x)
      assert.is_true(y:equal(again))
      local rough = signal.sosfilt(sos, x:astype "float32"):table()
      for line = 1, 2 do
        local expected = plain(sections_of(sos), x(line):table())
        assert_near(expected, y(line):table(), 1e-13, n .. " elements")
        assert_near(expected, rough[line], 2e-7, n .. " elements of float32")
      end
    end
  end)

  it("are as a plain loop for each number of states", function()
    for _, order in ipairs { 1, 2, 3, 7, 16, 17, 40 } do
      local b, a = {}, { 1 }
      for k = 0, order do
        b[k + 1] = 1 / (k + 1)
        if k > 0 then a[k + 1] = 0.7 / order * (k % 3 - 1) end
      end
      local x = gpu.randn({ 7001 }, "float64"):eval()
      assert_near(plain({ { b, a } }, x:table()), signal.lfilter(b, a, x):table(), 1e-13, "order " .. order)
    end
    for _, order in ipairs { 6, 16, 18 } do
      local sos = signal.butter(order, 0.3, { output = "sos" })
      local x = gpu.randn({ 7001 }, "float64"):eval()
      assert_near(plain(sections_of(sos), x:table()), signal.sosfilt(sos, x):table(), 1e-13, "sections of order " .. order)
    end
  end)

  it("have states before and after lines of any length", function()
    local sos = signal.butter(4, 0.1, { output = "sos" })
    for _, n in ipairs(lengths) do
      local x, zi = gpu.randn({ 3, n }, "float64"):eval(), gpu.randn({ 2, 3, 2 }, "float64"):eval()
      local y, ends = signal.sosfilt(sos, x, { zi = zi })
      local before = zi:table()
      for line = 1, 3 do
        local expected, after = plain(sections_of(sos), x(line):table(), { before[1][line], before[2][line] })
        assert_near(expected, y(line):table(), 1e-13, n .. " elements")
        for s = 1, 2 do assert_near(after[s], ends(s, line):table(), 1e-12, "states after " .. n) end
      end
    end
  end)

  it("are the same whether lines are divided or not", function()
    local sos = signal.butter(6, 0.1, { output = "sos" })
    local x, zi = gpu.randn({ 8200, 300 }, "float64"):eval(), gpu.randn({ 3, 8200, 2 }, "float64"):eval()
    local y, ends = signal.sosfilt(sos, x, { zi = zi })
    local part = { 8100, 8110 }
    local few, few_ends = signal.sosfilt(sos, x(part), { zi = zi(":", part) })
    assert(y(part):allclose(few, 1e-12, 1e-12))
    assert(ends(":", part):allclose(few_ends, 1e-12, 1e-12))
  end)

  it("keep to the loop at the edge of stability and beyond it", function()
    local function check(b, a, n, tolerance)
      local x = gpu.randn({ n }, "float64"):eval()
      assert_near(plain({ { b, a } }, x:table()), signal.lfilter(b, a, x):table(), tolerance, "poles of " .. a[2])
    end
    check({ 1, 0.3, 0 }, { 1, -1.32, 1.089 }, 3000, 1e-13) -- growing
    check({ 1, 0.3, 0 }, { 1, -1.5, 0.49995 }, 100000, 1e-12) -- a pole at 1.0001
    check({ 1, 0 }, { 1, -0.9999 }, 100000, 1e-13)
    local b, a = signal.butter(2, 0.001) -- a power of the matrix has large elements that nearly cancel
    check(b:table(), a:table(), 300000, 5e-11)
    -- Sums of sums of whole numbers are exact.
    local x = (gpu.randn({ 100000 }, "float64") * 2):floor():eval()
    assert.are.same(plain({ { { 1, 0, 0 }, { 1, -2, 1 } } }, x:table()), signal.lfilter({ 1 }, { 1, -2, 1 }, x):table())
  end)

  it("leave zeros where a power of the matrix overflows", function()
    local n = 60000
    local x = gpu.zeros({ n }, "float64")
    x[n - 99] = 1
    local y = signal.sosfilt(gpu.array({ { 1, 0, 0, 1, -2, 0 }, { 1, 0, 0, 1, 0.5, 0 } }, { dtype = "float64" }), x)
    local expected = plain({ { { 1, 0, 0 }, { 1, -2, 0 } }, { { 1, 0, 0 }, { 1, 0.5, 0 } } }, x:table())
    assert_near(expected, y:table(), 1e-15, "doubling")
    assert.are.equal(0, y({ 1, n - 100 }):abs():max():item())
  end)

  it("overflow where the loop does", function()
    local x = gpu.randn({ 20000 }, "float64"):eval()
    local expected = plain({ { { 1, 0, 0 }, { 1, -1.3, -0.2 } } }, x:table())
    local y = signal.lfilter({ 1 }, { 1, -1.3, -0.2 }, x):table()
    for t = 1, #expected do assert.are.equal(kind_of(expected[t]) == "finite", kind_of(y[t]) == "finite", t) end
  end)

  it("spread NaN and infinities as the loop does", function()
    local filters = {
      { { { 0.1, 0 }, { 1, -0.9 } } },
      { { { 0.1, 0.1 }, { 1, -0.9 } } }, -- stays infinite
      { { { 0.1, -0.1 }, { 1, 0.9 } } }, -- with alternating signs
      { { { 1, 1, 1 }, { 1, -0.6, -0.3 } } },
      { { { 1, -1, 1 }, { 1, 0.6, -0.3 } } },
      { { { 1, 2, 1 }, { 1, -1.2, 0.5 } }, { { 1, 2, 1 }, { 1, -1.1, 0.4 } } },
    }
    local n = 20000
    for f, sections in ipairs(filters) do
      for _, value in ipairs { 0 / 0, math.huge, -math.huge } do
        for _, place in ipairs { 1, 3072, 10000 } do
          local x = gpu.randn({ n }, "float64"):eval()
          x[place] = value
          local expected, y = plain(sections, x:table()), nil
          if #sections == 1 then
            y = signal.lfilter(sections[1][1], sections[1][2], x):table()
          else
            local rows = {}
            for s, section in ipairs(sections) do
              rows[s] = { section[1][1], section[1][2], section[1][3], section[2][1], section[2][2], section[2][3] }
            end
            y = signal.sosfilt(rows, x):table()
          end
          for t = 1, n do
            if kind_of(expected[t]) ~= kind_of(y[t]) then
              error(("filter %d, %s at %d: expected %s at %d, got %s"):format(f, value, place, expected[t], t, y[t]))
            end
          end
        end
      end
    end
  end)
end)
