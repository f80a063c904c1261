-- gpu.comm: messages between two ranks, and halos.
-- In sandboxes: none
local gpu, _, core, import = ...
local checks = import "checks"
local views = import "views"
local comm, shared = gpu.comm, import "comm"
local ranks, numbers, check_rank, type_text = shared.ranks, shared.numbers, shared.check_rank, shared.type_text

--- Sends and receives now, or at the end of comm.group.
local function messages(op, sent, received)
  if not shared.grouped then return core.comm_transfer(ranks(), op, sent, received) end
  for _, message in ipairs(sent) do table.insert(shared.grouped.sent, message) end
  for _, message in ipairs(received) do table.insert(shared.grouped.received, message) end
end

--- A rank for a message outside of a group, which would wait for itself for ever.
local function check_other(op, rank)
  check_rank(op, rank)
  if rank == numbers() and not shared.grouped then
    core.raise(("[%s] expected another rank, got this one, %d; comm.exchange sends to itself too"):format(op, rank))
  end
  return rank
end

--- gpu.comm.send(x, to)
function comm.send(x, to) messages("send", { { checks.array("send", x), check_other("send", to) } }, {}) end

--- gpu.comm.recv_(x, from)
function comm.recv_(x, from)
  messages("recv_", {}, { { checks.array("recv_", x), check_other("recv_", from) } })
  return x
end

--- gpu.comm.exchange(x, to, y, from)
function comm.exchange(x, to, y, from)
  local op = "exchange"
  messages(op, { { checks.array(op, x), check_rank(op, to) } }, { { checks.array(op, y), check_rank(op, from) } })
  return y
end

--- gpu.comm.group(fn)
function comm.group(fn)
  local op = "group"
  if type(fn) ~= "function" then core.fail(op, "a function that sends and receives", fn) end
  shared.check_ungrouped(op)
  shared.grouped = { sent = {}, received = {} }
  local ok, message = core.call(fn)
  local all = shared.grouped
  shared.grouped = nil
  if not ok then error(message, 0) end
  core.comm_transfer(ranks(), op, all.sent, all.received)
end

--- gpu.comm.halo_(x, width [, axis] [, {periodic}])
--- Fills the outer `width` elements at both ends of the axis with the inner ones of the neighbouring ranks.
function comm.halo_(x, width, axis, options)
  local op = "halo_"
  if checks.is_options(axis) then axis, options = checks.shift(op, axis, options) end
  local periodic = checks.flag(op, "periodic", checks.fields("comm.halo_", options).periodic)
  checks.array(op, x)
  axis = core.axis(op, axis or 1, x.ndim)
  checks.integer(op, "a width of 1 or more", width)
  if width < 1 then core.fail(op, "a width of 1 or more", width) end
  local extent = x.shape[axis]
  if extent < 3 * width then
    core.raise(("[%s] expected at least %d elements along axis %d, %d of this rank and %d of each neighbour, got %s")
      :format(op, 3 * width, axis, width, width, type_text(x)))
  end
  local rank, size = numbers()
  shared.begin(op, x.dtype .. " by " .. width)
  local function part(first) return views.slice(x, axis, first, width) end
  local sent, received = {}, {}
  local function neighbour(other, inner, outer)
    if not periodic and (other < 0 or other >= size) then return end
    sent[#sent + 1], received[#received + 1] = { part(inner), other % size }, { part(outer), other % size }
  end
  neighbour(rank - 1, width + 1, 1)
  neighbour(rank + 1, extent - 2 * width + 1, extent - width + 1)
  -- Of two messages from one rank, the one with its first elements comes first.
  if #received == 2 and size <= 2 then received[1], received[2] = received[2], received[1] end
  core.comm_transfer(ranks(), op, sent, received)
  return x
end
