-- Whole files of programs: what no kernel uses is left out where a source does not compile otherwise.
local gpu = require "gpu"
local fails = require("support").fails

local host = [[
#include <chrono>
#include <random>
#include <thrust/device_vector.h>
#include <thrust/sort.h>
#include <helper_functions.h>
using namespace std;
#define CHECK(call) check_of_hosts((call), __FILE__)
StopWatchInterface* timer = NULL;
namespace tools {
const double step = start_of_hosts() * 2;
class Generator {
  std::mt19937 engine_;
  thrust::device_vector<int> numbers_;
 public:
  explicit Generator(std::random_device& seed) : engine_(seed()), numbers_{1, 2} {}
  friend bool operator==(const Generator& a, const Generator& b) { return a.numbers_ == b.numbers_; }
};
template <class T> struct Table { T* rows; Unheard<T> more; };
template struct Table<int>;
}
typedef struct Pair { int first, second; } Pair, *PairPointer;
struct Settings {
  int by;
  explicit Settings(std::mt19937& engine) : by{engine()} {}
  void load(Unheard& from) { by = CHECK(from.read()); }
  __host__ __device__ Settings() : by(0) {}
  __host__ __device__ int times(int x) const { return by * x; }
};
static const std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
]]
local kernels = [[
__global__ void scale(int* x, Settings settings, PairPointer pairs) {
  pairs->second = pairs->first + 1;
  *x = settings.times(*x);
}
int main() { Config config = {.code = 3}; thrust::sort(thrust::device, 0, 0); scale<<<1, 1>>>(0, {}, 0); }
]]

describe("whole files", function()
  it("compile with types, variables and libraries that hosts alone use", function()
    local mod = gpu.module(host .. kernels, {name = "program.cu"})
    assert.are.same({"scale"}, mod.kernels)
    local ffi = require "ffi"
    local x, pairs = gpu.array({7}, "int32"), gpu.array({1, 0}, "int32")
    mod.scale {grid = 1, block = 1}(x, ffi.new("struct { int by; }", 3), gpu.array({4, 0, 0, 0, 0, 0, 0, 0}, "uint8"))
    assert.are.equal(21, x:item())
    assert.are.same({1, 0}, pairs:table())
  end)

  it("keep what kernels use of the files that they include", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir -p " .. folder .. "/parts") == 0)
    local function write(name, text)
      local file = assert(io.open(folder .. "/" .. name, "w"))
      file:write(text)
      file:close()
    end
    -- Two files of one name, and one file by two names.
    write("common.h", '#pragma once\n#include "parts/common.h"\nstruct Outer { Inner inner; };\nclass Host { Unheard u; };\n')
    write("parts/common.h", '#pragma once\n#include "../sizes.h"\nstruct Inner { int n[size]; };\nvoid f(Unheard);\n')
    write("sizes.h", "#pragma once\nstatic const int size = 2;\n")
    local mod = gpu.module('#include "common.h"\n#include "sizes.h"\n'
      .. "__global__ void k(int* x) { Outer o; o.inner.n[1] = size; *x = o.inner.n[1]; }\nvoid host(Unheard);", {include = {folder}})
    os.execute("rm -r " .. folder)
    local x = gpu.zeros(1, "int32")
    mod.k {grid = 1, block = 1}(x)
    assert.are.equal(2, x[1])
  end)

  it("lose types and functions that fail, where kernels mention names that are theirs as well", function()
    local mod = gpu.module([[
#include <string>
#include <unistd.h>
#include <syslog.h>
#if _POSIX_VERSION < 200112L
#error "no clock"
#endif
namespace tools {
template <unsigned N, bool = (N < Limits::most)>
struct Rows;
template <unsigned N>
struct Rows<N, true> { enum { value = sizeof(probe<Unheard>()) }; };
class size : public unheard::base<int> { std::wstring name; int x; };
using first = unheard::first_of<int>;
struct Cells {
  using iterator = unheard::iterator<float*>;
  friend Cells unheard::make(long double);
  void append(unheard::list& all);
  int count;
  __host__ __device__ int size() const { return count; }
};
inline first append(size n) {
  #pragma unroll
  for (int i = 0; i < 3; ++i) Rows<3> value;
}
}
__device__ int first(int x) { return x + 1; }
__global__ void k(int* x, tools::Cells cells) { int append = cells.size(), value = first(*x), iterator = 1, Rows = 2; *x = value * append * iterator * Rows; }
]])
    local x = gpu.array({6}, "int32")
    mod.k {grid = 1, block = 1}(x, require("ffi").new("struct { int count; }", 5))
    assert.are.equal(70, x:item())
  end)

  it("name what is wrong where a kernel needs what fails", function()
    local message = fails("unheard", gpu.module,
      "struct A { unheard::list all; int n; };\n__global__ void k(int* x, A a) { *x = a.n; }", {name = "program.cu"})
    assert.is_truthy(message:find("program.cu:1: error: ", 1, true), message)
  end)

  it("compile beside a library of hosts whose names kernels have, too", function()
    local library = [[
#include <bits/stdc++.h>
#define CALLED inline
namespace lib {
struct view : std::unheard_view { std::unheard begin(); };
typedef std::unheard_iterator iterator;
CALLED view make(iterator i) { try { return view(i); } catch (...) { throw; } }
}
template <class T> struct array {
  T v[2];
  using back = std::unheard<T*>;
  __device__ T second() const { return v[1]; }
};
]]
    local mod = gpu.module(library .. "__global__ void k(int* x, const array<int>* view, int make) { *x = view->second() + make; }",
      {name = "program.cu"})
    local x = gpu.zeros(1, "int32")
    mod.k {grid = 1, block = 1}(x, gpu.array({3, 0, 0, 0, 4, 0, 0, 0}, "uint8"), 10)
    assert.are.equal(14, x:item())
  end)

  it("name a mistake in a kernel, at its line", function()
    local _, before = host:gsub("\n", "")
    local message = fails("missing", gpu.module, host .. "__global__ void k(int* x) { *x = missing; }", {name = "program.cu"})
    assert.is_truthy(message:find(("program.cu:%d: error: "):format(before + 1), 1, true), message)
  end)
end)
