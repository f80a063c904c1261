-- How the script has written an argument. The chunk gets the bytecode's readers and returns a function (fn, line, count, index):
-- what argument `index` of the call with `count` arguments on that line of fn is. "" is the value of an operator, as in x + 1;
-- another text the name of the function that made it, as in x:exp() and gpu.exp(x). No variable holds such a value. Nil is
-- anything else, also where the line has several such calls that differ.
local bytecode = ...
if not bytecode then return function() end end

local function origin_in(fn, pc, index)
  local at, kind = bytecode.argument(fn, pc, index)
  if kind == "arithmetic" then return "" end
  if kind ~= "call" then return end
  local called, name = bytecode.callee(fn, at)
  return called == "field" and name or nil
end

--- What the calls with `count` arguments on the line agree on: of those of a field, as in k:over(n), or of the others.
local function origin_on_line(fn, line, count, index, of_field)
  local origin
  for pc in bytecode.calls(fn) do
    if bytecode.line(fn, pc) == line and bytecode.argument_count(fn, pc) == count
      and (bytecode.callee(fn, pc) == "field") == of_field then
      local here = origin_in(fn, pc, index)
      if not here or origin and here ~= origin then return nil, true end
      origin = here
    end
  end
  return origin, origin ~= nil
end

--- The running function's local in a register.
local function value_of_local(fn, register)
  local level = 2
  while true do
    local frame = debug.getinfo(level, "f")
    if not frame then return end
    if frame.func == fn then return select(2, debug.getlocal(level, register + 1)) end
    level = level + 1
  end
end

--- The Lua functions that the line calls.
local function called_on_line(fn, line)
  local called = {}
  for pc in bytecode.calls(fn) do
    if bytecode.line(fn, pc) == line then
      local kind, value = bytecode.callee(fn, pc)
      if kind == "local" then value = value_of_local(fn, value) end
      if type(value) == "function" and debug.getinfo(value, "S").what ~= "C" then called[#called + 1] = value end
    end
  end
  return called
end

--- The same for `return k(x)` in one of the functions that the line calls, whose frame the call has taken.
local function origin_in_tail_calls(fn, line, count, index)
  local origin
  for _, called in ipairs(called_on_line(fn, line)) do
    for pc in bytecode.calls(called, true) do
      if bytecode.argument_count(called, pc) == count then
        local here = origin_in(called, pc, index)
        if not here or origin and here ~= origin then return end
        origin = here
      end
    end
  end
  return origin
end

return function(fn, line, count, index)
  local origin, found = origin_on_line(fn, line, count, index, false)
  if not found then origin, found = origin_on_line(fn, line, count, index, true) end
  if not found then origin = origin_in_tail_calls(fn, line, count, index) end
  return origin
end
