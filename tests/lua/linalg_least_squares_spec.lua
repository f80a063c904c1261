-- gpu.linalg.lstsq: with many rows it goes another way in single precision, whose reference is double precision, and in double
-- precision, whose reference is the pseudo-inverse.
local gpu = require "gpu"
local residuals = require "linalg_residuals"
local support = require "support"
local linalg = gpu.linalg
local random, adjoint = residuals.random, residuals.adjoint

local unit = 2 ^ -23
local double = { float32 = "float64", complex64 = "complex128" }

--- A matrix (m, n) with singular values from 1 to 1 / condition. The last `zeros` of them are 0, apart from rounding errors.
local function matrix(dtype, m, n, condition, zeros)
  local u, v = linalg.qr(random(double[dtype], m, n)), linalg.qr(random(double[dtype], n, n))
  local s = gpu.linspace(0, -math.log(condition), n, { dtype = "float64" }):exp()
  if zeros then s({ n - zeros + 1, n }):fill_(0) end
  return (u * s):matmul(adjoint(v)):astype(dtype):eval()
end

--- |x - y| relative to the greatest |y|
local function distance(x, y)
  x = x:astype(y.dtype)
  return ((x - y):abs():max() / y:abs():max()):item()
end

local function check(a, b, condition, where, rcond)
  local x, rest, rank, s = linalg.lstsq(a, b, { rcond = rcond })
  local wide = double[a.dtype]
  local exact, exact_rest, exact_rank, exact_s = linalg.lstsq(a:astype(wide), b:astype(wide), { rcond = rcond or unit * math.max(a.shape[a.ndim - 1], a.shape[a.ndim]) })
  assert.are.equal(a.dtype, x.dtype)
  assert.are.equal("float32", s.dtype)
  for _, pair in ipairs { { x, exact }, { rest, exact_rest }, { rank, exact_rank }, { s, exact_s } } do
    assert.are.equal(tostring(pair[2].shape), tostring(pair[1].shape), where)
  end
  local function small(value, limit, what)
    if not (value <= limit) then error(("%s, %s: %g is more than %g"):format(where, what, value, limit), 2) end
  end
  small(distance(s, exact_s), 2e-7, "singular values")
  assert.is_true(s:diff():le(0):all():item(), where)
  assert.is_true(gpu.array_equal(exact_rank, rank), where)
  small(distance(x, exact), 2e-7 * condition, "x")
  -- They are those of an x in single precision.
  small(distance(rest, exact_rest), 1e-5 + 2e-7 * condition, "residuals")
end

