-- Every function and method is called with one argument too many, and with an option that it has not: generated over all that a
-- script can reach. What it may be called with is declared above its code.
local gpu = require "gpu"
local fails = require("support").fails

local helpers = debug.getregistry()["gpulua.helpers"]
local signature = helpers.signature
helpers.load_library()

local source = [[
  __device__ float scale;
  __global__ void fill(float* x, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) x[i] = scale; }
]]
local mod = gpu.module(source)
local jit_kernel = gpu.jit(function(x) x[1] = 1 end)
local matrix = gpu.sparse.csr { { 1, 0 }, { 2, 3 } }
local x, vector, integers = gpu.ones(2, 2), gpu.arange(4, "float32"), gpu.arange(3)

--- Receiver (the text before the dot or colon) -> its functions, and the kind of the receiver. cuRAND need not be installed.
local function reachable()
  local own = helpers.functions_of
  local function methods(object)
    local meta = debug.getmetatable(object)
    return rawget(meta, "methods") or meta.__index
  end
  local stream, event, philox = gpu.stream(), gpu.event(), gpu.random.generator "philox"
  local graph, texture = gpu.graph(function() end), gpu.texture(gpu.zeros(4))
  local found, curand = pcall(gpu.random.generator, "xorwow")
  return {
    ["gpu."] = { own(gpu) }, ["gpu.random."] = { own(gpu.random) }, ["gpu.image."] = { own(gpu.image) },
    ["gpu.blas."] = { own(gpu.blas) }, ["gpu.fft."] = { own(gpu.fft) }, ["gpu.linalg."] = { own(gpu.linalg) },
    ["gpu.sparse.linalg."] = { own(gpu.sparse.linalg) }, ["gpu.plot."] = { own(gpu.plot) },
    ["gpu.ndimage."] = { own(gpu.ndimage) }, ["gpu.stats."] = { own(gpu.stats) }, ["gpu.signal."] = { own(gpu.signal) },
    ["gpu.sparse."] = { own(gpu.sparse) }, ["A:"] = { debug.getregistry()["gpulua.sparse_methods"], matrix },
    ["x:"] = { debug.getregistry()["gpulua.array_methods"], x },
    ["g:"] = { methods(philox), philox },
    ["c:"] = found and { methods(curand), curand } or nil,
    ["k:"] = { methods(mod.fill), mod.fill },
    ["j:"] = { methods(jit_kernel), jit_kernel }, ["gpu.atomic."] = { own(gpu.atomic) }, ["gpu.warp."] = { own(gpu.warp) },
    ["mod:"] = { methods(mod), mod },
    ["s:"] = { methods(stream), stream },
    ["e:"] = { methods(event), event },
    ["graph:"] = { methods(graph), graph },
    ["texture:"] = { methods(texture), texture },
  }
end

--- fn(receiver, name, function, self) for each of them.
local function for_each(fn)
  for receiver, entry in pairs(reachable()) do
    for name, value in pairs(entry[1]) do
      if type(value) == "function" then fn(receiver, name, value, entry[2]) end
    end
  end
end

--- How messages call the function.
local function op_of(receiver, name) return (receiver:match "^gpu%.(.*)$" or "") .. name end

