-- Factors, systems, eigenvalues and singular values of gpu.linalg, by residuals.
local gpu = require "gpu"
local residuals = require "linalg_residuals"
local support = require "support"
local linalg = gpu.linalg
local dtypes, unit, random, transposed = residuals.dtypes, residuals.unit, residuals.random, residuals.transposed
local adjoint, eye, size, small = residuals.adjoint, residuals.eye, residuals.size, residuals.small
local check_orthogonal, check_equal, check_solution = residuals.check_orthogonal, residuals.check_equal, residuals.check_solution
local each_square, each_shape = residuals.each_square, residuals.each_shape

describe("gpu.linalg", function()
  before_each(function() gpu.random.seed(14) end)

  it("solves systems", function()
    each_square(function(a, where)
      local n = a.shape[a.ndim]
      for _, columns in ipairs { 1, 3 } do
        local b = random(a.dtype, n, columns)
        check_solution(a, linalg.solve(a, b), b, where)
      end
      local x = linalg.inv(a)
      if n > 0 then
        small(size(a:matmul(x) - eye(n, a)) / (size(a) * size(x) * (n * unit[a.dtype])), where .. " inverse")
      end
      local p, l, u = linalg.lu(a)
      check_equal(a, gpu.matmul(p:astype(a.dtype), l:matmul(u)), where .. " lu")
    end)
  end)

  it("factorises positive definite matrices", function()
    each_square(function(a, where)
      local n = a.shape[a.ndim]
      local spd = a:matmul(adjoint(a)) + eye(n, a)
      local l, u = linalg.cholesky(spd), linalg.cholesky(spd, { upper = true })
      check_equal(spd, l:matmul(adjoint(l)), where .. " lower")
      check_equal(spd, adjoint(u):matmul(u), where .. " upper")
      -- Only one triangle is read.
      check_equal(l, linalg.cholesky(gpu.tril(spd)), where .. " one triangle")
      local b = random(a.dtype, n, 2)
      check_solution(spd, linalg.cho_solve(l, b), b, where .. " solve")
      check_solution(spd, linalg.cho_solve(u, b, { upper = true }), b, where .. " solve upper")
    end)
  end)

  it("finds orthogonal factors", function()
    each_shape(function(a, where)
      local q, r = linalg.qr(a)
      check_equal(a, q:matmul(r), where .. " reduced")
      check_orthogonal(q, where)
      assert.are.equal(0, gpu.count_nonzero(gpu.tril(r, -1)):item())
      local complete, tall = linalg.qr(a, "complete")
      check_equal(a, complete:matmul(tall), where .. " complete")
      check_orthogonal(complete, where .. " complete")
      assert.is_true(gpu.array_equal(r, linalg.qr(a, { mode = "r" })))
      local reflectors, factors = linalg.qr(a, "raw")
      assert.are.equal(tostring(transposed(a).shape), tostring(reflectors.shape))
      assert.are.equal(math.min(a.shape[a.ndim], a.shape[a.ndim - 1]), factors.shape[factors.ndim])
    end)
  end)

  it("finds singular values", function()
    each_shape(function(a, where)
      local u, s, v = linalg.svd(a, false)
      check_equal(a, (u * s:expand_dims(-2)):matmul(v), where .. " thin")
      check_orthogonal(u, where .. " U")
      check_orthogonal(adjoint(v), where .. " V")
      assert.are.equal(0, gpu.count_nonzero(s:diff():gt(0)):item())
      local all_u, all_s, all_v = linalg.svd(a)
      check_orthogonal(all_u, where .. " full U")
      check_orthogonal(adjoint(all_v), where .. " full V")
      local limit = 30 * unit[a.dtype] * math.max(a.shape[a.ndim], a.shape[a.ndim - 1])
      for _, other in ipairs { all_s, linalg.svdvals(a) } do
        if s.size > 0 then assert.is_true(((s - other):abs():max() / s:max()):item() <= limit, where) end
      end
    end)
  end)

  it("finds eigenvalues", function()
    each_square(function(a, where)
      local n = a.shape[a.ndim]
      local h = a + adjoint(a)
      for _, uplo in ipairs { "L", "U" } do
        local w, v = linalg.eigh(uplo == "L" and gpu.tril(h) or gpu.triu(h), { uplo = uplo })
        check_equal(h, (v * w:expand_dims(-2)):matmul(adjoint(v)), where .. " symmetric")
        check_orthogonal(v, where .. " symmetric")
        if n > 0 then
          small((w - linalg.eigvalsh(h)):abs():max(-1) / (size(h) * (n * unit[a.dtype])), where .. " values alone")
        end
      end
      local w, v = linalg.eig(a)
      if n == 0 then return end
      small(size(a:matmul(v) - v * w:expand_dims(-2)) / (size(a) * size(v) * (n * unit[a.dtype])), where .. " general")
      support.near(1, v:abs():square():sum(-2):min():item(), 1e-5)
    end)
  end)

  it("solves least squares", function()
    for _, dtype in ipairs(dtypes) do
      local a, b = random(dtype, 3, 20, 4), random(dtype, 3, 20, 2)
      local x, residuals, rank, s = linalg.lstsq(a, b)
      local rest = b - a:matmul(x)
      -- The residual is orthogonal to the columns.
      small(size(adjoint(a):matmul(rest)) / (size(a) * size(b) * (20 * unit[dtype])), dtype)
      support.near(rest:abs():square():sum(-2):table(), residuals:table(), 1e-5)
      assert.are.same({ 4, 4, 4 }, rank:table())
      assert.are.equal("(3, 4)", tostring(s.shape))
      -- Of several solutions, the one of least norm.
      local wide = random(dtype, 4, 9)
      local y, none = linalg.lstsq(wide, b(1)({ 1, 4 }, 1))
      check_equal(linalg.pinv(wide):matmul(b(1)({ 1, 4 }, { 1, 1 })), y:expand_dims(2), dtype)
      assert.are.equal("(0,)", tostring(none.shape))
    end
  end)

  it("takes a tolerance for each matrix of a batch", function()
    local a = gpu.stack { gpu.diag(gpu.array { 1, 0.1, 0.01 }), gpu.diag(gpu.array { 1, 0.1, 0.01 }) }
    local tolerances = gpu.array { 0.05, 2 }
    assert.are.same({ 2, 0 }, linalg.matrix_rank(a, { rtol = tolerances }):table())
    local inverse = linalg.pinv(a, tolerances)
    support.near({ 11, 0 }, inverse:sum({ 2, 3 }):table(), 1e-4)
  end)
end)
