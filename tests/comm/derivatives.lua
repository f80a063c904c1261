-- gpulua --ranks N derivatives.lua: gradients of functions with collectives, against those of one process that has all parts.
local gpu = require "gpu"
local comm = gpu.comm
local rank, size = comm.rank, comm.size

local function close(name, got, expected)
  assert(gpu.allclose(got, expected, {rtol = 1e-10, atol = 1e-12}),
    ("%s on rank %d of %d: expected %s, got %s"):format(name, rank, size, tostring(expected), tostring(got)))
end

local function fails(message, f)
  local ok, got = pcall(f)
  assert(not ok and got:find(message, 1, true), "expected an error with: " .. message .. ", got: " .. tostring(got))
end

gpu.random.seed(1) -- the same numbers on all ranks
local function normal(...) return gpu.random.normal({...}, 0, 1, "float64"):eval() end
local function own(x, axis) return comm.part(x, axis or 1):copy() end

-- Each rank has a part of the samples, and all have the parameters.
do
  local samples, goal = normal(4 * size, 3), normal(4 * size)
  local p = {w = normal(3), b = normal(1)}
  local function loss(p, x, y) return (gpu.tanh(x:matmul(p.w) + p.b) - y):square():mean() end
  local expected_value, expected = gpu.value_and_grad(loss)(p, samples, goal)
  local function part_of_loss(p) return comm.all_reduce(loss(comm.replicated(p), own(samples), own(goal)), "mean") end
  local value, g = gpu.value_and_grad(part_of_loss)(p)
  close("the loss", value, expected_value)
  close("the gradient by w", g.w, expected.w)
  close("the gradient by b", g.b, expected.b)
  -- Without replicated, a gradient is that by way of this rank's samples alone.
  local alone = gpu.grad(function(p) return comm.all_reduce(loss(p, own(samples), own(goal)), "mean") end)(p)
  close("the part of the gradient", alone.w, gpu.grad(loss)(p, own(samples), own(goal)).w / size)
  close("the sum of the parts", comm.all_reduce(alone.w), expected.w)
end

-- Each rank has a part of the parameters: columns of the first matrix, rows of the second one.
do
  local x, A, B = normal(5, 3), normal(3, 2 * size + 1), normal(2 * size + 1, 4)
  local v = normal(5, 3)
  local function whole(x, A, B) return gpu.sin(gpu.tanh(x:matmul(A)):matmul(B)):sum() end
  local function layer(x, A, B, ranks)
    ranks = ranks or comm
    return gpu.sin(ranks.all_reduce(gpu.tanh(ranks.replicated(x):matmul(A)):matmul(B))):sum()
  end
  local value, gx, gA, gB = gpu.value_and_grad(whole, {1, 2, 3})(x, A, B)
  local mine, hx, hA, hB = gpu.value_and_grad(layer, {1, 2, 3})(x, own(A, 2), own(B, 1))
  close("the value of the layer", mine, value)
  close("the gradient by x", hx, gx)
  close("the gradient by A", hA, own(gA, 2))
  close("the gradient by B", hB, own(gB, 1))
  close("second derivatives", gpu.hvp(function(x) return layer(x, own(A, 2), own(B, 1)) end, x, v), gpu.hvp(function(x) return whole(x, A, B) end, x, v))
  local _, dy = gpu.jvp(function(x) return layer(x, own(A, 2), own(B, 1)) end, {x}, {v})
  close("forward", dy, (gx * v):sum())
  -- The same in a split: the reverse pass runs outside of its functions.
  local alone = comm.split(rank)
  close("of a split", gpu.grad(function(x) return layer(x, A, B, alone) end)(x), gx)
end

-- Parts that are joined, of different sizes, and a sum of which each rank has a part.
do
  local all, weights = normal(3, 3 * size + 1), normal(3, 3 * size + 1)
  local expected = gpu.grad(function(x) return (gpu.sin(x) * weights * x:sum()):sum() end)(all)
  local function joined(part)
    local x = comm.all_gather(part, 2)
    return (gpu.sin(x) * weights * x:sum()):sum()
  end
  close("all_gather", gpu.grad(joined)(own(all, 2)), own(expected, 2))
  local v = normal(3, 3 * size + 1)
  local second = gpu.hvp(function(x) return (gpu.sin(x) * weights * x:sum()):sum() end, all, v)
  -- A vector whose part each rank has: the product with the whole matrix of second derivatives needs all of them.
  close("second derivatives of all_gather", gpu.hvp(joined, own(all, 2), own(v, 2)), own(second, 2))

  local terms = normal(size, 2 * size) -- row r is rank r's array
  local scale = normal(2 * size)
  local function total(rows) return (gpu.sin(rows:sum(1)) * scale):sum() end
  local function scattered(row) return comm.all_reduce((gpu.sin(comm.reduce_scatter(row)) * own(scale)):sum()) end
  local value, g = gpu.value_and_grad(scattered)(terms(rank + 1):copy())
  close("the value of reduce_scatter", value, total(terms))
  close("reduce_scatter", g, gpu.grad(total)(terms)(rank + 1))
  close("the mean", gpu.grad(function(row) return comm.all_reduce(comm.reduce_scatter(row, "mean"):sum()) end)(terms(rank + 1):copy()),
    gpu.full({2 * size}, 1 / size, "float64"))
end

do
  local x = normal(2 * size)
  local function refused(message, f) fails(message, function() gpu.grad(f)(x) end) end
  refused('[comm.all_reduce] has for the operation "max" no derivative', function(z) return comm.all_reduce(z, "max"):sum() end)
  refused("[comm.all_reduce] the option out has no derivative", function(z) return comm.all_reduce(z, {out = gpu.zeros(2 * size, "float64")}):sum() end)
  refused("[comm.broadcast] has no derivative between ranks: gpu.comm.all_reduce", function(z) return comm.broadcast(z, 0):sum() end)
  fails("[comm.replicated] expected an array of real or complex numbers", function() comm.replicated(gpu.arange(3)) end)
end
comm.print "ok"
