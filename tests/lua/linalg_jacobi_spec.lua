-- Eigenvalues of small symmetric and Hermitian matrices, and singular values of small matrices: batches go another way than one does.
local gpu = require "gpu"
local residuals = require "linalg_residuals"
local support = require "support"
local fails = support.fails
local linalg = gpu.linalg
local dtypes, unit, random, transposed = residuals.dtypes, residuals.unit, residuals.random, residuals.transposed
local adjoint, size, small, check_orthogonal = residuals.adjoint, residuals.size, residuals.small, residuals.check_orthogonal

--- Whether own kernels take these matrices whatever their number is: on a GPU, and with its schedules.
local by_warps = gpu.device().kind ~= "cpu" or os.getenv "GPULUA_CPU_SCHEDULES" == "gpu"
local many = by_warps and 3 or 512

local function is_complex(dtype) return dtype:find "^complex" ~= nil end
local function wide(dtype) return is_complex(dtype) and "complex128" or "float64" end

--- x + x', exactly Hermitian.
local function hermitian(x) return (x + adjoint(x)):eval() end

--- Matrices (kinds, n, n) of a dtype: each a reason for an iteration to stall or to lose digits.
local function kinds(dtype, n)
  local x, v = random(dtype, n, n), random(dtype, n, 1)
  local q = linalg.qr(random(dtype, n, n))
  local grades = 10 ^ (gpu.range(0, n - 1, { dtype = "float64" }) * (-4 / n))
  local function graded(order)
    local d = grades:flip(order)
    local near_one = gpu.eye(n, dtype) + hermitian(x) * (0.1 / n)
    return (near_one * d:expand_dims(-1) * d):astype(dtype)
  end
  local list = {
    random = hermitian(x),
    clustered = hermitian(q:matmul(adjoint(q) * (1 + gpu.random.normal({ n, 1 }) * 1e-6))),
    zero = gpu.zeros({ n, n }, { dtype = dtype }),
    rank_one = hermitian(v:matmul(adjoint(v))),
    half_rank = hermitian(x(":", { 1, math.ceil(n / 2) }):matmul(adjoint(x(":", { 1, math.ceil(n / 2) })))),
    diagonal = gpu.eye(n, dtype) * gpu.random.normal { n },
    signs = hermitian(gpu.where(random("float32", n, n):gt(0), 1, -1):astype(dtype)),
    ones = gpu.ones({ n, n }, { dtype = dtype }),
    wide_spectrum = hermitian(q:matmul(adjoint(q) * grades:expand_dims(-1))),
    growing = graded {},
    falling = graded(1),
    large = hermitian(x) * (dtype:find "128" and 1e300 or dtype == "float64" and 1e300 or 1e36),
    tiny = hermitian(x) * ((dtype:find "128" or dtype == "float64") and 1e-300 or 1e-36),
  }
  local names, matrices = {}, {}
  for name, matrix in pairs(list) do names[#names + 1] = name end
  table.sort(names)
  for i, name in ipairs(names) do matrices[i] = list[name]:astype(dtype):expand_dims(1) end
  return gpu.concat(matrices):eval(), names
end

--- LAPACK's eigenvalues in double precision: of matrices that are continued by a diagonal to more rows than own kernels take.
local function reference(a)
  local n, dtype = a.shape[3], wide(a.dtype)
  local bound = linalg.matrix_norm(a:astype(dtype), 1):expand_dims { -2, -1 }
  local whole = gpu.eye(40, dtype) * gpu.where(bound:eq(0), 1, bound * 2)
  whole = whole:broadcast_to(a.shape[1], 40, 40):copy()
  whole(":", { 1, n }, { 1, n }):copy_(a)
  return linalg.eigvalsh(whole)(":", { 1, n })
end

--- All for two dtypes; the others go the same way.
local function extents(dtype)
  if dtype == "float64" then return { 1, 3, 8, 16, 31, 32 } end
  if dtype == "complex64" then return { 1, 2, 5, 15, 16 } end
  return support.series(is_complex(dtype) and 16 or 32, function(n) return n end)
end

describe("gpu.linalg with small matrices to diagonalise", function()
  before_each(function() gpu.random.seed(14) end)

  it("finds eigenvalues and eigenvectors", function()
    for _, dtype in ipairs(dtypes) do
      for _, n in ipairs(extents(dtype)) do
        local a, names = kinds(dtype, n)
        local copies = math.ceil(many / #names)
        local batch = a:expand_dims(1):broadcast_to(copies, #names, n, n):copy()
        local w, v = linalg.eigh(batch)
        assert.is_true(gpu.array_equal(w(1), w(copies)))
        local alone = linalg.eigvalsh(batch)(copies)
        w, v = w(copies), v(copies)
        local expected, exact, scale = reference(a), a:astype(wide(dtype)), linalg.matrix_norm(a:astype(wide(dtype)), 1)
        scale = gpu.where(scale:eq(0), 1, scale)
        assert.is_true(w:diff():ge(0):all():item())
        local rest = exact:matmul(v:astype(wide(dtype))) - v:astype(wide(dtype)) * w:astype "float64":expand_dims(-2)
        local per_unit = 1 / (n * unit[dtype])
        for k, name in ipairs(names) do
          local where = ("%s %d %s"):format(dtype, n, name)
          check_orthogonal(v(k), where)
          small(size(rest(k)) / scale(k) * per_unit, where)
          small((w(k) - expected(k)):abs():max() / scale(k) * per_unit, where .. " values")
          small((alone(k) - expected(k)):abs():max() / scale(k) * per_unit, where .. " values alone")
          -- Ours of a graded matrix are accurate one by one, as LAPACK's are in double precision only.
          if (name == "growing" or name == "falling") and by_warps and wide(dtype) ~= dtype then
            small(((w(k) - expected(k)) / expected(k)):abs():max() * per_unit, where .. " small values")
          end
        end
      end
    end
  end)

  it("reads one triangle", function()
    for _, dtype in ipairs { "float32", "complex128" } do
      for _, n in ipairs { 2, 5, 8 } do
        local h = hermitian(random(dtype, many, n, n))
        local w, v = linalg.eigh(h)
        local lower = gpu.tril(h) + gpu.triu(gpu.full({ n, n }, 0 / 0), 1)
        for uplo, a in pairs { L = lower, U = transposed(lower):conj() } do
          local own_w, own_v = linalg.eigh(a, { uplo = uplo })
          assert.is_true(gpu.array_equal(w, own_w))
          assert.is_true(gpu.array_equal(v, own_v))
        end
      end
    end
  end)

  it("has closed forms", function()
    -- Second differences.
    local n = 8
    local a = gpu.eye(n, n, 0, { dtype = "float64" }) * 2 - gpu.eye(n, n, 1) - gpu.eye(n, n, -1)
    local w = linalg.eigvalsh(a:broadcast_to(many, n, n))
    local expected = {}
    for k = 1, n do expected[k] = 2 - 2 * math.cos(k * math.pi / (n + 1)) end
    support.near(expected, w(many):table(), 1e-14)
    -- No rounding, thus exact.
    local values = gpu.array { 3, -1, 2, 2, 0 }
    local own, v = linalg.eigh((gpu.eye(5) * values):broadcast_to(many, 5, 5))
    assert.are.same({ -1, 0, 2, 2, 3 }, own(many):table())
    assert.are.same({ 2, 5, 3, 4, 1 }, v(many):argmax(1):table())
  end)

  it("names the matrix that is not finite", function()
    for _, wrong in ipairs { 0 / 0, math.huge } do
      local a = hermitian(random("float32", 700, 4, 4))
      a(600)[{ 3, 2 }] = wrong
      local w, v = linalg.eigh(a)
      fails("[linalg.eigh] matrix 600 of the batch has elements that are not finite", gpu.sync)
      fails("matrix 600 of the batch", v.table, v)
      fails("matrix 600 of the batch", function() return (w + 1):sum():item() end)
    end
  end)

  it("is the same for any number of matrices", function()
    if not by_warps then return end
    for _, n in ipairs { 2, 4, 7, 16, 32 } do
      local a = hermitian(random("float32", 1000, n, n))
      local w, v = linalg.eigh(a)
      for _, count in ipairs { 1, 3 } do
        local own, vectors = linalg.eigh(a({ 500, 499 + count }))
        assert.is_true(gpu.array_equal(w({ 500, 499 + count }), own))
        assert.is_true(gpu.array_equal(v({ 500, 499 + count }), vectors))
      end
      local one = linalg.eigh(a(1000))
      assert.is_true(gpu.array_equal(w(1000), one))
    end
  end)

  it("finds singular values", function()
    for _, dtype in ipairs(dtypes) do
      local all, some = { { 1, 1 }, { 2, 2 }, { 1, 5 }, { 3, 4 }, { 8, 8 }, { 16, 5 }, { 9, 16 } }, { { 2, 2 }, { 7, 5 } }
      local shapes = residuals.thorough[dtype] and all or some
      if not is_complex(dtype) then shapes[#shapes + 1], shapes[#shapes + 2] = { 32, 3 }, { 31, 32 } end
      for _, shape in ipairs(shapes) do
        local m, n = unpack(shape)
        local where = ("%s %dx%d"):format(dtype, m, n)
        local x, large = random(dtype, m, n), wide(dtype) == dtype and 1e300 or 1e36
        local grades = 10 ^ (gpu.range(0, n - 1, { dtype = "float64" }) * (-8 / n))
        local graded = ((gpu.eye(m, n, 0, { dtype = dtype }) + x * (0.1 / n)) * grades):astype(dtype)
        local a = {
          x, x * large, x * (1 / large), gpu.zeros({ m, n }, { dtype = dtype }), gpu.ones({ m, n }, { dtype = dtype }),
          x(":", { 1, 1 }):matmul(x({ 1, 1 }, ":")), gpu.where(x:real():gt(0), 1, -1), gpu.eye(m, n, 0, { dtype = dtype }), graded,
        }
        for k = 1, #a do a[k] = a[k]:astype(dtype):expand_dims(1) end
        a = gpu.concat(a):eval()
        local count, copies = a.shape[1], math.ceil(many / a.shape[1])
        local s = linalg.svdvals(a:expand_dims(1):broadcast_to(copies, count, m, n))
        assert.is_true(gpu.array_equal(s(1), s(copies)))
        s = s(copies)
        local _, expected = linalg.svd(a:astype(wide(dtype)), false) -- the library's
        assert.are.equal(tostring(expected.shape), tostring(s.shape))
        assert.is_true(s:diff():le(0):all():item() and s:ge(0):all():item(), where)
        local scale = gpu.where(expected:max(-1):eq(0), 1, expected:max(-1))
        small((s - expected):abs():max(-1) / scale / (math.max(m, n) * unit[dtype]), where)
        -- Lengths of columns that differ much are accurate one by one.
        if m >= n and by_warps and wide(dtype) ~= dtype then
          small(((s(-1) - expected(-1)) / expected(-1)):abs() / (m * unit[dtype]), where .. " graded")
        end
      end
    end
    local a = random("float32", 700, 5, 3)
    a(600)[{ 3, 2 }] = 0 / 0
    local s = linalg.svdvals(a)
    fails("[linalg.svdvals] matrix 600 of the batch has elements that are not finite", s.table, s)
    gpu.sync()
    -- Of matrices in columns, and of another dtype.
    a = (random("float32", 3, 5, 700) * 9):astype("int32"):permute { 3, 2, 1 }
    local _, expected = linalg.svd(a:astype "float64", false)
    support.near(0, ((linalg.svdvals(a) - expected):abs():max() / expected:max()):item(), 1e-6)
  end)
end)
