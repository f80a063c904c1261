-- gpu.random's distributions, each against its distribution function (Kolmogorov and Smirnov's test) and against numbers that
-- tests/golden/arrays/distributions.py computed, with fixed seeds.
local gpu = require "gpu"
local support = require "support"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"

local distance = support.kolmogorov_smirnov

local function normal_cdf(x) -- by its series, and 1 or 0 beyond 7
  if math.abs(x) > 7 then return x > 0 and 1 or 0 end
  local term, total = x, x
  for i = 1, 150 do
    term = -term * x * x / (2 * i)
    total = total + term / (2 * i + 1)
  end
  return 0.5 + total / math.sqrt(2 * math.pi)
end

-- Each distribution with five sets of parameters, and its distribution function.
local families = {
  { "uniform", { { -2, 5 }, { 0, 1 }, { -1e6, 1e6 }, { 3, 3.5 }, { -7, -6 } }, function(x, low, high) return (x - low) / (high - low) end },
  { "normal", { { 3, 2 }, { 0, 1 }, { -100, 0.5 }, { 1e4, 1e3 }, { 0, 1e-3 } }, function(x, mean, deviation)
    return normal_cdf((x - mean) / deviation)
  end },
  { "lognormal", { { 0.5, 0.25 }, { 0, 1 }, { -3, 2 }, { 5, 0.01 }, { 1, 3 } }, function(x, mean, deviation)
    return normal_cdf((math.log(x) - mean) / deviation)
  end },
  { "exponential", { { 2 }, { 1 }, { 1e-4 }, { 1e5 }, { 0.3 } }, function(x, scale) return 1 - math.exp(-x / scale) end },
  { "laplace", { { 1, 2 }, { 0, 1 }, { -50, 0.1 }, { 3, 1e3 }, { 0.5, 5 } }, function(x, location, scale)
    local z = (x - location) / scale
    return z < 0 and 0.5 * math.exp(z) or 1 - 0.5 * math.exp(-z)
  end },
  { "logistic", { { 1, 2 }, { 0, 1 }, { -50, 0.1 }, { 3, 1e3 }, { 0.5, 5 } }, function(x, location, scale)
    return 1 / (1 + math.exp(-(x - location) / scale))
  end },
  { "gumbel", { { 1, 2 }, { 0, 1 }, { -50, 0.1 }, { 3, 1e3 }, { 0.5, 5 } }, function(x, location, scale)
    return math.exp(-math.exp(-(x - location) / scale))
  end },
  { "rayleigh", { { 2 }, { 1 }, { 1e-3 }, { 1e4 }, { 0.7 } }, function(x, scale) return 1 - math.exp(-x * x / (2 * scale * scale)) end },
  { "weibull", { { 1.5 }, { 1 }, { 0.3 }, { 10 }, { 3.6 } }, function(x, shape) return 1 - math.exp(-x ^ shape) end },
  { "pareto", { { 3 }, { 1 }, { 0.5 }, { 20 }, { 7 } }, function(x, shape) return 1 - (1 + x) ^ -shape end },
  { "power", { { 2.5 }, { 1 }, { 0.2 }, { 30 }, { 0.9 } }, function(x, exponent) return x ^ exponent end },
  { "triangular", { { -1, 0, 3 }, { 0, 0.5, 1 }, { 2, 2, 5 }, { -4, 1, 1 }, { 0, 1, 100 } }, function(x, left, mode, right)
    if x < mode then return (x - left) ^ 2 / ((right - left) * (mode - left)) end
    return right == mode and 1 or 1 - (right - x) ^ 2 / ((right - left) * (right - mode))
  end },
}

