-- gpu.sparse.linalg: iterative solvers, beside gpu.linalg.solve.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local L = gpu.sparse.linalg

local dtypes = {"float32", "float64", "complex64", "complex128"}
local tolerances = {float32 = 1e-5, complex64 = 1e-5, float64 = 1e-11, complex128 = 1e-11}

local function random(dtype, ...)
  local real = (dtype == "float64" or dtype == "complex128") and "float64" or "float32"
  local x = gpu.random.normal({...}, 0, 1, {dtype = real})
  if dtype:find "^complex" then x = x + gpu.random.normal({...}, 0, 1, {dtype = real}) * gpu.complex(0, 1) end
  return x:eval()
end

--- Matrices (n,n): any one, a Hermitian one with eigenvalues of both signs, and a positive definite one.
local function matrices(dtype, n)
  local m = (random(dtype, n, n) / math.sqrt(n)):eval()
  local adjoint = dtype:find "^complex" and m.T:conj() or m.T
  local positive = (m:matmul(adjoint) + gpu.eye(n, dtype)):eval()
  local signs = gpu.where(gpu.arange(n):fmod(2):eq(0), 3, -3)
  return (m + 3 * gpu.eye(n, dtype)):eval(), ((m + adjoint) / 4 + gpu.diag(signs)):astype(dtype):eval(), positive
end

--- |A x - b| / |b|
local function residual(a, x, b) return ((a:matmul(x) - b):norm() / b:norm()):item() end

local kind = {cg = 3, minres = 2, gmres = 1, bicgstab = 1}

--- An operator with the eigenvalues 1 to n, all of which the right-hand side has.
local function diagonal(n, dtype)
  local values = gpu.linspace(1, n, n, dtype):eval()
  return L.operator(function(x) return values * x end, {shape = {n, n}, dtype = dtype})
end

