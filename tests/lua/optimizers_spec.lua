-- gpu.optimize: steps along gradients, beside the formulas in plain Lua.
local gpu = require "gpu"
local support = require "support"

local fails, near = support.fails, support.near

-- Each rule for one number: {p, g} of each step -> p. s: what it keeps.
local formulas = {
  sgd = function(o, s, p, g, rate)
    g = g + (o.weight_decay or 0) * p
    if not o.momentum then return p - rate * g end
    s.trace = o.momentum * (s.trace or 0) + g
    return p - rate * (o.nesterov and g + o.momentum * s.trace or s.trace)
  end,
  adam = function(o, s, p, g, rate, n)
    local b1, b2 = o.b1 or 0.9, o.b2 or 0.999
    s.m, s.v = b1 * (s.m or 0) + (1 - b1) * g, b2 * (s.v or 0) + (1 - b2) * g * g
    return p - rate * ((s.m / (1 - b1 ^ n)) / (math.sqrt(s.v / (1 - b2 ^ n)) + (o.eps or 1e-8)) + (o.weight_decay or 0) * p)
  end,
  rmsprop = function(o, s, p, g, rate)
    local decay = o.decay or 0.9
    s.v = decay * (s.v or 0) + (1 - decay) * g * g
    local u = rate * g / math.sqrt(s.v + (o.eps or 1e-8))
    if not o.momentum then return p - u end
    s.trace = o.momentum * (s.trace or 0) + u
    return p - (o.nesterov and u + o.momentum * s.trace or s.trace)
  end,
}
formulas.adamw = function(o, ...)
  local with = {weight_decay = 1e-4}
  for name, value in pairs(o) do with[name] = value end
  return formulas.adam(with, ...)
end

local cases = {
  {"sgd", {learning_rate = 0.1}},
  {"sgd", {learning_rate = 0.1, momentum = 0.9, weight_decay = 0.2}},
  {"sgd", {learning_rate = 0.1, momentum = 0.9, nesterov = true}},
  {"adam", {}},
  {"adam", {learning_rate = 0.3, b1 = 0.7, b2 = 0.8, eps = 0.1}},
  {"adamw", {learning_rate = 0.1, weight_decay = 0.5}},
  {"adamw", {learning_rate = 0.5}},
  {"rmsprop", {learning_rate = 0.1}},
  {"rmsprop", {learning_rate = 0.1, decay = 0.5, eps = 0.01, momentum = 0.8, nesterov = true}},
}

local start = {1, -2, 0.5, 3}
local function gradient(i, n) return math.sin(3 * i + n) + 0.1 * i end

--- The parameters after three steps of a case by its formula; `rates(n)`: the learning rates.
local function expected(name, o, rates, steps)
  local p = {}
  for i, value in ipairs(start) do
    local s = {}
    for n = 1, steps do value = formulas[name](o, s, value, gradient(i, n), rates(n), n) end
    p[i] = value
  end
  return p
end

