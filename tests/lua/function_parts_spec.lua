-- Lua functions where a text may stand: gpu.elementwise, gpu.reduction, gpu.scan_kernel; gpu.reduce and gpu.guvectorize.
local gpu = require "gpu"
local support = require "support"
local fails, near, series = support.fails, support.near, support.series

describe("gpu.elementwise with a Lua function", function()
  it("converts to the declared dtypes", function()
    local f = gpu.elementwise {name = "scaled", inputs = "T x, float32 s", outputs = "int8 y, bool big", body = function(x, s)
      return x * s, x > 2
    end}
    local y, big = f(gpu.array({1, 2, -3}, "float64"), 100)
    assert.are.same({"int8", "bool"}, {y.dtype, big.dtype})
    assert.are.same({100, 127, -128}, y:table())
    assert.are.same({false, false, false}, big:table())
    assert.are.equal("elementwise scaled(T x, float32 s) -> (int8 y, bool big)", tostring(f))
    assert.is_truthy(gpu.explain((f(gpu.ones(3) * 2, 1))):find "^1 kernel\n")
    fails("s: expected float32, got an array float64[1]", f, gpu.ones(1), gpu.ones(1, "float64"))
  end)

  it("indexes raw inputs, 1-based", function()
    local function sum(k, v) return v[k] + v[k + 1] + #v end
    local pairs_of = gpu.elementwise {inputs = "int32 k, raw T v", outputs = "T sum", body = sum}
    assert.are.same({6, 8}, pairs_of(gpu.array({1, 2}, "int32"), gpu.array {1, 2, 3}):table())
    assert.are.same({26, 28}, pairs_of(gpu.array({1, 2}, "int32"), gpu.array {11, 12, 13, 14}(":3")):table())
  end)

  it("is gpu.vectorize without declarations, and writes to out", function()
    local k = 2
    local f = gpu.elementwise {body = function(x) return x * k end}
    assert.are.same({2, 4}, f(gpu.array({1, 2}, "int32")):table())
    k = 5
    assert.are.same({5, 10}, f(gpu.array({1, 2}, "int32")):table())
    local g, out = gpu.elementwise {inputs = "T x", outputs = "T y", body = function(x) return x * k end}, gpu.zeros(2)
    g(gpu.array {1, 2}, {out = out})
    assert.are.same({5, 10}, out:table())
    fails("expected out = an array, got 2 arrays", g, gpu.ones(2), {out = {out, out}})
  end)

  it("names what does not fit", function()
    local function define(fields)
      local f = gpu.elementwise(fields)
      local y = f(gpu.ones(1))
      return y
    end
    local function two(x, y) return x + y end
    fails("expected a function with 1 parameter, got that of ", define, {inputs = "T x", outputs = "T y", body = two})
    local function one(x) return x end
    fails("expected a result for each of the 2 outputs, got 1", define, {inputs = "T x", outputs = "T y, T z", body = one})
    fails("preamble: a Lua function has none", define, {inputs = "T x", outputs = "T y", preamble = "int k;", body = one})
    fails("outputs: expected parameters", define, {inputs = "T x", body = one})
    local function joined(x) return x .. "" end
    local message = fails("a device has no strings", define, {inputs = "T x", outputs = "T y", body = joined})
    assert.is_truthy(message:find "function_parts_spec.lua:%d+: a device")
    fails("written in C", define, {inputs = "T x", outputs = "T y", body = math.sin})
  end)
end)

