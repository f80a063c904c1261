-- Mistakes of who comes from SciPy with measurements, signals and equations: a message names the cause and what to write.
local gpu = require "gpu"
local support = require "support"
local fails = support.fails

local device = "GPULUA_DEVICE=" .. gpu.device().name

-- What a script prints, and its status.
local function run(code)
  return support.run('local gpu = require "gpu"\n' .. code, device, "science.lua")
end

-- The code, and what its message has.
local mistakes = {
  {"names of SciPy and of others",
    {"gpu.optimize.fmin(f, x)", 'use gpu.optimize.minimize(f, x0, {method = "Nelder-Mead"})'},
    {"gpu.optimize.fmin_bfgs(f, x)", 'use gpu.optimize.minimize(f, x0, {method = "BFGS"})'},
    {"gpu.optimize.leastsq(f, x)", "use gpu.optimize.least_squares(f, x0)"},
    {"gpu.optimize.brent(f)", "use gpu.optimize.minimize_scalar(f, {bounds = {a, b}})"},
    {"gpu.optimize.nnls(A, b)", "{bounds = {low = 0}})"},
    {"gpu.fzero(f, 1)", "use gpu.optimize.root_scalar(f, {bracket = {a, b}})"},
    {"gpu.integrate.cumtrapz(x)", "use gpu.cumulative_trapezoid(y, spacing)"},
    {"gpu.integrate.quadpack(f)", "use gpu.integrate.quad(f, a, b)"},
    {"gpu.integrate.ode(f)", "use gpu.integrate.solve_ivp(f, {t0, t1}, y0)"},
    {"gpu.integrate.solve_bvp(f)", "solve_ivp is of initial values"},
    {"gpu.ndimage.regionprops(x)", "use gpu.ndimage.sum_labels(x, labels, index)"},
    {"gpu.linalg.pca(x)", "use gpu.linalg.svd(x - x:mean(1), {full_matrices = false})"},
    {"gpu.kmeans(x, 3)", "for the nearest centres, in a loop: there is no k-means"},
    {"gpu.interp1d(x, x)", "use gpu.interp(x, xp, fp), or gpu.cubic_spline(xp, fp)"},
  },
  {"fits",
    {"fit(line, x, y, {1, 1}, {sigma = x})", "[optimize.curve_fit] expected standard deviations sigma above 0, got sigma[1] = 0"},
    {"fit(line, x, y, {1, 1}, {sigma = 1 - x * 4})", "got sigma[2] = 0"},
    {"fit(line, x, y / (y - 1.5), {1, 1})", "[optimize.curve_fit] expected finite numbers, got y[2] = inf; a mask leaves values out"},
    {"fit(line, x, y - 0 / 0, {1, 1})", "expected finite numbers, got y[1] = NaN"},
    {"fit(function(x, a) return (x - 0.5) ^ a end, x, y, {0.5})", "expected finite numbers, got f(x, ...)[1] = NaN at p0: begin where f is"},
    {"fit(line, x, y, {p0 = {1, 1}})", "p0 is an argument, not an option: gpu.optimize.curve_fit(f, x, y, p0)"},
    {"fit(line, x, y, {sigma = 1})", "expected p0: an array or a list of numbers, got a table"},
    {"gpu.optimize.least_squares(function(p) return p end, {x0 = {1}})", "x0 is an argument, not an option"},
    {"gpu.stats.linregress(x * 0 + 3, y)", "[stats.linregress] expected an x with different numbers, got 5 times 3: a vertical line has no slope"},
  },
  {"differential equations",
    {"gpu.integrate.solve_ivp(function(t, y, dy) dy[1] = y[2] end, {0, 1}, gpu.ones(4, 2), {each = true})",
      "expected a function that sets dy[1] to dy[2], as the last axis of y0 has 2 elements, got one that never sets dy[2]; dy[2] = 0 keeps y[2]"},
    {"gpu.integrate.solve_ivp(function(t, y) return -y end, {0, 1}, {1}, {events = {f}, terminal = true})",
      "; it is a field of an event: events = {{g, terminal = true"},
    {"gpu.integrate.solve_ivp(function(t, y) return -y end, {0, 1}, {1}, {t_eval = gpu.linspace(0, 1.5, 3)})",
      "expected times t_eval between t0 = 0 and t1 = 1, got 1.5\n"},
  },
  {"complex numbers",
    {"x:copy_(z)", "[copy_] expected real numbers for an array of float64, got complex128[5]; z:real(), z:imag() and z:abs() are real"},
    {"(function() x['1:5'] = z end)()", "[index] expected real numbers for an array of float64, got complex128[5]"},
    {"(function() x[x:gt(-1)] = z end)()", "[index] expected real numbers for an array of float64, got complex128[5]"},
    {"x:put(gpu.array {1, 2, 3, 4, 5}, z)", "[put] expected real numbers"},
    {"x:put_along_axis(gpu.array {1, 2, 3, 4, 5}, z, 1)", "[put_along_axis] expected real numbers"},
    {"x:fill_(z:sum())", "[fill_] expected real numbers for an array of float64, got complex128[]"},
    {"math.abs(z[1])", "z:abs(), z:real() and z:imag() are arrays of numbers"},
  },
  {"options and arguments",
    {"gpu.ndimage.label(gpu.eye(3), {connectivity = 2})", "structure = gpu.ndimage.generate_binary_structure(axes, connectivity) says"},
    {"gpu.fft.fftfreq(8, {fs = 100})", "gpu.fft.fftfreq(n, 1 / fs)"},
    {"gpu.max(x, 0.5)", "[max] expected an axis: an integer, got 0.5; gpu.maximum(x, y) compares element by element"},
    {"x:take(x:gt(0))", "[take] expected an array of integers, got bool[5]; x[mask] takes the elements of a mask"},
    {"x:put(x:gt(0), 1)", "x[mask] = values sets the elements of a mask"},
    {"gpu.plot.line({1, 2}, {size = {8, 6}})", "got a table; p:save(path, {size = {width, height}}) sets the size of a picture"},
    {"gpu.save(os.tmpname() .. '.npz', {a = {x = x}})", 'a file has one level of names, such as ["a/x"]'},
    {"gpu.sparse.eye(3)[1][2]", "A(i, j) is an element, A[i] a matrix of one row"},
    {"gpu.eye(1e7):eval()", "[memory] out of memory"},
    {"gpu.outer(gpu.ones(1e7), gpu.ones(1e7)):eval()", "for an array of shape (10000000,10000000) wanted, limit"},
  },
  {"indices and functions",
    {"m[1][2][3]", "hint: m[1][2] is a number: an array has as many indices as axes, x.ndim"},
    {"x[1][2]", "hint: x[1] is a number"},
    {"x.shape[3] + 1", "hint: x.shape has as many sizes as x has axes, x.ndim"},
    {"x.shape[3] > 1", "hint: x.shape has as many sizes as x has axes, x.ndim"},
    {"gpu.timer() - started", "; parentheses call a function, and what a call gives may be one: local seconds = gpu.timer()"},
    {"1 + started", "; parentheses call a function: started() is a value, x:mean() that of a method"},
  },
  {"kernels in Lua",
    {"gpu.jit(function(a) local i = gpu.grid() if i <= 3 then a[i] = i end end):over(3)({0, 0, 0})",
      "a is a table, whose numbers are constants in a kernel: gpu.array(a) is an array"},
    {"gpu.jit(function(a) local n = #a local half = n / 2 a[half] = 1 end):over(1)(x)",
      "expected an integer as the index of a, got a number; / gives fractions, math.floor(x / y) an integer"},
    {"gpu.jit(function(a) a[1][gpu.grid() / 2] = 1 end):over(1)(gpu.ones(2, 3))", "expected an integer as the index of a on axis 2, got"},
  },
}

