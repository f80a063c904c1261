-- gpu.linalg with batches of small matrices, which go another way.
local gpu = require "gpu"
local residuals = require "linalg_residuals"
local support = require "support"
local fails = support.fails
local linalg = gpu.linalg
local dtypes, unit, random, transposed = residuals.dtypes, residuals.unit, residuals.random, residuals.transposed
local adjoint, eye, size, small = residuals.adjoint, residuals.eye, residuals.size, residuals.small
local check_orthogonal, check_equal, check_solution = residuals.check_orthogonal, residuals.check_equal, residuals.check_solution
local thorough = residuals.thorough

describe("gpu.linalg with many small matrices", function()
  before_each(function() gpu.random.seed(14) end)

  it("solves many small systems", function()
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs(thorough[dtype] and { 1, 4, 5, 8, 13, 16 } or { 3 }) do
        local where = ("%s %d"):format(dtype, n)
        local a = random(dtype, 30, 20, n, n)
        local b = random(dtype, 30, 20, n, 3)
        check_solution(a, linalg.solve(a, b), b, where)
        check_solution(a, linalg.solve(a, b(1, 1)), b(1, 1), where .. ", one side for all")
        check_solution(a(1, 1), linalg.solve(a(1, 1), b), b, where .. ", one matrix for all")
        check_solution(a(":", { 1, 1 }), linalg.solve(a(":", { 1, 1 }), b), b, where .. ", broadcast")
        local turned = transposed(a)
        check_solution(turned, linalg.solve(turned, b(1, 1, ":", 1)):expand_dims(-1), b(1, 1, ":", { 1, 1 }), where .. ", a vector")
        local x = linalg.inv(a)
        small(size(a:matmul(x) - eye(n, a)) / (size(a) * size(x) * (n * unit[dtype])), where .. " inverse")
        local sign, log = linalg.slogdet(a) -- by LAPACK
        local det, other = linalg.det(a), sign * log:exp()
        assert.is_true(((det - other):abs() / other:abs()):median():item() < 1e4 * unit[dtype], where)
        local spd = a:matmul(adjoint(a)) + eye(n, a)
        local l = linalg.cholesky(spd)
        check_equal(spd, l:matmul(adjoint(l)), where .. " cholesky")
        assert.are.equal(0, gpu.count_nonzero(gpu.triu(l, 1)):item())
      end
    end
  end)

  it("finds orthogonal factors of many small matrices", function()
    for _, dtype in ipairs(dtypes) do
      for _, shape in ipairs { { 4, 4 }, { 7, 3 }, { 3, 8 }, { 1, 4 }, { 5, 1 } } do
        local m, n = unpack(shape)
        local where = ("%s %dx%d"):format(dtype, m, n)
        local a = random(dtype, 30, 20, m, n)
        a(2):mul_(dtype:find "128" and 1e200 or 1e25)
        a(3):mul_(dtype:find "128" and 1e-200 or 1e-25)
        a(4):fill_(0)
        a(5, ":", 1, ":"):fill_(0)
        local q, r = linalg.qr(a)
        check_equal(a + gpu.where(a:abs():eq(0), 1e-3, 0), q:matmul(r) + gpu.where(a:abs():eq(0), 1e-3, 0), where .. " reduced")
        check_orthogonal(q, where)
        assert.are.equal(0, gpu.count_nonzero(gpu.tril(r, -1)):item())
        local complete, tall = linalg.qr(a, "complete")
        check_orthogonal(complete, where .. " complete")
        support.same(r, linalg.qr(a, "r"))
        support.same(r, tall(":", ":", { 1, math.min(m, n) }))
        -- With the signs of LAPACK, which has a smaller batch.
        local other_q, other_r = linalg.qr(a(1))
        check_equal(other_r, r(1), where .. " R")
        check_equal(other_q, q(1), where .. " Q")
      end
    end
    local a = random("float32", 700, 4, 4)
    a(600)[{ 2, 3 }] = math.huge
    local q, r = linalg.qr(a)
    assert.are.equal(16 + 10, gpu.isnan(q):sum():item() + gpu.isnan(r):sum():item())
  end)

  it("names the one that fails among many small systems", function()
    local a = (random("float64", 700, 6, 6) + gpu.eye(6) * 8):eval()
    a(600)[{ 5, ":" }] = 0
    assert.are.equal(0, linalg.det(a)[600])
    local x = linalg.inv(a)
    fails("[linalg.inv] matrix 600 of the batch is singular: U(6,6) is 0", gpu.sync)
    fails("matrix 600", x.table, x)
    fails("[linalg.solve] matrix 600 of the batch is singular", function() return linalg.solve(a, gpu.ones(6)):table() end)
    a(600):copy_(gpu.eye(6))
    a(600)[{ 2, 3 }] = 0 / 0
    assert.are.equal(36, gpu.isnan(linalg.inv(a)):sum():item())
    fails("[linalg.cholesky] matrix 10 of the batch is not positive definite: its leading minor of order 3 is not positive", function()
      local spd = gpu.eye(4):broadcast_to(600, 4, 4):copy()
      spd(10)[{ 3, 3 }] = -1
      return linalg.cholesky(spd):table()
    end)
  end)
end)
