-- Derivatives against differences, closed forms and each other. partials_spec.lua has the elementwise operations one by one.
local gpu = require "gpu"
local support = require "support"

local fails = support.fails

local function close(x, wanted) assert(gpu.allclose(x, gpu.array(wanted, "float64")), tostring(x)) end

local function normal(...) return gpu.random.normal({...}, 0, 1, "float64"):eval() end

-- Second derivatives follow from the same rules: where a compiler takes long for each of their kernels, the first ones do.
local order = gpu.device().kind == "cpu" and 2 or 1

before_each(function() gpu.random.seed(3) end)

describe("partial derivatives of the elementwise operations", function()
  it("are 0 for steps, and refused where there is no formula", function()
    local x = gpu.linspace(0.3, 1.7, 5, "float64")
    for _, name in ipairs {"floor", "ceil", "trunc", "round", "rint", "sign"} do
      assert.equal(0, gpu.grad(function(x) return gpu[name](x):sum() end)(x):abs():max():item())
    end
    fails("[gammainc] has for its operand 1 no derivative", function() gpu.grad(function(a) return gpu.gammainc(a, 2):sum() end)(x) end)
  end)

  it("at ties, zeros and behind masks", function()
    local function slope(f, ...) return gpu.grad(f, {each = true})(gpu.array({...}, "float64")) end
    close(slope(function(x) return x:maximum(0) end, -1, 0, 2), {0, 0, 1})
    close(slope(function(x) return gpu.maximum(0, x) end, -1, 0, 2), {0, 0, 1})
    close(slope(function(x) return gpu.maximum(x, x * 1) end, 2), {1})
    close(slope(function(x) return gpu.clip(x, -1, 1) end, -1, 0, 1, 2), {0, 1, 0, 0})
    close(slope(gpu.abs, -2, 0, 2), {-1, 0, 1})
    close(slope(function(x) return gpu.where(x:gt(0), gpu.sqrt(x), 0) end, 0, 4), {0, 0.25})
    close(slope(function(x) return gpu.where(x:gt(0), x * gpu.log(x), 0) end, 0, 1), {0, 1})
    close(slope(function(x) return x ^ 0 end, 0, 2), {0, 0})
    close(slope(function(x) return x ^ 2 end, 0, -2), {0, -4})
    close(slope(function(x) return gpu.hypot(x, 0) end, 0, 2), {0, 1})
    close(gpu.grad(function(x) return x:max() end)(gpu.array {3, 1, 3}), {0.5, 0, 0.5})
    close(gpu.grad(function(x) return x:prod() end)(gpu.array {0, 2, 3}), {6, 0, 0})
    close(gpu.grad(function(x) return x:prod() end)(gpu.array {0, 0, 3}), {0, 0, 0})
    close(gpu.hessian(function(x) return x:prod() end)(gpu.array {0, 2, 3}), {{0, 3, 2}, {3, 0, 0}, {2, 0, 0}})
    close(gpu.hessian(function(x) return x:prod() end)(gpu.array {0, 0, 3}), {{0, 3, 0}, {3, 0, 0}, {0, 0, 0}})
    close(slope(function(x) return gpu.where(x:gt(0.5), x, x * math.huge) end, 0.7, 2), {1, 1})
    close(slope(function(x) return gpu.where(x:le(0.5), x * math.huge, x) end, 0.7, 2), {1, 1})
    close(slope(function(x)
      local y = gpu.sqrt(x)
      y = gpu.where(y:eq(y), y, gpu.where(x:lt(-5), x, y * 2)) -- two masks meet in a sum
      return gpu.where(x:ge(0), y, 3 * x)
    end, -1, 4), {3, 0.25})
    local of_nan = gpu.grad(function(x) return x:max() end)(gpu.array {1, 0 / 0, 2})
    assert(gpu.isnan(of_nan):all():item())
    -- What is NaN has no derivative but NaN; fmax and fmin have the other operand there.
    local nan, small = 0 / 0, gpu.array({0, 1}, "float64")
    for _, f in ipairs {function(x) return x:maximum(0) end, function(x) return gpu.minimum(2, x) end, function(x) return gpu.clip(x, -1, 3) end,
      function(x) return gpu.maximum(x, small) end, function(x) return gpu.minimum(small + 1, x) end} do
      local d = slope(f, nan, 0.5):table()
      assert(d[1] ~= d[1] and d[2] == d[2])
    end
    close(slope(function(x) return gpu.fmax(x, 0) end, nan, 1), {0, 1})
    close(slope(function(x) return gpu.fmax(x, small) end, nan, 2), {0, 1})
    close(slope(function(x) return gpu.fmin(x, small * nan) end, 1, 2), {1, 1})
    close(slope(function(x) return gpu.where(x:eq(x), x:maximum(0), 0) end, nan, 1), {0, 1})
    close(gpu.grad(function(x) return gpu.norm(x) + gpu.norm(x, 3) end)(gpu.array {0, 0}), {0, 0})
    close(gpu.grad(function(x) return gpu.cumprod(x):sum() end)(gpu.array {2, 0, 3}), {1, 8, 0})
    close(gpu.grad(function(x) return gpu.cummax(x):sum() end)(gpu.array {1, 1, 0, 2}), {1, 2, 0, 1})
    -- Of equal eigenvalues, what all their vectors share has a derivative: here a projection.
    local A = gpu.array({{1, 0, 0}, {0, 1, 0}, {0, 0, 3}}, "float64")
    local g = gpu.grad(function(a)
      local _, v = gpu.linalg.eigh(a)
      local two = v(":", {1, 2})
      return gpu.matmul(two, two.T)(1, 3)
    end)(A)
    close(g, {{0, 0, -0.25}, {0, 0, 0}, {-0.25, 0, 0}})
  end)
end)

