-- Every mistake in the arguments of a launch, and its message.
local gpu = require "gpu"
local ffi = require "ffi"
local fails = require("support").fails

ffi.cdef "typedef struct { int a; } argument_error_spec_small;"

local source = [[
  __global__ void saxpy(float a, const float* x, const float* y, float* out, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) out[i] = a * x[i] + y[i];
  }
  struct P { float m[4]; };
  __global__ void odd(float3 v, int i, bool b, P p, float2* z, dim3 d) {}
]]

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
    assert.is_truthy(message:find("argument_error_spec.lua:" .. line + 2 .. ": [saxpy]", 1, true), message)
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
      ffi.new "argument_error_spec_small", z, d)
    fails(" of 4 bytes", odd, { 1, 2, 3 }, 1, true, ffi.new "argument_error_spec_small", z, d)
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
