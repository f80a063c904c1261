-- Random Lua functions of three numbers: arithmetic, comparisons, branches, loops, choices, inner functions. LuaJIT itself says what
-- they give. Its remainder rounds the quotient, which changes nothing for 1, 2 and 8; other remainders are calls of `mod`, an
-- upvalue of the function. Functions of kernels have an array too, and more of the language: assignments to its elements, functions
-- with effects, functions as arguments, bits.
local generator = {}

-- Functions whose results are rounded as those of + are, and others. Of zeros of math.ceil, LuaJIT loses the sign.
local exact = {"math.sqrt(%s)", "math.abs(%s)", "math.floor(%s)", "(math.ceil(%s) + 0)"}
local rounded = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "log10", "deg", "rad"}

--- The text of a chunk that gets `mod`, and returns a function of x, y and z with `results` results; for a kernel its fourth
--- parameter, t, is an array of 8. Behind the text, a table: which of the results comes from a function of `math` that need not be
--- exact.
function generator.text(random, results, for_kernel)
  local lines, depth, names, variables, counters, functions, effects = {}, 1, 0, {}, {}, {}, {}
  local function pick(list) return list[random(#list)] end
  local function emit(...) table.insert(lines, ("  "):rep(depth) .. string.format(...)) end
  local function name(prefix)
    names = names + 1
    return prefix .. names
  end

  local number, condition
  --- An argument has an element in it: what is computed of numbers alone is rounded to integers, which have no NaN.
  local function argument(size) return ("%s + %s"):format(pick(variables), number(size - 1)) end
  local function position()
    if #counters == 0 or random(3) == 1 then return tostring(random(8)) end
    return ("(%s * %d) %% 8 + 1"):format(pick(counters), random(3))
  end
  --- Expressions of kernels alone.
  local function kernel_number(size)
    local kind = random(5)
    if kind == 1 then return ("t[%s]"):format(position()) end
    if kind == 2 and #counters > 0 then
      return (pick {"bit.bxor(%s, 5)", "bit.band(%s * 37, 12)", "bit.rshift(%s - 3, 2)", "bit.lshift(%s, 31)", "bit.rol(%s - 2, 35)",
        "bit.bnot(bit.arshift(%s - 4, 1))"}):format(pick(counters))
    end
    if kind == 3 and #functions > 0 then return ("apply2(%s, %s, %s)"):format(pick(functions), argument(size), argument(size)) end
    if kind == 4 then
      local p = name "p"
      table.insert(variables, p)
      local body = number(size - 1)
      table.remove(variables)
      return ("apply1(function(%s) return %s end, %s)"):format(p, body, argument(size))
    end
    return ("(math.modf(%s))"):format(number(size - 1))
  end
  local constants = {"0.5", "2", "3", "1e-3", "-1.25", "0.1", "7", "1e10", "0x1p-3"}
  function number(size)
    if for_kernel and size > 0 and random(5) == 1 then return kernel_number(size) end
    local kind = size <= 0 and random(3) or random(14)
    if kind <= 2 then return pick(variables) end
    if kind == 3 then return pick(constants) end
    if kind == 4 and #counters > 0 then return ("(%s * %s)"):format(number(size - 1), pick(counters)) end
    if kind == 5 then return ("mod(%s, %s)"):format(number(size - 1), pick {"2", "3", "0.5", "10"}) end
    if kind == 6 then return ("-%s"):format(pick(variables)) end
    if kind == 7 then return ("(%s and %s or %s)"):format(condition(size - 1), number(size - 1), number(size - 1)) end
    if kind == 8 and #functions > 0 then return ("%s(%s, %s)"):format(pick(functions), argument(size), argument(size)) end
    if kind == 9 then return ("(%s %% %s)"):format(number(size - 1), pick {"2", "1", "8"}) end
    if kind == 10 then return pick(exact):format(number(size - 1)) end
    -- One side is a variable: constants alone are LuaJIT's own business.
    return ("(%s %s %s)"):format(pick(variables), pick {"+", "-", "*", "/"}, number(size - 1))
  end
  function condition(size)
    local kind = size <= 0 and 1 or random(6)
    if kind == 4 then return ("(%s and %s)"):format(condition(size - 1), condition(size - 1)) end
    if kind == 5 then return ("(%s or %s)"):format(condition(size - 1), condition(size - 1)) end
    if kind == 6 then return ("not (%s)"):format(condition(size - 1)) end
    return ("%s %s %s"):format(pick(variables), pick {"<", "<=", ">", ">=", "==", "~="}, number(size - 1))
  end

  local block
  local function scoped(head, size, tail)
    local visible, callable, counting, effective = #variables, #functions, #counters, #effects
    emit("%s", head)
    depth = depth + 1
    block(size)
    depth = depth - 1
    emit("%s", tail)
    for list, count in pairs {[variables] = visible, [functions] = callable, [counters] = counting, [effects] = effective} do
      while #list > count do table.remove(list) end
    end
  end
  local function loop(head, size, tail, counter)
    table.insert(counters, counter)
    local skip = random(3) == 1 and name "skip"
    local first = #lines + 2
    scoped(head, size, skip and ("::%s:: %s"):format(skip, tail) or tail)
    table.remove(counters)
    if skip then
      table.insert(lines, first, ("  if %s then goto %s end"):format(condition(1), skip))
      -- A label after locals of its block must be that block's end.
      table.insert(lines, first + 1, "  do")
      lines[#lines] = "end " .. lines[#lines]
    elseif random(3) == 1 then
      table.insert(lines, first, ("  if %s then break end"):format(condition(1)))
    end
  end
  local function kernel_statement()
    local kind = random(5)
    if kind == 1 then
      emit("t[%s] = %s", position(), number(2))
    elseif kind == 2 then
      local a, b = position(), position()
      emit("t[%s], t[%s] = t[%s], %s", a, b, b, number(2))
    elseif kind == 3 then
      local k = name "k"
      emit("local %s = %s", k, position())
      emit("%s, t[%s], %s = %s, %s, t[%s]", k, k, pick(variables), position(), number(2), k)
      emit("t[%s] = t[%s] + 1", k, k)
    elseif kind == 4 then
      if #effects == 0 then
        local n, bump = name "n", name "bump"
        emit("local %s = 0", n)
        emit("local function %s() %s = %s + 1 return %s end", bump, n, n, n)
        table.insert(effects, bump)
      end
      emit(pick {"%s = %s() ^ 2 * %s", "%s = math.abs(%s() - 2) + %s", "%s = math.modf(%s() / 4) - %s"}, pick(variables), pick(effects),
        number(1))
    else
      local whole, rest = name "v", name "v"
      emit("local %s, %s = math.modf(%s)", whole, rest, number(2))
      table.insert(variables, whole)
      table.insert(variables, rest)
    end
  end
  local function statement(size)
    if for_kernel and random(4) == 1 then return kernel_statement() end
    local kind = random(size > 0 and 11 or 5)
    if kind <= 2 then
      local value, variable = number(3), name "v"
      emit("local %s = %s + %s", variable, pick(variables), value)
      table.insert(variables, variable)
    elseif kind <= 4 then
      emit("%s = %s", pick(variables), number(3))
    elseif kind == 5 then
      local first = random(#variables)
      emit("%s, %s = %s, %s", variables[first], variables[first % #variables + 1], number(2), number(2))
    elseif kind == 6 then
      scoped("if " .. condition(2) .. " then", size - 1, "end")
    elseif kind == 7 then
      scoped("if " .. condition(2) .. " then", size - 1, "else")
      lines[#lines] = nil
      scoped("else", size - 1, "end")
    elseif kind == 8 then
      local i = name "i"
      loop(("for %s = %d, %d, %d do"):format(i, random(3), random(3) + 2, random(2)), size - 1, "end", i)
    elseif kind == 9 then
      local n = name "n"
      emit("local %s = 0", n)
      loop(("while %s < %d and %s do %s = %s + 1"):format(n, random(4), condition(1), n, n), size - 1, "end", n)
    elseif kind == 10 then
      local n = name "n"
      emit("local %s = 0", n)
      loop(("repeat %s = %s + 1"):format(n, n), size - 1, ("until %s >= %d or %s"):format(n, random(3), condition(1)), n)
    else
      local f, p, q = name "f", name "p", name "q"
      local outer, outer_functions, outer_counters, outer_effects = variables, functions, counters, effects
      variables, functions, counters, effects = {p, q}, {}, {}, {}
      scoped(("local function %s(%s, %s)"):format(f, p, q), size - 1, ("return %s end"):format(number(2)))
      variables, functions, counters, effects = outer, outer_functions, outer_counters, outer_effects
      table.insert(functions, f)
    end
  end
  function block(size)
    for _ = 1, random(3) do statement(size) end
  end

  emit "local mod = ..."
  if for_kernel then
    emit "local function apply1(f, p) return f(p) end"
    emit "local function apply2(f, p, q) return f(p, q) end"
  end
  emit(for_kernel and "return function(x, y, z, t)" or "return function(x, y, z)")
  variables = {"x", "y", "z"}
  for _ = 1, 3 do statement(3) end
  local list, is_rounded = {}, {}
  for i = 1, results do
    is_rounded[i] = random(3) == 1
    if not is_rounded[i] then
      list[i] = number(3)
    elseif random(5) == 1 then
      list[i] = ("math.atan2(%s, %s)"):format(number(2), number(2))
    elseif random(5) == 1 then
      list[i] = ("(%s) ^ %s"):format(number(2), pick {"3.5", "-1.25", "0.3"})
    else
      list[i] = ("math.%s(%s)"):format(pick(rounded), number(2))
    end
  end
  emit("return %s", table.concat(list, ", "))
  emit "end"
  return table.concat(lines, "\n"), is_rounded
end

return generator
