-- gpu.link: sources that are compiled each on its own and linked to one module. The references are plain Lua.
local gpu = require "gpu"
local fails = require("support").fails

local definitions = [[
extern "C" __device__ float square(float x) { return x * x; }
__constant__ float table[4] = {1, 2, 3, 4};
__device__ int counter = 5;
__device__ int bump(int by) { return atomicAdd(&counter, by); }
static __device__ int own = 1;
static __device__ int twice(int x) { return 2 * x + own; }
__device__ int first_twice(int x) { return twice(x); }
template <class T> __device__ T next(T x) { return x + 1; }
__device__ float block_last(float x) {
  __shared__ float all[64];
  all[threadIdx.x] = next(x);
  __syncthreads();
  return all[blockDim.x - 1 - threadIdx.x];
}]]
local kernels = [[
extern "C" __device__ float square(float x);
extern __constant__ float table[];
extern __device__ int counter;
__device__ int bump(int by);
__device__ int first_twice(int x);
__device__ float block_last(float x);
static __device__ int own = 100;
static __device__ int twice(int x) { return 20 * x + own; }
template <class T> __device__ T next(T x) { return x + 1; }
__global__ void k(float* x) {
  const int i = threadIdx.x;
  __shared__ float all[64];
  extern __shared__ float more[];
  all[i] = 1000;
  more[i] = block_last(i);
  x[i] = square(x[i]) + table[i & 3] + first_twice(i) + next(twice(i)) + more[i] + all[i];
  bump(1);
  if (i == 0) atomicAdd(&counter, 10);
}
template <class T> __global__ void t(T* x) { *x = square(*x); }]]

-- The kernel's result, and the variable that it counts in unless `counter` is false.
local function check(mod, counter)
  local n = 40
  local x = gpu.arange(n, "float32")
  mod.k {grid = 1, block = n, shared = 4 * n}(x)
  for i = 0, n - 1 do
    local expected = i * i + (i % 4 + 1) + (2 * i + 1) + (20 * i + 100 + 1) + (n - 1 - i + 1) + 1000
    assert.are.equal(expected, x[i + 1])
  end
  if counter ~= false then assert.are.equal(5 + n + 10, mod:constant("counter"):item()) end
end

describe("linked sources", function()
  it("use each other's functions and variables, and have their own", function()
    check(gpu.link {definitions, kernels})
    check(gpu.link {kernels, definitions})
  end)

  it("are optimised across parts with -dlto", function()
    check(gpu.link({definitions, kernels}, {options = {"-dlto"}}))
    check(gpu.link {{definitions, options = {"-dlto"}}, kernels})
  end)

  it("take options for all and of their own", function()
    local mod = gpu.link({
      "__device__ int a() { return VALUE; }",
      {"__device__ int b() { return VALUE; }", defines = {VALUE = 7}},
      {"__device__ int a(); __device__ int b(); template <class T> __global__ void k(T* x) { x[0] = a(); x[1] = b(); }",
        names = {"k<float>", "k<int>"}},
    }, {defines = {VALUE = 3}})
    assert.are.same({"k<float>", "k<int>"}, mod.kernels)
    local x = gpu.zeros(2, "int32")
    mod["k<int>"] {grid = 1, block = 1}(x)
    assert.are.same({3, 7}, x:table())
  end)

  it("have kernels that the engine of their part's options runs", function()
    local first, second = "__global__ void a(int* x) { x[threadIdx.x] = 1; }", "__global__ void b(int* x) { x[threadIdx.x] += 2; }"
    if gpu.device().name ~= "cpu" then
      return fails("--engine", gpu.link, {first, {second, options = {"--engine=scalar"}}})
    end
    -- Code of large modules is made when a kernel is fetched: the second pair of sources.
    local much = "for (int i = 0; i < x[1]; ++i) { " .. ("x[0] = x[0] * 3 + i % (x[2] + 7);"):rep(40) .. " } "
    for _, more in ipairs {"", much} do
      local function with(source) return (source:gsub("{", function() return "{ " .. more end, 1)) end
      for _, on_first in ipairs {true, false} do
        local scalar = {options = {"--engine=scalar"}}
        local mod = gpu.link {{with(first), options = on_first and scalar.options or {}},
          {with(second), options = on_first and {} or scalar.options}}
        local x = gpu.zeros(4, "int32")
        mod.a {grid = 1, block = 4}(x)
        mod.b {grid = 1, block = 4}(x)
        if more == "" then assert.are.same({3, 3, 3, 3}, x:table()) end
        assert.are.equal(on_first and "scalar: the option --engine=scalar" or "simd", mod.a.engine)
        assert.are.equal(on_first and "simd" or "scalar: the option --engine=scalar", mod.b.engine)
      end
    end
  end)

  it("have kernels with C++ types, and variables that are arrays", function()
    local mod = gpu.link {definitions, {kernels, names = {"t<double>"}}}
    fails("expected", mod.k {grid = 1, block = 1, shared = 4}, gpu.zeros(4, "int32"))
    mod:constant("table"):fill_(0)
    local x = gpu.full({}, 3, "float64")
    mod["t<double>"] {grid = 1, block = 1}(x)
    assert.are.equal(9, x:item())
    assert.are.same({0, 0, 0, 0}, mod:constant("table"):table())
  end)

  it("may each have a static kernel and variable of one name", function()
    local part = "static __device__ int v = %d; static __global__ void k(int* x) { *x = v; } __global__ void %s(int* x) { *x = v; }"
    local mod = gpu.link {part:format(1, "a"), part:format(2, "b")}
    local x = gpu.zeros({}, "int32")
    for name, value in pairs {a = 1, b = 2} do
      mod[name] {grid = 1, block = 1}(x)
      assert.are.equal(value, x:item())
    end
    fails("which may be any of", mod.constant, mod, "v")
  end)

  it("are found by the checker", function()
    local mod = gpu.link {"__device__ void put(float* x, int i) { x[i] = 1; }",
      "__device__ void put(float* x, int i); __global__ void k(float* x) { put(x, 9); }"}
    local x = gpu.zeros(4)
    if not pcall(gpu.check, true) then return end  -- a CUDA device has no checker
    local ok, message = pcall(function() mod.k {grid = 1, block = 1}(x) gpu.sync() end)
    gpu.check(false)
    assert.is_false(ok)
    assert.is_truthy(message:find("link_spec.lua", 1, true))
  end)
end)

