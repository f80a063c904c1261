-- Relatives of the gamma and Bessel functions, exponential integrals, entropies and losses against mpmath's and SciPy's values
-- (tests/golden/arrays/special_more.py).
local gpu = require "gpu"
local support = require "support"

local folder = debug.getinfo(1, "S").source:match "^@(.*)/lua/[^/]*$"
local golden = assert(gpu.load(folder .. "/golden/arrays/special_more.npz"))

--- The greatest error, relative to the value and to `floor` where the value is less. Infinities are equal.
local function worst(found, expected, floor)
  found = found:astype "float64"
  local same = found:eq(expected):logical_or(found:isnan():logical_and(expected:isnan()))
  local size = gpu.maximum(gpu.abs(expected), floor)
  local error = gpu.where(same, 0, gpu.abs(found - expected) / size)
  assert.is_false(error:isnan():any():item())
  return error:max():item()
end

-- What each takes, its greatest relative error in float64, and the magnitude below which errors are relative to that.
local cases = {
  digamma = { 1e-13, 1, "real" }, polygamma = { 1e-12, 1e-300, "order", "q" }, zeta = { 1e-13, 1e-300, "s", "q" },
  betaln = { 1e-12, 1, "a", "b" }, binom = { 1e-11, 1e-3, "many", "few" },
  exp1 = { 1e-13, 1e-300, "x" }, expi = { 1e-12, 0.1, "x" }, exprel = { 1e-14, 1e-300, "wide" },
  k0 = { 1e-13, 1e-300, "x" }, k1 = { 1e-13, 1e-300, "x" }, k0e = { 1e-13, 1e-300, "positive" }, k1e = { 1e-13, 1e-300, "positive" },
  log_normcdf = { 1e-13, 1e-300, "wide" }, log_sigmoid = { 1e-14, 1e-300, "wide" }, logit = { 1e-13, 1e-1, "unit" },
  xlogy = { 1e-14, 1e-3, "y1", "y2" }, xlog1py = { 1e-14, 1e-3, "y1", "y2" }, rel_entr = { 1e-13, 1e-2, "y1", "y2" },
  kl_div = { 1e-13, 1e-2, "y1", "y2" }, huber = { 1e-14, 1e-3, "y1", "signed" }, pseudo_huber = { 1e-13, 1e-3, "y1", "signed" },
  boxcox = { 1e-13, 1e-2, "y2", "signed" }, inv_boxcox = { 1e-13, 1e-2, "y2", "y1" },
}

