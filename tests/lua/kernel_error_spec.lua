-- Every mistake that a launch or a compilation can hold, and what is said of it.
local gpu = require "gpu"
local ffi = require "ffi"
local fails = require("support").fails

ffi.cdef [[
  typedef struct { int a; } kernel_error_spec_small;
  ssize_t readlink(const char* path, char* target, size_t size);
]]

--- The file of the command that runs this spec.
local function command()
  local target = ffi.new "char[4096]"
  return ffi.string(target, ffi.C.readlink("/proc/self/exe", target, ffi.sizeof(target)))
end

--- Runs a script by this very command. Gives its file's name, everything it printed, and whether it succeeded.
local function run(text)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(text)
  file:close()
  local pipe = assert(io.popen(("%s %s 2>&1; echo status $?"):format(command(), path)))
  local output = pipe:read "*a"
  pipe:close()
  os.remove(path)
  return path, output:gsub("status (%d+)\n$", ""), output:match "status (%d+)\n$" == "0"
end

-- A function of the script's that another one calls; LuaJIT keeps no frame of it where it ends in `return f()`.
local function tail_called_zeros(shape)
  return gpu.zeros(shape) -- the line in the message
end
local tail_line = debug.getinfo(tail_called_zeros, "S").linedefined + 1

local source = [[
  __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
  }
  struct P { float m[4]; };
  __global__ void odd(float3 v, int i, bool b, P p, float2* z, dim3 d) {}
  __global__ void spill(float* x) { extern __shared__ float s[]; s[threadIdx.x] = 1; x[threadIdx.x] = s[0]; }
]]

describe("compile errors", function()
  it("name the script, its line and the compiler's text", function()
    local path, output, ok = run [=[
local gpu = require "gpu"
gpu.module([[
  __global__ void k(float* x) {
    x[0] = undeclared_name;
  }
]])
]=]
    assert.is_false(ok)
    assert.is_truthy(output:find("undeclared_name", 1, true), output)
    assert.is_truthy(output:find(path .. ":2: ", 1, true), "the call's line in: " .. output)
    assert.is_truthy(output:find("\n" .. path .. ":4: error: ", 1, true), "the source's line in: " .. output)
  end)

  it("say nothing beside the error", function()
    local _, output = run [=[
local gpu = require "gpu"
print(pcall(gpu.module, "__global__ void k() { undeclared_name; }"))
local ok = pcall(gpu.module, "not C++ at all")
]=]
    assert.are.equal("false", output:match "^%a+")
    assert.is_nil(output:find("at all", 1, true), output)
  end)

  it("name the header that declares an unknown name", function()
    local message = fails("hint: curandState is declared in a header: #include <curand_kernel.h>", gpu.module,
      "__global__ void k(curandState* states) {}")
    assert.is_truthy(message:find("curandState", 1, true))
  end)

  it("say what to write for what CUDA C++ lacks", function()
    local on_cpu = gpu.device().kind == "cpu"
    local textures = " is of textures and surfaces, which scripts cannot make and the cpu device does not have: a kernel reads an "
      .. "array by its position, image[y * width + x]"
    local returns = "kernels and the bodies of gpu.elementwise return nothing: they set their outputs, y = ... or y[i] = ..."
    for _, row in ipairs {
      { "int v = __shfl_down(1, 2);", "__shfl_down is __shfl_down_sync since CUDA 9, whose first argument says which threads of the "
        .. "warp take part: __shfl_down_sync(0xffffffff, ...)" },
      { "int v = __ballot(1);", on_cpu and "__ballot is __ballot_sync since CUDA 9" },
      { "float32 v = 1;", "float32 is float in C++" },
      { "atomicMax(x, 1.0f);", "atomicMax is for integers: atomicMax((int*)p, __float_as_int(value)) keeps the order of floats that "
        .. "are not negative, a loop over atomicCAS of all; gpu.max and gpu.min reduce whole arrays" },
      { "short n = 0; atomicAdd(&n, n);", "atomicAdd takes a pointer to int, unsigned int or unsigned long long" },
      { "return x[0];", returns },
      { "cudaTextureObject_t t;", on_cpu and "cudaTextureObject_t" .. textures },
      { "x[0] = tex2D<float>(0, 1, 1);", on_cpu and "tex2D" .. textures },
    } do
      if row[2] then fails("hint: " .. row[2], gpu.module, "__global__ void k(float* x) { " .. row[1] .. " }") end
    end
    fails("hint: " .. (on_cpu and "cudaReadModeElementType" or "texture") .. textures, gpu.module,
      "texture<float, 2, cudaReadModeElementType> image;")
    if on_cpu then
      fails('[compile] cannot find the kernel "k<float32>": use of undeclared identifier \'float32\'; the source has k<T>\n'
        .. "hint: float32 is float in C++", gpu.kernel, "template <class T> __global__ void k(T* x) {}", "k<float32>")
    end
  end)

  it("point into the line of text that occurs several times", function()
    local path, output = run [=[
local gpu = require "gpu"
local function build() local mod = gpu.module([[ wrong; ]]) return mod end
-- [[ wrong; ]]
build()
]=]
    assert.is_truthy(output:find("\n" .. path .. ":2: error: ", 1, true), output)
  end)

  it("name the call for text that the script has put together", function()
    local path, output = run "local gpu = require 'gpu'\n\ngpu.module('wro' .. 'ng;')\n"
    assert.is_truthy(output:find("<kernel source at " .. path .. ":3>", 1, true), output)
  end)

  it("find text in a chunk made from a string", function()
    local text = "local gpu = require 'gpu'\n\nlocal _, e = pcall(gpu.module, [[ wrong_in_chunk; ]])\nreturn e"
    local message = assert(loadstring(text))()
    assert.is_truthy(message:find "wrong_in_chunk")
    assert.is_truthy(message:find "%[string .*%]:3: error: ", message)
  end)
end)

