-- Derivatives of functions that write to their own arrays, against the same functions without writes.
local gpu = require "gpu"
local support = require "support"

local fails = support.fails

local function normal(...) return gpu.random.normal({...}, 0, 1, "float64"):eval() end
local function zeros(...) return gpu.zeros(..., "float64") end

before_each(function() gpu.random.seed(5) end)

--- Checks that two functions of arrays have the same values, gradients, and second derivatives times a vector, evaluated in several ways.
--- Those with matrix products are not fused.
local products = false
local function same(written, functional, ...)
  local arguments, which = {...}, {}
  for i in ipairs(arguments) do which[i] = i end
  local function weighted(f)
    return function(...)
      local y = f(...)
      return (gpu.sin(y) * gpu.arange(y.size, {dtype = "float64"}):reshape(y.shape)):sum()
    end
  end
  local f, g = weighted(written), weighted(functional)
  local wanted = {gpu.value_and_grad(g, which)(...)}
  local gradient = gpu.value_and_grad(f, which)
  local ways = {
    plain = gradient,
    fused = products and gradient or gpu.fuse(gradient),
    eager = function(...)
      gpu.eager(true)
      local found = {gradient(...)}
      gpu.eager(false)
      return unpack(found)
    end,
    graph = function(...)
      local results
      local graph = gpu.graph(function()
        results = {gpu.eval(gradient(unpack(arguments)))}
        return unpack(results)
      end)
      graph:launch()
      return unpack(results)
    end,
  }
  for name, way in pairs(ways) do
    for _ = 1, 2 do
      local found = {way(...)}
      for i, x in ipairs(wanted) do
        assert(gpu.allclose(found[i], x, {rtol = 1e-10, atol = 1e-12}),
          ("%s, result %d is\n%s, not\n%s"):format(name, i, tostring(found[i]), tostring(x)))
      end
    end
  end
  for i, x in ipairs(arguments) do
    local function of(h)
      return function(z)
        local others = {unpack(arguments)}
        others[i] = z
        return h(unpack(others))
      end
    end
    local v = normal(unpack(x.shape))
    local expected = gpu.hvp(of(g), x, v)
    local found = gpu.hvp(of(f), x, v)
    assert(gpu.allclose(found, expected, {rtol = 1e-9, atol = 1e-11}), ("second derivatives %d: %s, not %s"):format(i, tostring(found), tostring(expected)))
    local _, dy = gpu.jvp(of(written), {x}, {v})
    local _, dz = gpu.jvp(of(functional), {x}, {v})
    assert(gpu.allclose(dy, dz, {rtol = 1e-10, atol = 1e-12}), "forward " .. i)
  end
end

