-- gpu.optimize: steps along gradients. An optimiser writes the arrays of its parameters in place. The writes of an array and of its
-- moments wait for each other, so they are one kernel, which may also compute the gradient.
-- In sandboxes: all
local gpu, _, core, import = ...
local checks, kinds, leaves, objects = import "checks", import "kinds", import "leaves", import "objects"

local optimize = gpu.optimize

-- Writes that are evaluated together: below the 32 at which PendingWrites starts anew, wherever it is in the moments of an array.
local most_writes = 30

-- ---- options ----------------------------------------------------------------------------------------------------------------

--- A number from `least` on, and below `bound`.
local function number(options, op, name, otherwise, least, bound)
  local value = options[name]
  if value == nil then return otherwise end
  if type(value) ~= "number" or not (value >= least and value < bound) then
    core.fail(op, ("%s = a number of %g or more%s"):format(name, least, bound < math.huge and (" and below %g"):format(bound) or ""),
      value)
  end
  return value
end

local function is_scalar(value) return core.is_array(value) and value.ndim == 0 and kinds.is_floating(value) end

local function check_rate(op, what, rate)
  if not (type(rate) == "number" and rate >= 0 and rate < math.huge or is_scalar(rate)) then core.fail(op, what, rate) end
  return rate
end

local function read(op, options)
  options = checks.fields("optimize." .. op, options)
  op = "optimize." .. op
  local rate = options.learning_rate == nil and 1e-3 or options.learning_rate
  if type(rate) ~= "function" then
    check_rate(op, "learning_rate = a number of 0 or more, a floating array of no axes, or a function of the step's number", rate)
  end
  local clip = options.clip_norm
  if clip ~= nil and not (type(clip) == "number" and clip > 0) then core.fail(op, "clip_norm = a number above 0", clip) end
  local momentum = number(options, op, "momentum", 0, 0, 1)
  if checks.flag(op, "nesterov", options.nesterov) and momentum == 0 then
    core.raise(("[%s] expected a momentum above 0 with nesterov = true, got %s"):format(op, core.describe(options.momentum)))
  end
  return {
    learning_rate = rate, clip_norm = clip, momentum = momentum, nesterov = options.nesterov,
    b1 = number(options, op, "b1", 0.9, 0, 1), b2 = number(options, op, "b2", 0.999, 0, 1),
    decay = number(options, op, "decay", 0.9, 0, 1), eps = number(options, op, "eps", 1e-8, 0, math.huge),
    weight_decay = number(options, op, "weight_decay", op == "optimize.adamw" and 1e-4 or 0, 0, math.huge),
  }
end

-- ---- rules --------------------------------------------------------------------------------------------------------------------

-- A rule has the names of its moments; those among `sizes` are real for complex parameters. `scalars`, of the number of the step and
-- the learning rate: numbers that `change` gets, or arrays of no axes. `change`: the new moments are written, and what to subtract
-- from the parameter p is returned. m: the moments of p.

--- |g|^2
local function square(g) return kinds.is_complex(g) and g:real():square() + g:imag():square() or g:square() end

--- Follows `change` with momentum, or nothing.
local function with_momentum(o, m, change)
  if o.momentum == 0 then return change end
  m.trace:copy_(m.trace * o.momentum + change)
  return o.nesterov and m.trace * o.momentum + change or m.trace
end

local function one_rate(_, rate) return rate end

local function sgd(o)
  return {
    moments = o.momentum > 0 and {"trace"} or {}, sizes = {}, scalars = one_rate,
    change = function(p, g, m, rate)
      if o.weight_decay > 0 then g = g + p * o.weight_decay end
      return with_momentum(o, m, g) * rate
    end,
  }
end

local function adam(o)
  return {
    moments = {"m", "v"}, sizes = {v = true},
    scalars = function(step, rate) return rate / (1 - o.b1 ^ step), 1 / (1 - o.b2 ^ step), rate * o.weight_decay end,
    change = function(p, g, m, rate, scale, decay)
      m.m:copy_(m.m * o.b1 + g * (1 - o.b1))
      m.v:copy_(m.v * o.b2 + square(g) * (1 - o.b2))
      local change = m.m * rate / ((m.v * scale):sqrt() + o.eps)
      return o.weight_decay > 0 and change + p * decay or change
    end,
  }
