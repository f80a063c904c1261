-- The derivatives of functions that are more than an expression. A rule gets the cotangents of the call's results (false for none), the
-- results, the arrays among the arguments, all arguments, and whether each of the arrays needs a cotangent; it returns one for each of
-- the arrays, of its shape or of one to which it broadcasts, or false where none is needed.
local gpu, _, core, import = ...
local kinds, views, calls = import "kinds", import "views", import "derived_calls"

local rules = core.rules

-- ---- products -------------------------------------------------------------------------------------------------------------------

local conj = kinds.conj
local function adjoint(x) return conj(x:swapaxes(-1, -2)) end

function rules.matmul(cotangents, _, arrays, _, needs)
  local g, a, b = cotangents[1], arrays[1], arrays[2]
  if a.ndim == 1 and b.ndim == 1 then return g * conj(b), g * conj(a) end
  if a.ndim == 1 then
    return needs[1] and gpu.matmul(conj(b), g:expand_dims(-1)):squeeze(-1), conj(a):expand_dims(-1) * g:expand_dims(-2)
  elseif b.ndim == 1 then
    return g:expand_dims(-1) * conj(b), needs[2] and gpu.matmul(adjoint(a), g:expand_dims(-1)):squeeze(-1)
  end
  return needs[1] and gpu.matmul(g, adjoint(b)), needs[2] and gpu.matmul(adjoint(a), g)
end

-- ---- parts of complex numbers ----------------------------------------------------------------------------------------------------

function rules.complex(cotangents)
  local g = cotangents[1]
  return g:real(), g:imag()
end

-- ---- scans ----------------------------------------------------------------------------------------------------------------------

--- The axis of a call f(x, axis, options) or f(x, options), nil where it says none, and the options.
local function axis_and_options(arguments)
  local axis, options = arguments[2], arguments[3]
  if type(axis) == "table" then axis, options = nil, axis end
  options = options or {}
  return axis or options.axis, options
end

--- x followed by zeros, without its first element on the axis: what an exclusive scan has at each position, the other one has before.
local function moved_up(x, axis)
  local n = x.shape[axis]
  return gpu.concat({views.slice(x, axis, 2, n - 1), gpu.zeros_like(views.slice(x, axis, 1, 1))}, axis)
end

--- The derivative of a scan along an axis, of all elements where the call says no axis. `derive` gets one for the results of the scan that
--- includes each element, the array, and the axis.
local function scan_rule(derive)
  return function(cotangents, results, arrays, arguments)
    local g, x = cotangents[1], arrays[1]
    local axis, options = axis_and_options(arguments)
    local shape = x.shape
    if x.size == 0 then return gpu.zeros_like(x) end
    if not axis then g, x, axis = g:reshape(-1), x:reshape(-1), 1 end
    axis = core.axis("grad", axis, x.ndim)
    if options.exclusive then g = moved_up(g, axis) end
    return derive(g, x, axis):reshape(shape)
  end
end

rules.cumsum = scan_rule(function(g, _, axis) return gpu.flip(gpu.flip(g, axis):cumsum(axis), axis) end)

--- The solution of r[i] = b[i] + a[i] r[i + 1], 0 beyond the end, of complex numbers: each round joins twice as many steps.
local function recurrence_in_rounds(a, b, axis)
  local n, step = b.shape[axis], 1
  while step < n do
    local function first(x) return views.slice(x, axis, 1, n - step) end
    local function later(x) return views.slice(x, axis, step + 1, n - step) end
    local function last(x) return views.slice(x, axis, n - step + 1, step) end
    b = gpu.concat({first(b) + first(a) * later(b), last(b)}, axis)
    a = gpu.concat({first(a) * later(a), gpu.zeros_like(last(a))}, axis)
    step = 2 * step
  end
  return b
end

--- The same of any numbers. For real ones a scan joins pairs of steps, r = b + a r', which are complex numbers a + b i to it.
local joined_steps
local recurrence
recurrence = calls.derived("recurrence", function(a, b, axis)
  if kinds.is_complex(b) then return recurrence_in_rounds(a, b, axis) end
  joined_steps = joined_steps or gpu.scan_kernel {
    name = "recurrence", input = "T x", expr = "T(a.real() * b.real(), b.imag() + b.real() * a.imag())",
  }
  local steps = core.cast(a, b.dtype) + b * gpu.complex(0, 1)
  return joined_steps(steps:flip(axis), axis):imag():flip(axis)
end)

rules.recurrence = function(cotangents, results, _, arguments)
  local a, r, axis = arguments[1], results[1], arguments[3]
  local n = r.shape[axis]
  local before = gpu.concat({gpu.zeros_like(views.slice(a, axis, 1, 1)), views.slice(a, axis, 1, n - 1)}, axis)
  local gb = recurrence(conj(before):flip(axis), cotangents[1]:flip(axis), axis):flip(axis)
  return gb * conj(moved_up(r, axis)), gb
end

--- Without a division, so zeros do no harm: the product before an element, times what the elements behind it make of the derivatives.
rules.cumprod = scan_rule(function(g, x, axis)
  local factors = conj(moved_up(x, axis))
  local before = conj(gpu.cumprod(x, axis, {exclusive = true}))
  return before * recurrence(factors, g, axis)
end)