describe("derivatives of functions of arrays", function()
  local function agree(name, f, ...)
    local w
    for i = 1, select("#", ...) do
      local arguments = {...}
      w = w or normal(unpack(f(...).shape))
      local worst = gpu.check_grad(function(z)
        arguments[i] = z
        return (f(unpack(arguments)) * w):sum()
      end, arguments[i], {order = order, directions = 1})
      assert(worst < 1e-6, ("%s, argument %d: %g"):format(name, i, worst))
    end
  end

  it("agree with differences", function()
    local A, B, v, T = normal(4, 5), normal(5, 3), normal(5), normal(2, 4, 5)
    agree("matmul", gpu.matmul, A, B)
    agree("matrix and vector", gpu.matmul, A, v)
    agree("vector and matrix", gpu.matmul, v, B)
    agree("vectors", gpu.matmul, v, v + 1)
    agree("batch", gpu.matmul, T, B)
    agree("einsum", function(a, b) return gpu.einsum("ij,jk->k", a, b) end, A, B)
    agree("outer", gpu.outer, v, v + 1)
    agree("cumsum", function(x) return x:cumsum(2) ^ 2 end, A)
    agree("cumsum of all", function(x) return x:cumsum() end, A)
    agree("sort", function(x) return gpu.sort(x, 2) ^ 2 end, A)
    agree("concat", function(x, y) return gpu.concat({x, y}, 2) ^ 2 end, A, A + 1)
    agree("stack", function(x, y) return gpu.stack({x, y}, 2) ^ 2 end, A, A + 1)
    for axis = 1, 2 do
      agree("sum", function(x) return x:sum(axis) ^ 2 end, A)
      agree("mean", function(x) return x:mean(axis, {keepdims = true}) * x end, A)
      agree("max", function(x) return x:max(axis) ^ 2 end, A)
      agree("min", function(x) return x:min(axis, {keepdims = true}) * x end, A)
      agree("prod", function(x) return x:prod(axis) end, A)
      agree("var", function(x) return x:var(axis) ^ 2 end, A)
      agree("std", function(x) return x:std(axis) end, A)
      agree("logsumexp", function(x) return gpu.logsumexp(x, axis) end, A)
      agree("softmax", function(x) return gpu.softmax(x, axis) end, A)
    end
    agree("transpose", function(x) return x.T * x.T end, A)
    agree("swapaxes", function(x) return x:swapaxes(1, 3) ^ 2 end, T)
    agree("slice", function(x) return x("2:3", ":") ^ 2 end, A)
    agree("slice of a slice", function(x) return x("2:4", ":")(2, {1, 5, 2}) ^ 2 end, A)
    agree("one element", function(x) return x(2, 3) * x end, A)
    agree("index array", function(x) return x[gpu.array({1, 1, 3}, "int32")] ^ 2 end, A)
    agree("index array of a view", function(x) return x.T[gpu.array({1, 1, 3}, "int32")] ^ 2 end, A)
    agree("take_along_axis", function(x) return gpu.take_along_axis(x, gpu.argsort(x:detach(), 2), 2) ^ 2 end, A)
    agree("reshape", function(x) return x:reshape(5, 4) ^ 2 end, A)
    agree("flip", function(x) return gpu.flip(x, 2) * x end, A)
    agree("roll", function(x) return gpu.roll(x, 2, 1) * x end, A)
    agree("broadcast", function(x) return x:broadcast_to{4, 5} ^ 2 * A end, v)
    agree("broadcasting", function(x, y) return x * y + y end, v, A)
    agree("diagonal", function(x) return gpu.diag(x) ^ 2 end, A)
    agree("trace", function(x) return gpu.trace(x) ^ 2 end, A)
    agree("copy", function(x) return x:copy() * x end, A)
    agree("norm", function(x) return gpu.linalg.norm(x) end, A)
    agree("loop", function(x) return (gpu.loop(5, function(z) return gpu.sin(z) + x end, x)) end, A)
  end)

  it("of complex arrays are directions of ascent", function()
    local z = gpu.array({1, 2}, "complex128") * gpu.array(1, "complex128")
    local g = gpu.grad(function(z) return (gpu.abs(z) ^ 2):sum() end)(z)
    assert(gpu.allclose(g, 2 * z))
    local h = gpu.grad(function(z) return (z * z):real():sum() end)(z)
    assert(gpu.allclose(h, 2 * gpu.conj(z)))
  end)

  it("of tables have their structure", function()
    local w, b = normal(3), normal(3)
    local g = gpu.grad(function(p) return (p.layers[1].w * p.b):sum() * p.scale end)({layers = {{w = w}}, b = b, scale = 2, name = "x"})
    assert(gpu.allclose(g.layers[1].w, 2 * b) and gpu.allclose(g.b, 2 * w))
    assert(g.scale == nil and g.name == nil)
  end)

  it("along directions, in both modes, and checked, take tables, too", function()
    local p, v = {w = normal(2, 3), layers = {{b = normal(3)}}, scale = 2}, {w = normal(2, 3), layers = {{b = normal(3)}}}
    local x = normal(3)
    local function f(p, x) return gpu.tanh(p.w * x + p.layers[1].b):sum(1) * p.scale end
    local function of(w, b, x) return f({w = w, layers = {{b = b}}, scale = 2}, x) end
    local y, dy = gpu.jvp(f, {p, x}, {v, x})
    local z, dz = gpu.jvp(of, {p.w, p.layers[1].b, x}, {v.w, v.layers[1].b, x})
    assert(gpu.array_equal(y, z) and gpu.allclose(dy, dz))
    for _, mode in ipairs {"forward", "reverse"} do
      local J = gpu.jacobian(f, {mode = mode})(p, x)
      local wanted = gpu.jacobian(of, 2, {mode = mode})(p.w, p.layers[1].b, x)
      assert(J.w.shape == gpu.zeros(3, 2, 3).shape and J.scale == nil and gpu.allclose(J.layers[1].b, wanted))
      assert(gpu.allclose(J.w, gpu.jacobian(of, 1, {mode = mode})(p.w, p.layers[1].b, x)))
    end
    local function total(p) return (f(p, x) ^ 2):sum() end
    local Hv = gpu.hvp(total, p, v)
    local _, _, pull = gpu.vjp(function(w, b) return gpu.grad(function(w, b) return (of(w, b, x) ^ 2):sum() end, {1, 2})(w, b) end, p.w, p.layers[1].b)
    local by_w, by_b = pull(v.w, v.layers[1].b)
    assert(gpu.allclose(Hv.w, by_w) and gpu.allclose(Hv.layers[1].b, by_b))
    assert(gpu.check_grad(total, p, {order = order}) < 1e-6)
    local wrong = gpu.custom(function(b) return b * b end, {vjp = function(g, _, b) return 3 * g * b end})
    assert(gpu.check_grad(function(p) return total {w = p.w, layers = {{b = wrong(p.layers[1].b)}}, scale = 2} end, p) > 1e-3)
    fails('[jvp] expected a tangent of the shape of argument 1.w, an array float64[2x3]', function() gpu.jvp(f, {p, x}, {{w = x, layers = v.layers}, x}) end)
    fails("[jvp] expected a tangent like argument 1, got argument 1.layers[1].a too", function()
      gpu.jvp(f, {p, x}, {{w = v.w, layers = {{a = x, b = x}}}, x})
    end)
    fails("[hvp] expected an array of the shape of x.layers[1].b", function() gpu.hvp(total, p, {w = v.w}) end)
    for _, name in ipairs {"grad", "value_and_grad", "jacobian", "hessian", "hvp", "vjp", "jvp", "checkpoint"} do
      fails("[" .. name .. "] expected a function of arrays, got an array float32[3]; it takes f itself, as gpu.grad(f)(x) does, not the result of f(x)",
        gpu[name], gpu.ones(3))
    end
    fails("[jacobian] expected an array of real or complex numbers, or a table of them, as argument 1", function() gpu.jacobian(f)({1, 2}, x) end)
    fails("[hessian] expected a function whose result is an array", function() gpu.hessian(total)(p) end)
  end)

  it("of numbers take the dtype of the arrays", function()
    local x = gpu.ones(4)
    local y, dr = gpu.value_and_grad(function(x, r) return (x * r + r * 2):sum() end, 2)(x, 0.5)
    assert.equal("float32", y.dtype)
    assert.equal("float32", dr.dtype)
    assert.equal(12, dr:item())
    local function f(x, r, v) return gpu.exp(-r * x) * (r + 0.5 * v * v) end
    for _, options in ipairs {{each = true}, {}} do
      local function whole(...) return options.each and f(...) or f(...):sum() end
      for _, g in ipairs {gpu.grad(whole, {1, 2, 3}, options)(x, 0.02, 0.3)} do assert.equal("float32", g.dtype) end
    end
  end)

  it("of what is linear are constants, whose derivatives are 0", function()
    local x = gpu.linspace(1, 2, 4, "float64")
    local once = gpu.grad(function(x, r) return 3 * x + r end, 1, {each = true})
    close(once(x, 0.5), {3, 3, 3, 3})
    close(gpu.grad(once, 1, {each = true})(x, 0.5), {0, 0, 0, 0})
    close(gpu.hessian(function(x) return (3 * x):sum() end)(gpu.ones(2, "float64")), {{0, 0}, {0, 0}})
  end)

  it("of float16 are summed in float32", function()
    local x = gpu.ones(3, "float16")
    local g = gpu.grad(function(x) return (x * 3):sum() end)(x)
    assert.equal("float16", g.dtype)
    close(g, {3, 3, 3})
  end)

  it("see constants as they were", function()
    local x, c = normal(3), gpu.ones(3, "float64")
    local g = gpu.grad(function(x)
      local y = x * c
      c:mul_(5)
      return (y * c):sum()
    end)(x)
    close(g, {5, 5, 5})
    local y, pull = gpu.vjp(function(z) return z * z end, x)
    local before = x:copy()
    x:fill_(7)
    y:fill_(7)
    assert(gpu.allclose(pull(gpu.ones_like(before)), 2 * before))
  end)

  it("of each element are one kernel with the value", function()
    local function price(S, K, T, r, s)
      local root = s * gpu.sqrt(T)
      local d = (gpu.log(S / K) + (r + 0.5 * s ^ 2) * T) / root
      return S * gpu.normcdf(d) - K * gpu.exp(-r * T) * gpu.normcdf(d - root)
    end
    local S, s = gpu.linspace(80, 120, 50):eval(), gpu.linspace(0.1, 0.5, 50):eval()
    local K, T = gpu.full({50}, 100, "float32"):eval(), gpu.ones(50):eval()
    local all = {gpu.value_and_grad(price, {1, 2, 3, 4, 5}, {each = true})(S, K, T, 0.02, s)}
    local _, kernels = gpu.explain(unpack(all)):gsub("__global__", "")
    assert.equal(1, kernels)
    local d1 = (gpu.log(S / 100) + 0.02 + 0.5 * s ^ 2) / s
    assert(gpu.allclose(all[2], gpu.normcdf(d1), {rtol = 1e-4}))
    assert(gpu.allclose(all[6], S * gpu.exp(-0.5 * d1 ^ 2) / math.sqrt(2 * math.pi), {rtol = 1e-4}))
  end)

  it("forward and reverse agree", function()
    local x = normal(4)
    local function f(x) return gpu.sin(x) * x:sum() + gpu.roll(x, 1, 1) ^ 2 end
    assert(gpu.allclose(gpu.jacobian(f, {mode = "forward"})(x), gpu.jacobian(f, {mode = "reverse"})(x)))
    local function masked(x) return gpu.where(x:gt(0), gpu.sqrt(gpu.abs(x)), 0) * x:prod() end
    assert(gpu.allclose(gpu.jacobian(masked, {mode = "forward"})(x), gpu.jacobian(masked, {mode = "reverse"})(x)))
    local H = gpu.hessian(function(x) return (x ^ 3):sum() * x({1, 1}):sum() end)(x)
    assert(gpu.allclose(H, H.T))
  end)

  it("keep no memory", function()
    local x = gpu.ones(1000)
    local slope = gpu.value_and_grad(function(x) return (gpu.exp(x) * x):sum() end)
    local function run(count) for _ = 1, count do gpu.eval(slope(x)) end collectgarbage() collectgarbage() end
    run(20)
    local before = gpu.memory().used
    run(200)
    assert(gpu.memory().used <= before)
  end)

  it("take a function's own rule", function()
    local f = gpu.custom(function(x) return x * x end, {vjp = function(g, y, x)
      assert(gpu.allclose(y, x * x))
      return 5 * g * x
    end})
    local x = normal(3)
    assert(gpu.allclose(gpu.grad(function(x) return f(x):sum() end)(x), 5 * x))
    local two = gpu.custom(function(x, y) return x + y, x * y end, {vjp = function(g, _, x, y) return g[1] + g[2] * y, g[1] + g[2] * x end})
    local function total(x, y)
      local a, b = two(x, y)
      return (a * b):sum()
    end
    local turned = gpu.custom(function(x) return x.T end, {vjp = function(g) return g.T end})
    local A, w = normal(2, 3), normal(2)
    assert(gpu.allclose(gpu.grad(function(a) return (turned(a)(2, ":") * w):sum() end)(A), gpu.stack({w * 0, w, w * 0}, 2)))
    local own = gpu.custom(function(x) return x end, {vjp = function(g) return 3 * g end})
    assert(gpu.allclose(gpu.grad(function(x) return own(x):sum() + x:sum() end)(x), gpu.full({3}, 4, "float64")))
    local gx, gy = gpu.grad(total, {1, 2})(x, x + 1)
    local wx, wy = gpu.grad(function(x, y) return ((x + y) * (x * y)):sum() end, {1, 2})(x, x + 1)
    assert(gpu.allclose(gx, wx) and gpu.allclose(gy, wy))
  end)
end)

