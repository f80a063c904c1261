-- cub's classes for blocks and warps, against plain loops: on a GPU NVIDIA's headers, on the cpu device ours.
local gpu = require "gpu"
local support = require "support"
local on_cpu = gpu.device() == "cpu" or tostring(gpu.device()):find "cpu" ~= nil

local dtypes = { int = "int32", float = "float32", double = "float64", ["long long"] = "int64", ["unsigned char"] = "uint8" }

--- Integers, so that sums of floating-point numbers are exact in any order.
local function numbers(count, ctype, seed)
  gpu.random.seed(seed)
  local low = ctype == "unsigned char" and 0 or -100
  return gpu.random.integers({ count }, low, 100):astype(dtypes[ctype]):eval()
end

local function module_of(body, ctype, threads, items)
  return gpu.module("#include <cub/cub.cuh>\n" .. body:gsub("%f[%w]%u+%f[%W]", { T = ctype, N = threads, ITEMS = items or 1 }))
end

local function run(module, name, threads, ...)
  local k = module[name]
  k { grid = 1, block = threads }(...)
  if on_cpu then assert.are.equal("simd", k.engine) end
end

local function wrapped(x, ctype)
  return ctype == "unsigned char" and x % 256 or x
end

describe("cub::BlockReduce and BlockScan", function()
  local source = [[
    struct Larger { template <class U> __device__ U operator()(U a, U b) const { return b > a ? b : a; } };
    __global__ void reduce(const T* x, T* out, int valid) {
      typedef cub::BlockReduce<T, N> Reduce;
      __shared__ typename Reduce::TempStorage storage;
      int t = threadIdx.x;
      T v = Reduce(storage).Sum(x[t]);
      if (t == 0) out[0] = v;
      __syncthreads();
      v = Reduce(storage).Reduce(x[t], Larger());
      if (t == 0) out[1] = v;
      __syncthreads();
      v = Reduce(storage).Sum(x[t], valid);
      if (t == 0) out[2] = v;
      __syncthreads();
      T two[2] = {x[t], x[t]};
      v = Reduce(storage).Sum(two);
      if (t == 0) out[3] = v;
    }
    struct Running { T sum; __device__ T operator()(T block) { T before = sum; sum += block; return before; } };
    __global__ void scan(const T* x, T* out) {
      typedef cub::BlockScan<T, N> Scan;
      __shared__ typename Scan::TempStorage storage;
      int t = threadIdx.x;
      T total;
      Scan(storage).InclusiveSum(x[t], out[t]);
      __syncthreads();
      Scan(storage).ExclusiveSum(x[t], out[N + t], total);
      if (t == N - 1) out[6 * N] = total;
      __syncthreads();
      Scan(storage).InclusiveScan(x[t], out[2 * N + t], Larger());
      __syncthreads();
      Scan(storage).ExclusiveScan(x[t], out[3 * N + t], (T)5, Larger());
      __syncthreads();
      T in[2] = {x[t], x[t]}, sums[2];
      Running before = {7};
      Scan(storage).ExclusiveSum(in, sums, before);
      out[4 * N + 2 * t] = sums[0];
      out[4 * N + 2 * t + 1] = sums[1];
    }]]
  for _, case in ipairs { { "int", 1 }, { "float", 31 }, { "double", 32 }, { "long long", 33 }, { "unsigned char", 100 }, { "int", 256 }, { "float", 1000 }, { "int", 1024 } } do
    local ctype, threads = unpack(case)
    it(("of %d threads, %s"):format(threads, ctype), function()
      local module, x = module_of(source, ctype, threads), numbers(threads, ctype, threads)
      local values, valid = x:table(), math.ceil(threads / 3)
      local sum, largest, some = 0, -math.huge, 0
      local expected = {}
      for i, v in ipairs(values) do
        v = tonumber(v)
        expected[threads + i] = wrapped(sum, ctype)
        expected[3 * threads + i] = math.max(5, largest)
        expected[4 * threads + 2 * i - 1] = wrapped(7 + 2 * sum, ctype)
        expected[4 * threads + 2 * i] = wrapped(7 + 2 * sum + v, ctype)
        sum, largest = sum + v, math.max(largest, v)
        if i <= valid then some = some + v end
        expected[i], expected[2 * threads + i] = wrapped(sum, ctype), largest
      end
      expected[6 * threads + 1] = wrapped(sum, ctype)
      local out = gpu.zeros(4, dtypes[ctype])
      run(module, "reduce", threads, x, out, valid)
      assert.are.same({ wrapped(sum, ctype), largest, wrapped(some, ctype), wrapped(2 * sum, ctype) }, out:astype("float64"):table())
      out = gpu.zeros(6 * threads + 1, dtypes[ctype])
      run(module, "scan", threads, x, out)
      assert.are.same(expected, out:astype("float64"):table())
    end)
  end

  it("take structs and operations that do not commute", function()
    local module = gpu.module [[
      #include <cub/cub.cuh>
      struct Map { int a, b; };  // x -> a x + b
      struct Then { __device__ Map operator()(const Map& f, const Map& g) const { return {f.a * g.a, f.b * g.a + g.b}; } };
      __global__ void k(int* out) {
        typedef cub::BlockScan<Map, 64> Scan;
        __shared__ typename Scan::TempStorage storage;
        Map own = {threadIdx.x % 3 == 0 ? -1 : 1, (int)threadIdx.x}, all;
        Scan(storage).InclusiveScan(own, all, Then());
        out[threadIdx.x] = all.a * 10 + all.b;
      }]]
    local out, a, b, expected = gpu.zeros(64, "int32"), 1, 0, {}
    run(module, "k", 64, out)
    for t = 0, 63 do
      local own = t % 3 == 0 and -1 or 1
      a, b = a * own, b * own + t
      expected[t + 1] = a * 10 + b
    end
    assert.are.same(expected, out:table())
  end)

  it("take types with constructors", function()
    local out = gpu.zeros(64, "int32")
    run(gpu.module [[
      #include <cub/cub.cuh>
      struct Sum { int value; __host__ __device__ Sum() : value(0) {} __host__ __device__ Sum(int v) : value(v) {} };
      __device__ Sum operator+(const Sum& a, const Sum& b) { return Sum(a.value + b.value); }
      __global__ void k(int* out) {
        typedef cub::BlockScan<Sum, 64> Scan;
        typedef cub::BlockReduce<Sum, 64> Reduce;
        typedef cub::BlockExchange<Sum, 64, 1> Exchange;
        __shared__ union { typename Scan::TempStorage scan; typename Reduce::TempStorage reduce; } storage;
        __shared__ typename Exchange::TempStorage exchange;
        Sum all = Reduce(storage.reduce).Sum(Sum(1)), before[1];
        __syncthreads();
        Scan(storage.scan).ExclusiveSum(Sum(2), before[0]);
        Exchange(exchange).BlockedToStriped(before, before);
        out[threadIdx.x] = threadIdx.x == 0 ? all.value : before[0].value;
      }]], "k", 64, out)
    local got = out:table()
    for t = 0, 63 do assert.are.equal(t == 0 and 64 or 2 * t, got[t + 1]) end
  end)

  it("are of blocks of two and three dimensions", function()
    local module = gpu.module [[
      #include <cub/cub.cuh>
      __global__ void k(int* out) {
        typedef cub::BlockScan<int, 8, cub::BLOCK_SCAN_RAKING, 4, 2> Scan;
        __shared__ typename Scan::TempStorage storage;
        int t = threadIdx.x + 8 * (threadIdx.y + 4 * threadIdx.z);
        Scan(storage).InclusiveSum(t, out[t]);
      }]]
    local out = gpu.zeros(64, "int32")
    module.k { grid = 1, block = { 8, 4, 2 } }(out)
    assert.are.same(gpu.arange(64):cumsum():astype("int32"):table(), out:table())
  end)
end)