describe("derivatives of writes", function()
  it("of a recursion whose steps go into an array", function()
    local x, a = normal(3), normal(3)
    same(function(x, a)
      local path = zeros {5, 3}
      path[1] = x
      for i = 2, 5 do path[i] = gpu.sin(path(i - 1)) * a end
      return path
    end, function(x, a)
      local steps = {x}
      for i = 2, 5 do steps[i] = gpu.sin(steps[i - 1]) * a end
      return gpu.stack(steps)
    end, x, a)
  end)

  it("of operations in place", function()
    local x, w = normal(4), normal(4)
    same(function(x, w)
      local y = x * w
      y:mul_(y)
      y:add_(w)
      y:mul_(w):sub_(x)
      return y
    end, function(x, w) return ((x * w) ^ 2 + w) * w - x end, x, w)
    same(function(x)
      local y = gpu.sin(x)
      local before = y * y
      y:exp_()
      return y + before * y
    end, function(x)
      local y = gpu.sin(x)
      return gpu.exp(y) + y * y * gpu.exp(y)
    end, x)
  end)

  it("through views of each kind, that were made before and after", function()
    local A, v = normal(4, 6), normal(6)
    same(function(A, v)
      local y = A * 2
      local rows, T = y("2:3", ":"), y.T
      local inner = T("::2", ":")
      rows:mul_(v)                       -- a part
      T[1] = A(":", 2) * v({1, 1})          -- a column, broadcast
      inner("2", ":"):add_(gpu.sin(A(":", 1)))  -- a view of a view of a view
      return y * rows:sum() + inner:mean()
    end, function(A, v)
      local y = A * 2
      local scale = gpu.concat({gpu.ones({1, 6}, "float64"), v:expand_dims(1), v:expand_dims(1), gpu.ones({1, 6}, "float64")}, 1)
      y = y * scale
      local columns = {}
      for i = 1, 6 do columns[i] = y(":", i) end
      columns[1] = A(":", 2) * v({1, 1})
      columns[3] = columns[3] + gpu.sin(A(":", 1))
      y = gpu.stack(columns, 2)
      return y * y("2:3", ":"):sum() + y(":", "::2"):mean()
    end, A, v)
  end)

  it("of a view that is normalised in place", function()
    local A = normal(3, 5)
    same(function(A)
      local y = A:copy()
      local part = y(":", "2:4")
      part:sub_(part:mean(2, {keepdims = true}))
      part:div_(gpu.sqrt((part * part):sum(2, {keepdims = true}) + 0.1))
      return y
    end, function(A)
      local part = A(":", "2:4")
      part = part - part:mean(2, {keepdims = true})
      part = part / gpu.sqrt((part * part):sum(2, {keepdims = true}) + 0.1)
      return gpu.concat({A(":", "1:1"), part, A(":", "5:5")}, 2)
    end, A)
  end)

  it("of reads before, between and after, and of elements that are written twice", function()
    local x = normal(5)
    same(function(x)
      local y = x * x
      local first = y * gpu.sin(y)
      local head, tail = y("1:3"), y("3:5")
      head:copy_(gpu.cos(x("1:3")))
      local second = y * x
      tail:mul_(y("2:4"):copy()) -- overlaps what was written
      y[2] = 0.5
      y[1] = x({5, 5})
      y[1] = x({4, 4}) * y({5, 5})
      return first + second + y
    end, function(x)
      local y = x * x
      local first = y * gpu.sin(y)
      local z = gpu.concat {gpu.cos(x("1:3")), y("4:5")}
      local second = z * x
      local tail = z("3:5") * z("2:4")
      local last = gpu.concat {x({4, 4}) * tail({3, 3}), gpu.full({1}, 0.5, "float64"), tail}
      return first + second + last
    end, x)
  end)

  it("of constants, and of values that are broadcast or converted", function()
    local x, s = normal(4), gpu.array(0.7, "float64")
    same(function(x, s)
      local y = x * s
      y("1:2"):fill_(3)
      y[4] = s * 2
      local z = y * y
      z:fill_(1)
      z("2:3"):copy_(s)
      return y * z
    end, function(x, s)
      local three, one = gpu.full({2}, 3, "float64"), gpu.ones({1}, "float64")
      local s1 = s:reshape(1)
      local y = gpu.concat {three, (x * s)({3, 3}), s1 * 2}
      return y * gpu.concat {one, s1, s1, one}
    end, x, s)
    local w = normal(3)
    local g = gpu.grad(function(x)
      local y = gpu.zeros({2, 3}, "float32")
      y[1] = x
      y:mul_(2)
      return (y * y):sum()
    end)(w)
    assert.equal("float64", g.dtype)
    assert(gpu.allclose(g, 8 * w, {rtol = 1e-6}))
  end)

  it("by masks and index arrays", function()
    local x, v = normal(6), normal(6)
    local two, four, twice = gpu.array({2, 5}, "int32"), gpu.array({4}, "int32"), gpu.array({1, 1, 3}, "int32")
    same(function(x, v)
      local y = x * 2
      y[x:detach():gt(0)] = 0
      y[x:detach():lt(-0.5)] = v({1, 1})
      y[two] = v("1:2") * y({6, 6})
      gpu.put_along_axis(y, four, v({3, 3}), 1)
      gpu.scatter_add(y, twice, v("4:6"))
      return y * y
    end, function(x, v)
      local y = gpu.where(x:detach():gt(0), 0, x * 2)
      y = gpu.where(x:detach():lt(-0.5), v({1, 1}), y)
      local e = {}
      for i = 1, 6 do e[i] = y({i, i}) end
      e[2], e[5] = v({1, 1}) * e[6], v({2, 2}) * e[6]
      e[4] = v({3, 3})
      e[1] = e[1] + v({4, 4}) + v({5, 5})
      e[3] = e[3] + v({6, 6})
      y = gpu.concat(e)
      return y * y
    end, x, v)
    -- Of several values for one element, that one counts which is there.
    local w = normal(4)
    local y, g = gpu.value_and_grad(function(w)
      local y = zeros {2}
      y[gpu.array({1, 1, 2, 1}, "int32")] = w
      return (y * gpu.array({1, 10}, "float64")):sum(), y
    end)(w)
    local one = g:table()
    assert.equal(10, one[3])
    assert.equal(1, one[1] + one[2] + one[4])
    assert(gpu.allclose((g * w):sum(), y))
  end)

  it("of results and arguments of functions with rules of their own", function()
    local W, b = normal(3, 3), normal(3)
    products = true
    same(function(W, b)
      local h = gpu.matmul(W, b)
      h:add_(b)
      h:copy_(gpu.tanh(h))
      local path = zeros {4, 3}
      path[1] = h
      for i = 2, 4 do path[i] = gpu.matmul(W, path(i - 1)) end
      local sorted = gpu.sort(path, 2)
      path:mul_(sorted)
      return path:cumsum(1)
    end, function(W, b)
      local steps = {gpu.tanh(gpu.matmul(W, b) + b)}
      for i = 2, 4 do steps[i] = gpu.matmul(W, steps[i - 1]) end
      local path = gpu.stack(steps)
      return (path * gpu.sort(path, 2)):cumsum(1)
    end, W, b)
    products = false
    local parts = {W * 1, W * 2}
    gpu.grad(function(x)
      local both = gpu.concat(parts, 1)
      parts[1]:mul_(3)
      return (both * x):sum()
    end)(gpu.array(2, "float64"))
    assert(gpu.allclose(parts[1], 3 * W))
  end)

  it("by options out", function()
    local x = normal(4)
    same(function(x)
      local out = zeros {4}
      gpu.sin(x, {out = out})
      gpu.mul(out, x, {out = out})
      return out
    end, function(x) return gpu.sin(x) * x end, x)
  end)

  it("in functions with checkpoints, own rules, and loops", function()
    local x = normal(4)
    local function step(z)
      local y = z * z
      y[2] = gpu.sin(z({1, 1}))
      y("3:4"):mul_(z("1:2"))
      return y
    end
    local function plain(z) return gpu.concat {z({1, 1}) ^ 2, gpu.sin(z({1, 1})), z("3:4") ^ 2 * z("1:2")} end
    same(function(x) return gpu.checkpoint(step)(x) * x end, function(x) return plain(x) * x end, x)
    same(function(x)
      local y = gpu.sin(x)
      local z = gpu.checkpoint(plain)(y)
      y:add_(z)
      return y * z
    end, function(x)
      local y = gpu.sin(x)
      local z = plain(y)
      return (y + z) * z
    end, x)
    same(function(x) return (gpu.loop(3, function(z)
      local y = step(z)
      return y * 0.5
    end, x)) end, function(x)
      for _ = 1, 3 do x = plain(x) * 0.5 end
      return x
    end, x)
  end)

  it("of each element", function()
    local x = normal(4)
    local d = gpu.grad(function(x)
      local y = gpu.sin(x)
      y:mul_(x)
      local z = gpu.empty({4}, "float64")
      z:copy_(y)
      z[x:detach():gt(0)] = 2
      return z
    end, {each = true})(x)
    assert(gpu.allclose(d, gpu.where(x:gt(0), 0, gpu.cos(x) * x + gpu.sin(x))))
    fails("a write of a part on line", function()
      gpu.grad(function(x)
        local y = gpu.sin(x)
        y[1] = x({2, 2})
        return y
      end, {each = true})(x)
    end)
  end)

  it("leaves readers what they read", function()
    local x = normal(3)
    local y, pull = gpu.vjp(function(x)
      local y = x * 1
      y[1] = x({2, 2}) * x({3, 3})
      return y
    end, x)
    y:fill_(7) -- after the function
    assert(gpu.allclose(pull(gpu.ones({3}, "float64")), gpu.stack {x * 0 + 0}(1) + gpu.concat {x({1, 1}) * 0, 1 + x({3, 3}), 1 + x({2, 2})}))
    -- A constant that is written whole, whose new elements are pending.
    local c, d = gpu.ones({3}, "float64"):eval(), normal(3)
    local g = gpu.grad(function(x)
      local y = x * c
      local e = d * 5
      c:copy_(e)
      return (y * c + e * 0):sum()
    end)(x)
    assert(gpu.allclose(g, 5 * d))
  end)
end)

