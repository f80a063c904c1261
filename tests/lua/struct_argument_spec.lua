local gpu = require "gpu"
local ffi = require "ffi"
local fails = require("support").fails

ffi.cdef [[
  typedef struct { float a; int n; double d; } struct_argument_spec_params;
  typedef struct { int n; float a; double d; } struct_argument_spec_swapped;
  typedef struct { float a; int n; } struct_argument_spec_short;
]]

local source = [[
  struct Params { float a; int n; double d; };
  typedef struct { float3 v; float2 w; Params p; Params* next; unsigned char c[3]; } Nested;
  template <int N> struct Sized { float v[N]; };
  __constant__ Params one;
  __device__ Params several[3];
  __device__ float numbers[4];
  extern "C" __global__ void at(const Params* p, double* out, int i) { out[0] = p[i].a + 10 * p[i].n + 100 * p[i].d; }
  __global__ void by_value(Params p, double* out) { out[0] = p.a + 10 * p.n + 100 * p.d; }
  __global__ void nested(Nested* p, double* out) { out[0] = p->v.z + p->w.y + p->p.n + p->c[2]; p->c[0] = 9; }
  __global__ void sized(Sized<2>* p, double* out) { out[0] = p->v[1]; }
  __global__ void vectors(float4* p, double* out) { out[0] = p[1].w; }
  __global__ void of_globals(double* out) { out[0] = one.a + 10 * one.n + 100 * one.d + 1000 * several[2].n; }
]]

local Params = ffi.typeof "struct_argument_spec_params"
local Swapped = ffi.typeof "struct_argument_spec_swapped"
local Short = ffi.typeof "struct_argument_spec_short"

local mod = gpu.module(source)
local function value_of(name, ...)
  local out = gpu.zeros(1, "float64")
  local arguments = { ... }
  table.insert(arguments, 2, out)
  mod[name] { grid = 1, block = 1 }(unpack(arguments))
  return out:item()
end

