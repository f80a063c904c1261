-- The variable that a script passes. The chunk gets the bytecode's readers and returns a function (fn, line, called, count, index):
-- what argument `index` of the call of `called` with `count` arguments on that line of fn is: "global", "upvalue" or "field" and its
-- name, or "local" and its register. Nil is anything else, also where the line has several such calls that differ. The second function
-- (fn, line) tells whether an argument of a call on the line may be nil: false where all are known not to be. The third one (fn, line)
-- gives the kind, name and table of the only variable that is nil and that an operator, or a function that is not Lua's own, gets there;
-- "zero" where there is none and the line reads t[0].
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

-- Lua's own functions. Other globals are a script's or a host program's. Weak: a script may have put others in their place.
local standard = setmetatable({}, { __mode = "k" })
for name in ([[assert collectgarbage dofile error gcinfo getfenv getmetatable ipairs load loadfile loadstring module newproxy next pairs
    pcall print rawequal rawget rawlen rawset require select setfenv setmetatable tonumber tostring type unpack xpcall]]):gmatch "%a+" do
  local value = rawget(_G, name)
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

--- Whether what callee() gives may be a function of the library's: gpu.add, x:add, or a variable that holds one.
local function may_be_ours(kind, value)
  if kind == "field" or kind == "local" then return true end
  if type(value) ~= "function" or standard[value] ~= nil then return false end
  local info = debug.getinfo(value, "S")
  return info.what == "C" or info.source == "=[gpulua]"
end

local function nil_variable(fn, line)
  local kind, name, object
  for _, read in ipairs(bytecode.registers_read(fn, line, may_be_ours)) do
    local kind_here, name_here, object_here = bytecode.nil_variable(fn, read[1], read[2])
    if kind_here then
      if kind and (kind_here ~= kind or name_here ~= name or object_here ~= object) then return end
      kind, name, object = kind_here, name_here, object_here
    end
  end
  if not kind and bytecode.reads_zero(fn, line) then return "zero", "t[0]" end
  return kind, name, object
end

return variable_of, passes_nil, nil_variable