describe("an iterative solver", function()
  for name, position in pairs(kind) do
    for _, dtype in ipairs(dtypes) do
      it(name .. " solves systems of " .. dtype, function()
        gpu.random.seed(5)
        for _, n in ipairs {1, 2, 33, 150} do
          local a, b = select(position, matrices(dtype, n)), random(dtype, n)
          local rtol = tolerances[dtype]
          local x, info = L[name](a, b, {rtol = rtol})
          assert.are.same({true, "converged"}, {info.converged, info.reason})
          assert(x.dtype == dtype and #x.shape == 1 and x.shape[1] == n)
          assert(residual(a, x, b) <= 1.01 * rtol, ("n = %d: %g"):format(n, residual(a, x, b)))
          support.near(residual(a, x, b), info.residual / b:norm():item(), rtol / 20)
          assert(x:allclose(gpu.linalg.solve(a, b), 100 * rtol, 100 * rtol))
          assert(info.iterations >= 1 and info.iterations <= 10 * n)
        end
      end)
    end
  end

  it("counts the steps to the tolerance, not those to the next look", function()
    -- Three different eigenvalues take three steps.
    local values = gpu.array({1, 2, 5, 1, 2, 5}, "float64")
    local a = L.operator(function(x) return values * x end, {shape = {6, 6}, dtype = "float64"})
    for name in pairs(kind) do
      local x, info = L[name](a, gpu.ones(6, "float64"), {rtol = 1e-12})
      assert(info.converged and info.iterations == 3, name .. " took " .. info.iterations)
      assert(x:allclose(1 / values, 1e-12))
    end
  end)

  it("begins with x0, and leaves it and b as they are", function()
    local a, b = select(3, matrices("float64", 40)), random("float64", 40)
    for name in pairs(kind) do
      local exact = gpu.linalg.solve(a, b)
      local x, info = L[name](a, b, {x0 = exact})
      assert(info.iterations == 0 and gpu.array_equal(x, exact), name)
      x:fill_(0)
      assert(residual(a, exact, b) < 1e-12, name)
      local near = (exact * (1 + 1e-4)):eval()
      local before = near:copy()
      local from_near, few = L[name](a, b, {x0 = near, rtol = 1e-6})
      local _, many = L[name](a, b, {rtol = 1e-6})
      assert(few.converged and few.iterations < many.iterations and residual(a, from_near, b) <= 1e-6, name)
      assert(gpu.array_equal(near, before), name)
    end
  end)

  it("takes functions, operators and columns, and integers as float32", function()
    local a = gpu.array({{4, 1}, {1, 3}}, "int32")
    for name in pairs(kind) do
      local x = L[name](a, gpu.array({{1}, {2}}, "int32"))
      assert(x.dtype == "float32" and tostring(x.shape) == "(2, 1)", name)
      support.near({{1 / 11}, {7 / 11}}, x:table(), 1e-5)
      x = L[name](function(v) return a:matmul(v) end, gpu.array {1, 2})
      support.near({1 / 11, 7 / 11}, x:table(), 1e-5)
      x = L[name](a, gpu.zeros(2), {x0 = gpu.ones(2)})
      support.near({0, 0}, x:table(), 0)
    end
    assert(L.cg(gpu.zeros(0, 0), gpu.zeros(0)).size == 0)
  end)

  it("takes sparse matrices of each format", function()
    gpu.random.seed(8)
    for name, position in pairs(kind) do
      local m, b = select(position, matrices("float64", 40)), random("float64", 40)
      for _, format in ipairs {"csr", "csc", "coo"} do
        local x, info = L[name](gpu.sparse[format](m), b, {rtol = 1e-10})
        assert(info.converged and residual(m, x, b) <= 1e-10, name)
      end
      local x, info = L[name](gpu.sparse.csr(m):astype "float32", b, {rtol = 1e-10, M = gpu.sparse.csr(gpu.eye(40))})
      assert(info.converged and x.dtype == "float64", name)
    end
  end)

  it("uses absolute tolerances", function()
    local a = diagonal(50, "float64")
    local b = gpu.ones(50, "float64") * 1e-3
    for name in pairs(kind) do
      local _, info = L[name](a, b, {rtol = 0, atol = 1e-5})
      assert(info.converged and info.residual <= 1e-5 and info.residual > 1e-12, name)
      local x, none = L[name](a, b, {rtol = 0, atol = 1})
      assert(none.converged and none.iterations == 0 and x:abs():max():item() == 0, name)
    end
  end)

  it("takes right-hand sides whose squares overflow or vanish", function()
    for name in pairs(kind) do
      for _, scale in ipairs {1e-30, 1e30} do
        local x, info = L[name](diagonal(20, "float32"), gpu.ones(20) * scale)
        assert(info.converged and (x / scale):allclose(1 / gpu.linspace(1, 20, 20), 1e-3), name .. scale)
      end
    end
  end)

  it("corrects what rounding errors have spoilt", function()
    -- The residual that cg carries along is far below that of its x: the last steps begin with b - A x.
    local n = 200
    local values = gpu.geomspace(1, 1e4, n):eval()
    local a = L.operator(function(x) return values * x end, {shape = {n, n}, dtype = "float32"})
    local x, info = L.cg(a, gpu.ones(n), {rtol = 2e-6, maxiter = 5000})
    local true_residual = ((values:astype "float64" * x - 1):norm() / n ^ 0.5):item()
    assert(info.converged == (info.residual <= 2e-6 * n ^ 0.5))
    support.near(true_residual, info.residual / n ^ 0.5, 1e-6)
  end)
end)

describe("a preconditioner", function()
  local n = 300
  local values = gpu.geomspace(1, 1e5, n, "float64"):eval()
  local function a(x) return values * x + 0.1 * (x:roll(1) + x:roll(-1)) end
  local b = gpu.ones(n, "float64")

  it("lowers the number of steps, as a function, a matrix and an operator", function()
    local function jacobi(r) return r / values end
    for name in pairs(kind) do
      local options = {rtol = 1e-9, restart = name == "gmres" and 100 or nil, maxiter = 3000}
      local _, plain = L[name](a, b, options)
      for _, M in ipairs {jacobi, gpu.diag(1 / values), (L.operator(jacobi, {shape = {n, n}, dtype = "float64"}))} do
        options.M = M
        local x, info = L[name](a, b, options)
        assert(info.converged and info.iterations < plain.iterations / 4, name .. ": " .. info.iterations)
        assert((a(x) - b):norm():item() <= 1.01e-9 * n ^ 0.5, name)
      end
    end
  end)
end)

describe("a callback", function()
  it("gets x, its residual and the steps at each look", function()
    local n = 500
    local a = diagonal(n, "float64")
    local b = gpu.ones(n, "float64")
    for name in pairs(kind) do
      local looks, restart = {}, name == "gmres" and 60 or nil
      local _, info = L[name](a, b, {rtol = 1e-9, restart = restart, callback = function(x, length, steps)
        looks[#looks + 1] = steps
        support.near((b - a:matmul(x)):norm():item(), length, 1e-6, name)
      end})
      assert(info.converged, name)
      assert(#looks > 3 and looks[1] == 25 and looks[2] == 50 and looks[#looks] == info.iterations, name)
      assert(looks[3] == (restart or 75), name) -- and at the end of each cycle of gmres
    end
  end)
end)

describe("what goes wrong is told:", function()
  it("steps that do not suffice, with the best x of those looked at", function()
    local a, b = diagonal(2000, "float64"), gpu.ones(2000, "float64")
    for name in pairs(kind) do
      local best = b:norm():item()
      local x, info = L[name](a, b, {rtol = 1e-12, maxiter = 60, callback = function(_, length) best = math.min(best, length) end})
      assert.are.same({false, "maxiter", 60}, {info.converged, info.reason, info.iterations})
      support.near(best, (b - a:matmul(x)):norm():item(), 1e-6, name)
      support.near(best, info.residual, 1e-6, name)
    end
    local x, info = L.cg(a, b, {maxiter = 0})
    assert(info.reason == "maxiter" and info.residual == b:norm():item() and x:abs():max():item() == 0)
  end)

  it("matrices and preconditioners that are not positive definite", function()
    local values = gpu.array({1, -2, 3}, "float64")
    local function a(x) return values * x end
    local _, info = L.cg(a, gpu.ones(3, "float64"))
    assert.are.same({false, "indefinite"}, {info.converged, info.reason})
    for _, name in ipairs {"cg", "minres"} do
      _, info = L[name](function(x) return 2 * x end, gpu.array({1, 2, 3}, "float64"), {M = function(r) return r * -1 end})
      assert.are.same({false, "indefinite preconditioner"}, {info.converged, info.reason})
    end
  end)

  it("breakdowns", function()
    -- A turn by 90 degrees: the shadow residual is orthogonal to A's first product.
    local turn = gpu.array({{0, -1}, {1, 0}}, "float64")
    local _, info = L.bicgstab(turn, gpu.array({1, 0}, "float64"))
    assert.are.same({false, "breakdown"}, {info.converged, info.reason})
    -- Singular, and b is not in its range.
    local singular = gpu.array({{1, 0}, {0, 0}}, "float64")
    for _, name in ipairs {"minres", "gmres"} do
      local x
      x, info = L[name](singular, gpu.array({1, 1}, "float64"))
      assert(not info.converged and (info.reason == "breakdown" or info.reason == "stagnation"), name .. info.reason)
      assert(math.abs(x[1] - 1) < 1e-12 and math.abs(info.residual - 1) < 1e-12, name)
    end
  end)

  it("NaN in the matrix, in b, and on the way", function()
    for name in pairs(kind) do
      local b = gpu.array({1, 0 / 0, 3}, "float64")
      local x, info = L[name](gpu.eye(3, "float64"), b)
      assert(info.reason == "not finite" and not info.converged and x:abs():max():item() == 0, name)
      x, info = L[name](gpu.diag(b), gpu.ones(3, "float64"))
      assert(info.reason == "not finite" and x:isfinite():all():item(), name)
      local calls = 0
      x, info = L[name](function(v)
        calls = calls + 1
        return v * gpu.linspace(1, 9, 200, "float64") * (calls > 40 and 0 / 0 or 1)
      end, gpu.ones(200, "float64"), {rtol = 1e-14, maxiter = 100})
      assert(not info.converged and x:isfinite():all():item(), name .. info.reason)
    end
  end)
end)

describe("the work of a step", function()
  local function launches(name, n, steps)
    local count, a = 0, diagonal(n, "float32")
    local function work() return L[name](a, gpu.ones(n), {rtol = 0, maxiter = steps}) end
    for _, row in ipairs(gpu.profile(work)) do count = count + row.launches end
    return count
  end

  -- The operator's product is one of them, or none where it fuses with what reads it.
  local most = {cg = {3, 7}, bicgstab = {7, 12}, minres = {5, 9}}
  for name, limits in pairs(most) do
    it("of " .. name .. " is few kernels, as many in step 1000 as in step 10", function()
      for i, n in ipairs {500, 200000} do
        local some, more = launches(name, n, 50), launches(name, n, 100)
        assert(more - some <= 50 * limits[i] + 2, ("%d elements: %g kernels a step"):format(n, (more - some) / 50))
        if i == 1 then assert(launches(name, n, 1000) - more <= (more - some) * 18 + 38 * 2) end
      end
    end)
  end

  it("leaves no memory behind", function()
    local a, b = diagonal(20000, "float32"), gpu.ones(20000)
    for name in pairs(kind) do
      local before = support.used()
      L[name](a, b, {rtol = 0, maxiter = 200})
      assert(support.used() <= before, name)
    end
  end)
end)

describe("an operator", function()
  it("is a matrix by its function", function()
    local m = gpu.array({{1, 2, 3}, {4, 5, 6}}, "float64")
    local a = L.operator(function(x) return m:matmul(x) end, {shape = {2, 3}, dtype = "float64",
      adjoint = function(y) return m.T:matmul(y) end})
    assert.are.same({6, 15}, a:matmul(gpu.ones(3, "float64")):table())
    assert.are.same({5, 7, 9}, a:adjoint(gpu.ones(2, "float64")):table())
    assert.are.same({2, 3}, a.shape)
    assert(a.dtype == "float64" and tostring(a) == "operator (2,3) float64")
    assert(L.operator(function() end, {shape = {1, 1}, dtype = "f64"}).dtype == "float64")
  end)

  it("checks what goes in and comes out", function()
    local a = L.operator(function(x) return x:sum() end, {shape = {3, 3}})
    fails("[operator:matmul] expected a vector (3,) from the operator's function, got", a.matmul, a, gpu.ones(3))
    fails("[operator:matmul] expected a vector (3,), got", a.matmul, a, gpu.ones(4))
    fails("expected an operator that was made with the option adjoint", a.adjoint, a, gpu.ones(3))
    fails("[operator] expected one of the fields shape, dtype, :", function() return a.T end)
    fails("[operator] expected no new field", function() a.T = 1 end)
    fails("[operator:matmul] expected at most 1 argument, got 2", a.matmul, a, gpu.ones(3), 1)
    fails("[operator:matmul] expected operator:matmul(x), with a colon, got a dot and an array float32[3] in operator's place", a.matmul, gpu.ones(3))
    fails("[sparse.linalg.operator] expected a function of a vector", L.operator, gpu.eye(3))
    fails("[sparse.linalg.operator] expected shape = {rows, columns}", L.operator, print, {shape = 3})
    fails("[sparse.linalg.operator] expected adjoint = a function", L.operator, print, {shape = {3, 3}, adjoint = 1})
  end)
end)

describe("bad input of a solver", function()
  it("is named", function()
    local a, b = gpu.eye(3), gpu.ones(3)
    for name in pairs(kind) do
      local op, solve = "[sparse.linalg." .. name .. "] ", L[name]
      fails(op .. "expected A: a matrix (n,n), a sparse matrix, gpu.sparse.linalg.operator or a function, got", solve, 3, b)
      fails(op .. "expected A of shape (3,3), for the right-hand side of 3 elements, got shape (2,2)", solve, gpu.eye(2), b)
      fails(op .. "expected M of shape (3,3)", solve, a, b, {M = gpu.eye(4)})
      fails(op .. "expected an array, got", solve, a, {1, 2, 3})
      fails(op .. "expected one right-hand side, (n,) or (n,1)", solve, a, gpu.ones(3, 2))
      fails(op .. "expected float32, float64, complex64 or complex128, got float16", solve, a:astype "float16", b)
      fails(op .. "expected x0 of 3 elements", solve, a, b, {x0 = gpu.ones(4)})
      fails(op .. "expected x0 of a dtype that converts to float32", solve, a, b, {x0 = gpu.ones(3, "float64")})
      fails(op .. "expected rtol = a number of 0 or more, got -1", solve, a, b, {rtol = -1})
      fails(op .. "expected atol = a number of 0 or more", solve, a, b, {atol = "1"})
      fails(op .. "expected maxiter = an integer, got 1.5", solve, a, b, {maxiter = 1.5})
      fails(op .. "expected maxiter of 0 or more", solve, a, b, {maxiter = -1})
      fails(op .. "expected callback = a function", solve, a, b, {callback = 1})
      fails("did you mean \"rtol\"", solve, a, b, {tol = 1})
      fails(op .. "expected a vector (3,) from A, got", solve, function() return gpu.ones(2) end, b)
      fails("of the user's own", solve, function() error "of the user's own" end, b)
    end
    fails("[sparse.linalg.gmres] expected restart of 1 or more", L.gmres, a, b, {restart = 0})
  end)
end)
