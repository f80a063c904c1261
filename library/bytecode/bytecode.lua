-- What the bytecode of a script's functions tells about their calls. The chunk gets the instructions' numbers, and returns nil where
-- there are none. A function may also be a prototype, which jit.util.funck gives for a function's inner functions.
local ops = ...
if not ops then return end
local band, rshift = bit.band, bit.rshift
local util, opcode, target, opcode_at = ops.util, ops.opcode, ops.target, ops.opcode_at

local bytecode = { util = util }

--- The line of an instruction.
function bytecode.line(fn, pc) return util.funcinfo(fn, pc).currentline end

--- Iterates over the instructions of fn and their positions.
local function instructions(fn)
  local pc = 0
  return function()
    pc = pc + 1
    local instruction = util.funcbc(fn, pc)
    if instruction then return pc, instruction end
  end
end

--- Iterates over the positions of the calls in fn; with `tail` of its last calls, `return f(x)`. `all`: also of calls whose last
--- argument is a call, which may have several results.
function bytecode.calls(fn, tail, all)
  local following = instructions(fn)
  return function()
    for pc, instruction in following do
      local op = opcode(instruction)
      if not tail and (op == ops.CALL or all and op == ops.CALL_WITH_ALL) or tail and (op == ops.TAIL_CALL or op == ops.TAIL_CALL_OF_ALL) then return pc end
    end
  end
end

--- The register of the call at `pc`: of the called function, and of the first result.
function bytecode.register(fn, pc) return target(util.funcbc(fn, pc)) end

--- The positions that instructions of fn jump to, as keys.
function bytecode.targets(fn)
  local targets = {}
  for pc, instruction in instructions(fn) do
    if opcode(instruction) == ops.JUMP then targets[pc + 1 + rshift(instruction, 16) - 0x8000] = true end
  end
  return targets
end

--- "condition" where the only result of the call or operation at `pc` is at once looked at as true or false, "comparison" where it is
--- compared with a value that is not the constant nil; with `constants` only where that is another constant. Nil for another use, also
--- for x in `c and x or y`, which chooses between two values.
function bytecode.use_of_result(fn, pc, targets, constants)
  local made, following = util.funcbc(fn, pc), util.funcbc(fn, pc + 1)
  local is_call = opcode(made) == ops.CALL or opcode(made) == ops.CALL_WITH_ALL
  if is_call and rshift(made, 24) ~= 2 or not following then return end
  local op, operand, register, use = opcode(following), rshift(following, 16), target(made), nil
  if ops.tests[op] and operand == register then
    use = not (ops.jumps_if_true[op] and targets[pc + 3]) and "condition"
  elseif ops.compares[op] and target(following) == register then
    use = (op ~= ops.IS_PRIMITIVE and op ~= ops.IS_NOT_PRIMITIVE or operand ~= 0) and "comparison" -- 0 is nil
  elseif not constants and ops.compares_values[op] and (target(following) == register or operand == register) then
    use = "comparison"
  end
  return use and not targets[pc + 1] and use or nil -- else the value may be another one
end

--- Whether each call from a register on a line of fn drops all its results, as a statement does; false where there is none.
function bytecode.drops_results(fn, line, register)
  local found = false
  for pc in bytecode.calls(fn, false, true) do
    if bytecode.line(fn, pc) == line and bytecode.register(fn, pc) == register then
      if rshift(util.funcbc(fn, pc), 24) ~= 1 then return false end
      found = true
    end
  end
  return found
end

--- Iterates over the operators of fn and its indexings: the position, and the operation's name, "index", or "field name" of a key that
--- is a name.
function bytecode.operators(fn)
  local following = instructions(fn)
  return function()
    for pc, instruction in following do
      local op = opcode(instruction)
      if ops.operation_of[op] then return pc, ops.operation_of[op] end
      if op == ops.GET_INDEXED or op == ops.GET_AT then return pc, "index" end
      if op == ops.GET_FIELD then
        local key = util.funck(fn, -band(rshift(instruction, 16), 0xff) - 1)
        return pc, key:find "^[%a_][%w_]*$" and "field " .. key or "index"
      end
    end
  end
end

