-- gpu.default_dtype: the dtype of real numbers where nothing says which.
local gpu = require "gpu"
local checks = require "derivative_checks"
local fails = require("support").fails

--- Calls f with float64 as the default.
local function in_double(f)
  gpu.default_dtype "float64"
  local results = {pcall(f)}
  gpu.default_dtype "float32"
  assert(unpack(results))
  return unpack(results, 2)
end

--- The dtypes of the floating and complex arrays among values and in tables of them, added to `found`.
local function dtypes(found, ...)
  for k = 1, select("#", ...) do
    local value = select(k, ...)
    if type(value) == "table" then
      for _, item in pairs(value) do dtypes(found, item) end
    elseif type(value) == "userdata" then
      local ok, dtype = pcall(function() return value.dtype end)
      if ok and dtype and (dtype:find "float" or dtype:find "complex") then found[#found + 1] = dtype end
    end
  end
  return found
end

describe("the default dtype", function()
  it("is float32, and float64 after gpu.default_dtype", function()
    assert.are.equal("float32", gpu.default_dtype())
    assert.are.equal("float64", gpu.default_dtype "float64")
    assert.are.equal("float64", gpu.default_dtype())
    assert.are.equal("float32", gpu.default_dtype "float32")
    fails('[default_dtype] expected "float32" or "float64", got "float16"', function() gpu.default_dtype "float16" end)
    fails('[default_dtype] expected "float32" or "float64", got "int32"', function() gpu.default_dtype "int32" end)
    fails("[default_dtype] expected ", function() gpu.default_dtype(64) end)
    assert.are.equal("float32", gpu.default_dtype())
  end)

  it("is that of new arrays", function()
    local made = {
      function() return gpu.array {1, 2, 3} end, function() return gpu.array(0.5) end, function() return gpu.zeros(2) end,
      function() return gpu.ones {2} end, function() return gpu.empty(2) end, function() return gpu.full({2}, 0.5) end,
      function() return gpu.eye(2) end, function() return gpu.linspace(0, 1, 5) end, function() return gpu.logspace(0, 1, 5) end,
      function() return gpu.geomspace(1, 2, 5) end, function() return gpu.arange(0, 1, 0.25) end, function() return gpu.range(0, 1, 0.25) end,
      function() return gpu.rand(3) end, function() return gpu.randn(3) end, function() return gpu.random.normal({3}) end,
      function() return gpu.random.gamma({3}, 2) end, function() return gpu.random.sobol(4, 2) end, function() return gpu.hann(4) end,
      function() return gpu.fft.fftfreq(4) end, function() return gpu.signal.get_window("hann", 4) end,
      function() return gpu.sparse.eye(3):todense() end, function() return gpu.sparse.random(3, 3, 0.5):todense() end,
      function() return gpu.sparse.csr({{1, 0}, {0, 2}}):todense() end, function() return gpu.tri(3) end,
      function() return gpu.linalg.hilbert(3) end, function() return gpu.random.generator "philox":uniform(3) end,
    }
    for number, make in ipairs(made) do
      assert.are.equal("float32", make().dtype, "function " .. number)
      assert.are.equal("float64", in_double(make).dtype, "function " .. number)
    end
    assert.are.equal("complex64", gpu.array({gpu.complex(1, 2)}).dtype)
    assert.are.equal("complex128", in_double(function() return gpu.array {gpu.complex(1, 2)} end).dtype)
  end)

  it("takes the integers of a table that float32 would round", function()
    fails("expected integers that float32", function() gpu.array {20230101} end)
    assert.are.equal(20230101, in_double(function() return gpu.array {20230101} end)[1])
  end)

  it("is that of integers with fractions, by NumPy's rules", function()
    in_double(function()
      local i8, u8, i64, mask = gpu.array({1, 2}, "int8"), gpu.array({1, 2}, "uint8"), gpu.arange(2), gpu.arange(2):gt(0)
      for _, x in ipairs {i8, u8, i64, mask} do
        for _, y in ipairs {x * 0.5, x / 2, 1 / (x + 1), gpu.sqrt(x), gpu.sin(x), x:mean(), x:var(), gpu.where(mask, x, 0.5), x ^ 0.5,
          gpu.searchsorted(i64, x:astype "int64") * 0.5} do
          assert.are.equal("float64", y.dtype)
        end
      end
      assert.are.equal("complex128", (i64 * gpu.complex(0, 1)).dtype)
      -- Arrays keep what they are.
      local single = gpu.ones(2, "float32")
      for _, y in ipairs {single * 0.5, gpu.sqrt(single), single / 3, single:mean(), single + i8} do assert.are.equal("float32", y.dtype) end
      assert.are.equal("complex64", (single * gpu.complex(0, 1)).dtype)
      assert.are.equal("float16", (gpu.ones(2, "float16") * 0.5).dtype)
      assert.are.equal("int64", (i64 * 2).dtype)
    end)
    assert.are.equal("float32", (gpu.arange(2) * 0.5).dtype)
  end)

  it("is that of functions for the device", function()
    local half = gpu.vectorize(function(x) return x * 0.5 end)
    local third = gpu.vectorize(function(x)
      local y = 1 / 3
      return x > 0 and y or 0
    end)
    local x = gpu.range(1, 3)
    for _ = 1, 2 do -- each call finds its own translation
      assert.are.equal("float32", half(x).dtype)
      assert.are.equal("float32", third(x).dtype)
      in_double(function()
        assert.are.equal("float64", half(x).dtype)
        assert.are.equal("float64", third(x).dtype)
        assert.are.equal(1 / 3, third(x)[1])
        assert.are.equal("float32", half(x:astype "float32").dtype)
      end)
    end
    local written = gpu.zeros(2, "float64")
    local kernel = gpu.jit(function(y, n) y[1] = n / 3 end)
    in_double(function() kernel:over(1)(written, 1) end)
    assert.are.equal(1 / 3, written[1])
    local double = gpu.elementwise {inputs = "T x", outputs = "T y", body = "y = 2 * x"}
    assert.are.equal("float32", double(0.5).dtype)
    assert.are.equal("float64", in_double(function() return double(0.5) end).dtype)
  end)

  it("is seen by fused functions and gradients", function()
    local f = gpu.fuse(function(x) return x * 0.5 + gpu.full({2}, 0.1) end)
    local x = gpu.arange(2)
    for _ = 1, 2 do
      assert.are.equal("float32", f(x).dtype)
      assert.are.equal(0.1, in_double(function() return f(x) end)[1])
    end
    local slope = in_double(function() return gpu.grad(function(v) return gpu.exp(v) * gpu.array {1, 2} end) end)
    assert.are.equal("float64", in_double(function() return gpu.grad(function(v) return (gpu.exp(v) * gpu.array {1, 2}):sum() end)(0.3) end).dtype)
    assert.is_truthy(slope)
  end)

  it("leaves no function that makes float32 of integers", function()
    local ran = 0
    checks.each(".", ".", function(sample)
      gpu.random.seed(3)
      local x = gpu.random.integers(sample.shape, -9, 9)
      local values = {pcall(sample.f, x)}
      if not values[1] then return end -- it takes no integers
      local others = {pcall(sample.f, x:astype "float64")}
      local expected, found = dtypes({}, unpack(others, 2)), nil
      in_double(function() found = dtypes({}, sample.f(x)) end)
      ran = ran + 1
      for k, dtype in ipairs(found) do
        assert(dtype == "float64" or dtype == "complex128" or dtype == expected[k], ("got %s of integers"):format(dtype))
      end
    end)
    assert(ran > 400, ran .. " functions took integers")
  end)
end)
