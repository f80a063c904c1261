-- gpu.grad, gpu.value_and_grad, gpu.vjp: derivatives of functions of arrays.
-- In sandboxes: all
local gpu, methods, core, import = ...
local checks, kinds, leaves = import "checks", import "kinds", import "leaves"
local calls = import "derived_calls"
import "rules"
import "linalg_rules"
import "fft_rules"
import "filter_rules"
import "sparse_rules"

-- Results without elements that depend on the arguments. broadcast_arrays has constants beside the others.
for _, constant in ipairs {core.detach, core.gradient, core.variable, core.sparse_matrix, "zeros_like", "ones_like", "full_like",
  "empty_like", "broadcast_arrays", "isin", "linalg.matrix_rank", "A:argmax", "A:argmin", "signal.find_peaks", "signal.argrelmax", "signal.argrelmin"} do
  core.constants[constant] = true
end

-- The functions of gpu.grad and gpu.value_and_grad, for functions for a device that capture them.
setmetatable(core.differentiated, {__mode = "k"})

local is_variable = leaves.is_variable

-- ---- variables ------------------------------------------------------------------------------------------------------------------

--- The arrays and numbers of an argument as variables: what the function gets, and the gradient's structure, in which each variable stands
--- in the place of its own gradient. nil where the argument has no variable.
local function variables_of(op, tape, value, what, seen)
  if core.is_array(value) then
    if not is_variable(value) then return value, nil end
    local variable = core.variable(tape, value)
    return variable, variable
  elseif type(value) == "number" then
    local variable = core.variable(tape, value)
    return variable, variable
  elseif type(value) ~= "table" or getmetatable(value) ~= nil then
    return value, nil
  end
  if seen[value] then core.raise(("[%s] expected tables without cycles, got %s inside of itself"):format(op, what)) end
  seen[value] = true
  local copy, structure = {}, nil
  for _, key in ipairs(leaves.keys(value)) do
    local item, inner = value[key], nil
    if type(item) == "number" then
      copy[key] = item
    else
      copy[key], inner = variables_of(op, tape, item, what .. "." .. tostring(key), seen)
    end
    if inner ~= nil then
      structure = structure or {}
      structure[key] = inner
    end
  end
  seen[value] = nil
  return copy, structure
end

--- Puts what `of` gives for each variable in its place.
local function map(structure, of)
  if core.is_array(structure) then return of(structure) end
  local mapped = {}
  for key, inner in pairs(structure) do mapped[key] = map(inner, of) end
  return mapped
end

--- Why an argument has no variable, for the message.
local function refuse(op, position, value)
  if core.is_array(value) then
    core.raise(("[%s] expected real or complex numbers as argument %d, got %s, which does not change continuously; x:astype(\"float32\")")
      :format(op, position, core.describe(value)))
  end
  core.fail(op, ("an array, a number, or a table of arrays as argument %d"):format(position), value)
end

-- ---- the two passes ---------------------------------------------------------------------------------------------------------------

-- The calls of functions that are differentiated now, the innermost last.
local running = {}
local most_running = 32

--- Calls the function with variables in the place of the arguments whose positions are in `which`; without it, of all that can be
--- variables. Returns the closed tape, the structures by position, the results, and whether the function has taken derivatives.
local function forward(op, f, which, ...)
  if #running == most_running then
    core.raise(("[%s] expected at most %d derivatives inside of one another, got one more: does the function take the derivative of itself?"):format(
      op, most_running))
  end
  local tape = core.open_tape(op)
  local arguments, structures = {n = select("#", ...), ...}, {}
  local function call()
    for position = 1, arguments.n do
      if not which or which[position] then
        local value = arguments[position]
        arguments[position], structures[position] = variables_of(op, tape, value, "argument " .. position, {})
        if which and structures[position] == nil then refuse(op, position, value) end
      end
    end
    return core.called(f, unpack(arguments, 1, arguments.n))
  end
  local place = #running + 1
  running[place] = {derives = false}
  local results = calls.observed(call)
  local ok, derives = table.remove(results, 1), running[place].derives
  running[place] = nil
  core.close_tape(tape, unpack(results))
  if not ok then error(checks.with_missing(results[1], f, arguments.n), 0) end
  return tape, structures, results, derives
end

--- Goes over the tape from its end. `seed` adds the cotangents of the results.
local function backward(tape, each, seed)
  for _, one in ipairs(running) do one.derives = true end
  local pass = core.reverse(tape, each)
  seed(pass)
  local function step(call, ...)
    if not call then return false end
    core.contribute(pass, call.rule({...}, call.results, call.arrays, call.arguments, core.needs(pass)))
    return true
  end
  while step(core.next_rule(pass)) do end
  return pass
end

--- The gradients of a structure's variables. Zeros where nothing depends on one.
local function gradients(pass, structure, shape)
  return map(structure, function(variable)
    local g = core.gradient(pass, variable)
    if not g then return gpu.zeros(shape or variable.shape, {dtype = variable.dtype, device = variable.device}) end
    return shape and core.broadcast(g, shape) or g
  end)