describe("cub's loads, stores, exchanges and sorts", function()
  local source = [[
    __global__ void move(const T* x, T* out, int valid) {
      typedef cub::BlockLoad<T, N, ITEMS, cub::BLOCK_LOAD_TRANSPOSE> Load;
      typedef cub::BlockStore<T, N, ITEMS, cub::BLOCK_STORE_STRIPED> Store;
      typedef cub::BlockExchange<T, N, ITEMS> Exchange;
      __shared__ union { typename Load::TempStorage load; typename Store::TempStorage store; typename Exchange::TempStorage exchange; } s;
      T items[ITEMS];
      Load(s.load).Load(x, items, valid, (T)77);
      __syncthreads();
      Exchange(s.exchange).BlockedToStriped(items, items);
      __syncthreads();
      Store(s.store).Store(out, items);
      __syncthreads();
      Exchange(s.exchange).StripedToBlocked(items, items);
      for (int i = 0; i < ITEMS; ++i) out[N * ITEMS + threadIdx.x * ITEMS + i] = items[i];
    }
    __global__ void sort(const T* x, T* keys, int* values) {
      typedef cub::BlockRadixSort<T, N, ITEMS, int> Sort;
      __shared__ typename Sort::TempStorage s;
      T k[ITEMS];
      int v[ITEMS];
      for (int i = 0; i < ITEMS; ++i) v[i] = threadIdx.x * ITEMS + i, k[i] = x[threadIdx.x * ITEMS + i];
      Sort(s).Sort(k, v);
      for (int i = 0; i < ITEMS; ++i) keys[threadIdx.x * ITEMS + i] = k[i], values[threadIdx.x * ITEMS + i] = v[i];
      __syncthreads();
      Sort(s).SortDescendingBlockedToStriped(k, v);
      for (int i = 0; i < ITEMS; ++i) keys[N * ITEMS + i * N + threadIdx.x] = k[i];
    }]]
  for _, case in ipairs { { "int", 64, 4 }, { "float", 128, 3 }, { "double", 32, 1 }, { "unsigned char", 96, 5 }, { "long long", 33, 2 } } do
    local ctype, threads, items = unpack(case)
    it(("of %d threads with %d items, %s"):format(threads, items, ctype), function()
      local module, count = module_of(source, ctype, threads, items), threads * items
      local x = numbers(count, ctype, count)
      local out, valid = gpu.zeros(2 * count, dtypes[ctype]), count - 5
      run(module, "move", threads, x, out, valid)
      local expected = x:table()
      for i = valid + 1, count do expected[i] = type(expected[i]) == "cdata" and 77LL or 77 end
      assert.are.same(expected, out({ 1, count }):table())
      assert.are.same(expected, out({ count + 1, 2 * count }):table())

      local keys, values = gpu.zeros(2 * count, dtypes[ctype]), gpu.zeros(count, "int32")
      run(module, "sort", threads, x, keys, values)
      assert.are.same(x:sort():table(), keys({ 1, count }):table())
      assert.are.same(x:argsort():astype("int32"):table(), (values + 1):astype("int32"):table())
      assert.are.same(x:sort():flip():table(), keys({ count + 1, 2 * count }):table())
    end)
  end
end)

