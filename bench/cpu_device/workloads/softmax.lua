local gpu = require "gpu"
local side = require "side"

local kernels = gpu.module [[
#include <cfloat>
__global__ void row_a_thread(const float* x, float* y, int rows, int columns) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rows) return;
  const float* from = x + r * columns;
  float* to = y + r * columns;
  float most = -FLT_MAX;
  for (int c = 0; c < columns; ++c)
    if (from[c] > most) most = from[c];
  double sum = 0;
  for (int c = 0; c < columns; ++c) {
    to[c] = expf(from[c] - most);
    sum += to[c];
  }
  const float scale = 1 / (float)sum;
  for (int c = 0; c < columns; ++c) to[c] *= scale;
}

// A thread holds 8 elements at a time, read ahead of what is done with them, clamped at the row's end.
__global__ void row_a_block(const float* x, float* y, int rows, int columns) {
  constexpr int ahead = 8;
  __shared__ float parts[32];
  const float* from = x + (long long)blockIdx.x * columns;
  float* to = y + (long long)blockIdx.x * columns;
  const int t = threadIdx.x, warp = t / 32, lane = t % 32, warps = blockDim.x / 32;

  float most = -FLT_MAX;
  for (int first = t; first < columns; first += ahead * blockDim.x)
    for (int k = 0; k < ahead; ++k) most = fmaxf(most, from[min(columns - 1, first + k * (int)blockDim.x)]);
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
  if (lane == 0) parts[warp] = most;
  __syncthreads();
  for (int k = 0; k < warps; ++k) most = fmaxf(most, parts[k]);
  __syncthreads();

  float sum = 0;
  for (int first = t; first < columns; first += ahead * blockDim.x) {
    float own[ahead];
    for (int k = 0; k < ahead; ++k) own[k] = from[min(columns - 1, first + k * (int)blockDim.x)];
    for (int k = 0; k < ahead; ++k)
      if (first + k * (int)blockDim.x < columns) {
        const float value = expf(own[k] - most);
        to[min(columns - 1, first + k * (int)blockDim.x)] = value;
        sum += value;
      }
  }
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(~0u, sum, d);
  if (lane == 0) parts[warp] = sum;
  __syncthreads();
  sum = 0;
  for (int k = 0; k < warps; ++k) sum += parts[k];

  for (int first = t; first < columns; first += ahead * blockDim.x) {
    float own[ahead];
    for (int k = 0; k < ahead; ++k) own[k] = to[min(columns - 1, first + k * (int)blockDim.x)];
    for (int k = 0; k < ahead; ++k)
      if (first + k * (int)blockDim.x < columns) to[first + k * blockDim.x] = own[k] / sum;
  }
}
]]

local rows, columns = side.size, 1024
local x, y = side.input("x", "float32"), gpu.empty(rows * columns)
local launch = side.variant == "thread" and kernels.row_a_thread { grid = math.ceil(rows / 64), block = 64 }
  or kernels.row_a_block { grid = rows, block = 128 }
local function work() launch(x, y, rows, columns) end

work()
side.check("y", y, 1e-5)
side.time(work)
