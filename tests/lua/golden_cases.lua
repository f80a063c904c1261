-- Runs the cases of a file that tests/golden/arrays/cases.py wrote: an expression gives what NumPy gave, in shape, dtype and
-- values.
local gpu = require "gpu"

local golden = {}

local folder = debug.getinfo(1, "S").source:match "^@(.*)lua/[^/]*$" .. "golden/arrays/"

-- Of the greatest magnitude among the elements that are compared, as rounding adds up.
local tolerances = { float16 = 2e-3, bfloat16 = 2e-2, float32 = 2e-6, complex64 = 2e-6, float64 = 1e-13, complex128 = 1e-13 }
local special = { nan = 0 / 0, inf = math.huge, ["-inf"] = -math.huge }

local function flatten(value, out)
  if type(value) == "table" then
    for _, item in ipairs(value) do flatten(item, out) end
  elseif type(value) == "boolean" then
    out[#out + 1] = value and 1 or 0
  elseif type(value) == "cdata" and pcall(function() return value.re end) then
    out[#out + 1], out[#out + 2] = value.re, value.im
  else
    out[#out + 1] = value
  end
  return out
end

local function text(shape) return "(" .. table.concat(shape, ",") .. ")" end

--- A description of the difference, or nil.
local function difference(expected, got, limits)
  if type(expected) == "boolean" then return expected ~= got and ("expected %s, got %s"):format(expected, tostring(got)) end
  local dtype, shape, values = unpack(expected)
  if type(got) == "number" or type(got) == "boolean" then return "expected an array, got " .. tostring(got) end
  if got.dtype ~= dtype then return ("expected %s, got %s"):format(dtype, got.dtype) end
  if text(got.shape) ~= text(shape) then return ("expected shape %s, got %s"):format(text(shape), text(got.shape)) end
  local all = flatten(got:table(), {})
  local scale = 1
  for _, value in ipairs(values) do
    if type(value) == "number" then scale = math.max(scale, math.abs(value)) end
  end
  local limit = (limits[dtype] or tolerances[dtype] or 0) * scale
  for i, value in ipairs(values) do
    local mine = all[i]
    if type(mine) == "cdata" then mine = tostring(mine):match "^-?%d+" end
    local wanted = special[value] or value
    local same = mine == wanted or (wanted ~= wanted and mine ~= mine)
    if not same and type(wanted) == "number" and type(mine) == "number" then same = math.abs(mine - wanted) <= limit end
    if not same then return ("expected %s at %d, got %s"):format(tostring(wanted), i, tostring(mine)) end
  end
end

--- The inputs of the file by their names.
local function make_inputs(inputs)
  local made = {}
  for name, input in pairs(inputs) do
    local dtype, shape, values = unpack(input)
    if dtype:find "^complex" then
      local numbers = {}
      for i = 1, #values, 2 do numbers[#numbers + 1] = gpu.complex(values[i], values[i + 1]) end
      values = numbers
    end
    for i, value in ipairs(values) do values[i] = special[value] or value end
    if dtype == "bool" then
      for i, value in ipairs(values) do values[i] = value == 1 end
    end
    made[name] = gpu.array(values, dtype):reshape(shape)
  end
  return made
end

--- Runs all cases of tests/golden/arrays/<name>.lua and fails with those that differ. `functions`: those that the expressions call.
--- `limits`: dtype -> tolerance, where rounding errors are greater than those of sums.
function golden.run(name, functions, limits)
  local cases = dofile(folder .. name .. ".lua")
  local names = { gpu = gpu, select = select, inf = math.huge, nan = 0 / 0 }
  for called, fn in pairs(functions or {}) do names[called] = fn end
  local environment = setmetatable(make_inputs(cases.inputs), { __index = names })
  local failures = {}
  for _, case in ipairs(cases) do
    local code = case[1]
    local results = { pcall(setfenv(assert(loadstring("return " .. code, code)), environment)) }
    local problem = not results[1] and tostring(results[2])
    -- A list of pieces is a table of arrays.
    if results[1] and type(results[2]) == "table" then results = { true, unpack(results[2]) } end
    if not problem and #results ~= #case then problem = ("expected %d results, got %d"):format(#case - 1, #results - 1) end
    for i = 2, #case do
      if problem then break end
      local ok, found = pcall(difference, case[i], results[i], limits or {})
      problem = found or nil
      if not ok then problem = tostring(found) end
    end
    if problem then failures[#failures + 1] = code .. ": " .. problem end
  end
  local shown = table.concat(failures, "\n", 1, math.min(#failures, 20))
  assert(#failures == 0, ("%d of %d cases differ:\n%s"):format(#failures, #cases, shown))
end

return golden