describe("gpu.reduction with Lua functions", function()
  it("has the dtypes of its functions", function()
    local norm = gpu.reduction {
      map = function(x) return x * x end, reduce = function(a, b) return a + b end, post = function(a) return gpu.sqrt(a) end,
      identity = 0,
    }
    local x = gpu.array {{3, 4}, {6, 8}}
    assert.are.same({5, 10}, norm(x, 2):table())
    assert.are.same({{5}, {10}}, norm(x, 2, {keepdims = true}):table())
    near(math.sqrt(125), norm(x:astype "float64"):item(), 1e-15)
    assert.are.equal("float64", norm(x:astype "float64").dtype)
    local total = gpu.reduction {map = function(v) return v end, reduce = function(a, b) return a + b end}
    assert.are.equal("int64", total(gpu.arange(4)).dtype)
    assert.are.equal(0, norm(gpu.zeros(0)):item())
    local out = gpu.zeros(2)
    norm(x, 1, {out = out})
    near({math.sqrt(45), math.sqrt(80)}, out:table(), 1e-6)
    -- map, and the arithmetic before it, are part of the reduction's kernel; so are two inputs that broadcast.
    local dot = gpu.reduction {map = function(a, b) return a * b end, reduce = function(a, b) return a + b end, identity = 0}
    local halves = dot(x / 2, gpu.array {1, 3}, 2)
    assert.is_truthy(gpu.explain(halves):find "^1 kernel\n")
    assert.are.same({7.5, 15}, halves:table())
    fails("expected 2 arguments, an axis and options, got 1 arguments", dot, x)
  end)

  it("mixes functions and texts where dtypes are declared", function()
    local x = gpu.array {3, 4}
    for _, part in ipairs {
      {map = function(v) return v * v end, reduce = "a + b", post = "y = a / 2"},
      {map = "x * x", reduce = function(a, b) return a + b end, post = "y = a / 2"},
      {map = "x * x", reduce = "a + b", post = function(a) return a / 2 end},
      {map = function(v) return v * v end, reduce = function(a, b) return a + b end, post = function(a) return a / 2 end},
    } do
      part.inputs, part.outputs, part.reduce_type, part.identity = "T x", "float32 y", "float64", "0"
      local f = gpu.reduction(part)
      assert.are.same({12.5, "float32"}, {f(x):item(), f(x).dtype})
      assert.are.equal("reduction reduction(T x) -> (float32 y)", tostring(f))
    end
  end)

  it("reads captured numbers at each call, and combines in any order", function()
    local floor, scale = 3, 1
    local f = gpu.reduction {map = function(x) return x * scale end, reduce = function(a, b) return math.max(a, b, floor) end}
    assert.are.equal(3, f(gpu.array {1, 2}):item())
    floor, scale = 7, 10
    assert.are.equal(20, f(gpu.array {1, 2}):item())
    assert.are.equal(70, f(gpu.array {1, 7}):item())
    floor = 0.5
    assert.are.equal(0.5, f(gpu.array {-1, -7}):item())
    assert.are.equal("float16", f(gpu.ones(3, "float16")).dtype)
    -- Many elements, along each axis: a maximum of absolute values with its sign.
    local g = gpu.reduction {reduce = function(a, b)
      if math.abs(a) > math.abs(b) then return a end
      return b
    end, identity = 0}
    local x = gpu.arange(60000, "float64"):reshape(200, 300) * 7919 % 10007 - 5000
    local most = {}
    for i, row in ipairs(x:table()) do
      most[i] = 0
      for _, value in ipairs(row) do if math.abs(value) > math.abs(most[i]) then most[i] = value end end
    end
    local got = g(x, 2):table()
    for i = 1, 200 do assert.are.equal(math.abs(most[i]), math.abs(got[i])) end
  end)

  it("names what does not fit", function()
    local v = gpu.ones(2)
    local x = gpu.ones(4)
    local function run(fields) return gpu.reduction(fields)(x):item() end
    local sum = function(a, b) return a + b end
    fails("reduce: expected an expression of a and b, got nothing", run, {map = function(a) return a end})
    fails("the function uses the array v", run, {reduce = function(a, b) return a + b * v[1] end})
    fails("map: expected a function with one result, got 2", run, {map = function(a) return a, a end, reduce = sum})
    fails("post: expected a function with one result, got 2", run, {reduce = sum, post = function(a) return a, a end})
    fails("expected a function with 2 parameters", run, {reduce = function(a) return a end})
    fails("inputs: expected parameters", run, {map = "x", reduce = sum})
    fails("a device makes no tables", run, {reduce = function(a, b) return {a, b} end})
    fails("which has no identity", function() return gpu.reduction {reduce = sum}(gpu.zeros(0)):item() end)
  end)
end)

