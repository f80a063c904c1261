-- Distributions against SciPy's quantiles and probabilities (tests/golden/arrays/random_tables.py), by chi-square tests.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local r = gpu.random

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = dofile(folder .. "/golden/arrays/random_tables.lua")

--- Passed but once in ten thousand: Wilson and Hilferty's approximation.
local function check_chi_square(chi, freedom, what)
  local limit = freedom * (1 - 2 / (9 * freedom) + 3.72 * math.sqrt(2 / (9 * freedom))) ^ 3
  assert(chi < limit, ("%s: chi-square %.1f of %d, limit %.1f"):format(what, chi, freedom, limit))
end

--- The numbers fill the 50 equally likely cells equally. Cells above the edge number `last` are one.
local function check_quantiles(x, edges, what, last)
  assert.is_false(x:isnan():any():item(), what)
  last = last or 49
  local cells = x:astype("float64"):digitize(gpu.array({ unpack(edges, 1, last) }, "float64"))
  local seen, each, chi = gpu.bincount(cells, { minlength = last + 1 }):table(), x.size / 50, 0
  for cell = 1, last + 1 do
    local expected = cell <= last and each or x.size - last * each
    chi = chi + (seen[cell] - expected) ^ 2 / expected
  end
  check_chi_square(chi, last, what)
end

--- Counts and the probabilities of counts from `first` on; those that are expected less than 20 times are taken together.
local function check_probabilities(x, first, probabilities, what)
  local n = x.size
  local seen = {}
  for _, k in ipairs(x:table()) do seen[k] = (seen[k] or 0) + 1 end
  local chi, cells, rest, rest_seen = 0, 0, n, n
  for i, p in ipairs(probabilities) do
    if n * p >= 20 then
      local found = seen[first + i - 1] or 0
      chi, cells, rest, rest_seen = chi + (found - n * p) ^ 2 / (n * p), cells + 1, rest - n * p, rest_seen - found
    end
  end
  if rest > 5 then
    chi, cells = chi + (rest_seen - rest) ^ 2 / rest, cells + 1
  else
    assert(rest_seen < 30, what .. ": " .. rest_seen .. " impossible counts")
  end
  check_chi_square(chi, math.max(cells - 1, 1), what)
end

