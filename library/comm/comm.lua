-- gpu.comm: the ranks of a job, which run the same script, and arrays between them.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local views = import "views"
local comm = gpu.comm

--- gpu.comm.rank, gpu.comm.size, gpu.comm.local_rank, gpu.comm.local_size, gpu.comm.is_root
comm.rank, comm.size, comm.local_rank, comm.local_size = core.comm_launch()
comm.is_root = comm.rank == 0

-- The ranks that a call works with: all, or those of comm.split while one of its functions runs.
local current
-- What the other files of gpu.comm use, too. In `grouped`, the messages so far within comm.group.
local shared = { grouped = nil }

local function ranks()
  current = current or core.comm_open()
  return current
end

--- This rank and the number of ranks, of the job or of a split. Opens no connection.
local function numbers()
  if current then return core.comm_numbers(current) end
  return comm.rank, comm.size
end

local function check_rank(op, rank)
  local _, size = numbers()
  if type(rank) ~= "number" or rank % 1 ~= 0 or rank < 0 or rank >= size then
    local use = rank == nil and "; the rank stands behind the array" or size == 1 and "; this is the only rank: gpulua --ranks 4 script.lua starts 4"
    core.raise(("[%s] expected a rank from 0 to %d, got %s%s"):format(op, size - 1, core.describe(rank), use or ""))
  end
  return rank
end

local function type_text(x) return type(x) == "number" and "a number" or x.dtype .. checks.shape_text(x.shape) end

local function check_ungrouped(op)
  if not shared.grouped then return end
  core.raise(("[%s] expected a call outside of comm.group, which takes send, recv_ and exchange"):format(op))
end

--- Begins a collective: under gpu.debug, compares the call with those of the other ranks. What is called is `what`, of `x` if given.
local function begin(op, what, x)
  check_ungrouped(op)
  local line = core.comm_line()
  if not line then return end
  local call = op .. " of " .. what .. (x and " of " .. type_text(x) or "")
  local texts = core.comm_texts(ranks(), "debug", call .. "\n" .. line)
  local said = {}
  for i, text in ipairs(texts) do
    local theirs, place = text:match "^(.*)\n(.*)$"
    said[i] = ("rank %d is in %s at %s"):format(i - 1, theirs, place)
    said.differ = said.differ or theirs ~= call
  end
  if said.differ then core.raise(("[%s] expected the same call on all ranks, got: %s"):format(op, table.concat(said, ", "))) end
end

shared.ranks, shared.numbers, shared.check_rank, shared.type_text = ranks, numbers, check_rank, type_text
shared.check_ungrouped, shared.begin = check_ungrouped, begin

local function check_value(op, x)
  if type(x) ~= "number" and not core.is_array(x) then core.fail(op, "an array or a number", x) end
  return x
end

--- The reduction's name, and the one that the ranks compute.
local function check_reduction(op, name)
  if name == nil then name = "sum" end
  if type(name) ~= "string" then core.fail(op, "sum, prod, max, min or mean", name) end
  return name, name == "mean" and "sum" or name
end

local function finish_reduction(name, x)
  if name ~= "mean" then return x end
  local _, size = numbers()
  return x / size
end

--- The result is written to `out`, if there is one, and `out` returned.
local function all_reduce(op, x, name, out)
  check_value(op, x)
  if out ~= nil then checks.array(op, out) end
  local reduction
  name, reduction = check_reduction(op, name)
  begin(op, name, x)
  if name ~= "mean" then
    local result = core.comm_all_reduce(ranks(), op, x, reduction, out)
    return type(result) == "number" and out and out:copy_(result) or result
  end
  local mean = finish_reduction(name, core.comm_all_reduce(ranks(), op, x, reduction))
  return out and out:copy_(mean) or mean
end

--- gpu.comm.all_reduce(x [, operation] [, {out}])
function comm.all_reduce(x, name, options)
  if core.depends(x) then return import("comm_derivatives").all_reduce(x, name, options) end
  if checks.is_options(name) then name, options = checks.shift("comm.all_reduce", name, options) end
  options = checks.fields("comm.all_reduce", options)
  return all_reduce("all_reduce", x, name, options.out)
end

--- gpu.comm.all_reduce_(x [, operation])
function comm.all_reduce_(x, name) return all_reduce("all_reduce_", checks.array("all_reduce_", x), name, x) end

--- gpu.comm.reduce_scatter(x [, operation])
--- This rank's part, along the first axis, of the arrays of all ranks, reduced.
function comm.reduce_scatter(x, name)
  if core.depends(x) then return import("comm_derivatives").reduce_scatter(x, name) end
  local op = "reduce_scatter"
  checks.array(op, x)
  local _, size = numbers()
  local reduction
  name, reduction = check_reduction(op, name)
  if x.ndim == 0 or x.shape[1] % size ~= 0 then
    core.raise(("[%s] expected an array whose first axis has a multiple of %d elements, the number of ranks, got %s")
      :format(op, size, type_text(x)))
  end
  begin(op, name, x)
  return finish_reduction(name, core.comm_reduce_scatter(ranks(), op, x, reduction))
end

