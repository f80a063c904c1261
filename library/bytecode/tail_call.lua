-- The line of a tail call. `return f(x)` gives f the frame of the calling function, so an error in f sees only that function's
-- caller. The chunk gets the `gpu` table and the bytecode's readers, and returns two functions: (fn, callee, chunk, nearest) ->
-- chunk, line, and whether the line is that of the function's definition, or nil; and (fn, line, call) -> the function that the line of fn gives to `call`, pcall or xpcall, its prototype or register.
local gpu, bytecode = ...
if not bytecode then
  local function unknown() end
  return unknown, unknown
end
local util = bytecode.util

--- Whether a field of that name is the function in gpu, or in one of Lua's own modules.
local function is_named(name, callee)
  if rawget(gpu, name) == callee then return true end
  for _, module in pairs(debug.getregistry()._LOADED) do
    if type(module) == "table" and rawget(module, name) == callee then return true end
  end
  return false
end

--- The tail calls of fn that can have led to callee: {line =, fn = the called function, if it is a Lua function}.
local function tail_calls(fn, callee)
  local calls, sure = {}, {}
  for pc in bytecode.calls(fn, true) do
    local kind, value = bytecode.callee(fn, pc)
    local known = kind == "value" and type(value) == "function" and value ~= callee
    local call = { line = bytecode.line(fn, pc), fn = known and value or nil }
    calls[#calls + 1] = call
    if kind == "value" and value == callee or kind == "field" and is_named(value, callee) then sure[#sure + 1] = call end
  end
  return #sure > 0 and sure or calls
end

--- What is known of the place of one of several tail calls in fn: its chunk, the line of its definition (0: it is the chunk), true.
local function place_of(fn)
  local info = debug.getinfo(fn, "S")
  return info.short_src, info.what == "main" and 0 or info.linedefined, true
end

--- `chunk` is the name of the chunk of fn when fn is a prototype. `nearest`: where several tail calls of a function may have made the
--- call, the function's place is given.
local function tail_call_position(fn, callee, chunk, nearest)
  local info = util.funcinfo(fn)
  if not info.proto or info.proto == util.funcinfo(callee).proto then return end
  for _ = 1, 16 do -- the limit ends cycles of tail calls
    if util.funcinfo(fn).source == "=[gpulua]" then return end
    local calls = tail_calls(fn, callee)
    if #calls ~= 1 then
      if nearest and #calls > 1 then return place_of(fn) end
      return
    end
    local next_fn = calls[1].fn
    if not next_fn or debug.getinfo(next_fn, "S").what == "C" then
      if type(fn) == "function" then chunk = debug.getinfo(fn, "S").short_src end
      return chunk, calls[1].line, false
    end
    fn = next_fn
  end
end

local function protected_function(fn, line, call)
  local found
  for pc in bytecode.calls(fn) do
    if bytecode.line(fn, pc) == line then
      local kind, value = bytecode.callee(fn, pc)
      if kind == "local" or kind == "value" and value == call then
        if found then return end
        local _, source, given = bytecode.argument(fn, pc, 1)
        found = source ~= "field" and given
      end
    end
  end
  return found or nil
end

return tail_call_position, protected_function
