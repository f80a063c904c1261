local gpu = require "gpu"
local side = require "side"

local sources = {}

-- Up to 1024 blocks, each of which counts a piece of the array, four values at once.
sources.global = [=[
__global__ void histogram(const unsigned* values, unsigned* bins, size_t words) {
  const size_t share = (words + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share, end = min(first + share, words);
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    const unsigned four = values[i];
    atomicAdd(&bins[four & 255], 1u);
    atomicAdd(&bins[four >> 8 & 255], 1u);
    atomicAdd(&bins[four >> 16 & 255], 1u);
    atomicAdd(&bins[four >> 24], 1u);
  }
}
]=]

sources.shared = [=[
__global__ void histogram(const unsigned* values, unsigned* bins, size_t words) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  const size_t share = (words + gridDim.x - 1) / gridDim.x, first = blockIdx.x * share, end = min(first + share, words);
  for (size_t i = first + threadIdx.x; i < end; i += blockDim.x) {
    const unsigned four = values[i];
    atomicAdd(&own[four & 255], 1u);
    atomicAdd(&own[four >> 8 & 255], 1u);
    atomicAdd(&own[four >> 16 & 255], 1u);
    atomicAdd(&own[four >> 24], 1u);
  }
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
]=]

local histogram = gpu.kernel(sources[side.variant], "histogram")

local n = side.size
assert(n % 4 == 0, "the size must be a multiple of 4")
local values, bins = side.input("values", "uint32"), gpu.empty(256, "uint32")
local launch = histogram { grid = math.min(math.ceil(n / 1024), 1024), block = 256 }
local function work()
  bins:fill_(0)
  launch(values, bins, n / 4)
end

work()
side.check("bins", bins, 0)
side.time(work)