--- The texts of all ranks. Raises where a rank has another root.
local function texts_of_all(op, root, text)
  local texts = core.comm_texts(ranks(), op, root .. " " .. text)
  for i, told in ipairs(texts) do
    local space = told:find(" ", 1, true)
    local theirs = tonumber(told:sub(1, space - 1))
    if theirs ~= root then
      core.raise(("[%s] expected one root on all ranks, got %d on rank %d, %d on rank %d"):format(op, root, (numbers()), theirs, i - 1))
    end
    texts[i] = told:sub(space + 1)
  end
  return texts
end
shared.texts_of_all = texts_of_all

--- Gathers the dtypes and shapes of all ranks. Raises unless they agree but for the extent of the first axis. Returns the extents,
--- and whether they are equal.
local function extents_of_all(op, x, root)
  local kind = x.dtype .. checks.shape_text { unpack(x.shape) }:gsub("^%(%d+", "(n")
  local texts = texts_of_all(op, root or 0, ("%s\n%d"):format(kind, x.shape[1]))
  local extents, equal = {}, true
  for i, text in ipairs(texts) do
    local theirs, extent = text:match "^(.*)\n(.*)$"
    if theirs ~= kind then
      core.raise(("[%s] expected arrays of one dtype that differ in the extent of the axis alone, got %s on rank %d, %s on rank %d")
        :format(op, kind, (numbers()), theirs, i - 1))
    end
    extents[i] = tonumber(extent)
    equal = equal and extents[i] == extents[1]
  end
  return extents, equal
end

--- An array for the parts of all ranks, whose extents are given, and a view for each.
local function room_for(x, extents)
  local shape, total = { unpack(x.shape) }, 0
  for _, extent in ipairs(extents) do total = total + extent end
  shape[1] = total
  local all, parts, first = gpu.empty(shape, { dtype = x.dtype, device = x.device }), {}, 1
  for i, extent in ipairs(extents) do
    parts[i] = views.slice(all, 1, first, extent)
    first = first + extent
  end
  return all, parts
end

--- x with the axis first, and the function that moves it back.
local function axis_first(op, x, axis)
  checks.array(op, x)
  if x.ndim == 0 then x = x:reshape(1) end
  axis = axis == nil and 1 or core.axis(op, axis, x.ndim)
  if axis == 1 then return x, function(all) return all end end
  return gpu.moveaxis(x, axis, 1), function(all) return gpu.moveaxis(all, 1, axis) end
end

--- gpu.comm.all_gather(x [, axis])
function comm.all_gather(x, axis)
  if core.depends(x) then return import("comm_derivatives").all_gather(x, axis) end
  local op = "all_gather"
  local back
  x, back = axis_first(op, x, axis)
  begin(op, x.dtype)
  local extents, equal = extents_of_all(op, x)
  if equal then return back(core.comm_all_gather(ranks(), op, x)) end
  local all, parts = room_for(x, extents)
  local sent, received = {}, {}
  for i, part in ipairs(parts) do sent[i], received[i] = { x, i - 1 }, { part, i - 1 } end
  core.comm_transfer(ranks(), op, sent, received)
  return back(all)
end

--- The arrays of all ranks on the root, by rank; nil elsewhere.
local function gather_parts(op, x, root)
  local rank = numbers()
  local extents = extents_of_all(op, x, root)
  if rank ~= root then return core.comm_transfer(ranks(), op, { { x, root } }, {}) end
  local all, parts = room_for(x, extents)
  local received = {}
  for i, part in ipairs(parts) do received[i] = { part, i - 1 } end
  core.comm_transfer(ranks(), op, { { x, root } }, received)
  return all, parts
end

--- gpu.comm.gather(x [, root [, axis]])
function comm.gather(x, root, axis)
  local op = "gather"
  root = check_rank(op, root or 0)
  local back
  x, back = axis_first(op, x, axis)
  begin(op, x.dtype .. " to rank " .. root)
  local all = gather_parts(op, x, root)
  return all and back(all) or nil
end

--- gpu.comm.reduce(x [, operation [, root]])
function comm.reduce(x, name, root)
  local op = "reduce"
  root = check_rank(op, root or 0)
  local result = all_reduce(op, x, name)
  return (numbers()) == root and result or nil
end

--- The first and the last of this rank's part of 1 to n, and the ones of rank r of `size`.
local function share_of(n, rank, size)
  local count, more = math.floor(n / size), n % size
  local first = rank * count + math.min(rank, more) + 1
  return first, first + count - 1 + (rank < more and 1 or 0)
end

--- gpu.comm.share(n)
function comm.share(n)
  checks.count("share", "a number of items of 0 or more", n)
  return share_of(n, numbers())
end

local function part_of(x, axis, rank, size)
  local first, last = share_of(x.shape[axis], rank, size)
  return views.slice(x, axis, first, last - first + 1)
end

--- gpu.comm.part(x [, axis])
function comm.part(x, axis)
  checks.array("part", x)
  return part_of(x, core.axis("part", axis or 1, x.ndim), numbers())
end