describe("cub's neighbours", function()
  local values = { 3, 3, 5, 5, 5, 2, 7, 7, 1, 1, 1, 1, 4, 9, 9, 8 }  -- of 8 threads with two items each
  local function run(body)
    local x, out = gpu.array(values, "int32"), gpu.zeros(32, "int32")
    gpu.kernel([[
      #include <cub/cub.cuh>
      struct Unequal { __device__ bool operator()(int a, int b) const { return a != b; } };
      struct Minus { __device__ int operator()(int a, int b) const { return a - b; } };
      __global__ void k(int* x, int* out) {
        typedef cub::BlockDiscontinuity<int, 4, 2> Flags;
        typedef cub::BlockAdjacentDifference<int, 4, 2> Steps;
        __shared__ union { Flags::TempStorage flags; Steps::TempStorage steps; } s;
        int t = threadIdx.y * 4 + threadIdx.x, in[2] = {x[2 * t], x[2 * t + 1]}, a[2], b[2] = {0, 0};
        ]] .. body .. [[
        for (int i = 0; i < 2; ++i) { out[2 * t + i] = a[i]; out[16 + 2 * t + i] = b[i]; }
      }]], "k") { grid = 1, block = { 4, 2 } }(x, out)
    return out:table()
  end
  local function number(condition) return condition and 1 or 0 end

  it("flags where runs begin and end", function()
    local got = run "Flags(s.flags).FlagHeadsAndTails(a, b, in, Unequal());"
    for i = 1, 16 do
      assert.are.equal(number(values[i] ~= values[i - 1]), got[i])
      assert.are.equal(number(values[i] ~= values[i + 1]), got[16 + i])
    end
    got = run [[Flags(s.flags).FlagHeads(a, in, Unequal(), 3); __syncthreads();
      Flags(s.flags).FlagTails(b, in, Unequal(), 8);]]
    assert.are.equal(0, got[1])
    assert.are.equal(0, got[32])
    assert.are.equal(1, got[3])
  end)

  it("subtracts the item before or after", function()
    local got = run [[Steps(s.steps).SubtractLeft(in, a, Minus()); __syncthreads();
      Steps(s.steps).SubtractRight(in, b, Minus());]]
    for i = 1, 16 do
      assert.are.equal(values[i] - (values[i - 1] or 0), got[i])
      assert.are.equal(values[i] - (values[i + 1] or 0), got[16 + i])
    end
    got = run [[Steps(s.steps).SubtractLeft(in, a, Minus(), 10); __syncthreads();
      Steps(s.steps).SubtractRight(in, in, Minus(), 100); b[0] = in[0]; b[1] = in[1];]]
    assert.are.equal(3 - 10, got[1])
    assert.are.equal(8 - 100, got[32])
    for i = 2, 15 do
      assert.are.equal(values[i] - values[i - 1], got[i])
      assert.are.equal(values[i] - values[i + 1], got[16 + i])
    end
  end)

  it("leaves what is not valid", function()
    local got = run [[Steps(s.steps).SubtractLeftPartialTile(in, a, Minus(), 5); __syncthreads();
      Steps(s.steps).SubtractRightPartialTile(in, b, Minus(), 5);]]
    for i = 1, 16 do
      assert.are.equal(i <= 5 and values[i] - (values[i - 1] or 0) or values[i], got[i])
      assert.are.equal(i < 5 and values[i] - values[i + 1] or values[i], got[16 + i])
    end
  end)
end)

