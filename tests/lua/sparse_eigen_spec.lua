-- gpu.sparse.linalg: golden data of SciPy (tests/golden/arrays/sparse_linalg.py), and some eigenvalues and singular values.
local gpu = require "gpu"
local golden = require "golden_cases"
local support = require "support"
local fails, near = support.fails, support.near
local L = gpu.sparse.linalg

local dtypes = {"float32", "float64", "complex64", "complex128"}
local unit = {float32 = 2 ^ -24, complex64 = 2 ^ -24, float64 = 2 ^ -53, complex128 = 2 ^ -53}

--- Any matrix (m,n) with a tenth of its elements, as an array.
local function some(dtype, m, n)
  local x = gpu.random.normal({m, n}, 0, 1, {dtype = "float64"})
  if dtype:find "^complex" then x = x + gpu.random.normal({m, n}, 0, 1, {dtype = "float64"}) * gpu.complex(0, 1) end
  return (x * gpu.rand(m, n):lt(0.1)):astype(dtype):eval()
end

local function adjoint(x) return x.dtype:find "^complex" and x.T:conj() or x.T end

--- The elements of x at the positions first to last.
local function part(x, first, last) return {unpack(x:table(), first, last)} end

--- A matrix as an operator, which is decomposed as an array only up to 64 rows.
local function operator(A)
  local turned = adjoint(A):eval()
  return L.operator(function(x) return A:matmul(x) end, {shape = A.shape, dtype = A.dtype,
    adjoint = function(y) return turned:matmul(y) end})
end

--- An operator with these eigenvalues.
local function diagonal(values)
  local n = values.size
  local function product(x) return values * x end
  return L.operator(product, {shape = {n, n}, dtype = values.dtype, adjoint = product})
end

local it_with_superlu = support.it_with_superlu(it, pending)

describe("gpu.sparse.linalg", function()
  it_with_superlu("agrees with SciPy", function() golden.run "sparse_linalg" end)
end)