describe("more special functions", function()
  it("of float64 are exact to some digits", function()
    for name, case in pairs(cases) do
      local arguments = {}
      for i = 3, #case do arguments[i - 2] = golden[case[i]] end
      local error = worst(gpu[name](unpack(arguments)), golden[name], case[2])
      assert(error < case[1], ("%s: %g"):format(name, error))
    end
    assert(worst(gpu.expn(golden.order({ 1, 60 }), golden.x), golden.expn, 1e-300) < 1e-12)
    assert(worst(gpu.expi(-golden.x), golden.expi_negative, 1e-300) < 1e-12)
    assert(worst(gpu.beta(golden.a / 100, golden.b / 100), golden.beta, 1e-300) < 1e-11)
    for _, name in ipairs { "i0e", "i1e" } do assert(worst(gpu[name](golden.real * 4), golden[name], 1e-300) < 1e-13, name) end
    assert(worst(gpu.erfcx(golden.wide({ 2, -1 })), golden.erfcx, 1e-300) < 1e-13)
    assert(worst(gpu.entr(gpu.maximum(golden.signed, 0)), golden.entr, 1e-3) < 1e-14)
  end)

  it("of float32 are those of the rounded arguments", function()
    for name, case in pairs(cases) do
      if name == "digamma" or name == "zeta" or name == "xlogy" or name == "kl_div" or name == "pseudo_huber" or name == "exprel" then
        local narrow, wide = {}, {}
        for i = 3, #case do
          narrow[i - 2] = golden[case[i]]:astype "float32"
          wide[i - 2] = narrow[i - 2]:astype "float64"
        end
        local expected = gpu[name](unpack(wide))
        local kept = gpu.abs(expected):lt(1e30):logical_and(gpu.abs(expected):gt(1e-30))
        local error = worst(gpu[name](unpack(narrow))[kept], expected[kept], 1e-2)
        assert(error < 1e-5, ("%s: %g"):format(name, error))
      end
    end
  end)

  it("have inverses", function()
    local p = gpu.linspace(0.001, 0.999, 333, "float64"):eval()
    local function within(limit, expected, found)
      local error = worst(found, expected, 1e-300)
      assert(error < limit, ("%g"):format(error))
    end
    -- Where the quantile has a closed form.
    within(1e-13, -gpu.log1p(-p), gpu.gammaincinv(1, p))
    within(1e-13, -gpu.log(p), gpu.gammainccinv(1, p))
    for _, a in ipairs { 0.05, 0.7, 1, 3, 500 } do
      within(1e-12, p ^ (1 / a), gpu.betaincinv(a, 1, p))
      within(1e-11, 1 - (1 - p) ^ (1 / (a + 1)), gpu.betaincinv(1, a + 1, p))
    end
    -- Everywhere else the function takes them back.
    local a, b = golden.a({ 1, 80 }), golden.b({ 1, 80 })
    for _, share in ipairs { 1e-12, 0.01, 0.4, 0.93 } do
      -- Where x has the digits: it is neither 0 nor next to 1.
      local function back(limit, found, x)
        local inner = x:gt(1e-280):logical_and(x:lt(1 - 1e-9):logical_or(x:gt(1)))
        assert(inner:sum():item() > 40)
        assert(worst(gpu.where(inner, found, share), gpu.full({ 80 }, share, "float64"), 1e-300) < limit)
      end
      local x, y, z = gpu.gammaincinv(a, share), gpu.gammainccinv(a, share), gpu.betaincinv(a, b, share)
      gpu.eval(x, y, z)
      back(1e-11, gpu.gammainc(a, x), x)
      back(1e-11, gpu.gammaincc(a, y), y)
      back(1e-9, gpu.betainc(a, b, z), z)
    end
    local inf = math.huge
    assert.are.same({ 0, inf }, gpu.gammaincinv(2, gpu.array { 0, 1 }):table())
    assert.are.same({ inf, 0 }, gpu.gammainccinv(2, gpu.array { 0, 1 }):table())
    assert.are.same({ 0, 1 }, gpu.betaincinv(2, 3, gpu.array { 0, 1 }):table())
    assert.is_true(gpu.gammaincinv(gpu.array { -1, 2, 2 }, gpu.array { 0.5, 1.5, 0 / 0 }):isnan():all():item())
    assert.is_true(gpu.betaincinv(gpu.array { 0, 2, 2 }, 1, gpu.array { 0.5, -0.1, 0 / 0 }):isnan():all():item())
  end)

  it("know the ends of their domains", function()
    local inf, nan = math.huge, 0 / 0
    local function same(expected, found)
      for i, value in ipairs(found:table()) do
        local exact = value == expected[i] or value ~= value and expected[i] ~= expected[i]
        assert(exact, ("element %d: %s in place of %s"):format(i, value, expected[i]))
      end
    end
    same({ -inf, nan, nan, nan, inf }, gpu.digamma(gpu.array({ 0, -1, -inf, nan, inf }, "float64")))
    same({ inf, nan, inf, nan }, gpu.zeta(gpu.array({ 1, 0.5, 2, 2.5 }, "float64"), gpu.array({ 2, 2, -1, -0.5 }, "float64")))
    same({ nan, nan }, gpu.polygamma(gpu.array({ -1, 1.5 }, "float64"), 2))
    same({ inf, 0, nan }, gpu.exp1(gpu.array({ 0, inf, -1 }, "float64")))
    same({ -inf, inf, 0 }, gpu.expi(gpu.array({ 0, inf, -inf }, "float64")))
    same({ inf, 0, nan }, gpu.k0(gpu.array({ 0, inf, -1 }, "float64")))
    same({ 0, 0, -inf }, gpu.entr(gpu.array({ 0, 1, -1 }, "float64")))
    same({ inf, 0, inf }, gpu.rel_entr(gpu.array({ 1, 0, -1 }, "float64"), gpu.array({ 0, 0, 1 }, "float64")))
    same({ 0, nan, 0 }, gpu.xlogy(gpu.array({ 0, 0, 1 }, "float64"), gpu.array({ 0, nan, 1 }, "float64")))
    same({ inf, 0.5, 0 }, gpu.huber(gpu.array({ -1, 1, 1 }, "float64"), gpu.array({ 1, 1, 0 }, "float64")))
    same({ -inf, inf, nan }, gpu.logit(gpu.array({ 0, 1, 2 }, "float64")))
  end)

  it("are elementwise operations", function()
    local x = gpu.linspace(0.1, 3, 50)
    assert.is_truthy(gpu.explain((gpu.digamma(x) + x:k0() * gpu.beta(x, 2)):sum()):find "^1 kernel\n")
    assert.are.equal("float16", gpu.xlogy(x:astype "float16", 2).dtype)
    support.near(2598960, gpu.binom(gpu.array({ 52 }, "float64"), 5)[1], 1e-6)
    support.fails("[digamma] expected real numbers, got complex64", gpu.digamma, gpu.zeros(2, "complex64"))
  end)
end)
