-- Windows by covariances, functions and exponential weights against pandas (tests/golden/arrays/windows.py), and by plain loops.
local gpu = require "gpu"
local support = require "support"
local fails, near = support.fails, support.near
local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/"

local file = assert(gpu.load(folder .. "/golden/arrays/windows.npz"))
local cases = file.window.size

--- name -> a list with the vector of each case.
local vectors = setmetatable({}, {__index = function(cache, name)
  local at, list = 0, {}
  for i, size in ipairs(file[name .. "_sizes"]:table()) do
    list[i] = file[name]({at + 1, at + size})
    at = at + size
  end
  cache[name] = list
  return list
end})

--- Fails unless the values are those of pandas: NaN for NaN, and others near, measured by the greatest.
local function same(name, i, got, tolerance)
  local want = vectors[name][i]
  assert(want.size == got.size, name)
  local absent = want:isnan()
  assert(gpu.array_equal(absent, got:isnan()), ("%s of case %d: other values are missing"):format(name, i))
  local scale = gpu.where(absent, 0, want):abs():max():item()
  local off = gpu.where(absent, 0, want - got):abs():max():item()
  assert(off <= (tolerance or 1e-12) * math.max(scale, 1e-300), ("%s of case %d: off by %g of %g"):format(name, i, off, scale))
end

local function spread(w) return gpu.nanmax(w, -1) - gpu.nanmin(w, -1) end

describe("windows, as in pandas,", function()
  it("are of a column of a matrix, too", function()
    local m = gpu.random.generator("philox", {seed = 3}):normal({200, 3}, 0, 1, "float64"):eval()
    local column = m(":", 2)
    local plain = column:copy()
    for _, name in ipairs {"mean", "std", "median", "max"} do
      local ours, wanted = column:rolling(20), plain:rolling(20)
      assert(gpu.allclose(ours[name](ours), wanted[name](wanted), {equal_nan = true}), name)
    end
    assert(gpu.allclose(column:expanding():mean(), plain:expanding():mean()))
  end)

  it("have covariances and correlations with another vector", function()
    for i = 1, cases do
      local x, y, keys, window = vectors.x[i], vectors.y[i], vectors.keys[i], vectors.window[i][1]
      local rolls = x:rolling(window, {min_periods = 2})
      same("cov", i, rolls:cov(y), 1e-11)
      same("corr", i, rolls:corr(y), 1e-8) -- pandas' running sums leave some digits
      same("expanding_cov", i, x:expanding():cov(y, {ddof = 0}), 1e-11)
      same("cov_by", i, x:rolling(window, {min_periods = 2, by = keys}):cov(y), 1e-11)
    end
  end)

  it("have what a function makes of them", function()
    for i = 1, cases do
      local x, keys, window = vectors.x[i], vectors.keys[i], vectors.window[i][1]
      same("apply", i, x:rolling(window, {min_periods = 1}):apply(spread))
      same("apply_by", i, x:rolling(window, {min_periods = 1, by = keys}):apply(spread))
    end
  end)

  it("have exponential weights", function()
    for i = 1, cases do
      local x, keys, speed = vectors.x[i], vectors.keys[i], vectors.speed[i][1]
      for adjust = 0, 1 do
        for ignore_na = 0, 1 do
          local fading = x:ewm {span = speed, adjust = adjust == 1, ignore_na = ignore_na == 1, min_periods = 2}
          local name = ("ewm_%d%d_"):format(adjust, ignore_na)
          same(name .. "mean", i, fading:mean())
          same(name .. "var", i, fading:var(), 1e-6) -- where one value has nearly all weight, pandas has few digits
          same(name .. "std", i, fading:std {ddof = 0}, 1e-6)
        end
      end
      same("com", i, x:ewm {com = speed}:mean())
      same("halflife", i, x:ewm {halflife = speed, by = keys}:mean())
    end
  end)
end)

