-- What Lua's own messages leave out for people who come from C++ or Python. Returns the function (message, text, reads) -> hint or nil.
-- `text` is that of the chunk that the parser refuses; without it the file that the message names is read, if `reads` is true. Gets what
-- running_hint.lua returns.

local of_running, file_text, numbered_lines = ...

local find, gmatch, gsub, match, sub = string.find, string.gmatch, string.gsub, string.match, string.sub
local tonumber = tonumber

local instead_of_word = {
  ["repeat"] = "gpu.repeat_interleave(x, n) repeats elements",
  ["and"] = "gpu.logical_and(x, y) works on arrays",
  ["or"] = "gpu.logical_or(x, y) works on arrays",
  ["not"] = "gpu.logical_not(x) works on arrays",
  ["in"] = "gpu.isin(x, values) works on arrays",
}

local function newlines(text, first, last)
  local _, count = gsub(sub(text, first, last), "\n", "")
  return count
end

--- Lua's [[ ]] around a kernel that holds ]] itself: what the parser took for the text then lacks its last braces.
local function cut_kernel(text, line)
  local at, line_at = 1, 1
  while true do
    local first = find(text, "[[", at, true)
    local last = first and find(text, "]]", first + 2, true)
    local first_line = last and line_at + newlines(text, at, first)
    local last_line = last and first_line + newlines(text, first + 1, last)
    if not last or last_line > line then return end
    local kernel = sub(text, first + 2, last - 1)
    local _, opened = gsub(kernel, "{", "")
    local _, closed = gsub(kernel, "}", "")
    if opened > closed and (find(kernel, "__global__", 1, true) or find(kernel, "__device__", 1, true)) then
      return ("the ]] in line %d ends the text that [[ begins in line %d; [=[ and ]=] around the text let it hold ]]"):format(
        last_line, first_line)
    end
    at, line_at = last + 2, last_line
  end
end

