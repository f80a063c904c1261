-- gpu.random.generator. These need cuRAND, on the CPU device too; without it there is nothing to test.
local gpu = require "gpu"
local support = require "support"

local ok, message = pcall(gpu.random.generator, "xorwow")
local missing = not ok and message:find("install", 1, true) and message

describe("generators", function()
  if missing then
    pending(missing)
    return
  end

  it("give the same numbers for the same seed, whatever the pieces", function()
    local a = gpu.random.generator("xorwow", { seed = 7 })
    local b = gpu.random.generator("xorwow", { seed = 7 })
    local c = gpu.random.generator("xorwow", { seed = 8 })
    local x = a:uniform(1000):table()
    assert.are.same(x, b:uniform(1000):table())
    assert.are_not.same(x, c:uniform(1000):table())
    assert.are_not.same(x, a:uniform(1000):table())
  end)

  it("start from seed 0", function()
    assert.are.same(gpu.random.generator("mrg32k3a", { seed = 0 }):uniform(10):table(),
      gpu.random.generator("mrg32k3a"):uniform(10):table())
  end)

  it("give uniform numbers in (0, 1]", function()
    for _, dtype in ipairs { "float32", "float64" } do
      local x = gpu.random.generator("philox4_32_10", { seed = 1 }):uniform(100000, { dtype = dtype })
      assert.are.equal(dtype, x.dtype)
      local sum, squares = 0, 0
      for _, v in ipairs(x:table()) do
        assert(v > 0 and v <= 1)
        sum, squares = sum + v, squares + v * v
      end
      local mean = sum / 100000
      support.near(0.5, mean, 0.005)
      support.near(1 / 12, squares / 100000 - mean * mean, 0.005)
    end
  end)

  it("give normal numbers with the mean and deviation asked for", function()
    local x = gpu.random.generator("xorwow", { seed = 3 }):normal({ 100, 1001 }, 5, 2)
    assert.are.same({ 100, 1001 }, x.shape)
    local n, sum, squares, cubes = 100100, 0, 0, 0
    for _, row in ipairs(x:table()) do
      for _, v in ipairs(row) do
        local z = (v - 5) / 2
        sum, squares, cubes = sum + z, squares + z * z, cubes + z * z * z
      end
    end
    support.near(0, sum / n, 0.02)
    support.near(1, squares / n, 0.02)
    support.near(0, cubes / n, 0.05)
  end)

  it("give lognormal numbers with the mean and deviation asked for", function()
    for _, dtype in ipairs { "float32", "float64" } do
      local g = gpu.random.generator("philox4_32_10", { seed = 3 })
      local x = g:lognormal({ 100, 1001 }, 0.5, 0.25, dtype)
      assert.are.same({ dtype, 100, 1001 }, { x.dtype, x.shape[1], x.shape[2] })
      assert.is_true(x:min():item() > 0)
      local logarithms = x:log():eval()
      support.near(0.5, logarithms:mean():item(), 0.004)
      support.near(0.25, logarithms:std():item(), 0.004)
    end
  end)

  it("give Poisson numbers with the mean asked for", function()
    for _, mean in ipairs { 0.5, 12, 900 } do
      local x = gpu.random.generator("xorwow", { seed = 4 }):poisson({ 100, 1001 }, mean)
      assert.are.equal("uint32", x.dtype)
      support.near(mean, x:mean():item(), 0.01)
      support.near(mean, x:var():item(), 0.02)
    end
    local g = gpu.random.generator("xorwow", { seed = 4 })
    assert.are.same({ 3 }, g:poisson(3, 2.5).shape)
    support.near(math.exp(-0.5), gpu.random.generator("mrg32k3a"):poisson(100000, 0.5):eq(0):mean():item(), 0.006)
  end)

  it("take shapes and dtypes in all their forms", function()
    local g = gpu.random.generator "xorwow"
    assert.are.same({ 2, 3 }, g:uniform(2, 3).shape)
    assert.are.same({ 2, 3 }, g:uniform({ 2, 3 }, "float64").shape)
    assert.are.equal("float64", g:normal(7, 0, 1, "f64").dtype)
    assert.are.same({ 7 }, g:normal(7).shape)
    assert.are.equal(0, g:uniform(0).size)
    assert.are.equal(0, g:normal({ 3, 0 }).size)
  end)

  it("check what they are given", function()
    local g = gpu.random.generator "xorwow"
    local listed = support.fails("xorwow", gpu.random.generator, "dice")
    assert.is_truthy(listed:find("philox4_32_10", 1, true))
    support.fails("[uniform] expected float32 or float64, got int32", g.uniform, g, 3, "int32")
    support.fails("[normal] expected a standard deviation that is not negative, got -1", g.normal, g, { 3 }, 0, -1)
    support.fails("[normal] expected a finite mean, got NaN", g.normal, g, { 3 }, 0 / 0)
    support.fails("[lognormal] expected a standard deviation that is not negative, got -1", g.lognormal, g, { 3 }, 0, -1)
    support.fails("[poisson] expected a mean above 0, got 0", g.poisson, g, 3, 0)
    support.fails("[poisson] expected a mean above 0, got nothing", g.poisson, g, 3)
    support.fails("[random.generator] expected a seed that is not negative", gpu.random.generator, "xorwow", { seed = -1 })
    support.fails("[random.generator] expected the name of an algorithm", gpu.random.generator)
  end)

  it("of Sobol sequences give their points by dimensions, from an offset on", function()
    local sequence = { { 0, 0, 0 }, { 0.5, 0.5, 0.5 }, { 0.75, 0.25, 0.25 }, { 0.25, 0.75, 0.75 }, { 0.375, 0.375, 0.625 } }
    for _, name in ipairs { "sobol32", "sobol64" } do
      local g = gpu.random.generator(name, { dimensions = 3 })
      for _, dtype in ipairs { "float32", "float64" } do
        g:set_state { offset = 0 }
        local points = gpu.concat { g:uniform(2, 3, { dtype = dtype }), g:uniform({ 3, 3 }, dtype) }
        assert.are.equal(dtype, points.dtype)
        support.near(sequence, points:table(), 1e-9)
        assert.are.equal(5, g:state().offset)
      end
      g:set_state { offset = 1 }
      g:skip(2)
      support.near({ sequence[4], sequence[5] }, g:uniform(2, 3):table(), 1e-9)
      support.near({ sequence[3] }, gpu.random.generator(name, { dimensions = 3, offset = 2 }):uniform(1, 3):table(), 1e-9)
      support.near({ 0, 0.5, 0.75 }, gpu.random.generator(name):uniform(3):table(), 1e-9)
      assert.are.equal("(2, 2)", tostring(gpu.random.generator(name):uniform(2, 2).shape))
      support.near({ { { 0, 0 }, { 0.5, 0.5 } }, { { 0.75, 0.25 }, { 0.25, 0.75 } } },
        gpu.random.generator(name, { dimensions = 2 }):uniform(2, 2, 2):table(), 1e-9)
    end
    for _, name in ipairs { "scrambled_sobol32", "scrambled_sobol64" } do
      local g = gpu.random.generator(name, { dimensions = 5 })
      local x = g:uniform(1024, 5)
      for d = 1, 5 do assert.are.equal(1024, gpu.floor(x(":", d) * 1024):clip(0, 1023):unique().size) end
      g:set_state { offset = 0 }
      support.near(gpu.normcdfinv(x):table(), g:normal({ 1024, 5 }):table(), 1e-3)
      g:set_state { offset = 0 }
      support.near(gpu.exp(gpu.normcdfinv(x) * 2 + 1):table(), g:lognormal({ 1024, 5 }, 1, 2):table(), 2e-3)
      assert.are.equal("(3, 5)", tostring(g:poisson({ 3, 5 }, 4).shape))
    end
  end)

  it("of Sobol sequences advance in each launch of a graph", function()
    local g = gpu.random.generator("sobol32", { dimensions = 2, offset = 10 })
    local graph, x = gpu.graph(function() return g:uniform(3, 2) end)
    local first = g:state().offset
    graph:launch()
    local expected = gpu.random.generator("sobol32", { dimensions = 2, offset = first }):uniform(3, 2)
    assert.are.same(expected:table(), x:table())
    assert.are.equal(first + 3, g:state().offset)
    support.fails("[skip] expected a call outside of a function that gpu.fuse or gpu.graph records", gpu.graph, function()
      g:skip(1)
      return gpu.zeros(1)
    end)
  end)

  it("of Sobol sequences check what they are asked for", function()
    local generator = gpu.random.generator
    support.fails("[uniform] expected a shape whose last size is the 3 dimensions of the sequence, got (6,)", function()
      generator("sobol32", { dimensions = 3 }):uniform(6)
    end)
    support.fails("[random.generator] expected no seed for sobol32", generator, "sobol32", { seed = 1 })
    support.fails("[random.generator] expected from 1 to 20000 dimensions, got 20001", generator, "sobol64", { dimensions = 20001 })
    support.fails("[random.generator] expected from 1 to 20000 dimensions, got 0", generator, "sobol64", { dimensions = 0 })
    support.fails("[random.generator] expected an offset of 0 or more, got -1", generator, "sobol64", { offset = -1 })
    support.fails("[random.generator] expected dimensions and offset of a Sobol sequence, got them for xorwow", generator, "xorwow", { offset = 1 })
    support.fails("[random.generator] expected dimensions and offset of a Sobol sequence, got them for philox", generator, "philox", { dimensions = 2 })
    support.fails('got "sobol33"; did you mean "sobol32"?', generator, "sobol33")
    support.fails("[skip] expected a generator of a Sobol sequence, got xorwow", function() generator("xorwow"):skip(1) end)
    support.fails("[skip] expected a number of points of 0 or more, got -1", function() generator("sobol32"):skip(-1) end)
    support.fails("[set_state] expected the option offset", function() generator("sobol32"):set_state { seed = 1 } end)
  end)
end)