--- Adds to `names` the names of fields that fn looks at as true or false at once, or compares with a constant.
function bytecode.add_used_fields(fn, names)
  local targets = bytecode.targets(fn)
  for pc, operation in bytecode.operators(fn) do
    local name = operation:match "^field (.*)"
    if name and bytecode.use_of_result(fn, pc, targets, true) then names[name] = true end
  end
end

--- The first comparison by == or ~=, except with nil, of a parameter that nothing before it has set: the line and the parameter's
--- number. Nil without one.
function bytecode.compared_parameter(fn)
  local count, is_set = util.funcinfo(fn).params, {}
  for pc, instruction in instructions(fn) do
    local op, first, second = opcode(instruction), target(instruction), rshift(instruction, 16)
    local is_primitive = op == ops.IS_PRIMITIVE or op == ops.IS_NOT_PRIMITIVE
    local of_values = ops.compares_values[op]
    if of_values or ops.compares[op] and not (is_primitive and second == 0) then
      if first < count and not is_set[first] then return bytecode.line(fn, pc), first + 1 end
      if of_values and second < count and not is_set[second] then return bytecode.line(fn, pc), second + 1 end
    elseif not ops.compares[op] and not ops.tests[op] then
      is_set[first] = true
    end
  end
end

--- Whether the call at `pc` is of the global of that name.
function bytecode.calls_global(fn, pc, name)
  local register = target(util.funcbc(fn, pc))
  for at = pc - 1, 1, -1 do
    local instruction = util.funcbc(fn, at)
    if target(instruction) == register and opcode(instruction) ~= ops.CLOSE then
      return opcode(instruction) == ops.GET_GLOBAL and util.funck(fn, -rshift(instruction, 16) - 1) == name
    end
  end
end

--- Iterates over what fn does with variables from outside: the position, "reads" or "assigns", and a global's name or an
--- upvalue's index from 0; or the position, "makes" and the prototype of a function inside of fn.
function bytecode.outside(fn)
  local following = instructions(fn)
  return function()
    for pc, instruction in following do
      local op, operand = opcode(instruction), rshift(instruction, 16)
      if op == ops.GET_GLOBAL then return pc, "reads", util.funck(fn, -operand - 1) end
      if op == ops.SET_GLOBAL then return pc, "assigns", util.funck(fn, -operand - 1) end
      if op == ops.GET_UPVALUE then return pc, "reads", operand end
      if ops.sets_upvalue[op] then return pc, "assigns", target(instruction) end
      if op == ops.MAKE_FUNCTION then return pc, "makes", util.funck(fn, -operand - 1) end
    end
  end
end

--- Whether the line reads t[0].
function bytecode.reads_zero(fn, line)
  for pc, instruction in instructions(fn) do
    if opcode(instruction) == ops.GET_AT and band(rshift(instruction, 16), 0xff) == 0 and bytecode.line(fn, pc) == line then return true end
  end
  return false
end

--- Whether the last argument of the call at `pc` is a call.
function bytecode.passes_all(fn, pc)
  local op = opcode_at(fn, pc)
  return op == ops.CALL_WITH_ALL or op == ops.TAIL_CALL_OF_ALL
end

--- How many arguments the call at `pc` has, if a call that is the last has one result.
function bytecode.argument_count(fn, pc)
  return band(rshift(util.funcbc(fn, pc), 16), 0xff) + (bytecode.passes_all(fn, pc) and 1 or -1)
end

--- A global of fn, found without running code of the script.
local function global(fn, name)
  local scope = getfenv(fn)
  for _ = 1, 8 do
    local value = rawget(scope, name)
    local metatable = value == nil and debug.getmetatable(scope)
    scope = metatable and rawget(metatable, "__index")
    if type(scope) ~= "table" then return value end
  end
end