describe("eigsh", function()
  for _, dtype in ipairs(dtypes) do
    it("finds some eigenvalues and their vectors in " .. dtype, function()
      gpu.random.seed(13)
      for _, n in ipairs {1, 2, 33, 270} do
        local m = some(dtype, n, n)
        local h = (m + adjoint(m) + 0.1 * gpu.eye(n, dtype)):eval()
        local all, k = gpu.linalg.eigvalsh(h:astype(dtype:find "^complex" and "complex128" or "float64")), math.min(4, n)
        local scale = all:abs():max():item()
        for which, expected in pairs {LA = part(all, n - k + 1, n), SA = part(all, 1, k)} do
          local w, v = L.eigsh(gpu.sparse.csr(h), k, {which = which})
          local real = dtype:gsub("complex128", "float64"):gsub("complex64", "float32")
          assert(w.dtype == real and v.dtype == dtype and v.shape[1] == n and v.shape[2] == k)
          local limit = 100 * unit[dtype]
          near(expected, w:table(), scale * limit, which)
          assert((h:matmul(v) - v * w):abs():max():item() <= scale * limit, which)
          assert((adjoint(v):matmul(v) - gpu.eye(k, dtype)):abs():max():item() <= limit, which)
        end
      end
    end)
  end

  it_with_superlu("finds those of the greatest and the smallest magnitude, and those near sigma", function()
    local values = (gpu.linspace(-40, 59, 100, "float64") + 0.25):eval()
    local A = diagonal(values)
    near({57.25, 58.25, 59.25}, L.eigsh(A, 3, {vectors = false}):table(), 1e-12)
    local bent = (values * gpu.where(values:lt(-39), 2, 1)):eval()
    near({-79.5, 58.25, 59.25}, L.eigsh(diagonal(bent), 3, {vectors = false}):table(), 1e-12)
    local sparse = gpu.sparse.csr(gpu.diag(values))
    for _, matrix in ipairs {sparse, (gpu.diag(values))} do
      near({-0.75, 0.25}, L.eigsh(matrix, 2, {which = "SM", vectors = false}):table(), 1e-12)
      local w, v = L.eigsh(matrix, 3, {sigma = 10.3})
      near({9.25, 10.25, 11.25}, w:table(), 1e-12)
      near({1, 1, 1}, v:abs():max(1):table(), 1e-10)
    end
    fails("expected an array or a sparse matrix, whose factors find the eigenvalues near sigma", L.eigsh, A, 3, {which = "SM"})
    fails("for the eigenvalues near 0.25 take a sigma beside it", L.eigsh, gpu.sparse.diags({gpu.linspace(0.25, 300.25, 301, "float64")}, {0}),
      3, {sigma = 0.25})
  end)

  it("finds eigenvalues that occur several times", function()
    near({1, 1, 1}, L.eigsh(diagonal(gpu.ones(100, "float64")), 3, {vectors = false}):table(), 1e-12)
    local values = gpu.where(gpu.arange(100):lt(5), 7, 1):astype "float64"
    local w, v = L.eigsh(diagonal(values:eval()), 6)
    near({1, 7, 7, 7, 7, 7}, w:table(), 1e-12)
    near(0, (v.T:matmul(v) - gpu.eye(6, "float64")):abs():max():item(), 1e-12)
    -- Four eigenvalues, thirty times each: products leave a small space by rounding errors alone.
    gpu.random.seed(21)
    local q = gpu.linalg.qr(gpu.random.normal({120, 120}, 0, 1, {dtype = "float64"}))
    local A = (q * gpu.arange(120, "float64"):fmod(4)):matmul(q.T):eval()
    for which, value in pairs {LA = 3, LM = 3, SA = 0} do
      for _, k in ipairs {5, 12} do
        w, v = L.eigsh(A, k, {which = which})
        near(gpu.full({k}, value):table(), w:table(), 1e-12)
        near(0, (v.T:matmul(v) - gpu.eye(k, "float64")):abs():max():item(), 1e-12)
      end
    end
  end)

  --- The k most wanted of all eigenvalues, in order; for LM their magnitudes.
  local function wanted_of(all, k, which)
    local list, rank = {unpack(all)}, {LA = function(x) return -x end, SA = function(x) return x end,
      LM = function(x) return -math.abs(x) end}
    table.sort(list, function(a, b) return rank[which](a) < rank[which](b) end)
    list = {unpack(list, 1, k)}
    for i, x in ipairs(list) do list[i] = which == "LM" and math.abs(x) or x end
    table.sort(list)
    return list
  end

  --- Compares the eigenvalues of A with all of them, which are known, and its vectors with the definition.
  local function check_copies(name, A, all, counts)
    for _, which in ipairs {"LA", "SA", "LM"} do
      for _, k in ipairs(counts or {2, 3, 5}) do
        local w, v = L.eigsh(gpu.sparse.issparse(A) and A or operator(A), k, {which = which})
        local text = ("%s, %s, k = %d"):format(name, which, k)
        near(wanted_of(all, k, which), wanted_of(w:table(), k, which), 1e-10, text)
        assert((A:matmul(v) - v * w):abs():max():item() < 1e-9, text)
        assert((adjoint(v):matmul(v) - gpu.eye(k, "float64")):abs():max():item() < 1e-12, text)
      end
    end
  end

  local function ring(n)
    local step = gpu.sparse.coo(gpu.range(1, n), gpu.concat {gpu.range(2, n), gpu.range(1, 1)}, gpu.ones({n}, "float64"), {n, n})
    local all = {}
    for i = 1, n do all[i] = 2 * math.cos(2 * math.pi * i / n) end
    return (step + step.T):tocsr(), all
  end

  --- The graph Laplacian of a path, whose eigenvalues are single.
  local function path(n)
    local diagonal = gpu.full({n}, 2, "float64")
    diagonal[1], diagonal[n] = 1, 1
    local all = {}
    for i = 1, n do all[i] = 2 - 2 * math.cos(math.pi * (i - 1) / n) end
    return gpu.sparse.diags({diagonal, gpu.full({n - 1}, -1, "float64"), gpu.full({n - 1}, -1, "float64")}, {0, 1, -1}), all
  end

  it("finds all copies: rings, tori, complete graphs, graphs of several parts", function()
    for _, n in ipairs {257, 300} do check_copies("ring of " .. n, ring(n)) end
    local small, own = ring(17)
    local one, all = gpu.sparse.eye(17, {dtype = "float64"}), {}
    for _, a in ipairs(own) do
      for _, b in ipairs(own) do all[#all + 1] = a + b end
    end
    check_copies("torus", gpu.sparse.kron(small, one) + gpu.sparse.kron(one, small), all, {4, 7})
    all = {119}
    for i = 2, 120 do all[i] = -1 end
    check_copies("complete graph", gpu.ones({120, 120}, "float64") - gpu.eye(120, "float64"), all)
    for parts = 2, 4 do
      local blocks, values = {}, {}
      for i = 1, parts do
        local block, some_values = path(100 + 13 * (i % 3))
        blocks[i] = block
        for _, x in ipairs(some_values) do values[#values + 1] = x end
      end
      local A = gpu.sparse.block_diag(blocks, {format = "csr"})
      local w = L.eigsh(A, parts + 1, {sigma = -0.01, vectors = false})
      near(wanted_of(values, parts + 1, "SA"), w:table(), 1e-10)
      if parts == 3 then check_copies("three parts", A, values, {4}) end
    end
  end)

  it("finds all copies: identity plus low rank, Hermitian matrices with integers as eigenvalues", function()
    gpu.random.seed(31)
    local u = gpu.linalg.qr(gpu.random.normal({150, 3}, 0, 1, {dtype = "float64"}))
    local all = {3, 3, 5}
    for i = 4, 150 do all[i] = 1 end
    check_copies("identity and rank 3", (gpu.eye(150, "float64") + (u * gpu.array({2, 2, 4}, "float64")):matmul(u.T)):eval(), all)
    for most = 2, 6, 2 do
      local shape, place = {110, 110}, {dtype = "float64"}
      local q = gpu.linalg.qr(gpu.random.normal(shape, 0, 1, place) + gpu.random.normal(shape, 0, 1, place) * gpu.complex(0, 1))
      local values = gpu.random.integers(110, -most, most + 1):astype "float64"
      local A = (q * values):matmul(adjoint(q)):eval()
      check_copies("integers to " .. most, ((A + adjoint(A)) / 2):eval(), values:table(), {1, 3, 8})
    end
  end)

  it("finds all copies whatever the first vector is, and of small and great numbers", function()
    -- The first vector is an eigenvector.
    local A, all = path(300)
    near(wanted_of(all, 2, "LA"), L.eigsh(A, 2, {which = "LA", v0 = gpu.ones({300}, "float64"), vectors = false}):table(), 1e-10)
    local twice = gpu.sparse.block_diag({A, A}, {format = "csr"})
    near({0, 0}, L.eigsh(twice, 2, {sigma = -0.01, v0 = gpu.ones({600}, "float64"), vectors = false}):table(), 1e-10)
    for _, scale in ipairs {1e-100, 1e-12, 1e100} do
      local B, values = ring(270)
      for i, x in ipairs(wanted_of(values, 3, "LA")) do
        near(x, L.eigsh(B * scale, 3, {which = "LA", vectors = false})[i] / scale, 1e-10)
      end
    end
    near({0, 0, 0}, L.eigsh(operator(gpu.zeros({100, 100}, "float64")), 3, {vectors = false}):table(), 0)
  end)

  it("agrees with a closed form, after many restarts", function()
    local n = 400
    local A = L.operator(function(x)
      local zero = gpu.zeros(1, x.dtype)
      return 2 * x - gpu.concat {zero, x({1, -2})} - gpu.concat {x({2, -1}), zero}
    end, {shape = {n, n}, dtype = "float64"})
    local w, v = L.eigsh(A, 3, {which = "LA"})
    local expected = {}
    for i = 1, 3 do expected[i] = 2 - 2 * math.cos((n - 3 + i) * math.pi / (n + 1)) end
    near(expected, w:table(), 1e-12)
    near(0, (A:matmul(v(":", 3):contiguous()) - w[3] * v(":", 3)):norm():item(), 1e-10)
  end)

  it("gives the same each time, and leaves the script's random numbers alone", function()
    local A = diagonal(gpu.linspace(1, 300, 300, "float64"):eval())
    gpu.random.seed(4)
    local w, v = L.eigsh(A, 2)
    local next_number = gpu.rand(1)[1]
    gpu.random.seed(4)
    assert(gpu.rand(1)[1] == next_number)
    local again, same = L.eigsh(A, 2)
    assert(gpu.array_equal(w, again) and gpu.array_equal(v, same))
    local from = gpu.ones(300, "float64")
    near({299, 300}, L.eigsh(A, 2, {v0 = from, vectors = false}):table(), 1e-11)
  end)

  it("is less exact by tol, and says when it does not converge", function()
    local A = diagonal(gpu.linspace(1, 2, 2000, "float64"):eval())
    near({2}, L.eigsh(A, 1, {tol = 1e-4, vectors = false}):table(), 1e-4)
    fails("[sparse.linalg.eigsh] expected 6 values to converge, got 0 after 2 restarts; a larger ncv than 8, or a tol above 0",
      L.eigsh, A, 6, {ncv = 8, maxiter = 2})
  end)
end)

describe("svds", function()
  for _, dtype in ipairs(dtypes) do
    it("finds the greatest singular values in " .. dtype, function()
      gpu.random.seed(17)
      for _, shape in ipairs {{1, 1}, {2, 5}, {33, 20}, {90, 120}, {150, 70}} do
        local m = (some(dtype, shape[1], shape[2]) + gpu.eye(shape[1], shape[2], {dtype = dtype})):eval()
        local k = math.min(3, shape[1], shape[2])
        local all = gpu.linalg.svdvals(m:astype(dtype:find "^complex" and "complex128" or "float64"))
        local u, s, vh = L.svds(shape[1] < 90 and gpu.sparse.csr(m) or operator(m), k)
        local limit = 200 * unit[dtype] * all[1]
        near(part(all, 1, k), s:table(), limit)
        assert((m:matmul(adjoint(vh)) - u * s):abs():max():item() <= limit)
        assert((adjoint(m):matmul(u) - adjoint(vh) * s):abs():max():item() <= limit)
        assert((adjoint(u):matmul(u) - gpu.eye(k, dtype)):abs():max():item() <= limit)
        assert((vh:matmul(adjoint(vh)) - gpu.eye(k, dtype)):abs():max():item() <= limit)
      end
    end)
  end

  it("finds all copies of singular values", function()
    gpu.random.seed(37)
    local place = {dtype = "float64"}
    local u = gpu.linalg.qr(gpu.random.normal({120, 80}, 0, 1, place))
    local v = gpu.linalg.qr(gpu.random.normal({80, 80}, 0, 1, place))
    local values = gpu.floor(gpu.arange(80, place) / 4):flip(1)
    local A = (u * values):matmul(v.T):eval()
    for _, k in ipairs {1, 3, 6, 10} do
      local left, s, right = L.svds(operator(A), k)
      near(part(values, 1, k), s:table(), 1e-11)
      near(0, (A:matmul(right.T) - left * s):abs():max():item(), 1e-11)
    end
  end)

  it("keeps small singular values exact, and those that are 0 have orthogonal vectors", function()
    local values = gpu.concat {gpu.array({1, 1e-3, 1e-9}, "float64"), gpu.zeros(197, "float64")}
    local u, s, vh = L.svds(diagonal(values), 5)
    near({1, 1e-3, 1e-9, 0, 0}, s:table(), 1e-15)
    near(0, (u.T:matmul(u) - gpu.eye(5, "float64")):abs():max():item(), 1e-12)
    near(0, (vh:matmul(vh.T) - gpu.eye(5, "float64")):abs():max():item(), 1e-12)
    near({1, 1}, L.svds(gpu.sparse.csr(gpu.eye(200)), 2, {vectors = false}):table(), 1e-6)
  end)
end)

describe("bad input", function()
  it("is named", function()
    local A = gpu.sparse.csr(gpu.eye(100))
    for _, name in ipairs {"eigsh", "svds"} do
      local op, find = "[sparse.linalg." .. name .. "] ", L[name]
      fails(op .. "expected A: a matrix (m,n), a sparse matrix or gpu.sparse.linalg.operator", find, print)
      fails(op .. "expected k from 1 to 100, got 0", find, A, 0)
      fails(op .. "expected k from 1 to 100, got 101", find, A, 101)
      fails(op .. "expected k, a number of values, got 1.5", find, A, 1.5)
      fails(op .. "expected ncv from 5 to", find, A, 3, {ncv = 4})
      fails(op .. "expected tol = a number of 0 or more", find, A, 3, {tol = -1})
      fails(op .. "expected maxiter of 1 or more", find, A, 3, {maxiter = 0})
      fails(op .. "expected v0, a vector of 100 elements", find, A, 3, {v0 = gpu.ones(3)})
      fails(op .. "expected v0 with a finite length above 0", find, A, 3, {v0 = gpu.zeros(100)})
      fails(op .. "expected vectors = true or false", find, A, 3, {vectors = 1})
      fails(op .. "expected finite products, got infinities or NaN", find,
        L.operator(function(x) return x * (0 / 0) end, {shape = {100, 100}, adjoint = function(x) return x end}), 3)
    end
    fails("[sparse.linalg.eigsh] expected which = LM, LA, SA or SM, got \"BE\"", L.eigsh, A, 3, {which = "BE"})
    fails("[sparse.linalg.eigsh] expected which = LM, LA or SA beside sigma, got \"SM\"", L.eigsh, A, 3, {which = "SM", sigma = 2})
    fails("[sparse.linalg.eigsh] expected sigma = a number", L.eigsh, A, 3, {sigma = "0"})
    fails("[sparse.linalg.eigsh] expected a square matrix, got shape (2,3)", L.eigsh, gpu.ones(2, 3), 1)
    fails("expected an operator that was made with the option adjoint", L.svds,
      L.operator(function(x) return x end, {shape = {100, 100}}), 3)
  end)
end)
