local gpu = require "gpu"
local side = require "side"

local block = 256
local sources = {}

sources.tree = [[
__global__ void reduce(const float* x, float* sums, size_t n) {
  __shared__ float partial[256];
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  partial[threadIdx.x] = i < n ? x[i] : 0;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) partial[threadIdx.x] += partial[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
]]

sources.shuffle = [[
__device__ float warp_sum(float value) {
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void reduce(const float* x, float* sums, size_t n) {
  __shared__ float partial[32];
  const size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const float sum = warp_sum(i < n ? x[i] : 0);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp > 0) return;
  const float total = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0);
  if (lane == 0) sums[blockIdx.x] = total;
}
]]

local reduce = gpu.kernel(sources[side.variant], "reduce")

-- A launch adds up as many numbers as a block has threads; the next one its sums, until one is left.
local steps = {}
local x, n = side.input("x", "float32"), side.size
repeat
  local blocks = math.ceil(n / block)
  local sums = gpu.empty(blocks)
  steps[#steps + 1] = { launch = reduce { grid = blocks, block = block }, x = x, sums = sums, n = n }
  x, n = sums, blocks
until n == 1

local function work()
  for _, step in ipairs(steps) do step.launch(step.x, step.sums, step.n) end
end

work()
side.check("sum", x, 1e-4)
side.time(work)