describe("gpu.link refuses", function()
  local user = [[extern "C" __device__ float f(float x); __global__ void k(float* x) { *x = f(*x); }]]

  it("parts that do not fit together, naming the symbol and the parts", function()
    fails("f is used in part 1", gpu.link, {user})
    fails("defines f(float), and only one of the two is extern \"C\"", gpu.link, {user, "__device__ float f(float x) { return x; }"})
    fails('did you mean "cubed(float)"?', gpu.link, {"__device__ float cube(float x); __global__ void k(float* x) { *x = cube(*x); }",
      "__device__ float cubed(float x) { return x * x * x; }"})
    local f = [[extern "C" __device__ float f(float x) { return x; }]]
    local message = fails("f is defined in part 2", gpu.link, {user, f, f})
    assert.is_truthy(message:find("and again in part 3", 1, true))
    message = fails("f is a function", gpu.link, {user, [[extern "C" __device__ float f(double x, int n) { return x; }]]})
    assert.is_truthy(message:find("in part 1", 1, true) and message:find("in part 2", 1, true))
    fails("v has 16 bytes in part 1", gpu.link, {"__device__ float v[4];", "extern __device__ float v[8]; __global__ void k(float* x) { *x = v[7]; }"})
  end)

  it("what is no part", function()
    fails("[link] expected a list of parts", gpu.link, user)
    fails("[link] expected at least one part", gpu.link, {})
    fails("[link] expected as part 2 a source", gpu.link, {user, 5})
    fails("[link] expected parts in a list without gaps", gpu.link, {user, nil, user})
    fails('got the name of a file, "a.cu"', gpu.link, {"a.cu"})
    fails('[link] no file "none.cubin"', gpu.link, {"none.cubin"})
    fails('got "names"', gpu.link, {user}, {names = {"k"}})
    local second = fails("[link] expected part 2 to have one source", gpu.link, {user, {user, user}})
    assert.is_truthy(second:find("at position 2", 1, true), second)
    fails("[link] expected part 1 to have one source", gpu.link, {{user, names = {}, [3] = true}})
    fails("[link] expected part 1 to have one source", gpu.link, {{user, [0.5] = user}})
    fails("the option device beside the list of parts", gpu.link, {{user, device = "cpu"}})
  end)

  it("a source that does not compile, with its line", function()
    fails("link_spec.lua:", gpu.link, {user, "__device__ int g() { return undeclared; }"})
  end)
end)

describe("compiled code", function()
  local on_cuda = gpu.device().name ~= "cpu"

  it("links with sources on a CUDA device, and is refused on the cpu device", function()
    local ptx = gpu.module(definitions, {options = {"-rdc=true"}}).ptx
    if not on_cuda then return fails("[link] expected CUDA C++ sources on the cpu device", gpu.link, {kernels, ".version 8.0\n.target sm_90\n"}) end
    check(gpu.link {ptx, kernels}, false)  -- PTX has no C++ types
    local other = gpu.link {definitions, gpu.module("__global__ void alone(float* x) { *x = 2; }", {options = {"-rdc=true"}}).ptx}
    local x = gpu.zeros(1)
    other.alone {grid = 1, block = 1}(x)
    assert.are.equal(2, x[1])
  end)
end)
