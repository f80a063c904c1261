-- Checks of arguments, for the functions that are written in Lua. Errors are raised by `core`, so that they name the script's line.
local gpu, _, core, import = ...
local kinds = import "kinds"

local checks = {}

function checks.array(op, x)
  if not core.is_array(x) then core.fail(op, "an array", x) end
  return x
end

--- A list of arrays that has some.
function checks.arrays(op, list)
  if type(list) ~= "table" or core.describe(list) == "a table of columns" or core.check_list(op, "arrays", list) == 0 then
    core.fail(op, "a table of arrays, {x, y}", list)
  end
  for _, x in ipairs(list) do checks.array(op, x) end
  return list
end

-- How a function of residuals is one of one number.
checks.of_residuals = "of residuals r, r:square():sum() is one, and gpu.optimize.least_squares takes r itself"

--- A function, or a value that is called as one. Arrays are called for their elements.
function checks.callable(op, f)
  if type(f) == "function" then return end
  local metatable = not core.is_array(f) and debug.getmetatable(f)
  if type(metatable) == "table" and rawget(metatable, "__call") ~= nil then return end
  core.raise(("[%s] expected a function of arrays, got %s%s"):format(op, core.describe(f),
    (core.is_array(f) or core.is_number(f)) and "; it takes f itself, as gpu.grad(f)(x) does, not the result of f(x)" or ""))
end

--- A function, which stands before the other arguments; `arguments` has their names, "f, x0".
function checks.function_first(op, arguments, what, f, ...)
  if type(f) == "function" then return f end
  for i = 1, select("#", ...) do
    if type((select(i, ...))) == "function" then
      core.raise(("[%s] expected the function first, gpu.%s(%s), got %s before it"):format(op, op, arguments, core.describe(f)))
    end
  end
  core.raise(("[%s] expected %s, got %s%s"):format(op, what, core.describe(f),
    (core.is_array(f) or core.is_number(f)) and "; it takes f itself, not what a call f(x) gives" or ""))
end

--- Refuses a Lua function of more parameters than the `count` arguments of `form`, "f(x)", or, where it has to take `all`, of fewer.
--- `remedy` ends the message.
function checks.parameters(op, form, f, count, remedy, all)
  local info = type(f) == "function" and debug.getinfo(f, "uS")
  if not info or info.what == "C" then return end
  if info.nparams > count or all and info.nparams < count and not info.isvararg then
    core.raise(("[%s] expected a function %s with %d parameter%s, got one with %d%s"):format(op, form, count, count == 1 and "" or "s",
      info.nparams, remedy or ""))
  end
end

--- The message of an error in a Lua function, which names parameters that had no argument, if a nil may be theirs.
function checks.with_missing(message, f, given)
  local info = type(f) == "function" and debug.getinfo(f, "u")
  if not info or info.nparams <= given or type(message) ~= "string" or not message:find "%f[%w]nil%f[%W]" then return message end
  return ("%s; the function has %d parameter%s and got %d argument%s"):format(message, info.nparams, info.nparams == 1 and "" or "s", given,
    given == 1 and "" or "s")
end

function checks.integer(op, what, value)
  value = core.plain(value)
  if type(value) ~= "number" or value % 1 ~= 0 then core.fail(op, what, value) end
  return value
end

--- An integer from `least` (0) to `most` (no limit).
function checks.count(op, what, value, least, most)
  value = checks.integer(op, what, value)
  if value < (least or 0) or most and value > most then core.fail(op, what, value) end
  return value
end

--- A number that is neither infinite nor NaN.
function checks.finite(op, what, value)
  if type(value) ~= "number" or value - value ~= 0 then core.fail(op, what, value) end
  return value
end

--- The distance between samples, which stands where an array of their coordinates may. `limits`: what the numbers are mistaken for.
function checks.spacing(op, spacing, limits)
  if type(spacing) == "number" and spacing > 0 and spacing < math.huge then return spacing end
  local use = limits and core.is_number(spacing) and "; " .. limits
    or checks.is_options(spacing) and ("; it is an argument, gpu.%s(y, h)"):format(op)
    or type(spacing) == "table" and "; gpu.array(t) makes an array of a table" or ""
  core.raise(("[%s] expected as spacing the distance between samples, a number above 0, or an array of their coordinates, got %s%s"):format(op,
    core.describe(spacing), use))
