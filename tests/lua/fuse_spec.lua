-- gpu.fuse: the results are those of the function itself, for every kind of argument, and what a replay would miss raises.
local gpu = require "gpu"
local support = require "support"

local same, fails = support.same, support.fails

describe("a fused function", function()
  it("gives the function's results for other elements, shapes, dtypes and views", function()
    local calls = 0
    local function step(x, y) calls = calls + 1; return x * 2 + y, (x - y):sum(), x end
    fails("sets 'calls'", gpu.fuse, step)
    local math = require "math" -- busted has another one for its specs
    local c, own = { n = 0, log = {} }, math.random
    fails("reads the field 'n' and sets it on line", gpu.fuse, function(x) c.n = c.n + 1 return x + c.n end)
    fails("draws by math.random on line", gpu.fuse, function(x) return x + math.random() end)
    fails("draws by math.random on line", gpu.fuse, function(x) return x + own() end)
    gpu.fuse(function(x) c.log[1] = x.dtype c.done = true return x + c.n + math.pi end)
    local function pure(x, y) return x * 2 + y, gpu.sum(x - y), x end
    local fused = gpu.fuse(pure)
    local base = gpu.arange(200)
    for round = 0, 3 do
      for _, x in ipairs {
        gpu.arange(24) + round, (gpu.arange(24) * round):reshape(4, 6), gpu.arange(24, {dtype = "float64"}) - round,
        gpu.arange(48):reshape(6, 8).T[round + 1], base({round + 1, round + 24}), base({10 - round, 50, 3}), gpu.full({5}, round),
        gpu.array(round),
      } do
        local y = (x + round):eval()
        local a, b, c = pure(x, y)
        local p, q, r = fused(x, y)
        same(a, p)
        same(b, q)
        same(c, r)
      end
    end
  end)

  it("runs the Lua code once for each set of layouts and numbers", function()
    local count = {n = 0}
    local counter = setmetatable({}, {__call = function() count.n = count.n + 1 end})
    package.loaded["fuse_spec.counter"] = count -- what require gives is a library, so that its changes do not count
    local fused = gpu.fuse(function(x, k) counter(); return x * k end)
    for _ = 1, 5 do fused(gpu.ones(8), 2) end
    for _ = 1, 5 do fused(gpu.ones(8), 3) end
    for _ = 1, 5 do fused(gpu.ones(9), 3) end
    package.loaded["fuse_spec.counter"] = nil
    assert(count.n == 3, count.n)
  end)

  it("follows numbers in variables, globals, tables and other functions", function()
    local rate, options = 2, {scale = 3, deep = {offset = 1}}
    _G.fuse_spec_global = 5
    local function inner(x) return x * rate end
    local fused = gpu.fuse(function(x) return inner(x) * options.scale + options.deep.offset + fuse_spec_global end)
    local x = gpu.arange(5)
    local function check() same(x * rate * options.scale + options.deep.offset + fuse_spec_global, fused(x)) end
    for _ = 1, 2 do
      check()
      rate = rate + 1
      check()
      options.scale = 7
      check()
      options.deep.offset = options.deep.offset - 4
      check()
      fuse_spec_global = fuse_spec_global * 2
      check()
    end
    _G.fuse_spec_global = nil
  end)

  it("follows numbers that functions of gpu.vectorize and its kin capture", function()
    local k, t, x = 2, { k = 2 }, gpu.ones(3)
    local function product(v) return k * v end
    for name, g in pairs {
      vectorize = gpu.vectorize(product), field = gpu.vectorize(function(v) return t.k * v end),
      nested = (function(inner) return gpu.vectorize(function(v) return inner(v) end) end)(product),
      guvectorize = gpu.guvectorize("()->()", product),
      elementwise = gpu.elementwise { inputs = "T x", outputs = "T y", body = product },
      reduction = gpu.reduction { inputs = "T x", outputs = "T y", map = product, reduce = "a + b", identity = "0" },
    } do
      k, t.k = 2, 2
      local fused = gpu.fuse(function(v) return g(v) + 0 end)
      local first = g(x):sum():item()
      assert.are.equal(first, fused(x):sum():item(), name)
      k, t.k = 3, 3
      assert.are.equal(first * 1.5, g(x):sum():item(), name)
      assert.are.equal(first * 1.5, fused(x):sum():item(), name)
    end
  end)

  it("takes arrays in variables and tables as inputs", function()
    local weights, state = gpu.arange(6), {bias = gpu.ones(6)}
    local fused = gpu.fuse(function(x) return x * weights + state.bias end)
    for k = 1, 3 do
      local x = gpu.full({6}, k)
      same(x * weights + state.bias, fused(x))
      weights = gpu.arange(6) * k
      state.bias = state.bias + 1
      same(x * weights + state.bias, fused(x))
    end
  end)

  it("writes in place, also to views and to arrays that share memory", function()
    local function update(total, x)
      total:add_(x)
      x({1, 4}):copy_(total({5, 8}))
      total({3, 6}):mul_(2)
      return total:sum(), total({2, 3})
    end
    local fused = gpu.fuse(update)
    local total, x = gpu.arange(8, "float32"):eval(), gpu.ones(8):eval()
    local total2, x2 = total:copy(), x:copy()
    for _ = 1, 4 do
      local a, b = update(total, x)
      local p, q = fused(total2, x2)
      same(a, p)
      same(b, q)
      same(total, total2)
      same(x, x2)
    end
    local function shift(to, from) to:copy_(from + 1) end
    local shifted = gpu.fuse(shift)
    for _, offset in ipairs {0, 1, 2, 1, 0, 3} do
      local m, n = gpu.arange(20):eval(), gpu.arange(20):eval()
      shift(m({1 + offset, 10 + offset}), m({1, 10}))
      shifted(n({1 + offset, 10 + offset}), n({1, 10}))
      same(m, n, "offset " .. offset)
    end
  end)

  it("keeps what a pending array reads from an array that it writes", function()
    local fused = gpu.fuse(function(x) x:mul_(2) end)
    local x = gpu.arange(5):eval()
    fused(x)
    local before = x + 0.5
    fused(x)
    same(before, gpu.arange(5) * 2 + 0.5)
    same(x, gpu.arange(5) * 4)
  end)

  it("draws the random numbers that the function would draw", function()
    local generator = gpu.random.generator("philox", {seed = 5})
    local function draw(x) return x + gpu.randn(100), gpu.rand(7), gpu.random.gamma({3}, 2, {generator = generator}) end
    local fused = gpu.fuse(draw)
    local x = gpu.zeros(100)
    local function run(fn)
      gpu.random.seed(11)
      generator:set_state {seed = 5, offset = 0}
      local results = {}
      for _ = 1, 3 do for _, array in ipairs {fn(x)} do results[#results + 1] = array:eval() end end
      return results
    end
    local wanted, first, second = run(draw), run(fused), run(fused)
    for i = 1, #wanted do
      same(wanted[i], first[i])
      same(wanted[i], second[i])
    end
  end)

  it("gathers, scatters and makes arrays", function()
    local function select(x, i)
      local y = gpu.zeros(4)
      y:add_(x:take(i, 1))
      gpu.scatter_add(y, i, 1)
      local z = x:copy()
      z:mul_(2)
      return y, z, gpu.arange(3) + y({1, 3})
    end
    local fused = gpu.fuse(select)
    local base = gpu.arange(40):eval()
    for k = 1, 4 do
      local x, i = base({8 * k - 7, 8 * k - 4}), gpu.array({k, 1, 2, 4}, "int32")
      local a, p = {select(x, i)}, {fused(x, i)}
      for j = 1, 3 do same(a[j], p[j]) end
    end
    local ok, message = pcall(function()
      local y = fused(base({1, 4}), gpu.array({9, 1, 2, 4}, "int32"))
      return y:table()
    end)
    assert(not ok and message:find "9 in an index array", message)
    while not pcall(gpu.sync) do end -- the gather and the scatter tell of it too
  end)

  it("runs within another one, and returns values that are no arrays", function()
    local inner = gpu.fuse(function(x) return x + 1, 5 end)
    local outer = gpu.fuse(function(x)
      local y, five = inner(x)
      return y * five, nil, "text", true
    end)
    for k = 1, 3 do
      local y, none, text, yes = outer(gpu.full({3}, k))
      same(y, gpu.full({3}, (k + 1) * 5))
      assert(none == nil and text == "text" and yes == true)
    end
    assert(select("#", outer(gpu.ones(3))) == 4)
  end)

  it("replays loops of many kernels", function()
    local function orbit(x, v)
      for _ = 1, 60 do
        v = v - 0.01 * x
        x = x + 0.01 * v
      end
      return x, v
    end
    local fused = gpu.fuse(orbit)
    local x, v = gpu.linspace(0, 1, 100):eval(), gpu.ones(100):eval()
    for _ = 1, 3 do
      local a, b = orbit(x, v)
      local p, q = fused(x, v)
      assert(gpu.allclose(a, p, {rtol = 1e-5}) and gpu.allclose(b, q, {rtol = 1e-5}))
      x, v = p, q
    end
  end)

  it("replays a function with an error in it as the function itself", function()
    local fused = gpu.fuse(function(x) if x.shape[1] == 3 then error("three") end return x + gpu.ones(4) end)
    fails("three", fused, gpu.ones(3))
    fails("broadcast", fused, gpu.ones(5))
    same(fused(gpu.ones(4)), gpu.full({4}, 2))
    same(gpu.ones(3) + 1, gpu.full({3}, 2))
  end)
end)

describe("a function that cannot be fused", function()
  local x = gpu.arange(8):eval()
  for _, case in ipairs {
    {"reads elements", function(x) return x[1] * 2 end, "reads elements or queues other work"},
    {"sorts", function(x) return gpu.sort(x) end, "reads elements or queues other work"},
    {"selects by a mask", function(x) return x[x:gt(2)] end, "by a mask"},
    {"frees", function(x) local y = (x + 1):eval(); y:free() end, "reads elements or queues other work"},
    {"returns a table", function(x) return {x} end, "a function that returns arrays"},
    {"uses a copy from the host", function(x) return x + gpu.array {1, 2, 3, 4, 5, 6, 7, 8} end, "reads elements or queues other work"},
    {"moves the random stream", function(x) gpu.random.seed(1) return x end, "outside of a function that gpu.fuse or gpu.graph records"},
    {"yields", function(x) coroutine.yield() return x end, "attempt to yield"},
    {"names another stream", function(x) return gpu.with(gpu.stream(), function() return x + 1 end) end,
      "outside of a function"},
  } do
    it("raises: it " .. case[1], function()
      local fused = gpu.fuse(case[2])
      for _ = 1, 2 do fails(case[3], fused, x) end
      same(x + 1, gpu.arange(8) + 1)
    end)
  end

  it("raises at the script's line for what is no function, and for an array that nothing leads to", function()
    fails("[fuse] expected a function of arrays, got 5", gpu.fuse, 5)
    fails("expected at most 1", gpu.fuse, function() end, 2)
    local hidden = coroutine.wrap(function() while true do coroutine.yield(x) end end)
    fails("neither an argument", gpu.fuse(function(y) return y + hidden() end), gpu.ones(8))
  end)

  it("is warned of when a number differs in every call", function()
    local output = support.run([[
      local gpu = require "gpu"
      local fused = gpu.fuse(function(x, k) return x * k end)
      local x = gpu.ones(4)
      for k = 1, 400 do assert(fused(x, k):sum():item() == 4 * k) end
      print "done"]], "GPULUA_DEVICE=" .. gpu.device().name)
    assert(output:find "recorded this function 32 times" and output:find "done", output)
  end)

  it("sees what metatables give, and refuses FFI memory", function()
    local parent = { factor = 2 }
    local object = setmetatable({}, { __index = parent })
    local f = gpu.fuse(function(x) return x * object.factor end)
    assert.are.equal(2, f(gpu.ones(1)):item())
    parent.factor = 3
    assert.are.equal(3, f(gpu.ones(1)):item())
    local ffi = require "ffi"
    local memory, double = ffi.new("double[1]", 2), ffi.typeof "double"
    require("support").fails("expected a function that reads no FFI memory", gpu.fuse(function(x) return x * memory[0] end), gpu.ones(1))
    local by_argument = gpu.fuse(function(x, m) return x * m[0] end)
    require("support").fails("expected a function that reads no FFI memory", by_argument, gpu.ones(1), memory)
    assert.are.equal(2, gpu.fuse(function(x) return x * tonumber(double(2)) end)(gpu.ones(1)):item())
  end)
end)

describe("a fused derivative", function()
  it("follows what the script's function reads", function()
    local k, b = 2, gpu.array {1, 2, 3}
    local function inner(x) return (x * x * k * b):sum() end
    local value_and_gradient = gpu.fuse(gpu.value_and_grad(inner))
    local second = gpu.fuse(gpu.hessian(inner))
    local kept = gpu.fuse(gpu.checkpoint(function(x) return inner(x) end))
    local custom = gpu.fuse(gpu.custom(function(x) return inner(x) end, {vjp = function(g, _, x) return g * x end}))
    local x = gpu.array {1, 2, 3}
    for round = 1, 3 do
      k = round
      if round == 3 then b = gpu.array {3, 2, 1} end
      local y, g = value_and_gradient(x)
      same(y, inner(x))
      same(g, 2 * x * k * b)
      same(second(x), gpu.diag(2 * k * b))
      same(kept(x), inner(x))
      same(custom(x), inner(x))
    end
  end)
end)
