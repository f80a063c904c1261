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

describe("modules refuse", function()
  it("source that is no string", function()
    fails("[module] expected CUDA C++ source as a string, got nil", gpu.module, nil)
    fails("[kernel] expected the kernel's name, got nil", gpu.kernel, source, nil)
  end)

  it("options that are not known or of another type", function()
    fails('expected the options options, defines, headers, include, names and device, got "define"; did you mean "defines"?', gpu.module, source,
      { define = { N = 1 } })
    fails("[module] expected a table of options: options, defines, headers, include, names and device, got 3", gpu.module, source, 3)
    fails("options: expected a list of strings", gpu.module, source, { options = "-G" })
    fails("names: expected a list of strings, got 1", gpu.module, source, { names = { 1 } })
    fails("defines: expected a string, a finite number or a boolean, got NaN", gpu.module, source,
      { defines = { N = 0 / 0 } })
    fails("headers: expected a name for each value, got 1", gpu.module, source, { headers = { "int x;" } })
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
    refuses('expected the launch options grid, block, shared, stream, cooperative and cluster, got "blok"',
      { grid = 1, block = 1, blok = 1 })
    refuses("got the key 1", { 16, 256 })
  end)

  it("grids and blocks that are not counts", function()
    refuses("grid: expected an integer from 1 on, or a table of up to three, got 0", { grid = 0, block = 1 })
    refuses("got -1", { grid = 1, block = -1 })
    refuses("got 1.5", { grid = 1.5, block = 1 })
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

  it("other options of the wrong type", function()
    refuses("shared: expected a number of bytes, got -1", { grid = 1, block = 1, shared = -1 })
    refuses("stream: expected a stream, got 1", { grid = 1, block = 1, stream = 1 })
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
    refuses("[saxpy] argument 2: expected a float32 array for const float*, got float64[10]; "
      .. 'x:astype("float32") converts', 1, gpu.zeros(10, "float64"), y, out, 10)
    refuses("argument 4: expected a float32 array for float*, got int32[10]", 1, x, y, gpu.zeros(10, "int32"), 10)
  end)

  it("as arrays that cannot be used", function()
    local freed = gpu.zeros(10)
    freed:free()
    refuses("[saxpy] argument 3: the array was freed", 1, x, freed, out, 10)
    refuses("[saxpy] argument 2: expected a row-major array, got a strided view float32[3x4]; x:copy() makes one", 1,
      gpu.zeros(4, 3).T, y, out, 10)
  end)

  it("as arrays on another device", function()
    local here = x.device
    for _, device in ipairs(gpu.devices()) do
      if device.name ~= here then
        local elsewhere = gpu.zeros(10, { device = device.name })
        local expected = "[saxpy] argument 2: the array is on %s, the kernel on %s; x:to(%q) copies it"
        refuses(expected:format(device.name, here, here), 1, elsewhere, y, out, 10)
      end
    end
  end)

  it("as values that are no arrays", function()
    refuses("argument 2: expected a float32 array for const float*, got 3", 1, 3, y, out, 10)
    refuses("got a table; gpu.In(t), gpu.Out(t) or gpu.InOut(t) copies it", 1, { 1, 2 }, y, out, 10)
    refuses("gpu.In(t), gpu.Out(t) or gpu.InOut(t) copies it", 1, ffi.new "float[3]", y, out, 10)
    refuses('got "x"', 1, "x", y, out, 10)
  end)

  it("as numbers that do not fit", function()
    refuses("[saxpy] argument 5: expected an integer for unsigned long, got NaN", 1, x, y, out, 0 / 0)
    refuses("argument 5: expected an integer for unsigned long, got 1.5", 1, x, y, out, 1.5)
    refuses("argument 5: -1 does not fit unsigned long (0 to 18446744073709551615)", 1, x, y, out, -1)
    refuses("argument 5: inf does not fit unsigned long", 1, x, y, out, 1 / 0)
    refuses("argument 5: -1 does not fit unsigned long", 1, x, y, out, -1LL)
    refuses("argument 1: 1e+300 does not fit float", 1e300, x, y, out, 10)
    refuses('argument 1: expected a number for float, got "1"', "1", x, y, out, 10)
    refuses("argument 1: expected a number for float, got nil", nil, x, y, out, 10)
    refuses("argument 1: expected a number for float, got true", true, x, y, out, 10)
    refuses("argument 1: expected a number for float, got an array float32[10]", x, x, y, out, 10)
  end)

  it("as vectors, structs and booleans of another make", function()
    local odd = mod.odd { grid = 1, block = 1 }
    local P, z, d = ffi.new "float[4]", gpu.zeros(2, "complex64"), { 1, 1, 1 }
    local record = ffi.new("struct { float m[4]; }", { P })
    odd({ 1, 2, 3 }, 1, true, record, z, d)
    fails("[odd] argument 1: expected 3 numbers for float3, got 2", odd, { 1, 2 }, 1, true, record, z, d)
    fails("[odd] argument 1: expected 3 numbers for float3, got 4", odd, { 1, 2, 3, 4 }, 1, true, record, z, d)
    fails("[odd] argument 1: expected field z for float3", odd, { x = 1, y = 2 }, 1, true, record, z, d)
    fails("[odd] argument 1: unexpected field w for float3", odd, { x = 1, y = 2, z = 3, w = 4 }, 1, true, record, z, d)
    fails('[odd] argument 1: y: expected a number for float32, got "2"', odd, { 1, "2", 3 }, 1, true, record, z, d)
    fails("[odd] argument 1: expected a table of 3 numbers for float3, got 1", odd, 1, 1, true, record, z, d)
    fails("[odd] argument 2: 3000000000 does not fit int (-2147483648 to 2147483647)", odd, { 1, 2, 3 }, 3e9, true,
      record, z, d)
    fails("[odd] argument 3: expected true or false for bool, got 1", odd, { 1, 2, 3 }, 1, 1, record, z, d)
    fails("[odd] argument 4: expected an FFI struct of 16 bytes for P, got ", odd, { 1, 2, 3 }, 1, true,
      ffi.new "kernel_error_spec_small", z, d)
    fails(" of 4 bytes", odd, { 1, 2, 3 }, 1, true, ffi.new "kernel_error_spec_small", z, d)
    fails("[odd] argument 4: expected an FFI struct of 16 bytes for P, got a table", odd, { 1, 2, 3 }, 1, true,
      { 1 }, z, d)
    fails("[odd] argument 5: expected a float32 or complex64 array for float2*, got float64[2]", odd, { 1, 2, 3 }, 1,
      true, record, gpu.zeros(2, "float64"), d)
    fails("[odd] argument 6: x: -1 does not fit uint32 (0 to 4294967295)", odd, { 1, 2, 3 }, 1, true, record, z,
      { -1, 1, 1 })
  end)

  it("as host arguments that cannot be copied", function()
    fails("[In] expected a table or an FFI array, got 3", gpu.In, 3)
    fails("[Out] expected a table or an FFI array, got an array float32[10]", gpu.Out, x)
    refuses("argument 2: [Out] expected a pointer that the kernel may write through, got const float*", 1,
      gpu.Out { 1 }, y, out, 1)
    refuses('argument 2: [In] expected a number, a boolean or a complex number at [2], got "a"', 1,
      gpu.In { 1, "a" }, y, out, 1)
    refuses("argument 4: [Out] expected a table or an FFI array that makes a float32 array for float*", 1, x, y,
      gpu.Out(ffi.new "double[3]"), 1)
    refuses("argument 1: expected a number for float, got a host argument", gpu.In { 1 }, x, y, out, 1)
    local bytes = gpu.kernel("__global__ void k(unsigned char* x) {}", "k") { grid = 1, block = 1 }
    local message = fails("300 does not fit uint8", bytes, gpu.In { 1, 300 })
    assert.is_truthy(message:find("[k] argument 1: ", 1, true) and message:find("[2]", 1, true), message)
  end)

  it("without harm to the launch", function()
    refuses("argument 5", 2, x, y, out, -1)
    local a, b, c = gpu.array { 1, 2 }, gpu.array { 3, 4 }, gpu.zeros(2)
    launch(2, a, b, c, 2)
    assert.are.same({ 5, 8 }, c:table())
  end)
end)