describe("what has no derivative", function()
  local x = gpu.linspace(1, 2, 4, "float64"):eval()

  local function refused(message, f, ...)
    local arguments = {...}
    if #arguments == 0 then arguments = {x} end
    fails(message, function() gpu.grad(f)(unpack(arguments)) end)
  end

  it("raises, and says why", function()
    refused("first result is one real number, got an array float64[4]", function(x) return x end)
    refused("depends on its arguments, got 3", function() return 3 end)
    refused("the result depends on no variable", function() return x:sum() end)
    refused("the result depends on no variable", function(z) return z:gt(1):astype("float64"):sum() end)
    local half = assert(loadstring("local s = ...\nlocal first = s:item()\nreturn gpu.full({}, first * 2)", "=half.lua"))
    refused("half.lua:2: [item] x:item() gives numbers, which a derivative does not follow: x itself is a part of the formula", half, x[{1}])
    refused("[table] x:table() gives numbers", function(z) return gpu.array(z:table()):sum() end)
    refused("[host] x:host() gives numbers", function(z) return z:host()[0] * z:sum() end)
    refused("[grad] expected real or complex numbers as argument 1", function(i) return i:sum() end, gpu.arange(3))
    -- A refusal within the library names the function that the script calls.
    refused("[linalg.lu_factor] has no derivative", function(z) return (gpu.linalg.lu_factor(z:reshape(2, 2))):sum() end)
    refused("[ndimage.shift] has no derivative", function(z) return gpu.ndimage.shift(z, 0.5):sum() end)
    refused("[fft.fft] the option out", function(z) return gpu.fft.fft(z, {out = gpu.zeros(4, "complex128")}):abs():sum() end)
    refused("[linalg.eigh] has for its option b no derivative", function(z)
      return (gpu.linalg.eigh(gpu.eye(2, "float64") * z(1), {b = z:reshape(2, 2)})):sum()
    end)
    refused("[linalg.svd] has for the vectors of full_matrices = true no derivative", function(z) return (gpu.linalg.svd(z:reshape(4, 1))):sum() end)
    refused("has no derivative", function(z)
      local y = gpu.zeros(4, "float64")
      gpu.jit(function(y) y[gpu.grid()] = z[1] end):over(1)(y)
      return y:sum() + z:sum()
    end)
    refused("[index] x[i] is a number, which a derivative does not follow", function(z) return z[1] ^ 2 + z:sum() end)
    refused("has no derivative", function(z)
      local out = gpu.zeros(4, "float64")
      local twice = gpu.kernel([[__global__ void twice(const double* x, double* y) { y[threadIdx.x] = 2 * x[threadIdx.x]; }]], "twice")
      twice {grid = 1, block = 4} (z, out)
      return out:sum()
    end)
    refused("has no derivative", function(z)
      return gpu.elementwise {inputs = "T a", outputs = "T b", body = "b = a * a"}(z):sum()
    end)
    refused("[matmul] the option out", function(z)
      local out = gpu.zeros(1, 1, "float64")
      gpu.matmul(z:reshape(1, 4), z:reshape(4, 1), {out = out})
      return out:sum()
    end)
    local W = gpu.ones(4, 4, "float64"):eval()
    local _, pull = gpu.vjp(function(z) return gpu.matmul(z:reshape(1, 4), W) end, x)
    W:mul_(2)
    fails("was written after it", pull, gpu.ones({1, 4}, "float64"))
    -- Functions of the library that compute with elements on the host.
    refused("has no derivative", function(z) return gpu.roots(z):abs():sum() end)
    refused("[cubic_spline] has no derivative", function(z) return gpu.cubic_spline(z, z)(1.5):sum() end)
    refused("graph", function(z) return select(2, gpu.graph(function() return z:sum() end)) end)
    fails("each = true expected elementwise operations alone", function() gpu.grad(function(z) return z - z:mean() end, {each = true})(x) end)
    fails("each = true expected elementwise operations alone", function()
      gpu.grad(function(z) return z.T * 2 end, {each = true})(x:reshape(2, 2))
    end)
    fails("positions of arguments", function() gpu.grad(gpu.sin, 0) end)
    fails("[grad] expected an argument 2", function() gpu.grad(function(z) return z:sum() end, 2)(x) end)
    fails("option", function() gpu.grad(gpu.sin, {eech = true}) end)
    fails("a function of arrays", function() gpu.grad(3) end)
  end)

  it("leaves no tape open after an error", function()
    pcall(gpu.grad(function() error "own" end), x)
    local y = gpu.cumprod(x)
    assert.equal(4, y.size)
    x:copy():add_(1)
  end)
end)