describe("errors in a function's last call", function()
  it("name its line, though its frame is gone", function()
    local ok, message = pcall(function()
      local x = tail_called_zeros("a")
      return x, nil
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("kernel_error_spec.lua:" .. tail_line .. ": [zeros]", 1, true), message)
  end)

  it("name it through several such calls, and in launches", function()
    local x = gpu.zeros(8)
    local launch = gpu.kernel("__global__ void k(float* x) {}", "k"):over(8)
    local function run(value)
      return launch(value)
    end
    local function outer(value)
      return run(value)
    end
    local line = debug.getinfo(run, "S").linedefined + 1
    outer(x)
    local ok, message = pcall(function()
      local result = outer(1)
      return result, nil
    end)
    assert.is_false(ok)
    assert.is_truthy(message:find("kernel_error_spec.lua:" .. line .. ": [k] argument 1 (x)", 1, true), message)
  end)

  it("name the caller's where several calls may have been the last", function()
    local function choose(first)
      if first then
        return gpu.zeros("a")
      end
      return gpu.zeros("b")
    end
    local line = debug.getinfo(1, "l").currentline + 2
    local _, message = pcall(function()
      local x = choose(true)
      return x, nil
    end)
    assert.is_truthy(message:find("kernel_error_spec.lua:" .. line .. ": [zeros]", 1, true), message)
  end)
end)

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
    fails("; the source's function twice is no kernel: write __global__ before it", function() return mod.twice, nil end)
    fails('did you mean "twice"? It is no kernel: write __global__ before it', function() return mod.twise, nil end)
    fails('; fill is a template: name an instance of it, as in "fill<float>"', gpu.kernel, text, "fill")
  end)

  it("options that are not known or of another type", function()
    fails('expected the options options, defines, headers, include, names and device, got "define"; did you mean "defines"?', gpu.module, source,
      { define = { N = 1 } })
    fails("[module] expected a table of options: options, defines, headers, include, names and device, got 3", gpu.module, source, 3)
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
    -- What an instance's own code does wrong is another matter.
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
    fails("expected a launch configuration first, as in saxpy{grid=..., block=...}(arguments), got 1", saxpy, 1)
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
    refuses("block has 2048 threads, the device takes at most 1024", { grid = 1, block = 2048 })
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
    refuses(("[launch] cooperative grid is %d x 1 x 1 blocks, the device holds at most %d of them at once"):format(
      most + 1, most), { grid = most + 1, block = 256, cooperative = true })
    refuses("at once", { grid = { 65535, 65535, 65535 }, block = 256, cooperative = true })
  end)

  it("clusters where the device has none", function()
    if gpu.device().kind ~= "cpu" then return end
    local x = gpu.zeros(1)
    fails("[launch] the cpu device has no clusters of blocks", saxpy { grid = 4, block = 1, cluster = 2 }, 1, x, x, x, 0)
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
    fails('"coef" is a variable, no kernel; mod:constant("coef") is an array over it', function() return with_table.coef, nil end)
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
    -- What the messages advise.
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

describe("arguments are refused", function()
  local mod = gpu.module(source)
  local launch = mod.saxpy { grid = 1, block = 32 }
  local x, y, out = gpu.zeros(10), gpu.zeros(10), gpu.zeros(10)
  local function refuses(text, ...)
    return fails(text, launch, ...)
  end

  it("when there are too few or too many", function()
    local signature = ": saxpy(float, const float*, const float*, float*, unsigned long)"
    refuses("[saxpy] expected 5 arguments, got 4" .. signature, 1, x, y, out)
    refuses("[saxpy] expected 5 arguments, got 6" .. signature, 1, x, y, out, 10, 11)
    refuses("[saxpy] expected 5 arguments, got 0")
  end)

  it("at the line of the call", function()
    local line = debug.getinfo(1, "l").currentline
    local _, message = pcall(function()
      launch(1, x)
    end)
    assert.is_truthy(message:find("kernel_error_spec.lua:" .. line + 2 .. ": [saxpy]", 1, true), message)
  end)

  it("as arrays of another element type", function()
    refuses("[saxpy] argument 2 (x): expected a float32 array for const float*, got float64[10]; "
      .. 'x:astype("float32") converts', 1, gpu.zeros(10, "float64"), y, out, 10)
    refuses("argument 4 (out): expected a float32 array for float*, got int32[10]", 1, x, y, gpu.zeros(10, "int32"), 10)
  end)

  it("as arrays that cannot be used", function()
    local freed = gpu.zeros(10)
    freed:free()
    refuses("[saxpy] argument 3 (y): the array was freed", 1, x, freed, out, 10)
    refuses("[saxpy] argument 2 (x): expected a row-major array, got a strided view float32[3x4]; x:copy() makes one", 1,
      gpu.zeros(4, 3).T, y, out, 10)
  end)

  it("as arrays on another device", function()
    local here = x.device
    for _, device in ipairs(gpu.devices()) do
      if device.name ~= here then
        local elsewhere = gpu.zeros(10, { device = device.name })
        local expected = "[saxpy] argument 2 (x): the array is on %s, the kernel on %s; x:to(%q) copies it"
        refuses(expected:format(device.name, here, here), 1, elsewhere, y, out, 10)
      end
    end
  end)

  it("as values that are no arrays", function()
    refuses("argument 2 (x): expected a float32 array for const float*, got 3", 1, 3, y, out, 10)
    refuses("got a table; gpu.In(t), gpu.Out(t) or gpu.InOut(t) copies it", 1, { 1, 2 }, y, out, 10)
    refuses("gpu.In(t), gpu.Out(t) or gpu.InOut(t) copies it", 1, ffi.new "float[3]", y, out, 10)
    refuses('got "x"', 1, "x", y, out, 10)
  end)

  it("as nil, which is no null pointer", function()
    refuses("[saxpy] argument 2 (x): expected a float32 array for const float*, got nil; gpu.null is a null pointer", 1,
      nil, y, out, 10)
    refuses("[saxpy] argument 4 (out): expected a float32 array for float*, got nil", 1, x, y, missing_name, 10)
    local is_null = gpu.kernel("__global__ void k(const float* x, int* y) { y[0] = x == nullptr; }", "k") { grid = 1, block = 1 }
    local result = gpu.zeros(1, "int32")
    is_null(x, result)
    assert.are.equal(0, result[1])
    is_null(gpu.null, result)
    assert.are.equal(1, result[1])
    result:fill_(0)
    is_null(ffi.new "float*", result)
    assert.are.equal(1, result[1])
    fails("got gpu.null", gpu.zeros, gpu.null)
  end)

  it("as numbers that do not fit", function()
    refuses("[saxpy] argument 5 (n): expected an integer for unsigned long, got NaN", 1, x, y, out, 0 / 0)
    refuses("argument 5 (n): expected an integer for unsigned long, got 1.5", 1, x, y, out, 1.5)
    refuses("argument 5 (n): -1 does not fit unsigned long (0 to 18446744073709551615)", 1, x, y, out, -1)
    refuses("argument 5 (n): inf does not fit unsigned long", 1, x, y, out, 1 / 0)
    refuses("argument 5 (n): -1 does not fit unsigned long", 1, x, y, out, -1LL)
    refuses("argument 1 (a): 1e+300 does not fit float", 1e300, x, y, out, 10)
    refuses('argument 1 (a): expected a number for float, got "1"; tonumber(text) is the number', "1", x, y, out, 10)
    refuses("argument 1 (a): expected a number for float, got nil", nil, x, y, out, 10)
    refuses("argument 1 (a): expected a number for float, got true", true, x, y, out, 10)
    refuses("argument 1 (a): expected a number for float, got an array float32[10]", x, x, y, out, 10)
    refuses("argument 1 (a): expected a number for float, got an array float32[]; x:item() is its number", x:sum(), x, y, out, 10)
  end)

  it("as vectors, structs and booleans of another make", function()
    local odd = mod.odd { grid = 1, block = 1 }
    local P, z, d = ffi.new "float[4]", gpu.zeros(2, "complex64"), { 1, 1, 1 }
    local record = ffi.new("struct { float m[4]; }", { P })
    odd({ 1, 2, 3 }, 1, true, record, z, d)
    fails("[odd] argument 1 (v): expected 3 numbers for float3, got 2", odd, { 1, 2 }, 1, true, record, z, d)
    fails("[odd] argument 1 (v): expected 3 numbers for float3, got 4", odd, { 1, 2, 3, 4 }, 1, true, record, z, d)
    fails("[odd] argument 1 (v): expected field z for float3", odd, { x = 1, y = 2 }, 1, true, record, z, d)
    fails("[odd] argument 1 (v): unexpected field w for float3", odd, { x = 1, y = 2, z = 3, w = 4 }, 1, true, record, z, d)
    fails('[odd] argument 1 (v): y: expected a number for float32, got "2"', odd, { 1, "2", 3 }, 1, true, record, z, d)
    fails("[odd] argument 1 (v): expected a table of 3 numbers for float3, got 1", odd, 1, 1, true, record, z, d)
    fails("[odd] argument 2 (i): 3000000000 does not fit int (-2147483648 to 2147483647)", odd, { 1, 2, 3 }, 3e9, true,
      record, z, d)
    fails("[odd] argument 3 (b): expected true or false for bool, got 1", odd, { 1, 2, 3 }, 1, 1, record, z, d)
    fails("[odd] argument 4 (p): expected an FFI struct of 16 bytes for P, got ", odd, { 1, 2, 3 }, 1, true,
      ffi.new "kernel_error_spec_small", z, d)
    fails(" of 4 bytes", odd, { 1, 2, 3 }, 1, true, ffi.new "kernel_error_spec_small", z, d)
    fails('[odd] argument 4 (p): expected an FFI struct of 16 bytes for P, got a table; ffi.new("struct { float m[4]; }", {...}) '
      .. "makes one", odd, { 1, 2, 3 }, 1, true, { 1 }, z, d)
    fails("for P, got a struct of 8 bytes; ffi.new", odd, { 1, 2, 3 }, 1, true, ffi.new "struct { double m; }", z, d)
    fails("[odd] argument 5 (z): expected a float32 or complex64 array for float2*, got float64[2]", odd, { 1, 2, 3 }, 1,
      true, record, gpu.zeros(2, "float64"), d)
    fails("[odd] argument 6 (d): x: -1 does not fit uint32 (0 to 4294967295)", odd, { 1, 2, 3 }, 1, true, record, z,
      { -1, 1, 1 })
  end)

  it("as texts, addresses and structs of another make", function()
    local kernels = gpu.module [[
      struct Particle { double x, y, z; __device__ void move(double by) { x += by; } };
      __global__ void text(const char* s, char letter, int* length) { while (s[*length]) ++*length; if (s[0] != letter) *length = -1; }
      __global__ void rows(float** x, int n) { for (int i = 0; i < n; ++i) x[i][threadIdx.x] = i + 1; }
      __global__ void move(Particle* p, Particle by) { p[threadIdx.x].move(by.x); }
    ]]
    local function refuses_of(name, message, ...) fails("[" .. name .. "] argument " .. message, kernels[name] { grid = 1, block = 1 }, ...) end
    local length = gpu.zeros(1, "int32")
    refuses_of("text", '1 (s): expected an int8 or uint8 array for const char*, got "hello"; gpu.In(ffi.new("char[?]", #s + 1, s)) '
      .. "copies a string with the zero at its end", "hello", ("h"):byte(), length)
    local text = gpu.In(ffi.new("char[?]", 6, "hello"))
    refuses_of("text", '2 (letter): expected an integer for char, got "h"; text:byte() is a letter\'s number', text, "h", length)
    kernels.text { grid = 1, block = 1 }(text, ("h"):byte(), length)
    assert.are.equal(5, length[1])

    local addresses = '; gpu.array({x.pointer, y.pointer}, "uint64") has the addresses of arrays'
    refuses_of("rows", "1 (x): expected a uint64 array for float**, got a table" .. addresses, { x, y }, 2)
    refuses_of("rows", "1 (x): expected a uint64 array for float**, got float32[10]" .. addresses, x, 2)
    kernels.rows { grid = 1, block = 10 }(gpu.array({ x.pointer, y.pointer }, "uint64"), 2)
    assert.are.same({ 1, 2 }, { x[10], y[1] })
    x:fill_(0)
    y:fill_(0)

    local by = ffi.new("struct { double x, y, z; }", { 3, 0, 0 })
    refuses_of("move", '1 (p): expected a uint8 array for Particle*, got float32[10]; gpu.InOut(s) copies an FFI array of structs there '
      .. 'and back, ffi.cast("void*", x.pointer) passes x\'s memory as it is', out, by)
    refuses_of("move", "2 (by): expected an FFI struct of 24 bytes for Particle, got a table; ffi.new makes one, with the members that "
      .. "it has in C++", gpu.null, { 3, 0, 0 })
    local positions = gpu.zeros(3, 3, "float64")
    kernels.move { grid = 1, block = 3 }(ffi.cast("void*", positions.pointer), by)
    assert.are.same({ { 3, 0, 0 }, { 3, 0, 0 }, { 3, 0, 0 } }, positions:table())
  end)

  it("as host arguments that cannot be copied", function()
    fails("[In] expected a table or an FFI array, got 3", gpu.In, 3)
    fails("[Out] expected a table or an FFI array, got an array float32[10]; kernels take gpu's arrays as they are, without gpu.Out",
      gpu.Out, x)
    refuses("argument 2 (x): [Out] expected a pointer that the kernel may write through, got const float*", 1,
      gpu.Out { 1 }, y, out, 1)
    refuses('argument 2 (x): [In] expected a number, a boolean or a complex number at [2], got "a"', 1,
      gpu.In { 1, "a" }, y, out, 1)
    refuses("argument 4 (out): [Out] expected a table or an FFI array that makes a float32 array for float*", 1, x, y,
      gpu.Out(ffi.new "double[3]"), 1)
    refuses("[Out] expected a table with as many items as there are results, got an empty one", 1, x, y, gpu.Out {}, 10)
    refuses("argument 1 (a): expected a number for float, got a host argument", gpu.In { 1 }, x, y, out, 1)
    local bytes = gpu.kernel("__global__ void k(unsigned char* x) {}", "k") { grid = 1, block = 1 }
    local message = fails("300 does not fit uint8", bytes, gpu.In { 1, 300 })
    assert.is_truthy(message:find("[k] argument 1 (x): ", 1, true) and message:find("[2]", 1, true), message)
  end)

  it("without harm to the launch", function()
    refuses("argument 5", 2, x, y, out, -1)
    local a, b, c = gpu.array { 1, 2 }, gpu.array { 3, 4 }, gpu.zeros(2)
    launch(2, a, b, c, 2)
    assert.are.same({ 5, 8 }, c:table())
  end)
end)
