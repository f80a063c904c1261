-- What programs ask for most, at a small size and a large one: the kernels of a GPU depend on little else than operations, dtypes and
-- axes. `make kernels` runs it to learn which kernels to ship.
local gpu = require "gpu"

local function each(values, use) for _, value in ipairs(values) do use(value) end end

--- A vector and a matrix of each size, of positive numbers.
local function sizes(dtype, use)
  each({1000, 2000000}, function(n)
    local x = (gpu.arange(n, {dtype = dtype}) % 50 + 1):eval()
    use(x, (gpu.arange(n, {dtype = dtype}) % 7 + 1):eval(), x:reshape(n / 250, 250))
  end)
end

-- ---- creation ----
each({"float32", "float64", "int32", "int64", "bool"}, function(dtype)
  each({gpu.zeros, gpu.ones}, function(make) make({2, 1000}, dtype):eval() end)
  gpu.full({1000}, 1, dtype):eval()
end)
each({"float32", "float64", "int32", "int64"}, function(dtype)
  gpu.arange(1000, {dtype = dtype}):eval()
  gpu.range(1, 1000, {dtype = dtype}):eval()
  gpu.eye(20, {dtype = dtype}):eval()
end)
each({"float32", "float64"}, function(dtype)
  gpu.linspace(0, 1, 1000, {dtype = dtype}):eval()
  each({1000, 2000001}, function(n)
    gpu.rand(n, {dtype = dtype}):eval()
    gpu.randn(n, {dtype = dtype}):eval()
    gpu.random.uniform({n}, 2, 3, {dtype = dtype}):eval()
    gpu.random.normal({n}, 2, 3, {dtype = dtype}):eval()
    each({gpu.rand, gpu.randn}, function(draw)
      local z = draw(n, {dtype = dtype})
      each({z * 2, z * 2 + 1, 1 + z * 2, 2 * z - 1}, function(scaled) scaled:eval() end)
    end)
  end)
  gpu.random.exponential({1000}, 2, {dtype = dtype}):eval()
end)
gpu.random.integers({1000}, 1, 10):eval()
gpu.random.permutation(1000):eval()

