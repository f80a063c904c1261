-- gpu.sparse.linalg: factors of sparse matrices and triangles, beside gpu.linalg.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails
local L = gpu.sparse.linalg

local dtypes = {"float32", "float64", "complex64", "complex128"}
local unit = {float32 = 2 ^ -24, complex64 = 2 ^ -24, float64 = 2 ^ -53, complex128 = 2 ^ -53}

local function random(dtype, ...)
  local x = gpu.random.normal({...}, 0, 1, {dtype = "float64"})
  if dtype:find "^complex" then x = x + gpu.random.normal({...}, 0, 1, {dtype = "float64"}) * gpu.complex(0, 1) end
  return x:astype(dtype):eval()
end

--- A matrix (n,n) with four elements in a row besides the diagonal, as an array.
local function matrix(dtype, n)
  local some = gpu.rand(n, n):lt(4 / n):astype(dtype)
  return (random(dtype, n, n) * some + gpu.diag(gpu.arange(n):fmod(3) + 2)):astype(dtype):eval()
end

local function apply(m, way)
  if way == "N" then return m end
  return way == "C" and m.dtype:find "^complex" and m.T:conj() or m.T
end

--- |A x - b| / (|A| |x| eps), in Frobenius norms.
local function ratio(m, x, b)
  return ((m:matmul(x) - b):norm() / (m:norm() * x:norm())):item() / unit[m.dtype]
end

local it_with_superlu = support.it_with_superlu(it, pending)

