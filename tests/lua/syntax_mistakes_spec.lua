-- What people write who come from Python, C++ or a shell: the parser's message stays, and a line says what Lua writes for it.
local support = require "support"

--- What the command prints for a script that does not parse.
local function refused(code)
  local output, status = support.run("local first = 1\n" .. code .. "\n")
  assert.are.equal(1, status, output)
  assert.is_truthy(output:find "^gpulua: [^\n]*:%d+: ", output)
  return output
end

-- The mistake and a part of the hint.
local forms = {
  { "blocks",
    { "for (int i = 0; i < n; i++) { print(i) }", "for i = 1, n do ... end" },
    { "for i in range(n):\n  print(i)", "for i = 1, n do ... end" },
    { "for i = 1:10 do end", "for i = 1, 10 do ... end" },
    { "for i = 1 to 10 do end", "for i = 1, 10 do ... end" },
    { "for i = 1; i < 3; i = i + 1 do end", "for i = 1, 10 do ... end" },
    { "while (i < n) { i = i + 1 }", "while condition do ... end" },
    { "while x < 3:\n  x = x + 1", "while condition do ... end" },
    { "while true\n  print(1)\nend", "while condition do ... end" },
    { "if x > 3:\n  print(x)", "if condition then ... end" },
    { "if (x > 3) { print(x) }", "if condition then ... end" },
    { "if x > 3\n  print(x)\nend", "if condition then ... end" },
    { "if x > 3 then\n  print(x)", "has an end of its own" },
    { "for i = 1, 3 do\n  print(i)", "has an end of its own" },
    { "function f(x)\n  return x", "has an end of its own" },
    { "if x then\n  y = 1\nelse if z then\n  y = 2\nend", "elseif condition then for else if" },
    { "if x then y = 1 elif z then y = 2 end", "elseif condition then for elif" },
    { "if x then y = 1 elsif z then y = 2 end", "elseif condition then for elif" },
    { "if x then\n  y = 1\nelse:\n  y = 2\nend", "if ... then ... else ... end" },
    { "do { f() } while (x)", "do ... end" },
    { "switch (x) { case 1: break; }", "if i == 1 then ... elseif" },
    { "for i = 1, 3 do if i == 2 then continue end print(i) end", "goto next" },
    { "with gpu.stream() as s:\n  f()", "gpu.with(s, function() ... end)" },
    { "pass", "needs no statement" },
  },
  { "comments and texts",
    { "/* a comment */", "comments begin with --" },
    { "x = 1 /* a comment */", "comments begin with --" },
    { "// a comment", "comments begin with --" },
    { "x = 1 # one", "comments begin with --" },
    { '"""\nA script.\n"""', "between [[ and ]]" },
    { "'''A script.'''", "between [[ and ]]" },
    { 'x = """A\ntext."""', "between [[ and ]]" },
    { "x = 'a\nb'", "between [[ and ]]" },
  },
  { "operators",
    { "x = 1 << 2", "gpu.left_shift(x, n)" },
    { "x = 8 >> 2", "gpu.right_shift(x, n)" },
    { "x = a & 1", "gpu.bitwise_and(x, y)" },
    { "x = a | 1", "gpu.bitwise_or(x, y)" },
    { "x = ~a", "gpu.invert(x)" },
    { "x = a ^^ b", "gpu.bitwise_xor(x, y)" },
    { "if !x then end", "not for !" },
    { "if x != 1 then end", "~= for !=" },
    { "if x <> 1 then end", "~= for <>" },
    { "if x === 1 then end", "== for a comparison" },
    { "if x = 1 then end", "== for a comparison" },
    { "if (x = 1) then end", "== for a comparison" },
    { "while x = 1 do end", "== for a comparison" },
    { "x == 1", "= for an assignment" },
    { "if x && y then end", "and for &&" },
    { "if x || y then end", "or for ||" },
    { "x += 1", "x = x + 1" },
    { "x[1] -= 1", "x = x + 1" },
    { "x ^= 2", "x = x + 1" },
    { "s ..= 'a'", "s = s .. text" },
    { "i++", "i = i + 1" },
    { "++i", "i = i + 1" },
    { "i--", "i = i - 1" },
    { "i--;\nx = 1", "i = i - 1" },
    { "x = c ? a : b", "c and x or y" },
    { "x = a if c else b", "c and x or y" },
    { "x = y ** 2", "^ for **" },
    { "x = y.^2", "have no dot: x ^ 2" },
    { "x = y .* 2", "have no dot: x ^ 2" },
    { "x = A \\ b", "gpu.linalg.solve(A, b)" },
    { "print(x[end])", "x[-1] is the last element" },
    { "y = x[2:end]", "x[\"1:3\"]" },
    { "gpu.sum(gpu.ones(3, 3), axis=1)", "options are a table, the last argument" },
    { "help numpy", "help \"numpy\" looks for a word" },
    { "x = y // 2", "gpu.floor_divide(x, y)" },
    { "x = a @ b", "gpu.matmul(a, b)" },
    { "x = y'", "x.T is the transpose" },
    { "if x is None then end", "x == nil" },
    { "if x is not None then end", "x ~= nil" },
    { "if x in y then end", "gpu.isin(x, values)" },
    { "x = p->y", "a field is read by a dot" },
    { "x = gpu::ones(3)", "a field is read by a dot" },
    { "x = &y", "Lua has no addresses" },
    { "x = *p", "Lua has no pointers" },
  },
  { "functions",
    { "f = lambda x: x * 2", "function(x) return ... end" },
    { "gpu.vectorize(lambda x, y: x * y)", "function(x) return ... end" },
    { "f = x => x * 2", "function(x) return ... end" },
    { "f = (x) -> x * 2", "function(x) return ... end" },
    { "f = @(x) x + 1", "function(x) return ... end" },
    { "def f(x):\n  return x", "function name(x) ... end" },
    { "function f(x) { return x }", "function f(x) ... end" },
    { "function f(x):\n  return x\nend", "function f(x) ... end" },
    { "function f(float x) return x end", "parameters have no type" },
    { "function f(x: number) return x end", "parameters have no type" },
    { "function f(x, y=3) return x end", "parameters have no default values" },
    { "local function(x) return x end", "local function f(x) ... end" },
    { "f = function g(x) return x end", "local function f(x) ... end" },
    { "gpu.zeros(3, dtype='int32')", "options are a table" },
    { "@gpu.jit\ndef f(x): return x", "Lua has no decorators" },
    { "class A:\n  pass", "objects are tables" },
    { "print x", "print(x)" },
    { "print 'a' % 3", "print(x)" },
    { "assert x > 3", "assert(x)" },
    { "raise Error()", "error(message)" },
    { "throw 1;", "error(message)" },
    { "del x", "x:free()" },
  },
  { "values and indices",
    { "y = x[::2]", 'x["1:3"]' },
    { "y = x[1:3]", 'x["1:3"]' },
    { "y = x[:, 1]", 'x("1:3", ":")' },
    { "x[..., 1] = 0", 'x("1:3", ":")' },
    { "x = [1, 2, 3]", "{1, 2, 3}" },
    { "x = [i for i in y]", "a loop fills a table" },
    { "x = {'a': 1}", "{name = value}" },
    { "x = {a: 1, b: 2}", "{name = value}" },
    { "x = 1:10", "gpu.range(1, 10)" },
    { "x = 1.0f", "no suffix" },
    { "x = 1_000", "1000000" },
    { "x = 2 + 1j", "imaginary numbers end in i: 2i" },
    { 'x = t["a", "b"]', 't:select("a", "b") takes columns' },
    { 'x[":", 1] = 100', 'x[{":", 1}] = y sets it' },
    { "gpu.zeros((3, 4))", "Lua has no tuples" },
  },
  { "declarations",
    { "int x = 3;", "local name = value" },
    { "const float x = 3;", "local name = value" },
    { "float* x;", "local name = value" },
    { "unsigned int n = 3;", "local name = value" },
    { "let x = 3", "local name = value" },
    { "local x: number = 3", "local name = value" },
    { "import numpy as np", 'local name = require "name"' },
    { "from gpu import ones", 'local name = require "name"' },
    { "require gpu", 'require "gpu"' },
    { "#include <stdio.h>", "gpu.module([[...]])" },
    { "__global__ void k(float* x) { }", "gpu.module([[...]])" },
    { "using namespace std;", "gpu.module([[...]])" },
    { "std::cout << x;", "print(x)" },
    { "x", "print(x)" },
  },
}