end

local function rmsprop(o)
  return {
    moments = o.momentum > 0 and {"trace", "v"} or {"v"}, sizes = {v = true}, scalars = one_rate,
    change = function(_, g, m, rate)
      m.v:copy_(m.v * o.decay + square(g) * (1 - o.decay))
      return with_momentum(o, m, g * rate / (m.v + o.eps):sqrt())
    end,
  }
end

-- ---- steps --------------------------------------------------------------------------------------------------------------------

--- The gradients by the paths of their parameters.
local function gradients(self, grads)
  local by_path, count = {}, 0
  for _, given in ipairs(leaves.of("optimizer:step", "params", grads)) do by_path[given.path], count = given.array, count + 1 end
  local all = rawget(self, "leaves")
  for i, leaf in ipairs(all) do
    local p, g = leaf.array, by_path[leaf.path]
    if not g or g.dtype ~= p.dtype or g.shape ~= p.shape or g.device ~= p.device then
      core.raise(("[optimizer:step] expected the gradient of %s, %s%s on %s, got %s; optimizer:step(g) takes g of gpu.grad"):format(leaf.path, p.dtype,
        checks.shape_text(p.shape), p.device, g and ("%s%s on %s"):format(g.dtype, checks.shape_text(g.shape), g.device) or "none"))
    end
    by_path[i] = core.cast(g, leaf.dtype)
    by_path[leaf.path] = nil
  end
  if count > #all then
    for path in pairs(by_path) do
      if type(path) == "string" then
        core.raise(("[optimizer:step] expected gradients of the parameters, got one of %s, which is none"):format(path))
      end
    end
  end
  return by_path
end

--- The factor by which gradients of a norm above `most` are multiplied: an array of no axes.
local function clipping(list, most)
  local sum = 0
  for _, g in ipairs(list) do sum = square(g):sum() + sum end
  return gpu.minimum(most / sum:sqrt(), 1):eval()
end

--- The number of the step that begins: an array where work is repeated, from the first time on.
local function next_number(self)
  local repeated, done = core.repeated(), rawget(self, "done")
  if repeated == "fuse" then
    core.raise("[optimizer:step] expected a step outside of gpu.fuse, which would repeat its number; gpu.graph repeats whole steps, "
      .. "and gpu.fuse(gradient) the gradient")
  end
  if done and not repeated then return done + 1 end
  local counter = rawget(self, "counter")
  if done then counter:fill_(done) end
  return (counter + 1):eval()
end

local function count(self, number)
  local is_array = core.is_array(number)
  if is_array then rawget(self, "counter"):copy_(number) end
  rawset(self, "done", not is_array and number or nil)
end

local function step(self, grads)
  local o, rule = rawget(self, "options"), rawget(self, "rule")
  local list = gradients(self, grads)
  local number, rate = next_number(self), o.learning_rate
  if type(rate) == "function" then
    rate = check_rate("optimizer:step", "a number of 0 or more or a floating array of no axes from learning_rate", rate(number))
  end
  count(self, number)
  local clip = o.clip_norm and clipping(list, o.clip_norm)
  local scalars = {rule.scalars(number, rate)}
  for i, scalar in ipairs(scalars) do
    if core.is_array(scalar) then scalars[i] = scalar:eval() end -- once, not for each element
  end
  local writes = 0
  for i, leaf in ipairs(rawget(self, "leaves")) do
    local p, own = leaf.array, {}
    for j, scalar in ipairs(scalars) do own[j] = core.is_array(scalar) and core.cast(scalar, leaf.real) or scalar end
    local g = clip and list[i] * core.cast(clip, leaf.real) or list[i]
    p:copy_(p - rule.change(core.cast(p, leaf.dtype), g, leaf.moments, unpack(own)))
    writes = writes + #rule.moments + 1
    if writes + #rule.moments + 1 > most_writes then
      p:eval()
      writes = 0
    end
  end
