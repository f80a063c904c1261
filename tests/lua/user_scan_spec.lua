-- gpu.scan_kernel: scans from source.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

--- The running value of the function, with `before` ahead of the first element, for each row of a row-major array of `rows` rows.
local function reference(values, fn, before)
  local results = {}
  for row, items in ipairs(values) do
    results[row] = {}
    local total = before
    for i, item in ipairs(items) do
      local exclusive = total
      if total == nil then total = item else total = fn(total, item) end
      results[row][i] = before == nil and total or exclusive
    end
  end
  return results
end

local greatest = gpu.scan_kernel { name = "running_max", input = "T x", expr = "a > b ? a : b" }

-- x -> m * x + c modulo 251, as 256 * m + c: composition of such functions does not commute.
local compose = [[
  __device__ int then(int a, int b) {
    const int m = (a / 256) * (b / 256) % 251, c = ((b / 256) * (a % 256) + b % 256) % 251;
    return 256 * m + c;
  }
]]
local function then_(a, b)
  local ma, ca, mb, cb = math.floor(a / 256), a % 256, math.floor(b / 256), b % 256
  return 256 * (ma * mb % 251) + (mb * ca + cb) % 251
end
local affine = gpu.scan_kernel { input = "int32 f", expr = "then(a, b)", preamble = compose }
local affine_before = gpu.scan_kernel { input = "int32 f", expr = "then(a, b)", neutral = 256, exclusive = true, preamble = compose }

--- Pseudo-random functions x -> m * x + c.
local function functions(rows, size)
  local i = gpu.arange(rows * size, "int64")
  return ((i * 7919 % 250 + 1) * 256 + i * 104729 % 251):astype "int32":reshape(rows, size):eval()
end

