-- An array is always true in Lua, and equals no number: a call whose array is at once a condition is refused. The reference is a list
-- of what is a mistake and what is not.
local gpu = require "gpu"
local support = require "support"

local function run(code)
  local chunk = assert(loadstring("local x, y, gpu, yes, no, object = ...\n" .. code, "=script"))
  return pcall(chunk, gpu.array { 1, 2, 3 }, gpu.array { 1, 2, 4 }, gpu, true, false, { gt = function() return true end })
end

local condition = "expected a boolean as a condition, got an array, which is always true in Lua"
local comparison = "expected a number beside == or ~=, got an array, which equals no number, text or boolean in Lua"

local function refuses(op, part, codes)
  for _, code in ipairs(codes) do
    local ok, message = run(code)
    assert(not ok, code .. " raised no error")
    local expected = "script:2: [" .. op .. "] " .. part
    assert(message:sub(1, #expected) == expected, ("%s\nexpected: %s\ngot: %s"):format(code, expected, message))
  end
end

describe("an array as a condition", function()
  it("is refused in if, while, repeat and not", function()
    refuses("any", condition, {
      "if x:any() then return end", "if x:gt(9):any() then return end", "if not x:any() then return end", "return not x:any()",
      "while x:any() do end", "repeat local z = 1 until x:any()", "if gpu.any(x) then return end",
      "local any = gpu.any if any(x) then return end", "if no then return elseif x:any() then return end",
      "if yes and x:any() then return end", "if no or x:any() then return end", "local ok = x:any() if ok then return end",
    })
  end)
  it("is refused as an operand of and, or", function()
    refuses("gt", condition, { "return x:gt(1) and x:lt(3)", "local m = x:gt(1) and x:lt(3)", "m = x:gt(1) or y", "return x:gt(1) or 1" })
  end)
  it("is refused as the argument of assert", function()
    refuses("all", condition, { "assert(x:eq(y):all())", 'assert(x:eq(y):all(), "they differ")', "assert(gpu.all(x))" })
  end)
  it("is refused for each function that gives a mask", function()
    for op, call in pairs { gt = "x:gt(1)", eq = "gpu.eq(x, y)", isnan = "x:isnan()", logical_not = "x:gt(1):logical_not()",
      logical_and = "gpu.logical_and(x, y)", isclose = "gpu.isclose(x, y)", isin = "x:isin { 1 }", all = "x:all(1)" } do
      refuses(op, condition, { ("if %s then return end"):format(call), ("return %s and 1"):format(call) })
    end
    local columns = 'local t = gpu.table { s = { "a", "b" }, d = { "2024-01-01", "2024-01-02" } } t.d = gpu.dates(t.d) '
    refuses("eq", condition, { columns .. 'if t.s:eq "a" then return end', columns .. 'if t.d:eq "2024-01-01" then return end' })
    refuses("lt", condition, { columns .. 'if t.s:lt "b" then return end', columns .. 'if t.d:lt(t.d) then return end' })
  end)
  it("is found on lines of their own, and in compiled loops", function()
    refuses("lt", condition, { "if x:lt(\ny) then return end", "for i = 1, 500 do if i > 400 and x:lt(i) then return i end end" })
    local function each(n)
      local count = 0
      for i = 1, n do
        if i > n - 2 then
          if x_of(i):lt(2) then count = count + 1 end
        end
      end
      return count
    end
    setfenv(each, { x_of = function(i) return gpu.array { i } end })
    support.fails(condition, each, 300)
  end)
  it("is refused in functions that run with arrays", function()
    refuses("gt", condition, { "return gpu.grad(function(v) return (v:gt(1) and v or -v):sum() end)(x)",
      "return gpu.fuse(function(v) return v:gt(1) and v or -v end)(x)" })
  end)
  it("is left to scripts where it may be another value", function()
    for _, code in ipairs {
      "return yes and x:gt(1) or x:ge(1)", "return #gpu.devices() > 0 and x:gt(1) or x:ge(1)", "return yes and x:gt(1)",
      "return no or x:gt(1)", "local m = yes and x:gt(1) if m then return m end", "local m = x:gt(1) while m do m = nil end",
      "local m = x:gt(1) if object:gt(1) then return m end", "if object:gt(x:gt(1)) then return end", "return pcall(x.any, x)",
      "if x:any():item() then return end", "assert(x:gt(0):all():item())", "return yes and x:sum() or 3", "if x:sum() then return end",
      "local function mask() return x:gt(1) end if mask() then return end", "if x:any() == nil then return end",
      "return yes and x:gt(1) or nil", "return yes and x:gt(1) or false", "return yes and not no and x:gt(1) or 1",
      "return (no or yes) and x:gt(1) or y", "return yes == true and (x:gt(1)) or y", "return tostring(yes and x:gt(1) or x:gt(2))",
      "return no and x:gt(1) or yes and x:gt(2) or y", "local m m = yes and x:gt(1) or m return m",
      "return select('#', x:any())", "return { x:any() }, x:gt(1):sum()",
    } do
      local ok, message = run(code)
      assert(ok, ("%s raised %s"):format(code, tostring(message)))
    end
    local stripped = loadstring(string.dump(loadstring "local x = ... if x:any() then return 1 end", true))
    assert.are.equal(1, stripped(gpu.array { 1 }))
  end)
end)

describe("an array beside == and ~=", function()
  it("is refused where the other side is a number, a text or a boolean", function()
    refuses("sum", comparison, { "return x:sum() == 6", "if x:sum() ~= 6 then return end", "return 6 == x:sum()" })
    refuses("any", comparison, { "return x:any() == true", "return gpu.any(x) ~= false" })
    refuses("exp", comparison, { "return x:exp() == 'a'" })
    refuses("mean", comparison, { "return x:mean() == 2" })
    refuses("sum", comparison, { "local n = 6 return x:sum() == n", "local n = 6 return n ~= x:sum()" })
  end)
  it("is refused as the result of an operator", function()
    refuses("remainder", comparison, {
      "if x % 2 == 0 then return end", "return x % 2 ~= 0", "print(x % 2 == 0)", "local n = 1 return x % 2 == n", "return 0 == x % 2",
      "local n = 1 return n == x % 2", "return (x + 1) % 2 == 0", "return 2 % x == 0", "assert(x % 2 == 0)", "while x % 2 == 0 do end",
    })
    for op, code in pairs {
      add = "x + 1", subtract = "x - y", multiply = "2 * x", divide = "x / y", power = "x ^ 2", negative = "-x",
    } do
      refuses(op, comparison, { ("return %s == 0"):format(code), ("if %s ~= 3 then return end"):format(code) })
    end
  end)
  it("is refused as what an index or a call selects", function()
    refuses("index", comparison, {
      "return x[{1}] == 1", "if x[{ 1 }] == 1 then return end", "return x['1:1'] == 1", "local i = gpu.array({ 1 }, 'int32') return x[i] == 1",
      "return x(1) == 1", "if x({ 1, 2 }) ~= 1 then return end", "local m = gpu.ones(2, 2) return m[1] == 1", "local n = 1 return x[{1}] == n",
      "local t = { x = x } return t.x(1) == 1",
    })
    refuses("index", condition, { "local m = x:gt(1) if m[{1}] then return end", "local m = x:gt(1) return m(1) and 1", "local m = x:gt(1) return not m(2)" })
  end)
  it("is left to scripts where it is another value or another use", function()
    for _, code in ipairs {
      "return x[1] == 1, x[1] % 2 == 0", "local t = { 1 } return t[1] == 1 and x[{1}]", "return 5 % 2 == 1, x % 2", "return x.size == 3",
      "local z = x % 2 return z", "return (x + 1):sum():item() == 9", "return x(1):item() == 1",
      "local t = { 1, 2 } for i = 1, 2 do if t[i] == 2 then return x[{1}] end end", "return x % 2 == nil", "if x[{1}] then return end",
      "local t = { 0 } return t[1] == 0 and x[1] or y[{1}]", "return yes and x[{1}] or y",
    } do
      local ok, message = run(code)
      assert(ok, ("%s raised %s"):format(code, tostring(message)))
    end
  end)
end)

describe("a result of a function that is written in Lua, beside == and ~=", function()
  it("is refused, of functions and of methods of all objects", function()
    refuses("median", comparison, { "return x:median() == 2", "if gpu.median(x) ~= 2 then return end", "local m = 2 return gpu.median(x) == m" })
    refuses("linalg.norm", comparison, { "return gpu.linalg.norm(x) == 0" })
    refuses("month", comparison, { 'return gpu.dates { "2024-01-01" }:month() == 1' })
    refuses("mean", comparison, { "return x:rolling(2):mean() == 1" })
    refuses("column", comparison, { "return gpu.table { x = x }:column 'x' == 1" })
  end)

  it("is left to scripts where it is a number, a text or nil, and where another value may be the same array", function()
    for _, code in ipairs {
      "return gpu.array_equal(x, x) == true", "return gpu.median(x):item() == 2", "return gpu.median(x) == nil",
      "local t = gpu.table { x = x } return t:column 'x' == t.x",
    } do
      local ok, message = run(code)
      assert(ok, tostring(message))
    end
  end)
end)

describe("the readers of bytecode", function()
  it("keep none of a script's globals", function()
    local weak = setmetatable({}, { __mode = "v" })
    held_by_a_global = gpu.ones(3)
    weak.x = held_by_a_global
    assert.is_false(pcall(function() return gpu.ones(3) % 2 == 0 end))
    held_by_a_global = nil
    collectgarbage()
    collectgarbage()
    assert.is_nil(weak.x)
  end)
end)
