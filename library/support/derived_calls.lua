-- Calls of functions of the library while a derivative is wanted. One that has a rule (library/gradients/) runs with nobody observing, and
-- the tape notes the call as a whole; the others are known by their parts.
local _, _, core = ...

local rules = core.rules
local calls = {}

--- Refuses arrays in the options, which a rule does not look at: results for `out`, and variables.
local function check_options(name, ...)
  for i = 1, select("#", ...) do
    local options = select(i, ...)
    for option, value in next, type(options) == "table" and options or {} do
      if type(option) == "string" and core.is_array(value) then
        if option == "out" then core.raise(("[%s] the option out has no derivative: use the result"):format(name)) end
        if core.depends(value) then
          core.refuse_derivative(name, (" for its option %s"):format(option))
        end
      end
    end
  end
end

local function finish(pause, ok, ...)
  core.resume(pause)
  if not ok then error((...), 0) end
  return ...
end

--- Calls f with nobody observing.
local function unobserved(f, ...)
  local pause = core.pause()
  return finish(pause, core.call(f, ...))
end

--- Notes a call with these arguments, whose derivative is the rule's (rules.lua), as a whole. Gives its results, which are in a list.
function calls.note(rule, results, ...)
  local count, values = select("#", ...), {...}
  for i, y in ipairs(results) do
    if core.is_array(y) then
      y = y:contiguous() -- the tape knows views by their positions among the elements in row-major order
      -- An argument that is a result stays what it was.
      if core.depends(y) then y = core.detach(y) end
    end
    results[i], values[count + i] = y, y
  end
  core.note_rule(rule, count, unpack(values, 1, count + #results))
  return unpack(results)
end

--- Calls f. The rule is its derivative.
function calls.noted(rule, f, ...) return calls.note(rule, {unobserved(f, ...)}, ...) end

local names = {} -- by signature

--- Runs a function that is written in Lua. Its rule is false, or a text that says what to do, where its parts would give a wrong derivative.
function calls.run(f, signature, ...)
  local name = names[signature]
  if not name then
    name = core.name_of(signature)
    names[signature] = name
  end
  local rule, is_constant = rules[name], core.constants[name]
  if rule == nil and not is_constant or not core.depends(...) then return f(...) end
  if is_constant then return unobserved(f, ...) end
  if not rule then core.refuse_derivative(name) end
  if type(rule) == "string" then core.raise(("[%s] %s"):format(name, rule)) end
  check_options(name, ...)
  return calls.noted(rule, f, ...)
end

--- A function that only the library calls, with the rule of that name. `constant`: the position of an argument that has no derivative.
function calls.derived(name, f, constant)
  return function(...)
    if not core.observed.call or not core.depends(...) then return f(...) end
    if constant and core.depends((select(constant, ...))) then core.refuse_derivative(name) end
    return calls.noted(rules[name], f, ...)
  end
end

--- Calls f, whose calls of the library run() gets as long as it runs. Returns what core.call does.
function calls.observed(f)
  local observed = core.observed
  local before = observed.call
  observed.call = calls.run
  local results = {core.call(f)}
  observed.call = before
  return results
end

return calls
