-- What Lua's messages of running scripts leave out for people who come from C++ or Python. Returns the function (message, reads) -> hint
-- or nil, and two of its own: the text of a file, and the lines of a text.

local find, gmatch, gsub, match, sub = string.find, string.gmatch, string.gsub, string.match, string.sub
local open, tonumber = io.open, tonumber

-- The time of a pattern grows faster than the length of the line, and programs generate long lines.
local longest_line = 500
local in_kernels = "in a function of gpu.jit, gpu.grid() is the thread's position, gpu.thread() that in its block"
local module_hint = [[local gpu = require "gpu" gives the functions that are np., cp. and torch. elsewhere]]

local charts = "gpu.plot.line(x, y) makes a chart, p:show() shows it"
local columns = "gpu.load(path) reads a CSV file as a table of columns, gpu.table(t) makes one of lists and arrays"

local missing = "0/0 is NaN, a missing number"

-- Names that are global in Python, C or the REPL, and what to write for them.
local globals = {
  gpu = [[globals of another kind lack it, as in another Lua: local gpu = require "gpu"]],
  np = module_hint, numpy = module_hint, cp = module_hint, cupy = module_hint, torch = module_hint, jnp = module_hint,
  cuda = [[local gpu = require "gpu" has streams, events, kernels and memory]],
  quit = "os.exit() ends a script; at the prompt, quit leaves",
  exit = "os.exit() ends a script; at the prompt, exit leaves",
  display = "print(x) writes a value; display is of notebooks, p:show() shows a chart",
  ffi = [[local ffi = require "ffi" gives C's types]],
  help = "help(name) is there in gpulua, at the prompt and in scripts",
  len = "#x is a length",
  range = "for i = 1, n do ... end; gpu.range(1, n) is an array",
  printf = [[print(("%d"):format(n))]],
  str = "tostring(x)", int = "math.floor(x)", float = "tonumber(x)", list = "x:table()",
  threadIdx = in_kernels, blockIdx = in_kernels, blockDim = in_kernels, gridDim = in_kernels,
  enumerate = "for i, value in ipairs(t) do ... end",
  input = "io.read() reads a line that is typed", time = "gpu.benchmark(f) measures, os.time() is the time in seconds",
  timeit = "gpu.benchmark(f) measures; lines with % are IPython's",
  plt = charts, matplotlib = charts, sns = charts, pd = columns, pandas = columns, pl = columns,
  None = "Lua writes nil", nan = missing, NaN = missing, NaT = [["NaT" in gpu.dates]],
  inf = "math.huge is infinite, -math.huge its negative", True = "Lua writes true", False = "Lua writes false",
  sum = "x:sum()", round = "math.floor(x + 0.5)", isinstance = "type(x)", open = [[io.open(name, "r")]],
}
for _, name in next, {"abs", "ceil", "cos", "exp", "floor", "log", "max", "min", "pi", "pow", "sin", "sqrt", "tan"} do
  globals[name] = "math." .. name .. " for numbers" .. (name ~= "pi" and ", gpu." .. (({max = "maximum", min = "minimum"})[name] or name) .. " for arrays" or "")
end

local function file_text(name)
  local handle = open(name, "rb")
  if not handle then return end
  local text = handle:read("*a")
  handle:close()
  return text
end

local function numbered_lines(text)
  local lines = {}
  for line in gmatch(text .. "\n", "(.-)\n") do lines[#lines + 1] = #line <= longest_line and line or "" end
  return lines
end

-- What to write where a function gives one array and two were expected, as by PyTorch.
local second_result = {
  max = "x:max gives the values alone, x:argmax the positions", min = "x:min gives the values alone, x:argmin the positions",
  sort = "x:sort gives the values alone, x:argsort the positions",
  unique = "x:unique gives the values alone; {return_index = true}, {return_inverse = true} and {return_counts = true} give one result more each",
  load = "gpu.load gives one value: of an .npz file a table of its arrays by name",
}

local no_number = "tonumber gives nil for an array; x:item() gives its number"

--- A variable that a function with one result left nil: the second of two, or a number made of an array.
local function missing_result(name, lines, line)
  for number = line, 1, -1 do
    local code = lines[number] or ""
    local called = match(code, "[%w_]+%s*,%s*" .. name .. "%s*=%s*[%w_.]*[.:]([%w_]+)%s*[%(\"'{]")
    if called and second_result[called] then return second_result[called] end
    if match(code, "%f[%w_]" .. name .. "%s*=%s*tonumber%s*%(") then return no_number end
  end
end

--- A variable that is a number, the first of the results of a function, or an element of it.
local function first_result(name, lines, line)
  for number = line, 1, -1 do
    local value = match(lines[number] or "", "%f[%w_]" .. name .. "%f[^%w_][%w_, ]*=%s*([^=].*)")
    local call = value and match(value, "^gpu%.(%a+%.[%w_]+)%s*[({]")
    if call and ("linalg optimize integrate"):find(match(call, "%a+"), 1, true) then
      return ("gpu.%s gives its results one by one: local first, second = gpu.%s(...)"):format(call, call)
    end
    local whole = value and match(value, "([%a_][%w_]*)%[%d+%]")
    if value then return whole and first_result(whole, lines, number - 1) end
  end
end

--- A variable that is nil since its assignment: a function gave a message with it, which nobody looked at, or gives no value.
local function nil_since(name, lines, line)
  for number = line, 1, -1 do
    local call = match(lines[number] or "", "%f[%w_]" .. name .. "[%w_, ]*=%s*([^=].*)")
    local fn = call and match(call, "^gpu%.([%w_.]*)%s*[(\"']") or call and match(call, "^(io%.open)%f[^%w_]")
    if call and (find(call, "^[^{]*{[^}]*grid[^}]*}%s*%(") or find(call, "^[%w_.]+:over%s*%b()%s*%(")) then
      return ("%s is nil since line %d: a launch gives no value, a kernel writes to the arrays that are its arguments"):format(name, number)
    end
    if fn == "scope" or fn == "with" then
      return ("%s is nil since line %d: gpu.%s gives what its function returns"):format(name, number, fn)
    end
    if fn == "io.open" or fn == "load" or fn == "load_module" or fn == "image.load" or fn == "device" then
      return ("%s is nil since line %d: assert(%s) says why"):format(name, number,
        match(call, "^[%w_.]+%s*%b()") or match(call, "^[%w_.]+%s*(['\"]).-%1") and match(call, "^[%w_.]+%s*['\"].-['\"]") or call)
    end
  end
end

local function of_running(message, reads)
  local name = match(message, "global '([%w_]+)' %(a nil value%)")
  if name and globals[name] then return globals[name] end
  if find(message, "attempt to get length of global", 1, true) then return "# is a length, comments begin with --" end
  name = match(message, "method '([%w_]+)' %(a nil value%)")
  if name == "group_by" or name == "join" or name == "sort_by" or name == "where" then
    return "gpu.table(t) makes a table with columns of a table with lists, as state.new_table does in Python"
  end
  name = match(message, "field '([%w_]+)' %(a nil value%)")
  if name == "round" or name == "inf" or name == "nan" then return globals[name] end
  if name == "year" or name == "month" or name == "day" then return "an element of a column of dates is a text; d:" .. name .. "()[i] is its part" end
  if name == "total_memory" or name == "multiprocessors" or name == "description" or name == "architecture" then
    return ("a device has more than its name and kind when it is open: gpu.device(name).%s"):format(name)
  end
  local file, number
  file, number, name = match(message, "^([^\n]-):(%d+): attempt to [^\n]* '([%a_][%w_]*)' %(a nil value%)")
  local text = reads and file and file_text(file)
  if text then
    local lines = numbered_lines(text)
    number = tonumber(number)
    if (name == "f" or name == "r") and find(lines[number] or "", "%f[%w_]" .. name .. "[\"']") then
      return [[strings have no prefix: ("x = %d"):format(x) puts values into text]]
    end
    return nil_since(name, lines, number) or missing_result(name, lines, number)
  end
  file, number = match(message, "^([^\n]-):(%d+): attempt to [^\n]* a nil value")
  if not file then file, number = match(message, "^([^\n]-):(%d+): attempt to compare [^\n]*%f[%a]nil%f[%A]") end
  local lines = reads and file and numbered_lines(file_text(file) or "")
  local code = lines and lines[tonumber(number)] or ""
  if find(code, "io%.open") then return "assert(io.open(name)) says why a file cannot be opened" end
  if find(code, "tonumber%s*%(") then return no_number end
  if find(code, "%.shape%s*%[") then return "x.shape has as many sizes as x has axes, x.ndim; those further on are nil" end
  if find(message, "attempt to get length of '[^'\n]*%]'") then
    return "FFI arrays do not tell their length, and count from 0: x:host() has x.size elements; x:table() is a table, whose length is #t"
  end
  if find(message, "attempt to perform arithmetic on [^\n]*a table value") then
    return "gpu.array(t) makes an array of a table of numbers; gpu.load of an .npz file gives a table of arrays, by name"
  end
  name = match(message, "attempt to index %a+ '([%a_][%w_]*)' %(a number value%)")
  if name then
    file, number = match(message, "^([^\n]-):(%d+): ")
    lines, number = reads and file and numbered_lines(file_text(file) or "") or {}, tonumber(number) or 0
    local result = first_result(name, lines, number)
    if result then return result end
    if find(lines[number] or "", "%f[%w_]" .. name .. "%.grad%f[^%w_]") then
      return "gradients are results, no fields: local y, g = gpu.value_and_grad(f)(x)"
    end
    local method = match(lines[number] or "", "%f[%w_]" .. name .. ":([%a_][%w_]*)")
    if method and math[method] then
      return ("x[i] of a vector is a number, which has no methods: math.%s(%s); x[{i}] is an array of one element"):format(method, name)
    end
    return name .. " is a number, which has no methods: perhaps an argument in the place of another; x[i] of a vector is one, too, x[{i}] an array of one element"
  end
  if find(message, "attempt to index a number value", 1, true) then
    file, number = match(message, "^([^\n]-):(%d+): ")
    lines = reads and file and numbered_lines(file_text(file) or "") or {}
    code = lines[tonumber(number)] or ""
    local call, field = match(code, "gpu%.([%a_]+%.[%w_]+)%s*%b()%.([%a_][%w_]*)")
    if call then
      return ("gpu.%s gives its results one by one, without a field %s: local first, second = gpu.%s(...)"):format(call, field, call)
    end
    local element = match(code, "[%a_][%w_.]*%b[]%b[]%b[]") or match(code, "[%a_][%w_.]*%b[]%b[]")
    if element then return gsub(element, "%b[]$", "") .. " is a number: an array has as many indices as axes, x.ndim" end
  end
  local module = match(message, "module '([%w_.]+)' not found")
  if module == "gpulua" or module and globals[module] == module_hint or module == "cuda" then
    return [[the module is named gpu: local gpu = require "gpu"]]
  end
end

return of_running, file_text, numbered_lines
