-- The variable that a script passes. The chunk gets the bytecode's readers and returns a function (fn, line, called, count, index):
-- what argument `index` of the call of `called` with `count` arguments on that line of fn is: "global", "upvalue" or "field" and its
-- name, or "local" and its register. Nil is anything else, also where the line has several such calls that differ. The second function
-- (fn, line) tells whether an argument of a call on the line may be nil: false where all are known not to be. The third one (fn, line)
-- says why an operand on the line may be nil, or gives nil.
local bytecode = ...
if not bytecode then
  local function unknown() end
  return unknown, unknown, unknown
end

--- Whether argument `index` of the call at `pc` may be nil.
local function may_be_nil(fn, pc, index)
  local at, kind, value = bytecode.argument(fn, pc, index)
  if not at then return true end
  if kind == "local" then value = bytecode.value_of_local(fn, value) end
  if kind == "local" or kind == "value" then return value == nil end
  return not bytecode.is_never_nil(fn, at)
end

-- Weak: by then a script may have globals of its own.
local standard = setmetatable({}, { __mode = "k" })
for _, value in pairs(_G) do
  if type(value) == "function" then standard[value] = true end
end

local function passes_nil(fn, line)
  local found = false
  for pc in bytecode.calls(fn, false, true) do
    local kind, value = bytecode.callee(fn, pc)
    -- print(gpu.exp()) passes on what it does not look at.
    if bytecode.line(fn, pc) == line and not (kind == "value" and standard[value]) then
      found = true
      for index = 1, bytecode.argument_count(fn, pc) do
        if may_be_nil(fn, pc, index) then return true end
      end
    end
  end
  return not found
end

local function variable_of(fn, line, called, count, index)
  local kind, name
  for pc in bytecode.calls(fn) do
    if bytecode.line(fn, pc) == line and bytecode.argument_count(fn, pc) == count then
      local callee, field = bytecode.callee(fn, pc)
      if callee ~= "field" or field == called then
        local kind_here, name_here = bytecode.variable(fn, pc, index)
        if not kind_here or kind and (kind_here ~= kind or name_here ~= name) then return end
        kind, name = kind_here, name_here
      end
    end
  end
  return kind, name
end

--- The one global that the line reads and that is not defined; nil where there are none or several.
local function undefined_global(fn, line)
  local environment, found = debug.getfenv(fn), nil
  for pc, use, name in bytecode.outside(fn) do
    if use == "reads" and type(name) == "string" and bytecode.line(fn, pc) == line and environment[name] == nil then
      if found and found ~= name then return end
      found = name
    end
  end
  return found
end

local function nil_operand(fn, line)
  local global = undefined_global(fn, line)
  if global then return ("the global '%s' is not defined"):format(global) end
  if bytecode.reads_zero(fn, line) then return "the line reads t[0], and tables count from 1" end
end

return variable_of, passes_nil, nil_operand
