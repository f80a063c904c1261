-- What the functions composed in Lua share. Each of these files gets the `gpu` table, arrays' methods, and `core`: the functions
-- of composed.cpp and of this file. Errors are raised by `core`, which names the script's line.
local gpu, methods, core = ...

--- Each is a function of `gpu` and a method of arrays.
function core.define(functions)
  for name, fn in pairs(functions) do
    gpu[name] = fn
    methods[name] = fn
  end
end

function core.check_array(op, x)
  if not core.is_array(x) then core.fail(op, "an array", x) end
  return x
end

function core.check_integer(op, what, value)
  if type(value) ~= "number" or value % 1 ~= 0 then core.fail(op, what, value) end
  return value
end

--- A boolean option, or nil.
function core.check_flag(op, name, value)
  if value ~= nil and type(value) ~= "boolean" then core.fail(op, name .. " = true or false", value) end
  return value
end

--- An array as it is; a table or a number in the dtype of `like`, or as float64 where that one is not floating.
function core.to_array(op, what, value, like)
  if core.is_array(value) then return value end
  if type(value) ~= "table" and type(value) ~= "number" then core.fail(op, what, value) end
  if type(value) == "table" then core.check_list(op, "numbers", value) end
  return gpu.array(value, {dtype = core.is_floating(like) and like.dtype or "float64", device = like.device})
end

function core.text(shape)
  local extents = {}
  for axis, extent in ipairs(shape) do extents[axis] = ("%d"):format(extent) end -- all digits, as C++ writes them
  return "(" .. table.concat(extents, ",") .. (#shape == 1 and ",)" or ")")
end

--- The integers of a table, or the one number.
function core.check_integers(op, what, value)
  if type(value) ~= "table" then return {core.check_integer(op, what, value)} end
  core.check_list(op, "integers", value)
  local integers = {}
  for i, item in ipairs(value) do integers[i] = core.check_integer(op, what, item) end
  return integers
end

--- Axes counted from 1, in order: of a number, a table, or nil for all of them.
function core.axes(op, axis, ndim)
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

-- The names of the options of each function, once it has got some.
local option_names = {}

--- The options of gpu.`op`, whose names its signature has.
function core.check_fields(op, options)
  if options == nil then return {} end
  local names = option_names[op]
  if not names then
    names = core.option_names(op)
    for _, name in ipairs(names) do names[name] = true end
    option_names[op] = names
  end
  local function list() return (table.concat(names, ", "):gsub(", (%S+)$", " and %1")) end
  if core.is_array(options) then
    core.fail(op, ("one array and a table of options (%s); gpu.stack({x, y}) makes one of several"):format(list()), options)
  end
  if type(options) ~= "table" then core.fail(op, "a table of options: " .. list(), options) end
  for field in pairs(options) do
    if type(field) ~= "string" or not names[field] then
      core.raise(("[%s] expected the option%s %s, got %s%s"):format(op, #names > 1 and "s" or "", list(), core.describe(field),
        type(field) == "string" and core.did_you_mean(field, names) or ""))
    end
  end
  return options
end

--- True for a table that is no list of something, but options.
function core.is_options(value) return type(value) == "table" and #value == 0 and next(value) ~= nil end

--- nil and the options that stand in an argument's place, when nothing stands behind them.
function core.shift(op, options, behind)
  if behind ~= nil then core.fail(op, "nothing behind the options", behind) end
  return nil, options
end

--- The arguments of a reduction, x:name(axis, options): {axes =, keepdims =, dtype =, out =} and the other options there are.
function core.reduction(op, x, axis, options)
  core.check_array(op, x)
  if type(axis) == "table" and #axis == 0 and options == nil then axis, options = nil, axis end
  options = core.check_fields(op, options)
  local arguments = {}
  for field, value in pairs(options) do arguments[field] = value end
  if axis == nil then axis = options.axis end
  arguments.axes = core.axes(op, axis, x.ndim)
  arguments.keepdims = options.keepdims or false
  if type(arguments.keepdims) ~= "boolean" then core.fail(op, "keepdims = true or false", options.keepdims) end
  return arguments
end

function core.kind(x) return (x.dtype:gsub("%d", "")) end

function core.is_floating(x)
  local kind = core.kind(x)
  return kind == "float" or kind == "bfloat"
end

function core.is_complex(x) return core.kind(x) == "complex" end

function core.check_real(op, x)
  core.check_array(op, x)
  if core.is_complex(x) then core.fail(op, "real numbers", x) end
  return x
end

--- The dtype in which means and the like are computed, and that of the result: 16-bit numbers in float32, integers in float64.
function core.working(x, dtype)
  local from = dtype or x.dtype
  if from == "float16" or from == "bfloat16" then return "float32", from end
  if from:find "^float" or from:find "^complex" then return from, from end
  return "float64", "float32"
end

--- `count` elements of the axis from position `first` on.
function core.slice(x, axis, first, count)
  local specs = {}
  for i = 1, axis - 1 do specs[i] = ":" end
  specs[axis] = count > 0 and {first, first + count - 1} or {2, 1}
  return x(unpack(specs, 1, axis))
end

--- The elements at one position of the axis; the axis goes.
function core.pick(x, axis, position)
  local specs = {}
  for i = 1, axis - 1 do specs[i] = ":" end
  specs[axis] = position
  return x(unpack(specs, 1, axis))
end

--- The positions 0, 1, ... along one axis of a shape of `ndim` axes, the others of size 1; int64, lazily.
function core.along(count, axis, ndim, device, first)
  local shape = {}
  for i = 1, ndim do shape[i] = i == axis and count or 1 end
  return core.positions(shape, first or 0, 1, "int64", {device = device})
end