--- What the nearest instruction before `pc` on `register` is, and its position: "value" and the value of an upvalue or a
--- global; "local" and its register; "field" and its name; "function" and the function's prototype; "index", "arithmetic" and "call".
local function source(fn, pc, register)
  for at = pc - 1, 1, -1 do
    local instruction = util.funcbc(fn, at)
    local op, operand = opcode(instruction), rshift(instruction, 16)
    local calls = op == ops.CALL or op == ops.CALL_WITH_ALL
    if calls and target(instruction) < register then return end
    if target(instruction) == register and op ~= ops.CLOSE then
      local closure = type(fn) == "function" -- a prototype has no upvalues and globals
      if op == ops.GET_UPVALUE and closure then
        return at, "value", select(2, debug.getupvalue(fn, operand + 1))
      elseif op == ops.GET_GLOBAL and closure then
        return at, "value", global(fn, util.funck(fn, -operand - 1))
      elseif op == ops.GET_LOCAL then
        return at, "local", operand
      elseif op == ops.GET_FIELD then
        return at, "field", util.funck(fn, -band(operand, 0xff) - 1)
      elseif op == ops.MAKE_FUNCTION then
        return at, "function", util.funck(fn, -operand - 1)
      elseif op == ops.GET_INDEXED then
        return at, "index"
      elseif calls then
        return at, "call"
      end
      return at, ops.arithmetic[op] and "arithmetic" or nil
    end
  end
end

--- Iterates over the fields that fn reads and sets of globals and upvalues: the position, "reads" or "sets", the owner and the name.
function bytecode.fields(fn)
  local following = instructions(fn)
  return function()
    for pc, instruction in following do
      local op = opcode(instruction)
      if op == ops.GET_FIELD or op == ops.SET_FIELD then
        local _, kind, owner = source(fn, pc, rshift(instruction, 24))
        if kind == "value" then
          return pc, op == ops.GET_FIELD and "reads" or "sets", owner, util.funck(fn, -band(rshift(instruction, 16), 0xff) - 1)
        end
      end
    end
  end
end

--- The assignments of fn to fields of what a method has given, x:method(...).name = value: a list of {line =, name =, method =, register =},
--- where the register is that of the object. It may be a local's.
function bytecode.sets_of_results(fn)
  local sets = {}
  for pc, instruction in instructions(fn) do
    if opcode(instruction) == ops.SET_FIELD then
      local register = rshift(instruction, 24)
      local at, kind = source(fn, pc, register)
      if kind == "call" then
        local callee, method = bytecode.callee(fn, at)
        if callee == "field" then
          sets[#sets + 1] = { line = bytecode.line(fn, pc), method = method, register = register,
            name = util.funck(fn, -band(rshift(instruction, 16), 0xff) - 1) }
        end
      end
    end
  end
  return sets
end

--- The kind of the source of the function that is called at `pc`, and its value.
function bytecode.callee(fn, pc) return select(2, source(fn, pc, target(util.funcbc(fn, pc)))) end

--- The prototype of the function that was made in the register before `pc`, for a local of a frame that a tail call has taken.
function bytecode.function_in(fn, pc, register)
  local _, kind, value = source(fn, pc, register)
  return kind == "function" and value or nil
end

--- The position of the call whose result is called at `pc`, as in f(x)(y); nil without one.
function bytecode.inner_call(fn, pc)
  local at, kind = source(fn, pc, target(util.funcbc(fn, pc)))
  return kind == "call" and at or nil
end

--- The position, kind and value of the source of an argument of the call at `pc`, counted from 1. Nil where the arguments
--- have several, as in `f(a or b)`.
function bytecode.argument(fn, pc, index)
  local base = target(util.funcbc(fn, pc))
  local first = source(fn, pc, base)
  if not first then return end
  for at = first, pc do
    if opcode_at(fn, at) == ops.JUMP then return end
  end
  return source(fn, pc, base + ops.FIRST_ARGUMENT + index - 1)
end

--- Whether the instruction at `pc` makes a value that is not nil.
function bytecode.is_never_nil(fn, pc) return ops.never_nil[opcode_at(fn, pc)] == true end

--- The name and value of the running function's local in a register.
local function local_in(fn, register)
  local level = 2
  while true do
    local frame = debug.getinfo(level, "f")
    if not frame then return end
    if frame.func == fn then
      local name, value = debug.getlocal(level, register + 1) -- a tail call would be another level
      return name, value
    end
    level = level + 1
  end
end

--- Its value.
function bytecode.value_of_local(fn, register) return (select(2, local_in(fn, register))) end

--- The object of the instruction at `pc`, object[key] or object.key; nil if it is not known.
function bytecode.object(fn, pc)
  local instruction = util.funcbc(fn, pc)
  local register = rshift(instruction, 24)
  if register ~= target(instruction) then return bytecode.value_of_local(fn, register) end
  local at, kind, value = source(fn, pc, register)
  if kind == "value" then return value end
  if kind ~= "field" then return end
  local owner = bytecode.object(fn, at)
  if type(owner) == "table" then return rawget(owner, value) end