describe("gpu.scan_kernel", function()
  it("is a function of arrays", function()
    assert.are.same({ 3, 3, 4, 4, 9 }, greatest(gpu.array({ 3, 1, 4, 1, 9 }, "int32")):table())
    assert.are.equal("scan running_max(T x) -> (T x)", tostring(greatest))
    assert.are.equal("exclusive scan scan_kernel(int32 f) -> (int32 f)", tostring(affine_before))
  end)

  it("goes along an axis, or through all elements in row-major order", function()
    local x = gpu.array({ { 3, 1, 4 }, { 1, 5, 2 } }, "int32")
    assert.are.same({ 3, 3, 4, 4, 5, 5 }, greatest(x):table())
    assert.are.same({ { 3, 1, 4 }, { 3, 5, 4 } }, greatest(x, 1):table())
    assert.are.same({ { 3, 3, 4 }, { 1, 5, 5 } }, greatest(x, -1):table())
    assert.are.same({ { 4, 4, 4 }, { 2, 5, 5 } }, greatest(x(":", "::-1"), { axis = 2 }):table())
    assert.are.same({ { 3, 3 }, { 1, 5 }, { 4, 4 } }, greatest(x.T, 2):table())
    assert.are.same({ { 6, 6, 8 }, { 2, 10, 10 } }, greatest(x * 2, 2):table())
  end)

  it("keeps the order of elements, for rows and columns of any length", function()
    for _, n in ipairs { 1, 31, 33, 513, 4097, 70001, 300001 } do
      for _, rows in ipairs(n < 1000 and { 1, 40 } or { 1, 2 }) do
        local x = functions(rows, n)
        local values = x:table()
        local what = rows .. " rows of " .. n
        assert(gpu.equal(gpu.array(reference(values, then_), "int32"), affine(x, 2)), what)
        assert(gpu.equal(gpu.array(reference(values, then_, 256), "int32"), affine_before(x, 2)), "exclusive, " .. what)
        if n < 1000 then
          assert(gpu.equal(gpu.array(reference(values, then_), "int32").T, affine(x.T:copy(), 1)), "columns, " .. what)
          assert(gpu.equal(gpu.array(reference(values, then_, 256), "int32").T, affine_before(x.T:copy(), 1)), "columns, exclusive, " .. what)
        end
      end
    end
  end)

  it("takes every dtype, with a neutral value and without", function()
    local sum = gpu.scan_kernel { input = "T x", expr = "a + b", neutral = "0" }
    local plain = gpu.scan_kernel { input = "T x", expr = "a + b" }
    local before = gpu.scan_kernel { input = "T x", expr = "a + b", neutral = 0, exclusive = true }
    for _, dtype in ipairs { "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
      "float64", "complex64", "complex128" } do
      local x = gpu.array({ { 1, 2, 3, 4 }, { 5, 6, 7, 8 } }):astype(dtype)
      for _, scan in ipairs { sum, plain } do
        local y = scan(x, 2)
        assert.are.equal(dtype, y.dtype)
        assert.are.same({ { 1, 3, 6, 10 }, { 5, 11, 18, 26 } }, y:real():table(), dtype)
        if dtype:find "64" then assert.are.same({ { 1, 2, 3, 4 }, { 6, 8, 10, 12 } }, scan(x, 1):real():table(), dtype) end
      end
      assert.are.same({ { 0, 1, 3, 6 }, { 0, 5, 11, 18 } }, before(x, 2):real():table(), dtype)
    end
    local any = gpu.scan_kernel { input = "bool x", expr = "a || b" }
    assert.are.same({ false, true, true }, any(gpu.array { false, true, false }):table())
    local product = gpu.scan_kernel { input = "complex64 z", expr = "a * b" }
    local i = gpu.complex(0, 1)
    assert.are.same({ 0, -1, 0, 1 }, product(gpu.array { i, i, i, i }):real():table())
    assert.are.same({ 1, 0, -1, 0 }, product(gpu.array { i, i, i, i }):imag():table())
  end)

  it("combines in the output's type", function()
    local wide = gpu.scan_kernel { input = "int8 x", expr = "a + b", neutral = "0", output = "int64 y" }
    local y = wide(gpu.full({ 1000 }, 100, "int8"))
    assert.are.equal("int64", y.dtype)
    assert.are.equal(100000, y[1000])
    -- In float, rounded when it is stored.
    local sum = gpu.scan_kernel { input = "T x", expr = "a + b" }
    assert.are.equal(4096, sum(gpu.ones(4096, "float16"))[4096])
    local letter = gpu.scan_kernel { input = "T x", output = "U y", expr = "a + b" }
    local out = gpu.zeros(3, "float64")
    assert.are.same({ 1, 2, 3 }, letter(gpu.ones(3, "int8"), { out = out }):table())
    assert.are.same({ 1, 2, 3 }, out:table())
    fails("U is not the type of an input; {out = array} settles it", function() letter(gpu.ones(3, "int8")) end)
  end)

  it("has a preamble, and type variables", function()
    local f = gpu.scan_kernel {
      input = "T x",
      expr = "later(a, b) // the last one that is not 0",
      preamble = "template <class N> __device__ N later(N a, N b) { return b != N(0) ? b : a; }",
      neutral = "T(0)",
    }
    assert.are.same({ 0, 7, 7, 3, 3 }, f(gpu.array { 0, 7, 0, 3, 0 }):table())
  end)

  it("of nothing is empty, and of one number itself", function()
    assert.are.same({ 0 }, greatest(gpu.zeros(0)).shape)
    assert.are.same({ 0, 3 }, greatest(gpu.zeros(0, 3), 1).shape)
    assert.are.same({ 7 }, greatest(gpu.array(7)):table())
  end)

  it("gives the same bits each time, in place as well", function()
    local sum = gpu.scan_kernel { input = "T x", expr = "a + b", neutral = "0" }
    local x = (gpu.arange(2 ^ 18 + 3) * 0.7 + 0.1):sqrt():eval()
    local first = sum(x)
    for _ = 1, 3 do assert(gpu.equal(first, sum(x))) end
    sum(x, { out = x })
    assert(gpu.equal(first, x))
  end)

  it("names what does not fit", function()
    local x = gpu.ones(2, 3)
    fails("[scan_kernel] expected a table with input and expr, got 1", function() gpu.scan_kernel(1) end)
    fails("[scan_kernel] input: expected parameters as in", function() gpu.scan_kernel { expr = "a + b" } end)
    fails("[s] expr: expected an expression of a and b, got nothing", function() gpu.scan_kernel { name = "s", input = "T x" } end)
    fails('[scan_kernel] expr: expected an expression of a and b, as in "a + b", got "add"',
      function() gpu.scan_kernel { input = "T x", expr = "add" } end)
    fails("[scan_kernel] input: expected one parameter that is not raw, got T x, T y",
      function() gpu.scan_kernel { input = "T x, T y", expr = "a" } end)
    fails("[scan_kernel] input: expected one parameter that is not raw, got raw T x",
      function() gpu.scan_kernel { input = "raw T x", expr = "a" } end)
    fails("[scan_kernel] neutral: expected what an exclusive scan begins with, got nothing",
      function() gpu.scan_kernel { input = "T x", expr = "a", exclusive = true } end)
    fails("[scan_kernel] expected exclusive = true or false, got 1",
      function() gpu.scan_kernel { input = "T x", expr = "a", exclusive = 1 } end)
    fails("[scan_kernel] expr: expected a string, got 5", function() gpu.scan_kernel { input = "T x", expr = 5 } end)
    fails("[scan_kernel] expected the options", function() gpu.scan_kernel { inputs = "T x", expr = "a" } end)
    fails("[running_max] expected an array for x, got 3", function() greatest(3) end)
    fails("[running_max] axis 3 is out of range for an array of 2 dimensions", function() greatest(x, 3) end)
    fails("[running_max] expected the options axis and out", function() greatest(x, { exclusive = true }) end)
    fails("result's shape (6,), got (2,3)", function() greatest(x, { out = gpu.zeros(2, 3) }) end)
    fails("f: expected int32, got an array float32[2x3]",
      function() affine(x) end)
  end)

  it("points compile errors into the script", function()
    local path = os.tmpname()
    local output, status = support.run([=[
local gpu = require "gpu"
local f = gpu.scan_kernel {
  input = "float32 x",
  expr = [[
    a +
    undeclared_name
  ]],
}
print(f(gpu.ones(3)))
]=], "", path)
    assert.are.equal(1, status)
    assert.is_truthy(output:find("undeclared_name", 1, true), output)
    assert.is_truthy(output:find(path:gsub("%p", "%%%0") .. "[:(]6[:),]"), "the expression's line in: " .. output)
  end)
end)