describe("windows", function()
  it("of a million values have covariances and weights of plain loops", function()
    local n, window, alpha = 2 ^ 20 + 3, 1000, 0.01
    local x = gpu.arange(n, "float64") * 0.7 % 13 + 1e6
    local y = gpu.arange(n, "float64") * 1.3 % 7
    local xs, ys = x:table(), y:table()
    local cov, corr, mean = x:rolling(window):cov(y):table(), x:rolling(window):corr(y):table(), x:ewm {alpha = alpha, adjust = false}:mean():table()
    for _, row in ipairs {window, 4097, 500000, n} do
      local a, b, c, p, q = 0, 0, 0, 0, 0
      for i = row - window + 1, row do a, b = a + (xs[i] - 1e6) / window, b + ys[i] / window end
      for i = row - window + 1, row do
        local s, t = xs[i] - 1e6 - a, ys[i] - b
        c, p, q = c + s * t, p + s * s, q + t * t
      end
      near(c / (window - 1), cov[row], 1e-9)
      near(c / math.sqrt(p * q), corr[row], 1e-9)
    end
    local want = xs[1]
    for i = 2, n do want = want + alpha * (xs[i] - want) end
    near(want, mean[n], 1e-12)
    assert(cov[window - 1] ~= cov[window - 1] and x:rolling(window):cov(x)[n] > 0)
  end)

  it("forget what has left, in dtypes and devices of the vector", function()
    local x = gpu.array({1, 1 / 0, 3, 5, 4, 8}, "float32")
    local y = gpu.array({2, 1, 4, 3, 7, 6}, "float32")
    local found = x:rolling(3):corr(y)
    assert.are.equal("float32", found.dtype)
    assert.are.same({true, true, true, true, false, false}, found:isnan():table())
    near({-1 / 2}, x({3, 5}):rolling(3):cov(y({3, 5}))({3, 3}):table(), 1e-6)
    assert.are.equal("float64", gpu.array({1, 2, 4}, "int32"):ewm {span = 2}:mean().dtype)
    assert.are.equal("float64", x:rolling(2):cov(gpu.arange(6)).dtype)
    -- NaN where one of a pair is missing, and of no spread.
    assert.is_true(gpu.ones(3):rolling(2):corr(gpu.arange(3, "float32")):isnan():all():item())
    assert.are.same({1, 1.5}, gpu.array {1, 2}:ewm {com = 1, adjust = false}:mean():table())
    assert.are.same({3}, gpu.array {3}:ewm {alpha = 1}:mean():table())
    -- The weights of what is long ago are zero.
    local gap = gpu.full(3000, 0 / 0, "float64")
    gap[1], gap[3000] = 7, 9
    local mean = gap:ewm {alpha = 0.5}:mean()
    assert(mean[2999] == 7 and mean[3000] == 9)
    for _, empty in ipairs {gpu.zeros(0)} do
      local rolls = empty:rolling(2)
      assert(rolls:cov(empty).size == 0 and rolls:corr(empty).size == 0 and empty:ewm {span = 2}:mean().size == 0)
      assert(rolls:apply(function(w) return w:sum(-1) end).size == 0)
    end
  end)

  it("give functions a row for each window", function()
    local x = gpu.array {1, 2, 3, 10}
    local shape
    local sums = x:rolling(3):apply(function(w)
      shape = {w.shape[1], w.shape[2]}
      return w:sum(-1)
    end)
    assert.are.same({4, 3}, shape)
    assert.are.same({true, true, false, false}, sums:isnan():table())
    assert.are.same({6, 15}, sums({3, 4}):table())
    local weights = gpu.array {0.25, 0.75}
    assert.are.same({1.75, 2.75, 8.25}, x:rolling(2):apply(function(w) return (w * weights):sum(-1) end)({2, 4}):table())
  end)

  it("say what they cannot do", function()
    local x = gpu.array {1, 2, 3}
    local day = gpu.dates {"2024-03-01", "2024-03-02", "2024-03-03"}
    fails("[apply] expected windows of a number of rows, x:rolling(n), got others", function() x:expanding():apply(spread) end)
    fails("[apply] expected windows of a number of rows, x:rolling(n), got others", function() x:rolling("2d", {on = day}):apply(spread) end)
    fails("a function that makes a real number of each row of a matrix of 3 windows", function() x:rolling(2):apply(function(w) return w:sum() end) end)
    fails("[apply] expected a function of arrays", function() x:rolling(2):apply(3) end)
    fails("[cov] expected a vector of 3 elements on the same device, got an array float32[2]", function() x:rolling(2):cov(gpu.ones(2)) end)
    fails("[corr] expected", function() x:rolling(2):corr(day) end)
    fails("[sum] expected windows of gpu.rolling or gpu.expanding, got those of gpu.ewm", function() x:ewm {span = 2}:sum() end)
    fails("[median] expected windows of gpu.rolling", function() x:ewm {span = 2}:median() end)
    fails("[corr] expected windows of gpu.rolling", function() x:ewm {span = 2}:corr(x) end)
    fails("[ewm] expected one of the options alpha, span, halflife and com, got none: x:ewm {span = 20}", gpu.ewm, x)
    fails("[ewm] expected one of alpha, span, halflife and com, got ", gpu.ewm, x, {span = 2, com = 1})
    for name, value in pairs {alpha = 0, span = 0.5, halflife = 0, com = -1} do fails("[ewm] expected " .. name .. ",", gpu.ewm, x, {[name] = value}) end
    fails('[ewm] expected halflife, a number of rows above 0, got "2d"', gpu.ewm, x, {halflife = "2d"})
  end)
end)