local types = "variables have no type: local name = value"
local load = [[this is Lua, where gpu has NumPy's functions: np.sum(x) is gpu.sum(x); modules of Lua are loaded by local name = require "name"]]
local compiled = "CUDA C++ is text that gpu.module([[...]]) compiles"
local ranges = [[ranges are strings, and several indices go in a call: x["1:3"], x("1:3", ":")]]
local nameless = "functions without a name are written function(x) return ... end"
local compares = "Lua writes == for a comparison"
local fields = [[fields are written {name = value}, or {["a name"] = value}]]
local member = "gpu.isin(x, values) works on arrays; t[key] tells whether a table has a key"
local braces = "braces make tables; blocks are written if ... then ... end, do ... end, function f(x) ... end"
local raises = "error(message) raises an error, pcall(f) catches it"
local parameters = "parameters have no type: function f(x, y) ... end"
local texts = "text of several lines goes between [[ and ]]"
local frees = "x = nil lets a variable's value go, x:free() frees an array's memory"
local magics = "lines with % are IPython's: gpu.benchmark(f) measures times, os.execute 'ls' runs programs"
local elseif_form = "Lua writes elseif condition then for %s"

-- Words that begin a statement elsewhere, and what to write; the parser takes them for names, and expects an assignment.
local statements = {
  import = load, from = load, def = "functions are written function name(x) ... end",
  class = "objects are tables: local A = {} and function A:method() ... end", raise = raises, throw = raises,
  with = "gpu.with(s, function() ... end) runs a function on a stream", using = compiled, struct = compiled, template = compiled,
  __global__ = compiled, __device__ = compiled, require = [[the name of a module is a string: require "gpu"]],
  print = "a function's arguments go in parentheses: print(x)", assert = "a function's arguments go in parentheses: assert(x)",
  cout = "print(x) writes values", std = "print(x) writes values; Lua's library is math, string, table and io", del = frees,
  delete = frees, global = "variables without local are global", pass = "an empty block needs no statement",
  continue = "Lua has no continue: if condition then ... end around the rest, or goto next with ::next:: before the loop's end",
  help = [[help "numpy" looks for a word, help(gpu.sum) explains a function]],
  gpulua = "this prompt reads Lua; Ctrl-D leaves it for the shell", try = raises, except = raises, finally = raises,
}
for name in gmatch("auto bool char const constexpr double final float int let long short signed size_t static unsigned var void", "%S+") do
  statements[name] = types
end

-- Patterns of the message, of the line that it names without what its texts and its comment hold, and the hint; the first row that
-- fits counts.
local rows = {
  {"ambiguous syntax", "", "a line that begins with ( goes on with the line before it; a ; in front of the ( parts them"},
  {"", "<<<", "a launch is kernel {grid = blocks, block = threads}(arguments)"},
  {"near '%%'", "^%s*%%%%?gpulua%f[^%w_]", "%gpulua and %%gpulua begin a line and a cell of Python's notebooks; here all is Lua"},
  {"near '%%'", "^%s*%%%%?%a", magics},
  {"near '%%'", ";%s*%%%%?%a", magics},
  {"near '!'", "^%s*!%s*[%w./]", "os.execute 'ls' runs a program, and io.popen(command):read '*a' gives its output"},
  {"near '!'", "!=", "Lua writes ~= for !="},
  {"near '!'", "!", "Lua writes not for !"},
  {"near '[-+*/%%^]'", "[-+*/%%^]=", "Lua has no +=: x = x + 1; x:add_(1) changes an array in place"},
  {"near '%.%.'", "%.%.=", "Lua has no ..=: s = s .. text"},
  {"near '[-+]'", "%+%+", "Lua has no ++: i = i + 1"},
  {"near '[/*]'", "/%*", "comments begin with --; --[[ and ]] stand around several lines"},
  {"near '%*'", "%*%*", "Lua writes ^ for **"},
  {"'<name>' expected near '[*/%^]'", "%.[*/%^]", "operators of arrays are of their elements, and have no dot: x ^ 2, x * y, x / y"},
  {"near '\\'", "", "gpu.linalg.solve(A, b) solves the equations A x = b"},
  {"near 'end'", "%[[^%]]*%f[%w_]end%f[^%w_]", "x[-1] is the last element, x[\"2:\"] the range to it"},
  {"unexpected symbol near '%*'", "%*%s*[%a_]", "Lua has no pointers: x[1] is the first element of an array"},
  {"near '/'", "^%s*//", "comments begin with --"},
  {"near '/'", "//", "comments begin with --; math.floor(x / y) and gpu.floor_divide(x, y) round the quotient down"},
  {"near '&'", "&&", "Lua writes and for &&"},
  {"unexpected symbol near '&'", "[=(,]%s*&%s*[%a_]", "Lua has no addresses: arrays are passed as they are"},
  {"near '&'", "&", "bit.band(i, j) is for numbers, gpu.bitwise_and(x, y) for arrays, gpu.logical_and(x, y) for masks; and is for single conditions"},
  {"near '|'", "||", "Lua writes or for ||"},
  {"near '|'", "|", "bit.bor(i, j) is for numbers, gpu.bitwise_or(x, y) for arrays, gpu.logical_or(x, y) for masks; or is for single conditions"},
  {"unexpected symbol near '~'", "~%s*[%w_(]", "bit.bnot(i) is for numbers, gpu.invert(x) for arrays; not x is for conditions"},
  {"near '%^'", "%^%^", "bit.bxor(i, j) is for numbers, gpu.bitwise_xor(x, y) for arrays; ^ is the power"},
  {"near '<'", "%f[%w_]cout%f[^%w_]", statements.cout},
  {"near '<'", "<<", "bit.lshift(i, n) is for numbers, gpu.left_shift(x, n) for arrays"},
  {"near '%?'", "%?", "Lua writes c and x or y for c ? x : y; gpu.where(c, x, y) works on arrays"},
  {"'%]' expected near ','", "%]%s*%(", "a launch is kernel {grid = blocks, block = threads}(arguments); x[{1, 2}] is an element"},
  {"'%)' expected near ','", "=%s*%(", "several numbers go in braces: {32, 8}"},
  {"'%]' expected near ','", "%f[%w_][nN][io][ln]e?%f[^%w_]", ranges .. "; gpu.newaxis there adds an axis"},
  {"'%]' expected near ','", "%[[\"'][^%]]*,", "x(\":\", 1) is a part of an array, x[{\":\", 1}] = y sets it; t:select(\"a\", \"b\") takes columns"},
  {"'%]' expected near ':'", "%[[\"']", "ranges of positions are strings, x[\"1:3\"]; those of dates are masks, t:take(t.date:ge(first):logical_and(t.date:le(last)))"},
  {"near '[:,%]]+'", "%[[^%]\"'{]*[:,]", ranges},
  {"near '[:,%]]+'", "%[%s*%.%.%.", ranges},
  {"near '%['", "%[.*%f[%w_]for%f[^%w_]", "a loop fills a table: for i = 1, n do t[i] = f(i) end"},
  {"near '%['", "%[", "tables are written {1, 2, 3}"},
  {"unfinished string", "[%w_%]%)]'%s*$", "x.T is the transpose"},
  {"unfinished string", "[%w_%]%)]'%s*[-+*/,;)]", "x.T is the transpose"},
  {"unfinished string", "", texts},
  {"near '[\"']", "^%s*\"\"\"", texts .. "; comments begin with --"},
  {"near '[\"']", "\"\"\"\"\"\"", texts},
  {"near '[\"']", "^%s*'''", texts .. "; comments begin with --"},
  {"near '[\"']", "''''''", texts},
  {"", "^%s*switch%s*%b()%s*{", "Lua has no switch: if i == 1 then ... elseif i == 2 then ... else ... end"},
  {"'=' expected", "%f[%w_]els?if%f[^%w_]", elseif_form:format "elif"},
  {"'=' expected", "%f[%w_]continue%f[^%w_]", statements.continue},
  {"near '='", "===", compares},
  {"'=' expected near '=='", "", "Lua writes = for an assignment; == compares"},
  {"near '[=>]'", "[%w_)]%s*=>", nameless},
  {"near '>'", "%)%s*%->", nameless},
  {"near '>'", "[%w_]%->[%a_]", "a field is read by a dot: p.x"},
  {"near '>'", "<>", "Lua writes ~= for <>"},
  {"near '@'", "^%s*@", "Lua has no decorators: local f = gpu.jit(function(x) ... end)"},
  {"near '@'", "@%s*%(", nameless},
  {"", "%f[%w_]lambda%s+[%w_, ]+:", nameless},
  {"", "%f[%w_]lambda%s*:%s", nameless},
  {"malformed number", "%d[jJ]%f[^%w_]", "imaginary numbers end in i: 2i; gpu.complex(re, im) makes one of variables"},
  {"'%]' expected near ','", "", ranges},
  {"malformed number", "%d[fFlLuU]", "numbers in Lua have no suffix"},
  {"malformed number", "%d_%d", "digits stand without _ between them: 1000000, or 1e6"},
  {"'%)' expected near '='", "%f[%w_]if%s*%([^()]*=", compares},
  {"'%)' expected near '='", "%f[%w_]while%s*%([^()]*=", compares},
  {"'%)' expected near '='", "function[%s%w_.:]*%([^()]*=", "parameters have no default values: x = x or 3 in the function's first line"},
  {"'%)' expected near", "function[%s%w_.:]*%([^()]*:", parameters},
  {"'%)' expected near", "function[%s%w_.:]*%([^()]*[%w_*]%s+[%a_]", parameters},
  {"'%)' expected near '='", "[(,]%s*[%a_][%w_]*%s*=", "options are a table, the last argument: f(x, {name = value})"},
  {"near '@'", "@", "gpu.matmul(a, b) is the product of matrices"},
  {"near '#'", "^%s*#%s*include", compiled},
  {"near '#'", "#%s", "comments begin with --"},
  {"'%)' expected near ','", "%(%(", "Lua has no tuples: sizes are arguments, gpu.zeros(3, 4), or a table, gpu.zeros({3, 4})"},
  {"near '>'", "^%s*>", "pasted lines go without their prompt"},
  {"near '%d+'", "^%s*%d+>", "pasted lines go without their prompt"},
  {"near '>'", ">>", "bit.rshift(i, n) is for numbers, gpu.right_shift(x, n) for arrays"},
  {"'then' expected near '='", "", compares},
  {"'do' expected near '='", "%f[%w_]while%f[^%w_]", compares},
  {"near 'in'", "%f[%w_]if%s", member},
  {"near 'not'", "%f[%w_]not%s+in%f[^%w_]", member},
  {"expected near '", "%f[%w_]is%s+[nN]o", "Lua writes x == nil, and x ~= nil for is not None"},
  {"expected near 'else'", "=.*%f[%w_]if%f[^%w_].*%f[%w_]else%f[^%w_]",
    "Lua writes c and x or y for x if c else y; gpu.where(c, x, y) works on arrays"},
  {"'then' expected", "", "Lua writes if condition then ... end"},
  {"'do' expected", "", "Lua writes for i = 1, n do ... end and while condition do ... end"},
  {"',' expected near", "%f[%w_]for%s", "Lua writes for i = 1, 10 do ... end, and for i = 1, 10, step do ... end"},
  {"'<name>' expected near '%('", "%f[%w_]for%s*%(", "Lua writes for i = 1, n do ... end"},
  {"'<name>' expected near '%('", "%f[%w_]function%s*%(",
    "a function has a name, local function f(x) ... end, or a variable, local f = function(x) ... end"},
  {"'%(' expected near", "=%s*function%s+[%a_]", "functions are written local function f(x) ... end, or local f = function(x) ... end"},
  {"unexpected symbol near ':'", "^%s*local%s+[%w_]+%s*:", types},
  {"unexpected symbol near ':'", "=%s*[%d.]+%s*:%s*[%d.]", "gpu.range(1, 10) makes an array of the numbers from 1 to 10"},
  {"unexpected symbol near ':'", "%f[%w_]else%s*:", "Lua writes if ... then ... else ... end, without colons"},
  {"unexpected symbol near ':'", "%)%s*:%s*$", "Lua writes function f(x) ... end, without a colon"},
  {"'}' expected near ':'", "", fields},
  {"expected near '", "[{,]%s*[%a_][%w_]*:%s", fields},
  {"unexpected symbol near '[{}]'", "[{}]", braces},
  {"'end' expected near '}'", "", braces},
  {"near ';'", ";%s*;", "one ; at most ends a statement"},
  {"'::'", "^%s*std::", statements.std},
  {"'::'", "[%w_]::[%a_]", "a field is read by a dot: gpu.ones(3)"},
  {"unexpected symbol near", "^%s*print%s*[\"']", statements.print},
  {"'=' expected", "^%s*[%a_][%w_]*%s+[%a_][%w_]*%s*[=;]", types},
  {"function arguments expected", "[%w_]:[%a_]", "methods are called, x:sum(); properties are read with a dot, x.shape"},
  {"near '='", "constant%s*%b()%s*=", "mod:constant(name):fill_(value) sets a variable, mod:constant(name):copy_(values) an array"},
  {"near '='", "%b()%s*=[^=]", "a call's result is not a variable: x[{1, 2}] = value sets an element, x[{1, \":\"}] = values a row"},
  {"near '='", "^%s*[%a_][%w_.]*%s*=%s*[%a_][%w_.]*%s*=[^=>]", "an assignment has no value: a, b = 3, 3"},
  {"unexpected symbol near '[%d(\"{]", "^%s*[%d.(\"{]", "a value alone is no statement: return 6 * 7 gives a function's or a script's result, print(6 * 7) shows it"},
  {"'=' expected near '[-+*/%%^]'", "^%s*[%w_.:()]+%s*[-+*/%%^][^;]*$", "a value alone is no statement: return x ^ 2 gives a function's result, print(x ^ 2) shows it"},
}

-- Files that people give to gpulua in place of a script, by the end of the name.
local cplusplus = "this is CUDA C++, which a script compiles: gpu.module(assert(io.open(%q)):read(\"*a\"))"
local others = {
  cu = cplusplus, cuh = cplusplus, cpp = cplusplus, cc = cplusplus, c = cplusplus, h = cplusplus, hpp = cplusplus,
  csv = "this is a table, which a script reads: gpu.load(%q)", tsv = "this is a table, which a script reads: gpu.load(%q)",
  npy = "these are arrays, which a script reads: gpu.load(%q)", npz = "these are arrays, which a script reads: gpu.load(%q)",
  ptx = "this is compiled code, which a script loads: gpu.load_module(%q)",
  cubin = "this is compiled code, which a script loads: gpu.load_module(%q)",
  fatbin = "this is compiled code, which a script loads: gpu.load_module(%q)",
  png = "this is a picture, which a script reads: gpu.image.load(%q)",
  py = "%q is Python; scripts are Lua",
}

local function of_other_file(file, text)
  local other = others[match(file, "%.(%w+)$")]
  if other then return other:format(match(file, "[^/]*$")) end
  if text and find(text, "%z") then return "the file is not text; scripts are Lua" end
end

--- A statement that lacks its end: the parser names the line after it.
local function of_line_before(message, lines, line)
  local token = match(message, "near '([^']*)'")
  if not token then return end
  local first = match(lines[line] or "", "^%s*(.*)")
  if token == "<eof>" then line = line + 1 elseif sub(first, 1, #token) ~= token then return end
  repeat line = line - 1 until line < 1 or find(lines[line], "%S")
  local before = lines[line] or ""
  if find(before, "^%s*[%a_][%w_.%[%]]*%-%-%s*;?%s*$") then return "Lua has no --, which begins a comment: i = i - 1" end
  before = gsub(before, "%s*%-%-.*$", "")
  local module = match(before, "%f[%w_]require%s+([%a_][%w_]*)%s*$")
  if module then return ("the name of a module is a string: require %q"):format(module) end
  local call = match(before, "^%s*([%a_][%w_]*[.:][%w_.:]*)%s*$")
  if call then return ("parentheses call a function: %s()"):format(call) end
  local word = find(message, "'=' expected", 1, true) and match(before, "^%s*([%a_][%w_]*)%s*$")
  if word then return statements[word] or ("a name alone is no statement: print(%s)"):format(word) end
end

--- A block without its end.
local function of_open_block(message, text)
  if not find(message, "'end' expected", 1, true) or not find(message, "near '<eof>'", 1, true) then return end
  if find(text, "%f[%w_]else[ \t]+if%f[^%w_]") then return elseif_form:format "else if" .. ", which begins an if with an end of its own" end
  return "each if, for, while, do and function has an end of its own"
end

--- The line without what its texts and its comment hold.
local function bare(code)
  code = gsub(gsub(code, "\\.", ""), "([\"'])(.-)%1", "%1%1")
  return (gsub(code, "%-%-.*$", ""))
end

local with_colons = {
  ["for"] = "Lua writes for i = 1, n do ... end", ["while"] = "Lua writes while condition do ... end",
  ["if"] = "Lua writes if condition then ... end", ["elseif"] = elseif_form:format "elseif",
}

--- A line further up that ends with a colon, `for i in range(3):`: the parser takes the name after it for a method's, and finds the mistake
--- later.
local function of_colon_before(message, lines, line)
  if not (find(message, "'do' expected", 1, true) or find(message, "'then' expected", 1, true)
      or find(message, "function arguments expected", 1, true)) then
    return
  end
  for number = line - 1, 1, -1 do
    local word = match(bare(lines[number] or "") .. "\n", "^%s*(%a+)%f[^%w_].*[%w_%)%]\"']%s*:%s")
    if with_colons[word] then return ("line %d: %s"):format(number, with_colons[word]) end
  end
end

return function(message, text, reads)
  local hint = of_running(message, reads)
  if hint then return hint end
  local file, line = match(message, "([^\n\t]*):(%d+): [^\n]*$")
  line = tonumber(line)
  if not line or not (find(message, "near '", 1, true) or find(message, "expected", 1, true)) then return end
  text = text or reads and file_text(file)
  local other = of_other_file(file, text)
  if other or not text then return other end

  local cut = cut_kernel(text, line)
  if cut then return cut end
  local word = match(message, "'<name>' expected near '(%a+)'")
  if word then
    return word .. " is a word of Lua's" .. (instead_of_word[word] and ": " .. instead_of_word[word] or "")
  end
  local open_block = of_open_block(message, text)
  if open_block then return open_block end
  local lines = numbered_lines(text)
  local before = of_colon_before(message, lines, line) or of_line_before(message, lines, line)
  if before then return before end
  local code = bare(lines[line] or "")
  -- A colon at the end of a line begins a method's name on the next.
  local block = match(code, "^%s*([%a_][%w_]*)%s*:%s*$") or match(lines[line - 1] or "", "^%s*([%a_][%w_]*)%s*:%s*$")
  if block and statements[block] then return statements[block] end
  for i = 1, #rows do
    if find(message, rows[i][1]) and find(code, rows[i][2]) then return rows[i][3] end
  end
  return find(message, "'=' expected", 1, true) and statements[match(code, "^%s*([%a_][%w_]*)")] or nil
end
