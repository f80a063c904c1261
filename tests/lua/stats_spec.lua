-- gpu.stats beside SciPy's, and polynomials beside NumPy's. Golden data: tests/golden/arrays/stats.py.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails = support.fails
local stats = gpu.stats

describe("statistics", function()
  it("are as SciPy's", function() golden.run("stats", nil, { float64 = 1e-11, float32 = 1e-5 }) end)

  it("keep their dtypes, and wait for nothing that they need not", function()
    local x = gpu.randn(40, 3)
    assert.are.equal("float32", stats.zscore(x).dtype)
    assert.are.equal("float16", stats.skew(x:astype "float16").dtype)
    assert.are.equal("float32", stats.gmean(gpu.array({ 1, 2, 4 }, "int64")).dtype)
    assert.near(2, stats.gmean(gpu.array({ 1, 2, 4 }, "int64")):item(), 1e-6)
    assert(stats.zscore(x):mean():abs():item() < 1e-5)
    local r, p = stats.pearsonr(x(":", 1), x(":", 1) * -2)
    assert.near(-1, r:item(), 1e-6)
    assert.near(0, p:item(), 1e-6)
  end)

  it("say what they take", function()
    local x = gpu.ones(4, 3)
    fails("[stats.zscore] axis 3 is out of range", stats.zscore, x, 3)
    fails("[stats.zscore] expected the options axis and ddof, got \"dof\"; did you mean \"ddof\"?", stats.zscore, x, { dof = 1 })
    fails("[stats.trim_mean] expected a part of 0 or more and below 0.5, got 0.5", stats.trim_mean, x, 0.5)
    fails("[stats.moment] expected an order of 1 or more, got 0", stats.moment, x, 0)
    fails("[stats.rankdata] expected a vector with elements, got shape (4,3)", stats.rankdata, x)
    fails('[stats.rankdata] expected method = "average", "min", "max", "dense" or "ordinal", got "first"', stats.rankdata, x(":", 1),
      { method = "first" })
    fails("[stats.pearsonr] expected two vectors of one length, 2 or more, got shapes (3,) and (4,)", stats.pearsonr, gpu.ones(3), gpu.ones(4))
    fails("[stats.entropy] expected a base above 0 and not 1, got 0", stats.entropy, x, { base = 0 })
    fails("[stats.ttest_ind] expected samples with as many axes, got shapes (4,3) and (4,)", stats.ttest_ind, x, gpu.ones(4))
    fails("[polyadd] expected a vector of coefficients, got shape (4,3)", gpu.polyadd, x, { 1 })
    fails("[polydiv] expected a first coefficient of the divisor other than 0", gpu.polydiv, { 1, 2 }, { 0, 1 })
    fails("[polyder] expected a number of times from 0 to 1000, got -1", gpu.polyder, { 1 }, -1)
    fails("[poly] expected roots: a vector or a table of numbers, got \"x\"", gpu.poly, "x")
    fails("[stats.skew] expected real numbers", stats.skew, gpu.ones({ 2 }, "complex64"))
  end)
end)

describe("ddof", function()
  it("as great as the number of elements gives NumPy's result and a warning", function()
    local text = support.run [[
      local x = gpu.array {1, 2, 4}
      print(x:var {ddof = 3}:item(), x:std {ddof = 2}:item())
      print(gpu.cov(gpu.array {{1, 2, 4}, {3, 2, 1}}, {ddof = 3})[1][1]:item())
    ]]
    assert(text:find("[var] expected ddof below the number of elements, 3, got 3: the result is NaN or infinity", 1, true), text)
    assert(text:find("[cov] expected ddof below the number of observations, 3, got 3: the result is NaN or infinity", 1, true), text)
    assert(not text:find("[std]", 1, true), text)
    assert(text:find "inf\t2%.16", text) -- the squares' sum is 14 / 3
    fails("[cov] expected a number for ddof, got \"1\"", gpu.cov, gpu.ones { 2, 3 }, { ddof = "1" })
  end)
end)