describe("mistakes with measurements:", function()
  for _, group in ipairs(mistakes) do
    it(group[1], function()
      for i = 2, #group do
        local code, part = unpack(group[i])
        local output = run(([[
          local x, m, fit, started = gpu.linspace(0, 1, 5, "float64"), gpu.ones(3, 3), gpu.optimize.curve_fit, gpu.timer()
          local y, z, f = 2 * x + 1, gpu.fft.fft(x), function(x) return x[1] end
          local function line(x, a, b) return a * x + b end
          local _ = %s]]):format(code))
        assert(output:find(part, 1, true), ("%s\nexpected: %s\ngot: %s"):format(code, part, output))
        assert(output:find("science.lua:5:", 1, true), output)
      end
    end)
  end
end)

describe("what may be meant", function()
  -- The warning's part, or nil where nothing is said.
  local function warns(part, code)
    local output, status = run(code)
    assert.are.equal(0, status, output)
    if part then assert(output:find(part, 1, true), ("%s\nexpected: %s\ngot: %s"):format(code, part, output)) else assert.are.equal("", output) end
  end

  it("is warned of for signals in columns", function()
    local axis = "axis = 1 has the most elements of (4096,3), axis = 2 means this one"
    for _, call in ipairs {"welch(x)", "csd(x, x)", "coherence(x, x)", "spectrogram(x)", "stft(x)"} do
      local op = call:match "%w+"
      warns(("science.lua:3: [%s] expected segments of 256 elements or more, got signals of 3 along axis 2; %s"):format(op, axis),
        "local x = gpu.randn(4096, 3)\nlocal f, p = gpu." .. call)
    end
    warns("[periodogram] expected segments of 32 elements or more, got signals of 3 along axis 2; " .. axis,
      "local f, p = gpu.periodogram(gpu.randn(4096, 3))")
    fails("as the signal has, got 256; " .. axis, gpu.welch, gpu.randn(4096, 3), {nperseg = 256})
  end)

  it("is not warned of for other signals", function()
    warns(nil, [[
      local x, y = gpu.randn(4096, 3), gpu.randn(10, 100)
      local results = {gpu.welch(x, {axis = 1}), gpu.welch(x, {axis = 2}), gpu.welch(y), gpu.welch(y, {nperseg = 20}), gpu.welch(gpu.randn(100)),
        gpu.periodogram(gpu.randn(1000, 100)), gpu.istft(select(3, gpu.stft(gpu.randn(4000))))}]])
  end)

  it("is warned of where covariances are infinite", function()
    local fit = [[
      local function line(x, a, b) return a * x + b end
      local function fit(x, options) return gpu.optimize.curve_fit(line, gpu.array(x, "float64"), gpu.array(x, "float64"), {1, 1}, options or {}) end
    ]]
    warns("[optimize.curve_fit] expected more values than parameters, got 2 values of y for 2 parameters; the covariances are infinite",
      fit .. "fit {0, 1}")
    warns("expected at least as many values as parameters, of which one solution of many is found, got 1 value", fit .. "fit {1}")
    warns("expected data that tell all parameters apart, got 3 values of y for 2 parameters", fit .. "fit {1, 1, 1}")
    warns(nil, fit .. "fit {0, 1, 2} fit({0, 1}, {absolute_sigma = true, sigma = 0.1})")
  end)

  it("is warned of for a matrix that is not symmetric", function()
    warns("A is not symmetric: A[{1, 2}] is -3, and A[{2, 1}] is -1; bicgstab and gmres take any matrix", "gpu.sparse.linalg.cg(gpu.sparse.diags({-1, 2, -3}, {-1, 0, 1}, {50, 50}), gpu.ones(50))")
  end)
end)

