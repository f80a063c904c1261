-- LuaJIT's instruction numbers, which differ between versions: they are read from functions. The chunk returns a table of them, and nil
-- where LuaJIT's module jit.util is missing.
local found, util = pcall(require, "jit.util")
if not found then return end
local band, rshift = bit.band, bit.rshift

local function opcode(instruction) return band(instruction, 0xff) end

--- The register that most instructions write.
local function target(instruction) return band(rshift(instruction, 8), 0xff) end

local function opcode_at(fn, pc) return opcode(util.funcbc(fn, pc)) end

--- The first and the last instruction of a function.
local function ends_of(fn)
  local pc = 1
  while util.funcbc(fn, pc + 1) do pc = pc + 1 end
  return opcode_at(fn, 1), opcode_at(fn, pc)
end

local upvalue
local GET_UPVALUE, TAIL_CALL = ends_of(function() return upvalue() end)
local GET_GLOBAL = ends_of(function() return a_global() end)
local _, TAIL_CALL_OF_ALL = ends_of(function(f) return f(f()) end)
local GET_FIELD = opcode_at(function() return a_global.field() end, 2)
local MAKE_FUNCTION = ends_of(function() return function() end end)
local operation_of, arithmetic = {}, {} -- an operator's name, and how many of its operands are registers, by instruction
for name, functions in pairs {
  add = { function(a, b) return a + b end, function(a) return a + 1 end, function(a) return 1 + a end },
  subtract = { function(a, b) return a - b end, function(a) return a - 1 end, function(a) return 1 - a end },
  multiply = { function(a, b) return a * b end, function(a) return a * 2 end, function(a) return 2 * a end },
  divide = { function(a, b) return a / b end, function(a) return a / 2 end, function(a) return 2 / a end },
  remainder = { function(a, b) return a % b end, function(a) return a % 2 end, function(a) return 2 % a end },
  power = { function(a, b) return a ^ b end }, negative = { function(a) return -a end },
} do
  for i, fn in ipairs(functions) do
    local op = ends_of(fn)
    operation_of[op], arithmetic[op] = name, name == "negative" and 0 or i == 1 and 2 or 1
  end
end
local GET_LOCAL = opcode_at(function(f) f() end, 1)
local JUMP = opcode_at(function(a) if a then a() end end, 2)
local CLOSE = opcode_at(function() local function f() end return f() end, 3) -- it writes no register
local GET_INDEXED = opcode_at(function(t, k) return t[k] end, 1)
local SET_FIELD = opcode_at(function(t, v) t.field = v end, 1)
local SET_INDEXED = opcode_at(function(t, k, v) t[k] = v end, 1)
local SET_AT = opcode_at(function(t, v) t[1] = v end, 1)
local SET_GLOBAL = opcode_at(function() a_global = nil end, 2)
local sets_upvalue = {}
for _, fn in ipairs {
  function(value) upvalue = value end, function() upvalue = "" end, function() upvalue = 1 end, function() upvalue = nil end,
} do
  sets_upvalue[(ends_of(fn))] = true
end
-- Instructions that put a value into a register, and the end of a function.
local plain = { [GET_UPVALUE] = true, [GET_GLOBAL] = true, [GET_FIELD] = true, [GET_LOCAL] = true }
for _, fn in ipairs {
  function() return 1 end, function() return 1.5 end, function() return true end, function() return "" end, function() end,
} do
  plain[(ends_of(fn))] = true
end
-- Instructions whose value is never nil.
local never_nil = { [MAKE_FUNCTION] = true }
for op in pairs(arithmetic) do never_nil[op] = true end
for _, fn in ipairs {
  function() return 1 end, function() return 1.5 end, function() return "" end, function() return {} end, function() return { 1 } end,
} do
  never_nil[opcode_at(fn, 1)] = true
end
local CALL, FIRST_ARGUMENT = (function(fn)
  return opcode_at(fn, 3), target(util.funcbc(fn, 2)) - target(util.funcbc(fn, 1))
end)(function(f) f(1) end)

-- Instructions that look whether a value is true, and those that do so to jump where it is.
local tests, jumps_if_true = {}, {}
for _, fn in ipairs {
  function(a) if not a then a() end end, function(a, b) b = a or 1 return b end,
} do
  jumps_if_true[opcode_at(fn, 1)] = true
end
for _, fn in ipairs {
  function(a) if a then a() end end, function(a, b) b = a and 1 return b end, function(a) return not a end,
} do
  tests[opcode_at(fn, 1)] = true
end
for op in pairs(jumps_if_true) do tests[op] = true end
-- Those that compare a value with a constant.
local IS_PRIMITIVE = opcode_at(function(a) return a ~= true end, 1)
local IS_NOT_PRIMITIVE = opcode_at(function(a) return a == true end, 1)
local compares = { [IS_PRIMITIVE] = true, [IS_NOT_PRIMITIVE] = true }
for _, fn in ipairs {
  function(a) return a == 1 end, function(a) return a ~= 1 end, function(a) return a == "" end, function(a) return a ~= "" end,
} do
  compares[opcode_at(fn, 1)] = true
end

-- Those that compare two values.
local compares_values = {}
for _, fn in ipairs { function(a, b) return a == b end, function(a, b) return a ~= b end } do
  compares_values[opcode_at(fn, 1)] = true
end
local GET_AT = opcode_at(function(t) return t[1] end, 1)

local CALL_WITH_ALL = opcode_at(function(f) f(f()) end, 4)

return {
  util = util, opcode = opcode, target = target, opcode_at = opcode_at,
  GET_UPVALUE = GET_UPVALUE, TAIL_CALL = TAIL_CALL, GET_GLOBAL = GET_GLOBAL, TAIL_CALL_OF_ALL = TAIL_CALL_OF_ALL,
  GET_FIELD = GET_FIELD, MAKE_FUNCTION = MAKE_FUNCTION, operation_of = operation_of, arithmetic = arithmetic,
  GET_LOCAL = GET_LOCAL, JUMP = JUMP, CLOSE = CLOSE, GET_INDEXED = GET_INDEXED, SET_FIELD = SET_FIELD, SET_INDEXED = SET_INDEXED,
  SET_AT = SET_AT, SET_GLOBAL = SET_GLOBAL, sets_upvalue = sets_upvalue, plain = plain, never_nil = never_nil, CALL = CALL,
  FIRST_ARGUMENT = FIRST_ARGUMENT, tests = tests, jumps_if_true = jumps_if_true, IS_PRIMITIVE = IS_PRIMITIVE,
  IS_NOT_PRIMITIVE = IS_NOT_PRIMITIVE, compares = compares, compares_values = compares_values, GET_AT = GET_AT,
  CALL_WITH_ALL = CALL_WITH_ALL,
}
