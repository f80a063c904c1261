-- Every mistake in a module, the choice of a kernel or a launch's configuration, and its message.
local gpu = require "gpu"
local fails = require("support").fails

local source = [[
  __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
  }
  struct P { float m[4]; };
  __global__ void odd(float3 v, int i, bool b, P p, float2* z, dim3 d) {}
  __global__ void spill(float* x) { extern __shared__ float s[]; s[threadIdx.x] = 1; x[threadIdx.x] = s[0]; }
]]

describe("modules refuse", function()
  it("source that is no string", function()
    fails("[module] expected CUDA C++ source as a string, got nil", gpu.module, nil)
    fails("[kernel] expected the kernel's name after the source, which has \"saxpy\", \"odd\", \"spill\", got nil",
      gpu.kernel, source, nil)
  end)

  it("the name of a file in place of its text", function()
    fails('[kernel] expected CUDA C++ source as a string, got the name of a file, "kernel.cu"; '
      .. 'assert(io.open("kernel.cu")):read("*a") is its text', gpu.kernel, "kernel.cu", "add")
    fails('gpu.load_module("kernel.ptx") loads it', gpu.module, "kernel.ptx")
    fails('[load_module] expected PTX, a cubin or a fatbin, got the name of a file, "kernel.cu"; '
      .. 'gpu.module(assert(io.open("kernel.cu")):read("*a")) compiles it', gpu.load_module, "kernel.cu")
    fails("[kernel] expected the source first and the kernel's name second, got the source second", gpu.kernel, "saxpy", source)
  end)

  it("functions that are no kernels", function()
    local text = [=[
      namespace a {
      // __global__ void twice(float* x) {}
      __device__ void twice(float* x) { x[0] *= 2; }
      }
      template <class T> __global__ void fill(T* x, T value) { x[0] = value; }
      __global__ __launch_bounds__(256) void both(float* x) { a::twice(x); }
    ]=]
    local mod = gpu.module(text, { names = { "fill<int>" } })
    fails('no kernel "twice"', function() return mod.twice, nil end)
    fails("; the source's function twice is not a kernel: write __global__ before it", function() return mod.twice, nil end)
    fails('did you mean "twice"? It is not a kernel: write __global__ before it', function() return mod.twise, nil end)
    fails('; fill is a template: name an instance of it, as in "fill<float>"', gpu.kernel, text, "fill")
    fails('; fill is a template: gpu.module(source, {names = {"fill<int>"}}) makes this instance', function()
      return gpu.module(text)["fill<int>"]
    end)
  end)

  it("options that are not known or of another type", function()
    fails('expected the options options, defines, headers, include, names, name and device, got "define"; did you mean "defines"?', gpu.module, source,
      { define = { N = 1 } })
    fails("[module] expected a table of options: options, defines, headers, include, names, name and device, got 3", gpu.module, source, 3)
    fails("options: expected a list of strings", gpu.module, source, { options = "-G" })
    fails("names: expected a list of strings, got 1", gpu.module, source, { names = { 1 } })
    fails("defines: expected a string, a finite number or a boolean, got NaN", gpu.module, source,
      { defines = { N = 0 / 0 } })
    fails("headers: expected a name for each value, as in {name = value}, got 1", gpu.module, source, { headers = { "int x;" } })
    fails("headers: expected a header's text, got 1", gpu.module, source, { headers = { a = 1 } })
  end)

  it("name expressions that are no kernel", function()
    if gpu.device().kind ~= "cpu" then return end
    local kernels = [[
      namespace deep { __global__ void twice(float* x); }
      template <class T, int N> __global__ void fill(T* x) { x[0] = T::missing; }
      __global__ void over(int* x) {}
      __global__ void over(float* x) {}
      __device__ void helper() {}
    ]]
    local list = "deep::twice, fill<T, N>, over, over"
    local function refuses(name, what)
      local message = fails(('[compile] cannot find the kernel "%s": %s'):format(name, what), gpu.module, kernels,
        { names = { name } })
      assert.is_truthy(message:find("he source has " .. list, 1, true), message)
      assert.is_nil(message:find("gpulua_", 1, true), message)
    end
    refuses("file<float, 1>", "use of undeclared identifier 'file'; did you mean 'fill'? The source has")
    refuses("deep::twice<int>", "'twice' does not name a template")
    refuses("fill", "it may be any of several; a template needs its arguments; the source has")
    refuses("over", "it may be any of several")
    refuses("fill<", "expected expression")
    refuses("helper", "not a __global__ function")
    fails('cannot find the kernel "k<3>": use of undeclared identifier \'k\'; the source has none', gpu.kernel, "", "k<3>")
    -- An error in an instance's own code is reported differently.
    local message = fails("type 'float' cannot be used prior to '::'", gpu.module, kernels, { names = { "fill<float, 1>" } })
    assert.is_truthy(message:find("name expression fill<float, 1>:1: note: in instantiation", 1, true), message)
    assert.is_nil(message:find("gpulua_", 1, true), message)
  end)

  it("names that they do not have", function()
    local mod = gpu.module(source)
    local message = fails('no kernel "saxpi"', function() return mod.saxpi, nil end)
    assert.is_truthy(message:find("saxpy(float, const float*, const float*, float*, unsigned long)", 1, true))
    fails('no kernel "saxpi"', gpu.kernel, source, "saxpi")
    fails('no global "coef"', mod.constant, mod, "coef")
  end)

  it("files that are not there, by nil and a message", function()
    local mod, message = gpu.load_module "/no/such/file.cubin"
    assert.is_nil(mod)
    assert.are.equal('[load_module] no file "/no/such/file.cubin"', message)
  end)
end)