describe("gpu.reduce", function()
  it("reduces by a Lua function", function()
    local x = gpu.arange(6, "float32"):reshape(2, 3)
    local sum, product = gpu.reduce(function(a, b) return a + b end, 0), gpu.reduce(function(a, b) return a * b end)
    assert.are.equal(15, sum(x):item())
    assert.are.same({3, 12}, sum(x, 2):table())
    assert.are.same({0, 60}, product(x, 2):table())
    assert.are.equal(0, sum(gpu.zeros(0)):item())
    assert.are.equal(-math.huge, gpu.reduce(function(a, b) return math.max(a, b) end, -math.huge)(gpu.zeros(0)):item())
    assert.are.equal("int64", sum(gpu.arange(3)).dtype)
    assert.are.equal(499999500000, sum(gpu.arange(1000000)):item())
    local gcd = gpu.reduce(function(a, b) while b ~= 0 do a, b = b, a % b end return a end)
    assert.are.equal(6, gcd(gpu.array({12, 18, 30}, "int32")):item())
    fails("expected a Lua function of two values, got 3", gpu.reduce, 3)
    fails("expected a function with 2 parameters", gpu.reduce, function(a) return a end)
    fails("a number, the result of no elements", gpu.reduce, function(a, b) return a + b end, "0")
  end)
end)

describe("gpu.scan_kernel with a Lua function", function()
  it("combines earlier and later values", function()
    local running = gpu.scan_kernel {expr = function(a, b) return a > b and a or b end}
    assert.are.same({3, 3, 4, 4, 5}, running(gpu.array {3, 1, 4, 1, 5}):table())
    local product = gpu.scan_kernel {input = "T x", expr = function(a, b) return a * b end, neutral = 1, exclusive = true}
    assert.are.same({1, 3, 3, 12, 12}, product(gpu.array {3, 1, 4, 1, 5}):table())
    local filled = gpu.scan_kernel {input = "int32 x", expr = function(a, b) if b ~= 0 then return b end return a end, neutral = 0}
    assert.are.same({7, 7, 7, 2}, filled(gpu.array({7, 0, 0, 2}, "int32")):table())
    -- x[i] = k * x[i - 1] modulo 10, whose combination is not commutative, is no scan; the last of each block of equal keys is.
    local x, limit = gpu.arange(5000, "float64") % 13, 9
    local capped = gpu.scan_kernel {expr = function(a, b) return math.min(math.max(a, b), limit) end}
    local best = 0
    assert.are.same(series(5000, function(i) best = math.min(math.max(best, (i - 1) % 13), 9) return best end), capped(x):table())
    limit = 5
    assert.are.equal(5, capped(x)[5000])
    fails("expected a function with 2 parameters", gpu.scan_kernel {expr = function(a) return a end}, x)
  end)
end)

