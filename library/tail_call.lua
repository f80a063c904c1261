-- The line of a tail call. `return f(x)` gives f the frame of the calling function, so an error in f sees only that function's
-- caller. The chunk gets the `gpu` table and returns a function (fn, callee) -> "chunk:line" or nil.
local gpu = ...

local found, util = pcall(require, "jit.util")
if not found then return function() end end
local band, rshift = bit.band, bit.rshift

local function opcode(instruction) return band(instruction, 0xff) end

--- The first and the last instruction of a function.
local function ends_of(fn)
  local pc, first, last = 1, nil, nil
  while true do
    local instruction = util.funcbc(fn, pc)
    if not instruction then return opcode(first), opcode(last) end
    first, last, pc = first or instruction, instruction, pc + 1
  end
end

-- LuaJIT's instruction numbers differ between versions. They are read from these functions.
local upvalue
local GET_UPVALUE, TAIL_CALL = ends_of(function() return upvalue() end)
local GET_GLOBAL = ends_of(function() return a_global() end)
local _, TAIL_CALL_OF_ALL = ends_of(function(f) return f(f()) end)
local _, GET_FIELD = (function(fn) return nil, opcode(util.funcbc(fn, 2)) end)(function() return a_global.field() end)

--- The callee of the call at `pc`: the function, for an upvalue or a global; else the name of the field.
local function called(fn, pc)
  local register = band(rshift(util.funcbc(fn, pc), 8), 0xff)
  for at = pc - 1, 1, -1 do
    local instruction = util.funcbc(fn, at)
    if band(rshift(instruction, 8), 0xff) == register then
      local op = opcode(instruction)
      if op == GET_UPVALUE then
        local _, value = debug.getupvalue(fn, rshift(instruction, 16) + 1)
        return value
      elseif op == GET_GLOBAL then
        return rawget(getfenv(fn), util.funck(fn, -rshift(instruction, 16) - 1))
      elseif op == GET_FIELD then
        return nil, util.funck(fn, -band(rshift(instruction, 16), 0xff) - 1)
      end
    end
  end
end

--- The tail calls of fn that can have led to callee: {line =, fn = the called function, if it is a Lua function}.
local function tail_calls(fn, callee)
  local calls, sure = {}, {}
  local pc = 1
  while true do
    local instruction = util.funcbc(fn, pc)
    if not instruction then break end
    if opcode(instruction) == TAIL_CALL or opcode(instruction) == TAIL_CALL_OF_ALL then
      local value, field = called(fn, pc)
      local call = { line = util.funcinfo(fn, pc).currentline, fn = type(value) == "function" and value ~= callee and value or nil }
      calls[#calls + 1] = call
      if value == callee or field and rawget(gpu, field) == callee then sure[#sure + 1] = call end
    end
    pc = pc + 1
  end
  return #sure > 0 and sure or calls
end

return function(fn, callee)
  for _ = 1, 16 do -- the limit ends cycles of tail calls
    local info = debug.getinfo(fn, "S")
    if info.source == "=[gpulua]" then return end
    local calls = tail_calls(fn, callee)
    if #calls ~= 1 then return end
    local next_fn = calls[1].fn
    if not next_fn or debug.getinfo(next_fn, "S").what == "C" then
      return info.short_src .. ":" .. calls[1].line
    end
    fn = next_fn
  end
end
