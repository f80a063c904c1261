-- Random numbers, sums and means that are the same on any number of ranks.
-- In sandboxes: none
local gpu, _, core, import = ...
import "comm"
local checks = import "checks"
local kinds = import "kinds"
local comm = gpu.comm

-- ---- one draw for all ranks -----------------------------------------------------------------------------------------------------

--- Draws this rank's part, along the first axis, of the numbers that one process would draw.
local function draw(op, fn, shape, options)
  if type(options) == "string" then options = { dtype = options } end
  options = checks.fields("comm." .. op, options)
  local sizes = checks.integers(op, "a shape: a table or a number", shape)
  local total = sizes[1]
  local first, last = comm.share(total)
  sizes[1] = last - first + 1
  return fn(sizes, { dtype = options.dtype, device = options.device, generator = options.generator, part = { first, total } })
end

--- gpu.comm.rand(shape [, {dtype, device, generator}])
function comm.rand(shape, options) return draw("rand", gpu.rand, shape, options) end
--- gpu.comm.randn(shape [, {dtype, device, generator}])
function comm.randn(shape, options) return draw("randn", gpu.randn, shape, options) end

-- ---- sums over chunks -----------------------------------------------------------------------------------------------------------
-- The items 1 to n are divided into chunks whose borders depend on n alone. A chunk has random numbers of its own, its values are
-- added on the device, and the sums of the chunks are added in order. So nothing depends on which rank computes a chunk.

local smallest_chunk, largest_chunk, many_chunks = 2 ^ 12, 2 ^ 20, 64

--- The number of items of a chunk, except the last: at least 64 chunks for the ranks where n allows it.
local function chunk_size(n)
  local size = math.ceil(n / many_chunks / smallest_chunk) * smallest_chunk
  return math.max(smallest_chunk, math.min(largest_chunk, size))
end

--- A mix of the bits of a uint64: Stafford's variant 13 of the finalizer of MurmurHash3 ("Better bit mixing", 2011).
local function mix(z)
  z = bit.bxor(z, bit.rshift(z, 30)) * 0xbf58476d1ce4e5b9ULL
  z = bit.bxor(z, bit.rshift(z, 27)) * 0x94d049bb133111ebULL
  return bit.bxor(z, bit.rshift(z, 31))
end

--- The state of a chunk's random numbers, from the state at the call.
local function state_of(state, chunk)
  local z = mix(mix(0ULL + state.seed) + state.offset) + chunk
  return { seed = bit.rshift(mix(z), 1), offset = 0 }
end

--- Adds the values that fn gives for one chunk to `sums`: a list for each of its results.
local function add_values(op, sums, count, ...)
  local given = select("#", ...)
  if given == 0 or sums.results and given ~= sums.results then
    core.raise(("[%s] expected a function that gives as many arrays each time, got %d%s"):format(op, given,
      sums.results and (", and before %d"):format(sums.results) or ""))
  end
  sums.results = given
  for i = 1, given do
    local values = (select(i, ...))
    if not core.is_array(values) or values.ndim ~= 1 or values.size ~= count or kinds.is_complex(values) then
      core.fail(op, ("a function that gives arrays of %d real numbers, a number for each item"):format(count), values)
    end
    sums[i] = sums[i] or {}
    table.insert(sums[i], values:sum(nil, { dtype = "float64" }))
  end
  -- Memory stays flat, however many chunks a rank has.
  local newest = {}
  for i = 1, given do newest[i] = sums[i][#sums[i]] end
  gpu.eval(unpack(newest))
end

--- Runs fn for the chunks of this rank.
local function run_chunks(op, fn, n, state)
  local size = chunk_size(n)
  local sums = {}
  local first_chunk, last_chunk = comm.share(math.ceil(n / size))
  for chunk = first_chunk, last_chunk do
    local first = (chunk - 1) * size + 1
    local count = math.min(size, n - first + 1)
    gpu.random.set_state(state_of(state, chunk))
    add_values(op, sums, count, fn(first, count))
  end
  return sums
end

--- The sums of fn's values over the items 1 to n: a number for each of its results.
local function sum_items(op, fn, n)
  checks.count(op, "a number of items of 1 or more", n, 1)
  local state = gpu.random.state()
  local ok, sums = core.call(run_chunks, op, fn, n, state)
  -- The next call has other numbers.
  gpu.random.set_state { seed = state.seed, offset = state.offset + 4 }
  if not ok then error(sums, 0) end
  local mine = {}
  for i = 1, sums.results or 0 do mine[i] = gpu.stack(sums[i]):table() end
  local totals = {}
  mine.n = n
  for rank, of_rank in ipairs(comm.all_gather_object(mine)) do
    if of_rank.n ~= n then
      core.raise(("[%s] expected one number of items on all ranks, got %d on rank %d and %d here"):format(op, of_rank.n, rank - 1, n))
    end
    for i, chunks in ipairs(of_rank) do
      for _, chunk in ipairs(chunks) do totals[i] = (totals[i] or 0) + chunk end
    end
  end
  return totals
end

--- gpu.comm.sum(x [, n])
function comm.sum(x, n)
  if type(x) ~= "function" then
    if n ~= nil then core.fail("sum", "a function before the number of items", x) end
    return comm.all_reduce(x, "sum")
  end
  return unpack(sum_items("sum", x, n))
end

--- gpu.comm.mean(x [, n])
function comm.mean(x, n)
  if type(x) ~= "function" then
    if n ~= nil then core.fail("mean", "a function before the number of items", x) end
    return comm.all_reduce(x, "mean")
  end
  local totals = sum_items("mean", x, n)
  for i, total in ipairs(totals) do totals[i] = total / n end
  return unpack(totals)
end