local function draw(name, shape, parameters, options)
  local arguments = { unpack(parameters) }
  arguments[#arguments + 1] = options
  return r[name](shape, unpack(arguments))
end
local function text(case) return ("%s(%s)"):format(case[1], table.concat(case[2], ", ")) end

describe("more distributions", function()
  it("have SciPy's quantiles", function()
    for i, case in ipairs(golden.quantiles) do
      for k, dtype in ipairs { "float32", "float64" } do
        r.seed(10 * i + k)
        local x = draw(case[1], 20000, case[2], dtype)
        assert.are.equal(dtype, x.dtype)
        check_quantiles(x, case[3], text(case))
      end
    end
  end)

  it("have SciPy's probabilities", function()
    for i, case in ipairs(golden.probabilities) do
      r.seed(i)
      local x = draw(case[1], 50000, case[2])
      assert.are.equal("int64", x.dtype)
      check_probabilities(x, case[3], case[4], text(case))
    end
  end)

  it("of vectors have SciPy's", function()
    for i, case in ipairs(golden.dirichlet) do
      r.seed(i)
      -- Numbers next to 1 are all 1: cells above the median are taken together where that is so.
      local small = case[1][1] < 0.1
      local x = r.dirichlet(20000, case[1], small and "float64" or "float32")
      assert.are.equal(("(20000, %d)"):format(#case[1]), tostring(x.shape))
      support.near(1, x:sum(2):min():item(), 1e-5)
      support.near(1, x:sum(2):max():item(), 1e-5)
      check_quantiles(x(":", 1), case[2], "dirichlet " .. i, small and 25)
    end
    for i, case in ipairs(golden.outcomes) do
      local name, total, weights, probabilities = unpack(case)
      r.seed(i)
      local n = 40000
      local x = name == "multinomial" and r.multinomial(n, total, weights) or r.multivariate_hypergeometric(n, weights, total)
      assert.are.equal("int64", x.dtype)
      local seen = {}
      for _, row in ipairs(x:table()) do
        local key = table.concat(row, " ")
        seen[key] = (seen[key] or 0) + 1
      end
      local chi, cells, rest, rest_seen = 0, 0, 0, 0
      for key, p in pairs(probabilities) do
        if n * p >= 10 then
          chi, cells = chi + ((seen[key] or 0) - n * p) ^ 2 / (n * p), cells + 1
        else
          rest, rest_seen = rest + n * p, rest_seen + (seen[key] or 0)
        end
        if p == 0 then assert.is_nil(seen[key], name .. " " .. key) end
        seen[key] = nil
      end
      assert.is_nil((next(seen)))
      if rest > 10 then chi, cells = chi + (rest_seen - rest) ^ 2 / rest, cells + 1 end
      check_chi_square(chi, cells - 1, ("%s %d"):format(name, i))
    end
  end)

  it("of normal vectors have their means and covariances", function()
    local cases = {
      { { 1, -2 }, { { 4, 1.5 }, { 1.5, 1 } } },
      { { 0, 0, 0 }, { { 1, 1, 0 }, { 1, 1, 0 }, { 0, 0, 2 } } }, -- of rank 2
      { { 5 }, { { 0.25 } } },
      { { 0, 10 }, { { 0, 0 }, { 0, 9 } } },
      { { 1, 2, 3, 4 }, { { 2, 0.5, 0.2, 0.1 }, { 0.5, 3, 0.3, 0 }, { 0.2, 0.3, 1, -0.4 }, { 0.1, 0, -0.4, 5 } } },
    }
    for i, case in ipairs(cases) do
      for k, dtype in ipairs { "float32", "float64" } do
        r.seed(i + 10 * k)
        local mean, covariance = gpu.array(case[1], "float64"), gpu.array(case[2], "float64")
        local x = r.multivariate_normal(40000, case[1], case[2], dtype)
        assert.are.equal(dtype, x.dtype)
        support.near(mean:table(), x:astype("float64"):mean(1):table(), 0.05)
        local found = gpu.cov(x:astype "float64", { rowvar = false }):reshape(#case[1], #case[1])
        support.near(covariance:table(), found:table(), 0.06)
        -- A sum of the elements is normal.
        local variance = covariance:sum():item()
        local sum = (x:astype("float64"):sum(2) - mean:sum()) / math.sqrt(variance)
        check_quantiles(sum({ 1, 20000 }), golden.quantiles[16][3], "multivariate_normal " .. i)
      end
    end
    assert.are.equal("standard_normal", golden.quantiles[16][1])
    local x = r.multivariate_normal({ 2, 3 }, gpu.zeros(2), gpu.eye(2))
    assert.are.equal("(2, 3, 2)", tostring(x.shape))
  end)

  it("keep their totals, and have parameters that are arrays", function()
    r.seed(4)
    local trials = gpu.array({ 0, 7, 1000 }, "int32"):expand_dims(2)
    local x = r.multinomial({ 3, 500 }, trials, { 0.1, 0.2, 0.3, 0.15, 0.25 })
    assert.is_true(x:sum(-1):eq(trials):all():item() and x:min():item() == 0)
    support.near({ 100, 200, 300, 150, 250 }, x(3):mean(1):table(), 0.02)
    local p = gpu.array { { 1, 0 }, { 0.5, 0.5 } }:reshape(2, 1, 2)
    support.near({ { 10, 0 }, { 5, 5 } }, r.multinomial({ 2, 20000 }, 10, p):mean(2):table(), 0.02)
    local colors = gpu.array({ 5, 0, 20, 75 }, "int64")
    local y = r.multivariate_hypergeometric({ 10, 200 }, colors, 60)
    assert.is_true(y:sum(-1):eq(60):all():item() and y:le(colors):all():item() and y:min():item() == 0)
    support.near({ 3, 0, 12, 45 }, y:mean({ 1, 2 }):table(), 0.05)
    assert.is_true(r.multivariate_hypergeometric(50, { 3, 4 }, 7):eq(gpu.array({ 3, 4 }, "int64")):all():item())
    local some = r.multivariate_hypergeometric(3, { 2, 3 }, gpu.array({ 4, 6, -1 }, "int32") + 0):sum(2)
    assert.are.same({ 4, 0, 0 }, some:table())
    local alphas = gpu.array { { 1, 1, 2 }, { 0.001, 0.001, 0.002 } }:expand_dims(2)
    support.near({ { 0.25, 0.25, 0.5 }, { 0.25, 0.25, 0.5 } }, r.dirichlet({ 2, 20000 }, alphas):mean(2):table(), 0.02)
    support.near({ 1, 5 }, r.hypergeometric({ 2, 20000 }, gpu.array { { 10 }, { 50 } }, gpu.array { { 90 }, { 50 } }, 10):mean(2):table(), 0.02)
    assert.are.equal(0, r.multinomial({ 2, 0 }, 3, { 0.5, 0.5 }).size)
    assert.are.equal("float16", r.dirichlet(3, { 1, 2 }, "float16").dtype)
    assert.are.equal("uint8", r.multinomial(3, 5, { 0.5, 0.5 }, { dtype = "uint8" }).dtype)
  end)

  it("know the ends of their parameters' ranges", function()
    local function only(value, x) assert.are.same({ value, value }, { x:min():item(), x:max():item() }) end
    only(0, r.hypergeometric(100, 0, 10, 5))
    only(5, r.hypergeometric(100, 10, 0, 5))
    only(4, r.hypergeometric(100, 4, 3, 7))
    only(0, r.hypergeometric(100, 4, 3, 0))
    only(1, r.zipf(100, 1e9))
    only(1, r.logseries(100, 0))
    only(1, r.dirichlet({ 100 }, { 3 }))
    only(0, r.hypergeometric(100, gpu.array { 1 }, gpu.array { 2 }, gpu.array { 4 } + 0))
    assert.is_true(r.zipf(20000, 1.01, "int8"):min():item() >= 1)
    assert.is_true(r.zipf(2000, 1 + 1e-9):min():item() >= 1)
    assert.is_true(r.logseries(2000, 1 - 2 ^ -53):min():item() >= 1)
    r.seed(7)
    local n = 40000
    local x = (r.hypergeometric(n, 3e9, 5e9, 1e9):astype "float64" - 3.75e8):eval()
    local variance = 1e9 * 0.375 * 0.625 * 7e9 / 8e9
    assert(math.abs(x:mean():item()) < 4.5 * math.sqrt(variance / n))
    assert(math.abs(x:var():item() / variance - 1) < 4.5 * math.sqrt(2 / n))
  end)

  it("permute each vector by itself, and give bytes", function()
    r.seed(5)
    local x = gpu.arange(5):broadcast_to(3000, 5)
    local p = r.permuted(x, { axis = 2 })
    assert.is_true(p:sort(2):eq(x):all():item())
    local first = gpu.bincount(p(":", 1)):table()
    for _, count in ipairs(first) do assert(math.abs(count - 600) < 110, count) end
    assert.is_true(r.permuted(x.T, { axis = 1 }):sort(1):eq(x.T):all():item())
    assert.are.equal(3000 * 10, r.permuted(x):sum():item())
    assert.are.equal("(3000, 5)", tostring(r.permuted(x).shape))
    local bytes = r.bytes(10000)
    assert.are.equal(10000, #bytes)
    local sum = 0
    for i = 1, #bytes do sum = sum + bytes:byte(i) end
    assert(math.abs(sum / 10000 - 127.5) < 4)
    assert.are.equal("", r.bytes(0))
  end)

  it("come from a generator, again and again, in any kernel", function()
    local calls = {
      function(g, o) return g and g:dirichlet(100, { 1, 2 }) or r.dirichlet(100, { 1, 2 }, o) end,
      function(g, o) return g and g:multinomial(100, 9, { 0.25, 0.5, 0.25 }) or r.multinomial(100, 9, { 0.25, 0.5, 0.25 }, o) end,
      function(g, o) return g and g:hypergeometric(100, 20, 30, 12) or r.hypergeometric(100, 20, 30, 12, o) end,
      function(g, o) return g and g:zipf(100, 2) or r.zipf(100, 2, o) end,
      function(g, o) return g and g:noncentral_f(100, 3, 4, 5) or r.noncentral_f(100, 3, 4, 5, o) end,
      function(g, o) return g and g:permuted(gpu.arange(100)) or r.permuted(gpu.arange(100), o) end,
      function(g, o) return g and g:multivariate_normal(100, { 1, 2 }, gpu.eye(2)) or r.multivariate_normal(100, { 1, 2 }, gpu.eye(2), o) end,
    }
    local a, b = r.generator("philox", { seed = 3 }), r.generator("philox", { seed = 3 })
    for i, call in ipairs(calls) do
      local mine, theirs = call(a):table(), call(nil, { generator = b }):table()
      assert.are.same(mine, theirs, i)
    end
    assert.are.same(a:state(), b:state())
    assert.is_truthy(gpu.explain(r.noncentral_chisquare(1000, 3, 2) + r.zipf(1000, 2)):find "^1 kernel\n")
    r.seed(1)
    local alone = r.hypergeometric(500, 50, 60, 30):table()
    r.seed(1)
    support.near(alone, ((r.hypergeometric({ 500 }, 50, 60, 30) * 2 + 1 - 1) / 2):table())
  end)

  it("are the same on the cpu device and on a GPU", function()
    local cuda
    for _, device in ipairs(gpu.devices()) do cuda = cuda or device.kind == "cuda" and device.name end
    if not cuda then return pending "there is no GPU" end
    local calls = {
      dirichlet = { { 0.01, 2, 30 } }, multinomial = { 50, { 0.2, 0.5, 0.3 } }, multivariate_hypergeometric = { { 30, 20, 10 }, 25 },
      multivariate_normal = { { 1, 2 }, { { 2, 1 }, { 1, 3 } } }, hypergeometric = { 300, 500, 200 }, zipf = { 1.7 }, logseries = { 0.9 },
      noncentral_chisquare = { 3, 4 }, noncentral_f = { 3, 5, 2 }, standard_gamma = { 0.4 },
    }
    for name, parameters in pairs(calls) do
      local function on(device)
        r.seed(11)
        return draw(name, 500, parameters, { device = device }):eval()
      end
      local ok, on_cpu = pcall(on, "cpu")
      if not ok then
        assert(tostring(on_cpu):find("the cpu device compiles kernels with clang", 1, true), on_cpu)
        return pending "the cpu device has no compiler"
      end
      support.near(on_cpu:table(), on(cuda):table(), 1e-4, name)
    end
  end)

  it("check their parameters", function()
    fails("[random.hypergeometric] expected a sample of at most 3 + 4 items, got 8", r.hypergeometric, 3, 3, 4, 8)
    fails("[random.hypergeometric] expected a number of good items from 0 to 2^53, got -1", r.hypergeometric, 3, -1, 4, 2)
    fails("[random.zipf] expected an exponent above 1, got 1", r.zipf, 3, 1)
    fails("[random.logseries] expected a probability below 1, got 1", r.logseries, 3, 1)
    fails("[random.noncentral_chisquare] expected degrees of freedom above 0, got 0", r.noncentral_chisquare, 3, 0, 1)
    fails("[random.noncentral_chisquare] expected a noncentrality from 0 to 1.84e19, got -1", r.noncentral_chisquare, 3, 1, -1)
    fails("[random.noncentral_f] expected a shape and 3 parameters", r.noncentral_f, 3, 1, 2)
    fails("[random.dirichlet] expected parameters above 0, got 0", r.dirichlet, 3, { 1, 0 })
    fails("[random.dirichlet] expected parameters: a table or an array, got 1", r.dirichlet, 3, 1)
    fails("[random.multinomial] expected probabilities that sum to 1, got 0.75", r.multinomial, 3, 2, { 0.25, 0.5 })
    fails("[random.multinomial] expected probabilities of 0 or more, got -0.5", r.multinomial, 3, 2, { 1.5, -0.5 })
    fails("[random.multinomial] expected a number of trials from 0 to 2^53, got 1.5", r.multinomial, 3, 1.5, { 1 })
    fails("[random.multinomial] expected an integer dtype, got float32", r.multinomial, 3, 1, { 1 }, "float32")
    fails("[random.multivariate_hypergeometric] expected a sample of at most all 3 items, got 5", r.multivariate_hypergeometric, 3, { 1, 2 }, 5)
    fails("[random.multivariate_hypergeometric] expected numbers of items of 0 or more, got -1", r.multivariate_hypergeometric, 3, { 4, -1 }, 2)
    fails("[random.multivariate_normal] expected a covariance of shape (2,2), as there are 2 means, got (3,3)", r.multivariate_normal, 3, { 0, 0 }, gpu.eye(3))
    fails("[random.multivariate_normal] expected a symmetric covariance, got 0.25 at (2,1) and 0.5 at (1,2)", r.multivariate_normal, 3, { 0, 0 }, { { 1, 0.5 }, { 0.25, 1 } })
    fails("[random.multivariate_normal] expected a covariance that is positive semidefinite", r.multivariate_normal, 3, { 0, 0 }, { { 0, 1 }, { 1, 0 } })
    fails("[random.multivariate_normal] expected a covariance without negative variances, got -1", r.multivariate_normal, 3, { 0 }, { { -1 } })
    fails("[random.multivariate_normal] expected a covariance that is positive semidefinite", r.multivariate_normal, 3, { 0, 0 }, { { 1, 2 }, { 2, 1 } })
    fails("[random.permuted] axis 3 is out of range", r.permuted, gpu.zeros(2, 2), { axis = 3 })
    fails("[random.bytes] expected a number of bytes of 0 or more, got -1", r.bytes, -1)
    fails("[random.dirichlet] expected the options", r.dirichlet, 3, { 1, 2 }, { dtyp = "float32" })
  end)
end)
