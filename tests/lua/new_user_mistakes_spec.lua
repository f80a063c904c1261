-- What people who come from NumPy, SciPy and Matplotlib write first: the messages say what to write here. Parts of messages.
local gpu = require "gpu"
local support = require "support"

local function surroundings()
  return setmetatable({ gpu = gpu, x = gpu.array { 1, 2, 3 }, y = gpu.array { 2, 4, 7 }, m = gpu.ones(2, 3), jitted = gpu.jit(function(v) v[1] = 1 end),
    t = gpu.table { s = { "a", "b", "a" }, day = { "2024-01", "2024-02", "x" }, mass = { 1.5, 2.5, 3.5 } } }, { __index = _G })
end

local mistakes = {
  { "functions with another number of parameters",
    { 'gpu.optimize.curve_fit(function(t, a, b) return a * t + b end, x, y, { 1 })',
      "[optimize.curve_fit] expected a function f(x, ...) with 2 parameters, got one with 3; the parameters come one by one" },
    { 'gpu.optimize.curve_fit(function(t, p) return p[1] * t + p[2] end, x, y, { 1, 1 })',
      "[optimize.curve_fit] expected a function f(x, ...) with 3 parameters, got one with 2" },
    { 'gpu.optimize.curve_fit(function(t, a) return a * t end, x, y, { 1 }, { jacobian = function(t, a, b) return t end })',
      "[optimize.curve_fit] expected a function jacobian(x, ...) with 2 parameters, got one with 3" },
    { 'gpu.optimize.minimize(function(x, y) return x ^ 2 + y ^ 2 end, gpu.ones(2))',
      "[optimize.minimize] expected a function f(x) with 1 parameter, got one with 2; x is all of them: x(1) and x(2) are elements" },
    { 'gpu.optimize.minimize(function(x) return (x ^ 2):sum() end, x, { gradient = function(x, y) return 2 * x end })',
      "[optimize.minimize] expected a function gradient(x) with 1 parameter, got one with 2" },
    { 'gpu.optimize.minimize(function(x) return (x ^ 2):sum() end, x, { callback = function(x, v, i) end })',
      "[optimize.minimize] expected a function callback(x, value) with 2 parameters, got one with 3" },
    { 'gpu.optimize.least_squares(function(x, y) return x - y end, gpu.ones(2))',
      "[optimize.least_squares] expected a function f(x) with 1 parameter, got one with 2" },
    { 'gpu.optimize.root_scalar(function(x, a) return x - a end, { bracket = { 0, 1 } })',
      "[optimize.root_scalar] expected a function f(x) with 1 parameter, got one with 2" },
    { 'gpu.integrate.quad(function(x, a) return x * a end, 0, 1)',
      "[integrate.quad] expected a function f(x, ...) with 1 parameter, got one with 2; {args = {...}} has the arguments after x" },
    { 'gpu.integrate.quad(function(x, a) return x * a end, 0, 1, { 2 })', "got 2; {args = {...}} has the function's last arguments" },
    { 'gpu.integrate.fixed_quad(function(x, a) return x * a end, 0, 1)', "[integrate.fixed_quad] expected a function f(x, ...) with 1" },
    { 'gpu.integrate.solve_ivp(function(t, y) return -y end, { 0, 1 }, y, { events = function(t, y, dy) return t end })',
      "[integrate.solve_ivp] expected a function of an event, (t, y, ...), with 2 parameters, got one with 3" },
    { 'gpu.grad(function(x, y) return (x * y):sum() end)(x)', "the local 'y' is nil; the function has 2 parameters and got 1 argument" },
    { 'gpu.jacobian(function(x, y) return x * y end)(x)', "the local 'y' is nil; the function has 2 parameters and got 1 argument" },
  },
  { "results in the place of functions",
    { 'gpu.grad((x ^ 2):sum())', "[grad] expected a function of arrays, got an array float32[]; it takes f itself, as gpu.grad(f)(x) does" },
    { 'gpu.value_and_grad(3)', "[value_and_grad] expected a function of arrays, got 3; it takes f itself" },
    { 'gpu.vjp(x, x)', "[vjp] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.jvp(x, { x }, { x })', "[jvp] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.hvp(x, x, x)', "[hvp] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.jacobian(x)', "[jacobian] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.hessian(x)', "[hessian] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.check_grad(x, x)', "[check_grad] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.checkpoint(x)', "[checkpoint] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.custom(x)', "[custom] expected a function of arrays, got an array float32[3]; it takes f itself" },
    { 'gpu.grad({})', "[grad] expected a function of arrays, got a table" },
    { 'gpu.grad(gpu.stream())', "[grad] expected a function of arrays, got a stream" },
  },
  { "functions that give something else",
    { 'gpu.grad(function(w) (w ^ 2):sum() end)(x)', "got nil; return gives a function's result" },
    { 'gpu.jacobian(function(w) local y = w ^ 2 end)(x)', "return gives a function's result" },
    { 'gpu.grad(function(w) return w:gt(1):sum() end)(x)', "got an array int64[], which does not change continuously; integers and" },
    { 'gpu.grad(function(w) return w:argmax() end)(x)', "[grad] expected a function whose first result has real numbers, got an array int64[]" },
    { 'gpu.grad(function(x) return (x ^ 2):sum():item() end)(x)', "[item] x:item() gives numbers, which a derivative does not follow" },
    { 'gpu.grad(function(x) return (x ^ 2):sum():detach():item() end)(x)', "got 14; a number, as y:item() gives, has no derivative" },
    { 'gpu.optimize.minimize(function(x) return x ^ 2 end, x)', "got an array float32[3]; of residuals r, r:square():sum() is one" },
    { 'gpu.integrate.solve_ivp(function(y, t) return -y end, { 0, 1 }, y)', "expected a function f(t, y), the time first" },
  },
  { "what is meant for another function",
    { 'x[x:gt(1)] = y', "[index] the mask chooses 2 of 3 elements, got values for all, of shape (3,); x[mask] = y[mask] takes" },
    { 'gpu.table(m, { "a", "b" })', "[table] expected a matrix with a column for each of the 2 names, got an array float32[2x3]" },
    { 'gpu.table(x, { "a" })', "[table] expected a matrix with a column for each of the 1 names, got an array float32[3]" },
    { 'gpu.table(m, { "a", "b", "a" })', "[table] expected each column once, got a twice" },
    { 'gpu.sparse.csr(gpu.arange(3), gpu.arange(3), y)',
      "[sparse.csr] expected gpu.sparse.csr(values, columns, indptr), got numbers of float32 as the indptr; gpu.sparse.coo(rows, columns, values):tocsr()" },
    { 'gpu.integrate.solve_ivp(function(t, y) return -y end, { 1, 0, 0 }, { 0, 10 })',
      "[integrate.solve_ivp] expected a time span {t0, t1} before y0, gpu.integrate.solve_ivp(f, {t0, t1}, y0), got a list of 3" },
  },
  { "arguments that are options, and options that are arguments",
    { 'x:std(0)', "[std] axes start at 1, got 0; the divisor is an option, x:std({ddof = 1})" },
    { 'gpu.average(x, y)', "[average] expected an axis: an integer, got an array float32[3]; weights are an option, gpu.average(x, {weights = w})" },
    { 'gpu.histogram(x, { bin = 3 })', 'got "bin"; bins is an argument, not an option: gpu.histogram(x [, bins]' },
    { 'm:reshape(3, 2, { order = "F" })', "[reshape] expected sizes that are integers, got a table; rows are read one after the other, "
      .. "and x:reshape(n, m).T has the columns of (m, n)" },
  },
  { "numbers in the place of options",
    { 'gpu.log(x, 10)', "[log] expected a table of options: out and dtype, got 10; gpu.log2(x) and gpu.log10(x) have these bases" },
    { 'x:sqrt(3)', "got 3; gpu.cbrt(x) is the cube root, x ^ (1 / n) any" },
    { 'gpu.exp(x, 2)', "got 2; b ^ x has another base" },
    { 'gpu.cubic_spline(x, y, 1.5)',
      "[cubic_spline] expected a table of options: axis, ends and extrapolate, got 1.5; gpu.cubic_spline(x, y) is a function" },
  },
  { "options that are arguments",
    { 'gpu.plot.contourf(m, { levels = 5 })', 'got "levels"; levels is an argument, not an option: gpu.plot.contourf([x, y,] m [, levels])' },
    { 'gpu.plot.errorbars(x, y, { yerr = y })', "; errors is an argument, not an option: gpu.plot.errorbars(x, y, errors)" },
    { 'gpu.plot.boxplot(m, { labels = { "a", "b", "c" } })', "; names is an argument, not an option: gpu.plot.boxplot([names,] values)" },
    { 'gpu.fft.fftfreq(4, { d = 0.1 })', "; spacing is an argument, not an option: gpu.fft.fftfreq(n [, spacing])" },
    { 'gpu.ndimage.gaussian_filter(m, { sigma = 2 })', "; sigma is an argument, not an option: gpu.ndimage.gaussian_filter(x, sigma)" },
    { 'gpu.random.normal({ size = 5 })', "; shape is an argument, not an option: gpu.random.normal(shape [, mean [, deviation]])" },
    { 'gpu.optimize.minimize(function(x) return x end, x, "Powell")', '; {method = "Powell"} names one' },
    { 'gpu.mean(x, { skipna = true })', "; gpu.nanmean, gpu.nansum and their kin leave NaN" },
    { 'gpu.plot.image(m, { colorbar = true })', "; images and contours draw their colour bar without an option" },
    { 'gpu.plot.line(x, { yscale = "log" })', '; log = "x", "y" or "xy" makes logarithmic axes' },
    { 'gpu.grad(math.sin, { argnums = 1 })', "; which is an argument, not an option: gpu.grad(f [, which])" },
    { 'gpu.optimize.adam(x, { lr = 0.1 })', 'got "lr"; did you mean "learning_rate"?' },
    { 'gpu.plot.line(x, { figsize = { 3, 4 } })', "; p:save(path, {size = {width, height}}) sets the size of a picture" },
    { 'gpu.plot.line(x):save("x.png", { dpi = 300 })', "; p:save(path, {size = {width, height}}) sets the size of a picture" },
    { 'gpu.random.normal(3, { std = 1 })', "; deviation is an argument, not an option: gpu.random.normal(shape [, mean [, deviation]])" },
    { 'm:sum(1, 2)', "got 2; several axes are one list, {1, 2}" },
    { 'x:sort(true)', "got true; flags are options by name, {name = true}" },
  },
  { "names of other modules",
    { 'gpu.gaussian_filter(m, 2)', '"gaussian_filter"; use gpu.ndimage.gaussian_filter(x, sigma)' },
    { 'gpu.signal.gaussian_filter(m, 2)', '"gaussian_filter"; use gpu.ndimage.gaussian_filter(x, sigma)' },
    { 'm:gaussian_filter(2)', '"gaussian_filter"; use gpu.ndimage.gaussian_filter(x, sigma)' },
    { 'gpu.optimize.fsolve(math.sin, 1)', "use gpu.optimize.root_scalar(f, {x0 = 1}) of a number" },
    { 'gpu.optimize.root(math.sin, 1)', "root_scalar an equation of one number" },
    { 'gpu.sparse.eye(3):dot(x)', '"dot"; use A:matmul(x)' },
    { 'gpu.sparse.eye(3):solve(x)', '"solve"; use gpu.sparse.linalg.spsolve(A, b)' },
    { 'gpu.linalg.solve(gpu.sparse.eye(3), x)', "got a sparse matrix; use gpu.sparse.linalg.spsolve(A, b); A:todense() gives an array" },
    { 'gpu.linalg.eigh(gpu.sparse.eye(3))', "got a sparse matrix; use gpu.sparse.linalg.eigsh(A, k); A:todense() gives an array" },
    { 'gpu.dot(gpu.sparse.eye(3), x)', "got a sparse matrix; use A:matmul(x); A:todense() gives an array" },
    { 'gpu.sum(gpu.sparse.eye(3))', "got a sparse matrix; use A:sum([axis]); A:todense() gives an array" },
    { 'gpu.cumsum(gpu.sparse.eye(3))', "got a sparse matrix; A:todense() gives an array" },
    { 'x.at[2].set(5)', '"at"; use x[i] = value, which sets elements in place' },
    { 'gpu.plot.scatter(x, y)', '"scatter"; use gpu.plot.points(x, y)' },
    { 'gpu.plot.quiver(x, y, x, y)', '"quiver"; use gpu.plot.line of each arrow' },
    { 'gpu.plot.line(x):plot(y)', '"plot"; use gpu.plot.line(x, y)' },
    { 'gpu.vmap(math.sin)', '"vmap"; use gpu.vectorize(f)' },
    { 'gpu.random.PRNGKey(0)', '"PRNGKey"; use gpu.random.seed(n)' },
    { 'x:requires_grad_()', '"requires_grad_"; use gpu.grad(f)(x)' },
    { 'gpu.optimize.minimize(function(w) return (w ^ 2):sum() end, x).x', "local x, info = gpu.optimize.minimize(f, x0)" },
    { 'gpu.plot(x, y)', "expected a call of one of its functions, gpu.plot.line(x, y), got" },
    { 'gpu.integrate.solve_ivp(function(t, y) return -y end, { 0, 1 }, y).y', "local y, info = gpu.integrate.solve_ivp" },
  },
  { "dots in place of colons",
    { 'gpu.plot.line(x).save("x.png")', '[plot.save] expected p:save(path [, {options}]), with a colon, got a dot and "x.png" in p\'s place' },
    { 'gpu.plot.line(x).show()', "[plot.show] expected p:show([{options}]), with a colon, got a dot and nothing" },
    { 'x:rolling(2).mean()', "[mean] expected window:mean(" },
  },
  { "names and forms of SciPy, JAX and Numba",
    { 'gpu.while_loop(f, x)', '"while_loop"; use gpu.loop_while(f, x)' },
    { 'gpu.fori_loop(0, 3, f, x)', '"fori_loop"; use gpu.loop(n, f, x)' },
    { 'gpu.scan(f, x)', '"scan"; use gpu.loop(n, f, x), which carries arrays from step to step, or gpu.cumsum(x)' },
    { 'gpu.cond(m, f, g)', '"cond"; use gpu.where(mask, x, y), or gpu.linalg.cond(a) of a matrix' },
    { 'gpu.device_put(x)', '"device_put"; use x:to(name), or gpu.array(values)' },
    { 'x:block_until_ready()', '"block_until_ready"; use gpu.sync()' },
    { 'gpu.ones(3, { requires_grad = true })', 'got "requires_grad"; gpu.grad(f)(x) gives derivatives' },
    { 'gpu.optimize.minimize(function(x) return x:sum() end, x, { jac = true })', 'got "jac"; did you mean "gradient"?' },
    { 'gpu.optimize.least_squares(function(x) return x end, x, { jac = true })', 'got "jac"; did you mean "jacobian"?' },
    { 'gpu.optimize.linprog(x)', '"linprog"; use SciPy in Python, with x:host(): linear programs are missing here' },
    { 'gpu.integrate.dblquad(f, 0, 1, 0, 1)', '"dblquad"; use gpu.trapezoid(gpu.trapezoid(values, dy), dx) of values on a grid' },
    { 'gpu.integrate.solve_ivp(function(t, y) return -y end, { 0, 1 }, y, { method = "LSODA" })',
      'got "LSODA": the implicit methods, for stiff problems, are missing' },
    { 'jitted[1](x)', "no field or method 1; a launch of a kernel k is in braces" },
    { 'jitted[{ 1, 32 }](x)', "a launch of a kernel k is in braces, k{grid = blocks, block = threads}(arguments)" },
    { 'gpu.array(1, 2, 3)', "got 3: gpu.array(values [, {dtype, device}]); braces make one list, {x, y}" },
    { 'gpu.stack({ nil, nil })', "[stack] expected a table of arrays, {x, y}, got an empty one, as a table of nil values is" },
    { 'local list = { 1, 2 } local z = gpu.ones(3) * list[0]', "got nil; the line reads t[0], and tables count from 1" },
    { 'gpu.polyfit(x, y, { deg = 1 })', "[polyfit] expected the degree as an argument, gpu.polyfit(x, y, degree), got a table" },
    { 'gpu.load("data.mat")', 'got "data.mat"; in Python numpy.savez("data.npz"' },
    { 'gpu.plot.contour(gpu.range(1, 2), gpu.range(1, 3), m)', "a column for each of the 2 of x, got shape (2,3); m.T has them" },
  },
  { "arguments in another order",
    { 'gpu.full(100, {3, 4})', "[full] expected the shape first, gpu.full(shape, 100), got it after the value" },
    { 'gpu.optimize.curve_fit(function(t, a) return a * t end, { 1 }, x, y)',
      "got one with 2; the parameters come one by one, as many as p0 has: 3; the start comes after the data, gpu.optimize.curve_fit(f, x, y, p0)" },
    { 'gpu.savetxt(x, "x.csv")', "[savetxt] expected the path first, gpu.savetxt(path, x), got" },
    { 'gpu.image.save(x, "x.png")', "[image.save] expected the path first, gpu.image.save(path, x), got" },
    { 'gpu.integrate.quad(0, 1, math.sin)', "expected a function of an array of points first, gpu.integrate.quad(f, a, b), got 0" },
    { 'gpu.random.uniform(5, 10)', "; the shape comes first: gpu.random.uniform(shape, low, high)" },
    { 'gpu.loop(function(x) return x + 1 end, 3, x)', "[loop] expected the number of steps first, of 0 or more, gpu.loop(n, fn, ...)" },
    { 'gpu.integrate.solve_ivp(function(t, y) return -y end, 0, 1, y)', "[integrate.solve_ivp] expected a time span {t0, t1}, got 0" },
    { 'gpu.sparse.coo(y, x, x)', "expected a vector of integers as rows, in (rows, columns, values [, shape])" },
    { 'gpu.plot.boxplot(t.mass, t.s)', "[plot.boxplot] expected the column of names before the values" },
    { 'gpu.plot.animate(10, function() return gpu.plot.line(x) end)', "[plot.animate] expected a path first, in (path, frames, fn)" },
    { 'gpu.save(x, "x.npy")', "[save] expected the path first, gpu.save(path, x), got an array float32[3]" },
    { 'gpu.sparse.linalg.cg(x, gpu.sparse.eye(3))', "; the matrix comes first: gpu.sparse.linalg.cg(A, b)" },
    { 'gpu.sparse.coo(x, { y, y })', "expected gpu.sparse.coo(rows, columns, values, shape), got SciPy's (values, (rows, columns))" },
    { 'gpu.plot.contour(m, x, y)', "[plot.contour] expected a matrix, behind x and y where they are given, got an array float32[3]" },
    { 'gpu.plot.bars(gpu.linspace(0, 1, 4), x)', '; gpu.plot.histogram(x) counts, and bars of edges stand at edges(":-2")' },
    { 'n, c = m.shape gpu.zeros(n, c)', "[zeros] expected shape, a dtype or a table of options, got global 'c' (a nil value); local n, m = unpack(x.shape)" },
    { 'gpu.hstack(x, y)', "gpu.hstack(arrays); braces make one list, {x, y}" },
    { 'gpu.signal.sosfilt(gpu.signal.butter(4, 0.2), x)', 'as {output = "sos"} of a design gives' },
  },
  { "numbers and lists in place of arrays",
    { 'gpu.stack { y[2] - y[1] }', "got 2; the call is gpu.stack(arrays [, axis]); x[i] of a vector is a number: x[{i}] is an array of one" },
    { 'gpu.min(3, 4)', "got 3; math.min(i, j) compares numbers, gpu.minimum(x, y) arrays" },
    { 'gpu.maximum(x)', "; x:max() is the greatest element of one array" },
    { 'gpu.where(x:gt(1), x)', "; gpu.where(condition, x, y) chooses" },
    { 'gpu.plot.line(x:astype "complex64")', "real numbers, as x:real(), x:imag() and x:abs() give" },
  },
  { "tables of columns",
    { 'for k, g in t:group_by "s" do end', "[group_by] expected a method, got a loop or a call" },
    { 't:plot()', "use gpu.plot.line(t.x, t.y)" },
    { 't:isnull()', "use t.name:isnan()" },
    { 't[{ "mass", "s" }]', "t:select(names) gives a table of some columns" },
    { 't.day:floor("month")', "[floor] expected dates, got a column of text; gpu.dates(x) makes dates of it" },
  },
}

describe("mistakes of new users:", function()
  for _, group in ipairs(mistakes) do
    it(group[1], function()
      for i = 2, #group do
        local code, part = unpack(group[i])
        local chunk = loadstring("\n\nlocal _ = " .. code, "=mistake") or assert(loadstring("\n\n" .. code, "=mistake"))
        local ok, got = pcall(setfenv(chunk, surroundings()))
        assert(not ok, code .. " raised no error")
        assert(got:find(part, 1, true), ("%s\nexpected: %s\ngot: %s"):format(code, part, got))
        assert.are.equal("mistake:3: ", got:sub(1, 11), code)
      end
    end)
  end
end)

describe("Lua's own messages", function()
  local function has(script, part)
    local output = support.run('local gpu = require "gpu"\nlocal x = gpu.array { 4, 9 }\n' .. script)
    assert(output:find(part, 1, true), ("%s\nexpected: %s\ngot: %s"):format(script, part, output))
  end
  it("say what is an array's", function()
    has("local y = {1, 2} * 2", "hint: gpu.array(t) makes an array of a table of numbers")
    has("local y = ({{1, 2}}):sum()", "gpu.array(t):sum() is of the array of a table of numbers")
    has("local y = x[1]\nprint(y:sqrt())", "hint: x[i] of a vector is a number, which has no methods: math.sqrt(y); x[{i}] is an array")
    has("local function f(y) return y:sum() end\nf(2)", "hint: y is a number, which has no methods: perhaps an argument in the place of another")
    has("gpu.integrate.quad(function(x) if x > 0.5 then return 1 end return 0 end, 0, 1)", "gpu.where(condition, x, y) chooses elements")
    has("local mask = x:gt(1) & x:lt(3)", "gpu.logical_and(x, y) for masks")
  end)
  it("say what to write of numbers, texts and functions", function()
    has('local d = gpu.dates { "2023-01-02" } local e = d[1] + "1d"', "d({i, i}) is a column of it alone, from which others are subtracted")
    has('local u, i = gpu.unique(x)\nprint(i:table())', "x:unique gives the values alone; {return_index = true}")
    has('local u, i = gpu.unique(x)\nprint(x[i])', "got nil; the local 'i' is nil")
    has('print(gpu.optimize.root_scalar(function(x) return x ^ 2 - 2 end, { bracket = { 0, 2 } }).root)',
      "gives its results one by one, without a field root")
    has('local z = gpu.complex(3, 4) print(z:abs())', "a complex number has the parts z.re and z.im, and gpu.abs(z), gpu.angle(z), gpu.conj(z)")
    has('print("n = " + 3)', '.. joins texts and numbers: "n = " .. n')
    has('for i in 1, 10 do end', "for i = 1, n do ... end counts")
    has('local s = gpu.cubic_spline(x, x) s:derivative()', "gpu.grad(f, {each = true})(x) is its derivative")
    has('print(gpu.sparse.eye(3):nnz())', "A.nnz is a property of sparse matrices: it has no parentheses")
    has('local t = gpu.table { a = { 1 } } t.values:mean()', "t.name is the column itself, t.names has the names")
    has('gpu.jit(function(a) return a end)(x)', "a launch configuration first, as in k:over(count)(arguments) or k{grid=..., block=...}(arguments), got an array float32[2]")
    has('display(x)', "display is of notebooks")
    has('local n = ffi.new "int[3]"', [[local ffi = require "ffi"]])
  end)
  it("say what the parser leaves out", function()
    has('a = b = 3', "an assignment has no value: a, b = 3, 3")
    has('local function f(a)\n  a ^ 2\nend', "a value alone is no statement: return x ^ 2")
    has('local u = x:copy()\n(u * 2):add_(1)', "a ; in front of the ( parts them")
  end)
  it("name the neighbour of a field that is none", function()
    has("port = {read = print, out = {level = print}}\nport.raed(3)", "'raed' (a nil value)\nhint: did you mean read?")
    has("port = {read = print, out = {level = print}}\nport.out:levle(3)", "hint: did you mean level?")
    has("print(math.sqroot(2))", "hint: did you mean sqrt?")
  end)
  it("quote the call alone", function()
    has('local d = gpu.load("nothere.csv") print(d.x)', 'assert(gpu.load("nothere.csv")) says why')
    has('local d = gpu.load "nothere.csv" print(d.x)', 'assert(gpu.load "nothere.csv") says why')
  end)
end)

describe("lists of numbers", function()
  it("are where a minimum is searched from", function()
    local found = gpu.optimize.minimize(function(p) return ((p - gpu.array({ 1, -2 }, "float64")) ^ 2):sum() end, { 0, 0 })
    assert.are.equal("float64", found.dtype)
    support.near({ 1, -2 }, found:table(), 1e-5)
  end)
  it("are slopes of solve_ivp", function()
    local y = gpu.integrate.solve_ivp(function(_, y) return { y[2], -y[1] } end, { 0, 1 }, { 1, 0 }, { rtol = 1e-8, atol = 1e-10 })
    support.near({ math.cos(1), -math.sin(1) }, y:table(), 1e-7)
    support.fails("expected a function f(t, y), the time first, that gives real numbers (2,)", gpu.integrate.solve_ivp,
      function() return { 1, 2, 3 } end, { 0, 1 }, { 1, 0 })
  end)
end)

describe("reports", function()
  it("print their fields", function()
    local _, report = gpu.integrate.quad(function(x) return x end, 0, 1)
    assert(tostring(report):find('^{converged = true, error = [%d.e-]+, evaluations = 210, intervals = 10, reason = "converged"}$'))
  end)
end)

describe("sequences in float32", function()
  -- The next number of float32 above an integer is that far away, by the definition of its format.
  it("raise where neighbours coincide, or integers are rounded", function()
    support.fails("[arange] expected numbers that float32", gpu.arange, 1704067200, 1704067204, 0.5)
    support.fails("[linspace] expected numbers that float32", gpu.linspace, 1704067200, 1704153600, 5)
    support.fails("[linspace] expected numbers that float32", gpu.linspace, 1704153600, 1704067200, 5)
    support.fails("[linspace] expected numbers that float32", gpu.linspace, 0, 1, 2 ^ 24 + 2)
    support.fails("[full] expected an integer that float32", gpu.full, 3, 20230101)
  end)
  it("are made where float32 has them, and where a dtype is given", function()
    assert.are.equal(1704067200 + 128, gpu.linspace(1704067200, 1704067200 + 512, 5)[2])
    assert.are.equal(1000, gpu.linspace(0, 1e6, 1001)[2])
    assert.are.equal(2 ^ -20, gpu.linspace(0, 1, 2 ^ 20 + 1)[2])
    assert.are.equal(0.25, gpu.arange(0, 4194304, 0.25)[2])
    local x = gpu.arange(1704067200, 1704067204, 0.5, "float64")
    assert.are.equal(0.5, x[2] - x[1])
    assert.are.equal("float32", gpu.linspace(1704067200, 1704153600, 5, "float32").dtype)
    assert.are.equal(20230101, gpu.full(3, 20230101, "int64")[1])
    assert.are.equal("int64", gpu.arange(1704067200, 1704067204).dtype)
  end)
  it("are named where they end beyond a span", function()
    support.fails("t_eval is of float32, which rounds", gpu.integrate.solve_ivp, function(_, y) return -y end, { 0, 0.3 }, { 1 },
      { t_eval = gpu.arange(4) * 0.1 })
  end)
end)