end

--- The variable that is an argument of the call at `pc`, counted from 1: "global", "upvalue" or "field" and its name, or "local"
--- and its register. Nil for anything else.
function bytecode.variable(fn, pc, index)
  local at, kind, value = bytecode.argument(fn, pc, index)
  if not at then return end
  local instruction = util.funcbc(fn, at)
  local op, operand = opcode(instruction), rshift(instruction, 16)
  if op == ops.GET_GLOBAL then return "global", util.funck(fn, -operand - 1) end
  if op == ops.GET_UPVALUE then return "upvalue", util.funcuvname(fn, operand) end
  if kind == "local" or kind == "field" then return kind, value end
end

--- The registers of the operands of the instruction at `pc`, of an operator: none, one or two.
local function operands(instruction)
  local count = ops.arithmetic[opcode(instruction)]
  if count == 0 then return rshift(instruction, 16) end
  if count == 1 then return rshift(instruction, 24) end
  if count == 2 then return rshift(instruction, 24), band(rshift(instruction, 16), 0xff) end
  if opcode(instruction) == ops.SET_INDEXED or opcode(instruction) == ops.SET_AT then return target(instruction) end
  if opcode(instruction) == ops.GET_INDEXED then return band(rshift(instruction, 16), 0xff) end
end

--- The registers that instructions on a line of fn read: operands, the key of t[key], the value of t[key] = value, and arguments of functions for which
--- takes(kind, value) is true; it gets the results of callee(). A list of pairs: the instruction's position and the register.
function bytecode.registers_read(fn, line, takes)
  local read = {}
  for pc, instruction in instructions(fn) do
    if bytecode.line(fn, pc) == line then
      for _, register in ipairs { operands(instruction) } do read[#read + 1] = { pc, register } end
      local op = opcode(instruction)
      if (op == ops.CALL or op == ops.CALL_WITH_ALL) and takes(bytecode.callee(fn, pc)) then
        local base = target(instruction) + ops.FIRST_ARGUMENT - 1
        for index = 1, bytecode.argument_count(fn, pc) do read[#read + 1] = { pc, base + index } end
      end
    end
  end
  return read
end

--- The variable in a register at `pc` that is nil: "global", "upvalue", "local" or "field", its name, and a field's table. Nil for
--- anything else. fn runs.
function bytecode.nil_variable(fn, pc, register)
  local name, value = local_in(fn, register)
  if name and name:find "^[%a_]" then
    if value == nil then return "local", name end
    return
  end
  local at, kind, key = source(fn, pc, register)
  if kind == "local" then return bytecode.nil_variable(fn, at, key) end
  local operand = at and rshift(util.funcbc(fn, at), 16)
  if kind == "field" then
    local object = bytecode.object(fn, at)
    local metatable = debug.getmetatable(object)
    if type(object) == "table" and rawget(object, key) == nil and not (metatable and rawget(metatable, "__index")) then
      return kind, key, object
    end
  elseif kind == "value" and key == nil then
    if opcode_at(fn, at) == ops.GET_UPVALUE then return "upvalue", util.funcuvname(fn, operand) end
    return "global", util.funck(fn, -operand - 1)
  end
end

--- The register of `key` in t[key] = value, if that is all that the line does, and the key is the result of its only call:
--- nothing else can have that result, unless the register is a local's. Nil otherwise.
function bytecode.called_key(fn, line)
  local pc, key, is_set = 0, nil, false
  while true do
    pc = pc + 1
    local instruction = util.funcbc(fn, pc)
    if not instruction then return is_set and key or nil end
    if bytecode.line(fn, pc) == line then
      local op = opcode(instruction)
      if op == ops.CALL then
        if key or rshift(instruction, 24) ~= 2 then return end -- one result
        key = target(instruction)
      elseif op == ops.SET_INDEXED then
        if is_set or band(rshift(instruction, 16), 0xff) ~= key then return end
        is_set = true
      elseif not (ops.plain[op] or ops.arithmetic[op]) or key and not is_set and target(instruction) == key then
        return
      end
    end
  end
end

return bytecode