describe("derivatives by a number", function()
  local function cube(S) return S ^ 3 end
  local g = gpu.grad(cube)
  local each = { each = true }

  it("go on to the second and the third", function()
    assert.are.equal(12, gpu.grad(g)(2):item())
    assert.are.equal(6, gpu.grad(gpu.grad(g))(2):item())
    assert.are.equal(36, gpu.grad(function(S) return S * g(S) end)(2):item())
    local first, second = gpu.value_and_grad(g)(2)
    assert.are.same({ 12, 12 }, { first:item(), second:item() })
  end)

  it("are the same by an array that is a constant", function()
    local x = gpu.full({ 3 }, 2)
    local inner = function(y) return gpu.grad(function(z) return (z ^ 3):sum() end)(y):sum() end
    assert.are.same({ 12, 12, 12 }, gpu.grad(inner)(x):table())
  end)

  it("give gamma and volga of a chain of strikes", function()
    local S, K, v = 100, { 90, 100, 110 }, 0.2
    local function call(s, k, sigma)
      local d = (gpu.log(s / k) + sigma * sigma / 2) / sigma
      return s * gpu.normcdf(d) - k * gpu.normcdf(d - sigma)
    end
    local strikes = gpu.array(K, "float64")
    local gamma = gpu.grad(gpu.grad(call, 1, each), 1, each)(S, strikes, v):table()
    local volga = gpu.grad(gpu.grad(call, 3, each), 3, each)(S, strikes, v):table()
    for i, k in ipairs(K) do
      local d = (math.log(S / k) + v * v / 2) / v
      local density = math.exp(-d * d / 2) / math.sqrt(2 * math.pi)
      assert.is_true(math.abs(gamma[i] - density / (S * v)) < 1e-12)
      assert.is_true(math.abs(volga[i] - S * density * d * (d - v) / v) < 1e-9)
    end
  end)

  it("follow a number that is written to an element", function()
    local function f(a)
      local p = gpu.empty(2, "float64")
      p[1] = a
      p[2] = p({ 1, 1 }) * a
      return p:sum()
    end
    assert.are.equal(4, gpu.grad(f)(1.5):item())
  end)

  it("do not advise to read a number", function()
    for body, hint in pairs {
      ["return S * math.exp(S)"] = "x:exp(...) takes one; x:detach():item() is its number, a constant",
      ["return (gpu.full({ 3 }, S) * S):sum()"] = "x:broadcast_to(sizes) repeats the element",
      ["return gpu.array { S, S }:sum()"] = "gpu.stack{x, y} makes an array of arrays",
      ["return S:reshape(1):rolling(1):mean():sum()"] = "gpu.sliding_window(x, n):mean(-1) has one",
    } do
      support.fails(hint, gpu.grad(assert(loadstring("local gpu = require 'gpu' return function(S) " .. body .. " end"))()), 1.5)
    end
  end)
end)
