-- gpulua tests/docs/check_help.lua SOURCE_DIRECTORY
-- help() has an entry for every binding, and every entry of the reference has its binding. What it shows of some entries is
-- compared with what stands in the reference.
local gpu = require "gpu"
local registry = debug.getregistry()
registry["gpulua.helpers"].load_library()

local source = arg[1]
local function read(path)
  local file = assert(io.open(source .. "/" .. path))
  local text = file:read "*a"
  file:close()
  return text
end
local function run(file, ...) return assert(loadfile(source .. "/src/help/" .. file))(...) end

local text = read "docs/reference.md"
local reference = run("reference.lua")(text)
local objects = run "objects.lua"
local show, properties = run("help.lua", run, text, registry["gpulua.helpers"],
  function(a, b) return b:sub(1, #a) == a and #b - #a or 99 end)

local wrong = {}
local function check(good, message) wrong[#wrong + 1] = not good and message or nil end

-- ---- every binding has an entry ------------------------------------------------------------------------------------------------

local mod = gpu.module "__global__ void fill(float* x) { x[0] = 1; }"
local samples = {
  x = gpu.ones(2), k = mod.fill, mod = mod, s = gpu.stream(), e = gpu.event(), graph = gpu.graph(function() end),
  g = gpu.random.generator "philox", A = gpu.sparse.csr(gpu.ones(2, 2)), t = gpu.table {a = {1}}, p = gpu.plot.line {1, 2},
  groups = gpu.table {a = {1}}:group_by "a", window = gpu.ones(2):rolling(2), d = gpu.dates {"2024-03-01"}, j = gpu.jit(function(x) x[1] = 1 end), capsule = gpu.ones(2):dlpack(),
}
local skipped = {c = true} -- cuRAND need not be installed
do
  local made, window = pcall(gpu.window, {width = 4, height = 4, headless = true}) -- nor EGL
  local shared, buffer = false, nil
  if made then
    samples.w = window
    shared, buffer = pcall(window.buffer, window, 4, "float32")
    if shared then samples.b = buffer end
  end
  -- i is an image of a program's, which tests/lua/gl_images_spec.lua makes.
  skipped.w, skipped.b, skipped.i = not made, not shared, true
end
local names = {}
local function add(prefix, functions)
  for name, value in pairs(functions) do
    if type(name) == "string" then
      names[#names + 1] = prefix .. name
      if type(value) == "table" and getmetatable(value) then
        add(prefix .. name .. ".", registry["gpulua.helpers"].functions_of(value))
      end
    end
  end
end
add("gpu.", registry["gpulua.helpers"].functions_of(gpu))
for letter, object in pairs(samples) do add(letter .. ":", objects.methods_of(object)) end
for _, name in ipairs(names) do check(reference.find(name), name .. " has no entry in the reference") end
check(#names > 1000, ("only %d bindings were found"):format(#names))

-- ---- every entry has a binding -------------------------------------------------------------------------------------------------

samples.device = gpu.device()
local count = 0
for _, entry in ipairs(reference.entries) do
  local path, dot, last = entry.name:match "^(.-)([.:])([%w_]+)$"
  local object = path == "gpu" and gpu or samples[path]
  if path and path:find "^gpu%." then
    object = gpu
    for part in path:sub(5):gmatch "[%w_]+" do object = rawget(object, part) or {} end
  end
  -- mod.name is any kernel's name.
  if path and not skipped[path] and entry.name ~= "mod.name" then
    count = count + 1
    local methods = object ~= gpu and objects.methods_of(object) or {}
    if dot == "." then
      -- A property may be nil, such as mod.ptx on the CPU device; an unknown one raises.
      -- A.row is that of another format than A.indptr.
      local found = pcall(function() return object[last] end) or path == "A" and pcall(function() return object:tocoo()[last] end)
      check(found and not rawget(methods, last), entry.name .. " has no binding")
    else
      check(rawget(methods, last), entry.name .. " has no binding")
    end
  end
end
check(count > 500, ("only %d entries were found"):format(count))

-- ---- what is shown --------------------------------------------------------------------------------------------------------------

local function shows(what, ...)
  local shown = show(80, true, what)
  for _, part in ipairs {...} do check(shown:find(part, 1, true), ("help %s lacks %q:\n%s"):format(tostring(what), part, shown)) end
  for line in shown:gmatch "[^\n]+" do
    check(#line <= 80 or line:find "^    ", ("help %s has a line of %d characters: %s"):format(tostring(what), #line, line))
  end
end
shows(gpu.sum, "gpu.sum(x [, axis] [, {axis, keepdims, dtype, out, where, initial}])", "  initial", "assert(x:sum():item() == 21")
check(not show(80, true, "sum"):find("ddof", 1, true), "gpu.sum has no option ddof")
shows("take", "x:take(indices [, axis] [, {axis, out}])", "x:take({6, 1})[1] == 6", 'See also help "Indexing".')
shows("gpu.take(x)", "x:take(indices")
shows("x:exp_", "x:exp_()", "x:exp_ writes the result to x.")
shows("x.shape", "table of sizes")
shows("t:sort_by", "t:sort_by(names [, {descending}])", "Equal rows keep")
shows("group_by", "t:group_by(names...)")
shows(samples.t.where, "t:where(name, values)", "the rows whose column has the value")
shows(samples.groups.std, "groups:std([names...] [, {ddof}])", "NaN is left out")
shows(samples.p.save, "p:save(path [, {size}])", "gpu.plot.save(p, path [, {size}])", "the program gnuplot")
shows("p:line", "p:line(x [, y] [, {label, color,", "a line through the points")
shows("p:show", "p:show([{width, height, sixel, window}])")
shows("j:over", "j:over(count)(arguments...)")
shows(samples.p, "a chart: line", "Plots")
table_of_test = gpu.table {x = {1}}
shows("table_of_test:group_by", "t:group_by(names...)")
shows(table_of_test, "Tables", "gpu.table(columns [, names])")
shows("gpu.trace", "gpu.trace(x [, offset [, row, column]])", "is the sum of gpu.diagonal")
check(not show(80, true, "gpu.trace"):find("promoted dtype", 1, true), "help gpu.trace has other sentences of its paragraph")
shows(gpu.fft, 'help "Fourier transforms"', "gpu.fft.rfft ", "the transform of real numbers", "gpu.fft.set_cache")
shows("gpu.ndimage", "gpu.ndimage.gaussian_filter ", "gpu.ndimage.label ", 'help "Images as arrays", "Morphology"')
shows(":reshape", "x:reshape(")
shows("curve_fit", "gpu.optimize.curve_fit(f, x, y, p0")
shows(gpu, "Elementwise operations")
shows(samples.k, "fill", "k.registers")
shows("indexing", "gpu.newaxis")
shows("concatenate", "Use gpu.concat(list, axis).")
shows("tak", "Near names: x:take, capsule:take, d:take")
shows("median filter", "gpu.ndimage.median_filter")
shows(string.format, "pdf-string.format")
shows(3, "a number")
array_of_test = gpu.ones(3)
shows("array_of_test:take", "x:take(indices")
shows("array_of_test.T", "reverse order")
for _, name in ipairs(names) do
  check(#show(80, true, name) > #name + 20, "help has nothing about " .. name)
end
for _, name in ipairs {"shape", "T", "dtype", "strides"} do
  check(table.concat(properties "x", " "):find("%f[%w]" .. name .. "%f[%W]"), "x has no property " .. name)
end

-- ---- plain questions ------------------------------------------------------------------------------------------------------------

for _, topic in ipairs(run "topics.lua") do
  for name in (topic[3] or ""):gmatch "gpu%.[%a_][%w_.]*[%w_]" do
    check(reference.find(name), ("what the topic %q says names %s, which has no entry"):format(topic[1], name))
  end
  for name in topic[2]:gmatch "%S+" do check(reference.find(name), ("the topic %q names %s, which has no entry"):format(topic[1], name)) end
end

--- The function is in one of the first two lines.
for question, name in pairs {
  ["join tables"] = "t:join", ["default dtype"] = "gpu.default_dtype", ["least squares"] = "gpu.linalg.lstsq", ["group by"] = "t:group_by", ["linear regression"] = "gpu.stats.linregress",
  ["animation"] = "gpu.plot.animate", ["standard deviation"] = "gpu.std", ["moving average"] = "gpu.ndimage.uniform_filter1d",
  ["csv"] = "gpu.load", ["random normal"] = "gpu.randn", ["matrix inverse"] = "gpu.linalg.inv", ["eigenvalues"] = "gpu.linalg.eigh",
  ["histogram"] = "gpu.histogram", ["save an array"] = "gpu.save", ["read a file"] = "gpu.load", ["solve ode"] = "gpu.integrate.solve_ivp",
  ["fit a curve"] = "gpu.optimize.curve_fit", ["fft"] = "gpu.fft.fft", ["convolution"] = "gpu.convolve", ["sort descending"] = "gpu.sort",
  ["cumulative sum"] = "gpu.cumsum", ["unique values"] = "gpu.unique", ["time a function"] = "gpu.benchmark",
  ["use several gpus"] = "gpu.comm.", ["float64"] = "gpu.float64", ["sparse matrix"] = "gpu.sparse.csr", ["interpolate"] = "gpu.interp",
  ["root of a function"] = "gpu.optimize.root_scalar", ["gradient"] = "gpu.gradient", ["percentile"] = "gpu.percentile",
  ["correlation"] = "gpu.corrcoef", ["moving window"] = "gpu.sliding_window", ["print all elements"] = "gpu.print_options",
  ["set the seed"] = "gpu.random.seed", ["draw a line chart"] = "gpu.plot.line", ["heat map"] = "gpu.plot.heatmap",
  ["how do I solve a linear system?"] = "gpu.linalg.solve", ["find peaks"] = "gpu.signal.find_peaks", ["swap axes"] = "gpu.swapaxes",
  ["integrate a function"] = "gpu.integrate.quad", ["moving median"] = "gpu.ndimage.median_filter", ["bessel function"] = "gpu.j0",
  ["index of the maximum"] = "gpu.argmax", ["filter rows"] = "t:where", ["write a cuda kernel"] = "gpu.kernel",
  ["kronecker product"] = "gpu.kron", ["clip values"] = "gpu.clip", ["conjugate gradient"] = "gpu.sparse.linalg.cg",
  ["error bars"] = "gpu.plot.errorbars", ["exponential distribution"] = "gpu.random.exponential", ["pinned memory"] = "gpu.pinned",
  ["lu decomposition"] = "gpu.linalg.lu", ["power spectrum"] = "gpu.welch", ["mean of each row"] = "gpu.mean", ["random permutation"] = "gpu.random.permutation",
} do
  local first, second = show(80, true, question):match "^([^\n]*)\n?([^\n]*)"
  local plain = name:gsub("%p", "%%%0") .. (name:find "%.$" and "" or "%f[^%w_]")
  check(first:find(plain) or second:find(plain), ("help %q begins without %s:\n%s\n%s"):format(question, name, first, second))
end
-- What has no function of its own, and what is not there.
shows("volatility", "x:pct_change():rolling(20):std()", "gpu.rolling")
shows("maximum drawdown", "x / x:cummax() - 1", "gpu.cummax")
shows("value at risk", "-r:quantile(0.05)")
shows("implied volatility", "gpu.optimize.root_scalar with each = true")
shows("linear programming", "solves no linear or quadratic programs")
shows("read excel", "no .xlsx files: save the sheet as .csv")
shows("parquet", "gpulua has no Parquet files", "gpu.from_arrow")
shows("json", "gpulua has no JSON")
shows("sql", "gpulua has no SQL", "t:group_by")
shows("time zone", "dates are in UTC")
shows("resample", "gpu.signal.resample(x, count", 't.day = t.time:floor "day"')
shows("confusion matrix", "gpu.histogram2d(truth, found, n")
shows("thousands separator", 'thousands = ","', "gpu.load")
shows("ewma", "gpu.ewm")
-- Words that stand in texts and examples alone lead to their chapter.
shows("mandelbrot esize", 'has no entry "mandelbrot esize"')
shows("cauchy density", "gpu.random.cauchy")
shows("dark theme", 'Chapters: help "Plots"')

for _, message in ipairs(wrong) do io.stderr:write(message, "\n") end
os.exit(#wrong == 0 and 0 or 1, true)
