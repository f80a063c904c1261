local gpu = require "gpu"
local side = require "side"

local block = 256
local shape, each = side.variant:match "^(%a+)(%-?%a*)$"
local most_blocks = each == "-each" and math.huge or 1024
local sources = {}

sources.tree = [[
__global__ void reduce(const float* x, float* sums, size_t n) {
  __shared__ float partial[256];
  float sum = 0;
  const size_t warps = gridDim.x * (size_t)(blockDim.x / 32), share = (n + warps - 1) / warps;
  const size_t first = (blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32) * share;
  for (size_t i = first + threadIdx.x % 32; i < min(first + share, n); i += 32) sum += x[i];
  partial[threadIdx.x] = sum;
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
  float sum = 0;
  const size_t warps = gridDim.x * (size_t)(blockDim.x / 32), share = (n + warps - 1) / warps;
  const size_t first = (blockIdx.x * (size_t)(blockDim.x / 32) + threadIdx.x / 32) * share;
  for (size_t i = first + threadIdx.x % 32; i < min(first + share, n); i += 32) sum += x[i];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  sum = warp_sum(sum);
  if (lane == 0) partial[warp] = sum;
  __syncthreads();
  if (warp > 0) return;
  const float total = warp_sum(lane < blockDim.x / 32 ? partial[lane] : 0);
  if (lane == 0) sums[blockIdx.x] = total;
}
]]

local reduce = gpu.kernel(sources[shape], "reduce")

local steps = {}
local x, n = side.input("x", "float32"), side.size
repeat
  local blocks = math.min(math.ceil(n / block), most_blocks)
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
