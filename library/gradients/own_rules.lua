-- gpu.detach, gpu.custom, gpu.checkpoint: what a script says of the derivatives of its functions.
-- In sandboxes: all
local gpu, methods, core, import = ...
local calls, checks, kinds = import "derived_calls", import "checks", import "kinds"
local leaves, linear = import "leaves", import "linear"

--- gpu.detach(x)
--- The same elements, a constant for derivatives.
function gpu.detach(x) return core.detach(checks.array("detach", x)) end
methods.detach = gpu.detach

local function is_plain_table(value) return type(value) == "table" and getmetatable(value) == nil end

--- The arrays among a call's arguments, and the variables in tables, in a list. The function that comes with it makes the arguments again
--- from a list of as many others.
local function flatten(op, ...)
  local arguments, arrays, counts = {n = select("#", ...), ...}, {}, {}
  for i = 1, arguments.n do
    local value, before = arguments[i], #arrays
    if core.is_array(value) then
      arrays[before + 1] = value
    elseif is_plain_table(value) then
      for _, leaf in ipairs(leaves.of(op, "argument " .. i, value)) do arrays[#arrays + 1] = leaf.array end
    end
    counts[i] = #arrays - before
  end
  return arrays, function(others)
    local made, first = {}, 1
    for i = 1, arguments.n do
      local value, after = arguments[i], first + counts[i]
      if core.is_array(value) then
        value = others[first]
      elseif counts[i] > 0 then
        value = leaves.replaced(value, {unpack(others, first, after - 1)})
      end
      made[i], first = value, after
    end
    return unpack(made, 1, arguments.n)
  end
end

--- The arrays as constants, for a function whose call is noted as a whole. They are not to be written.
local function constants_of(arrays)
  local constants = {}
  for i, x in ipairs(arrays) do constants[i] = core.detach(x) end
  return constants
end

--- Checks what a script's rule gave: something like each array of `like`, `what` of it, or nil where `optional`. The other values are
--- the rule's results.
local function check_rule(rule, what, like, optional, ...)
  local count = select("#", ...)
  if count ~= #like then
    core.raise(("[custom] expected %d results of %s, %s each, got %d"):format(#like, rule, what, count))
  end
  for i, x in ipairs(like) do
    local g = (select(i, ...))
    local fits = core.is_array(g) and g.shape == x.shape and g.device == x.device and (kinds.is_complex(x) or not kinds.is_complex(g))
    if not fits and not (optional and not g) then
      core.fail("custom", ("%s that gives, as result %d, %s %s"):format(rule, i, what, core.describe(x)), g)
    end
  end
  return ...
end

--- Gradients of the variables among the arrays as those of all arrays: nil for the others.
local function for_all(arrays, gradients)
  local all, count = {}, 0
  for i, x in ipairs(arrays) do
    if leaves.is_variable(x) then
      count = count + 1
      all[i] = gradients[count]
    end
  end
  return unpack(all, 1, #arrays)
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
    local inputs, count, tangents, places = {...}, select("#", ...), {}, {}
    for i, x in ipairs(inputs) do
      if leaves.is_variable(x) then
        tangents[#tangents + 1] = linear.point(x)
        places[#tangents] = i
      end
    end
    local found = {gpu.vjp(function(...)
      local values = {y, unpack(inputs)}
      for k, i in ipairs(places) do values[1 + count + i] = (select(k, ...)) end
      local results = #cotangents == 1 and {y} or y
      return check_rule("jvp", "a tangent like", results, false, jvp(unpack(values, 1, 1 + 2 * count)))
    end, unpack(tangents))}
    return for_all(inputs, {found[#found](unpack(cotangents))})
  end
  local function rule(cotangents, results, arrays)
    for i, y in ipairs(results) do
      if not cotangents[i] then cotangents[i] = gpu.zeros_like(y) end
    end
    local one = #results == 1
    if jvp then return transposed(cotangents, one and results[1] or results, unpack(arrays)) end
    return check_rule("vjp", "a derivative like", arrays, true,
      vjp(one and cotangents[1] or cotangents, one and results[1] or results, unpack(arrays)))
  end
  return function(...)
    if not core.has_tape() then return core.called(f, ...) end
    local arrays, arguments_of = flatten("custom", ...)
    return calls.note(rule, {f(arguments_of(constants_of(arrays)))}, unpack(arrays))
  end
end

--- Calls a function that may be called again from where the stream of random numbers stands. A list of its results.
local function repeatable(f, ...)
  core.begin_repeatable()
  local results = {core.call(f, ...)}
  core.end_repeatable()
  if not table.remove(results, 1) then error(results[1], 0) end
  return results
end

--- gpu.checkpoint(f)
--- A function that does what f does, and computes it again for its derivative instead of keeping what lies between.
function gpu.checkpoint(f)
  checks.callable("checkpoint", f)
  return function(...)
    if not core.has_tape() then return core.called(f, ...) end
    local arrays, arguments_of = flatten("checkpoint", ...)
    local before = gpu.random.state()
    local results = repeatable(f, arguments_of(constants_of(arrays)))
    local draws = gpu.random.state().offset ~= before.offset
    for _, y in ipairs(results) do
      if core.depends(y) then
        core.raise("[checkpoint] the function reads an array from outside that depends on a variable; give it as an argument, "
          .. "or x:detach() where it is a constant")
      end
    end
    local function again(...) return core.called(f, arguments_of {...}) end
    local function rule(cotangents, first, inputs)
      local now = gpu.random.state()
      if draws then gpu.random.set_state(before) end
      local second = repeatable(gpu.vjp, again, unpack(inputs))
      if draws then gpu.random.set_state(now) end
      for i, y in ipairs(first) do
        if #second ~= #first + 1 or second[i].shape ~= y.shape then
          core.raise("[checkpoint] the function gave other results when it was computed again; it may depend on its arguments alone")
        end
        cotangents[i] = cotangents[i] or gpu.zeros_like(y)
      end
      return for_all(inputs, {second[#second](unpack(cotangents, 1, #first))})
    end
    return calls.note(rule, results, unpack(arrays))
  end
end