describe("what was no mistake", function()
  it("is a least-squares problem whose residuals vanish", function()
    local x, info = gpu.optimize.least_squares(function(p) return p end, {1, 1})
    assert(info.converged and x[1] < 1e-100 and x[2] < 1e-100)
  end)

  it("is an f that sets dy at positions that are computed", function()
    local function decay(t, y, dy) for j = 1, 2 do dy[j] = -y[j] end end
    local function set(dy, j, value) dy[j] = value end
    local function passed(t, y, dy)
      set(dy, 1, -y[1])
      set(dy, 2, -y[2])
    end
    local function branched(t, y, dy)
      dy[1] = -y[1]
      if t > 0.5 then dy[2] = -y[2] else dy[2] = -y[2] end
    end
    for _, f in ipairs {decay, passed, branched} do
      local y = gpu.integrate.solve_ivp(f, {0, 1}, gpu.ones({3, 2}, "float64"), {each = true, rtol = 1e-8, atol = 1e-10})
      assert(gpu.allclose(y, math.exp(-1), {rtol = 1e-6}))
    end
  end)

  it("is a line through recorded numbers", function()
    local x, y = gpu.array({0, 1, 2}, "float64"), gpu.array({1, 3, 5}, "float64")
    local _, slope = gpu.graph(function() return (gpu.stats.linregress(x, y)) end)
    assert.are.equal(2, slope:item())
    assert(gpu.grad(function(a) return (gpu.stats.linregress(a, y)) end)(x):isfinite():all():item())
  end)

  it("is a mask of complex numbers", function()
    local mask = gpu.zeros(2, "bool")
    mask:copy_(gpu.array({gpu.complex(0, 0), gpu.complex(0, 2)}))
    assert.are.same({false, true}, mask:table())
  end)
end)

describe("gpu.In for what a kernel writes", function()
  local scale = [[
    local scale = gpu.kernel("__global__ void scale(float* x, const float* by, float* y) { x[threadIdx.x] *= by[0]; y[0] = x[0]; }", "scale")
    local y, launch = gpu.zeros(1), scale {grid = 1, block = 2}
  ]]
  it("is warned of, once a line", function()
    local output = run(scale .. "for _ = 1, 2 do launch(gpu.In {1, 2}, gpu.In {3}, y) end")
    local told = "science.lua:4: [scale] argument 1 (x): expected gpu.InOut(t) for data that the kernel changes, got gpu.In(t): what it writes is lost"
    assert(output:find(told, 1, true), output)
    assert.are.equal(1, select(2, output:gsub("InOut", "")), output)
  end)
  it("is right for what it reads", function()
    assert.are.equal("", (run(scale .. "local t = {1, 2} launch(gpu.InOut(t), gpu.In {3}, y) assert(t[2] == 6)")))
  end)
end)
