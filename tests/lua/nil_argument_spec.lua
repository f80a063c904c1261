-- nil in the place of an argument that could be left out: a variable that is not defined.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local x = gpu.array { { 3, 1 }, { 2, 4 } }

describe("nil for an argument that could be left out", function()
  it("is an error in functions of C++ and of Lua, and in methods", function()
    for name, call in pairs {
      sum = function() return x:sum(axes) end,
      mean = function() return gpu.mean(x, axes) end,
      argmax = function() return x:argmax(axes) end,
      cumsum = function() return x:cumsum(axes) end,
      sort = function() return x:sort(axes) end,
      median = function() return x:median(axes) end,
      softmax = function() return gpu.softmax(x, axes) end,
      quantile = function() return x:quantile(0.5, axes) end,
      take = function() return x:take({ 1 }, axes) end,
      concat = function() return gpu.concat({ x, x }, axes) end,
      round = function() return x:round(decimals) end,
      roll = function() return x:roll(1, axes) end,
      flip = function() return x:flip(axes) end,
      zeros = function() return gpu.zeros(2, dtype) end,
      array = function() return gpu.array({ 1, 2 }, dtype) end,
      linspace = function() return gpu.linspace(0, 1, n) end,
      arange = function() return gpu.arange(5, stop) end,
      eye = function() return gpu.eye(2, m) end,
      ["random.normal"] = function() return gpu.random.normal(5, mu, sigma) end,
      ["random.integers"] = function() return gpu.random.integers(5, 1, high) end,
      histogram = function() return gpu.histogram(x, bins) end,
      ["fft.fft"] = function() return gpu.fft.fft(x, n) end,
      where = function() return gpu.where(x:gt(1), x, z) end,
      transpose = function() return x:transpose(axes) end,
      clip = function() return x:clip(low, 3) end,
    } do
      fails(("[%s] expected "):format(name), call)
      fails("nil", call)
    end
    fails("[ndimage.mean] expected labels, got nil", gpu.ndimage.mean, x, nil, 1)
    fails("[normal] expected mean, got nil", gpu.random.generator("philox").normal, gpu.random.generator "philox", 3, nil)
  end)

  it("is told what to do where arguments follow it", function()
    fails("[trapezoid] expected spacing, got nil; give its default, 1, as an argument follows it", gpu.trapezoid, x, nil, 1)
    fails("[diff] expected n, got nil; give its default, 1, as an argument follows it", gpu.diff, x, nil, 1)
    fails("[random.normal] expected mean, got nil; give its default, 0, as an argument", gpu.random.normal, 3, nil, 2)
    fails("[tril_indices] expected offset, got nil; give its default, 0, as an argument", gpu.tril_indices, 3, nil, 2)
    fails("[eye] expected columns, got nil; give its value, as an argument follows it", gpu.eye, 3, nil, 1)
    fails("[linalg.norm] expected order, got nil; give its value, as an argument follows it, or pass {order = ...}, which can be nil",
      gpu.linalg.norm, x, nil, 1)
    fails("[where] expected y, got nil; give it, or leave x out too", gpu.where, x:gt(1), 1, nil)
    fails("[where] expected x, got nil; give it, or leave y out too", gpu.where, x:gt(1), nil, 1)
    fails("[arange] expected first, got nil; leave the argument out for its default", gpu.arange, nil, 10)
    fails("[sum] expected axis, got nil; options follow directly, without nil before them", gpu.sum, x, nil, { keepdims = true })
    fails("[linalg.norm] expected order, got nil; options follow directly", gpu.linalg.norm, x, nil, nil, { keepdims = true })
    fails("[diff] expected n, got nil; leave the argument out for its default", gpu.diff, x, nil)
  end)

  it("that is missing is not due to an older call that gave nil", function()
    local file = gpu.load "/no/such/file.npy"
    local function message(fn) return select(2, pcall(fn)) end
    assert.is_truthy(message(function() gpu.exp(file) end):find("(perhaps from ", 1, true))
    assert.is_truthy(message(function() gpu.exp(gpu.load "/no/such/file.npy", nil) end):find("perhaps from ", 1, true))
    assert.is_truthy(message(function() return gpu.exp((gpu.load "/no/such/file.npy")), 1 end):find("perhaps from ", 1, true))
    local text = message(function() local _ = gpu.load "/no/such/file.npy" gpu.exp() end)
    assert.is_nil(text:find("perhaps", 1, true), text)
    text = message(function() local _ = gpu.load "/no/such/file.npy" gpu.median() end)
    assert.is_nil(text:find("perhaps", 1, true), text)
  end)

  it("names the variable, and what to do", function()
    local axis, t = nil, {}
    fails("[sum] expected axis, got global 'axes' (a nil value); leave the argument out for its default, or pass {axis = ...}, "
      .. "which can be nil", function() local y = x:sum(axes) return y end)
    fails("got upvalue 'axis' (a nil value)", function() local y = x:sum(axis) return y end)
    fails("got local 'mine' (a nil value)", function() local mine local y = x:median(mine) return y end)
    fails("got field 'axis' (a nil value)", function() local y = gpu.flip(x, t.axis) return y end)
    fails("[zeros] expected shape, a dtype or a table of options, got global 'dtype' (a nil value); leave the argument out for its "
      .. "default, or pass {dtype = ...}", function() local y = gpu.zeros(2, dtype) return y end)
    fails("[load] expected a table of options", function() local y = gpu.load("x.npy", options) return y end)
    fails("[clip] expected a lower bound, got nil; x:minimum(high)", gpu.clip, x, nil, 3)
    local missing = gpu.load "/nowhere/x.npy"
    fails("(perhaps from ", function() local y = x:sum(missing) return y end)
  end)

  it("is named as an operand, an argument that cannot be left out, and an element", function()
    local cfg, add, mine = { gain = 2, rows = 3, inner = { a = 1 } }, gpu.add, nil
    local gian = '; the field \'gian\' is nil; did you mean "gain"?'
    fails("[multiply] expected an array or a number as the right operand, got nil" .. gian, function() return x * cfg.gian end)
    fails("[multiply] expected an array or a number as the left operand, got nil" .. gian, function() return cfg.gian * x end)
    fails("[power] expected an array or a number as the right operand, got nil" .. gian, function() return (x + 1) ^ cfg.gian end)
    fails("got nil; the field 'b' is nil", function() return -x * (cfg.gain + 1) / cfg.inner.b end)
    fails("got nil; the local 'mine' is nil", function() return x - mine end)
    fails("got nil; the local 'own' is nil", function() local own return own + x end)
    fails("got nil; the global 'strike' is not defined", function() return x / strike end)
    fails("[add] expected an array or a number as the right operand, got nil" .. gian, function() local y = gpu.add(x, cfg.gian) return y end)
    fails("[add] expected an array or a number as the left operand, got nil" .. gian, function() local y = add(cfg.gian, x) return y end)
    fails("[add] expected an array or a number as the right operand, got nil" .. gian, function() local y = x:add(cfg.gian) return y end)
    fails("[eq] expected an array or a number as the right operand, got nil" .. gian, function() local y = x:eq(cfg.gian) return y end)
    fails('[reshape] expected a shape: numbers, or a table of numbers, got nil; the field \'rovs\' is nil; did you mean "rows"?',
      function() local y = x:reshape(cfg.rovs, 4) return y end)
    fails("[linspace] expected a number, got nil; the field 'stop' is nil", function() local y = gpu.linspace(0, cfg.stop, 5) return y end)
    fails("[index] expected a number, a boolean or a complex number, got nil" .. gian, function() x[{ 1, 1 }] = cfg.gian end)
    -- Not where another value, two, or a table with fields of its own making may be the nil.
    local opaque = setmetatable({}, { __index = function() end })
    for _, fn in ipairs {
      function() return x * opaque.gian end,
      function() return x * tonumber(cfg.gian or "x") end,
      function() return x * cfg.one + x * cfg.two end,
    } do
      local text = select(2, pcall(fn))
      assert.is_truthy(text:find("[multiply] expected an array or a number as the right operand, got nil", 1, true), text)
      assert.is_nil(text:find("; the ", 1, true), text)
    end
  end)

  it("is an error in functions of any number of values, and in methods of objects that are made in Lua", function()
    local v = gpu.array { 1, 2, 3 }
    local t = gpu.table { a = { 1, 1, 2 }, b = { 1, 2, 3 } }
    local g, p = t:group_by "a", gpu.plot.line(v)
    local operator = gpu.sparse.linalg.operator(function(y) return y end, { shape = { 3, 3 } })
    for name, call in pairs {
      einsum = function() return (gpu.einsum("i->", v, w)) end,
      einsum_path = function() return (gpu.einsum_path("i->", v, w)) end,
      meshgrid = function() return (gpu.meshgrid(v, w)) end,
      eval = function() return (gpu.eval(v, w)) end,
      broadcast_arrays = function() return (gpu.broadcast_arrays(v, w)) end,
      ix_ = function() return (gpu.ix_(v, w)) end,
      ["linalg.block_diag"] = function() return (gpu.linalg.block_diag(v, w)) end,
      group_by = function() return (t:group_by("a", w)) end,
      select = function() return (t:select("a", w)) end,
      head = function() return (t:head(w)) end,
      sort_by = function() return (t:sort_by("a", w)) end,
      sum = function() return (g:sum("b", w)) end,
      std = function() return (g:std("b", w)) end,
      max = function() return (g:max(w)) end,
      ["plot.line"] = function() return (p:line(v, w)) end,
      ["plot.histogram"] = function() return (p:histogram(v, w)) end,
    } do
      fails(("[%s] expected "):format(name), call)
      fails("got global 'w' (a nil value)", call)
    end
    fails("[group_by] expected names of columns, got nil", t.group_by, t, nil)
    fails("[select] expected names of columns, got nil", t.select, t, nil)
    fails("[sort_by] expected names of columns, got nil", t.sort_by, t, nil)
    fails("[count] expected no arguments, got 1: g:count()", g.count, g, nil)
    fails("[take] expected at most 1 argument, got 2: t:take(rows)", t.take, t, { 1 }, 2)
    fails("[operator:matmul] expected at most 1 argument, got 2", operator.matmul, operator, v, nil)
    -- The arguments of a script's function are its own.
    assert(select("#", gpu.scope(function(...) return ... end, 1, nil)) == 2)
  end)

  it("is an error of the script's functions that the library calls", function()
    fails("[sum] expected axis, got nil", gpu.fuse(function(y) return y:sum(axes) end), x)
    fails("[sum] expected axis, got nil", gpu.apply_along_axis, function(row) return row:sum(axes) end, 1, x)
    fails("[sum] expected axis, got global 'axes'", gpu.scope, function() local y = x:sum(axes) return y end)
  end)

  it("is none in options, in the arguments of other functions, and within the library", function()
    local axis
    assert.are.same({ 5, 5 }, x:sum({ axis = 1, keepdims = axis }):table())
    assert.are.equal(10, x:sum({ axis = axis }):item())
    assert.are.equal(2, gpu.scope(function(...) return select("#", ...) end, nil, nil))
    assert.are.equal(2.5, x:median():item())
    assert.is_true(math.abs(gpu.linalg.norm(x):item() - math.sqrt(30)) < 1e-5)
    local functions = { gpu.median, gpu.ptp, gpu.softmax, gpu.linalg.det }
    for i = 1, #functions do assert.is_true(functions[i](x).size > 0) end
  end)
end)