describe("cub's warps", function()
  it("reduce and scan", function()
    local module = gpu.module [[
      #include <cub/cub.cuh>
      __global__ void k(const int* x, int* out) {
        typedef cub::WarpReduce<int, 16> Reduce;
        typedef cub::WarpScan<int> Scan;
        __shared__ typename Reduce::TempStorage r[4];
        __shared__ typename Scan::TempStorage s[2];
        int t = threadIdx.x, v = Reduce(r[t / 16]).Sum(x[t]);
        if (t % 16 == 0) out[t / 16] = v;
        v = Reduce(r[t / 16]).Sum(x[t], 5);
        if (t % 16 == 0) out[4 + t / 16] = v;
        v = Reduce(r[t / 16]).HeadSegmentedSum(x[t], t % 4 == 0);
        if (t % 4 == 0) out[8 + t / 4] = v;
        int total;
        Scan(s[t / 32]).ExclusiveSum(x[t], out[32 + t], total);
        out[96 + t] = total;
      }]]
    local x, out = numbers(64, "int", 3), gpu.zeros(160, "int32")
    run(module, "k", 64, x, out)
    local groups = x:reshape(4, 16)
    assert.are.same(groups:sum(-1):astype("int32"):table(), out({ 1, 4 }):table())
    assert.are.same(groups({ 1, -1 }, { 1, 5 }):sum(-1):astype("int32"):table(), out({ 5, 8 }):table())
    assert.are.same(x:reshape(16, 4):sum(-1):astype("int32"):table(), out({ 9, 24 }):table())
    local warps = x:reshape(2, 32)
    assert.are.same((warps:cumsum(-1) - warps):astype("int32"):flatten():table(), out({ 33, 96 }):table())
    assert.are.same((gpu.zeros { 2, 32 } + warps:sum(-1):reshape(2, 1)):flatten():astype("int32"):table(), out({ 97, 160 }):table())
  end)

  it("have to be of the launch's size", function()
    if not on_cpu then return end
    local k = gpu.kernel([[
      #include <cub/cub.cuh>
      __global__ void k(int* out) {
        typedef cub::BlockReduce<int, 128> Reduce;
        __shared__ typename Reduce::TempStorage s;
        *out = Reduce(s).Sum(1);
      }]], "k")
    support.fails("block size in the template's arguments", function()
      k { grid = 1, block = 64 }(gpu.zeros(1, "int32"))
      gpu.sync()
    end)
  end)
end)

