-- Which results of calls and operators are conditions. An array is always true in Lua, and equals no number. The chunk gets the
-- bytecode's readers and returns a function (fn): false, or a table with "condition", "comparison" with a constant and, of calls,
-- "comparison of values": for a call by line, register of
-- the call and name of the called field ("" for a variable); for operators and fields by line and operation, if those of the line are all
-- used so. A field may be what another one is, as two columns are one array, so its comparisons are those with constants.
-- At 0 it has a mask of the lines, by their remainders of 32. A prototype is read once.
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

--- Adds the uses of the results of operators to those of the lines.
local function add_operators(lines, fn, targets)
  local uses = {}
  for pc, operation in bytecode.operators(fn) do
    local line, use = bytecode.line(fn, pc), bytecode.use_of_result(fn, pc, targets, operation:find "^field ") or false
    uses[line] = uses[line] or {}
    if uses[line][operation] == nil then uses[line][operation] = use end
    uses[line][operation] = uses[line][operation] == use and use
  end
  for line, of_line in pairs(uses) do
    for operation, use in pairs(of_line) do
      if use then
        lines[line] = lines[line] or {}
        lines[line][operation] = use
      end
    end
  end
end

local function mask_of(lines)
  local mask = 0
  for line in pairs(lines) do mask = bit.bor(mask, bit.lshift(1, line % 32)) end
  return mask % 2 ^ 32
end

local function conditions_in(fn)
  local lines, targets = {}, bytecode.targets(fn)
  for pc in bytecode.calls(fn, false, true) do
    local use = bytecode.use_of_result(fn, pc, targets)
    if use == "comparison" and not bytecode.use_of_result(fn, pc, targets, true) then use = "comparison of values" end
    if use then add(lines, fn, pc, use) end
    if bytecode.calls_global(fn, pc, "assert") then
      local at, kind = bytecode.argument(fn, pc, 1)
      if kind == "call" then add(lines, fn, at, "condition") end
    end
  end
  add_operators(lines, fn, targets)
  if not next(lines) then return false end
  lines[0] = mask_of(lines)
  return lines
end

local known = setmetatable({}, { __mode = "k" })

return function(fn)
  local proto = util.funcinfo(fn).proto
  if known[proto] == nil then known[proto] = conditions_in(fn) end
  return known[proto]
end