for _, group in ipairs(forms) do
  describe("a hint about " .. group[1], function()
    for i = 2, #group do
      local code, part = unpack(group[i])
      it("is given for " .. code:gsub("\n", " "), function()
        local output = refused(code)
        local hint = output:match "\nhint: ([^\n]*)"
        assert.is_truthy(hint, output)
        assert.is_truthy(hint:find(part, 1, true), output)
      end)
    end
  end)
end

describe("no hint", function()
  for _, code in ipairs {
    "x = ", "f(", "x = {1, 2", "end", "return x y", "goto 5", "f(1, 2]", "x = {1, 2, 3)", "repeat x = 1 end", "x = a and b or", "x = 5 %",
    "print(x", "x = y.T.", "x y", "x = a.", "x = 'it''s'", "local function 3() end", "f(a,, b)", 'x = "a != b" y', "x = (1 -- a += b",
    'x = f("i++", "x ? y : z") )', "lambda = 0.5 *", "local range = 1 range", "t[1 = 2", "x = t[a.b]]", 'x = "lambda y: y" y',
    "x = #", "until x", "elseif x then end", "x = not", "x = 1 .. .. 2", "import_ = f( -- import x", 'y = "def f(x):" z',
  } do
    it("is given for " .. code, function() assert.is_nil(refused(code):find("hint:", 1, true), code) end)
  end
end)
