-- Which results of calls are conditions. An array is always true in Lua, and equals no number. The chunk gets the bytecode's readers
-- and returns a function (fn): false, or by line, register of the call and name of the called field ("" for a variable) "condition" or
-- "comparison". A prototype is read once.
local bytecode = ...
if not bytecode then return function() return false end end
local util = bytecode.util

--- The calls of a line and a register whose results are used so, by name.
local function names_at(lines, line, register)
  lines[line] = lines[line] or {}
  lines[line][register] = lines[line][register] or {}
  return lines[line][register]
end

local function add(lines, fn, pc, use)
  local kind, name = bytecode.callee(fn, pc)
  names_at(lines, bytecode.line(fn, pc), bytecode.register(fn, pc))[kind == "field" and name or ""] = use
end

local function conditions_in(fn)
  local lines, targets = {}, bytecode.targets(fn)
  for pc in bytecode.calls(fn, false, true) do
    local use = bytecode.use_of_result(fn, pc, targets)
    if use then add(lines, fn, pc, use) end
    if bytecode.calls_global(fn, pc, "assert") then
      local at, kind = bytecode.argument(fn, pc, 1)
      if kind == "call" then add(lines, fn, at, "condition") end
    end
  end
  return next(lines) and lines or false
end

local known = setmetatable({}, { __mode = "k" })

return function(fn)
  local proto = util.funcinfo(fn).proto
  if known[proto] == nil then known[proto] = conditions_in(fn) end
  return known[proto]
end
