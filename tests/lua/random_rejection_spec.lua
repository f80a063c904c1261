-- Distributions that draw until a number fits, and those made of them, against their distribution functions (Kolmogorov and
-- Smirnov's test) and probabilities (chi-square tests).
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local r = gpu.random

local pi, exp, sqrt = math.pi, math.exp, math.sqrt

local function normal_cdf(x) -- by its series, and 1 or 0 beyond 7
  if math.abs(x) > 7 then return x > 0 and 1 or 0 end
  local term, total = x, x
  for i = 1, 150 do
    term = -term * x * x / (2 * i)
    total = total + term / (2 * i + 1)
  end
  return 0.5 + total / sqrt(2 * pi)
end

--- The distribution function of a density on an interval, by the trapezoidal rule.
local function integrated(density, low, high)
  local steps, sums = 2000, { [0] = 0 }
  local width = (high - low) / steps
  for i = 1, steps do sums[i] = sums[i - 1] + (density(low + (i - 1) * width) + density(low + i * width)) / 2 end
  return function(x)
    local at = math.min(math.max((x - low) / width, 0), steps - 1e-9)
    local i = math.floor(at)
    return (sums[i] + (at - i) * (sums[i + 1] - sums[i])) / sums[steps]
  end
end

local distance = support.kolmogorov_smirnov

--- Of the sum of k exponential numbers.
local function erlang(k)
  return function(x)
    local term, total = 1, 1
    for i = 1, k - 1 do
      term = term * x / i
      total = total + term
    end
    return 1 - exp(-x) * total
  end
end

local function cauchy(location, scale) return function(x) return 0.5 + math.atan((x - location) / scale) / pi end end

local function wald(mean, scale)
  return function(x)
    local root = sqrt(scale / x)
    return normal_cdf(root * (x / mean - 1)) + exp(2 * scale / mean) * normal_cdf(-root * (x / mean + 1))
  end
end

local continuous = {
  { "gamma", { 3, 2 }, function(x) return 1 - exp(-x / 2) * (1 + x / 2 + x * x / 8) end },
  { "gamma", { 0.5 }, function(x) return 2 * normal_cdf(sqrt(2 * x)) - 1 end },
  { "gamma", { 1, 3 }, function(x) return 1 - exp(-x / 3) end },
  { "gamma", { 2, 0.1 }, function(x) return 1 - exp(-10 * x) * (1 + 10 * x) end },
  { "gamma", { 12, 1 }, erlang(12) },
  { "chisquare", { 4 }, function(x) return 1 - exp(-x / 2) * (1 + x / 2) end },
  { "chisquare", { 1 }, function(x) return 2 * normal_cdf(sqrt(x)) - 1 end },
  { "chisquare", { 2 }, function(x) return 1 - exp(-x / 2) end },
  { "chisquare", { 10 }, function(x) return erlang(5)(x / 2) end },
  { "chisquare", { 60 }, function(x) return erlang(30)(x / 2) end },
  { "beta", { 2, 3 }, function(x) return 6 * x ^ 2 - 8 * x ^ 3 + 3 * x ^ 4 end },
  { "beta", { 0.5, 0.5 }, function(x) return 2 / pi * math.asin(sqrt(x)) end },
  { "beta", { 0.25, 1 }, function(x) return x ^ 0.25 end },
  { "beta", { 1, 7 }, function(x) return 1 - (1 - x) ^ 7 end },
  { "beta", { 40, 1 }, function(x) return x ^ 40 end },
  { "f", { 2, 6 }, function(x) return 1 - (1 + x / 3) ^ -3 end },
  { "f", { 2, 2 }, function(x) return x / (1 + x) end },
  { "f", { 2, 40 }, function(x) return 1 - (1 + x / 20) ^ -20 end },
  { "f", { 1, 2 }, function(x) return sqrt(x / (x + 2)) end },
  { "f", { 4, 2 }, function(x) return (2 * x / (2 * x + 1)) ^ 2 end },
  { "standard_t", { 2 }, function(x) return 0.5 + x / (2 * sqrt(2 + x * x)) end },
  { "standard_t", { 1 }, function(x) return 0.5 + math.atan(x) / pi end },
  { "standard_t", { 3 }, function(x) return 0.5 + (math.atan(x / sqrt(3)) + x / sqrt(3) / (1 + x * x / 3)) / pi end },
  { "standard_t", { 4 }, function(x)
    local t = x / sqrt(4 + x * x)
    return 0.5 + 0.75 * (t - t ^ 3 / 3)
  end },
  { "standard_t", { 1e8 }, normal_cdf },
  { "cauchy", { 1, 2 }, cauchy(1, 2) },
  { "cauchy", { 0, 1 }, cauchy(0, 1) },
  { "cauchy", { -30, 0.1 }, cauchy(-30, 0.1) },
  { "cauchy", { 5, 1e3 }, cauchy(5, 1e3) },
  { "cauchy", { 0.5, 7 }, cauchy(0.5, 7) },
  { "wald", { 2, 3 }, wald(2, 3) },
  { "wald", { 1, 1 }, wald(1, 1) },
  { "wald", { 0.1, 0.5 }, wald(0.1, 0.5) },
  { "wald", { 50, 20 }, wald(50, 20) },
  { "wald", { 3, 0.2 }, wald(3, 0.2) },
  { "vonmises", { 0, 2 }, integrated(function(x) return exp(2 * math.cos(x)) end, -pi, pi) },
  { "vonmises", { 2.5, 0.7 }, integrated(function(x) return exp(0.7 * math.cos(x - 2.5)) end, -pi, pi) },
  { "vonmises", { -1, 20 }, integrated(function(x) return exp(20 * (math.cos(x + 1) - 1)) end, -pi, pi) },
  { "vonmises", { 0, 0 }, function(x) return (x + pi) / (2 * pi) end },
  { "vonmises", { 0, 1e7 }, function(x) return normal_cdf(x * sqrt(1e7)) end },
}

--- The probabilities of 0, 1, ..., from the first one and the ratio of each to the one before.
local function probabilities(first, ratio) return { first = first, ratio = ratio } end
local function poisson(mean) return probabilities(exp(-mean), function(k) return mean / k end) end
local function binomial(n, p)
  return probabilities((1 - p) ^ n, function(k) return (n - k + 1) / k * p / (1 - p) end)
end

local counts = {
  { "poisson", { 3 }, poisson(3) },
  { "poisson", { 9.99 }, poisson(9.99) },
  { "poisson", { 10 }, poisson(10) },
  { "poisson", { 40 }, poisson(40) },
  { "poisson", { 300 }, poisson(300) },
  { "binomial", { 10, 0.3 }, binomial(10, 0.3) },
  { "binomial", { 30, 0.5 }, binomial(30, 0.5) },
  { "binomial", { 100, 0.05 }, binomial(100, 0.05) },
  { "binomial", { 1000, 0.4 }, binomial(1000, 0.4) },
  { "binomial", { 200, 0.93 }, binomial(200, 0.93) },
}
for _, p in ipairs { 0.2, 0.5, 0.9, 0.03, 1 / 3 } do
  counts[#counts + 1] = { "geometric", { p }, { first = 0, second = p, ratio = function() return 1 - p end } }
end
for _, case in ipairs { { 2.5, 0.3 }, { 1, 0.5 }, { 0.4, 0.1 }, { 20, 0.8 }, { 7, 0.05 } } do
  local n, p = unpack(case)
  counts[#counts + 1] = { "negative_binomial", case, probabilities(p ^ n, function(k) return (k + n - 1) / k * (1 - p) end) }
end

--- Chi-square over counts that are expected 20 times or more, the others taken together; and the degrees of freedom.
local function chi_square(x, of)
  local seen, n = gpu.bincount(x):table(), x.size
  local p, chi, bins, rest, rest_seen = of.first, 0, 0, n, n
  for k = 0, 2000 do
    if k > 0 then p = k == 1 and of.second or p * of.ratio(k) end
    if n * p >= 20 then
      local found = tonumber(seen[k + 1] or 0)
      chi, bins = chi + (found - n * p) ^ 2 / (n * p), bins + 1
      rest, rest_seen = rest - n * p, rest_seen - found
    end
  end
  if rest > 5 then chi, bins = chi + (rest_seen - rest) ^ 2 / rest, bins + 1 end
  return chi, bins - 1
end

local all = {}
for _, cases in ipairs { continuous, counts } do
  for _, case in ipairs(cases) do all[#all + 1] = case end
end

local function draw(case, shape, options)
  local parameters = { unpack(case[2]) }
  parameters[#parameters + 1] = options
  return r[case[1]](shape, unpack(parameters))
end
local function text(case) return ("%s(%s)"):format(case[1], table.concat(case[2], ", ")) end

describe("distributions", function()
  it("have their distribution functions", function()
    for i, case in ipairs(continuous) do
      for k, dtype in ipairs { "float32", "float64" } do
        r.seed(100 * i + k)
        local x = draw(case, 10000, dtype)
        assert.are.equal(dtype, x.dtype)
        local d = distance(x, case[3])
        assert(d < 2.2, ("%s %s: %.3f"):format(text(case), dtype, d))
      end
    end
    r.seed(5)
    assert(distance(r.gamma(5000, 3, 2, "float16"), continuous[1][3]) < 1.95)
  end)

  it("have their probabilities", function()
    for i, case in ipairs(counts) do
      r.seed(i)
      local x = draw(case, 50000)
      assert.are.equal("int64", x.dtype)
      local chi, freedom = chi_square(x, case[3])
      -- Passed once in a thousand: Wilson and Hilferty's approximation.
      local limit = freedom * (1 - 2 / (9 * freedom) + 3.09 * sqrt(2 / (9 * freedom))) ^ 3
      assert(chi < limit, ("%s: %.1f of %d, limit %.1f"):format(text(case), chi, freedom, limit))
    end
  end)

  it("have their moments where parameters are large", function()
    local n = 40000
    local function check(x, mean, variance)
      x = (x:astype "float64" - mean):eval()
      assert(math.abs(x:mean():item()) < 4.5 * sqrt(variance / n), x:mean():item())
      assert(math.abs(x:var():item() / variance - 1) < 4.5 * sqrt(2 / n), x:var():item())
    end
    r.seed(1)
    check(r.gamma(n, 1e5, "float64"), 1e5, 1e5)
    check(r.gamma(n, 1e5), 1e5, 1e5)
    check(r.poisson(n, 1e6), 1e6, 1e6)
    check(r.poisson(n, 1e12), 1e12, 1e12)
    check(r.binomial(n, 1e9, 0.25), 0.25e9, 0.1875e9)
    check(r.binomial(n, 1e12, 1 - 1e-9), 1e12 - 1000, 1000)
    check(r.negative_binomial(n, 1000, 0.01), 99000, 9900000)
    check(r.beta(n, 5000, 20000, "float64"), 0.2, 0.16 / 25001)
  end)

  it("know the ends of their parameters' ranges", function()
    local function only(value, x) assert.are.same({ value, value }, { x:min():item(), x:max():item() }) end
    only(0, r.gamma(100, 0))
    only(0, r.gamma(100, 3, 0))
    only(0, r.poisson(100, 0))
    only(0, r.binomial(100, 10, 0))
    only(10, r.binomial(100, 10, 1))
    only(0, r.binomial(100, 0, 0.5))
    only(1, r.geometric(100, 1))
    only(0, r.negative_binomial(100, 3, 1))
    only(0, r.poisson(100, gpu.array { -1 } + 0))
    only(0, r.binomial(100, gpu.array { 5 }, gpu.array { 1.5 } + 0))
    local x = r.beta(10000, 0.001, 0.001)
    assert.is_false(x:isnan():any():item())
    assert.is_true(math.abs(x:mean():item() - 0.5) < 0.02)
    assert.is_true(r.gamma(3, gpu.array { -1, 0 / 0, -1 } + 0):isnan():all():item())
    assert.is_true(r.geometric(1000, 1e-300):min():item() > 1e18)
  end)

  it("have parameters that are arrays", function()
    r.seed(3)
    local shapes, scales = gpu.array { { 0.5 }, { 50 } }, gpu.array({ { 2 }, { 1 } }, "float32")
    support.near({ 1, 50 }, r.gamma({ 2, 20000 }, shapes, scales):mean(2):table(), 0.02)
    support.near({ 2, 20, 2000 }, r.poisson({ 20000, 3 }, gpu.array { 2, 20, 2000 }):mean(1):table(), 0.01)
    support.near({ 3, 300 }, r.binomial({ 2, 20000 }, gpu.array({ { 10 }, { 1000 } }, "int32"), 0.3):mean(2):table(), 0.01)
    -- A mean that is drawn, in one kernel.
    local mixed = r.poisson(40000, r.gamma(40000, 4, 2))
    assert.is_truthy(gpu.explain(mixed):find "^1 kernel\n")
    support.near(8, mixed:mean():item(), 0.03)
    support.near(24, mixed:astype("float64"):var():item(), 0.05)
    fails("expected parameters that broadcast to (3,), got one of (2,1)", r.poisson, 3, shapes)
  end)

  it("do not depend on what computes them, nor on how many are drawn", function()
    for _, case in ipairs(all) do
      r.seed(9)
      local few = draw(case, 1000):table()
      r.seed(9)
      local many = draw(case, { 3, 7000 })
      -- These use several arrays of numbers, and each array takes its part of the stream.
      if not ("f standard_t cauchy wald negative_binomial"):find(case[1]) then
        support.near(few, many:ravel()({ 1, 1000 }):table(), 1e-5, text(case))
      end
      r.seed(9)
      local fused = draw(case, 1000):astype "float64" * 2 + gpu.arange(1000, "float64")
      assert(gpu.explain(fused):find "^1 kernel\n", text(case))
      gpu.eager(true)
      r.seed(9)
      local ok, alone = pcall(draw, case, 1000)
      gpu.eager(false)
      assert(ok, alone)
      support.near(alone:astype("float64"):table(), ((fused - gpu.arange(1000, "float64")) / 2):table(), 1e-5, text(case))
    end
  end)

  it("come from a generator, and take a block of the stream for each number", function()
    local a, b = r.generator("philox", { seed = 3 }), r.generator("philox", { seed = 3 })
    a:gamma(10, 2)
    assert.are.equal(40, a:state().offset)
    b:skip(40)
    for _, case in ipairs(all) do
      assert.are.same(a[case[1]](a, 5, unpack(case[2])):table(), draw(case, 5, { generator = b }):table())
    end
    assert.are.same(a:state(), b:state())
  end)

  it("take a dtype", function()
    assert.are.equal("int32", r.poisson(3, 5, "int32").dtype)
    assert.are.equal("uint8", r.geometric(3, 0.5, { dtype = "uint8" }).dtype)
    assert.are.equal("bfloat16", r.beta(3, 1, 2, "bfloat16").dtype)
    assert.are.equal("float16", r.vonmises(3, 0, 2, "float16").dtype)
    fails("[random.poisson] expected an integer dtype, got float32", r.poisson, 3, 5, "float32")
    fails("[random.gamma] expected a floating-point dtype, got int32", r.gamma, 3, 5, 1, "int32")
  end)

  it("check their parameters", function()
    fails("[random.gamma] expected a shape parameter of 0 or more, got -1", r.gamma, 3, -1)
    fails("[random.gamma] expected a scale that is not negative, got -2", r.gamma, 3, 1, -2)
    fails("[random.gamma] expected a shape and 1 to 2 parameters, got 0", r.gamma, 3)
    fails("[random.beta] expected a first parameter above 0, got 0", r.beta, 3, 0, 1)
    fails("[random.beta] expected a second parameter above 0, got NaN", r.beta, 3, 1, 0 / 0)
    fails("[random.chisquare] expected degrees of freedom above 0, got -3", r.chisquare, 3, -3)
    fails("[random.standard_t] expected degrees of freedom above 0, got 0", r.standard_t, 3, 0)
    fails("[random.f] expected degrees of freedom above 0, got 0", r.f, 3, 1, 0)
    fails("[random.wald] expected a mean above 0, got 0", r.wald, 3, 0, 1)
    fails("[random.vonmises] expected a concentration of 0 or more, got -1", r.vonmises, 3, 0, -1)
    fails("[random.poisson] expected a mean from 0 to 9.22e18, got -0.5", r.poisson, 3, -0.5)
    fails("[random.binomial] expected a probability, got 1.5", r.binomial, 3, 10, 1.5)
    fails("[random.binomial] expected a number of trials from 0 to 2^53, got 2.5", r.binomial, 3, 2.5, 0.5)
    fails("[random.geometric] expected a probability above 0, got 0", r.geometric, 3, 0)
    fails("[random.negative_binomial] expected a number of successes above 0, got 0", r.negative_binomial, 3, 0, 0.5)
    fails("[random.binomial] expected a number of trials from 0 to 2^53, got 1e+18", r.binomial, 3, 1e18, 0.5)
    fails("[random.poisson] expected a mean from 0 to 9.22e18, got 1e+30", r.poisson, 3, 1e30)
    fails("[random.negative_binomial] expected successes and a probability with at most 9.22e18 failures, got",
      r.negative_binomial, 3, 1e18, 1e-3)
    fails("[random.hypergeometric] expected good + bad, all items, from 0 to 2^53, got", r.hypergeometric, 3, 2 ^ 53, 2 ^ 53, 9)
    fails("[random.multinomial] expected a number of trials from 0 to 2^53, got 1e+18", r.multinomial, 3, 1e18, { 0.5, 0.5 })
    fails("[random.multivariate_hypergeometric] expected numbers of items that sum to at most 2^53, got",
      r.multivariate_hypergeometric, 3, { 2 ^ 53, 2 ^ 53 }, 4)
    fails("[random.noncentral_chisquare] expected a noncentrality from 0 to 1.84e19, got 1e+20", r.noncentral_chisquare, 3, 1, 1e20)
    local x = r.hypergeometric({ 2 }, gpu.array({ 1, 2 ^ 53 }, "float64"), gpu.array({ 1, 2 ^ 53 }, "float64"), 1)
    fails("good + bad, all items, from 0 to 2^53, got 1.8014398509482e+16 in element 2", x.table, x)
    x = r.negative_binomial({ 2 }, gpu.array({ 1e18, 1 }, "float64"), 1e-3)
    fails("at most 9.22e18 failures, got 9.9900", x.table, x)
    pcall(gpu.sync)
  end)

  it("draw great counts, which end at the dtype's greatest number", function()
    r.seed(2)
    local function check(x, mean, deviation)
      local away = (x:astype "float64" - mean) / deviation
      support.near({ 0, 1 }, { away:mean():item(), away:std():item() }, 0.05)
    end
    check(r.poisson(20000, 5e18), 5e18, 5e18 ^ 0.5)
    check(r.poisson(20000, 9.2e18), 9.2e18, 9.2e18 ^ 0.5)
    check(r.binomial(20000, 2 ^ 53, 0.5), 2 ^ 52, 2 ^ 25.5)
    check(r.hypergeometric(20000, 2 ^ 52, 2 ^ 52, 1000), 500, 250 ^ 0.5)
    check(r.negative_binomial(20000, 1e6, 1e-6), 1e12, 1e9)
    local function all(value, x) assert.is_true(x:eq(value):all():item()) end
    all(255, r.poisson(100, 1000, "uint8"))
    all(127, r.binomial(100, 1000, 0.5, "int8"))
    all(32767, r.hypergeometric(100, 1e6, 1e6, 1e6, "int16"))
    all(127, r.multinomial(100, 1000, { 0.5, 0.5 }, "int8"))
    all(2 ^ 31 - 1, r.geometric(100, 1e-30, "int32"))
    assert.is_true(r.geometric(100, 1e-30):gt(9e18):all():item())
  end)

  it("are the same on the cpu device and on a GPU", function()
    local cuda
    for _, device in ipairs(gpu.devices()) do cuda = cuda or device.kind == "cuda" and device.name end
    if not cuda then return pending "there is no GPU" end
    for _, case in ipairs(all) do
      r.seed(11)
      local on_gpu = draw(case, 1000, { device = cuda })
      r.seed(11)
      local ok, on_cpu = pcall(function() return draw(case, 1000, { device = "cpu" }):eval() end)
      if not ok then
        assert(tostring(on_cpu):find("the cpu device compiles kernels with clang", 1, true), on_cpu)
        return pending "the cpu device has no compiler"
      end
      support.near(on_cpu:table(), on_gpu:table(), 1e-4, text(case))
    end
  end)
end)