describe("columns of tables", function()
  local function make()
    return gpu.table({x = {3, 0 / 0, 2}, k = {1, 2, 3}, s = {"x", "y", "z"}}, {"x", "k", "s"})
  end
  local other = gpu.table {k = {1, 2, 3}, b = {7, 8, 9}}

  --- Whether a write to column k of what `fn` makes of a table is in the table.
  local function shares(fn)
    local t = make()
    local k = fn(t).k
    for i = 1, k.size do k[i] = 99 end
    return t.k:eq(99):any():item()
  end

  it("are shared as the reference says", function()
    for name, fn in pairs {
      select = function(t) return t:select("k", "s") end, join_asof = function(t) return t:join_asof(other, "k") end,
      fillna = function(t) return t:fillna(0, "x") end, assignment = function(t) return gpu.table {k = t.k} end,
    } do assert(shares(fn), name) end
    for name, fn in pairs {
      copy = function(t) return t:copy() end, head = function(t) return t:head(3) end, take = function(t) return t:take {1, 2, 3} end,
      mask = function(t) return t:take(t.k:gt(0)) end, where = function(t) return t:where("k", {1, 2, 3}) end,
      sort_by = function(t) return t:sort_by "k" end, dropna = function(t) return t:dropna() end, nothing = function(t) return t:dropna "k" end,
      fillna = function(t) return t:fillna(0) end, join = function(t) return t:join(other, "k") end,
      left = function(t) return t:join(other, "k", "left") end, outer = function(t) return t:join(other, "k", "outer") end,
      semi = function(t) return t:join(other, "k", "semi") end, concat = function(t) return gpu.concat {t} end,
      twice = function(t) return gpu.concat {t, t} end, groups = function(t) return t:group_by "k":sum() end,
    } do assert(not shares(fn), name) end
    local t = make()
    t.day = gpu.dates {"2024-03-01", "", "2024-03-03"}
    local copy = t:copy()
    assert.are.same({"x", "k", "s", "day"}, copy.names)
    assert(copy.day[3] == "2024-03-03" and copy.s[2] == "y" and copy:values("s")[3] == "z" and copy.rows == 3)
    assert.are.equal(0, gpu.table({x = {1}}):take({}):copy().rows)
  end)

  it("of integers give float64", function()
    local t = gpu.table {k = {1, 1, 2}, n = gpu.array({1, 2, 4}, "int64")}
    for _, name in ipairs {"mean", "std", "var", "median"} do
      local groups = t:group_by "k"
      assert.are.equal("float64", groups[name](groups, "n").n.dtype)
      local rolls = t.n:rolling(2)
      assert.are.equal("float64", rolls[name](rolls).dtype)
    end
    assert.are.same({"float64", "float64", "float64"}, {t.n:pct_change().dtype, t:describe().n.dtype, t.n:ewm {span = 2}:std().dtype})
    assert.are.equal("float32", (t.n * 0.5).dtype)
    gpu.default_dtype "float64"
    local found = {(t.n * 0.5).dtype, (t.n / 2).dtype, t.n:mean().dtype}
    gpu.default_dtype "float32"
    assert.are.same({"float64", "float64", "float64"}, found)
  end)
end)
