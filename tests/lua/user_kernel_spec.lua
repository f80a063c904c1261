-- gpu.elementwise and gpu.reduction: operations from source.
local gpu = require "gpu"
local support = require "support"
local fails, near, series = support.fails, support.near, support.series

local function kernels(...) return tonumber(gpu.explain(...):match "^(%d+) kernel") end
local function count(text, part) return select(2, text:gsub(part:gsub("%p", "%%%0"), "")) end

local leaky = gpu.elementwise {
  name = "leaky_relu",
  inputs = "float32 x, float32 slope",
  outputs = "float32 y",
  body = "y = x > 0 ? x : slope * x;",
}

describe("gpu.elementwise", function()
  it("is a function of arrays: leaky ReLU", function()
    local x = gpu.linspace(-5, 5, 10000)
    local xs, ys = x:table(), leaky(x, 0.1):table()
    near(series(10000, function(i) return xs[i] > 0 and xs[i] or 0.1 * xs[i] end), ys)
    assert.are.equal("elementwise leaky_relu(float32 x, float32 slope) -> (float32 y)", tostring(leaky))
  end)

  it("takes statements, as CuPy's example has them", function()
    local f = gpu.elementwise {
      inputs = "float32 x, float32 y",
      outputs = "float32 z",
      body = "if (x - 2 > y) z = x * y; else z = x + y;",
    }
    local x, y = gpu.arange(10000) % 17, gpu.arange(10000) % 13
    local expected = series(10000, function(i)
      local a, b = (i - 1) % 17, (i - 1) % 13
      return a - 2 > b and a * b or a + b
    end)
    assert.are.same(expected, f(x:astype "float32", y:astype "float32"):table())
  end)

  it("fuses with what is around it", function()
    local a = gpu.linspace(-1, 1, 1000):eval()
    local y = leaky(a * 2, 0.1) + 1
    local text = gpu.explain(y)
    assert.are.equal(1, tonumber(text:match "^(%d+) kernel"))
    assert.are.equal(1, count(text, "y = x > 0 ? x : slope * x;"))
    near(1 - 0.2, y[1])
    near(3, y[1000])
    local total = leaky(leaky(a, 0.5), 0.5):sum() * 2
    assert.are.equal(1, kernels(total))
    near(2 * (250.25 - 250.25 / 4), total:item(), 1e-4)
    assert.are.equal(1, kernels(leaky(a:sum(), 0.5) - a:max()))
    near(-1, (leaky(a:sum(), 0.5) - a:max()):item(), 1e-4)
  end)

  it("broadcasts, and takes views, any shape and no elements", function()
    local add = gpu.elementwise { inputs = "T x, T y", outputs = "T z", body = "z = x + y" }
    local column, row = gpu.arange(3, "int32"):reshape(3, 1), gpu.arange(4, "int32")
    assert.are.same({ { 0, 1, 2, 3 }, { 1, 2, 3, 4 }, { 2, 3, 4, 5 } }, add(column, row):table())
    assert.are.same({ 3, 1 }, add(gpu.arange(4, "int32")["::-2"], 0):table())
    assert.are.same({ 0, 3 }, add(gpu.zeros(0, 3), 1).shape)
    assert.are.equal(7, add(gpu.array(3), 4):item())
    assert.are.equal(5, add(2, 3):item())
    fails("operands could not be broadcast together with shapes (3,) (4,)",
      function() return add(gpu.ones(3), gpu.ones(4)) end)
  end)

  it("binds type variables to the arguments' types", function()
    local f = gpu.elementwise { inputs = "T x, U y", outputs = "T a, U b", body = "a = x / 2; b = y / 2;" }
    local a, b = f(gpu.array({ 3, 5 }, "int16"), gpu.array({ 3, 5 }, "float64"))
    assert.are.equal("int16", a.dtype)
    assert.are.equal("float64", b.dtype)
    assert.are.same({ 1, 2 }, a:table())
    assert.are.same({ 1.5, 2.5 }, b:table())
    for _, dtype in ipairs { "uint8", "int64", "float16", "bfloat16", "float32", "float64" } do
      local twice = gpu.elementwise { inputs = "T x", outputs = "T y", body = "T z = x; y = z + z;" }
      local y = twice(gpu.array({ 1, 2, 100 }, dtype))
      assert.are.equal(dtype, y.dtype)
      assert.are.same({ 2, 4, 200 }, y:table())
    end
    local is_odd = gpu.elementwise { inputs = "T x", outputs = "bool y", body = "y = x % 2 == 1;" }
    assert.are.same({ false, true }, is_odd(gpu.arange(2, "uint16")):table())
    assert.are.equal("int32", f(gpu.ones(2, "int32"), 1).dtype)
    assert.are.equal("float32", select(2, f(gpu.ones(2, "int32"), 1)).dtype)
  end)

  it("rounds 16-bit floating types once, at the end", function()
    local f = gpu.elementwise { inputs = "float16 x", outputs = "float16 y", body = "y = (x + 0.0001f) * 4096 - x * 4096;" }
    near(0.4096, f(gpu.ones(1, "float16"))[1], 2e-3)
  end)

  it("gives the element's position and the number of elements", function()
    local f = gpu.elementwise { inputs = "int64 x", outputs = "int64 y", body = "y = x + 100 * i + 10000 * n + _ind.size() - n;" }
    assert.are.same({ { 60001, 60101, 60201 }, { 60301, 60401, 60501 } }, f(gpu.ones({ 2, 3 }, "int64")):table())
    assert.are.same({ 20001, 20101 }, f(gpu.ones({ 4 }, "int64")["::2"]):table())
    assert.are.equal(0 + 100 + 20000 + 1 + 20001, f(gpu.ones({ 2 }, "int64")):sum():item())
  end)

  it("gives arrays as a whole that are raw", function()
    local reversed = gpu.elementwise { inputs = "T x, raw T y", outputs = "T z", body = "z = x + y[y.size() - i - 1];" }
    local x = gpu.arange(4, "float32")
    assert.are.same({ 13, 12, 11, 10 }, reversed(gpu.array { 10, 10, 10, 10 }, x):table())
    assert.are.same({ 6, 4, 2, 0 }, reversed(gpu.zeros(4), x * 2):table())
    assert.are.same({ 0, 1, 2, 3 }, reversed(gpu.zeros(4), x["::-1"]):table())
    assert.are.same({ 3, 2, 1, 0 }, reversed(gpu.zeros(4, "float16"), x:astype "float16"):table())
    local alone = gpu.elementwise { inputs = "raw T x", outputs = "T y", body = "y = x[2 * i];" }
    assert.are.same({ 0, 2 }, alone(x, { size = 2 }):table())
    assert.are.same({ 0, 2 }, alone(x, { out = gpu.zeros(2) }):table())
    fails("{size = n}", function() return alone(x) end)
    fails("expected an array, as it is raw, got 3", function() return alone(3, { size = 2 }) end)
    -- In place: as if the right side were copied first.
    reversed(x, x, { out = x })
    assert.are.same({ 3, 3, 3, 3 }, x:table())
    local y = gpu.arange(4, "float32")
    local later = reversed(gpu.zeros(4), y)
    y:fill_(9)
    assert.are.same({ 3, 2, 1, 0 }, later:table())
    assert.are.equal(4, reversed(gpu.zeros(4), y * 0 + 1):sum():item())
  end)

  it("gives several arrays, which one call computes", function()
    local f = gpu.elementwise { name = "divmod", inputs = "T x, T y", outputs = "T q, T r", body = "q = x / y; r = x - q * y;" }
    local x = gpu.arange(10, "int32"):eval()
    local q, r = f(x, 3)
    local text = gpu.explain(q, r)
    assert.are.equal(1, tonumber(text:match "^(%d+) kernel"))
    -- Once for each way in which the kernel goes through elements.
    assert.are.equal(count(text, ".r0)"), count(text, "::call("), text)
    assert.are.same(x:table(), (q * 3 + r):table())
    local a, b = gpu.zeros(10, "int32"), gpu.zeros(10, "int64")
    local c, d = f(x, 4, { out = { a, b } })
    assert.are.same({ 0, 0, 0, 0, 1, 1, 1, 1, 2, 2 }, c:table())
    assert.are.same({ 0, 1, 2, 3, 0, 1, 2, 3, 0, 1 }, b:table())
    assert.are.equal("int64", d.dtype)
    f(x, 3, { out = { x, gpu.zeros(10, "int32") } })
    assert.are.same({ 0, 0, 0, 1, 1, 1, 2, 2, 2, 3 }, x:table())
  end)

  it("takes as an #include what is one", function()
    local f = gpu.elementwise { inputs = "float32 x", outputs = "float32 y", body = "y = x + many + text[0];", preamble = [==[
      /* As in
      #include <nowhere.h>
      */
      __device__ const char text[] = R"(A
      #include <nowhere.h>
      )";
      #include <math.h> // and /* this
      # include <stdint.h> /* and
      that */
      constexpr int32_t many = 1'000;]==] }
    assert.are.same({ 1066 }, f(gpu.ones(1)):table())
  end)

  it("has a preamble of its own", function()
    local function times(factor)
      return gpu.elementwise {
        inputs = "float32 x",
        outputs = "float32 y",
        preamble = "#include <cuda_fp16.h>\n__device__ float scale(float x) { return " .. factor .. " * x; }",
        body = "y = scale(x);",
      }
    end
    local y = times(2)(times(3)(gpu.ones(3)))
    assert.are.equal(1, kernels(y))
    assert.are.same({ 6, 6, 6 }, y:table())
  end)

  it("may return early, and ends with a comment", function()
    local f = gpu.elementwise { inputs = "float32 x", outputs = "float32 y", body = "if (x < 0) return; y = x; // as it is" }
    assert.are.same({ 0, 2 }, f(gpu.array { -1, 2 }):table())
  end)

  it("tells two operations of one name apart", function()
    local function plus(n) return gpu.elementwise { name = "f", inputs = "float32 x", outputs = "float32 y", body = "y = x + " .. n } end
    local x = gpu.zeros(3):eval()
    assert.are.same({ 1, 1, 1 }, plus(1)(x):table())
    assert.are.same({ 2, 2, 2 }, plus(2)(x):table())
  end)

  it("lives as long as what it computes", function()
    local y = gpu.elementwise { inputs = "float32 x", outputs = "float32 y", body = "y = x + 1;" }(gpu.ones(3))
    collectgarbage()
    collectgarbage()
    assert.are.same({ 2, 2, 2 }, y:table())
  end)

  it("names what does not fit", function()
    fails("[leaky_relu] expected 2 arguments (float32 x, float32 slope), got 1", function() return leaky(gpu.ones(2)) end)
    fails("expected 2 arguments (float32 x, float32 slope) and options, got 3", function() return leaky(gpu.ones(2), 1, 3) end)
    fails("expected an array or a number for slope, got \"a\"", function() return leaky(gpu.ones(2), "a") end)
    fails("[leaky_relu] x: expected float32, got an array float64[2]; x:astype(\"float32\") converts it",
      function() return leaky(gpu.ones(2, "float64"), 0.1) end)
    local same = gpu.elementwise { inputs = "T x, T y, int8 k", outputs = "T z", body = "z = x + y" }
    fails("y: expected int32, which T is by an earlier array, got an array float32[2]",
      function() return same(gpu.ones(2, "int32"), gpu.ones(2), 1) end)
    fails("k: ", function() return same(gpu.ones(2), 1, 300) end)
    fails("y: ", function() return same(gpu.ones(2, "int32"), 0.5, 1) end)
    fails("expected an array, got 3", function() return same(gpu.ones(2), 1, 1, { out = 3 }) end)
    fails("an array to write to of the result's shape (2,), got (3,)",
      function() return same(gpu.ones(2), 1, 1, { out = gpu.ones(3) }) end)
    local function define(fields)
      fields.inputs, fields.outputs, fields.body = fields.inputs or "T x", fields.outputs or "T y", fields.body or "y = x"
      return function() return gpu.elementwise(fields) end
    end
    fails("[elementwise] inputs: expected a dtype's name or one letter for the type of x, got \"float31\"", define { inputs = "float31 x" })
    fails("[f] outputs: expected parameters as in", define { name = "f", outputs = "T" })
    fails("\"i\" is not a name for a parameter", define { inputs = "T i" })
    fails("two parameters have the name x", define { outputs = "T x" })
    fails("y cannot be raw", define { outputs = "raw T y" })
    fails("expected the options", define { bodies = "" })
    fails("body: expected a string, got 3", define { body = 3 })
    fails("[elementwise] body: expected CUDA C++ statements", function() gpu.elementwise { inputs = "T x", outputs = "T y" } end)
    fails('[sq] body: expected statements that set y, as in "y = ...;", got "return x * x;"',
      define { name = "sq", inputs = "T x", outputs = "T y", body = "return x * x;" })
    fails('[sq] body: expected statements that set z, as in "z = ...;", got "y = x * x"',
      define { name = "sq", inputs = "T x", outputs = "T y, T z", body = "y = x * x" })
    local set = gpu.elementwise { inputs = "T x", outputs = "T y", body = "SET(x)", preamble = "#define SET(v) y = v" }
    assert.are.same({ 1, 1 }, set(gpu.ones(2)):table())
    fails("z: U is not the type of an input", function()
      return gpu.elementwise { inputs = "T x", outputs = "U z", body = "z = x" }(gpu.ones(2))
    end)
  end)

  it("points compile errors into the script", function()
    local path = os.tmpname()
    local output, status = support.run([=[
local gpu = require "gpu"
local f = gpu.elementwise {
  inputs = "float32 x",
  outputs = "float32 y",
  body = [[
    y = x;
    y = undeclared_name;
  ]],
}
local y = f(gpu.ones(3)) + 1
print(y)
]=], "", path)
    assert.are.equal(1, status)
    assert.is_truthy(output:find("undeclared_name", 1, true), output)
    assert.is_truthy(output:find(path:gsub("%p", "%%%0") .. "[:(]7[:),]"), "the body's line in: " .. output)
  end)
end)

describe("gpu.reduction", function()
  it("accumulates types larger than it reads, over many blocks", function()
    for _, identity in ipairs { "0", false } do
      local sum = gpu.reduction {
        inputs = "float32 x", outputs = "complex128 y", map = "x", reduce = "a + b", post = "y = a",
        reduce_type = "complex128", identity = identity or nil,
      }
      local total = sum(gpu.ones(300000)):item()
      assert.are.equal(300000, total.re)
      assert.are.equal(0, total.im)
    end
  end)

  local norm = gpu.reduction {
    name = "l2norm",
    inputs = "T x",
    outputs = "T y",
    map = "x * x",
    reduce = "a + b",
    post = "y = sqrt(a)",
    identity = "0",
  }

  it("maps, reduces and finishes", function()
    local x = gpu.arange(10, "float32"):reshape(2, 5)
    near(math.sqrt(285), norm(x):item())
    near({ math.sqrt(30), math.sqrt(255) }, norm(x, 2):table())
    near({ { 5, math.sqrt(37), math.sqrt(53), math.sqrt(73), math.sqrt(97) } }, norm(x, { axis = 1, keepdims = true }):table())
    assert.are.same({ 0, 0 }, norm(gpu.zeros(2, 0), 2):table())
    local out = gpu.zeros(2, "float64")
    norm(x, 2, { out = out })
    near({ math.sqrt(30), math.sqrt(255) }, out:table())
    assert.are.equal("reduction l2norm(T x) -> (T y)", tostring(norm))
  end)

  it("fuses with what is around it", function()
    local x = gpu.linspace(0, 1, 100000):eval()
    local y = norm(x * 2 - 1) / x:sum()
    assert.are.equal(1, kernels(y))
    local squares, sum = 0, 0
    for i = 0, 99999 do
      squares = squares + (2 * i / 99999 - 1) ^ 2
      sum = sum + i / 99999
    end
    near(math.sqrt(squares) / sum, y:item(), 1e-5)
  end)

  it("takes several inputs, and a type to reduce in", function()
    local dot = gpu.reduction {
      inputs = "T x, T y",
      outputs = "float32 z",
      map = "(double)x * y",
      reduce = "a + b",
      identity = 0,
      reduce_type = "float64",
    }
    local x, y = gpu.arange(1000, "int32"), gpu.ones({ 3, 1 }, "int32") * 2
    local z = dot(x, y, 2)
    assert.are.equal("float32", z.dtype)
    assert.are.same({ 999000, 999000, 999000 }, z:table())
  end)

  it("needs no identity for elements there are", function()
    local largest = gpu.reduction { inputs = "T x", outputs = "T y", map = "x", reduce = "a > b ? a : b" }
    local x = gpu.array({ { -3, -1 }, { -7, -9 } }, "int32")
    assert.are.equal(-1, largest(x):item())
    assert.are.same({ -1, -7 }, largest(x, 2):table())
    assert.are.equal(-1, largest(gpu.arange(100000, "int64") * -1 - 1):item())
    fails("zero-size array to reduction operation reduction which has no identity", function() return largest(gpu.zeros(0)) end)
  end)

  it("knows positions and how many elements there are", function()
    local mean = gpu.reduction {
      inputs = "T x",
      outputs = "T y",
      map = "x + i * 0",
      reduce = "a + b",
      post = "y = a / (_type_reduce)(_in_ind.size() / _out_ind.size())",
      identity = "0",
    }
    assert.are.same({ 1, 4 }, mean(gpu.arange(6, "float32"):reshape(2, 3), 2):table())
    local first = gpu.reduction {
      inputs = "bool x", outputs = "int64 y", map = "x ? i : n", reduce = "min(a, b)", identity = "9223372036854775807",
    }
    assert.are.equal(41, first((gpu.arange(1000) % 100):gt(40)):item())
  end)

  it("accumulates 16-bit floating types in float", function()
    local sum = gpu.reduction { inputs = "T x", outputs = "T y", map = "x", reduce = "a + b", identity = "0" }
    local y = sum(gpu.ones(4096, "float16"))
    assert.are.equal("float16", y.dtype)
    assert.are.equal(4096, y:item())
  end)

  it("names what does not fit", function()
    fails("[l2norm] expected 1 arguments (T x), got 0", function() return norm() end)
    fails("axis 3 is out of range", function() return norm(gpu.ones(2, 2), 3) end)
    fails("[reduction] reduce: expected an expression of a and b, got nothing",
      function() gpu.reduction { inputs = "T x", outputs = "T y", map = "x" } end)
    fails('[sumsq] reduce: expected an expression of a and b, as in "a + b", got "+"',
      function() gpu.reduction { name = "sumsq", inputs = "T x", outputs = "T y", map = "x * x", reduce = "+" } end)
    fails("outputs: expected one", function() gpu.reduction { inputs = "T x", outputs = "T y, T z", map = "x", reduce = "a + b" } end)
    fails("expected the options", function() gpu.reduction { maps = "x" } end)
  end)
end)

describe("complex elements in scripts' code", function()
  local z = gpu.complex

  it("have parts, arithmetic with numbers, and C++'s functions", function()
    for _, dtype in ipairs {"complex64", "complex128"} do
      local x = gpu.array({z(3, 4), z(-1, 0.5)}, dtype)
      local function check(expected, body, outputs)
        local y = gpu.elementwise {inputs = "T z", outputs = outputs or "T y", body = "y = " .. body .. ";"}(x)
        if not outputs then expected = gpu.array(expected, dtype) end
        assert(gpu.allclose(y, outputs and gpu.array(expected) or expected, 1e-6), body .. ": " .. tostring(y))
      end
      check({z(6, 8), z(-2, 1)}, "z * 2")
      check({z(6, 8), z(-2, 1)}, "2 * z")
      check({z(1.5, 2), z(-0.5, 0.25)}, "z / 2.0")
      check({z(3, -4), z(-1, -0.5)}, "conj(z)")
      check({z(4, 4), z(0, 0.5)}, "1u + z")
      check({z(2.5, 4), z(-1.5, 0.5)}, "z - 0.5f")
      check({z(1, 2), z(1, 2)}, (dtype == "complex64" and "make_float2" or "make_double2") .. "(1, 2)")
      check({z(4, 3), z(0.5, -1)}, "T(z.y, z.x)")
      check({z(-7, 24), z(0.75, -1)}, "pow(z, 2)")
      check({z(3, 0), z(-1, 0)}, "z.real()")
      check({7, -0.5}, "z.real() + z.imag()", "float32 y")
      check({12, -0.5}, "real(z) * imag(z)", "float32 y")
      check({5, 1.25 ^ 0.5}, "abs(z)", "float32 y")
      check({25, 1.25}, "norm(z)", "float32 y")
      check({math.atan2(4, 3), math.atan2(0.5, -1)}, "arg(z)", "float32 y")
      local y = gpu.elementwise {inputs = "T z", outputs = "T y, bool e", body = "y = z; y *= 2; y += z; y -= 1; y /= T(0, 1); e = z == 3 || z != z;"}
      local product = y(x)
      assert.is_true(gpu.allclose(product, gpu.array({z(12, -8), z(1.5, 4)}, dtype)))
    end
  end)

  it("are reduced and scanned", function()
    local x = gpu.array {z(3, 4), z(-1, 0.5), z(0, -2)}
    local energy = gpu.reduction {inputs = "T z", outputs = "float32 y", map = "norm(z)", reduce = "a + b", identity = "0"}
    near(30.25, energy(x):item())
    local double = gpu.reduction {inputs = "T z", outputs = "T y", map = "z * 2", reduce = "a + b", post = "y = conj(a) / 2", identity = "0"}
    local sum = double(x):item()
    near({2, -2.5}, {sum.re, sum.im})
    local product = gpu.scan_kernel {input = "T z", expr = "T(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x) * 1"}
    assert.is_true(gpu.allclose(product(x), x:cumprod()))
    local neutral = gpu.scan_kernel {input = "T z", expr = "a * b * 1.0", neutral = 1}
    assert.is_true(gpu.allclose(neutral(x), x:cumprod()))
  end)

  it("whose code does not compile show the script's lines alone", function()
    local text = fails("error:", function()
      return gpu.elementwise {inputs = "T z", outputs = "T y", body = "y = z * \"text\";"}(gpu.array {z(1, 2)})[1]
    end)
    assert.is_nil(text:find "gpulua_user_", text)
    assert.is_nil(text:find "gpulua:%d+: note", text)
  end)
end)
