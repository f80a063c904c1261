-- gpu.comm: collectives in functions that are differentiated.
--
-- What all ranks compute alike is *replicated*, and so is its derivative. A sum over the ranks is replicated, and each rank's part of it has
-- the derivative of the sum. What a rank computes of its own from replicated arrays gives only a part of their derivative:
-- comm.replicated says where that begins.
-- In sandboxes: none
local gpu, _, core, import = ...
local calls, checks, leaves, views = import "derived_calls", import "checks", import "leaves", import "views"
local comm, shared = gpu.comm, import "comm"
local derivatives = {} -- collectives of arrays that depend on a variable

--- Calls f in a function of the same ranks: the reverse pass may run outside of a split's function.
local function of_these_ranks(f)
  local members = shared.ranks()
  return function(...) return shared.within(members, f, ...) end
end

--- gpu.comm.replicated(x)
--- x, an array or nested tables of arrays that are the same on all ranks. Its derivative is the sum of those of all ranks.
function comm.replicated(x)
  local list = leaves.of("replicated", "x", x)
  if #list == 0 then core.fail("replicated", "an array of real or complex numbers, or a table of them", x) end
  local rule = of_these_ranks(function(cotangents) return (comm.all_reduce(cotangents[1])) end)
  local arrays = {}
  for i, leaf in ipairs(list) do
    local array = leaf.array
    arrays[i] = core.depends(array) and calls.note(rule, {core.detach(array)}, array) or array
  end
  return leaves.replaced(x, arrays)
end

--- The operation of a call, a sum or a mean.
local function check_sum(name, operation, options)
  if checks.is_options(operation) then operation, options = nil, operation end
  operation = operation or "sum"
  if operation ~= "sum" and operation ~= "mean" then
    core.refuse_derivative("comm." .. name, (' for the operation "%s"'):format(tostring(operation)))
  end
  if options and options.out then core.raise(("[%s] the option out has no derivative: use the result"):format(name)) end
  return operation
end

--- The derivative for the terms of such an operation, from that of its result.
local function of_terms(operation, g)
  local _, size = shared.numbers()
  return operation == "mean" and g / size or g
end

--- Calls a collective. pull(g) is the derivative for its array.
local function noted(pull, collective, ...)
  return calls.noted(of_these_ranks(function(cotangents) return pull(cotangents[1]) end), collective, ...)
end

function derivatives.all_reduce(x, ...)
  local operation = check_sum("all_reduce", ...)
  return noted(function(g) return comm.replicated(of_terms(operation, g)) end, comm.all_reduce, x, operation)
end

--- Each rank's array has a part in all parts of the sum.
function derivatives.reduce_scatter(x, ...)
  local operation = check_sum("reduce_scatter", ...)
  return noted(function(g) return comm.replicated(comm.all_gather(of_terms(operation, g))) end, comm.reduce_scatter, x, operation)
end

function derivatives.all_gather(x, axis)
  axis = axis == nil and 1 or core.axis("all_gather", axis, math.max(x.ndim, 1))
  local first, rank = 1, shared.numbers()
  local extents = comm.all_gather_object(x.shape[axis] or 1)
  for other = 1, rank do first = first + extents[other] end
  return noted(function(g) return views.slice(comm.replicated(g), axis, first, extents[rank + 1]):reshape(x.shape) end, comm.all_gather, x, axis)
end

return derivatives
