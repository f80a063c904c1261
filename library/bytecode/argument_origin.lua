-- How the script has written an argument. The chunk gets the bytecode's readers and returns a function (fn, line, protect, called,
-- count, index): what argument `index` of the call of `called` with `count` arguments on that line of fn is. `protect` is the pcall or
-- xpcall between, or nil. "" is the value of an operator, as in x + 1; "[]" and an object an element of the object, as in x[i];
-- another text the name of the function that made it, as in x:exp() and gpu.exp(x). No variable holds such a value, unless the object
-- does. Nil is anything else, also where the line has several such calls that differ.
local bytecode = ...
if not bytecode then return function() end end

local function origin_in(fn, pc, index)
  local at, kind = bytecode.argument(fn, pc, index)
  if kind == "arithmetic" then return "" end
  if kind == "index" then return "[]", bytecode.object(fn, at) end
  if kind ~= "call" then return end
  local called, name = bytecode.callee(fn, at)
  return called == "field" and name or nil
end

--- The function that the call at `pc` calls, or the prototype of one; nil if it is not known.
local function callee(fn, pc)
  local kind, value = bytecode.callee(fn, pc)
  if kind == "local" then value = bytecode.value_of_local(fn, value) or bytecode.function_in(fn, pc, value) end
  return kind ~= "field" and value or nil, kind
end

--- What several calls agree on.
local Agreement = {}
Agreement.__index = Agreement

local function agreement() return setmetatable({}, Agreement) end

function Agreement:add(fn, pc, index)
  local text, object = origin_in(fn, pc, index)
  if not text or self.found and (text ~= self.text or not rawequal(object, self.object)) then self.differs = true end
  self.found, self.text, self.object = true, text, object
end

function Agreement:result()
  if self.found and not self.differs then return self.text, self.object end
end

--- The calls of `called` on the line: those of a field, as in t.launch(n), or the others.
local function on_line(fn, line, called, count, index, of_field)
  local origins, inner = agreement(), {}
  for pc in bytecode.calls(fn, false, true) do inner[bytecode.inner_call(fn, pc) or 0] = true end
  for pc in bytecode.calls(fn, false, true) do
    -- A launch has no result that could be called.
    if bytecode.line(fn, pc) == line and bytecode.argument_count(fn, pc) == count and not inner[pc] then
      local value, kind = callee(fn, pc)
      if (kind == "field") == of_field and (value == nil or rawequal(value, called)) then origins:add(fn, pc, index) end
    end
  end
  return origins
end

local function is_of_lua(value)
  return type(value) == "proto" or type(value) == "function" and debug.getinfo(value, "S").what ~= "C"
end

--- The Lua functions that the line calls, through `protect` if that is set.
local function called_on_line(fn, line, protect)
  local functions = {}
  for pc in bytecode.calls(fn, false, true) do
    if bytecode.line(fn, pc) == line then
      local value = callee(fn, pc)
      if protect and (value == nil or value == protect) then
        local _, kind, given = bytecode.argument(fn, pc, 1)
        if kind == "local" then given = bytecode.value_of_local(fn, given) end
        value = kind ~= "field" and given or nil
      end
      if is_of_lua(value) then functions[#functions + 1] = value end
    end
  end
  return functions
end

--- `return k(x)` in one of the functions, whose frame the call has taken, or in a function that they call that way.
local function in_tail_calls(functions, called, count, index, origins, depth)
  for _, fn in ipairs(functions) do
    for pc in bytecode.calls(fn, true) do
      local value = callee(fn, pc)
      if is_of_lua(value) then
        if depth < 8 then in_tail_calls({ value }, called, count, index, origins, depth + 1) end
      elseif bytecode.argument_count(fn, pc) == count and (value == nil or rawequal(value, called)) then
        origins:add(fn, pc, index)
      end
    end
  end
  return origins
end

return function(fn, line, protect, called, count, index)
  local origins
  if protect then
    local before = protect == pcall and 1 or protect == xpcall and 2
    if not before then return end
    origins = on_line(fn, line, protect, count + before, index + before, false)
  else
    origins = on_line(fn, line, called, count, index, false)
    if not origins.found then origins = on_line(fn, line, called, count, index, true) end
  end
  if not origins.found then
    origins = in_tail_calls(called_on_line(fn, line, protect), called, count, index, agreement(), 1)
  end
  return origins:result()
end