describe("splu", function()
  for _, dtype in ipairs(dtypes) do
    it_with_superlu("solves for many right-hand sides, three ways, in " .. dtype, function()
      gpu.random.seed(11)
      for _, n in ipairs {1, 2, 33, 1000} do
        local m = matrix(dtype, n)
        for _, format in ipairs(n < 1000 and {"csr", "csc", "coo"} or {"csr"}) do
          local lu = L.splu(gpu.sparse[format](m))
          assert(lu.dtype == dtype and lu.shape[1] == n and lu.shape[2] == n and #lu.shape == 2)
          assert(lu.nnz >= gpu.count_nonzero(m):item())
          for _, way in ipairs {"N", "T", "C"} do
            local op = apply(m, way)
            for _, b in ipairs {random(dtype, n), (random(dtype, n, 3)), (random(dtype, 2, n).T)} do
              local kept = b:copy()
              local x = lu:solve(b, {trans = way})
              assert(x.dtype == dtype and tostring(x.shape) == tostring(b.shape) and gpu.array_equal(b, kept))
              local worst = ratio(op, x, b)
              assert(worst < 30, ("n = %d, %s, %s: %g"):format(n, format, way, worst))
            end
          end
        end
      end
    end)
  end

  it_with_superlu("solves as gpu.linalg.solve does", function()
    local m, b = matrix("float64", 60), random("float64", 60)
    assert(L.spsolve(gpu.sparse.csr(m), b):allclose(gpu.linalg.solve(m, b), 1e-11, 1e-12))
    assert(L.splu(gpu.sparse.csr(m)):solve(b):allclose(gpu.linalg.solve(m, b), 1e-11, 1e-12))
  end)

  it_with_superlu("has few entries for a matrix of a few diagonals", function()
    local n = 1000
    local m = (4 * gpu.eye(n) - gpu.eye(n, n, 1) - gpu.eye(n, n, -1)):eval()
    local lu = L.splu(gpu.sparse.csr(m))
    assert(lu.nnz <= 5 * n, lu.nnz)
    assert(ratio(m, lu:solve(gpu.ones(n)), gpu.ones(n)) < 30)
  end)

  it_with_superlu("adds entries at one position, and takes entries that are 0", function()
    local A = gpu.sparse.coo(gpu.array({1, 1, 2, 1}, "int32"), gpu.array({1, 1, 2, 2}, "int32"), gpu.array {1, 2, 4, 0})
    support.near({2, 0.5}, L.spsolve(A, gpu.array {6, 2}):table())
  end)

  it_with_superlu("takes complex right-hand sides for real matrices, and integers", function()
    local A = gpu.sparse.csr {{2, 0}, {1, 4}}
    local x = L.splu(A):solve(gpu.array({gpu.complex(2, 4), gpu.complex(5, -2)}, "complex64"))
    assert(x.dtype == "complex64")
    support.near({1, 1}, x:real():table())
    support.near({2, -1}, x:imag():table())
    x = L.spsolve(A, gpu.array({4, 6}, "int32"))
    assert(x.dtype == "float32")
    support.near({2, 1}, x:table())
    assert(L.spsolve(A, gpu.array({4, 6}, "float64")).dtype == "float64")
    assert(L.spsolve(gpu.sparse.csr(gpu.zeros(0, 0)), gpu.zeros(0)).size == 0)
    assert(tostring(L.splu(A)) == "splu (2,2) float32")
  end)

  it_with_superlu("names a singular matrix, and what else it cannot take", function()
    fails("[sparse.linalg.splu] expected a matrix that is not singular: column 3 depends on other columns, or is 0", L.splu,
      gpu.sparse.csr {{1, 2, 0}, {2, 1, 0}, {0, 1, 0}})
    fails("[sparse.linalg.spsolve] expected a matrix that is not singular", L.spsolve, gpu.sparse.csr(gpu.zeros(3, 3)), gpu.ones(3))
    fails("expected finite nonzeros in a matrix to factorise", L.splu, gpu.sparse.csr {{1, 0 / 0}, {2, 1}})
    fails("[sparse.linalg.splu] expected a sparse matrix", L.splu, gpu.eye(2))
    for _, name in ipairs {"spsolve", "spsolve_triangular"} do
      local op = "[sparse.linalg." .. name .. "] "
      fails(op .. "expected a sparse matrix; gpu.linalg.solve and gpu.linalg.lu_factor take arrays, got", L[name], gpu.eye(2),
        gpu.ones(2))
      fails(op .. "expected a square matrix, got shape (2,3)", L[name], gpu.sparse.csr(gpu.ones(2, 3)), gpu.ones(2))
    end
    local A = gpu.sparse.csr(gpu.eye(3))
    local lu = L.splu(A)
    for _, solve in ipairs {function(b) return L.spsolve(A, b) end, function(b) return lu:solve(b) end,
      function(b) return L.spsolve_triangular(A, b) end} do
      fails("expected right-hand sides (3,) or (3,k), got shape (2,)", solve, gpu.ones(2))
      fails("expected right-hand sides (3,) or (3,k), got shape (3,1,1)", solve, gpu.ones(3, 1, 1))
      fails("expected an array, got", solve, {1, 2, 3})
    end
    fails("expected an array as b; b:todense() makes one", L.spsolve, A, A)
    fails("[splu:solve] expected trans = \"N\", \"T\" or \"C\", got \"X\"", lu.solve, lu, gpu.ones(3), {trans = "X"})
    fails("[splu:solve] expected the option trans, got \"way\"", lu.solve, lu, gpu.ones(3), {way = "T"})
    fails("[splu:solve] expected a table of options: trans, got", lu.solve, lu, gpu.ones(3), "T")
    fails("[splu:solve] expected at most 2 arguments, got 3", lu.solve, lu, gpu.ones(3), {}, 1)
    fails("[splu] expected one of the fields shape, dtype, nnz, :solve, got \"L\"", function() return lu.L end)
  end)

  it_with_superlu("waits, so that a graph cannot record it", function()
    local A, b = gpu.sparse.csr(gpu.eye(3)), gpu.ones(3)
    local lu = L.splu(A)
    fails("solves with the factors of a sparse matrix", gpu.graph, function() return lu:solve(b) end)
  end)

  it_with_superlu("preconditions an iterative solver", function()
    gpu.random.seed(2)
    local m = matrix("float64", 300)
    local A, b, calls = gpu.sparse.csr(m), random("float64", 300), 0
    local lu = L.splu(A)
    local x, info = L.gmres(A, b, {rtol = 1e-12, M = function(r)
      calls = calls + 1
      return lu:solve(r)
    end})
    assert(info.converged and info.iterations <= 3 and calls > 0)
    assert(ratio(m, x, b) < 1e5)
  end)

  it("needs SuperLU, and says where to get it", function()
    if gpu.device().name ~= "cpu" then return end
    local output, status = support.run_without("libsuperlu.so.5 libsuperlu.so.7", [[
      local gpu = require "gpu"
      local A = gpu.sparse.csr {{2, 0}, {1, 4}}
      print(gpu.sparse.linalg.spsolve_triangular(A, gpu.array {4, 6}):sum():item())
      print(gpu.sparse.linalg.spsolve(A, gpu.array {4, 6}))
    ]])
    assert.are_not.equal(0, status)
    assert.is_truthy(output:find("3\n", 1, true), output)
    for _, text in ipairs {"[sparse.linalg] factors of sparse matrices need SuperLU", "apt-get install libsuperlu5"} do
      assert.is_truthy(output:find(text, 1, true), output)
    end
  end)
end)

describe("spsolve_triangular", function()
  it("substitutes", function()
    gpu.random.seed(7)
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs {1, 2, 33, 200} do
        local m = matrix(dtype, n)
        for _, lower in ipairs {true, false} do
          local t = (lower and gpu.tril(m) or gpu.triu(m)):eval()
          local b = random(dtype, n, 2)
          for _, format in ipairs {"csr", "csc", "coo"} do
            local A = gpu.sparse[format](t)
            assert(ratio(t, L.spsolve_triangular(A, b, {lower = lower}), b) < 30)
            local one = (t - gpu.diag(t:diagonal()) + gpu.eye(n, dtype)):eval()
            assert(ratio(one, L.spsolve_triangular(A, b(":", 1), {lower = lower, unit_diagonal = true}), b(":", 1)) < 30)
          end
        end
      end
    end
  end)

  it("names a 0 on the diagonal, and an entry on the wrong side of it", function()
    local op = "[sparse.linalg.spsolve_triangular] "
    fails(op .. "expected a diagonal without 0, got 0 in row 2", L.spsolve_triangular, gpu.sparse.csr {{1, 0}, {2, 0}}, gpu.ones(2))
    fails(op .. "expected a lower triangle, got a nonzero in row 1, column 2; lower = false is for the other one",
      L.spsolve_triangular, gpu.sparse.csr {{1, 3}, {0, 1}}, gpu.ones(2))
    fails(op .. "expected an upper triangle, got a nonzero in row 2, column 1; lower = true is for the other one",
      L.spsolve_triangular, gpu.sparse.csr {{1, 0}, {3, 1}}, gpu.ones(2), {lower = false})
    fails("expected lower = true or false", L.spsolve_triangular, gpu.sparse.csr(gpu.eye(2)), gpu.ones(2), {lower = 1})
  end)
end)