describe("gpu.linalg.lstsq", function()
  before_each(function() gpu.random.seed(15) end)

  it("solves for many rows as double precision does", function()
    for dtype in pairs(double) do
      for _, shape in ipairs { { 2, 1 }, { 6, 3 }, { 80, 40 }, { 999, 20 }, { 5000, 33 } } do
        local m, n = unpack(shape)
        for _, condition in ipairs(n == 1 and { 1 } or { 1, 1e3, 1e5, 1e7 }) do
          local where = ("%s %dx%d, condition %g"):format(dtype, m, n, condition)
          local a = matrix(dtype, m, n, condition)
          -- By default, that counts as singular from some condition on.
          check(a, random(dtype, m), condition, where, 1e-8)
          check(a, random(dtype, m, 3), condition, where .. ", three sides", 1e-8)
        end
      end
    end
  end)

  it("gives the least x where the rank is less", function()
    for dtype in pairs(double) do
      for _, shape in ipairs { { 6, 3 }, { 300, 20 }, { 2000, 40 } } do
        local m, n = unpack(shape)
        local a = matrix(dtype, m, n, 10, 2)
        check(a, random(dtype, m, 2), 10, ("%s %dx%d"):format(dtype, m, n), 1e-4)
        local _, _, rank = linalg.lstsq(a, random(dtype, m))
        assert.are.equal(n - 2, rank:item())
      end
      local zero, rest, rank, s = linalg.lstsq(gpu.zeros({ 9, 4 }, { dtype = dtype }), gpu.ones(9))
      assert.are.same({ 0, 0, 0, 0 }, zero:abs():table())
      assert.are.same({ 0, 0, 0, 0 }, s:table())
      assert.are.equal(0, rank:item())
      assert.are.same({ 9 }, rest:table())
    end
  end)

  it("solves for many rows in double precision", function()
    for single, dtype in pairs(double) do
      for _, shape in ipairs { { 999, 20 }, { 2000, 4 }, { 3, 300, 30 } } do
        local n = shape[#shape]
        local m = shape[#shape - 1]
        for _, zeros in ipairs { 0, 2 } do
          local where = ("%s %dx%d, %d of 0"):format(dtype, m, n, zeros)
          local a = matrix(single, m, n, 1e3, zeros > 0 and zeros or nil):astype(dtype)
          if #shape == 3 then a = a * random(dtype, 3, 1, 1) end
          local options = { rcond = 1e-6 }
          for _, k in ipairs { 1, 3 } do
            local b = random(dtype, unpack(#shape == 3 and { 3, m, k } or { m, k }))
            local x, rest, rank, s = linalg.lstsq(a, b, options)
            local expected = linalg.pinv(a, options):matmul(b)
            assert.is_true(distance(x, expected) < 1e-11, where)
            assert.is_true(distance(s, linalg.svdvals(a)) < 1e-13, where)
            assert.is_true(rank:eq(n - zeros):all():item(), where)
            assert.is_true(distance(rest, (b - a:matmul(expected)):abs():square():sum(-2)) < 1e-11, where)
          end
        end
      end
      local a, b = random(dtype, 900, 10), random(dtype, 900, 2)
      local x = linalg.lstsq(a, b)
      b[{ 3, 1 }] = 0 / 0
      local y = linalg.lstsq(a, b)
      assert.is_true(y(":", 1):isnan():all():item())
      assert.is_true(distance(y(":", 2), x(":", 2)) < 1e-13)
      a[{ 3, 1 }] = 0 / 0
      support.fails("[linalg.lstsq] the matrix has elements that are not finite", function() return (linalg.lstsq(a, b)):table() end)
    end
  end)

  it("takes batches, any scale and any layout", function()
    for dtype in pairs(double) do
      local a, b = random(dtype, 700, 9, 4), random(dtype, 700, 9, 2)
      check(a, b, 1e4, dtype .. " batch")
      check(a, b(1), 1e4, dtype .. " one set of sides")
      check(a(1), b, 1e4, dtype .. " one matrix")
      check(a * 1e15, b, 1e4, dtype .. " large")
      check(a * 1e-15, b, 1e4, dtype .. " small")
      check(random(dtype, 4, 900).T, random(dtype, 900), 10, dtype .. " transposed")
      check(random(dtype, 1800, 12)("::2", "::-3"), random(dtype, 1800)("::2"), 10, dtype .. " strided")
    end
    local x = linalg.lstsq(gpu.array({ { 2, 1 }, { 1, 3 }, { 0, 1 }, { 0, 0 } }, "int32"), gpu.array { 4, 7, 2, 5 })
    support.near({ 1, 2 }, x:table(), 1e-6)
  end)

  it("reports elements that are not finite", function()
    for _, shape in ipairs { { 8, 4 }, { 2000, 40 } } do
      local a = random("float32", unpack(shape))
      a[{ 3, 2 }] = 0 / 0
      support.fails("[linalg.lstsq] the matrix has elements that are not finite", function()
        return (linalg.lstsq(a, gpu.ones(shape[1]))):table()
      end)
    end
    local b = gpu.ones(8, 2)
    b[{ 3, 1 }] = 0 / 0
    local x = linalg.lstsq(random("float32", 8, 4), b)
    assert.is_true(x(":", 1):isnan():all():item() and x(":", 2):isfinite():all():item())
  end)

  it("is the same each time", function()
    local a, b = random("float32", 3001, 20), random("float32", 3001)
    local x, rest, _, s = linalg.lstsq(a, b)
    for _ = 1, 3 do
      local own, own_rest, _, own_s = linalg.lstsq(a, b)
      assert.is_true(gpu.array_equal(x, own) and gpu.array_equal(rest, own_rest) and gpu.array_equal(s, own_s))
    end
  end)
end)