local n = 20000
local cases, first_of = {}, {} -- all, and each distribution's first one
for _, family in ipairs(families) do
  for i, parameters in ipairs(family[2]) do
    local case = { family[1], parameters, function(x) return family[3](x, unpack(parameters)) end }
    if i == 1 then first_of[family[1]] = case end
    cases[#cases + 1] = case
  end
end

describe("distributions", function()
  it("are what they are called", function()
    for i, case in ipairs(cases) do
      local name, parameters, cdf = unpack(case)
      gpu.random.seed(1000 + i)
      local x = gpu.random[name](n, unpack(parameters))
      assert.are.equal("float32", x.dtype)
      local d = distance(x, cdf)
      assert(d < 2.2, ("%s(%s): %.3f"):format(name, table.concat(parameters, ", "), d)) -- passed but once in 10,000
      assert(gpu.isnan(x):any():item() == false, name)
    end
    gpu.random.seed(77)
    assert(distance(gpu.random.normal({ 100, 200 }, 3, 2, "float64"):reshape(n), first_of.normal[3]) < 1.95)
    assert(distance(gpu.random.exponential(n, 2, { dtype = "float64" }), first_of.exponential[3]) < 1.95)
  end)

  it("have parameters that are arrays", function()
    gpu.random.seed(8)
    local means = gpu.array { { 0 }, { 100 } }
    local x = gpu.random.normal({ 2, 10000 }, means, gpu.array { { 1 }, { 3 } })
    support.near({ 0, 100 }, x:mean(2):table(), 0.05)
    support.fails("[random.normal] expected parameters that broadcast to (3,), got one of (2,1)", gpu.random.normal, 3, means)
  end)

  it("give true as often as they should", function()
    gpu.random.seed(2)
    local b = gpu.random.bernoulli(100000, 0.3)
    assert.are.equal("bool", b.dtype)
    assert(math.abs(b:astype("float64"):mean():item() - 0.3) < 0.006)
    assert.are.equal(0, gpu.random.bernoulli(1000, 0):astype("int32"):sum():item())
    assert.are.equal(1000, gpu.random.bernoulli(1000, 1):astype("int32"):sum():item())
  end)

  it("come from a generator, by option or as its methods", function()
    local a, b = gpu.random.generator("philox", { seed = 3 }), gpu.random.generator("philox", { seed = 3 })
    for _, case in ipairs(cases) do
      local name, parameters = unpack(case)
      parameters = { unpack(parameters) }
      local mine = a[name](a, 5, unpack(parameters)):table()
      parameters[#parameters + 1] = { generator = b }
      assert.are.same(mine, gpu.random[name](5, unpack(parameters)):table())
    end
    assert.are.same(a:integers(5, 10):table(), gpu.random.integers(5, 10, { generator = b }):table())
    assert.are.same(a:state(), b:state())
  end)

  it("check their parameters", function()
    local r = gpu.random
    support.fails("[random.normal] expected a standard deviation that is not negative, got -1", r.normal, 3, 0, -1)
    support.fails("[random.normal] expected a finite number or an array, got NaN", r.normal, 3, 0 / 0)
    support.fails("[random.exponential] expected a scale that is not negative", r.exponential, 3, -2)
    support.fails("[random.weibull] expected a shape and 1 parameter, got 0", r.weibull, 3)
    support.fails("[random.bernoulli] expected a probability, got 2", r.bernoulli, 3, 2)
    support.fails("[random.uniform] expected a floating-point dtype, got int32", r.uniform, 3, 0, 1, "int32")
    support.fails("[random.uniform] expected the options dtype, device and generator", r.uniform, 3, 0, 1, { seed = 1 })
    support.fails("[random.uniform] expected one shape and at most 2 parameters, got 4 arguments; a shape of several sizes is "
      .. "a table, gpu.random.uniform({2, 3}, ...)", r.uniform, 3, 0, 1, 2)
    support.fails("[random.standard_normal] expected one shape and no parameters, got 2 arguments; a shape of several sizes is a table, "
      .. "gpu.random.standard_normal({2, 3})", r.standard_normal, 1000, 4)
    local generator = r.generator "philox"
    support.fails("[random.uniform] expected the option generator only with gpu.random.uniform", generator.uniform, generator, 3,
      { generator = generator })
  end)

  it("name the element of an array outside of a parameter's domain, without a wait", function()
    local random, nan = gpu.random, 0 / 0
    local zero, half = gpu.zeros(2), gpu.full({2}, 0.5)
    local cases = {
      {"standard deviation that is not negative, got -1 in element 2", random.normal, 0, {0, -1}},
      {"standard deviation that is not negative, got nan in element 1", random.lognormal, 0, {nan, 1}},
      {"scale that is not negative, got -2 in element 2", random.exponential, {1, -2}},
      {"shape parameter of 0 or more, got -1 in element 2", random.gamma, {0, -1}},
      {"first parameter above 0, got 0 in element 2", random.beta, {1, 0}, half},
      {"mean from 0 to 9.22e18, got -3 in element 1", random.poisson, {-3, 1}},
      {"probability, got 1.5 in element 2", random.bernoulli, {1, 1.5}},
      {"probability, got -0.5 in element 1", random.binomial, 3, {-0.5, 0}},
      {"number of trials from 0 to 2^53, got 2.5 in element 2", random.binomial, {2, 2.5}, 0.5},
      {"number of trials from 0 to 2^53, got 1e+18 in element 2", random.binomial, {2, 1e18}, 0.5},
      {"mean from 0 to 9.22e18, got 1e+19 in element 2", random.poisson, {1, 1e19}},
      {"number of trials from 0 to 2^53, got 1e+17 in element 1", random.multinomial, {1e17, 5}, {0.5, 0.5}},
      {"probability above 0, got 0 in element 1", random.geometric, {0, 1}},
      {"probability below 1, got 1 in element 2", random.logseries, {0.5, 1}},
      {"exponent above 1, got 1 in element 2", random.zipf, {2, 1}},
      {"parameters above 0, got -1 in element 2", random.dirichlet, {1, -1}},
    }
    for _, case in ipairs(cases) do
      local expected, fn, parameters = case[1], case[2], {unpack(case, 3)}
      for i, value in ipairs(parameters) do
        if type(value) == "table" then parameters[i] = gpu.array(value, "float64") end
      end
      local line = debug.getinfo(1, "l").currentline + 1
      local x = fn({2}, unpack(parameters))
      local ok, message = pcall(x.table, x)
      assert.is_false(ok)
      assert.is_truthy(message:find("expected .*" .. expected:gsub("%p", "%%%0") .. " of an array"), message)
      assert.is_truthy(message:find("queued at .*random_distributions_spec.lua:" .. line), message)
      ok = pcall(gpu.sync)
      assert.is_true(ok) -- it was told
    end
    -- The array itself stays readable, and numbers at the ends of the domain are valid.
    local scale = gpu.array {1, -1}
    assert.is_false(pcall(function() return gpu.random.normal({2}, 0, scale):sum():item() end))
    assert.are.same({1, -1}, scale:table())
    assert.are.same({0, 0}, gpu.random.normal({2}, 0, zero):table())
    assert.are.same({true, false}, gpu.random.bernoulli({2}, gpu.array {1, 0}):table())
    assert.are.same({0, 0}, gpu.random.gamma({2}, zero):table())
    assert.has_error(function() gpu.random.triangular({2}, 3, 2, 5) end)
    -- In expressions, which become part of the kernel, the numbers of such elements are NaN.
    local lazy = gpu.random.normal({2}, 0, scale * 1):table()
    assert.is_true(lazy[1] == lazy[1] and lazy[2] ~= lazy[2])
    assert.are.same({0, 0}, gpu.random.poisson({2}, gpu.array {0, -3} - 0):table())
    assert.is_true(gpu.random.triangular({2}, 1, gpu.array {0, 0}, 2):isnan():all():item())
    local fused = gpu.fuse(function(s) return gpu.random.normal({2}, 0, s) end)
    for _ = 1, 3 do
      local x = fused(gpu.array {-1, 0})
      assert.is_true(x[1] ~= x[1] and x[2] == 0)
    end
  end)

  it("say so where the shape comes last, as in NumPy", function()
    local r = gpu.random
    support.fails("[random.normal] expected the shape first, as in gpu.random.normal(5, 0, 1), got 0 first; {0} is a shape without elements",
      r.normal, 0, 1, 5)
    support.fails("as in gpu.random.normal({2, 3}, 10, 1), got 10 first", r.normal, 10, 1, { 2, 3 })
    support.fails("as in gpu.random.uniform(3, -1, 1), got -1 first", r.uniform, -1, 1, 3)
    support.fails("as in gpu.random.exponential(1000, 0.5), got 0.5 first", r.exponential, 0.5, 1000)
    support.fails("as in gpu.random.integers(5, 0, 10), got 0 first", r.integers, 0, 10, 5)
    support.fails("as in gpu.random.integers(1, 0, 10), got 0 first", r.integers, 0, 10)
    support.fails("as in gpu.random.integers({2, 2}, 0, 10), got 0 first", r.integers, 0, 10, { 2, 2 })
    assert.are.equal(0, r.normal(0).size)
    assert.are.equal(0, r.normal({ 0 }, 0, 1).size)
    assert.are.equal(5, r.integers(5, 10, { dtype = "int8" }).size)
  end)
end)

describe("the numbers", function()
  local golden = assert(gpu.load(folder .. "/golden/arrays/distributions.npz", { device = "cpu" }))
  local all = { { "bernoulli", { 0.3 } }, { "integers", { -5, 1000 } } }
  for _, family in ipairs(families) do all[#all + 1] = first_of[family[1]] end

  local function draw(case, options)
    gpu.random.seed(2026)
    local name, parameters = unpack(case)
    parameters = { unpack(parameters) }
    parameters[#parameters + 1] = options
    return gpu.random[name](1000, unpack(parameters))
  end
  local function compare(expected, x, what)
    assert.are.equal(expected.dtype, x.dtype, what)
    if x.dtype == "float32" then return support.near(expected:table(), x:table(), 3e-6, what) end
    assert.are.same(expected:table(), x:table(), what)
  end

  it("are the known ones", function()
    for _, case in ipairs(all) do compare(golden[case[1]], draw(case), case[1]) end
    gpu.random.seed(2026)
    assert.are.same(golden.uniform_float64:table(), gpu.rand(1000, "float64"):table())
  end)

  it("are the same operation by operation and as part of a larger kernel", function()
    for _, case in ipairs(all) do
      local fused = draw(case):astype "float64" * 2 + gpu.arange(1000, "float64")
      assert(gpu.explain(fused):find "^1 kernel\n", case[1])
      gpu.eager(true)
      local ok, alone = pcall(draw, case)
      gpu.eager(false)
      assert(ok, alone)
      support.near(alone:astype("float64"):table(), ((fused - gpu.arange(1000, "float64")) / 2):table(), 3e-6, case[1])
    end
  end)

  it("are the same on the cpu device and on a GPU", function()
    local cuda
    for _, device in ipairs(gpu.devices()) do cuda = cuda or device.kind == "cuda" and device.name end
    if not cuda then return pending "there is no GPU" end
    for _, case in ipairs(all) do
      local name = case[1]
      local on_gpu = draw(case, { device = cuda })
      assert.are.equal(cuda, on_gpu.device)
      -- Without its compiler the cpu device cannot run this; the golden numbers replace it.
      local ok, on_cpu = pcall(function() return draw(case, { device = "cpu" }):eval() end)
      if not ok and not tostring(on_cpu):find("the cpu device compiles kernels with clang", 1, true) then error(on_cpu) end
      compare(ok and on_cpu or golden[name], on_gpu, name)
    end
  end)
end)

describe("integers", function()
  it("are equally probable", function()
    gpu.random.seed(6)
    local count, sides = 60000, 6
    for _, dtype in ipairs { "int64", "int32", "uint8" } do
      local x = gpu.random.integers(count, 1, sides + 1, dtype)
      assert.are.equal(dtype, x.dtype)
      local chi, total = 0, 0
      for side = 1, sides do
        local seen = x:eq(side):astype("int32"):sum():item()
        chi, total = chi + (seen - count / sides) ^ 2 / (count / sides), total + seen
      end
      assert.are.equal(count, total)
      assert(chi < 20.5, chi) -- passed once in a thousand, with 5 degrees of freedom
    end
  end)

  it("reach both ends of the range, and of the dtype", function()
    local x = gpu.random.integers({ 100, 100 }, -3, 3, { endpoint = true }):eval()
    assert.are.equal(-3, x:min():item())
    assert.are.equal(3, x:max():item())
    local y = gpu.random.integers(10000, -128, 128, "int8"):eval()
    assert.are.equal(-128, y:min():item())
    assert.are.equal(127, y:max():item())
    assert.are.equal(0, gpu.random.integers(100, 1):max():item())
  end)

  it("do not depend on what computes them", function()
    gpu.random.seed(4)
    local whole = gpu.random.integers(101, 1000, "int32"):table()
    gpu.random.seed(4)
    assert.are.same(whole, (gpu.random.integers(101, 1000, "int32") + gpu.zeros(101, "int32")):table())
    gpu.random.seed(4)
    assert.are.equal(math.max(unpack(whole)), gpu.random.integers(101, 1000, "int32"):max():item())
  end)

  it("check what they are given", function()
    support.fails("[random.integers] expected a range of at least one integer, got 0 to -1; the first argument is the shape", gpu.random.integers, 3, 0)
    support.fails("[random.integers] expected an integer dtype, got float32", gpu.random.integers, 3, 5, "float32")
    support.fails("300", gpu.random.integers, 3, 0, 301, "uint8")
    support.fails("[random.integers] expected an integer for the end of the range", gpu.random.integers, 3, 0.5)
  end)
end)
