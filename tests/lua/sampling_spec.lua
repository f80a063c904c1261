-- gpu.random.permutation, choice and shuffle_.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local random = gpu.random

--- The chi-square statistic: squared deviations over the expected counts. For n cells it exceeds n + 5 sqrt(2 n) about once in 10^5 times.
local function check_counts(counts, expected, what)
  local sum, cells = 0, 0
  for i, count in pairs(expected) do
    sum, cells = sum + ((counts[i] or 0) - count) ^ 2 / count, cells + 1
  end
  for i in pairs(counts) do assert.is_truthy(expected[i], what .. ": " .. i) end
  assert.is_true(sum < cells + 5 * math.sqrt(2 * cells), ("%s: chi-square %g of %d cells"):format(what, sum, cells))
end

local function all_orders(prefix, rest, found)
  if #rest == 0 then found[prefix] = true end
  for i = 1, #rest do all_orders(prefix .. rest:sub(i, i), rest:sub(1, i - 1) .. rest:sub(i + 1), found) end
  return found
end

describe("permutation", function()
  it("gives each order of four as often", function()
    random.seed(11)
    for _, way in ipairs { "permutation", "shuffle_", "choice" } do
      local orders = {}
      for i = 1, 4800 do
        local order
        if way == "permutation" then order = random.permutation(4) end
        if way == "shuffle_" then order = gpu.range(1, 4):shuffle_() end
        if way == "choice" then order = random.choice(4, 4, { replace = false }) end
        orders[i] = order
      end
      local text = {}
      for i, order in ipairs(gpu.stack(orders, 1):table()) do text[i] = table.concat(order) end
      local counts, expected = {}, {}
      for _, order in ipairs(text) do counts[order] = (counts[order] or 0) + 1 end
      for order in pairs(all_orders("", "1234", {})) do expected[order] = 4800 / 24 end
      check_counts(counts, expected, way)
    end
  end)

  it("has each number once, also of many", function()
    for _, n in ipairs { 0, 1, 2, 257, 65535, 65536, 65537, 100003, 2 ^ 20, 2 ^ 22 + 1 } do
      local order = random.permutation(n)
      assert.are.equal("int64", order.dtype)
      assert.is_true(order:sort():equal(gpu.range(1, n)))
    end
    local n = 100003
    local fixed = random.permutation(n):eq(gpu.range(1, n)):sum():item()
    assert.is_true(fixed < 12, "fixed points: " .. fixed)
  end)

  it("has no order among many that a test could see", function()
    random.seed(6)
    local counts, n, rounds = gpu.zeros(6, "int64"), 100003, 30
    local fixed, ascents, odd, blocks = 0, 0, 0, gpu.zeros(256, "int64")
    for _ = 1, rounds do
      local order = random.permutation(n):eval()
      -- Three numbers at a distance from each other have six orders.
      local third = 256 * 3
      local parts = order({ 1, n - n % third }):reshape(-1, 3, 256)
      local x, y, z = parts(":", 1), parts(":", 2), parts(":", 3)
      local rank = x:gt(y):astype "int64" + x:gt(z)
      counts = counts + (rank * 2 + y:gt(z)):ravel():bincount({ minlength = 6 })
      blocks = blocks + ((gpu.arange(n) * 16):floor_divide(n) * 16 + ((order - 1) * 16):floor_divide(n)):bincount({ minlength = 256 })
      fixed = fixed + order:eq(gpu.range(1, n)):sum():item()
      ascents = ascents + order({ 2, -1 }):gt(order({ 1, -2 })):sum():item()
      -- A permutation is odd when its number of cycles of even length is.
      local numbers, seen, cycles = order:table(), {}, 0
      for i = 1, n do
        if not seen[i] then cycles = cycles + 1 end
        while not seen[i] do
          seen[i], i = true, numbers[i]
        end
      end
      odd = odd + (n - cycles) % 2
    end
    local function expected(cells, total) return support.series(cells, function() return total / cells end) end
    check_counts(counts:table(), expected(6, counts:sum():item()), "orders of three")
    check_counts(blocks:table(), expected(256, n * rounds), "places")
    -- Means and deviations: 1 and 1; (n - 1) / 2 and sqrt((n + 1) / 12); 1/2 and 1/2.
    assert.is_true(math.abs(fixed - rounds) < 5 * math.sqrt(rounds), "fixed points: " .. fixed)
    assert.is_true(math.abs(ascents / rounds - (n - 1) / 2) < 5 * math.sqrt((n + 1) / 12 / rounds), "ascents: " .. ascents)
    assert.is_true(math.abs(odd - rounds / 2) < 5 * math.sqrt(rounds) / 2, "odd permutations: " .. odd)
  end)

  it("permutes an array along an axis", function()
    local x = gpu.arange(600):reshape(20, 30)
    local rows, columns = random.permutation(x), random.permutation(x, { axis = -1 })
    assert.is_true(rows:sort(1):equal(x) and not rows:equal(x))
    assert.is_true(columns:sort(2):equal(x) and not columns:equal(x))
    assert.is_true((rows(":", 1) % 30):eq(0):all():item())
    assert.is_true((columns - columns(1)):eq(gpu.arange(20):expand_dims(2) * 30):all():item())
  end)

  it("shuffles in place, also a view", function()
    local x = gpu.arange(100, "int32")
    local same = x({ 1, 50 }):shuffle_()
    assert.is_true(same:sort():equal(gpu.arange(50, "int32")) and not x:equal(gpu.arange(100, "int32")))
    assert.is_true(x({ 51, 100 }):equal(gpu.arange(50, 100, "int32")))
    local y = gpu.arange(12):reshape(3, 4)
    assert.is_true(rawequal(y, random.shuffle_(y, { axis = 2 })))
    assert.is_true(y:sort(2):equal(gpu.arange(12):reshape(3, 4)))
  end)

  it("comes again with the state, and from a generator", function()
    local function draws(source)
      return {
        source.permutation(50):table(), source.choice(50, 5):table(), source.choice(50, 5, { replace = false }):table(),
        source.choice(2, 9, { p = { 0.5, 0.5 } }):table(), source.shuffle_(gpu.arange(20)):table(),
      }
    end
    random.seed(5)
    local state = random.state()
    local first, second = draws(random), draws(random)
    random.set_state(state)
    assert.are.same(first, draws(random))
    assert.are.same(second, draws(random))
    local g = random.generator("philox", { seed = 5 })
    local bound = setmetatable({}, { __index = function(_, name) return function(...) return g[name](g, ...) end end })
    assert.are.same(first, draws(bound))
    g:set_state(state)
    local before = random.state()
    assert.are.same(first[1], random.permutation(50, { generator = g }):table())
    assert.are.same(before, random.state())
  end)
end)