end

--- An argument that can be left out, but is not nil, of a function that no signature describes. Returns nil where it is left out.
function checks.left_out(op, what, ...)
  if select("#", ...) > 0 and (...) == nil then core.fail(op, what, nil) end
  return (core.plain(...))
end

--- Refuses to change, for a script in a sandbox, what the state's other scripts would get.
function checks.mode_change(op)
  if core.restricted then
    core.raise(("[%s] expected no change of a mode in a sandbox: other scripts would get it"):format(op))
  end
end

local most_steps = 2 ^ 16

--- Refuses, for a script in a sandbox, a kernel whose threads each take that many steps: one that runs is not stopped by a deadline.
function checks.steps(op, steps)
  if core.restricted and steps > most_steps then
    core.raise(("[%s] expected at most %d steps for each element in a sandbox, got %.0f: fewer weights or neighbours"):format(op,
      most_steps, steps))
  end
end

--- What the arguments of an integral of samples are, where limits were given.
checks.not_limits = "the arguments are the samples, the spacing and the axis, not limits: gpu.integrate.quad(f, a, b) integrates a function from a to b"

--- Checks a function of the script's.
function checks.lua_function(op, what, fn)
  if type(fn) ~= "function" then core.fail(op, what, fn) end
end

--- Operators of an object that has none, which raise with the message.
function checks.refuse_operators(metatable, message)
  for _, event in ipairs {"__add", "__sub", "__mul", "__div", "__mod", "__pow", "__unm", "__concat", "__lt", "__le"} do
    metatable[event] = metatable[event] or function() core.raise(message) end
  end
end

--- Checks a boolean option, which can be nil.
function checks.flag(op, name, value)
  if value ~= nil and type(value) ~= "boolean" then core.fail(op, name .. " = true or false", value) end
  return value
end

--- Checks a tolerance, which can be nil: a number of 0 or more. `below`: less than which it is, where it is a part of the greatest value.
function checks.tolerance(op, name, value, below)
  if value ~= nil and (type(value) ~= "number" or not (value >= 0) or below and value >= below) then
    core.fail(op, ("%s = a number of 0 or more%s"):format(name, below and (" and below %d"):format(below) or ""), value)
  end
  return value
end

--- Checks a fraction: a number from 0 to 1. `what` says what it is and what goes with it.
function checks.fraction(op, what, value)
  if type(value) == "number" and value >= 0 and value <= 1 then return value end
  if type(value) ~= "number" or not (value > 1 and value <= 100) then core.fail(op, what, value) end
  core.raise(("[%s] expected %s, got %g; %g percent are %g"):format(op, what, value, value, value / 100))
end

--- Warns of percentiles, a number, nested lists or an array of checked ones, that are fractions: none is above 1, and one lies between 0
--- and 1. `forms`: a function of it that gives what to write.
function checks.warn_of_fractions(op, percentiles, forms)
  local fraction
  if core.is_array(percentiles) then
    if percentiles.size == 0 or percentiles:max():item() > 1 then return end
    fraction = select(2, checks.first_where(percentiles, percentiles:gt(0):logical_and(percentiles:lt(1))))
  else
    local most = 0
    local function look(value)
      if type(value) == "table" then
        for _, item in ipairs(value) do look(item) end
        return
      end
      most = math.max(most, value)
      if value > 0 and value < 1 then fraction = fraction or value end
    end
    look(percentiles)
    if most > 1 then return end
  end
  if fraction then core.warn(("[%s] expected percents, from 0 to 100, got %g, which is less than one percent; %s"):format(op, fraction, forms(fraction))) end
end

--- One of the values of a list, texts or booleans, or the default for nil.
function checks.choice(op, name, value, choices, default)
  if value == nil then return default end
  for _, choice in ipairs(choices) do
    if value == choice then return value end
  end
  local list = {}
  for i, choice in ipairs(choices) do list[i] = type(choice) == "string" and ('"%s"'):format(choice) or tostring(choice) end
  core.fail(op, ("%s = %s"):format(name, (table.concat(list, ", "):gsub(", ([^,]+)$", " or %1"))), value)