--- Tells all ranks the dtype and the shape of the root's array.
local function announce(op, x, root)
  local rank = numbers()
  if rank == root then checks.array(op, x) end
  local text = rank == root and x.dtype .. " " .. table.concat(x.shape, " ") or ""
  local words = {}
  for word in texts_of_all(op, root, text)[root + 1]:gmatch "[^ ]+" do words[#words + 1] = word end
  local dtype = table.remove(words, 1)
  for i, word in ipairs(words) do words[i] = tonumber(word) end
  return dtype, words
end

--- gpu.comm.scatter(x [, root])
function comm.scatter(x, root)
  local op = "scatter"
  root = check_rank(op, root or 0)
  local rank, size = numbers()
  begin(op, "rank " .. root)
  local dtype, shape = announce(op, x, root)
  if #shape == 0 then core.raise "[scatter] expected an array of one or more axes, got a 0-d array" end
  local sent = {}
  if rank == root then
    for other = 0, size - 1 do sent[other + 1] = { part_of(x, 1, other, size), other } end
  end
  local first, last = share_of(shape[1], rank, size)
  shape[1] = last - first + 1
  local part = gpu.empty(shape, dtype)
  core.comm_transfer(ranks(), op, sent, { { part, root } })
  return part
end

--- gpu.comm.broadcast(x [, root])
function comm.broadcast(x, root)
  local op = "broadcast"
  root = check_rank(op, root or 0)
  begin(op, "rank " .. root)
  local dtype, shape = announce(op, x, root)
  if (numbers()) ~= root then x = gpu.empty(shape, dtype) end
  core.comm_broadcast(ranks(), op, x, root)
  return x
end

--- gpu.comm.broadcast_(x [, root])
function comm.broadcast_(x, root)
  local op = "broadcast_"
  checks.array(op, x)
  root = check_rank(op, root or 0)
  begin(op, "rank " .. root, x)
  core.comm_broadcast(ranks(), op, x, root)
  return x
end

--- gpu.comm.all_to_all(x)
function comm.all_to_all(x)
  local op = "all_to_all"
  checks.array(op, x)
  local _, size = numbers()
  if x.ndim == 0 or x.shape[1] % size ~= 0 then
    core.raise(("[%s] expected an array whose first axis has a multiple of %d elements, the number of ranks, got %s")
      :format(op, size, type_text(x)))
  end
  begin(op, "parts", x)
  local result = gpu.empty_like(x)
  local sent, received = {}, {}
  for other = 0, size - 1 do
    sent[other + 1], received[other + 1] = { part_of(x, 1, other, size), other }, { part_of(result, 1, other, size), other }
  end
  core.comm_transfer(ranks(), op, sent, received)
  return result
end

-- ---- everything else ------------------------------------------------------------------------------------------------------------

--- gpu.comm.transport()
--- How elements move between the ranks' devices and, if no library of theirs moves them, why not.
function comm.transport() return core.comm_way(ranks()) end

--- gpu.comm.barrier()
function comm.barrier()
  begin("barrier", "all ranks")
  core.comm_barrier(ranks(), "barrier")
end

--- gpu.comm.print(...)
function comm.print(...)
  if (numbers()) == 0 then print(...) end
end

--- gpu.comm.abort(message)
function comm.abort(message)
  if type(message) ~= "string" then core.fail("abort", "a message", message) end
  local text = ("[abort] %s"):format(message)
  core.comm_open() -- refuses scripts in a sandbox
  io.stdout:flush()
  io.stderr:write(("gpulua: rank %d: %s\n"):format(comm.rank, text))
  core.comm_fail(text)
  os.exit(1)
end

local function leave(outer, ok, ...)
  current = outer
  if not ok then error((...), 0) end
  return ...
end

--- Calls a function for these ranks.
function shared.within(members, fn, ...)
  local outer = ranks()
  current = members
  return leave(outer, core.call(fn, ...))
end

--- The functions of gpu.comm for some ranks.
local function communicator(members)
  local rank, size = core.comm_numbers(members)
  local fields = { rank = rank, size = size, is_root = rank == 0, local_rank = comm.local_rank, local_size = comm.local_size }
  return setmetatable(fields, {
    __metatable = "the functions of some ranks",
    __index = function(self, name)
      local fn = comm[name]
      local function call(...) return shared.within(members, fn, ...) end
      rawset(self, name, call)
      return call
    end,
  })
end

--- gpu.comm.split(color [, key])
function comm.split(...)
  local op, color, key = "split", ...
  if select("#", ...) == 0 then core.fail(op, "an integer, or nil for no part", nil) end
  if color ~= nil then checks.integer(op, "an integer, or nil for no part", color) end
  local rank = numbers()
  begin(op, "ranks")
  local all = comm.all_gather_object { color or false, key == nil and rank or checks.integer(op, "an integer key", key), rank }
  local members = {}
  for _, one in ipairs(all) do
    if color ~= nil and one[1] == color then members[#members + 1] = one end
  end
  if color == nil then return nil end
  table.sort(members, function(a, b) return a[2] < b[2] or a[2] == b[2] and a[3] < b[3] end)
  for i, one in ipairs(members) do members[i] = one[3] end
  return communicator(core.comm_split(ranks(), op, members))
end

return shared