end

local function check_which(op, which)
  if which == nil then return {1} end
  if core.is_array(which) then core.fail(op, "a function and positions of its arguments, gpu.grad(f)(x), not arrays", which) end
  local list = type(which) == "table" and which or {which}
  for _, position in ipairs(list) do checks.count(op, "positions of arguments, from 1, to differentiate by", position, 1) end
  if #list == 0 then core.fail(op, "positions of arguments, from 1, to differentiate by", which) end
  return list
end

local function check_result(op, y, each)
  if not core.is_array(y) then
    local remedy = core.is_number(y) and "; a number, as y:item() gives, has no derivative, an array of one element has"
      or y == nil and "; return gives a function's result" or ""
    core.raise(("[%s] expected a function whose first result depends on its arguments, got %s%s"):format(op, core.describe(y), remedy))
  end
  if kinds.is_integral(y) and (each or y.size == 1) then
    core.raise(("[%s] expected a function whose first result has real numbers, got %s, which does not change continuously; "
      .. "integers and comparisons have no derivative"):format(op, core.describe(y)))
  end
  if each then
    if not kinds.is_floating(y) then core.fail(op, "a function whose first result has real numbers", y) end
  elseif not kinds.is_floating(y) or y.size ~= 1 then
    local caller = core.called_op() or op
    local others = caller:find "^optimize%." and checks.of_residuals
      or "y:sum() is one, gpu.grad with {each = true} and gpu.vjp take others"
    core.raise(("[%s] expected a function whose first result is one real number, got %s; %s"):format(op, core.describe(y), others))
  end
end

local function differentiate(op, f, which, options)
  if type(which) == "table" and #which == 0 and next(which) ~= nil then which, options = nil, which end
  checks.callable(op, f)
  local positions = check_which(op, which)
  options = checks.fields(op, options)
  local each = checks.flag(op, "each", options.each) or false
  local wanted = {}
  for _, position in ipairs(positions) do wanted[position] = true end
  local function run(...)
    for _, position in ipairs(positions) do
      if position > select("#", ...) then
        core.raise(("[%s] expected an argument %d to differentiate by, got %d arguments"):format(op, position, select("#", ...)))
      end
    end
    local tape, structures, results, derives = forward(op, f, wanted, ...)
    local y = results[1]
    check_result(op, y, each)
    local follows = core.follows(tape, y)
    if not follows and not derives then -- the derivative of something linear depends on no variable; else it is a mistake
      core.raise(("[%s] the result depends on no variable: the function reads an array from outside where its parameter is meant, or "
        .. "its result has no derivative, as a comparison"):format(op))
    end
    local pass = backward(tape, each, function(pass)
      if follows then core.add_cotangent(pass, y) end
    end)
    local all = {}
    for i, position in ipairs(positions) do all[i] = gradients(pass, structures[position], each and y.shape) end
    core.end_pass(pass, tape)
    return results, all
  end
  return run, function(made)
    core.differentiated[made] = {f, op == "value_and_grad", unpack(positions)}
    return made
  end
end

--- gpu.grad(f [, which] [, {each}])
--- The function that gives the gradient of f's first result.
function gpu.grad(f, which, options)
  local run, noted = differentiate("grad", f, which, options)
  return noted(function(...)
    local _, all = run(...)
    return unpack(all)
  end)
end

--- gpu.value_and_grad(f [, which] [, {each}])
--- The same with f's first result before the gradients, and its other results behind.
function gpu.value_and_grad(f, which, options)
  local run, noted = differentiate("value_and_grad", f, which, options)
  return noted(function(...)
    local results, all = run(...)
    for i = 2, #results do all[#all + 1] = results[i] end
    return results[1], unpack(all)
  end)
end

--- gpu.vjp(f, ...)
--- f's results, and the function that takes derivatives of something for these to derivatives for the arguments.
function gpu.vjp(f, ...)
  checks.callable("vjp", f)
  local tape, structures, results = forward("vjp", f, nil, ...)
  local arguments = select("#", ...)
  local function pull(...)
    local cotangents = {...}
    if select("#", ...) ~= #results then
      core.raise(("[vjp] expected a derivative for each of the function's %d results, got %d"):format(#results, select("#", ...)))
    end
    local pass = backward(tape, false, function(pass)
      for i, y in ipairs(results) do
        local g = cotangents[i]
        if not core.is_array(g) or not core.is_array(y) or g.shape ~= y.shape then
          core.fail("vjp", ("an array of the shape of result %d, %s"):format(i, core.describe(y)), g)
        end
        if core.follows(tape, y) then core.add_cotangent(pass, y, g) end
      end
    end)
    local all, count = {}, 0
    for position = 1, arguments do
      if structures[position] ~= nil then
        count = count + 1
        all[count] = gradients(pass, structures[position])
      end
    end
    return unpack(all, 1, count)
  end
  local all = {unpack(results)}
  all[#all + 1] = pull
  return unpack(all)
end
