-- A mistake in a function that a script gives to the library: the error names the line of the function, the cause, and what to write,
-- as for the same mistake outside of functions. Also where the mistake is the function's last call, whose frame LuaJIT gives away.
local gpu = require "gpu"
local support = require "support"

-- The body of a function of one array, the cause in the message, and what it says to write.
local of_arrays = {
  { 'local y = math.max(x, 0) return y', "bad argument #1 to 'max' (number expected, got userdata)", 'gpu.maximum(x, y) compares each element' },
  { 'return math.max(x, 0)', "bad argument #1 to 'max' (number expected, got userdata)", 'gpu.maximum(x, y) compares each element' },
  { 'if x:sum() < -1 then return math.min(x, 0) end return math.max(x, 0)', "attempt to compare", 'x:item() < y the number of one element' },
  { 'if x > 100 then return x end return x * 2', 'attempt to compare number with userdata', 'x:gt(y) and x:ge(y) compare arrays' },
  { 'for i = 1, x do end return x', "'for' limit must be a number", 'of an array, x:item() gives the number' },
  { 'local text = ("%f"):format(x) return x', "bad argument #1 to 'format' (number expected, got userdata)", 'x:table() gives its elements' },
  { 'return string.format("%f", x)', "bad argument #2 to 'format' (number expected, got userdata)", 'x:table() gives its elements' },
  { 'local root = math.sqrt(x) return root', "bad argument #1 to 'sqrt' (number expected, got userdata)", 'x:sqrt(...) takes one' },
  { 'for _, v in ipairs(x) do end return x', "bad argument #1 to 'ipairs' (table expected, got userdata)", 'x:table() gives its elements as a table' },
  { 'return tonumber(x) * 2', 'attempt to perform arithmetic on a nil value', 'x:item() gives its number' },
  { 'local n = tonumber(x) return n * 2', "attempt to perform arithmetic on local 'n' (a nil value)", 'x:item() gives its number' },
  { 'return x.sum + 1', "attempt to perform arithmetic on field 'sum' (a function value)", 'x:sum() is a value' },
  { 'return x * gpu.ones(x.size())', "attempt to call field 'size' (a number value)", 'it has no parentheses' },
  { 'return gpu.add(x, gpu.zeros(7, 7, 7)["1:2"])', '[add] operands could not be broadcast together', 'counted from the last axis' },
  { 'return x:clip(1, nil, 3)', '[clip] expected high, got nil', 'give its value' },
}
-- Of any arguments.
local of_all = {
  { 'return x * #missing', "attempt to get length of upvalue 'missing' (a nil value)", '' },
  { 'return x * missing[1]', "attempt to index upvalue 'missing' (a nil value)", '' },
  { 'return x * (missing + 1)', "attempt to perform arithmetic on upvalue 'missing' (a nil value)", '' },
  { 'return missing(x)', "attempt to call upvalue 'missing' (a nil value)", '' },
  { 'return gpu.unknown(x)', '[gpu] gpu has no field "unknown"', '' },
  { 'return gpu.linspace{0, 1, 5}', '[linspace] expected a number, got a table', 'parentheses hold arguments' },
}