--- The parameters of a signature: the maximum number, or nil for any number; the number of required ones; the names of the options.
local function parameters_of(text)
  local inside = text:match("[({].*$"):gsub("%)%(.*$", ")") -- without the parameters of a call of the result
  if inside:find "^{" then return 1, {}, inside end
  local plain = inside:gsub("{.-}", "options"):sub(2, -2)
  local count = not plain:find("...", 1, true) and (plain == "" and 0 or select(2, plain:gsub(",", "")) + 1) or nil
  local required = {}
  for word in plain:gsub("%b[]", ""):gmatch "[%w_.]+" do required[#required + 1] = word end
  return count, required, inside:match "{(.-)}"
end

describe("signatures", function()
  it("are there for every function, and every one has its function", function()
    local seen = {}
    for_each(function(receiver, name)
      local text = signature(receiver, name)
      assert.are.equal(receiver .. name, text:match "^[%w_.:]+")
      seen[receiver .. name] = true
    end)
    local reached = reachable()
    for line in helpers.signatures():gmatch "[^\n]+" do
      local receiver, name = line:match "^([%w_.]+[.:])([%w_]+)[({]"
      if receiver and reached[receiver] then assert(seen[receiver .. name], line .. " has no function") end
    end
  end)

  -- Functions with any number of arguments: a call with one too many, or false if all arguments go to a function of the script.
  local open_ended = {
    apply_along_axis = false, block_diag = { x, 1 }, broadcast_shapes = { 2, 3, "x" }, ix_ = { { 1 }, 1 }, result_type = { x, {} },
    broadcast_arrays = { x, 1 }, broadcast_to = { x, { 2, 2 }, 1 }, einsum = { "ij", x, {}, 1 },
    einsum_path = { "ij", x, {}, 1 }, empty = { 2, "int8", 1 }, eval = { x, 1 }, explain = { x, 1 },
    gradient = { x, 1, {}, 1 }, graph = false, loop = false, loop_while = false, shared = false, local_array = false, source = false, meshgrid = { vector, {}, 1 }, ones = { 2, {}, 1 }, permute = { x, { 2, 1 }, 1 }, profile = false, annotate = false, trace = false,
    rand = { 2, {}, 1 }, randn = { 2, "float32", 1 }, reshape = { x, { 4 }, 1 }, scope = false, tile = { x, { 2 }, 1 }, vjp = false,
    transpose = { x, { 2, 1 }, 1 }, uniform = { 2, {}, 1 }, with = false, zeros = { { 2 }, {}, 1 },
  }

  it("refuse one argument too many, and say what there may be", function()
    local count = 0
    for_each(function(receiver, name, fn, self)
      local text = signature(receiver, name)
      local most = parameters_of(text)
      count = count + 1
      if most then
        local arguments = {}
        for i = 1, most + 1 do arguments[i] = 1 end
        if self then table.insert(arguments, 1, self) end
        local expected = ("[%s] expected %s, got %d: %s"):format(op_of(receiver, name),
          most == 0 and "no arguments" or most == 1 and "at most 1 argument" or ("at most %d arguments"):format(most), most + 1, text)
        fails(expected, fn, unpack(arguments))
        -- Nil is an argument too.
        local total = #arguments
        arguments[total] = nil
        fails(expected, fn, unpack(arguments, 1, total))
      else
        local arguments = open_ended[name]
        assert(arguments ~= nil, text .. " takes any number of arguments: what is one too many?")
        if arguments then
          arguments = { unpack(arguments) }
          if self and receiver ~= "x:" then table.insert(arguments, 1, self) end
          fails("[" .. op_of(receiver, name) .. "] expected", fn, unpack(arguments))
        end
      end
    end)
    assert(count > 600)
  end)

  -- Values of parameters by name; some functions have their own.
  local samples = {
    A = x, a = x, algorithm = "philox", arrays = { x }, b = x, coefficients = { 1 }, condition = x:gt(0), edges = { 1, 2 },
    equation = "ij,j", first = 1, fn = function() return x end, fp = { 1, 2 }, high = 5, host = { 1 }, image = "no/such/file", indices = { 1 }, k = 1,
    keys = { vector }, last = 2, low = 0, n = 3, name = "fill", p = 0.5, path = "x.npz", points = x, q = 0.5, rows = 2, shape = 2,
    sorted = vector, source = source, parts = { source }, stop = 3, value = 1, values = { 1, 2 }, widths = 1, x = x, xp = { 1, 2 }, y = x,
    d = 2, factor = x, lu = x, pivots = integers, power = 2, positions = { 1 }, degree = 1, sigma = 1, weights = { { 1 } }, distance = 0, angle = 1, coordinates = x,
    covariance = { { 1 } }, noncentrality = 1, good = 3, bad = 3, sample = 2, items = { 1, 2 }, parameters = { 1, 2 },
    m = x, errors = 1, signature = "(n)->()",
    blocks = { { matrix } }, scores = x, part = 0.1, bands = x, rank = 1, size = 3, percentile = 50, structure = x, labels = integers, matrix = x, count = 3, cutoff = 0.3, length = 3,
    order = 2, frequencies = 0.3, frequency = 0.3, quality = 2, ripple = 1, attenuation = 40, sos = { { 1, 0, 0, 1, 0, 0 } }, window = "hann",
    up = 2, down = 3, t = vector, f0 = 1, t1 = 1, f1 = 2,
    above = 1, alpha = 1, concentration = 1, exponent = 1, f = function(v) return v end, freedom = 1, mean = 1, scale = 1, successes = 1, trials = 3, below = 1,
    A = matrix, B = matrix, columns = 2, diagonals = vector, matrices = { matrix },
    ["shape..."] = 2, ["spacing..."] = 1, ["..."] = vector,
  }
  local others = {
    ["gpu.arange"] = { 3 }, ["gpu.bincount"] = { integers }, ["gpu.from_arrow"] = { 0, 0 }, ["gpu.ediff1d"] = { vector }, ["gpu.indices"] = { { 2 } },
    ["gpu.fromfunction"] = { function(i) return i end, { 2 } }, ["gpu.interp"] = { vector, { 1, 2 }, { 1, 2 } },
    ["gpu.meshgrid"] = { vector }, ["gpu.vander"] = { vector }, ["gpu.searchsorted"] = { vector, 1 },
    ["gpu.random.integers"] = { 2, 0, 5 }, ["gpu.image.save"] = { "x.png", x }, ["gpu.where"] = { x:gt(0), x, x },
    ["gpu.random.beta"] = { 2, 1, 1 }, ["x:copy_to"] = { x, { 1 } }, ["gpu.histogramdd"] = { x },
    ["gpu.histogram2d"] = { vector, vector }, ["gpu.random.gamma"] = { 2, 1 }, ["gpu.logspace"] = { 0, 1 },
    ["gpu.blas.gemm_batched"] = { { x }, { x } }, ["gpu.blas.gemm_strided_batched"] = { gpu.ones(1, 2, 2), gpu.ones(1, 2, 2) },
    ["gpu.kaiser"] = { 4, 2 }, ["gpu.istft"] = { x }, ["gpu.blas.gemv"] = { x, gpu.ones(2) }, ["gpu.blas.symv"] = { x, gpu.ones(2) }, ["gpu.blas.trsv"] = { x, gpu.ones(2) },
    ["gpu.gl.buffer"] = { 2, "float32" }, ["gpu.gl.buffer_from"] = { 1, 2, "float32" }, ["gpu.show"] = { x }, ["gpu.gl.texture_from"] = { 1 }, ["gpu.gl.renderbuffer_from"] = { 1 }, ["gpu.ravel_multi_index"] = { { { 1 } }, 2 }, ["gpu.unpackbits"] = { gpu.ones(2, "uint8") }, ["gpu.packbits"] = { integers },
    ["gpu.fromfile"] = { "no file" }, ["gpu.linalg.vander"] = { vector },
    ["gpu.random.zipf"] = { 2, 2 }, ["gpu.random.multinomial"] = { 2, 3, { 1 } }, ["gpu.random.multivariate_normal"] = { 2, { 0 }, { { 1 } } },
    ["gpu.plot.save"] = { gpu.plot.line { 1 }, "x.svg" }, ["gpu.plot.show"] = { gpu.plot.line { 1 } },
    ["gpu.view"] = { x.pointer, 1, "float32" }, ["gpu.from_dlpack"] = { x }, ["gpu.from_ipc"] = { "a handle" },
    ["gpu.plot.animate"] = { "x.gif", 1, function() end }, ["gpu.plot.annotate"] = { "text", 1, 1 },
    ["gpu.plot.hspan"] = { 0, 1 }, ["gpu.plot.vspan"] = { 0, 1 }, ["gpu.plot.hline"] = { 1 }, ["gpu.plot.vline"] = { 1 },
    ["gpu.linalg.hadamard"] = { 4 }, ["gpu.linalg.solveh_banded"] = { x, gpu.ones(2) }, ["gpu.linalg.polar"] = { x },
    ["gpu.blas.hemv"] = { x, gpu.ones(2) }, ["gpu.blas.trmv"] = { x, gpu.ones(2) }, ["gpu.blas.gerc"] = { vector, vector },
    ["gpu.blas.syr"] = { vector }, ["gpu.blas.her"] = { vector }, ["gpu.blas.syr2"] = { vector, vector }, ["gpu.blas.her2"] = { vector, vector },
    ["gpu.signal.lombscargle"] = { vector, vector, vector }, ["gpu.signal.zoom_fft"] = { vector, 1 }, ["gpu.signal.group_delay"] = { { 1 } },
    ["gpu.signal.lfilter"] = { { 1 }, { 1 }, x }, ["gpu.signal.filtfilt"] = { { 1 }, { 1 }, x }, ["gpu.signal.savgol_coeffs"] = { 5, 2 },
    ["gpu.signal.savgol_filter"] = { x, 3, 1 }, ["gpu.signal.find_peaks"] = { vector }, ["gpu.stats.entropy"] = { vector }, ["gpu.stats.rankdata"] = { vector },
    ["gpu.ndimage.correlate1d"] = { x, { 1 } }, ["gpu.ndimage.convolve1d"] = { x, { 1 } }, ["gpu.ndimage.uniform_filter1d"] = { x, 3 },
    ["gpu.rolling"] = { vector, 2 }, ["gpu.expanding"] = { vector }, ["gpu.ewm"] = { vector }, ["gpu.shift"] = { vector }, ["gpu.pct_change"] = { vector }, ["gpu.fillna"] = { vector, 1 },
    ["gpu.date_range"] = { "2024-03-01", 2, "1d" }, ["gpu.year_fraction"] = { "2024-03-01", "2025-03-01", "act/365" }, ["gpu.dates"] = { { "2024-03-01" } }, ["gpu.durations"] = { { "1d" } }, ["gpu.custom"] = { function(v) return v end }, ["gpu.gcd"] = { integers, integers }, ["gpu.lcm"] = { integers, integers },
  }

  -- Options of a file are those of its format.
  local lists = {
    ["gpu.load"] = "the options device and mmap for a .npz file", ["gpu.save"] = "the option compress for a .npz file",
  }

  it("list the options that there are: another one is an error that names them, and the near one", function()
    local count = 0
    for_each(function(receiver, name, fn, self)
      local text = signature(receiver, name)
      local _, required, options = parameters_of(text)
      if not options then return end
      count = count + 1
      local own = receiver == "x:" and "gpu." or receiver == "g:" and "gpu.random." or receiver
      local arguments = others[own .. name] or others[receiver .. name]
      if arguments then
        arguments = { unpack(arguments) }
      else
        arguments = {}
        for i, parameter in ipairs(required) do
          arguments[i] = samples[parameter]
          assert(arguments[i] ~= nil, text .. ": no sample of " .. parameter)
        end
        if receiver == "x:" then table.insert(arguments, 1, x) end
      end
      if self and receiver ~= "x:" then table.insert(arguments, 1, self) end
      local names = {}
      for option in options:gmatch "[%w_]+" do names[#names + 1] = option end
      local list = table.concat(names, ", "):gsub(", ([%w_]+)$", " and %1")
      local long = 1 -- a name of one letter is near to none
      while #names[long] == 1 do long = long + 1 end
      local unknown = names[long] .. "x"
      if lists[own .. name] then unknown = lists[own .. name]:match "options? (%w+)" .. "x" end
      list = lists[own .. name] or ("the option%s %s"):format(#names > 1 and "s" or "", list)
      local expected = ("expected %s, got %q; did you mean"):format(list, unknown)
      arguments[#arguments + 1] = { [unknown] = 1 }
      local message = fails(expected, fn, unpack(arguments))
      assert.are.equal(name, message:match "%[([%w_.]+)%]":match "[%w_]+$", message)
    end)
    assert(count > 300)
  end)

  it("are refused at the script's line", function()
    local line = debug.getinfo(1, "l").currentline
    local _, message = pcall(function()
      gpu.roll(x, 1, 2, 3)
    end)
    assert.are.equal(("%s:%d: [roll] expected at most 3 arguments, got 4: gpu.roll(x, shift [, axes])"):format(
      debug.getinfo(1, "S").short_src, line + 2), message)
    _, message = pcall(function()
      local _ = gpu.sume
    end)
    assert.are.equal(("%s:%d: [gpu] gpu has no field \"sume\"; did you mean \"sum\"?"):format(
      debug.getinfo(1, "S").short_src, line + 7), message)
  end)

  it("tell dot and colon apart", function()
    fails("[ones] expected gpu.ones(shape... [, {dtype, device}]), with a dot, got a colon, which passes gpu itself",
      function() gpu:ones(3) end)
    fails("[eye] expected gpu.eye(rows [, columns [, offset]] [, {dtype, device}]), with a dot, got a colon", function() gpu:eye(3) end)
    fails("[sum] expected x:sum([axis] [, {axis, keepdims, dtype, out, where, initial}]), with a colon, got a dot and nothing in x's place",
      function() x.sum() end)
    fails("[roll] expected x:roll(shift [, axes]), with a colon, got a dot and 1 in x's place", function() x.roll(1) end)
    fails("[over] expected k:over(count)(arguments...), with a colon, got a dot and 8 in k's place", function() mod.fill.over(8) end)
  end)
end)

describe("what is called without a name", function()
  it("refuses surplus arguments and unknown options too", function()
    local fill = mod.fill
    fails("[fill] expected a launch configuration alone, and the arguments in a call of their own", fill, { grid = 1, block = 1 }, vector, 4)
    fails('[fill] expected the options grid, block, shared, stream, cooperative and cluster, got "gird"; did you mean "grid"?', fill,
      { gird = 1, block = 1 })
    fails("[fill] expected 2 arguments, got 3", fill:over(4), vector, 4, 5)
    fails("[index] expected at most 2 indices for shape (2,2), got 3", x, 1, 1, 1)
    local twice = gpu.elementwise { name = "twice", inputs = "T x", outputs = "T y", body = "y = 2 * x;" }
    fails("[twice] expected 1 arguments (T x) and options, got 3", twice, x, 3)
    fails("[twice] expected", twice, x, {}, 3)
    fails('[twice] expected the options out and size, got "outt"; did you mean "out"?', twice, x, { outt = x })
    local total = gpu.reduction { name = "total", inputs = "T x", outputs = "T y", map = "x", reduce = "a + b", identity = 0 }
    fails("[total] expected", total, x, 1, {}, 3)
    fails("[total] expected a table of options: axis, keepdims and out, got 3", total, x, {}, 3)
    fails('[total] expected the options axis, keepdims and out, got "dtype"', total, x, { dtype = "float64" })
    local running = gpu.scan_kernel { name = "running", input = "T x", expr = "a + b" }
    fails("[running] expected no argument after the options, got 3", running, x, 1, {}, 3)
    fails("[running] expected no argument after the options, got 3", running, x, 1, nil, 3)
    fails('[running] expected the options axis and out, got "axes"; did you mean "axis"?', running, x, { axes = 1 })
    fails('[sort] expected the options axis, descending, stable and out, got "dim"; did you mean "axis"?', gpu.sort, x, { dim = 1 })
    fails('got "unbiased"; did you mean "ddof"?', gpu.std, x, { unbiased = false })
  end)
end)

describe("a name that there is none of", function()
  it("is an error about the near one", function()
    local stream, event, generator = gpu.stream(), gpu.event(), gpu.random.generator "philox"
    for message, fn in pairs {
      ['[gpu] gpu has no field "f64"; dtypes are strings: "f64"'] = function() return gpu.f64 end,
      ['expected a dtype\'s name, a string such as "float64", got a function'] = function() return gpu.zeros(2, gpu.float64) end,
      ['[gpu] gpu has no field "concatenate"; use gpu.concat(list, axis)'] = function() return gpu.concatenate end,
      ['[gpu] gpu has no field "argmim"; did you mean "argmin"?'] = function() return gpu.argmim end,
      ['[array] an array has no field or method "tolist"; use x:table()'] = function() return x:tolist() end,
      ['[gpu] gpu has no field "zzzz"'] = function() return gpu.zzzz end,
      ['[gpu.random] gpu.random has no field "norml"; did you mean "normal"?'] = function() return gpu.random.norml end,
      ['[gpu.linalg] gpu.linalg has no field "clip"; use gpu.clip'] = function() return gpu.linalg.clip end,
      ['[gpu] gpu has no field "special"; use gpu.erf(x), gpu.gamma(x), gpu.j0(x)'] = function() return gpu.special end,
      ['[gpu.image] gpu.image has no field "laod"; did you mean "load"?'] = function() return gpu.image.laod end,
      ['[array] an array has no field or method "shpe"; did you mean "shape"?'] = function() return x.shpe end,
      ['[array] an array has no field or method "reshpae"; did you mean "reshape"?'] = function() return x:reshpae(4) end,
      ['[kernel] a kernel has no field or method "regsters"; did you mean "registers"?'] = function() return mod.fill.regsters end,
      ['[kernel] a kernel has no field or method "ovr"; did you mean "over"?'] = function() return mod.fill:ovr(4) end,
      ['[module] no kernel "fil", did you mean "fill"?'] = function() return mod.fil end,
      ['[stream] a stream has no field or method "snyc"; did you mean "sync"?'] = function() stream:snyc() end,
      ['[event] an event has no field or method "elapse"; did you mean "elapsed"?'] = function() event:elapse(event) end,
      ['has no field or method "unifrom"; did you mean "uniform"?'] = function() generator:unifrom(3) end,
      ['got "warpsize"; did you mean "warp_size"?'] = function() return gpu.device().warpsize end,
    } do
      fails(message, fn)
    end
    assert.is_nil(rawget(gpu, "zzzz"))
  end)
end)

describe("a list", function()
  it("holds no options", function()
    fails('[ones] expected sizes alone in a list, got dtype = "float64" among them; options come in a table of their own: '
      .. 'gpu.ones(3, {dtype = "float64"})', function() gpu.ones { 3, dtype = "float64" } end)
    fails('gpu.zeros({2, 3}, {device = "cpu"})', function() gpu.zeros { 2, 3, device = "cpu" } end)
    fails("x:sum(1, {keepdims = true})", function() x:sum { 1, keepdims = true } end)
    fails('[array] expected elements alone in a list, got dtype = "int8" among them', function() gpu.array { 1, 2, dtype = "int8" } end)
    fails("[concat] expected arrays alone in a list, got axis = 2 among them", function() gpu.concat { x, x, axis = 2 } end)
    fails("[roll] expected axes alone in a list, got by = 1 among them", function() x:roll(1, { 1, by = 1 }) end)
    fails("[median] expected axes alone in a list, got keepdims = true among them", function() x:median { 1, keepdims = true } end)
    fails("[histogram] expected numbers alone in a list", function() vector:histogram { 1, 2, range = { 0, 1 } } end)
    fails("[fill] expected numbers for grid alone in a list", function() mod.fill { grid = { 1, y = 2 }, block = 1 } end)
    fails("[module] expected strings for options alone in a list", function() gpu.module(source, { options = { "-G", fast = true } }) end)
  end)

  it("has no gaps", function()
    fails("[ones] expected sizes in a list without gaps", function() gpu.ones { 2, nil, 3 } end)
    fails("[array] expected elements in a list without gaps", function() gpu.array { 1, nil, 3 } end)
    fails("[array] expected elements in a list without gaps", function() gpu.array { [2] = 1 } end)
    fails("[flip] expected axes in a list without gaps", function() x:flip { [1.5] = 1 } end)
    assert.are.equal(0, gpu.array({}).size)
    assert.are.equal(0, gpu.zeros({}).ndim)
  end)
end)