-- ---- elementwise ----
local binary = {"add", "subtract", "multiply", "divide", "maximum", "minimum", "power"}
local comparisons = {"eq", "ne", "lt", "le", "gt", "ge"}
local unary = {"negative", "abs", "square", "sqrt", "exp", "log", "sin", "cos", "tanh", "floor"}
each({"float32", "float64", "int32", "int64"}, function(dtype)
  local floats = dtype:find "float" ~= nil
  sizes(dtype, function(x, y, m)
    each(binary, function(name)
      gpu[name](x, y):eval()
      gpu[name](x, 3):eval()
      gpu[name](3, x):eval()
    end)
    each({x % 3, x + y * 2, x * 2 + 1, (x - 3) * 2, x * y + x, x * x + y * y, 1 - x, -x * 2, x / 2 + 1}, function(z) z:eval() end)
    each(comparisons, function(name)
      gpu[name](x, y):eval()
      gpu[name](x, 3):eval()
      gpu.where(gpu[name](x, y), x, y):eval()
      gpu.where(gpu[name](x, 3), x, y):eval()
      gpu.where(gpu[name](x, 3), x, 0):eval()
      gpu[name](x, 3):sum():eval()
    end)
    each(floats and unary or {"negative", "abs", "square"}, function(name)
      gpu[name](x):eval()
      gpu[name](m):eval()
    end)
    if floats then
      each({"tan", "asin", "atan", "log10", "log2", "log1p", "expm1", "sigmoid", "round", "ceil", "sign", "isnan"}, function(name)
        gpu[name](x):eval()
      end)
      each({gpu.exp(-x), gpu.exp(-x * x / 2), gpu.sqrt(x * x + y * y), gpu.sin(x) * gpu.cos(y), 1 / (1 + gpu.exp(-x)), gpu.abs(x - y),
            (x - y):square(), gpu.log(x + 1), gpu.clip(x, 2, 8), gpu.atan2(x, y), gpu.isfinite(x)}, function(z) z:eval() end)
    end
    each({"float32", "float64", "int32", "int64", "bool"}, function(to) x:astype(to):eval() end)

    -- ---- rows, columns, views ----
    local row, column = m[1]:copy(), m(":", {1, 1}):copy()
    each({m + row, m * row, m - row, m / row, m + column, m * column, m - column, m / column, row + column, row * column},
      function(z) z:eval() end)
    each({m.T:copy(), m.T + 1, x({1, 500}):copy(), x({1, 500}) + y({501, 1000}), m(":", {2, 5}):copy(), gpu.concat {x, y},
          gpu.stack {x, y}, gpu.roll(x, 1), gpu.diff(x), gpu.flip(x), gpu.tile(row, 2), row:sum() + row},
      function(z) z:eval() end)

    -- ---- reductions ----
    each({"sum", "mean", "prod", "max", "min", "argmax", "argmin", "any", "all", "count_nonzero", "var", "std"}, function(name)
      if (name == "var" or name == "std") and not floats then return end
      x[name](x):eval()
      each({1, 2}, function(axis)
        m[name](m, axis):eval()
        m[name](m, axis, {keepdims = true}):eval()
      end)
    end)
    each({(x * y):sum(), (x * x):sum(), (x - y):sum(), (x - y):abs():max(), (x + y):mean(), (x * x):mean(), (x - y):square():mean(),
          x:abs():sum(), x:dot(y)}, function(z) z:eval() end)
    each({m - m:mean(1), m - m:mean(2, {keepdims = true}), m / m:sum(2, {keepdims = true}), m - m:max(2, {keepdims = true})},
      function(z) z:eval() end)
    if floats then
      gpu.eval(x:mean(), x:std())
      gpu.eval(x:min(), x:max())
      gpu.eval(m:mean(1), m:std(1))
      each({gpu.isfinite(x):all(), gpu.isnan(x):any(), x:norm(), gpu.softmax(m, 2), gpu.logsumexp(m, 2), (m - m:mean(1)) / m:std(1),
            (m - m:mean(2, {keepdims = true})) / m:std(2, {keepdims = true}), gpu.exp(x):sum(), gpu.sqrt((x - y):square():sum())},
        function(z) z:eval() end)
    end

    -- ---- scans, order, selection ----
    x:cumsum():eval()
    m:cumsum(1):eval()
    m:cumsum(2):eval()
    x:cumprod():eval()
    gpu.sort(x):eval()
    gpu.argsort(x):eval()
    gpu.sort(m, 2):eval()
    x[x:gt(3)]:eval()
    x[x:lt(y)]:eval()
    x[gpu.argsort(y)]:eval()
    local positions = gpu.range(1, 3, {dtype = "int64"}):eval()
    each({m(positions), x(positions), m(":", positions)}, function(z) z:eval() end)
    each({x:eq(y):all(), x:ne(y):any(), x:eq(y):sum(), x:gt(y):sum(), x:gt(3):any(), x:gt(3):all(), x:gt(3):mean(), x:astype "bool":sum()},
      function(z) z:eval() end)
    gpu.unique(x):eval()
    gpu.searchsorted(gpu.sort(x), y):eval()
    gpu.bincount(x:astype "int64"):eval()
    if floats then
      gpu.histogram(x, 20):eval()
      gpu.median(x):eval()
      gpu.quantile(x, 0.9):eval()
    end
    gpu.topk(x, 5)

    -- ---- writes ----
    local z = x:copy()
    z:copy_(x * 2)
    z:fill_(1)
    z[z:gt(3)] = 0
    z({1, 500}):fill_(2)
    z[3] = 4
    z:copy_(z + x)
    z:eval()
    tostring(x)
    tostring(m)
    gpu.sync()
  end)
end)
