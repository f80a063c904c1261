local gpu = require "gpu"
local side = require "side"

local sources = {}

sources.global = [=[
__global__ void histogram(const unsigned char* values, unsigned* bins, size_t n) {
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&bins[values[i]], 1u);
}
]=]

sources.shared = [=[
__global__ void histogram(const unsigned char* values, unsigned* bins, size_t n) {
  __shared__ unsigned own[256];
  own[threadIdx.x] = 0;
  __syncthreads();
  const size_t stride = (size_t)gridDim.x * blockDim.x;
  for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += stride) atomicAdd(&own[values[i]], 1u);
  __syncthreads();
  atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
]=]

local histogram = gpu.kernel(sources[side.variant], "histogram")

local n = side.size
local values, bins = side.input("values", "uint8"), gpu.empty(256, "uint32")
local launch = histogram { grid = math.ceil(n / (256 * 64)), block = 256 } -- 64 values a thread
local function work()
  bins:fill_(0)
  launch(values, bins, n)
end

work()
side.check("bins", bins, 0)
side.time(work)
