-- gpulua --ranks N collectives.lua, or by another launcher: each function of gpu.comm against a loop over what the ranks have, for
-- dtypes, sizes and views.
local gpu = require "gpu"
local comm = gpu.comm
local rank, size = comm.rank, comm.size

local dtypes = { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
  "float64", "complex64", "complex128" }

--- Element i of rank r: a small integer, so that each dtype holds sums and products.
local function element(r, i) return (7 * i + 3 * r) % 3 + 1 end

local function values(r, n)
  local list = {}
  for i = 1, n do list[i] = element(r, i) end
  return list
end

local function array(r, n, dtype)
  if n == 0 then return gpu.zeros(0, dtype) end
  return gpu.array(values(r, n), dtype)
end

local function check(name, got, expected)
  if got.dtype ~= expected.dtype or tostring(got.shape) ~= tostring(expected.shape) or not gpu.array_equal(got, expected) then
    error(("%s on rank %d of %d: expected %s, got %s"):format(name, rank, size, tostring(expected), tostring(got)), 2)
  end
end

--- Element by element over the ranks.
local function reduced(n, dtype, combine)
  local list = values(0, n)
  for r = 1, size - 1 do
    for i = 1, n do list[i] = combine(list[i], element(r, i)) end
  end
  return n == 0 and gpu.zeros(0, dtype) or gpu.array(list, dtype)
end

local function add(a, b) return a + b end
-- A list: pairs has another order in each process.
local operations = { { "sum", add }, { "prod", function(a, b) return a * b end }, { "max", math.max }, { "min", math.min } }

for _, dtype in ipairs(dtypes) do
  for _, n in ipairs { 0, 1, 7 } do
    local x = array(rank, n, dtype)
    for _, operation in ipairs(operations) do
      local name, combine = unpack(operation)
      if name == "sum" or not dtype:find "complex" then
        check("all_reduce " .. name, comm.all_reduce(x, name), reduced(n, dtype, combine))
      end
    end
    local all = {}
    for r = 0, size - 1 do all[r + 1] = array(r, n, dtype) end
    check("all_gather", comm.all_gather(x), gpu.concat(all))
    check("broadcast_", comm.broadcast_(x:copy(), size - 1), array(size - 1, n, dtype))
  end
end

-- booleans: or, and
local bits = gpu.array { rank == 0, true, rank ~= 0 }
check("or", comm.all_reduce(bits, "max"), gpu.array { true, true, size > 1 })
check("and", comm.all_reduce(bits, "min"), gpu.array { size == 1, true, false })

-- a large array, in place and through a view of every second element
local n = 2 ^ 20
local big = gpu.arange(n, "float64") + rank
local expected = gpu.arange(n, "float64") * size + size * (size - 1) / 2
check("2^20", comm.all_reduce(big), expected)
check("mean", comm.all_reduce(big, "mean"), expected / size)
local out = gpu.empty(n, "float64")
comm.all_reduce(big, { out = out })
check("out", out, expected)
comm.all_reduce_(big "::2")
check("a view", big "::2", expected "::2":copy())
check("beside the view", big "2::2", gpu.arange(n, "float64") "2::2" + rank)
local odd = gpu.full(2 ^ 20 + 3, rank + 1, "int32")
check("odd", comm.all_reduce(odd, "max"), gpu.full(2 ^ 20 + 3, size, "int32"))

-- numbers
assert(comm.all_reduce(rank + 0.5) == size * (size - 1) / 2 + size * 0.5)
assert(comm.sum(1) == size and comm.mean(rank) == (size - 1) / 2 and comm.all_reduce(rank, "max") == size - 1)

-- reduce, reduce_scatter, all_to_all: arrays of two axes
local m = gpu.arange(size * 6, "int32"):reshape(2 * size, 3) + 100 * rank
local total = gpu.arange(size * 6, "int32"):reshape(2 * size, 3) * size + 50 * size * (size - 1)
local at_last = comm.reduce(m, "sum", size - 1)
if rank == size - 1 then check("reduce", at_last, total) else assert(at_last == nil) end
check("reduce_scatter", comm.reduce_scatter(m), total { 2 * rank + 1, 2 * rank + 2 }:copy())
local rows = {}
for r = 0, size - 1 do
  rows[r + 1] = (gpu.arange(size * 6, "int32"):reshape(2 * size, 3) + 100 * r) { 2 * rank + 1, 2 * rank + 2 }
