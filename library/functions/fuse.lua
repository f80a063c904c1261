-- gpu.fuse: a function of arrays whose kernels are recorded at the first call and run again at the others.
local gpu, _, core = ...
local bit = require "bit"

-- ---- what a function reads and assigns --------------------------------------------------------------------------------------

local bytecode  -- LuaJIT's own module, which shows a function's bytecode
local reads_global, assigns_global, reads_variable, makes_function
local assigns = {}  -- the opcodes that assign to a variable from outside

--- Opens the module. The numbers of opcodes differ between versions of LuaJIT: they are read from functions that consist of them.
local function open_bytecode()
  if bytecode then return end
  local found, module = pcall(require, "jit.util")
  if not found then
    core.raise "[fuse] expected a Lua state with LuaJIT's module jit.util, which shows what a function reads"
  end
  bytecode = module
  local function opcode(fn, position) return bit.band(bytecode.funcbc(fn, position), 0xff) end
  reads_global = opcode(loadstring "return x", 1)
  assigns_global = opcode(loadstring "x = nil", 2)
  makes_function = opcode(loadstring "return function() end", 1)
  local variable
  reads_variable = opcode(function() return variable end, 1)
  assigns[opcode(function(value) variable = value end, 1)] = true
  assigns[opcode(function() variable = "" end, 1)] = true
  assigns[opcode(function() variable = 1 end, 1)] = true
  assigns[opcode(function() variable = nil end, 1)] = true
end

--- Iterates over a function's instructions, or those of a prototype: the position, the opcode, and the operands A and D.
local function instructions(fn)
  return function(_, position)
    local instruction = bytecode.funcbc(fn, position + 1)
    if not instruction then return nil end
    return position + 1, bit.band(instruction, 0xff), bit.band(bit.rshift(instruction, 8), 0xff), bit.rshift(instruction, 16)
  end, nil, 0
end

local function line_of(fn, position) return bytecode.funcinfo(fn, position).currentline end

--- Adds to `names` the globals that the function, or the prototype of one, reads, also in the functions inside of it. Returns the
--- line at which it assigns to a variable from outside, or nil, and that variable's name.
local function scan(fn, outer, names)
  local line, name
  for position, op, a, d in instructions(fn) do
    if op == reads_global then
      names[#names + 1] = bytecode.funck(fn, -d - 1)
    elseif op == assigns_global then
      line, name = line_of(fn, position), bytecode.funck(fn, -d - 1)
    elseif op == makes_function then
      scan(bytecode.funck(fn, -d - 1), false, names)
    elseif outer and assigns[op] then
      line, name = line_of(fn, position), bytecode.funcuvname(fn, a)
    end
  end
  return line, name
end

--- The line on which a function sets a variable from outside that has an array and that it has read before, and the variable's
--- name; nil without one.
function core.carried(fn)
  if not pcall(open_bytecode) or debug.getinfo(fn, "S").what == "C" then return end
  local read = {}
  for position, op, a, d in instructions(fn) do
    local name, value
    if op == reads_variable then
      read[d] = true
    elseif op == reads_global then
      read[bytecode.funck(fn, -d - 1)] = true
    elseif assigns[op] and read[a] then
      name, value = debug.getupvalue(fn, a + 1)
    elseif op == assigns_global and read[bytecode.funck(fn, -d - 1)] then
      name = bytecode.funck(fn, -d - 1)
      value = getfenv(fn)[name]
    end
    if core.is_array(value) then return line_of(fn, position), name end
  end
end

-- The names of the globals that a function reads: a list, or false for a function of the library.
local library = debug.getinfo(1, "S").source
local globals = setmetatable(core.globals, { __mode = "k" })

function globals.find(fn)
  local names = {}
  if debug.getinfo(fn, "S").source == library then
    names = false
  else
    scan(fn, true, names)
  end
  globals[fn] = names
  return names
end

-- ---- gpu.fuse -------------------------------------------------------------------------------------------------------------------

--- gpu.fuse(fn): a function that does what fn does, but runs fn's Lua code only once for each set of layouts and numbers.
function gpu.fuse(fn)
  if type(fn) ~= "function" then core.fail("fuse", "a function of arrays", fn) end
  open_bytecode()
  if debug.getinfo(fn, "S").what ~= "C" then
    local line, name = scan(fn, true, {})
    if line then
      core.raise(("[fuse] expected a function that assigns to no variable from outside, got one that sets '%s' on line %d, which "
        .. "happens only in the calls that record: return the value instead"):format(name, line))
    end
  end
  local known = core.traces(fn)
  local function finish(ok, ...)
    core.end_trace(known, ok, ...)
    if not ok then error((...), 0) end
    return ...
  end
  return function(...)
    local way = core.enter_fused(known, ...)
    if way == "replay" then return core.replay(known) end
    if way == "trace" then return finish(core.call(fn, ...)) end
    return fn(...)
  end
end