describe("writes that a derivative cannot follow", function()
  local x = gpu.linspace(1, 2, 4, "float64"):eval()

  local function refused(message, f) fails(message, function() gpu.grad(f)(x) end) end

  it("raise at their line", function()
    refused("[add_] a write to memory of a variable would hide", function(z) z:add_(1) return z:sum() end)
    refused("[multiply_] a write to memory of a variable", function(z) z("1:2"):mul_(2) return z:sum() end)
    refused("[add_] a write to memory of a variable", function(z) local y = z * z x:add_(0) return y:sum() end)
    local outside = zeros {4}
    outside:eval()
    refused("to an array from outside", function(z) outside[1] = z({1, 1}) return outside:sum() end)
    refused("to an array from outside", function(z)
      return gpu.grad(function(w)
        local y = z * 1
        return gpu.grad(function(v) y:mul_(v) return (y * v):sum() end)(w):sum()
      end)(z):sum()
    end)
    refused("to what x:detach() gives", function(z)
      local y = z * z
      y:eval()
      y:detach():add_(1)
      return y:sum()
    end)
    refused("arguments of gpu.custom and gpu.checkpoint", function(z) return gpu.checkpoint(function(y) y:add_(1) return y end)(z * z):sum() end)
    refused("arguments of gpu.custom and gpu.checkpoint", function(z)
      return gpu.custom(function(y) y:add_(1) return y * y end, {vjp = function(g, _, y) return 2 * g * y end})(z * z):sum()
    end)
    refused("[add_one] a write to memory of a variable", function(z)
      local y = z * z
      local add_one = gpu.kernel([[__global__ void add_one(double* x) { x[threadIdx.x] += 1; }]], "add_one")
      add_one {grid = 1, block = 4} (x)
      return y:sum()
    end)
    refused("[blas.gemm] has no derivative", function(z)
      local y = 2 * z:reshape(2, 2)
      gpu.blas.gemm(y, y, {out = y})
      return y:sum()
    end)
    refused("memory that other arrays share", function(z)
      local y = (z * z):eval()
      local same = gpu.custom(function(y) return y end, {vjp = function(g) return 3 * g end})(y)
      y:add_(1)
      return (same + y):sum()
    end)
  end)

  it("of constants are free", function()
    local count = zeros {4}
    local g = gpu.grad(function(z)
      count:add_(1)
      local work = gpu.ones({4}, "float64")
      work("1:2"):mul_(3)
      return (z * work):sum()
    end)(x)
    assert(gpu.allclose(g, gpu.array({3, 3, 1, 1}, "float64")) and gpu.allclose(count, gpu.ones({4}, "float64")))
  end)
end)
