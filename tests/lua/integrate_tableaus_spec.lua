-- The coefficients of gpu.integrate's Runge-Kutta methods: the conditions of order of all rooted trees, for the steps, for what they are
-- compared with, and for the dense output.
local folder = debug.getinfo(1, "S").source:match "^@(.*)/[^/]*$" or "."
local tableaus = assert(loadfile(folder .. "/../../library/integrate/tableaus.lua"))()

--- All rooted trees of `n` nodes: lists of subtrees, whose own order and number in the list of their order never rise.
local trees = {}
local function trees_of(n)
  if trees[n] then return trees[n] end
  local list = {}
  local function add(left, order, number, children)
    if left == 0 then
      list[#list + 1] = { unpack(children) }
      return
    end
    for m = math.min(left, order), 1, -1 do
      local subtrees = trees_of(m)
      for k = m == order and math.min(number, #subtrees) or #subtrees, 1, -1 do
        children[#children + 1] = subtrees[k]
        add(left - m, m, k, children)
        children[#children] = nil
      end
    end
  end
  add(n - 1, n - 1, math.huge, {})
  for _, tree in ipairs(list) do
    tree.order, tree.density = n, n
    for _, child in ipairs(tree) do tree.density = tree.density * child.density end
  end
  trees[n] = list
  return list
end

--- The elementary weights of a tree at each stage, and the same with absolute values, which bounds what rounding does.
local function weights(tree, rows, stages)
  local value, size = {}, {}
  for i = 1, stages do value[i], size[i] = 1, 1 end
  for _, child in ipairs(tree) do
    local inner, inner_size = weights(child, rows, stages)
    for i = 1, stages do
      local sum, sum_size = 0, 0
      for j = 1, stages do
        local a = rows[i][j] or 0
        sum, sum_size = sum + a * inner[j], sum_size + math.abs(a) * inner_size[j]
      end
      value[i], size[i] = value[i] * sum, size[i] * sum_size
    end
  end
  return value, size
end

--- The greatest error in the conditions of weights b for a step of the part s, in roundings of their terms.
local function greatest_error(b, rows, order, s)
  local worst = 0
  for n = 1, order do
    for _, tree in ipairs(trees_of(n)) do
      local value, size = weights(tree, rows, #rows)
      local sum, bound = -s ^ n / tree.density, 0
      for i = 1, #rows do
        sum, bound = sum + (b[i] or 0) * value[i], bound + math.abs(b[i] or 0) * size[i]
      end
      worst = math.max(worst, math.abs(sum) / bound)
    end
  end
  return worst / 2 ^ -52
end

describe("rooted trees", function()
  it("are as many as there are", function()
    local counts = {}
    for n = 1, 8 do counts[n] = #trees_of(n) end
    assert.are.same({ 1, 1, 2, 4, 9, 20, 48, 115 }, counts)
  end)
end)

for name, order in pairs { RK45 = { 5, 4, 4 }, Tsit5 = { 5, 4, 4 }, DOP853 = { 8, 5, 7 } } do
  local t = tableaus[name]
  local rows, stages = { {} }, #t.a + 1
  for i, row in ipairs(t.a) do rows[i + 1] = row end
  for i, row in ipairs(t.extra_a or {}) do rows[stages + i] = row end
  local b = t.a[#t.a]
  local function minus(e)
    local difference = {}
    for i = 1, stages do difference[i] = (b[i] or 0) - (e[i] or 0) end
    return difference
  end

  describe(name, function()
    it("has stages at the sums of their rows", function()
      for i, row in ipairs(t.a) do
        local sum, size = -t.c[i], 0
        for j = 1, stages do sum, size = sum + (row[j] or 0), size + math.abs(row[j] or 0) end
        assert.is_true(math.abs(sum) < 4 * 2 ^ -52 * size, i)
      end
      for i, row in ipairs(t.extra_a or {}) do
        local sum, size = -t.extra_c[i], 0
        for j = 1, #rows do sum, size = sum + (row[j] or 0), size + math.abs(row[j] or 0) end
        assert.is_true(math.abs(sum) < 4 * 2 ^ -52 * size, i)
      end
    end)

    it("has steps of its order, and no higher one", function()
      assert.are.equal(order[1], t.order)
      assert.is_true(greatest_error(b, rows, order[1], 1) < 8)
      assert.is_true(greatest_error(b, rows, order[1] + 1, 1) > 1e6)
    end)

    it("compares them with steps of a lower order", function()
      assert.is_true(greatest_error(minus(t.e), rows, order[2], 1) < 8)
      assert.is_true(greatest_error(minus(t.e), rows, order[2] + 1, 1) > 1e6)
      if t.e3 then assert.is_true(greatest_error(minus(t.e3), rows, 3, 1) < 8) end
    end)

    it("has a dense output of its order", function()
      for _, s in ipairs { 0.125, 0.4, 0.85, 1 } do
        -- The weights of y + s (u1 + (1 - s) (u2 + ...)), multiplied out.
        local factors, factor, weights_at = {}, 1, {}
        for i = 1, 3 + #t.d do
          factor = factor * (i % 2 == 1 and s or 1 - s)
          factors[i] = factor
        end
        for j = 1, #rows do
          local first, last = j == 1 and 1 or 0, j == stages and 1 or 0
          local bj = b[j] or 0
          local sum = factors[1] * bj + factors[2] * (first - bj) + factors[3] * (2 * bj - first - last)
          for i, row in ipairs(t.d) do sum = sum + factors[3 + i] * (row[j] or 0) end
          weights_at[j] = sum
        end
        assert.is_true(greatest_error(weights_at, rows, order[3], s) < 64, s)
      end
    end)
  end)
end