describe("gpu.guvectorize", function()
  local dot = gpu.guvectorize("(n),(n)->()", function(x, y)
    local s = 0
    for i = 1, #x do s = s + x[i] * y[i] end
    return s
  end)

  it("gives 0 where the function sets nothing", function()
    local old = gpu.full({ 2, 3 }, 7)
    old = old * 2 -- memory that the outputs may get
    gpu.eval(old)
    old:free()
    local part = gpu.guvectorize("(n)->(n)", function(x, out) for i = 1, #x - 1 do out[i] = x[i] end end)
    assert.are.same({ { 1, 1, 0 }, { 1, 1, 0 } }, part(gpu.ones(2, 3)):table())
  end)

  it("refuses results that the signature does not have", function()
    fails("[guvectorize] expected as many results as the signature has outputs, 1, got 2",
      gpu.guvectorize("(n)->()", function(a) return a[1], 2 end), gpu.ones(3))
  end)

  it("names the script's line in an error of the function", function()
    local wrong = gpu.guvectorize("(n)->()", function(a) return a end)
    local line = debug.getinfo(1).currentline - 1
    fails(("[guvectorize] tests/lua/function_parts_spec.lua:%d: result 1: expected a number or a boolean, got the array a; "
      .. "return a number, such as a[1]"):format(line):gsub("tests/lua/", (debug.getinfo(1).short_src:match "^(.*/)" or "")), wrong, gpu.ones(3))
  end)

  it("runs the function for each of the leading axes, which broadcast", function()
    assert.are.same({3, 12, 21, 30}, dot(gpu.arange(12, "float32"):reshape(4, 3), gpu.ones(3)):table())
    local one = dot(gpu.array {1, 2}, gpu.array {3, 4})
    assert.are.same({11, 0, "float32"}, {one:item(), one.ndim, one.dtype})
    local x, y = gpu.rand(4, 3, "float64"), gpu.rand(2, 4, 3, "float64")
    near((x * y):sum(3):table(), dot(x, y):table(), 1e-15)
    local turned = x("::-1", "::-1")
    near((turned * y):sum(3):table(), dot(turned, y):table(), 1e-15)
    local weighted = gpu.guvectorize("(n),()->(),()", function(v, k)
      local s, most = 0, v[1]
      for i = 1, #v do
        s = s + v[i] * k
        most = math.max(most, v[i])
      end
      return s, most
    end)
    local s, most = weighted(gpu.ones(2, 3), 2)
    assert.are.same({{6, 6}, {1, 1}}, {s:table(), most:table()})
    assert.are.same({0, 3, 6, 9}, weighted(gpu.ones(3), gpu.arange(4, "float32")):table())
  end)

  it("writes results that are arrays", function()
    local product = gpu.guvectorize("(m,n),(n,p)->(m,p)", function(x, y, out)
      for i = 1, #x do
        for j = 1, y.shape[2] do
          local s = 0
          for k = 1, #y do s = s + x[i][k] * y[k][j] end
          out[i][j] = s
        end
      end
    end, {name = "product"})
    local a, b = gpu.rand(5, 2, 3), gpu.rand(3, 4)
    near(a:matmul(b):table(), product(a, b):table(), 1e-6)
    local running = gpu.guvectorize("(n)->(n),()", function(x, out)
      local s = 0
      for i = 1, #x do
        s = s + x[i]
        out[i] = s
      end
      return s
    end)
    local sums, last = gpu.zeros(2, 3, "float64"), gpu.zeros(2)
    assert.are.equal(sums, (running(gpu.arange(6):reshape(2, 3), {out = {sums, last}})))
    assert.are.same({{0, 1, 3}, {3, 7, 12}}, sums:table())
    assert.are.same({3, 12}, last:table())
    local cross = gpu.guvectorize("(3),(3)->(3)", function(u, v, w)
      w[1], w[2], w[3] = u[2] * v[3] - u[3] * v[2], u[3] * v[1] - u[1] * v[3], u[1] * v[2] - u[2] * v[1]
    end, {dtype = "float64"})
    local w = cross(gpu.eye(3), gpu.array {0, 0, 1})
    assert.are.same({{0, -1, 0}, {1, 0, 0}, {0, 0, 0}}, w:table())
    assert.are.equal("float64", w.dtype)
    fails("expected 3 for the dimension 3 of argument 2, got 2", cross, gpu.ones(3), gpu.ones(2))
    fails("expected out = a table of 2 arrays", running, gpu.ones(3), {out = sums})
  end)

  it("names what does not fit", function()
    local function f(x) return x[1] end
    fails("expected dimensions as in \"(m,n),(n)\" for the inputs, got \"(n\"", gpu.guvectorize, "(n->()", f)
    fails("with \"->\"", gpu.guvectorize, "(n)", f)
    fails("m is a dimension of an output and of no input", gpu.guvectorize, "(n)->(m)", f)
    fails("expected a function with 2 parameters", gpu.guvectorize, "(n)->(n)", f)
    local message = fails("expected a function that sets the elements of its arrays and returns nothing, got one that returns values",
      gpu.guvectorize, "(n)->(n)", function(v, o) return v[1] end)
    assert.is_truthy(message:find("function_parts_spec.lua", 1, true))
    fails("a Lua function of the arrays of one step, got 3", gpu.guvectorize, "(n)->()", 3)
    fails("expected the options name, fmad and dtype, got \"out\"", gpu.guvectorize, "(n)->()", f, {out = 1})
    fails("expected 3 for the dimension n of argument 2, got 4", dot, gpu.ones(3), gpu.ones(4))
    fails("an array with 1 dimensions or more as argument 2, got 3", dot, gpu.ones(3), 3)
    fails("expected 2 arguments and options, got 1", dot, gpu.ones(3))
    fails("the shape (2,3) of argument 2 does not broadcast", dot, gpu.ones(4, 3), gpu.ones(2, 3))
    fails("expected the option out, got \"axis\"", dot, gpu.ones(3), gpu.ones(3), {axis = 1})
  end)
end)