local function gradients(n, dtype)
  return gpu.array(support.series(#start, function(i) return gradient(i, n) end), dtype)
end

local function launches(fn)
  local count = 0
  for _, row in ipairs(gpu.profile(fn)) do count = count + row.launches end
  return count
end

describe("gpu.optimize's steps", function()
  -- First: after many plans that are new, writes do not wait for each other for a while.
  it("are one kernel for an array, its moments and its gradient", function()
    for _, name in ipairs {"sgd", "adam", "adamw", "rmsprop"} do
      local p = {a = gpu.ones(4096):eval(), b = gpu.ones(3, 1000):eval()}
      local x, y = gpu.arange(4096, "float32"):eval(), gpu.ones(3, 1000):eval()
      local opt = gpu.optimize[name](p, name ~= "adam" and name ~= "adamw" and {momentum = 0.5} or {})
      local function step()
        opt:step {a = x * p.a - 1, b = y * 2}
        gpu.eval(p.a, p.b)
      end
      step()
      assert.equal(2, launches(step))
    end
  end)

  it("are one kernel also after steps of another rule", function()
    local p, g = gpu.ones(4096):eval(), gpu.ones(4096):eval()
    for _, name in ipairs {"sgd", "adam", "sgd", "rmsprop"} do
      local opt = gpu.optimize[name](p)
      local function step()
        opt:step(g)
        p:eval()
      end
      step()
      assert.equal(1, launches(step))
    end
  end)

  it("are a kernel for each array beyond the writes that wait for each other", function()
    local params, grads = {}, {}
    for i = 1, 25 do params[i], grads[i] = gpu.ones(100 + i):eval(), gpu.ones(100 + i):eval() end
    local opt = gpu.optimize.adam(params)
    local function step()
      opt:step(grads)
      gpu.eval(params[25])
    end
    step()
    assert.equal(25, launches(step))
  end)

  it("are those of the formulas", function()
    for _, case in ipairs(cases) do
      local name, o = unpack(case)
      for dtype, tolerance in pairs {float64 = 1e-14, float32 = 1e-6, float16 = 5e-3, bfloat16 = 4e-2} do
        local p = gpu.array(start, dtype)
        local opt = gpu.optimize[name](p, o)
        for n = 1, 3 do opt:step(gradients(n, dtype)) end
        near(expected(name, o, function() return o.learning_rate or 1e-3 end, 3), p:table(), tolerance, name .. " of " .. dtype)
        assert(opt.steps == 3 and p.dtype == dtype)
      end
    end
  end)

  it("take complex parameters", function()
    -- v is real: both parts are divided by one root, |g| in the first step.
    local p = gpu.array({gpu.complex(1, 1), gpu.complex(2, 0)}, "complex128")
    local opt = gpu.optimize.adam(p, {learning_rate = 0.1})
    opt:step(gpu.array({gpu.complex(3, 4), gpu.complex(0, -2)}, "complex128"))
    near({1 - 0.06, 2}, p:real():table(), 1e-8)
    near({1 - 0.08, 0.1}, p:imag():table(), 1e-8)
    assert(opt.state.v.dtype == "float64" and opt.state.m.dtype == "complex128")
  end)

  it("take nested tables, views, and the rest of a table for constants", function()
    local whole = gpu.zeros(4, 4)
    local index = gpu.arange(3)
    local params = {layers = {{w = gpu.ones(2, 3)}, {w = whole({2, 3}, {1, 2})}}, [7] = gpu.full({}, 1), index = index, name = "net", active = true}
    local opt = gpu.optimize.sgd(params, {learning_rate = 1})
    opt:step {layers = {{w = gpu.full({2, 3}, 2)}, {w = gpu.ones(2, 2)}}, [7] = gpu.full({}, 3)}
    assert(params.layers[1].w:eq(-1):all():item() and params[7]:item() == -2 and index:equal(gpu.arange(3)))
    near({{0, 0, 0, 0}, {-1, -1, 0, 0}, {-1, -1, 0, 0}, {0, 0, 0, 0}}, whole:table())
  end)

  it("follow a learning rate that is a function or an array", function()
    local function rates(n) return 0.1 * 0.5 ^ n end
    local rate = gpu.zeros({}, "float64")
    for _, name in ipairs {"sgd", "adam", "rmsprop"} do
      local p, q = gpu.array(start, "float64"), gpu.array(start, "float64")
      local by_function, by_array = gpu.optimize[name](p, {learning_rate = rates}), gpu.optimize[name](q, {learning_rate = rate})
      for n = 1, 3 do
        rate:fill_(rates(n))
        by_function:step(gradients(n, "float64"))
        by_array:step(gradients(n, "float64"))
      end
      near(expected(name, {}, rates, 3), p:table(), 1e-14)
      near(expected(name, {}, rates, 3), q:table(), 1e-14)
    end
  end)

  it("clip the norm of all gradients together", function()
    local params = {gpu.zeros(2, "float16"), gpu.zeros(1, "float32")}
    local opt = gpu.optimize.sgd(params, {learning_rate = 1, clip_norm = 1.3})
    opt:step {gpu.array({300, 400}, "float16"), gpu.array({1200}, "float32")} -- the norm is 1300; squares overflow float16
    near({-0.3, -0.4}, params[1]:table(), 1e-3)
    near({-1.2}, params[2]:table(), 1e-6)
    opt:step {gpu.array({0.25, 0}, "float16"), gpu.zeros(1)}
    near({-0.55, -0.4}, params[1]:table(), 1e-3)
    opt:step {gpu.zeros(2, "float16"), gpu.zeros(1)}
    near({-0.55, -0.4}, params[1]:table(), 1e-3)
  end)

  it("count on the device in a graph", function()
    local function rates(n) return 0.1 * 0.5 ^ n end
    for _, name in ipairs {"adam", "sgd"} do
      local p, g = gpu.array(start), gradients(1, "float32"):eval()
      local opt = gpu.optimize[name](p, {learning_rate = rates})
      opt:step(g)
      local graph = gpu.graph(function() opt:step(g) end)
      assert.equal(2, opt.steps)
      g:copy_(gradients(3, "float32"))
      graph:launch()
      opt:step(gradients(4, "float32"))
      assert.equal(4, opt.steps)
      local q = gpu.array(start)
      local plain = gpu.optimize[name](q, {learning_rate = rates})
      for _, n in ipairs {1, 1, 3, 4} do plain:step(gradients(n, "float32")) end
      near(q:table(), p:table(), 1e-6)
    end
  end)

  it("go on from a saved state", function()
    local path = os.tmpname() .. ".safetensors"
    local p = {w = {gpu.array(start, "float64")}}
    local opt = gpu.optimize.adam(p, {learning_rate = 0.1})
    for n = 1, 2 do opt:step {w = {gradients(n, "float64")}} end
    gpu.save(path, opt.state)
    local q = {w = {p.w[1]:copy()}}
    local other = gpu.optimize.adam(q, {learning_rate = 0.1})
    other:load(gpu.load(path))
    os.remove(path)
    for _, pair in ipairs {{opt, p}, {other, q}} do pair[1]:step {w = {gradients(3, "float64")}} end
    support.same(p.w[1], q.w[1])
    assert(other.steps == 3 and other.state["v.w[1]"]:equal(opt.state["v.w[1]"]))
    fails('[optimizer:load] expected state["m.w[1]"], float64(4,), got nil', other.load, other, {steps = gpu.zeros({}, "float64")})
  end)

  it("refuse what they do not understand", function()
    local x, optimize = gpu.ones(2), gpu.optimize
    local opt = optimize.adam {layers = {{w = x}}}
    fails("[optimizer:step] expected the gradient of params.layers[1].w, float32(2,) on", opt.step, opt, {layers = {}})
    fails("got float64(2,)", opt.step, opt, {layers = {{w = x:astype "float64"}}})
    fails("got float32(3,)", opt.step, opt, {layers = {{w = gpu.ones(3)}}})
    fails("got one of params.b, which is none", opt.step, opt, {layers = {{w = x}}, b = x})
    fails("step outside of gpu.fuse", gpu.fuse(function() opt:step {layers = {{w = x}}} end))
    assert.equal(0, opt.steps)
    local loop = {a = {}}
    loop.a.b = loop
    fails("[optimize.sgd] expected tables without cycles, got params as params.a.b", optimize.sgd, loop)
    fails("got a sparse matrix as params.A; the array of its elements is params.A.data", optimize.sgd, {A = gpu.sparse.eye(2)})
    fails("[optimize.sgd] expected each array once, got params.a as params.b", optimize.sgd, {a = x, b = x})
    fails("as parameters, got", optimize.rmsprop, {gpu.arange(3)})
    fails('got "b1"', optimize.sgd, x, {b1 = 0.9})
    fails("[optimize.adam] expected b1 = a number of 0 or more and below 1, got 1", optimize.adam, x, {b1 = 1})
    fails("[optimize.sgd] expected a momentum above 0 with nesterov = true", optimize.sgd, x, {nesterov = true})
    fails("[optimize.sgd] expected clip_norm = a number above 0, got 0", optimize.sgd, x, {clip_norm = 0})
    fails("learning_rate = a number", optimize.sgd, x, {learning_rate = "fast"})
    local strange = optimize.sgd(x, {learning_rate = function() return nil end})
    fails("[optimizer:step] expected a number of 0 or more or a floating array of no axes from learning_rate, got nil", strange.step, strange, x)
    assert.equal(0, strange.steps)
  end)
end)
