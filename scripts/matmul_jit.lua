-- gpulua scripts/matmul_jit.lua [n]: a product of matrices by a kernel that is written in Lua, by tiles in shared memory, beside the
-- library's product.
local gpu = require "gpu"
local n = tonumber(arg[1] or 1024)

local product = gpu.jit(function(a, b, c)
  local ta, tb = gpu.shared(16, 16, "float32"), gpu.shared(16, 16, "float32")
  local tx, ty = gpu.thread(2)
  local column, row = gpu.grid(2)
  local sum = 0
  for t = 0, a.shape[2] - 1, 16 do
    ta[ty][tx] = row <= #a and t + tx <= a.shape[2] and a[row][t + tx] or 0
    tb[ty][tx] = t + ty <= #b and column <= b.shape[2] and b[t + ty][column] or 0
    gpu.barrier()
    for k = 1, 16 do sum = sum + ta[ty][k] * tb[k][tx] end
    gpu.barrier()
  end
  if row <= #c and column <= c.shape[2] then c[row][column] = sum end
end, {name = "product"})

local a, b, c = gpu.rand(n, n), gpu.rand(n, n), gpu.zeros(n, n)
local blocks = math.ceil(n / 16)
local launch = product {grid = {blocks, blocks}, block = {16, 16}}
launch(a, b, c)
local off = ((c - a:matmul(b)):abs():max() / n):item()
print(("n = %d: the largest difference is %.2g of n"):format(n, off))
assert(off < 1e-5 and c:mean():item() > n / 5)

local t = gpu.benchmark(function() launch(a, b, c) end, {repeats = 5})
print(t)