describe("configurations refuse", function()
  local mod = gpu.module(source)
  local saxpy = mod.saxpy
  local function refuses(text, options)
    fails(text, function() return saxpy(options), nil end)
  end

  it("anything but a table of known options", function()
    fails("expected a launch configuration first, as in saxpy:over(count)(arguments) or saxpy{grid=..., block=...}(arguments), got 1", saxpy, 1)
    refuses("got no block", { grid = 1 })
    refuses("got no grid", { block = 1 })
    refuses('expected the options grid, block, shared, stream, cooperative and cluster, got "blok"; did you mean "block"?',
      { grid = 1, block = 1, blok = 1 })
    refuses("got the key 1", { 16, 256 })
  end)

  it("grids and blocks that are not counts", function()
    refuses("grid: expected an integer from 1 on, or a table of up to three, got 0", { grid = 0, block = 1 })
    refuses("got -1", { grid = 1, block = -1 })
    refuses("table of up to three (math.ceil rounds up), got 1.5", { grid = 1.5, block = 1 })
    refuses("got NaN", { grid = 1, block = 0 / 0 })
    refuses("got 4294967296", { grid = 2 ^ 32, block = 1 })
    refuses("grid: expected up to three numbers, got 4", { grid = { 1, 2, 3, 4 }, block = 1 })
    refuses("block: expected up to three numbers, got 0", { grid = 1, block = {} })
    refuses("block[2]: expected an integer from 1 on", { grid = 1, block = { 1, 0 } })
    refuses('got "1"', { grid = "1", block = 1 })
  end)

  it("what the device cannot run", function()
    refuses("[launch] kernel 'saxpy': block has 2048 threads, the device takes at most 1024", { grid = 1, block = 2048 })
    refuses("block has 2048 threads", { grid = 1, block = { 64, 32 } })
    fails("bytes of dynamic shared memory, the device has", function()
      return mod.spill { grid = 1, block = 1, shared = 2 ^ 30 }, nil
    end)
    refuses("grid that is a multiple of the cluster", { grid = 3, block = 1, cluster = 2 })
  end)

  it("an extern __shared__ array without its size", function()
    local kernels = gpu.module [=[
      extern __shared__ float whole[];
      __device__ float first() { return whole[0]; }
      __global__ void direct(float* x) { extern __shared__ float s[]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[0]; }
      __global__ void through_a_function(float* x) { whole[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = first(); }
      __global__ void none(float* x) { __shared__ float s[32]; s[threadIdx.x] = x[threadIdx.x]; __syncthreads(); x[threadIdx.x] = s[0]; }
    ]=]
    local x = gpu.array { 3, 4, 5 }
    for _, name in ipairs { "direct", "through_a_function" } do
      local kernel = kernels[name]
      local expected = ("[%s] expected shared, the bytes of the kernel's extern __shared__ array, as in "
        .. "%s{grid=..., block=256, shared=4*256}; shared=0 is none"):format(name, name)
      fails(expected, function() return kernel { grid = 1, block = 3 }, nil end)
      fails(expected, kernel.over, kernel, 3)
      kernel { grid = 1, block = 3, shared = 0 }
      kernel { grid = 1, block = 3, shared = 12 }(x)
      assert.are.same({ 3, 3, 3 }, x:table())
    end
    kernels.none { grid = 1, block = 3 }(x)
    kernels.none:over(3)
  end)

  it("cooperative grids of more blocks than the device holds at once", function()
    local x, launch = gpu.zeros(1), nil
    local most = saxpy:occupancy(256) * gpu.device().multiprocessors
    launch = saxpy { grid = most, block = 256, cooperative = true }
    launch(1, x, x, x, 0)
    refuses(("[launch] kernel 'saxpy': cooperative grid is %d x 1 x 1 blocks, the device holds at most %d of them at once"):format(
      most + 1, most), { grid = most + 1, block = 256, cooperative = true })
    refuses("at once", { grid = { 65535, 65535, 65535 }, block = 256, cooperative = true })
  end)

  it("clusters where the device has none", function()
    if gpu.device().kind ~= "cpu" then return end
    local x = gpu.zeros(1)
    fails("[launch] kernel 'saxpy': the cpu device has no clusters of blocks", saxpy { grid = 4, block = 1, cluster = 2 }, 1, x, x, x, 0)
    saxpy { grid = 4, block = 1, cluster = 1 }(1, x, x, x, 0)
  end)

  it("methods without their kernel, and kernels as methods", function()
    fails("[over] expected k:over(count)(arguments...), with a colon, got a dot and 10 in k's place", saxpy.over, 10)
    fails("[saxpy] expected a call of the launch with the kernel's arguments, launch(...), and no field of it, got \"run\"",
      function() return saxpy { grid = 1, block = 1 }:run(), nil end)
    fails("mod.name is the kernel of that name", function() return mod.get_function("saxpy"), nil end)
    fails("[saxpy] expected a dot before the kernel, as in mod.saxpy{...}, got a module", function()
      return mod:saxpy { grid = 1, block = 1 }, nil
    end)
    local with_table = gpu.module "__constant__ float coef[4]; __global__ void k(float* x) { x[0] = coef[1]; }"
    fails('"coef" is a variable, not a kernel; mod:constant("coef") is an array over it', function() return with_table.coef, nil end)
    fails("[over] expected at most 1 argument, got 3: k:over(count)(arguments...)", saxpy.over, saxpy, 10, 1, 2)
    fails("[over] expected a number of items, one for each thread, got a table; several axes are a launch of their own, "
      .. "saxpy{grid={columns, rows}, block={32, 8}}(arguments)", saxpy.over, saxpy, { 10, 10 })
    fails("[saxpy] expected a launch in braces, saxpy{grid=..., block=...}(arguments), and no brackets, got a table",
      function() return saxpy[{ 1, 128 }], nil end)
    fails("[module] expected a launch of one of the module's kernels, mod.saxpy{grid=..., block=...}(arguments), got a call of the module",
      function() return mod { grid = 1, block = 1 }, nil end)
  end)

  it("assignments to a module", function()
    local variables = gpu.module "__constant__ float rate; __device__ int table[3]; __global__ void k(float* x) { x[0] = rate * table[1]; }"
    fails('[module] expected mod:constant("rate"):fill_(value), which sets the variable, got mod.rate = 0.5',
      function() variables.rate = 0.5 end)
    fails('[module] expected mod:constant("table"):copy_(values), which sets the variable, got mod.table = a table',
      function() variables.table = { 1, 2, 3 } end)
    fails('[module] no global "rates", did you mean "rate"?', function() variables.rates = 1 end)
    -- The advice of the messages works.
    variables:constant("rate"):fill_(0.5)
    variables:constant("table"):copy_ { 1, 2, 3 }
    local x = gpu.zeros(1)
    variables.k { grid = 1, block = 1 }(x)
    assert.are.equal(1, x[1])
  end)

  it("other options of the wrong type", function()
    refuses("shared: expected a number of bytes, got -1", { grid = 1, block = 1, shared = -1 })
    refuses("stream: expected a stream made by gpu.stream(), or no such option for the current one, got 1", { grid = 1, block = 1, stream = 1 })
    refuses("cooperative: expected true or false, got 1", { grid = 1, block = 1, cooperative = 1 })
  end)

  it("numbers of items that are none", function()
    fails("[over] expected a number of items, one for each thread, got -1", saxpy.over, saxpy, -1)
    fails("got 1.5", saxpy.over, saxpy, 1.5)
    fails("got NaN", saxpy.over, saxpy, 0 / 0)
    fails("[over] expected items that fit a grid", saxpy.over, saxpy, 2 ^ 60)
    fails("[occupancy] expected a block of 1 to", saxpy.occupancy, saxpy, 0)
  end)
end)