-- Calls of the function f with arrays.
local calls = {
  "f(x)", "gpu.grad(f)(x)", "gpu.grad(gpu.fuse(f))(x)", "gpu.value_and_grad(f)(x)", "gpu.jacobian(f)(x)", "gpu.vjp(f, x)", "gpu.jvp(f, {x}, {x})",
  "gpu.hessian(f)(x)", "gpu.hvp(f, x, x)", "gpu.checkpoint(f)(x)", "gpu.grad(gpu.checkpoint(f))(x)", "gpu.check_grad(f, x)",
  "gpu.custom(f, {vjp = function(g) return g end})(x)", "gpu.grad(gpu.custom(f, {vjp = function(g) return g end}))(x)",
  "gpu.optimize.minimize(f, x)", 'gpu.optimize.minimize(f, x, {method = "Nelder-Mead"})', 'gpu.optimize.minimize(f, x, {method = "L-BFGS-B"})',
  "gpu.optimize.minimize(function(y) return (y * y):sum() end, x, {callback = function() return f(x) end})",
  "gpu.optimize.minimize(function(y) return (y * y):sum() end, x, {method = 'Nelder-Mead', callback = function() return f(x) end})",
  "gpu.optimize.least_squares(function(y) return y * y end, x, {callback = function() return f(x) end})",
  "gpu.optimize.minimize(function(y) return (y * y):sum() end, x, {gradient = f})",
  "gpu.optimize.least_squares(function(y) return y * y end, x, {jacobian = f})",
  "gpu.grad(gpu.custom(function(y) return y:sum() end, {vjp = function() return f(x) end}))(x)",
  "gpu.sparse.linalg.cg(gpu.sparse.eye(3), x, {callback = function() return f(x) end})",
  "gpu.sparse.linalg.cg(gpu.sparse.eye(3), x, {M = gpu.sparse.linalg.operator(f, {shape = {3, 3}})})",
  "gpu.comm.group(function() return f(x) end)",
  "gpu.optimize.least_squares(f, x)", "gpu.optimize.curve_fit(function(x, a) local y = f(x) return y end, x, x, {1})", "gpu.integrate.solve_ivp(function(t, y) return f(y) end, {0, 1}, x)",
  "gpu.integrate.solve_ivp(function(t, y) return -y end, {0, 1}, x, {events = function(t, y) return f(y) end})",
  "gpu.integrate.quad(f, 0, 1)", "gpu.integrate.fixed_quad(f, 0, 1)", "gpu.fromfunction(f, {3})", "gpu.piecewise(x, {x:gt(1)}, {f})",
  "gpu.fuse(f)(x)", "gpu.benchmark(function() return f(x) end)", "gpu.profile(f, x)", "gpu.with(gpu.stream(), f, x)", "gpu.graph(f, x)",
  "gpu.loop_while(f, x)", "gpu.scope(f, x)", "gpu.apply_along_axis(f, 1, x)",
  "gpu.sparse.linalg.cg(gpu.sparse.linalg.operator(f, {shape = {3, 3}}), x)", "gpu.linalg.funm(gpu.eye(3), f)",
  'gpu.plot.animate("unused.gif", 3, function(i) return f(x) end)',
}
-- With numbers.
local calls_with_numbers = {
  "gpu.optimize.minimize_scalar(f, {bounds = {0, 1}})",
  'gpu.optimize.root_scalar(function(y) return y - 1 end, {x0 = 3, method = "newton", derivative = f})', "gpu.optimize.root_scalar(f, {bracket = {0, 1}})", "f(1)",
}
-- Of functions that are compiled. Their language has messages of its own.
local compiled = { "gpu.vectorize(f)(x)", "gpu.jit(f):over(3)(x)" }

--- The first line of the message of each statement, by its position. The statements run one after another in one process, each in the
--- command's own handler of messages; f(i) is the function with body i. Also gives the script's path.
local function messages(bodies, statements)
  local path, typed = os.tmpname(), os.tmpname()
  local lines = { 'gpu = require "gpu" x = gpu.array({1, 2, 3}, "float64") local missing functions = {}' }
  for i, body in ipairs(bodies) do lines[i + 1] = ("functions[%d] = function(x) %s end"):format(i, body) end
  support.write(path, table.concat(lines, "\n"))
  for i, statement in ipairs(statements) do
    statements[i] = ("io.stderr:write('\\n@%d ') do %s end"):format(i, statement)
  end
  support.write(typed, table.concat(statements, "\n") .. "\n")
  local pipe = io.popen(("GPULUA_DEVICE=%s %s -i %s <%s 2>&1"):format(gpu.device().name, support.command(), path, typed))
  local output = pipe:read "*a"
  pipe:close()
  os.remove(path)
  os.remove(typed)
  local found = {}
  for position, message in output:gmatch "@(%d+) ([^@]*)" do found[tonumber(position)] = message:match "^(.-)\nstack" or message end
  return found, path
end

