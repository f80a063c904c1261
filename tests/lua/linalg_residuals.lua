-- Matrices for the specs of gpu.linalg, and residuals as LAPACK's own tests measure them.
local gpu = require "gpu"
local assert = require "luassert"
local linalg = gpu.linalg

local dtypes = { "float32", "float64", "complex64", "complex128" }
local unit = { float32 = 2 ^ -24, complex64 = 2 ^ -24, float64 = 2 ^ -53, complex128 = 2 ^ -53 } -- rounding errors

local function random(dtype, ...)
  local real = dtype:find "128$" and "float64" or dtype == "float64" and dtype or "float32"
  local x = gpu.random.normal({ ... }, 0, 1, { dtype = real })
  if dtype:find "^complex" then x = x + gpu.random.normal({ ... }, 0, 1, { dtype = real }) * gpu.complex(0, 1) end
  return x:eval()
end

local function transposed(x) return x:swapaxes(-1, -2) end
local function adjoint(x) return x.dtype:find "^complex" and transposed(x):conj() or transposed(x) end
local function eye(n, like) return gpu.eye(n, like.dtype) end
--- The 1-norm of each matrix of a batch.
local function size(x) return linalg.matrix_norm(x, 1) end

--- The greatest of the ratios, an array, is below LAPACK's threshold of 30.
local function small(ratios, where)
  local worst = ratios:max():item()
  if not (worst < 30) then error(("%s: a ratio of %g"):format(where, worst), 2) end
end

--- |Q'Q - I| / (n eps)
local function check_orthogonal(q, where)
  if q.size == 0 then return end
  local n = q.shape[q.ndim - 1]
  small(size(adjoint(q):matmul(q) - eye(q.shape[q.ndim], q)) / (n * unit[q.dtype]), where .. " orthogonal")
end

--- |A - B| / (n |A| eps)
local function check_equal(a, b, where)
  assert.are.equal(tostring(a.shape), tostring(b.shape), where)
  if a.size == 0 then return end
  small(size(a - b) / (size(a) * (math.max(a.shape[a.ndim], a.shape[a.ndim - 1]) * unit[a.dtype])), where)
end

--- |A x - b| / (n |A| |x| eps)
local function check_solution(a, x, b, where)
  if x.size == 0 then return end
  small(size(a:matmul(x) - b) / (size(a) * size(x) * (a.shape[a.ndim] * unit[a.dtype])), where)
end

--- Calls check(a, where) with matrices of m rows and n columns: one, a batch, a transposed one, and a strided view.
local function each_layout(dtype, m, n, check)
  local where = ("%s %dx%d"):format(dtype, m, n)
  check(random(dtype, m, n), where)
  check(random(dtype, n, m).T, where .. " transposed")
  check(random(dtype, 2, 3, m, n), where .. " batch")
  if m > 0 and n > 0 then check(random(dtype, 2 * m, 3 * n)("::-2", "2::3"), where .. " strided") end
end

-- The dtypes with all sizes; the other two go the same way.
local thorough = { float32 = true, complex128 = true }

local function each_square(check)
  for _, dtype in ipairs(dtypes) do
    for _, n in ipairs(thorough[dtype] and { 0, 1, 31, 32, 33 } or {}) do each_layout(dtype, n, n, check) end
    check(random(dtype, 129, 129), dtype .. " 129")
  end
end

local function each_shape(check)
  for _, dtype in ipairs(dtypes) do
    local shapes = { { 0, 3 }, { 3, 0 }, { 1, 1 }, { 31, 33 }, { 33, 32 }, { 5, 40 }, { 40, 5 } }
    for _, shape in ipairs(thorough[dtype] and shapes or {}) do each_layout(dtype, shape[1], shape[2], check) end
    check(random(dtype, 129, 65), dtype .. " 129x65")
    for _, shape in ipairs { { 5, 5 }, { 7, 3 }, { 3, 7 } } do
      check(random(dtype, 4, shape[1], shape[2]), dtype .. " small batch")
    end
  end
end

return {
  dtypes = dtypes,
  unit = unit,
  random = random,
  transposed = transposed,
  adjoint = adjoint,
  eye = eye,
  size = size,
  small = small,
  check_orthogonal = check_orthogonal,
  check_equal = check_equal,
  check_solution = check_solution,
  thorough = thorough,
  each_layout = each_layout,
  each_square = each_square,
  each_shape = each_shape,
}