end

-- ---- objects ------------------------------------------------------------------------------------------------------------------

local function steps(self) return rawget(self, "done") or rawget(self, "counter"):item() end

--- The arrays that a step changes beside the parameters, by name.
local function state(self)
  local arrays = {steps = rawget(self, "done") and gpu.array(rawget(self, "done"), "float64") or rawget(self, "counter")}
  for _, leaf in ipairs(rawget(self, "leaves")) do
    for name, array in pairs(leaf.moments) do arrays[name .. leaf.path:sub(#"params" + 1)] = array end
  end
  return arrays
end

local function load(self, given)
  if type(given) ~= "table" then core.fail("optimizer:load", "a table of arrays, as optimizer.state", given) end
  local own = state(self)
  for _, name in ipairs(leaves.keys(own)) do
    local array, other = own[name], rawget(given, name)
    if not core.is_array(other) or other.dtype ~= array.dtype or other.shape ~= array.shape then
      core.fail("optimizer:load", ("state[%q], %s%s"):format(name, array.dtype, checks.shape_text(array.shape)), other)
    end
  end
  for name, array in pairs(own) do
    if name ~= "steps" then array:copy_(rawget(given, name)) end
  end
  if rawget(self, "done") then
    rawset(self, "done", rawget(given, "steps"):item())
  else
    rawget(self, "counter"):copy_(rawget(given, "steps"))
  end
end

local class = objects.class("optimizer", "an optimiser", "state, steps", {step = step, load = load},
  {step = "(grads)", load = "(state)"}, {state = state, steps = steps})

function class:__tostring() return ("optimizer %s of %d arrays"):format(rawget(self, "name"), #rawget(self, "leaves")) end

local function optimizer(name, rule, params, options)
  local op = "optimize." .. name
  options = read(name, options)
  rule = rule(options)
  local list, seen = leaves.of(op, "params", params), {}
  if #list == 0 then core.fail(op, "a floating or complex array, or tables with such arrays, as parameters", params) end
  local device = list[1].array.device
  for _, leaf in ipairs(list) do
    local p = leaf.array
    if p.device ~= device then
      core.raise(("[%s] expected parameters on one device, got %s on %s and %s on %s"):format(op, list[1].path, device, leaf.path,
        p.device))
    end
    if seen[p] then
      core.raise(("[%s] expected each array once, got %s as %s; take it once, with the sum of its gradients"):format(op, seen[p], leaf.path))
    end
    seen[p] = leaf.path
    leaf.dtype = kinds.working(p)
    leaf.real = leaf.dtype:gsub("complex64", "float32"):gsub("complex128", "float64")
    leaf.moments = {}
    for _, moment in ipairs(rule.moments) do
      leaf.moments[moment] = gpu.zeros(p.shape, {dtype = rule.sizes[moment] and leaf.real or leaf.dtype, device = device}):eval()
    end
  end
  local counter = gpu.zeros({}, {dtype = "float64", device = device}):eval()
  return setmetatable({name = name, rule = rule, options = options, leaves = list, counter = counter, done = 0}, class)
end

--- gpu.optimize.sgd(params [, {learning_rate, momentum, nesterov, weight_decay, clip_norm}])
function optimize.sgd(params, options) return optimizer("sgd", sgd, params, options) end

--- gpu.optimize.adam(params [, {learning_rate, b1, b2, eps, clip_norm}])
function optimize.adam(params, options) return optimizer("adam", adam, params, options) end

--- gpu.optimize.adamw(params [, {learning_rate, b1, b2, eps, weight_decay, clip_norm}])
function optimize.adamw(params, options) return optimizer("adamw", adam, params, options) end

--- gpu.optimize.rmsprop(params [, {learning_rate, decay, eps, momentum, nesterov, clip_norm}])
function optimize.rmsprop(params, options) return optimizer("rmsprop", rmsprop, params, options) end