-- ---- elements found -------------------------------------------------------------------------------------------------------------

--- The derivative for x of a function that picks elements of x.
local function of_picked(x, g, pick)
  local _, pull = gpu.vjp(pick, x:detach())
  return pull(g)
end

--- The derivative of a running extreme goes to the last position that had it.
local function running(name)
  rules[name] = scan_rule(function(g, x, axis)
    local fixed = x:detach()
    local is_found = fixed:eq(gpu[name](fixed, axis)):logical_or(fixed:ne(fixed))
    local at = gpu.where(is_found, views.along(x.shape[axis], axis, x.ndim, x.device, 1), 0):cummax(axis)
    return of_picked(x, g, function(z) return gpu.take_along_axis(z, at, axis) end)
  end)
end
running "cummax"
running "cummin"

--- The gradient goes to the positions from which the elements came.
function rules.sort(cotangents, _, arrays, arguments)
  local axis, options = axis_and_options(arguments)
  local order = gpu.argsort(arrays[1]:detach(), axis or -1, {descending = options.descending, stable = true})
  return gpu.take_along_axis(cotangents[1], gpu.argsort(order, axis or -1), axis or -1)
end

function rules.partition(cotangents, _, arrays, arguments)
  local axis, options = axis_and_options {arguments[1], arguments[3], arguments[4]}
  local order = gpu.argpartition(arrays[1]:detach(), arguments[2], axis or -1, {descending = options.descending})
  return gpu.take_along_axis(cotangents[1], gpu.argsort(order, axis or -1), axis or -1)
end

function rules.topk(cotangents, results, arrays, arguments)
  local axis = type(arguments[3]) == "number" and arguments[3] or (arguments[3] or arguments[4] or {}).axis or -1
  return of_picked(arrays[1], cotangents[1], function(z) return gpu.take_along_axis(z, results[2], axis) end)
end

--- The library's elements of a row's order: each is the first one that is equal.
rules[core.order_statistics] = function(cotangents, results, arrays)
  local found = results[1]:detach():expand_dims(-1)
  local at = arrays[1]:detach():expand_dims(-2):eq(found):logical_or(found:ne(found)):argmax(-1)
  return of_picked(arrays[1], cotangents[1], function(z) return gpu.take_along_axis(z, at, -1) end)
end

--- Each element of the result is one of those at its position.
function rules.choose(cotangents, _, _, arguments)
  local g, indices, parts = cotangents[1], arguments[1], {false}
  local count = #arguments[2]
  for i, choice in ipairs(arguments[2]) do
    local is_chosen = indices:eq(i):logical_or(indices:eq(i - count - 1))
    if core.is_array(choice) then parts[#parts + 1] = gpu.where(is_chosen, g, 0) end
  end
  return unpack(parts)
end

--- The library's sums of weights by numbers from 0; other numbers count nowhere.
rules[core.bincount] = function(cotangents, _, _, arguments)
  local numbers, count = arguments[1], arguments[3]
  local is_counted = numbers:ge(0):logical_and(numbers:lt(count))
  local none = gpu.zeros({1}, {dtype = cotangents[1].dtype, device = numbers.device})
  return false, gpu.concat({none, cotangents[1]}):take(gpu.where(is_counted, numbers + 2, 1):reshape(-1)):reshape(numbers.shape)
end

-- ---- random numbers -------------------------------------------------------------------------------------------------------------

-- Their draws choose between two values by the parameters: the derivative of each alone is not that of the distribution.
rules["random.wald"], rules["random.vonmises"] = false, false

-- ---- parts put together ---------------------------------------------------------------------------------------------------------

--- The axis of concat and stack, from the number of axes of the result.
local function joined_axis(arguments, ndim) return core.axis("grad", axis_and_options(arguments) or 1, ndim) end

function rules.concat(cotangents, _, arrays, arguments)
  local g, parts, first = cotangents[1], {}, 1
  local axis = joined_axis(arguments, g.ndim)
  for i, x in ipairs(arrays) do
    parts[i] = views.slice(g, axis, first, x.shape[axis])
    first = first + x.shape[axis]
  end
  return unpack(parts)
end

function rules.stack(cotangents, _, arrays, arguments)
  local g, parts = cotangents[1], {}
  local axis = joined_axis(arguments, g.ndim)
  for i in ipairs(arrays) do parts[i] = views.pick(g, axis, i) end
  return unpack(parts)
end

-- ---- between ranks --------------------------------------------------------------------------------------------------------------------

-- What other ranks have is not followed, so these refuse, with one rank too, where some give their argument.
for _, name in ipairs {"all_reduce_", "gather", "reduce", "scatter", "broadcast", "broadcast_", "all_to_all", "sum", "mean", "send", "recv_",
  "exchange", "halo_", "all_gather_object", "broadcast_object"} do
  rules["comm." .. name] = "has no derivative between ranks: gpu.comm.all_reduce, reduce_scatter and all_gather have one, and "
    .. "gpu.comm.replicated(x) is for an array that all ranks have; or reduce the gradient after it"
end