end

--- Whether a value is an FFI value, or a list that holds one.
function checks.holds_ffi(value)
  if type(value) ~= "table" then return type(value) == "cdata" end
  for _, item in ipairs(value) do
    if checks.holds_ffi(item) then return true end
  end
  return false
end

--- Returns an array unchanged. Converts a table or a number to the dtype of `like`, or to float64 when that is not floating;
--- integers of the FFI then keep their own.
function checks.to_array(op, what, value, like)
  if core.is_array(value) then return value end
  if type(value) ~= "table" and not core.is_number(value) then core.fail(op, what, value) end
  if type(value) == "table" then core.check_list(op, "numbers", value) end
  local dtype = kinds.is_floating(like) and like.dtype or not checks.holds_ffi(value) and "float64" or nil
  return gpu.array(value, {dtype = dtype, device = like.device})
end

function checks.shape_text(shape)
  local extents = {}
  for axis, extent in ipairs(shape) do extents[axis] = ("%d"):format(extent) end -- all digits, as in C++
  return "(" .. table.concat(extents, ",") .. (#shape == 1 and ",)" or ")")
end

--- The first element of x at which the mask is true: the text of its index, "[3]" or "[{1, 3}]", and the number. nil when there is none.
function checks.first_where(x, mask)
  if x.size == 0 then return nil end
  local flat = mask:broadcast_to(x.shape):reshape(x.size)
  local at = flat:argmax():item()
  if not flat[at] then return nil end
  local index, left = {}, at - 1
  for axis = x.ndim, 1, -1 do
    index[axis] = ("%d"):format(left % x.shape[axis] + 1)
    left = math.floor(left / x.shape[axis])
  end
  return (x.ndim == 1 and "[%s]" or x.ndim == 0 and "" or "[{%s}]"):format(table.concat(index, ", ")), x:reshape(x.size)[at]
end

--- Refuses an array with an element that is infinite or NaN. Waits for it.
function checks.finite_elements(op, name, x, advice)
  local values = x:detach()
  local at, value = checks.first_where(values, (values - values):ne(0))
  if at then
    core.raise(("[%s] expected finite numbers, got %s%s = %s%s"):format(op, name, at, core.describe(value), advice
      or ("; a mask leaves values out: mask = %s:isfinite(), x[mask] and y[mask]"):format(name)))
  end
end

--- The array, which cannot be read if an element is infinite or NaN. Checked on the device: nobody waits.
function checks.finite_later(op, name, x)
  if not kinds.is_floating(x) or x.size == 0 then return x end
  local valid = core.check_numbers(("[%s] expected finite numbers %s, which a mask chooses, mask = %s:isfinite(), x[mask] and y[mask]"):format(op,
    name, name), x:detach():eval(), {least = -math.huge, most = math.huge, above = true, below = true})
  return valid and gpu.where(valid, x, 0) or x
end

--- The integers of a table, or a single number, as a list.
function checks.integers(op, what, value)
  if type(value) ~= "table" then return {checks.integer(op, what, value)} end
  core.check_list(op, "integers", value)
  local integers = {}
  for i, item in ipairs(value) do integers[i] = checks.integer(op, what, item) end
  return integers
end

--- The axes of a number, a table, or nil (all axes): sorted and counted from 1.
function checks.axes(op, axis, ndim)
  local axes = {}
  if axis == nil then
    for i = 1, ndim do axes[i] = i end
    return axes
  end
  local seen = {}
  if type(axis) == "table" then core.check_list(op, "axes", axis) end
  for i, item in ipairs(type(axis) == "table" and axis or {axis}) do
    axes[i] = core.axis(op, item, ndim)
    if seen[axes[i]] then core.raise(("[%s] expected each axis once, got axis %d twice"):format(op, axes[i])) end
    seen[axes[i]] = true
  end
  table.sort(axes)
  return axes
end

--- Whether `options` is a table whose fields are all among `names`.
local function are_fields(options, names)
  if type(options) ~= "table" then return false end
  for field in next, options do
    if type(field) ~= "string" or not names[field] then return false end
  end
  return true
end

--- The options with integers of the FFI as numbers.
local function plain_fields(options)
  for _, value in next, options do
    if type(value) == "cdata" then
      local fields = {}
      for field, given in next, options do fields[field] = core.plain(given) end
      return fields
    end
  end
  return options
end

-- Cache of the option names of each function.

local option_names = {}

--- Checks the options of gpu.`op`, or of a method ("A:sum"), against its signature; with `list`, the options' names of a method of an
--- object that is made in Lua, against that. Returns the options; an empty table for nil.
function checks.fields(op, options, list)
  if options == nil then return {} end
  local names = option_names[list or op]
  if not names then
    names = list and {unpack(list)} or core.option_names(op)
    for _, name in ipairs(names) do names[name] = true end
    option_names[list or op] = names
  end
  if are_fields(options, names) then return plain_fields(options) end
  op = list and op or op:match ":(.*)" or op
  local function text() return (table.concat(names, ", "):gsub(", (%S+)$", " and %1")) end
  if type(options) ~= "table" and not list and core.takes_list(op) then
    core.raise(("[%s] expected one list and a table of options (%s), got %s after the first argument; %s({x, y}) takes several"):format(
      op, text(), core.describe(options), "gpu." .. op))
  end
  if core.is_array(options) and names.axis then
    core.fail(op, ("one array and a table of options (%s); gpu.stack({x, y}) makes one of several"):format(text()), options)
  end
  if type(options) ~= "table" then
    local example = core.is_array(options) and names[1] and ("; a table has them by name, {%s = ...}"):format(names[1])
      or type(options) == "string" and names.format and ("; {format = %q} says how they are written"):format(options)
      or type(options) == "string" and names.method and ("; {method = %q} names one"):format(options)
      or type(options) == "number" and names.axis and names.keepdims and "; several axes are one list, {1, 2}" or "; braces hold options by name, {name = value}"
    local elsewhere = type(options) == "number" and core.number_for_options(op)
    core.raise(("[%s] expected a table of options: %s, got %s%s"):format(op, text(), core.describe(options),
      elsewhere and "; " .. elsewhere or example))
  end
  for field in pairs(options) do
    if type(field) ~= "string" or not names[field] then
      local is_name = type(field) == "string"
      core.raise(("[%s] expected the option%s %s, got %s%s"):format(op, #names > 1 and "s" or "", text(),
        core.describe(is_name and field or options[field]), is_name and core.did_you_mean(field, names, not list and op or nil)
          or names.args and "; {args = {...}} has the function's last arguments" or "; braces hold options by name, {name = value}"))
    end
  end
  return options
end

--- True for a table of options, which has fields but no list items.
function checks.is_options(value) return type(value) == "table" and #value == 0 and next(value) ~= nil end

--- Options in place of an optional argument: returns nil for the argument, and the options. Nothing may follow them.
function checks.shift(op, options, next_argument)
  if next_argument ~= nil then
    core.raise(("[%s] expected no argument after the options, got %s%s"):format(op, core.describe(next_argument),
      core.dtype_and_device(options, next_argument)))
  end
  return nil, options
end

--- Reads the arguments of a reduction, x:name(axis, options): {axes =, keepdims =, dtype =, out =} and the function's other
--- options.
function checks.reduction(op, x, axis, options)
  checks.array(op, x)
  if type(axis) == "table" and #axis == 0 and options == nil then axis, options = nil, axis end
  options = checks.fields(op, options)
  local arguments = {}
  for field, value in pairs(options) do arguments[field] = value end
  if axis == nil then axis = options.axis end
  arguments.axes = checks.axes(op, axis, x.ndim)
  arguments.keepdims = options.keepdims or false
  if type(arguments.keepdims) ~= "boolean" then core.fail(op, "keepdims = true or false", options.keepdims) end
  return arguments
end

function checks.real(op, x)
  checks.array(op, x)
  if kinds.is_complex(x) then core.fail(op, "real numbers, as x:real(), x:imag() and x:abs() give", x) end
  return x
end

return checks
