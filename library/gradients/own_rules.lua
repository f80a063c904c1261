-- gpu.detach, gpu.custom, gpu.checkpoint: what a script says of the derivatives of its functions.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks, leaves, linear = import "checks", import "leaves", import "linear"

--- gpu.detach(x)
--- The same elements, a constant for derivatives.
function gpu.detach(x) return core.detach(checks.array("detach", x)) end
methods.detach = gpu.detach

local function is_plain_table(value) return type(value) == "table" and getmetatable(value) == nil end

--- The variables among a call's arguments, those in nested tables too, in a list. `shape` makes a list of as many other arrays to a list
--- of arguments again.
local function flatten(op, ...)
  local arguments, arrays, counts = {n = select("#", ...), ...}, {}, {}
  for i = 1, arguments.n do
    local value = arguments[i]
    local found = (leaves.is_variable(value) or is_plain_table(value)) and leaves.of(op, "argument " .. i, value) or {}
    counts[i] = #found
    for _, leaf in ipairs(found) do arrays[#arrays + 1] = leaf.array end
  end
  return arrays, function(others)
    local made, first = {n = arguments.n}, 1
    for i = 1, arguments.n do
      made[i] = arguments[i]
      if counts[i] > 0 then made[i] = leaves.replaced(arguments[i], {unpack(others, first, first + counts[i] - 1)}) end
      first = first + counts[i]
    end
    return made
  end
end

--- Notes a call of these arrays and results as one whole, whose derivative is the rule's.
local function note(rule, arrays, results)
  local values, count = {unpack(arrays)}, #arrays
  for i = 1, results.n do values[count + i] = results[i] end
  core.note_rule(rule, count, unpack(values, 1, count + results.n))
end

--- A function's results with their number, or its error as `failed`.
local function called(f, ...)
  local function packed(ok, ...)
    if not ok then return {n = 0, failed = (...)} end
    return {n = select("#", ...), ...}
  end
  return packed(core.call(f, ...))
end

--- gpu.custom(f [, {vjp, jvp}])
--- A function that does what f does, with a derivative of its own.
function gpu.custom(f, options)
  checks.callable("custom", f)
  options = checks.fields("custom", options)
  local vjp, jvp = options.vjp, options.jvp
  if jvp ~= nil and vjp ~= nil then core.raise "[custom] expected vjp or jvp, got both: each gives the other" end
  if type(vjp or jvp) ~= "function" then
    core.fail("custom", "vjp = a function (g, y, x, ...) that gives a derivative for each array, or jvp = a function (y, x, ..., dx, ...)",
      vjp or jvp)
  end
  -- What maps tangents of the arguments to those of the results is linear, so its own reverse pass, from any tangents, is the rule.
  local function transposed(cotangents, y, ...)
    local inputs, tangents = {...}, {}
    for i, x in ipairs(inputs) do tangents[i] = linear.point(x) end
    local count = #inputs
    local found = {gpu.vjp(function(...)
      local values = {y, unpack(inputs)}
      for i = 1, count do values[1 + count + i] = (select(i, ...)) end
      return jvp(unpack(values, 1, 1 + 2 * count))
    end, unpack(tangents))}
    return found[#found](unpack(cotangents))
  end
  local function rule(cotangents, results, arrays)
    for i, y in ipairs(results) do
      if not cotangents[i] then cotangents[i] = gpu.zeros_like(y) end
    end
    local one = #results == 1
    if jvp then return transposed(cotangents, one and results[1] or results, unpack(arrays)) end
    return vjp(one and cotangents[1] or cotangents, one and results[1] or results, unpack(arrays))
  end
  return function(...)
    if not core.has_tape() then return f(...) end
    local pause = core.pause()
    local results = called(f, ...)
    core.resume(pause)
    if results.failed then error(results.failed, 0) end
    note(rule, (flatten("custom", ...)), results)
    return unpack(results, 1, results.n)
  end
end

--- Calls a function that may be called again from where the stream of random numbers stands.
local function repeatable(f, ...)
  core.begin_repeatable()
  local results = called(f, ...)
  core.end_repeatable()
  if results.failed then error(results.failed, 0) end
  return results
end

--- gpu.checkpoint(f)
--- A function that does what f does, and computes it again for its derivative instead of keeping what lies between.
function gpu.checkpoint(f)
  checks.callable("checkpoint", f)
  return function(...)
    if not core.has_tape() then return f(...) end
    local arrays, arguments_of = flatten("checkpoint", ...)
    local constants = {}
    for i, x in ipairs(arrays) do constants[i] = core.detach(x) end
    local arguments = arguments_of(constants)
    local before = gpu.random.state()
    local results = repeatable(f, unpack(arguments, 1, arguments.n))
    local draws = gpu.random.state().offset ~= before.offset
    for i = 1, results.n do
      if core.is_array(results[i]) and core.is_followed(results[i]) then
        core.raise("[checkpoint] the function reads an array from outside that depends on a variable; give it as an argument, "
          .. "or x:detach() where it is a constant")
      end
    end
    local function again(...)
      local same = arguments_of {...}
      return f(unpack(same, 1, same.n))
    end
    local function rule(cotangents, first, inputs)
      local now = gpu.random.state()
      if draws then gpu.random.set_state(before) end
      local second = repeatable(gpu.vjp, again, unpack(inputs))
      if draws then gpu.random.set_state(now) end
      for i, y in ipairs(first) do
        if second.n ~= #first + 1 or second[i].shape ~= y.shape then
          core.raise("[checkpoint] the function gave other results when it was computed again; it may depend on its arguments alone")
        end
        cotangents[i] = cotangents[i] or gpu.zeros_like(y)
      end
      return second[second.n](unpack(cotangents, 1, #first))
    end
    note(rule, arrays, results)
    return unpack(results, 1, results.n)
  end
end