end
check("all_to_all", comm.all_to_all(m), gpu.concat(rows))
check("all_to_all of a transposed array", comm.all_to_all(m.T:copy().T), gpu.concat(rows))

-- parts of different sizes, along both axes
local whole = gpu.arange(35, "float32"):reshape(7, 5)
check("gather parts", comm.all_gather(comm.part(whole)), whole)
check("gather columns", comm.all_gather(comm.part(whole, 2), 2), whole)
local gathered = comm.gather(comm.part(whole, 2), 0, 2)
if rank == 0 then check("gather", gathered, whole) else assert(gathered == nil) end
check("scatter", comm.scatter(comm.is_root and whole or nil), comm.part(whole):copy())
check("broadcast", comm.broadcast(rank == size - 1 and whole or nil, size - 1), whole)
local first, last = comm.share(10)
assert(comm.sum(last - first + 1) == 10)
check("a number of each", comm.all_gather(gpu.array(rank, "int32")), gpu.arange(size, "int32"))

-- messages
local after, before = (rank + 1) % size, (rank - 1) % size
local got = gpu.zeros(5, "float32")
comm.exchange(gpu.full(5, rank), after, got, before)
check("exchange", got, gpu.full(5, before))
if size > 1 then
  local huge = gpu.empty(2 ^ 19, "float32")
  comm.group(function() -- the order within a group is free: all send before they receive
    comm.send(gpu.full(2 ^ 19, rank), after)
    comm.recv_(huge, before)
  end)
  check("group", huge, gpu.full(2 ^ 19, before))
  if rank == 0 then comm.send(whole.T, 1) end
  if rank == 1 then check("recv_", comm.recv_(gpu.zeros({ 5, 7 }), 0), whole.T:copy()) end
end

-- halos: a ring, and a line, whose ends stay
local function line(fill)
  local x = gpu.full({ 2, 8 }, fill or rank)
  x(":", { 1, 2 }):fill_(-1)
  x(":", { 7, 8 }):fill_(-1)
  return x
end
local function with_ends(low, high)
  return gpu.concat({ gpu.full({ 2, 2 }, low), gpu.full({ 2, 4 }, rank), gpu.full({ 2, 2 }, high) }, 2)
end
check("a ring", comm.halo_(line(), 2, 2, { periodic = true }), with_ends(before, after))
check("a line", comm.halo_(line(), 2, 2), with_ends(rank > 0 and before or -1, rank < size - 1 and after or -1))
-- the two halos of one neighbour are not exchanged
local ordered = comm.halo_(gpu.arange(6, "int32") + 10 * rank, 1, { periodic = true })
assert(ordered[1] == 10 * before + 4 and ordered[6] == 10 * after + 1)

-- objects
local objects = comm.all_gather_object { rank = rank, list = { 1, "two", true } }
for r = 0, size - 1 do assert(objects[r + 1].rank == r and objects[r + 1].list[2] == "two") end
assert(comm.broadcast_object(rank == 0 and { "from 0" } or nil)[1] == "from 0")
assert(comm.broadcast_object(rank, size - 1) == size - 1)

-- a part of the ranks
local half = comm.split(rank % 2, -rank)
assert(half.size == math.floor((size + 1 - rank % 2) / 2) and comm.size == size)
local sum = 0
for r = rank % 2, size - 1, 2 do sum = sum + r end
check("all_reduce of a split", half.all_reduce(gpu.array { rank }), gpu.array { sum })
assert(half.all_gather_object(rank)[1] == (size - 1) - (size - 1 - rank) % 2, "the greatest key is the last rank")
assert(comm.split(rank == 0 and 1 or nil) == nil == (rank ~= 0))
assert(half.split(0).size == half.size)

-- a draw for all
gpu.random.seed(11)
local normal = gpu.randn(2 ^ 12 + 5)
gpu.random.seed(11)
check("randn", comm.all_gather(comm.randn(2 ^ 12 + 5)), normal)
local state = gpu.random.state()
gpu.random.seed(11)
gpu.randn(2 ^ 12 + 5)
assert(gpu.random.state().offset == state.offset, "the stream goes on alike")
gpu.random.seed(3)
local table64 = gpu.rand(9, 3, "float64")
gpu.random.seed(3)
check("rand", comm.all_gather(comm.rand({ 9, 3 }, "float64")), table64)

for _ = 1, 1000 do comm.barrier() end
comm.print "done"
