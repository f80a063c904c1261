-- gpulua --ranks N collectives.lua [largest size], or by another launcher: each function of gpu.comm against a loop over what the
-- ranks have, for dtypes, sizes and views.
local gpu = require "gpu"
local comm = gpu.comm
local rank, size = comm.rank, comm.size
local largest = tonumber(arg[1]) or 2 ^ 20

local dtypes = { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
  "float64", "complex64", "complex128" }

assert((comm.transport() == "nothing") == (size == 1))

--- Element i of rank r: a small integer, so that each dtype holds sums and products. It repeats after three.
local function element(r, i) return (7 * i + 3 * r * r + r) % 3 + 1 end

--- The array of fn(1) to fn(n), where fn repeats after three.
local function array_of(n, dtype, fn)
  local list = {}
  for i = 1, math.min(n, 999) do list[i] = fn(i) end
  if n == 0 then return gpu.zeros(0, dtype) end
  local x = gpu.array(list, dtype)
  return n > 999 and gpu.tile(x, math.ceil(n / 999))({ 1, n }):copy() or x
end

local function array(r, n, dtype)
  return array_of(n, dtype, function(i) return element(r, i) end)
end

--- The same elements as every second one of an array.
local function view_of(x)
  local wide = gpu.full(2 * x.size, 1, x.dtype)
  if x.size == 0 then return wide end
  wide "::2":copy_(x)
  return wide "::2", wide
end

local function check(name, got, expected)
  if got.dtype ~= expected.dtype or tostring(got.shape) ~= tostring(expected.shape) or not gpu.array_equal(got, expected) then
    error(("%s of %s%s on rank %d of %d: expected %s, got %s"):format(name, expected.dtype, tostring(expected.shape), rank, size,
      tostring(expected), tostring(got)), 2)
  end
end

local function add(a, b) return a + b end
-- A list: pairs has another order in each process.
local operations = { { "sum", add }, { "prod", function(a, b) return a * b end }, { "max", math.max }, { "min", math.min } }

--- Element by element over the ranks: a loop.
local function reduced(n, dtype, combine)
  return array_of(n, dtype, function(i)
    local total = element(0, i)
    for r = 1, size - 1 do total = combine(total, element(r, i)) end
    return total
  end)
end

--- The arrays fn(0), fn(1), ... of all ranks, one after the other.
local function joined(fn)
  local all = {}
  for r = 0, size - 1 do all[r + 1] = fn(r) end
  return gpu.concat(all)
end

--- Elements k * n + 1 to (k + 1) * n.
local function slice(x, k, n) return n == 0 and x or x({ k * n + 1, (k + 1) * n }):copy() end

--- Each collective for this rank's array(rank, n, dtype), which it overwrites.
local function check_collectives(x, n, dtype)
  local last = size - 1
  for _, operation in ipairs(operations) do
    local name, combine = unpack(operation)
    if name == "sum" or not dtype:find "complex" and n < 1000 then
      local total = reduced(n, dtype, combine)
      check("all_reduce " .. name, comm.all_reduce(x, name), total)
      local at_last = comm.reduce(x, name, last)
      if rank == last then check("reduce", at_last, total) else assert(at_last == nil) end
      if n % size == 0 then check("reduce_scatter " .. name, comm.reduce_scatter(x, name), slice(total, rank, n / size)) end
    end
  end
  check("all_gather", comm.all_gather(x), joined(function(r) return array(r, n, dtype) end))
  local gathered = comm.gather(x, last)
  if rank == last then
    check("gather", gathered, joined(function(r) return array(r, n, dtype) end))
  else
    assert(gathered == nil)
  end
  check("broadcast", comm.broadcast(rank == last and x or nil, last), array(last, n, dtype))
  check("scatter", comm.scatter(rank == 0 and x or nil), comm.part(array(0, n, dtype)):copy())
  if n % size == 0 then
    check("all_to_all", comm.all_to_all(x), joined(function(r) return slice(array(r, n, dtype), rank, n / size) end))
  end
  local after, before = (rank + 1) % size, (rank - 1) % size
  check("exchange", comm.exchange(x, after, gpu.empty_like(x), before), array(before, n, dtype))
  -- Those that write to x come last.
  check("exchange in place", comm.exchange(x, after, x, before), array(before, n, dtype))
  local name, combine = unpack(operations[dtype:find "complex" and 1 or 3])
  check("all_reduce_", comm.all_reduce_(x, name), reduced(n, dtype, combine))
  check("broadcast_", comm.broadcast_(x:copy_(array(rank, n, dtype)), last), array(last, n, dtype))
end

for _, dtype in ipairs(dtypes) do
  for _, n in ipairs { 0, 1, 6, 7, 2 ^ 20 } do
    if n <= largest then
      check_collectives(array(rank, n, dtype), n, dtype)
      local view, wide = view_of(array(rank, n, dtype))
      check_collectives(view, n, dtype)
      if wide then check("beside the view", wide "2::2", gpu.full(n, 1, dtype)) end
    end
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
assert(rawequal(comm.all_reduce(big, { out = out }), out))
check("out", out, expected)
-- out of another dtype, a view of what is reduced, and one that overlaps it
check("out float32", comm.all_reduce(big, { out = gpu.empty(n, "float32") }), expected:astype "float32")
local both = gpu.concat { big, big }
check("out overlaps", comm.all_reduce(both { 2, n + 1 }, { out = both { 1, n } }),
  gpu.concat { expected { 2, n }, expected { 1, 1 } })
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

-- what cannot be recorded
local function all_reduce(x) return comm.all_reduce(x) end
for _, record in ipairs { gpu.graph, function(fn, x) return gpu.fuse(fn)(x) end } do
  local ok, message = pcall(record, all_reduce, gpu.ones(3))
  assert(not ok and message:find "all_reduce%] expected a call outside of gpu.fuse and gpu.graph", message)
end

for _ = 1, 1000 do comm.barrier() end
comm.print "done"
