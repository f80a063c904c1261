-- gpu.custom and gpu.checkpoint: derivatives as a script writes them, and values that are computed again.
local gpu = require "gpu"
local fails = require("support").fails

local function numbers(n) return gpu.linspace(0.3, 1.7, n, "float64") end
local function close(a, b, rtol) assert.is_true(gpu.allclose(a, b, {rtol = rtol or 1e-12})) end

describe("gpu.custom", function()
  it("takes a rule of tangents, from which the other way follows", function()
    local product = gpu.custom(function(x, y) return x:table() and gpu.sin(x) * y end, {
      jvp = function(_, x, y, dx, dy) return gpu.cos(x) * y * dx + gpu.sin(x) * dy end,
    })
    local x, y = numbers(5), numbers(5) + 1
    local gx, gy = gpu.grad(function(a, b) return (product(a, b) ^ 2):sum() end, {1, 2})(x, y)
    close(gx, 2 * gpu.sin(x) * y * gpu.cos(x) * y)
    close(gy, 2 * gpu.sin(x) ^ 2 * y)
    local _, dy = gpu.jvp(function(a) return product(a, y) end, {x}, {numbers(5)})
    close(dy, gpu.cos(x) * y * numbers(5))
    close(gpu.hessian(function(a) return product(a, y):sum() end)(x), gpu.diag(-gpu.sin(x) * y))
  end)

  it("takes tangents of several results", function()
    local both = gpu.custom(function(x) return x:sin(), x:cos() end, {
      jvp = function(y, x, dx) return y[2] * dx, -(y[1] * dx) end,
    })
    local x = numbers(4)
    close(gpu.grad(function(a)
      local s, c = both(a)
      return (3 * s + 5 * c):sum()
    end)(x), 3 * gpu.cos(x) - 5 * gpu.sin(x))
    close(gpu.grad(function(a) return (both(a)):sum() end)(x), gpu.cos(x))
  end)

  it("finds arrays in tables", function()
    local f = gpu.custom(function(p, scale) return p.layers[1] * p.layers[2].w * scale end, {
      vjp = function(g, _, a, w) return 10 * g * w, 100 * g * a end,
    })
    local a, w = numbers(3), numbers(3) + 2
    local g = gpu.grad(function(p) return f(p, 3):sum() end) {layers = {a, {w = w}}}
    close(g.layers[1], 10 * w)
    close(g.layers[2].w, 100 * a)
  end)

  it("looks at what a rule gives", function()
    local x = numbers(3)
    local function refused(message, options, which)
      local f = gpu.custom(function(a, b) return a * b end, options)
      fails(message, gpu.grad(function(a, b) return f(a, b):sum() end, which or 1), x, x + 1)
    end
    refused("[custom] expected 2 results of vjp, a derivative like each, got 1", {vjp = function(g, _, _, b) return g * b end}, 2)
    refused("[custom] expected vjp that gives, as result 1, a derivative like an array float64[3], got 3", {vjp = function() return 3, nil end})
    refused("got an array float64[]", {vjp = function(g) return g:sum(), nil end})
    refused("got an array complex128[3]", {vjp = function(g) return g * gpu.complex(0, 1), nil end})
    refused("expected jvp that gives, as result 1, a tangent like an array float64[3], got an array float64[]",
      {jvp = function(_, _, _, da) return da:sum() end})
  end)

  it("wants one rule", function()
    local function f(x) return x end
    fails("[custom] expected vjp = a function (g, y, x, ...) that gives a derivative for each array, or jvp = a function (y, x, ..., dx, ...), got nil", gpu.custom, f)
    fails("[custom] expected vjp or jvp, got both", gpu.custom, f, {vjp = f, jvp = f})
    fails("[custom] expected a function of arrays, got 7", gpu.custom, 7, {vjp = f})
  end)
end)

describe("gpu.checkpoint", function()
  local function block(x, p)
    for _ = 1, 3 do x = gpu.sin(x * p.w + p.b) * x end
    return x, x * 2
  end

  it("gives what the function gives, to the second derivative", function()
    local x, p = numbers(6), {w = numbers(6) - 1, b = numbers(6)}
    local function whole(kept)
      return function(x, p)
        local y, z = kept(x, p)
        y = kept(y + z, p)
        return (y * y):sum()
      end
    end
    local plain, again = whole(block), whole(gpu.checkpoint(block))
    local y, g, gp = gpu.value_and_grad(plain, {1, 2})(x, p)
    local y2, g2, gp2 = gpu.value_and_grad(again, {1, 2})(x, p)
    close(y2, y)
    close(g2, g)
    close(gp2.w, gp.w)
    close(gp2.b, gp.b)
    close(gpu.hvp(function(z) return again(z, p) end, x, numbers(6)), gpu.hvp(function(z) return plain(z, p) end, x, numbers(6)), 1e-10)
    close((again(x, p)), (plain(x, p)))
  end)

  it("draws the same numbers again, and leaves the stream where it is", function()
    local function noisy(x) return x * gpu.rand(x.shape, {dtype = "float64"}) end
    local x = numbers(8)
    gpu.random.seed(5)
    local g = gpu.grad(function(z) return (noisy(noisy(z))):sum() end)(x):copy()
    local after = gpu.random.state()
    gpu.random.seed(5)
    local kept = gpu.checkpoint(noisy)
    local g2 = gpu.grad(function(z) return (kept(kept(z))):sum() end)(x):copy()
    close(g2, g)
    assert.are.same(after, gpu.random.state())
  end)

  it("draws from the default stream alone", function()
    local g = gpu.random.generator "philox"
    local x = numbers(3)
    for _, draw in ipairs {
      function() return g:uniform({3}, 0, 1, {dtype = "float64"}) end, function() gpu.random.seed(3) return 1 end,
    } do
      fails("expected numbers of the default stream in a function of gpu.checkpoint", gpu.grad(function(z)
        return gpu.checkpoint(function(y) return y * draw() end)(z):sum()
      end), x)
    end
    g:uniform({3}, 0, 1)
    gpu.random.seed(3)
  end)

  it("can be recorded", function()
    local x, kept = numbers(4), gpu.checkpoint(block)
    local of = gpu.grad(function(z) return (kept(z, {w = 2, b = 1})):sum() end)
    local g
    local graph = gpu.graph(function() g = of(x):eval() return g end)
    graph:launch()
    close(g, of(x))
  end)

  it("refuses what it would lose", function()
    local x = numbers(3)
    fails("[checkpoint] the function reads an array from outside that depends on a variable", gpu.grad(function(z)
      return gpu.checkpoint(function(y) return y * z end)(x):sum()
    end), x)
    local calls = 0
    fails("[checkpoint] the function gave other results when it was computed again", gpu.grad(function(z)
      return gpu.checkpoint(function(y)
        calls = calls + 1
        return calls == 1 and y * y or (y * y):sum()
      end)(z):sum()
    end), x)
    fails("[checkpoint] expected a function of arrays, got 3", gpu.checkpoint, 3)
  end)
end)