describe("cub's functions for threads and lanes", function()
  it("pass values between lanes", function()
    local module = gpu.module [[
      #include <cub/cub.cuh>
      struct Two { double a; char b; };
      __global__ void k(int* out) {
        int t = threadIdx.x;
        out[t] = cub::ShuffleIndex<8>(t, 11, 0xffffffffu);
        out[32 + t] = cub::ShuffleUp<16>(t, 3, 1, 0xffffffffu);
        out[64 + t] = cub::ShuffleDown<16>(t, 3, 14, 0xffffffffu);
        Two two = cub::ShuffleIndex<32>(Two{t + 0.5, (char)t}, t ^ 1, 0xffffffffu);
        out[96 + t] = (int)(two.a * 2) + two.b + cub::RowMajorTid(32, 1, 1);
      }]]
    local out, want = gpu.zeros(128, "int32"), {}
    run(module, "k", 32, out)
    for t = 0, 31 do
      local own = t % 16
      want[1 + t] = math.floor(t / 8) * 8 + 3
      want[33 + t] = own - 3 >= 1 and t - 3 or t
      want[65 + t] = own + 3 <= 14 and t + 3 or t
      local other = bit.bxor(t, 1)
      want[97 + t] = 2 * other + 1 + other + t
    end
    assert.are.same(want, out:table())
  end)

  it("load and store, and reduce by segment", function()
    local module = gpu.module [[
      #include <cub/cub.cuh>
      #include <cuda/std/functional>
      struct Cell { float a; int b; };
      __global__ void k(const int* x, Cell* cells, int* out) {
        int t = threadIdx.x;
        Cell cell = cub::ThreadLoad<cub::LOAD_VOLATILE>(cells + t);
        cell.b += cub::ThreadLoad<cub::LOAD_CG>(x + t) + cub::ThreadLoad<cub::LOAD_LDG>(x);
        cub::ThreadStore<cub::STORE_VOLATILE>(cells + t, cell);
        cub::ThreadStore<cub::STORE_CS>(out + t, cell.b);
        typedef cub::KeyValuePair<int, int> Pair;
        typedef cub::WarpScan<Pair> Scan;
        __shared__ typename Scan::TempStorage storage;
        Pair sum;
        Scan(storage).InclusiveScan(Pair(t % 5 == 0, t), sum, cub::ReduceBySegmentOp<cuda::std::plus<>>());
        out[32 + t] = sum.value;
      }]]
    local x, out = numbers(32, "int", 7), gpu.zeros(64, "int32")
    local cells = gpu.zeros(256, "uint8")
    run(module, "k", 32, x, cells, out)
    local got, values, sum = out:table(), x:table(), 0
    for t = 0, 31 do
      sum = t % 5 == 0 and t or sum + t
      assert.are.equal(values[t + 1] + values[1], got[t + 1])
      assert.are.equal((values[t + 1] + values[1]) % 256, cells[8 * t + 5])
      assert.are.equal(sum, got[33 + t])
    end
  end)

  it("exchange items in warps' stripes", function()
    local module = gpu.module [[
      #include <cub/cub.cuh>
      __global__ void k(int* out) {
        typedef cub::BlockExchange<int, 64, 3> Exchange;
        __shared__ typename Exchange::TempStorage storage;
        int t = threadIdx.x, v[3] = {3 * t, 3 * t + 1, 3 * t + 2};
        Exchange(storage).BlockedToWarpStriped(v);
        for (int i = 0; i < 3; ++i) out[t * 3 + i] = v[i];
        __syncthreads();
        Exchange(storage).WarpStripedToBlocked(v);
        for (int i = 0; i < 3; ++i) out[192 + t * 3 + i] = v[i];
      }]]
    local out, want = gpu.zeros(384, "int32"), {}
    run(module, "k", 64, out)
    for t = 0, 63 do
      for i = 0, 2 do
        want[1 + t * 3 + i] = math.floor(t / 32) * 96 + i * 32 + t % 32
        want[193 + t * 3 + i] = t * 3 + i
      end
    end
    assert.are.same(want, out:table())
  end)
end)

describe("cub's classes for blocks", function()
  local folder = debug.getinfo(1, "S").source:match "^@(.*/)"
  local blocks = dofile(folder .. "cub_blocks.lua")
  it("are right at any size", function() assert.are.same({}, blocks.faults("int", { 1, 33, 1024 })) end)
  for _, ctype in ipairs { "char", "unsigned short", "unsigned long long", "float", "__half", "__nv_bfloat16" } do
    it("are right of " .. ctype, function() assert.are.same({}, blocks.faults(ctype, { 70 })) end)
  end
end)