--- One test for each call: it shows each mistake.
local function walk(mistakes, all_calls, check)
  local bodies, statements = {}, {}
  for i, mistake in ipairs(mistakes) do bodies[i] = mistake[1] end
  for _, call in ipairs(all_calls) do
    for i in ipairs(mistakes) do
      statements[#statements + 1] = ("local f = functions[%d] local _ = %s"):format(i, call)
    end
  end
  local found, path = messages(bodies, statements)
  for c, call in ipairs(all_calls) do
    it(call, function()
      for i, mistake in ipairs(mistakes) do check(found[(c - 1) * #mistakes + i] or "", path .. ":" .. i + 1 .. ": ", mistake) end
    end)
  end
end

local function has(message, part)
  assert.is_truthy(message:find(part, 1, true), "expected: " .. part .. "\ngot: " .. message)
end

local function line_and_cause(message, place, mistake)
  assert.are.equal("gpulua: " .. place, message:sub(1, #place + 8), message)
  has(message, mistake[2])
  has(message, mistake[3])
  local _, hints = message:gsub("; the argument is an array", "")
  assert.is_true(hints <= 1, message)
end

describe("a mistake with an array in a function given to", function()
  local mistakes = {}
  for _, list in ipairs { of_arrays, of_all } do
    for _, mistake in ipairs(list) do mistakes[#mistakes + 1] = mistake end
  end
  walk(mistakes, calls, line_and_cause)
end)

describe("a mistake in a function of numbers given to", function() walk(of_all, calls_with_numbers, line_and_cause) end)

describe("a mistake in a compiled function given to", function()
  local mistakes = {
    { 'local i = threadIdx.x return x', 'threadIdx is nil, and x a field of it', 'gpu.thread() that in its block' },
    { 'local i = blockIdx.x * blockDim.x return x', 'blockIdx is nil', 'gpu.grid() is the thread' },
    { '__syncthreads() return x', '__syncthreads is nil', 'gpu.barrier()' },
    { 'return x * missing', 'missing is nil', '' },
    { 'return tonumber(x)', 'tonumber: a device has no strings', '' },
    { 'for i, v in ipairs(x) do end return x', 'a device has no iterators', 'for i = 1, #a do' },
  }
  walk(mistakes, compiled, function(message, place, mistake)
    has(message, place .. mistake[2])
    has(message, mistake[3])
  end)
end)

describe("a tail call that fails", function()
  local function fails(script, pattern)
    local output = support.run('local gpu = require "gpu"\n' .. script)
    assert.is_truthy(output:find(pattern), "expected: " .. pattern .. "\ngot: " .. output)
  end
  it("at the end of a script has its line", function()
    fails("\nreturn gpu.add(gpu.ones(3), gpu.ones(4))", "^gpulua: [^\n]*:3: %[add%] operands")
    fails("\nreturn math.max(gpu.ones(3), 0)", "^gpulua: [^\n]*:3: bad argument #1 to 'max' [^\n]*gpu.maximum")
  end)
  it("through functions has the line of the last one", function()
    fails("local function g(x) return gpu.add(x, gpu.ones(4)) end\nlocal function f(x) return g(x) end\ngpu.scope(f, gpu.ones(3))",
      "^gpulua: [^\n]*:2: %[add%] operands")
  end)
  it("of one of several has the line of the one with its name", function()
    fails("local function f(x)\n  if x then\n    return math.max(x, 0)\n  end\n  return math.min(0, 1)\nend\ngpu.scope(f, gpu.ones(3))",
      "^gpulua: [^\n]*:4: bad argument #1 to 'max'")
  end)
  it("of one of several that have no name is in the function", function()
    fails("local t = {math.max, math.min}\nlocal function f(x)\n  if not x then return t[2](x, 0) end\n  return t[1](x, 0)\nend\ngpu.scope(f, gpu.ones(3))",
      "^gpulua: in a function defined at [^\n]*:3: bad argument #1 to 'max' [^\n]*gpu.maximum")
    fails("local t = {math.max, math.min}\nif not gpu then return t[2](1, 0) end\nreturn t[1](gpu.ones(3), 0)",
      "^gpulua: in [^\n:]*: bad argument #1 to 'max' [^\n]*gpu.maximum")
  end)
  it("leaves messages of the script as they are", function()
    fails("gpu.scope(function() return error('no place', 0) end)", "^gpulua: no place\n")
    fails("gpu.scope(function() error(\"bad argument #1 to 'mine' (x)\", 0) end)", "^gpulua: bad argument #1 to 'mine' %(x%)\n")
    fails("local ok, message = pcall(math.max, gpu.ones(3)) error(message, 0)", "^gpulua: bad argument #1 to '%?' %(number expected, got userdata%)\n")
  end)
  it("in a coroutine of a bracket has its line", function()
    fails("local c = coroutine.wrap(function() gpu.scope(function() coroutine.yield(1) return math.max(gpu.ones(3), 0) end) end)\nc()\nc()",
      "^gpulua: [^\n]*:2: bad argument #1 to 'max'")
  end)
end)
