-- What gpu.optimize does with each = true: many problems of numbers, a thread each. A search is a Lua function for a device, made of a
-- text for the number of its arguments; it captures the script's function f, whose derivatives it takes there.
local gpu, _, core, import = ...
local checks, kinds, records, texts = import "checks", import "kinds", import "records", import "device_texts"

local each = {}

--- Refuses options that have no meaning here, or a name that is not one of the function's.
function each.check_options(op, options, allowed)
  for name in pairs(options) do
    if not (" each args maxiter " .. allowed .. " "):find(" " .. name .. " ", 1, true) then
      core.raise(("[%s] expected the options of each = true: args, maxiter, %s; got %s"):format(op, allowed:gsub(" ", ", "), name))
    end
  end
end

local function check_number(op, what, value)
  if type(value) ~= "number" and not (core.is_array(value) and not kinds.is_complex(value)) then core.fail(op, what, value) end
  return value
end

--- The further arguments of f, numbers or real arrays.
function each.arguments(op, args)
  if args == nil then return {} end
  if type(args) ~= "table" then core.fail(op, "args = a list of f's further arguments, numbers or arrays", args) end
  for i, value in ipairs(args) do check_number(op, ("args[%d]: a number or a real array"):format(i), value) end
  return args
end

--- The dtype of the problems: of their arrays, or float64; integers have fractions in float64.
function each.dtype(lists)
  local arrays = {}
  for _, list in ipairs(lists) do
    for _, value in ipairs(list) do
      if core.is_array(value) then arrays[#arrays + 1] = value end
    end
  end
  local dtype = #arrays > 0 and gpu.result_type(unpack(arrays)) or "float64"
  if dtype == "float16" or dtype == "bfloat16" then return "float32" end
  return dtype:find "^float" and dtype or "float64"
end

--- Throws an error about x0, which is not a list of starting values.
function each.refuse_starts(op, most, x0)
  core.raise(("[%s] expected x0 = a list of 1 to %d starts, numbers or arrays, one for each unknown, got %s%s"):format(op, most,
    core.describe(x0), core.is_array(x0) and x0.ndim == 2 and '; {m(":", 1), m(":", 2)} has the columns of a matrix as starts'
      or core.is_array(x0) and "; {x, y} is of two unknowns, for each element" or ""))
end

--- A start or a bound: the number or array in that dtype.
function each.start(op, what, value, dtype)
  check_number(op, what, value)
  return core.is_array(value) and core.cast(value, dtype) or gpu.array(value, dtype)
end

--- Checks f: a function of `count` numbers.
function each.check(op, f, count)
  if type(f) ~= "function" and type(f) ~= "userdata" then core.fail(op, "a Lua function of numbers, for the device", f) end
  if not core.differentiated[f] then core.check_step_function(op, f, count) end
end

local factories = {}                            -- what the texts are as functions
local latest = setmetatable({}, {__mode = "v"}) -- by the text: the search for the latest f

--- How near a root is wanted.
function each.tolerances(op, options, dtype)
  local is_double = dtype == "float64"
  local xtol = checks.tolerance(op, "xtol", options.xtol) or (is_double and 2e-12 or 1e-6)
  return xtol, math.max(checks.tolerance(op, "rtol", options.rtol) or 0, is_double and 2 ^ -50 or 2 ^ -21)
end

--- Runs the search that `text` describes, a text in which $name stands for `parts.name`, on the arguments. Gives its results. `captured`:
--- values for the text's second result, a function that sets what the search captures; nil if there is none.
function each.run(op, f, text, parts, captured, ...)
  text = text:gsub("%$([%w_]+)", parts)
  factories[text] = factories[text] or assert(loadstring(text))
  local made = latest[text]
  if not made or made.f ~= f then
    local run, capture = factories[text](gpu, f)
    made = {f = f, run = gpu.vectorize(run, {name = op}), capture = capture}
    latest[text] = made
  end
  if captured then made.capture(unpack(captured)) end
  local results = {core.call(made.run, ...)}
  if captured then made.capture() end
  if table.remove(results, 1) then return unpack(results) end
  local message = results[1]
  if type(message) ~= "string" then error(message, 0) end
  error(texts.message(texts.with_args(message), f, {text = text, functions = {f = {f = f, what = "the function", advice = "its result is a number",
    of_boolean = ", as x - 0.5 is one whose sign tells what x > 0.5 does"}}}), 0)
end

--- The format with 1 to n in the place of $i, with commas or the separator between.
function each.list(n, format, separator)
  local items = {}
  for i = 1, n do items[i] = format:gsub("%$i", tostring(i)) end
  return table.concat(items, separator or ", ")
end

--- "p1, p2" for two arguments, with a comma before.
function each.names(letter, count)
  local list = ""
  for i = 1, count do list = list .. ", " .. letter .. i end
  return list
end

--- The statements that make p1, ... of the arguments P1, ..., constant for derivatives: a search is not differentiated, its result is.
function each.constants(count)
  local list = ""
  for i = 1, count do list = list .. ("local p%d = gpu.detach(P%d) "):format(i, i) end
  return list
end

--- The report of a search. What it gives is computed at once.
function each.report(op, reason, iterations, fields)
  fields.reason, fields.iterations, fields.converged = reason, iterations, reason:eq(0)
  return records.seal(fields, op .. " {each = true}")
end

return each
