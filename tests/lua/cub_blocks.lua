-- cub's classes for blocks at any size of a block and of any type, beside plain loops: on a GPU NVIDIA's headers, on the cpu device
-- ours. `gpulua tests/lua/cub_blocks.lua TYPE FIRST LAST [STEP]` checks the sizes from FIRST to LAST.
local gpu = require "gpu"

local dtypes = {
  char = "int8", ["unsigned char"] = "uint8", short = "int16", ["unsigned short"] = "uint16", int = "int32", unsigned = "uint32",
  ["long long"] = "int64", ["unsigned long long"] = "uint64", float = "float32", double = "float64", __half = "float16",
  __nv_bfloat16 = "bfloat16",
}
local bits = {int8 = 8, uint8 = 8, int16 = 16, uint16 = 16, int32 = 32, uint32 = 32}

local source = [[
#include <cub/cub.cuh>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
typedef TYPE T;
struct Larger { __device__ T operator()(T a, T b) const { return b > a ? b : a; } };
template <int N> __global__ void __launch_bounds__(N) all(const T* x, T* out) {
  constexpr int I = 2;
  using Load = cub::BlockLoad<T, N, I, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<T, N, I, cub::BLOCK_STORE_TRANSPOSE>;
  using Reduce = cub::BlockReduce<T, N>;
  using Scan = cub::BlockScan<T, N>;
  using Sort = cub::BlockRadixSort<T, N, I>;
  using Exchange = cub::BlockExchange<T, N, I>;
  __shared__ union {
    typename Load::TempStorage load; typename Store::TempStorage store; typename Reduce::TempStorage reduce;
    typename Scan::TempStorage scan; typename Sort::TempStorage sort; typename Exchange::TempStorage exchange;
  } s;
  T v[I], w[I];
  Load(s.load).Load(x, v); __syncthreads();
  T total = Reduce(s.reduce).Sum(v); __syncthreads();
  T most = Reduce(s.reduce).Reduce(v[0], Larger()); __syncthreads();
  if (threadIdx.x == 0) { out[0] = total; out[1] = most; }
  out += 2;
  Scan(s.scan).InclusiveSum(v, w); __syncthreads();
  Store(s.store).Store(out, w); __syncthreads(); out += I * N;
  Scan(s.scan).ExclusiveSum(v, w); __syncthreads();
  Store(s.store).Store(out, w); __syncthreads(); out += I * N;
  w[0] = v[0]; w[1] = v[1];
  Exchange(s.exchange).BlockedToStriped(w, w); __syncthreads();
  cub::StoreDirectStriped<N>(threadIdx.x, out, w); out += I * N;
  Exchange(s.exchange).StripedToBlocked(w, w); __syncthreads();
  Sort(s.sort).Sort(w); __syncthreads();
  cub::StoreDirectBlocked(threadIdx.x, out, w); out += I * N;
  cub::LoadDirectBlocked(threadIdx.x, x, w);
  Sort(s.sort).SortDescendingBlockedToStriped(w);
  cub::StoreDirectStriped<N>(threadIdx.x, out, w);
}]]

local function wrapped(value, dtype)
  local count = bits[dtype]
  if not count then return value end
  value = value % 2 ^ count
  return dtype:sub(1, 1) == "i" and value >= 2 ^ (count - 1) and value - 2 ^ count or value
end

-- Integers whose sums the type has.
local function numbers(count, dtype)
  if bits[dtype] or dtype:find "64" or dtype == "float32" then
    return gpu.random.integers({count}, dtype:sub(1, 1) == "u" and 0 or -100, 100):astype(dtype)
  end
  return (gpu.arange(1, count + 1, "int64") % math.ceil(count / 100)):eq(0):astype(dtype)
end

-- What the kernel writes for the values.
local function expected(values, dtype)
  local count = #values
  local want, sum, most = {}, 0, -math.huge
  for k, value in ipairs(values) do
    want[2 + count + k] = wrapped(sum, dtype)
    sum = sum + value
    want[2 + k] = wrapped(sum, dtype)
    want[2 + 2 * count + k] = value
    if k % 2 == 1 then most = math.max(most, value) end
  end
  want[1], want[2] = wrapped(sum, dtype), most
  local sorted = {unpack(values)}
  table.sort(sorted)
  for k = 1, count do want[2 + 3 * count + k], want[2 + 4 * count + k] = sorted[k], sorted[count + 1 - k] end
  return want
end

-- The sizes at which a result is wrong, with where it is.
local function faults(ctype, sizes)
  local names, found, dtype = {}, {}, dtypes[ctype]
  for i, size in ipairs(sizes) do names[i] = "all<" .. size .. ">" end
  local module = gpu.module((source:gsub("TYPE", ctype)), {names = names})
  for i, size in ipairs(sizes) do
    local x = numbers(2 * size, dtype)
    local out = gpu.zeros(2 + 10 * size, dtype)
    module[names[i]] {grid = 1, block = size}(x, out)
    local want, got = expected(x:astype("float64"):table(), dtype), out:astype("float64"):table()
    for k, value in ipairs(want) do
      if got[k] ~= value then
        found[#found + 1] = ("%s, %d threads: [%d] is %s, not %s"):format(ctype, size, k, got[k], value)
        break
      end
    end
  end
  return found
end

if not (arg and arg[0] and arg[0]:find "cub_blocks.lua$") then return {faults = faults} end

local first, last, step, wrong = tonumber(arg[2]), tonumber(arg[3]), tonumber(arg[4] or 1), 0
for from = first, last, 16 * step do
  local sizes = {}
  for size = from, math.min(from + 15 * step, last), step do sizes[#sizes + 1] = size end
  for _, fault in ipairs(faults(arg[1], sizes)) do wrong = wrong + 1 print(fault) end
end
print(("%s: the sizes from %d to %d by %d, %d wrong"):format(arg[1], first, last, step, wrong))
os.exit(wrong == 0 and 0 or 1)