describe("a kernel's struct", function()
  it("has an FFI struct of its size and with its members' places", function()
    assert.are.equal(321, value_of("by_value", Params(1, 2, 3)))
    assert.are.equal(321, value_of("at", gpu.In(Params(1, 2, 3)), 0))
    local several = ffi.new("struct_argument_spec_params[2]", { { 1, 2, 3 }, { 4, 5, 6 } })
    assert.are.equal(654, value_of("at", gpu.In(several), 1))
    local open = ffi.new("struct_argument_spec_params[?]", 2, several[0], several[1])
    assert.are.equal(654, value_of("at", gpu.In(open), 1))
    -- Names of the program's own, at the places of the kernel's.
    local Other = ffi.typeof "struct { float scale; int count; double bias; }"
    assert.are.equal(321, value_of("by_value", Other(1, 2, 3)))
    assert.are.equal(321, value_of("at", gpu.In(Other(1, 2, 3)), 0))
  end)

  it("has no FFI struct of another size", function()
    local made = '; ffi.new("struct { float a; int n; double d; }'
    fails("[by_value] argument 1 (p): expected an FFI struct of 16 bytes for Params, got a struct of 8 bytes" .. made .. '", {...}) makes one',
      value_of, "by_value", Short(1, 2))
    fails("[at] argument 1 (p): [In] expected FFI structs of 16 bytes for const Params*, got a struct of 8 bytes" .. made .. '[?]", n) makes them',
      value_of, "at", gpu.In(Short(1, 2)), 0)
    fails("got structs [2] of 8 bytes each", value_of, "at", gpu.In(ffi.new("struct_argument_spec_short[2]")), 0)
    fails("got structs [?] of 8 bytes each", value_of, "at", gpu.In(ffi.new("struct_argument_spec_short[?]", 2)), 0)
    fails("got a struct of 24 bytes", value_of, "at", gpu.In(ffi.new("struct { double a, n, d; }")), 0)
  end)

  it("has no FFI struct with its members at other places", function()
    fails("[by_value] argument 1 (p): expected the member a at byte 0 of an FFI struct for Params, got it at byte 4 of a struct",
      value_of, "by_value", Swapped(1, 2, 3))
    for _, wrap in ipairs { gpu.In, gpu.InOut } do
      local several = ffi.new("struct_argument_spec_swapped[3]")
      local k = gpu.kernel("struct P { float a; int n; double d; }; __global__ void k(P* p) { p->n = 1; }", "k")
      fails("expected the member a at byte 0 of an FFI struct for P*, got it at byte 4 of structs [3]", k { grid = 1, block = 1 }, wrap(several))
    end
    fails("expected the member n at byte 4 of an FFI struct for Params, got it at byte 8", value_of, "by_value",
      ffi.new "struct { float a, d; int n, unused; }")
  end)

  it("may have vectors, structs and pointers", function()
    local Nested = ffi.typeof [[struct {
      struct { float x, y, z; } v; struct __attribute__((aligned(8))) { float x, y; } w;
      struct { float a; int n; double d; } p; void* next; unsigned char c[3]; }]]
    local s = Nested()
    s.v.z, s.w.y, s.p.n, s.c[2] = 1, 20, 300, 4
    assert.are.equal(325, value_of("nested", gpu.InOut(s)))
    assert.are.equal(9, s.c[0])
    fails("expected the member w at byte 16 of an FFI struct for Nested*, got it at byte 48",
      value_of, "nested", gpu.In(ffi.new [[struct { float v[3]; struct { float a; int n; double d; } p; void* next; unsigned char c[3]; char pad[5];
        float w[2]; }]]))
  end)

  it("is not known where it is a template's", function()
    assert.are.equal(7, value_of("sized", gpu.In(ffi.new("struct { float v[2]; }", { { 5, 7 } }))))
    assert.are.equal(7, value_of("sized", gpu.In(ffi.new("struct { float v[4]; }", { { 5, 7 } }))))
  end)

  it("is a vector whose size is known", function()
    local four = ffi.new("struct { float x, y, z, w; }[2]", { { 1, 2, 3, 4 }, { 5, 6, 7, 8 } })
    assert.are.equal(8, value_of("vectors", gpu.In(four)))
    fails("expected FFI structs of 16 bytes for float4*, got structs [2] of 12 bytes each", value_of, "vectors",
      gpu.In(ffi.new "struct { float x, y, z; }[2]"))
  end)

  it("has places that its text tells alone", function()
    local text = "struct Base { int b; }; struct P : Base { int n; }; __global__ void k(const P* p, int* out) { *out = p->n; }"
    local out = gpu.zeros(1, "int32")
    gpu.kernel(text, "k") { grid = 1, block = 1 }(gpu.In(ffi.new("struct { int b, n; }", 1, 2)), out)
    assert.are.equal(2, out:item())
  end)
end)

describe("a module's variable of a struct", function()
  it("is set and read by FFI structs", function()
    local one, several = mod:constant "one", mod:constant "several"
    assert.are.equal(one, one:copy_from(Params(1, 2, 3)))
    several:copy_from(ffi.new("struct_argument_spec_params[3]", { { 0, 0, 0 }, { 0, 0, 0 }, { 0, 4, 0 } }))
    local out = gpu.zeros(1, "float64")
    mod.of_globals { grid = 1, block = 1 }(out)
    assert.are.equal(4321, out:item())
    local read = Params()
    one:copy_to(read)
    assert.are.same({ 1, 2, 3 }, { read.a, read.n, read.d })
    local all = ffi.new "struct_argument_spec_params[3]"
    several:copy_to(all)
    assert.are.equal(4, all[2].n)
  end)

  it("has structs of its size alone", function()
    fails("[copy_from] expected as many bytes as uint8[16] has, got a struct of 8 bytes", gpu.copy_from, mod:constant "one", Short(1, 2))
    fails("[copy_to] expected as many bytes as uint8[48] has, got a struct of 16 bytes", gpu.copy_to, mod:constant "several", Params())
    fails("[copy_from] expected an FFI array or pointer for float32[4], got a struct, whose bytes an array of uint8 takes", gpu.copy_from,
      mod:constant "numbers", Params())
    fails('expected mod:constant("one"):copy_from(struct), which sets the variable', function() mod.one = Params() end)
    fails("got a struct; x:copy_from(s) copies its bytes to an array of uint8", function() mod:constant("one"):copy_(Params()) end)
  end)

  it("is bytes that scripts may have elsewhere", function()
    local x = gpu.zeros(2, 8, "uint8"):copy_from(Params(1, 2, 3))
    local back = Params()
    x:copy_to(back)
    assert.are.same({ 1, 2, 3 }, { back.a, back.n, back.d })
  end)
end)
