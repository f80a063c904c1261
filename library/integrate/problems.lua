-- Many small problems, one for each thread of a kernel that is written in Lua.
local gpu, _, core, import = ...
local kinds, texts = import "kinds", import "device_texts"

local problems = {}

--- A number, or an array of real numbers on the device; without `device` on any.
function problems.value(op, what, value, device)
  value = core.plain(value)
  if type(value) == "number" then return value end
  if not core.is_array(value) or kinds.is_complex(value) or device and value.device ~= device then
    core.fail(op, ("%s: a number, or an array of real numbers%s"):format(what, device and " on " .. device or ""), value)
  end
  return value
end

--- The list of the option args, of such values.
function problems.args(op, args, device)
  if args == nil then return {} end
  if type(args) ~= "table" then core.fail(op, "args = a list of the function's last arguments", args) end
  local list = {}
  for k, value in ipairs(args) do list[k] = problems.value(op, ("args[%d]"):format(k), value, device) end
  return list
end

--- The dtype and the device of the arrays among values: float64 without any.
function problems.common(op, values)
  local dtype, device
  for _, value in ipairs(values) do
    if core.is_array(value) then
      device = device or value.device
      if value.device ~= device then core.fail(op, ("arrays on %s, as the first"):format(device), value) end
      dtype = core.promote(dtype or kinds.working(value), (kinds.working(value)))
    end
  end
  return dtype or "float64", device
end

--- The problems of values that broadcast to each other and to `shape`: their shape and number; `names` and `arrays`, the parameters of
--- the kernel that have an element for each problem; and `texts`, what the kernel writes for the values of problem i. Numbers, and arrays
--- of one element, go to `settings`, a list that becomes an array.
function problems.gather(shape, values, settings)
  local shapes = {shape}
  for _, value in ipairs(values) do
    if core.is_array(value) and value.ndim > 0 then shapes[#shapes + 1] = value.shape end
  end
  local found = {shape = gpu.broadcast_shapes(unpack(shapes)), count = 1, names = {}, arrays = {}, texts = {}}
  for _, size in ipairs(found.shape) do found.count = found.count * size end
  for k, value in ipairs(values) do
    if core.is_array(value) and (value.size ~= 1 or core.has_tape()) then
      local name = "p" .. k
      found.names[#found.names + 1], found.texts[k] = name, name .. "[i]"
      found.arrays[#found.arrays + 1] = value:broadcast_to(found.shape):reshape(found.count)
    else
      settings[#settings + 1] = core.is_array(value) and value:item() or value
      found.texts[k] = ("settings[%d]"):format(#settings)
    end
  end
  --- The problems' shape with more axes behind.
  function found.with(...)
    local full = {unpack(found.shape)}
    for _, size in ipairs {...} do full[#full + 1] = size end
    return full
  end
  return found
end

-- Kernels by what their texts follow from, so that the same problems find them again. The oldest are dropped.
local kernels, order = {}, {}
local most_kernels = 64

--- Calls a function, which may meet arrays that are differentiated and has no derivative: the error says what has one.
function problems.call(op, instead, fn, ...)
  local ok, result = core.call(fn, ...)
  if ok then return result end
  if type(result) == "string" and result:find("has no derivative", 1, true) then core.raise(("[%s] %s"):format(op, instead)) end
  return nil, result
end

--- Runs the kernel whose text `write` makes of `spec`, for the values in `given`, with the number of problems, f, a function for the
--- device, and the arguments that follow. spec.key tells the text from others of the function `op`. Errors name f in place of the text,
--- or that of `spec.uses` which was called there.
function problems.run(op, write, spec, given, count, f, ...)
  if count == 0 then return end
  local key = op .. spec.key
  if not kernels[key] then
    order[#order + 1] = key
    if #order > most_kernels then kernels[table.remove(order, 1)] = nil end
    kernels[key] = gpu.jit(loadstring(write(spec))(gpu, unpack(given)), {name = op:match "[%w_]+$"})
  end
  local _, message = problems.call(op, "each = true has no derivative; the form without it has one, or x:detach() makes constants",
    kernels[key]:over(count), count, f, ...)
  if message == nil then return end
  if type(message) ~= "string" then error(message, 0) end
  local uses = spec.uses
  if uses then uses.text = write(spec) end
  message = message:gsub("%[" .. op:match "[%w_]+$" .. "%]", "[" .. op .. "]", 1)
  error(texts.message(texts.with_args(message), f, uses), 0)
end

return problems