describe("choice", function()
  it("takes items as often as their probabilities say", function()
    random.seed(3)
    local n = 200000
    local uniform = random.choice(6, n):bincount():table()
    assert.are.equal(0, table.remove(uniform, 1))
    check_counts(uniform, support.series(6, function() return n / 6 end), "uniform")
    local p = { 0, 0.1, 0.4, 0, 0.3, 0.2, 0 }
    for _, given in ipairs { p, gpu.array(p), gpu.array(p, "float64") } do
      local counts, expected = random.choice(gpu.arange(7), { n / 2, 2 }, { p = given }):ravel():bincount({ minlength = 7 }):table(), {}
      for i, each in ipairs(p) do
        if each == 0 then assert.are.equal(0, table.remove(counts, #expected + 1)) else expected[#expected + 1] = each * n end
      end
      check_counts(counts, expected, "weighted")
    end
  end)

  it("without replacement takes distinct items, as if one by one", function()
    random.seed(4)
    local p, counts, expected, pairs_of = { 0.1, 0, 0.6, 0.3 }, {}, {}, {}
    for i = 1, 3000 do pairs_of[i] = random.choice(4, 2, { replace = false, p = p }) end
    for _, pair in ipairs(gpu.stack(pairs_of, 1):table()) do
      local text = table.concat(pair)
      counts[text] = (counts[text] or 0) + 1
    end
    for _, i in ipairs { 1, 3, 4 } do
      for _, j in ipairs { 1, 3, 4 } do
        if i ~= j then expected[i .. j] = 3000 * p[i] * p[j] / (1 - p[i]) end
      end
    end
    check_counts(counts, expected, "pairs")
    local n = 50000
    assert.are.equal(n / 5, random.choice(n, { n / 50, 10 }, { replace = false }):unique().size)
    assert.are.equal(n / 2, random.choice(n, n / 2, { replace = false, p = gpu.full({ n }, 1 / n, "float64") }):unique().size)
  end)

  it("takes elements of arrays, in shapes", function()
    local x = gpu.arange(12, "float64"):reshape(3, 4)
    assert.are.same({}, random.choice(5).shape)
    assert.are.same({ 4 }, random.choice(x).shape)
    assert.are.same({ 2, 5, 4 }, random.choice(x, { 2, 5 }).shape)
    local columns = random.choice(x, 2, { axis = 2, replace = false })
    assert.are.same({ 3, 2 }, columns.shape)
    assert.is_true((columns - columns(1)):eq(gpu.array { { 0 }, { 4 }, { 8 } }):all():item())
    assert.are.same({ 0, 4 }, random.choice(x, 0).shape)
    assert.are.same({ 2, 0 }, random.choice(0, { 2, 0 }).shape)
    assert.are.equal(3, random.choice(3, { p = { 0, 0, 1 } }):item())
  end)

  it("names what does not fit", function()
    local x = gpu.ones(3)
    local function refuses(text, ...)
      local arguments = { ... }
      fails("[random.choice] " .. text, function() return random.choice(unpack(arguments)) end)
    end
    refuses("expected probabilities that sum to 1, got 0.9", 3, 2, { p = { 0.5, 0.25, 0.15 } })
    refuses("expected probabilities of 0 or more, got -0.5", x, 2, { p = { 0.5, -0.5, 1 } })
    refuses("expected probabilities of 0 or more, got NaN", x, 2, { p = gpu.array { 0 / 0, 0.5, 0.5 } })
    refuses("expected a probability for each of 3 items, got shape (2,)", 3, 2, { p = { 0.5, 0.5 } })
    refuses("expected at most 3 items without replacement, got 4", 3, { 2, 2 }, { replace = false })
    refuses("expected at most 2 items without replacement, got 3", x, 3, { replace = false, p = { 0.5, 0, 0.5 } })
    refuses("expected items to choose from, got none", 0, 1)
    refuses("expected items to choose from, got none", gpu.zeros(0), 1)
    refuses("expected a number of items of 0 or more, got -1", -1, 1)
    refuses("expected an array or a number of items, got nil")
    refuses("expected an array beside the option axis, got 3", 3, 1, { axis = 1 })
    refuses("expected the option device beside a number of items alone", x, 1, { device = gpu.device() })
    refuses("expected sizes of 0 or more, got -1", 3, { 2, -1 })
    refuses("expected a shape: a table or a number, got 1.5", 3, 1.5)
    refuses("expected replace = true or false, got 0", 3, 1, { replace = 0 })
    refuses("axis 2 is out of range for an array of 1 dimension", x, 1, { axis = 2 })
    fails("[random.permutation] expected an array or a number of items, got 1.5", function() return random.permutation(1.5) end)
    fails("[random.permutation] axis 1 is out of range", function() return random.permutation(gpu.array(1)) end)
    fails("[random.shuffle_] expected an array, got 3", function() return random.shuffle_(3) end)
    local message = fails("[random.shuffle_] expected the options axis and generator", function()
      local result = x:shuffle_({ p = 1 })
      return result
    end)
    assert.is_truthy(message:find("sampling_spec.lua:", 1, true), message)
  end)
end)
